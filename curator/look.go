package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/seal"
	"dither/privacy"
)

// look is one access to the rows, decided: all that is known of it before anything is spent.
type look struct {
	question   string
	bounded    *bounded.Statement
	more       []*bounded.Statement // what else the same answer looks at: before bounded, to find its bounds, and after it
	price      privacy.Loss
	tables     []seal.Version // those that bounded reads, in the order of its Tables
	key        string         // the replay key
	mechanisms []ledger.Mechanism
	analyst    string
	caps       *ledger.Caps // named beside the question
	asks       *plan.Plan   // what later questions may follow from; nil where none does
	everybody  bool         // charge everybody, whatever part bounded is confined to
	fresh      bool         // pay again and draw new noise, though it was released before
	shape      [2]int
	passes     int64      // about how often the rows are read, of what reads them often; 0 is once
	before     int        // rows that stand before those of the cells, and are counted in shape
	groups     *groups    // that are released with the numbers; nil where they are known
	rows       *foundRows // likewise the bound on rows
	steps      int64      // how many answers the ledger has before the last one, at most
}

// seen is what a look released: numbers in rows and columns of its shape.
type seen struct {
	id       uint64 // of the reservation
	numbers  [][]*big.Int
	replayed bool
	from     []string // the releases that it was computed from, where it is none itself
}

// after words an error that came after a look: what was paid for it now stays spent.
func (c *Curator) after(s *seen, err error) *Error {
	if s.replayed {
		return c.public(err)
	}
	return c.charged(err)
}

// take carries a look out, in this order: if it was released before, that release is given again, free, and if somebody is at it, that
// is waited for; else it is rehearsed on made-up rows; its price is reserved, durably; run looks at the rows and draws the noise; what it gives is
// recorded, durably; and only then returned. What fails after the reservation stays spent. Where answers have an instant, the entry that says what came of
// it is written then, and not before.
func (c *Curator) take(ctx context.Context, l *look, run func(context.Context, engine.Sealed) ([][]*big.Int, error)) (*seen, error) {
	s, err := c.taken(ctx, l, run)
	return s, afresh(l.fresh, err)
}

func (c *Curator) taken(ctx context.Context, l *look, run func(context.Context, engine.Sealed) ([][]*big.Int, error)) (*seen, error) {
	arrival := c.arrived(ctx)
	if !l.fresh {
		if s, err := c.replay(l); s != nil || err != nil {
			return s, err
		}
	}
	if c.ledger.ReadOnly() {
		return nil, c.public(ledger.ErrReadOnly)
	}
	if _, err := c.delayOf(l); err != nil {
		return nil, err
	}
	if !l.fresh {
		done, waited, err := c.underway(ctx, l.key)
		if err != nil {
			return nil, err
		}
		defer done()
		if s, err := c.replay(l); s != nil || err != nil { // whoever was at it has recorded it
			return s, err
		}
		if waited { // until an instant, or until it was given up: the question arrives anew
			arrival = c.clock.Now()
		}
	}
	at, err := c.instantOf(l, arrival)
	if err != nil {
		return nil, err
	}
	release, err := c.hold(ctx, l.tables)
	if err != nil {
		return nil, c.public(err)
	}
	defer release()
	from := c.from(l)
	if err := c.rehearse(ctx, l.analyst, from, append([]*bounded.Statement{l.bounded}, l.more...)...); err != nil {
		return nil, err
	}
	if err := c.begins(at); err != nil {
		return nil, err
	}
	reservation, answered, err := c.reserveNew(l)
	if err != nil {
		return nil, c.notReserved(err)
	}
	if answered {
		s, err := c.replay(l)
		if s == nil && err == nil {
			err = c.public(errUnreadable)
		}
		return s, err
	}
	found, err := watched(ctx, c, at, from, func(ctx context.Context, from engine.Sealed) (out found, err error) {
		if out.numbers, err = run(ctx, from); err == nil {
			out.values, err = l.encode(out.numbers)
		}
		return out, err
	})
	if err != nil {
		return nil, c.lost(ctx, at, reservation, err)
	}
	if err := c.ledger.Release(reservation, found.values); err != nil {
		return nil, c.charged(err)
	}
	return &seen{id: reservation, numbers: found.numbers}, nil
}

// found is what a look gave, and how it is recorded.
type found struct {
	numbers [][]*big.Int
	values  json.RawMessage
}

// remains is what is left of the budget, to be told beside s. Where it cannot be told, s is recorded all the same.
func (c *Curator) remains(s *seen) (Loss, error) {
	state, err := c.ledger.State()
	if err == nil {
		return left(state.Remaining), nil
	}
	if s.replayed {
		return Loss{}, c.public(err)
	}
	e := c.charged(err)
	e.Hint = "the answer is recorded: asking again gives it, free"
	return Loss{}, e
}

