package enginetest

import (
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/privacy"
)

// Database is one of two neighbouring databases, which an engine or the reference reads.
type Database interface {
	// Sums passes each result row of b to add, as Engine.Sums does.
	Sums(b *bounded.Statement, add func(keys []value.Value, sums []*big.Int)) error
	// Order calls the function add with each cell (group) of b, each value v of b's measure in the cell, and the number
	// n of rows that have it. The name of a cell is any text that identifies it.
	Order(b *bounded.Statement, add func(cell string, v, n int64)) error
	// Rows passes each row of b that counts to the function add. The argument first reports whether it is the first row
	// of its unit.
	Rows(b *bounded.Statement, add func(first bool, row []int64) error) error
}

// Twins is a question with two neighbouring databases.
type Twins struct {
	Plan *plan.Plan
	SQL  string
	Of   [2]Database
	// returns a number from 0 to n − 1; it replaces the intermediate releases of mechanisms, such as found bounds
	// and selected groups
	Pick func(n int) int
}

// Move is a comparison of one vector of numbers between the two databases.
type Move struct {
	Kind    string // rows, truncation, found, sums, ordered, mode, open, chosen, vectors, vectors of rows, scores, strategies, values or parts
	Moved   bool
	Measure *plan.Measure // for the kinds sums and chosen
}

// BreachError is the error for a result that differs by more than planned.
type BreachError struct{ Message string }

// Error states the result, the difference and the plan.
func (e *BreachError) Error() string { return "moves beyond what is planned: " + e.Message }

func (w *Twins) breach(format string, args ...any) error {
	return &BreachError{w.SQL + ": " + fmt.Sprintf(format, args...)}
}

// Check compares everything that the question reads from the two databases with the planned sensitivities. It
// compares sums in L1 and L2 norm for every grouping set, ordered rows, scores, and the units' numbers of rows. For
// unknown groups, it compares the existing groups and the measures of some of them. It returns a *BreachError, or
// an error of an engine.
func (w *Twins) Check() (moves []Move, err error) {
	note := func(m Move) { moves = append(moves, m) }
	q := w.Plan
	one := int64(1)
	if q.Neighbours == privacy.AddRemove { // then the second database has no rows that the first lacks
		one = 0
	}
	if s := q.Rows; s != nil {
		left, right, err := w.tallied(&s.Look)
		if err != nil {
			return moves, err
		}
		gone, come := Apart(left, right)
		if note(Move{Kind: "rows", Moved: gone+come > 0}); gone > 1 || come > one {
			return moves, w.breach("of the units' numbers of rows %d go and %d come", gone, come)
		}
		if d := ScoresApart(&plan.Quantile{Value: s.Look.Measures[0], Rank: s.Rank}, left,
			right); d.Cmp(s.Sensitivity) > 0 {
			return moves, w.breach("scores of %s move by %s, planned %s", s, d, s.Sensitivity)
		}
		if q, err = q.WithRows(1 + int64(w.Pick(int(s.Most)))); err != nil {
			return moves, err
		}
	}
	if t := q.Truncation; t != nil {
		l1, l2squared, err := w.Over(&t.Look, nil)
		if err == nil {
			err = w.within(t.Measures, l1, l2squared, note, "truncation", nil)
		}
		if err != nil {
			return moves, err
		}
	}
	for _, s := range q.Searches {
		gone, come, err := w.apart(&s.Look)
		if err != nil {
			return moves, err
		}
		r := s.Look.Caps.Rows
		if note(
			Move{Kind: "found", Moved: gone+come > 0},
		); gone > r || come > r*one || big.NewInt(gone+come).Cmp(s.Histogram.L1) > 0 ||
			gone*gone+come*come > s.Histogram.L2Squared.Int64() {
			return moves, w.breach(
				"of a search's rows %d go and %d come, of %d, and %s in its histogram",
				gone,
				come,
				r,
				s.Histogram.L1,
			)
		}
	}
	if q, err = w.found(q); err != nil {
		return moves, err
	}
	if q.Open() {
		return moves, w.groups(q, note)
	}
	if len(q.Measures) > 0 {
		if err := w.sums(q, note); err != nil {
			return moves, err
		}
	}
	for _, of := range q.Orders() { // for each grouping set
		if err := w.orders(of, note); err != nil {
			return moves, err
		}
	}
	return moves, nil
}

