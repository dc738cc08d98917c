package plan

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// countsUnits reports COUNT(DISTINCT unit), which counts units.
func (b *measuring) countsUnits(x *query.Call) bool {
	if x.Name != "count" || !x.Distinct || len(x.Args) != 1 || b.Table.Unit.IsRow() {
		return false
	}
	c, ok := x.Args[0].(*query.Column)
	return ok && b.IsUnit(c)
}

// countDistinct counts the units, where the unit's own column is counted, and else the distinct values of an expression.
//
// A value may be shared by many units, so a distinct count is no sum of units' contributions; it moves as if it were. Proof. A
// unit is bounded by rows (caps), so that it has a set P of at most Rows pairs of a cell and a value, of its first rows, by its own
// rows alone. The count of a cell is the number of pairs of that cell in the union of all units' sets. Let c be the cells'
// numbers of P's pairs that are in no other unit's set: 0 ≤ c, ‖c‖₁ ≤ |P| ≤ Rows. Add/remove: the counts differ by c. Change-one:
// with c and c′ of the two sets, both over the same union of the others, they differ by c − c′. These are the bounds from
// which bound's proof goes on, with one sign and M = 1. ∎
func (b *measuring) countDistinct(x *query.Call) (unpricedAggregate, error) {
	if b.countsUnits(x) {
		if c, ok := x.Args[0].(*query.Column); ok {
			if _, err := b.Column(c); err != nil {
				return unpricedAggregate{}, err
			}
		}
		return unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountUnits, nil)}, nil
	}
	if x.Name != "count" {
		return unpricedAggregate{}, bind.Refuse(
			x.At,
			"leave DISTINCT out, or ask for COUNT(DISTINCT x)",
			"DISTINCT goes with COUNT alone: one person can change which values there are, and so any sum of them",
		)
	}
	e, err := b.Row(x.Args[0])
	if err != nil {
		return unpricedAggregate{}, err
	}
	if bind.IsUntypedNull(e) {
		return unpricedAggregate{}, bind.Refuse(x.At, "", "an aggregate of NULL says nothing")
	}
	e, few, err := b.listed(e, x.At)
	if err != nil {
		return unpricedAggregate{}, err
	}
	m := countMeasure(bounded.CountDistinct, e)
	m.Values = few
	return unpricedAggregate{of: CountFunc, count: m}, nil
}

// mostListed is how many values a statement holds an expression to.
const mostListed = 64

// listed is e with how many values other than NULL it can have, at least 1; 0 where that is not known, as of reals, or many. A sensitivity rests on that number, so the
// statement sees to it: a column's values are those that cleaning leaves, and any other expression is NULL where it is none of the
// known ones, should what is said of its values ever be wrong.
func (b *measuring) listed(e *bounded.Expr, at query.Pos) (listed *bounded.Expr, few int64, err error) {
	values, ok := b.Known(e)
	if !ok || e.Type == value.Real {
		return e, 0, nil
	}
	slices.SortFunc(values, value.Compare)
	values = slices.Compact(values)
	few = int64(len(values))
	switch cleaned := e.Op == bounded.OpColumn && b.Source == nil; {
	case cleaned, e.Type == value.Boolean, e.Op == bounded.OpConst:
		return e, max(few, 1), nil
	case few == 0, few > mostListed:
		return e, 0, nil
	}
	in := &bounded.Expr{Op: bounded.OpIn, Type: value.Boolean, Args: []*bounded.Expr{e}, Nullable: e.Nullable}
	for _, v := range values {
		in.Args = append(in.Args, bind.Constant(v))
	}
	listed, err = bind.Choose([]*bounded.Expr{in}, []*bounded.Expr{e, bind.Constant(value.NullOf(e.Type))}, at)
	return listed, few, err
}

// boundFew lowers what bound found of a count of distinct values to what few values leave of it; cells is how many the vector has, 0 where that
// is not known beforehand.
//
// Proof. Let c and c′ be as at countDistinct, K the number of Values, R the cap on rows, and C the number of cells. A cell counts distinct values, of
// which there are K, so that 0 ≤ cᵢ ≤ K; and Σcᵢ ≤ R. So ‖c‖₁ ≤ S := min(R, K·C). ‖c‖₂² is convex, and so greatest at a corner of what these allow, at as
// many cells of K as there can be and one with the rest: with x = qK + r, 0 ≤ r < K, let Q(x) := qK² + r²; then ‖c‖₂² ≤ Q(S).
// Add/remove: the counts differ by c.
// Change-one: they differ by d = c − c′. ‖d‖₁ ≤ ‖c‖₁ + ‖c′‖₁ ≤ 2S, and each |dᵢ| ≤ max(cᵢ, c′ᵢ) ≤ K, so that ‖d‖₁ ≤ T := min(2S, K·C), and as before ‖d‖₂² ≤ Q(T); also
// ‖d‖₂² ≤ ‖c‖₂² + ‖c′‖₂² ≤ 2Q(S), since c·c′ ≥ 0. With one cell |d| ≤ max(c, c′) ≤ S. ∎
//
// It is the same whichever rows a cap or a key drops, and for one grouping as for another: all that is asked of P is its size and what it is made of. A set of
// groupings is several vectors, each with its own. Rows that are units are R = 1.
func (m *Measure) boundFew(n privacy.Neighbours, caps bounded.Caps, cells int) {
	if m.Kind != bounded.CountDistinct || m.Values == 0 || caps.Rows == 0 {
		return
	}
	k := m.Values
	most := caps.Rows
	if cells > 0 {
		most = min(most, k*int64(cells))
	}
	l1, squares := most, corner(most, k)
	if n == privacy.ChangeOne && cells != 1 {
		l1 = 2 * most
		if cells > 0 {
			l1 = min(l1, k*int64(cells))
		}
		squares = min(2*squares, corner(l1, k))
	}
	m.L1, m.L2Squared = exact.Smaller(
		m.L1,
		big.NewInt(max(l1, 1)),
	), exact.Smaller(
		m.L2Squared,
		big.NewInt(max(squares, 1)),
	)
}

// corner is the greatest sum of squares of numbers from 0 to k that add up to at most x.
func corner(x, k int64) int64 { return x/k*k*k + x%k*(x%k) }

// distinct reports an aggregate that counts distinct values.
func (a unpricedAggregate) distinct() bool {
	return slices.ContainsFunc(a.measures(), func(m *unpricedMeasure) bool { return m.Kind == bounded.CountDistinct })
}
