package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism/stream"
	"dither/privacy"
)

// Continual releases the rows that arrive in each period of a horizon ([stream.Continual] has the proof). Its whole price
// is reserved when it is created. Each advance reads the newest sealed version, and releases the periods that it
// closes, once and in order. docs/design/0010-streams.md has the rules for periods, and the argument about crashes.
type Continual struct {
	kernel *Kernel
	look   *Look
	target *plan.Target
	terms  ContinualTerms
	noisy  stream.Continual
}

// ContinualTerms declare a stream. They are fixed when it is created, and public.
type ContinualTerms struct {
	Name    string    `json:"stream"`
	SQL     string    `json:"question"`
	Meaning string    `json:"meaning"` // plan.Target.Meaning of the question
	Every   string    `json:"every"`   // hour, day or week
	From    time.Time `json:"from"`    // the beginning of the first period
	Periods int       `json:"periods"`
	// Neighbours is the relation between histories
	Neighbours privacy.Neighbours `json:"neighbours"`
	Cells      int                `json:"cells"`
	Rows       int64              `json:"rows"` // the most rows of one unit that count over the whole horizon
	// PerPeriod is the most rows of one unit that count in one period; 0 means Rows
	PerPeriod int64    `json:"rows_per_period,omitempty"`
	Keys      []Labels `json:"keys,omitempty"` // the columns of the groups
	// Identity lists the columns whose values identify a row among the rows of its unit: a row of a later version with
	// the same values is the same row
	Identity []string `json:"identity"`
	// Window and Decay declare the sums that the stream is for: over the last Window periods, or fading by a factor, a
	// decimal, with each period. The zero values mean running totals.
	Window int    `json:"window,omitempty"`
	Decay  string `json:"decay,omitempty"`
	// Matrix is the digest of Factor, the matrix by which the stream measures. "" means the square root of the matrix of
	// running totals, which streams had before they had a choice
	Matrix string         `json:"matrix,omitempty"`
	Factor *stream.Factor `json:"-"`
}

// noisy returns the mechanism.
func (t ContinualTerms) noisy(rho privacy.Rho) stream.Continual {
	return stream.Continual{
		Periods: t.Periods, Cells: t.Cells, Rows: t.Rows, PerPeriod: t.PerPeriod, Neighbours: t.Neighbours, Rho: rho,
		Factor: t.Factor,
	}
}

// Labels are a key's name and values, as they are shown. The last key changes fastest from cell to cell.
type Labels struct {
	Name   string    `json:"name"`
	Values []*string `json:"values"` // nil is NULL
}

// lengths holds the lengths of periods, by the word that declares them.
var lengths = map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// Now returns the time by the kernel's clock, which decides what period it is.
func (k *Kernel) Now() time.Time { return k.clock.Now() }

// Length returns the length of a period; 0 if Every is none of the known words.
func (t ContinualTerms) Length() time.Duration { return lengths[t.Every] }

// Begins returns the time at which a period begins.
func (t ContinualTerms) Begins(period int) time.Time {
	return t.From.Add(time.Duration(period-1) * t.Length())
}

// PeriodAt returns the number of the period that contains a time. It is below 1 before the first period, and above
// Periods after the last.
func (t ContinualTerms) PeriodAt(at time.Time) int {
	past := at.Sub(t.From)
	if past < 0 {
		return 0
	}
	return int(past/t.Length()) + 1
}

// continualKey returns the key that the ledger finds a stream by. A home has at most one stream of a name.
func continualKey(name string) string {
	sum := sha256.Sum256([]byte("continual release " + name))
	return hex.EncodeToString(sum[:])
}

