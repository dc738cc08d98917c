package stream

import (
	"bytes"
	"fmt"
	"io"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// Begin writes the first state of a stream. Rows that have arrived already count in no period: the tally notes them as
// seen. If none have, arrived is the zero value.
func (m Continual) Begin(h Header, arrived mechanism.Arrivals, to io.Writer) error {
	if _, err := m.Noise(); err != nil {
		return err
	}
	w, err := newStateWriter(to, h)
	if err != nil {
		return err
	}
	t := tallying{rows: m.Rows, most: m.perPeriod(), write: w.unit}
	if err := opaque.EachArrival(arrived, m.Cells, t.arrive); err != nil {
		return err
	}
	if err := t.finish(); err != nil {
		return err
	}
	return w.end(to, periods{Exact: [][]string{}, Released: [][]string{}})
}

// Advance reads a state, releases the periods after its last one up to and including `until`, and writes the next
// state. Rows that arrived since the state's version count in period `at`, which is one of these periods. If at is 0, no
// rows are counted or noted, and arrived must be the zero value. Advance returns the first of the periods, and the
// releases y by period and cell. The caller must make the new state durable before it shows a release, and must never
// advance from a state again once the next state is durable.
//
// Claim: the rows of a unit u that count, with their periods and cells, are a function of the history of u's own rows.
// At most Rows of them count over the whole horizon, and at most PerPeriod in each period. Proof, by induction over
// advances: u's record in the tally is a function of the history of u's rows so far. It holds the number of rows that
// counted, and for each identity the most rows that one version had. A row is new if the version has more rows of its
// identity than that. So a row that is deleted and returns is not new. Arrivals are ordered by digests of the unit and
// the row, and by cell. So the order of u's rows depends on them and on the random salt alone. The first new rows in
// this order count, until Rows rows have counted, or PerPeriod rows in this advance. The other new rows are noted as
// seen, and never count. Only one advance counts rows in a period, because it closes the period. The number of rows
// that counted never decreases, and a record is never removed. (Two units would share a record if their digests
// collided. A digest has 128 bits, and covers a secret salt.) The counts of a closed period are copied from state to
// state, so no later version changes them. ∎
func (m Continual) Advance(
	state io.Reader, h Header, arrived mechanism.Arrivals, at, until int, to io.Writer,
) (first int, y [][]*big.Int, err error) {
	source := entropy.System()
	defer source.Wipe()
	return m.advance(source, state, h, arrived, at, until, to)
}

func (m Continual) advance(
	source *entropy.Source, state io.Reader, h Header, arrived mechanism.Arrivals, at, until int, to io.Writer,
) (first int, y [][]*big.Int, err error) {
	dist, err := m.Noise()
	if err != nil {
		return 0, nil, err
	}
	r, err := newStateReader(state)
	if err != nil {
		return 0, nil, err
	}
	if r.header.Stream != h.Stream || r.header.State != h.Previous || r.header.Salt != h.Salt {
		return 0, nil, fmt.Errorf("%w: it belongs to another stream", ErrState)
	}
	w, err := newStateWriter(to, h)
	if err != nil {
		return 0, nil, err
	}
	t := tallying{
		rows: m.Rows, most: m.perPeriod(), counts: make([]int64, m.Cells), counting: at > 0, before: r, write: w.unit,
	}
	if err := opaque.EachArrival(arrived, m.Cells, t.arrive); err != nil {
		return 0, nil, err
	}
	if err := t.finish(); err != nil {
		return 0, nil, err
	}
	p, err := r.end()
	if err != nil {
		return 0, nil, err
	}
	exact, err := numbers(p.Exact, m.Cells)
	if err != nil {
		return 0, nil, err
	}
	first = len(exact) + 1
	if until < first || until > m.Periods || at != 0 && (at < first || at > until) || len(p.Released) != len(exact) {
		return 0, nil, fmt.Errorf("%w: periods %d to %d cannot follow %d", ErrState, at, until, len(exact))
	}
	for period := first; period <= until; period++ {
		row := make([]*big.Int, m.Cells)
		for g := range row {
			row[g] = new(big.Int)
			if period == at {
				row[g].SetInt64(t.counts[g])
			}
		}
		exact = append(exact, row)
	}
	y = m.released(source, sample.NewGaussian(dist.Sigma2()), exact, first)
	p = periods{Exact: texts(exact), Released: append(p.Released, texts(y)...)}
	return first, y, w.end(to, p)
}

// released returns Cx + z from period first on, by period and cell.
func (m Continual) released(source *entropy.Source, each sample.Sampler, exact [][]*big.Int, first int) [][]*big.Int {
	factor, product := m.factor(), new(big.Int)
	var y [][]*big.Int
	for t := first - 1; t < len(exact); t++ {
		row := make([]*big.Int, m.Cells)
		for g := range row {
			row[g] = each.Draw(source, new(big.Int))
			for j := 0; j <= t; j++ {
				row[g].Add(row[g], product.Mul(product.SetInt64(factor.Entry(t, j)), exact[j][g]))
			}
		}
		y = append(y, row)
	}
	return y
}

// tallying merges the arrivals of a version, unit by unit, with the tally of the state before.
type tallying struct {
	rows     int64        // the most rows of a unit that count, over the whole horizon
	most     int64        // and in this advance
	counting bool         // new rows count; otherwise they are only noted as seen
	counts   []int64      // by cell
	before   *stateReader // nil for the first state
	write    func(unitTally) error

	now []mechanism.Arrival // the arrivals of the unit being read
}

// arrive takes the next arrival.
func (t *tallying) arrive(a mechanism.Arrival) error {
	if len(t.now) > 0 && t.now[0].Unit != a.Unit {
		if err := t.unit(); err != nil {
			return err
		}
	}
	t.now = append(t.now, a)
	return nil
}

// finish takes the last unit, and copies the records of the units after it.
func (t *tallying) finish() error {
	if len(t.now) > 0 {
		if err := t.unit(); err != nil {
			return err
		}
	}
	return t.copyWhile(func(unitTally) bool { return true })
}

// copyWhile copies records of the tally before, as long as the function holds of them.
func (t *tallying) copyWhile(holds func(unitTally) bool) error {
	for t.before != nil && t.before.next != nil && holds(*t.before.next) {
		if err := t.write(*t.before.next); err != nil {
			return err
		}
		if err := t.before.step(); err != nil {
			return err
		}
	}
	return nil
}

// unit counts the new rows of the unit that has been read, and writes its record.
func (t *tallying) unit() error {
	id := t.now[0].Unit
	if err := t.copyWhile(func(u unitTally) bool { return bytes.Compare(u.unit[:], id[:]) < 0 }); err != nil {
		return err
	}
	record := unitTally{unit: id}
	if t.before != nil && t.before.next != nil && t.before.next.unit == id {
		record = *t.before.next
		if err := t.before.step(); err != nil {
			return err
		}
	}
	t.count(&record)
	t.now = t.now[:0]
	return t.write(record)
}

// count counts the new rows of a unit, and updates its record. The rows and the record are ordered by identity.
func (t *tallying) count(u *unitTally) {
	if u.used >= t.rows {
		return // no further row of the unit counts, so its identities are not needed
	}
	most := min(t.rows, u.used+t.most)
	old, merged := u.seen, make([]seenRow, 0, len(u.seen)+len(t.now))
	for i := 0; i < len(t.now); {
		row, end, total := t.now[i].Row, i, int64(0)
		for ; end < len(t.now) && t.now[end].Row == row; end++ {
			total += t.now[end].Count
		}
		for len(old) > 0 && bytes.Compare(old[0].row[:], row[:]) < 0 {
			merged, old = append(merged, old[0]), old[1:]
		}
		known := int64(0)
		if len(old) > 0 && old[0].row == row {
			known, old = old[0].count, old[1:]
		}
		merged = append(merged, seenRow{row, max(known, total)})
		fresh := total - known
		for _, a := range t.now[i:end] {
			n := max(min(a.Count, fresh), 0)
			fresh -= n
			if n = min(n, most-u.used); t.counting && a.Cell >= 0 {
				t.counts[a.Cell] += n
				u.used += n
			}
		}
		i = end
	}
	u.seen = append(merged, old...)
	if u.used >= t.rows {
		u.seen = nil
	}
}

// Recorded reads a state, and returns its header, the number of its periods, and its releases by period and cell.
func (m Continual) Recorded(state io.Reader) (Header, [][]*big.Int, error) {
	r, err := newStateReader(state)
	if err != nil {
		return Header{}, nil, err
	}
	p, err := r.end()
	if err != nil {
		return Header{}, nil, err
	}
	y, err := numbers(p.Released, m.Cells)
	if err == nil && len(y) > m.Periods {
		err = ErrState
	}
	return r.header, y, err
}

// HeaderOf returns the header of a state.
func HeaderOf(state io.Reader) (Header, error) {
	r, err := newStateReader(state)
	if err != nil {
		return Header{}, err
	}
	return r.header, nil
}