// found returns the plan q with bounds that its private searches for bounds might find.
func (w *Twins) found(q *plan.Plan) (*plan.Plan, error) {
	if len(q.Searches) == 0 {
		return q, nil
	}
	var lower, upper []*big.Int
	for range q.Measures {
		end := func() *big.Int {
			n := big.NewInt(int64(w.Pick(129) - 64))
			return n.Lsh(n, uint(w.Pick(61)))
		}
		lower, upper = append(lower, end()), append(upper, end())
	}
	return q.Found(lower, upper)
}

// sums compares the differences of the measures between the two databases with the planned sensitivities, for each
// grouping set.
func (w *Twins) sums(q *plan.Plan, note func(Move)) error {
	all, err := w.differences(&q.Statement)
	if err != nil {
		return err
	}
	for _, g := range q.Groupings() {
		l1, l2squared := all.over(g.Keys)
		// distinct counts over fewer keys are not sums, so they are read separately
		if look := q.SetLook(g); look != nil {
			own, err := w.differences(look)
			if err != nil {
				return err
			}
			x, y := own.over(allOf(look))
			for j, k := 0, 0; j < len(q.Measures); j++ {
				if !q.Measures[j].Additive() {
					l1[j], l2squared[j] = x[k], y[k]
					k++
				}
			}
		}
		if err := w.within(g.Measures, l1, l2squared, note, "sums", g.Keys); err != nil {
			return err
		}
	}
	return nil
}

func (w *Twins) within(of []*plan.Measure, l1, l2squared []*big.Int, note func(Move), kind string, keys any) error {
	for i, m := range of {
		if note(Move{kind, l1[i].Sign() > 0, m}); l1[i].Cmp(m.L1) > 0 || l2squared[i].Cmp(m.L2Squared) > 0 {
			return w.breach(
				"measure %s over keys %v moves by %s, squared L2 %s; planned %s, %s",
				m,
				keys,
				l1[i],
				l2squared[i],
				m.L1,
				m.L2Squared,
			)
		}
	}
	return nil
}

// orders compares, between the two databases, the ordered rows and counts that the quantiles and modes of one grouping
// set read.
func (w *Twins) orders(q *plan.Plan, note func(Move)) error {
	one := int64(1)
	if q.Neighbours == privacy.AddRemove {
		one = 0
	}
	for _, v := range q.OrderedValues() {
		left, right, err := w.tallied(q.Ordered(v))
		if err != nil {
			return err
		}
		gone, come := Apart(left, right)
		if r := q.OrderCaps.MostRows(); gone > r || come > r*one {
			return w.breach("of %s %d rows go and %d come; %d may", v, gone, come, r)
		}
		for _, o := range q.Quantiles {
			if o.Value != v {
				continue
			}
			if d := ScoresApart(o, left, right); d.Cmp(o.Sensitivity) > 0 {
				return w.breach("scores of %s move by %s, planned %s", o, d, o.Sensitivity)
			}
		}
		note(Move{Kind: "ordered", Moved: gone+come > 0})
	}
	for _, o := range q.Modes {
		look := q.Counted(o)
		moved, err := w.differences(look)
		if err != nil {
			return err
		}
		l1, _ := moved.over(allOf(look))
		most := new(big.Int).Lsh(big.NewInt(o.Rows), uint(one))
		if note(Move{Kind: "mode", Moved: l1[0].Sign() > 0}); l1[0].Cmp(most) > 0 {
			return w.breach("scores of %s move by %s in all, of %s", o, l1[0], most)
		}
	}
	return nil
}