// Continual returns a stream over the rows that a target counts. It returns a refusal for a target that no stream can
// count. Create pays for it, and Advance continues it.
func (k *Kernel) Continual(t *plan.Target, terms ContinualTerms, by Asker) (*Continual, error) {
	t = t.Unconfined() // the stream is charged to everybody
	if err := countable(t); err != nil {
		return nil, err
	}
	if k.policy.Table(t.Table).Source.Live() {
		return nil, unsupported("a stream compares sealed versions, and this table is read on its server",
			"seal the table from a file")
	}
	rho, delta := t.Price.ZCDP()
	if _, pure := t.Price.Pure(); pure || !delta.IsZero() {
		return nil, unsupported("a stream adds Gaussian noise, and the budget is a pure ε",
			"declare the budget in rho, or in epsilon with a delta")
	}
	terms.Cells, terms.Meaning, terms.Keys, terms.Neighbours = t.Cells(), t.Meaning(), labels(t), t.Neighbours
	if err := k.withFactor(&terms); err != nil {
		return nil, err
	}
	c := &Continual{kernel: k, target: t, terms: terms, noisy: terms.noisy(rho)}
	dist, err := c.noisy.Noise()
	if err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	c.look, err = k.targetLook(t, by, ledger.Mechanism{
		Name:        fmt.Sprintf("%s: %d periods", ContinualCounts, terms.Periods),
		Sensitivity: c.noisy.L2Squared().String(),
		Scale:       exact.FormatRat(dist.Sigma2()),
		Cells:       terms.Periods * terms.Cells,
	}, 0, 0)
	if err != nil {
		return nil, err
	}
	c.look.everybody = true
	c.look.steps = int64(terms.Periods)
	c.look.bytes = bytesOf(terms.Periods, terms.Cells)
	c.look.key = continualKey(terms.Name)
	if c.look.question, err = terms.text(); err != nil {
		return nil, err
	}
	return c, costsAsPlanned(c.noisy.Loss(), t.Price)
}

// countable returns a refusal unless a stream can count the rows of a target.
func countable(t *plan.Target) error {
	switch m := t.Measures[0]; {
	case t.Source != nil:
		return unsupported("a stream counts the rows of one table, without joins, UNION ALL or subqueries",
			"seal the joined rows as a table of their own")
	case t.Unit == nil:
		return unsupported("a stream needs a column that identifies the unit, so that later versions can be compared",
			"declare the table's unit as a column")
	case t.Unit.Type == value.Real:
		return unsupported("a stream needs a unit that is text, a whole number or a date", "declare the unit's column as text")
	case m.Kind != bounded.CountRows && m.Kind != bounded.CountValue:
		return unsupported("a stream counts rows", "ask for COUNT(*) or COUNT(x)")
	}
	return nil
}

// labels returns the keys of a target as they are shown.
func labels(t *plan.Target) (out []Labels) {
	for i, key := range t.Keys {
		l := Labels{}
		for j, of := range t.Order {
			if of == i {
				l.Name = t.Names[j]
			}
		}
		for _, v := range key.Values {
			if v.Null {
				l.Values = append(l.Values, nil)
				continue
			}
			text := v.String()
			l.Values = append(l.Values, &text)
		}
		out = append(out, l)
	}
	return out
}

func unsupported(message, hint string) error {
	return &EndedError{How: Unsupported, Message: message, Hint: hint}
}

// Look returns a copy of the stream's [Look], which is known before anything is spent.
func (c *Continual) Look() *Look { return c.look.copied() }

// Terms returns the stream's terms.
func (c *Continual) Terms() ContinualTerms { return c.terms }

// locked locks the stream against other processes, and returns its record; nil if the ledger has none. The caller must
// call done, which unlocks the stream.
func (c *Continual) locked(ctx context.Context) (r *ContinualRecord, done func(), err error) {
	if c.kernel.ledger.ReadOnly() {
		return nil, nil, ledger.ErrReadOnly
	}
	if done, _, err = c.kernel.underway(ctx, c.look.key); err != nil {
		return nil, nil, err
	}
	if r, err = c.kernel.continual(c.terms.Name); err != nil {
		done()
		return nil, nil, err
	}
	return r, done, nil
}

