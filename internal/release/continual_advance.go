package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"

	"dither/internal/ledger"
	"dither/internal/seal"
	"dither/mechanism/stream"
)

// Advance releases the periods that it closes, and returns the record with them. until, if not 0, is the last period that
// it may close. A period is closed when it is over, or when a version that was sealed in it has been read. New rows
// count in the period in which their version was sealed, or in the first open period if that one is closed. If no
// period can be closed, Advance returns a refusal. Refusals and failures release nothing, and Advance can be called
// again.
func (c *Continual) Advance(ctx context.Context, until int) (*ContinualRecord, error) {
	k := c.kernel
	r, done, err := c.locked(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	arrival := k.clock.Now()
	if err := c.continues(r); err != nil {
		return nil, err
	}
	k.sweepStates(r)
	recorded := len(r.Released)
	h, found, err := c.reconcile(r)
	if err != nil {
		return nil, err
	}
	if len(r.Released) > recorded { // releases that an interrupted advance had drawn
		return r, nil
	}
	if err := c.start(r); err != nil {
		return nil, c.failed(err)
	}
	at, err := k.instantOf(c.look, arrival)
	if err != nil {
		return nil, err
	}
	rows, held, err := k.rehearsed(ctx, at, c.look, c.look.statements...)
	if err != nil {
		return nil, err
	}
	defer held()
	if !found {
		if err := c.late(ctx, r); err != nil {
			return nil, c.failed(err)
		}
		if h, _, err = c.reconcile(r); err != nil {
			return nil, err
		}
	}
	closes, err := c.closes(r, h, arrival, until)
	if err != nil {
		return nil, err
	}
	next := h
	next.State, next.Previous = NewID(), h.State
	if closes.at > 0 {
		next.Version = c.look.tables[0].Number
	}
	drawn, err := watched(ctx, k, at, func(ctx context.Context) (*drawnState, error) {
		return c.draw(ctx, r, next, closes, rows)
	})
	if err != nil {
		return nil, c.failed(err)
	}
	crashPoint("stream drawn")
	if err := commit(drawn.file, nil); err != nil {
		return nil, c.failed(err)
	}
	crashPoint("stream durable")
	if err := c.record(r, next, drawn.first, drawn.y); err != nil {
		return nil, err // the next advance records the same releases
	}
	crashPoint("stream recorded")
	return r, nil
}

// continues refuses a stream that does not exist, has ended, or was declared under other declarations, and a suspended
// analyst.
func (c *Continual) continues(r *ContinualRecord) error {
	if err := ongoing(r, c.terms.Name); err != nil {
		return err
	}
	if r.Terms.Meaning != c.terms.Meaning || costsAsPlanned(r.Price, c.target.Price) != nil || r.Mechanism != c.look.mechanisms[0] {
		return &EndedError{
			How: Unsupported,
			Message: "the declaration of the table's unit, of the neighbours, or of a column of the question has changed " +
				"since the stream was created",
			Hint: "restore the declaration, or create another stream",
		}
	}
	state, err := c.kernel.ledger.State()
	if err != nil {
		return err
	}
	return state.Suspended(r.Analyst)
}

// ongoing refuses a stream that does not exist, or has ended.
func ongoing(r *ContinualRecord, name string) error {
	refused := func(how Ending, message, hint string) error {
		return &EndedError{How: how, Message: message, Hint: hint}
	}
	switch {
	case r == nil:
		return refused(Misused, fmt.Sprintf("there is no stream %q", name), "create it with `dither stream create`")
	case r.GivenUp:
		return refused(Over, "the stream was given up; its price stays spent", "create another stream")
	case r.Ended:
		return refused(Over, fmt.Sprintf("all %d periods of the stream are released", r.Terms.Periods),
			"create another stream for further periods")
	}
	return nil
}

// late writes the first private file of a stream whose creation was interrupted, from the version that was the newest
// when the stream was created.
func (c *Continual) late(ctx context.Context, r *ContinualRecord) error {
	now := c.look.tables[0]
	if now.Number != r.version {
		sha, err := c.kernel.sealedAs(r.Table, r.version)
		if err != nil {
			return err
		}
		if now, err = seal.Recorded(ctx, c.kernel.home, r.Table, r.version, sha); err != nil {
			return err
		}
	}
	look := c.look.copied()
	look.tables = []seal.Version{now}
	held, err := c.kernel.hold(ctx, look.tables)
	if err != nil {
		return err
	}
	defer held()
	return c.begin(ctx, r, c.kernel.reader(look), now.Number)
}

// sealedAs returns the digest that the ledger recorded for a version of a table.
func (k *Kernel) sealedAs(table string, version int) (sha string, err error) {
	err = k.ledger.Entries(func(e ledger.Entry) error {
		if s, ok := e.Body.(ledger.Seal); ok && s.Table == table && s.Version == version {
			sha = s.SHA256
		}
		return nil
	})
	if err == nil && sha == "" {
		err = ErrNotRecorded
	}
	return sha, err
}

// drawnState is a new private file that is durable beside its place, with the releases in it.
type drawnState struct {
	file  *unsaved
	first int
	y     [][]*big.Int
}

// discard removes the file of an advance that came too late.
func (d *drawnState) discard() {
	if d != nil && d.file != nil {
		d.file.discard()
	}
}

// draw reads the rows, counts the new ones, and adds noise.
func (c *Continual) draw(
	ctx context.Context, r *ContinualRecord, h stream.Header, closes closing, rows reader,
) (out *drawnState, err error) {
	f, err := os.Open(c.kernel.statePath(r))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	arrived := noArrivals
	if closes.at > 0 {
		if arrived, err = c.arrivals(ctx, rows, h.Salt); err != nil {
			return nil, err
		}
	}
	out = &drawnState{}
	out.file, err = c.kernel.writeState(r, func(to stateFile) (err error) {
		out.first, out.y, err = c.noisy.Advance(f, h, arrived, closes.at, closes.until, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	if out.first != len(r.Released)+1 {
		out.discard()
		return nil, ErrStream
	}
	return out, nil
}

// record makes the releases of an advance durable in the ledger. The last period's are the reservation's release.
func (c *Continual) record(r *ContinualRecord, h stream.Header, first int, y [][]*big.Int) error {
	a := recordedAdvance{First: first, Version: h.Version, State: h.State}
	for _, row := range y {
		var texts []string
		for _, n := range row {
			texts = append(texts, n.String())
		}
		a.Y = append(a.Y, texts)
	}
	values, err := json.Marshal(a)
	if err != nil {
		return err
	}
	last := first + len(y) - 1
	if last == r.Terms.Periods {
		err = c.kernel.ledger.Release(r.ID, values)
	} else {
		err = c.kernel.ledger.Step(ledger.Step{
			Reservation: r.ID, Values: values,
			Question: fmt.Sprintf("stream %q, periods %d to %d", r.Terms.Name, first, last),
		})
	}
	if err != nil {
		return afterwards(err)
	}
	r.Ended = last == r.Terms.Periods
	r.Released = append(r.Released, y...)
	r.Advances = append(r.Advances, ContinualAdvance{first, last, h.Version, c.kernel.clock.Now(), h.State})
	return nil
}

// failed returns one uniform error for every failure of an advance. The owner gets the reason.
func (c *Continual) failed(cause error) error {
	if errors.Is(cause, errGivenUp) || errors.Is(cause, context.Canceled) {
		return context.Canceled
	}
	c.kernel.tellOwner(cause)
	return &EndedError{How: Misused, Message: "the stream did not advance: nothing was released", Hint: "advance it again"}
}