// hold makes sure, before anything is charged, that sealed versions hold the bytes that were sealed, and keeps them from being removed until release is called.
func (c *Curator) hold(ctx context.Context, tables []seal.Version) (release func(), err error) {
	var held []func()
	release = func() {
		for _, give := range held {
			give()
		}
	}
	for _, v := range tables {
		give, err := c.checks.Hold(ctx, v)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, give)
	}
	return release, nil
}

// current is the sealed version of a table that questions are about. Nothing is asked before the policy is in force.
func (c *Curator) current(table string) (seal.Version, error) {
	s, err := c.ledger.State()
	if err != nil {
		return seal.Version{}, err
	}
	if err := c.inForce(s); err != nil {
		return seal.Version{}, err
	}
	v, err := seal.Current(c.home, c.policy.Table(table))
	if err != nil {
		e := c.public(err)
		e.Table = table
		return seal.Version{}, e
	}
	if recorded := s.Sealed[v.Table]; recorded.Version != v.Number || recorded.SHA256 != v.SHA256 {
		return seal.Version{}, errNotRecorded
	}
	return v, nil
}

// refused is what an engine does not do, as it is told.
func refused(err error) error {
	r := (*engine.RefusedError)(nil)
	errors.As(err, &r)
	return &Error{Code: CodePolicy, Message: r.Message, Hint: r.Hint}
}

// tellOwner hands over what an engine said.
func (c *Curator) tellOwner(err error) {
	if c.options.OwnerErrors != nil {
		c.options.OwnerErrors(err)
	}
}

// reserve charges the price of a look, with its mechanisms and their parameters.
func (c *Curator) reserve(l *look) (uint64, error) {
	return c.ledger.ReserveFor(c.recorded(l), l.most())
}

const (
	// numberBytes is a released number with its quotes and commas: engines add up in 128 bits, which is 40 characters, and noise moves the number beyond that with
	// negligible probability alone.
	numberBytes = 48
	// stepBytes is the entry of a step with a question of usual length.
	stepBytes = 1 << 10
)

// most is how many bytes of values follow a look's reservation, at most: encode's text of its shape, and its steps. The ledger assures the disk's room for
// them, and proves nothing by it: an answer that is longer is recorded if there is room, and fails if there is none.
func (l *look) most() int64 {
	rows, texts := int64(l.shape[0]), int64(0)
	if l.groups != nil && l.asks != nil {
		rows, texts = int64(l.before+l.asks.MaxChosen()+1), maxChosenBytes
	}
	return texts + rows*int64(l.shape[1]+1)*numberBytes + l.steps*stepBytes
}

// reserveNew is reserve, unless what is not asked afresh has its answer by now.
func (c *Curator) reserveNew(l *look) (reservation uint64, answered bool, err error) {
	if l.fresh {
		reservation, err = c.reserve(l)
		return reservation, false, err
	}
	return c.ledger.ReserveNew(c.recorded(l), l.most())
}

// timeout is the time that an answer may take.
func (c *Curator) timeout() time.Duration {
	if c.options.Timeout == 0 {
		return defaultTimeout
	}
	return c.options.Timeout
}

// lost records that a reservation gets no answer, and is the one error of all of them; or the one of those that were given up. That depends on
// ctx, the caller's, and never on what the engine said. A time that ran out, be it one that the caller set, is a failure like any other: how long the rows
// take has a part in it. It has none where the answer has an instant that was still to come: then the question was given up.
func (c *Curator) lost(ctx context.Context, at *instant, reservation uint64, cause error) *Error {
	record, told := c.ledger.Fail, failed
	if at == nil && errors.Is(ctx.Err(), context.Canceled) || errors.Is(cause, errGivenUp) {
		record, told = c.ledger.GiveUp, givenUp
	}
	if err := record(reservation); err != nil {
		c.tellOwner(err) // it is not counted; its price is
	}
	c.tellOwner(cause)
	return told()
}

// known is a sealed version with what was recorded when it was sealed, which holds of files and of copies. Of a live table that is no more than its state, in order to
// tell the owner when it is another one: rows may have changed since, and no sensitivity may rest on what they were.
func (c *Curator) known(v seal.Version) engine.Sealed {
	if v.Copy != nil {
		return postgres.Known(v, c.policy.Table(v.Table))
	}
	if v.Live {
		state, err := seal.State(v)
		if err != nil {
			c.tellOwner(err)
		}
		return engine.Sealed{Table: v.Table, Relation: v.Relation, State: state, Changed: func(string) {
			if err := seal.NoteChange(v, time.Now()); err != nil {
				c.tellOwner(err)
			}
			c.tellOwner(fmt.Errorf("table %s: it seems to have changed since version %d was sealed: seal it again, so that answers about it have a number of their own", v.Table, v.Number))
		}}
	}
	return duckdb.Known(v, c.policy.Table(v.Table))
}