// Create pays for the stream. The rows of the newest version have arrived already: Create notes them in the stream's private
// file, and they count in no period. It releases nothing.
func (c *Continual) Create(ctx context.Context) (*ContinualRecord, error) {
	k := c.kernel
	r, done, err := c.locked(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if r != nil {
		return nil, &EndedError{
			How: Misused, Message: fmt.Sprintf("there is already a stream %q; nothing was charged", c.terms.Name),
			Hint: "give the new stream another name",
		}
	}
	rows, held, err := k.rehearsed(ctx, nil, c.look, c.look.statements...)
	if err != nil {
		return nil, err
	}
	defer held()
	if err := k.keepFactor(c.terms); err != nil {
		k.tellOwner(err)
		return nil, &EndedError{How: Misused, Message: "the stream's matrix could not be written; nothing was charged"}
	}
	if _, _, err := k.reserve(c.look); err != nil {
		return nil, err
	}
	crashPoint("stream reserved")
	r, err = k.continual(c.terms.Name)
	if err == nil && r == nil {
		err = ErrUnreadable
	}
	if err == nil {
		err = c.start(r)
	}
	if err == nil {
		crashPoint("stream begun")
		err = c.begin(ctx, r, rows, c.look.tables[0].Number)
	}
	if err != nil {
		// the reservation stays open: the first advance writes the private file
		k.tellOwner(err)
		return nil, afterwards(&EndedError{
			How: Misused, Message: "the stream is paid for, but its private file could not be written yet",
			Hint: "run `dither stream advance`, which tries again",
		})
	}
	return r, nil
}

// start makes sure that a stream has a private file, and that the ledger states this. A file that is lost afterwards is
// missed, even if nothing was released: with a ledger from before the first release, a new file would draw the releases
// again. start reads no rows, so the time of the ledger's entry depends on none. It has no effect if it is repeated.
func (c *Continual) start(r *ContinualRecord) error {
	if r.begun || len(r.Advances) > 0 {
		return nil
	}
	_, err := os.Stat(c.kernel.statePath(r))
	if errors.Is(err, fs.ErrNotExist) {
		h := firstHeader(r)
		h.Pending = true
		var file *unsaved
		file, err = c.kernel.writeState(r, func(to stateFile) error { return c.noisy.Begin(h, noArrivals, to) })
		err = commit(file, err)
	}
	if err != nil {
		return err
	}
	crashPoint("stream started")
	values, err := json.Marshal(recordedStart{Begun: true})
	if err != nil {
		return err
	}
	err = c.kernel.ledger.Step(ledger.Step{
		Reservation: r.ID, Values: values, Question: fmt.Sprintf("stream %q begins", c.terms.Name),
	})
	r.begun = err == nil
	return err
}

// begin writes the first complete private file of a stream. It notes the rows of the version that was the newest when the
// stream was created. It does so whenever that version was sealed: its time depends on rows, because a table without a stream
// gets a version only if its source has changed.
func (c *Continual) begin(ctx context.Context, r *ContinualRecord, rows reader, number int) error {
	h := firstHeader(r)
	h.Version = number
	arrived, err := c.arrivals(ctx, rows, h.Salt)
	if err != nil {
		return err
	}
	file, err := c.kernel.writeState(r, func(to stateFile) error { return c.noisy.Begin(h, arrived, to) })
	if err != nil {
		return err
	}
	crashPoint("stream noted")
	return commit(file, nil)
}

// arrivals returns the rows of the reader's version.
func (c *Continual) arrivals(ctx context.Context, rows reader, salt string) (arrived arrivals, err error) {
	of, ok := rows.engine.(engine.Historian)
	if !ok {
		return arrived, errors.New("defect: this engine cannot name rows")
	}
	return of.Arrivals(ctx, &c.target.Statement, c.terms.Identity, salt, rows.sealed)
}