// groups compares the existing groups, and the measures of some chosen groups.
func (w *Twins) groups(q *plan.Plan, note func(Move)) error {
	there := q.Statement
	there.Other, there.Chosen = false, nil
	var sides [2]map[string][]*big.Int
	for side, of := range w.Of {
		var err error
		sides[side] = groupsOf(func(add func([]value.Value, []*big.Int)) {
			err = of.Sums(there.Counting(), func(keys []value.Value, sums []*big.Int) { add(keys, numbers(sums)) })
		})
		if err != nil {
			return err
		}
	}
	differ, squared := int64(0), int64(0)
	var fewer, more int64
	var chosen [][]value.Value
	for _, name := range union(sides[0], sides[1]) {
		d := units(sides[0][name]) - units(sides[1][name])
		if d != 0 {
			differ++
		}
		fewer, more = fewer+max(d, 0), more+max(-d, 0)
		if squared += d * d; d*d > 1 {
			return w.breach("a group differs by %d units", d)
		}
		if w.Pick(2) == 0 {
			group, err := there.Group(name)
			if err != nil {
				return err
			}
			chosen = append(chosen, group)
		}
	}
	if s := q.Selection; differ > s.Optimal.Keys || squared > s.Gaussian.L2Squared.Int64() {
		return w.breach("%d groups differ, by %d squared; planned %d, %s", differ, squared, s.Optimal.Keys,
			s.Gaussian.L2Squared)
	}
	if most := q.Selection.Gaussian.Keys; fewer > most || more > most {
		return w.breach("of one unit %d and %d groups; planned %d", fewer, more, most)
	}
	note(Move{Kind: "open", Moved: differ > 0})
	bounded.SortGroups(chosen)
	after := q.Choose(chosen)
	of := &moved{width: len(q.Measures)}
	if q.Other {
		var err error
		if of, err = w.differences(&after.Statement); err != nil {
			return err
		}
	} else {
		for sign, groups := range sides {
			for _, group := range chosen { // a group that does not exist in a database is not measured there
				name := bounded.GroupName(group)
				if sides[1-sign][name] == nil || groups[name] == nil {
					continue
				}
				of.add(sign, group, groups[name][:of.width])
			}
		}
	}
	l1, l2squared := of.over(allOf(&after.Statement))
	return w.within(q.Measures, l1, l2squared, note, "chosen", chosen)
}

// Over returns the L1 distance between the two databases of each measure of b, by the given keys, and the square of
// its L2 distance.
func (w *Twins) Over(b *bounded.Statement, keys []int) (l1, l2squared []*big.Int, err error) {
	of, err := w.differences(b)
	if err != nil {
		return nil, nil, err
	}
	l1, l2squared = of.over(keys)
	return l1, l2squared, nil
}

func allOf(b *bounded.Statement) (out []int) {
	for k := range b.KeyTypes() {
		out = append(out, k)
	}
	return out
}

// differences returns, for each cell (group) of b, the exact sums in the first database minus those in the second.
func (w *Twins) differences(b *bounded.Statement) (*moved, error) {
	out := &moved{width: b.Width()}
	for sign, of := range w.Of {
		if err := of.Sums(b, func(keys []value.Value, sums []*big.Int) { out.add(sign, keys, sums) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// apart counts the rows of b that are in the first database only, and those in the second only.
func (w *Twins) apart(b *bounded.Statement) (gone, come int64, err error) {
	left, right, err := w.tallied(b)
	gone, come = Apart(left, right)
	return gone, come, err
}

// tallied returns how many rows have each value in each cell (group), for each of the two databases.
func (w *Twins) tallied(b *bounded.Statement) (left, right map[string]map[int64]int64, err error) {
	var out [2]map[string]map[int64]int64
	for side, of := range w.Of {
		out[side] = map[string]map[int64]int64{}
		beyond := false
		err := of.Order(b, func(cell string, v, n int64) {
			beyond = beyond || v < b.Measures[0].Lo || v > b.Measures[0].Hi
			if out[side][cell] == nil {
				out[side][cell] = map[int64]int64{}
			}
			out[side][cell][v] += n
		})
		if err == nil && beyond {
			err = w.breach("a value of %s is beyond its bounds", b.Measures[0])
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return out[0], out[1], nil
}
