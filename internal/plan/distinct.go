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

// countsUnits reports whether the call is COUNT(DISTINCT unit), which counts units.
func (b *measuring) countsUnits(x *query.Call) bool {
	if x.Name != "count" || !x.Distinct || len(x.Args) != 1 || b.Table.Unit.IsRow() {
		return false
	}
	c, ok := x.Args[0].(*query.Column)
	return ok && b.IsUnit(c)
}

// countDistinct plans COUNT(DISTINCT x). If x is the unit's column, it counts units, and otherwise distinct values.
//
// Claim: the sensitivity of a count of distinct values is that of a count of at most Rows rows of one sign. It
// needs a proof, because units share values, so the count is no sum of units' contributions.
//
// Proof. A unit is bounded by rows (chooseCaps). So the unit's own rows determine a set P of at most Rows pairs of
// a cell and a value. The count of a cell is the number of its pairs in the union of all units' sets. Let c have,
// for each cell, the number of pairs of P that are in no other unit's set. Then c ≥ 0 and ‖c‖₁ ≤ |P| ≤ Rows. Under
// add/remove, the counts differ by c. Under change-one, the two sets P and P′ have such vectors c and c′, both
// relative to the same union of the other units' sets, and the counts differ by c − c′. These are the bounds from
// which the proof at [Measure.bound] continues, with one sign and M = 1. ∎
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

// mostListed is the largest number of values that listed enforces in a statement.
const mostListed = 64

// listed returns an expression with the values of e, and a number: how many values other than NULL it can have, at
// least 1. The number is 0 if it is unknown, as for reals, or too large. A sensitivity rests on this number, so the
// statement enforces it: cleaning enforces the values of a column, and any other expression becomes NULL if its
// value is not in the list.
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

// boundFew lowers the sensitivities that bound computed for a count of distinct values, if the number of values is
// known. The vector has the given number of cells, or 0 if that number is unknown.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. Let c and c′ be as in the proof at countDistinct. Let K be the number of Values, R the cap on rows, and C
// the number of cells. A cell counts distinct values, of which there are K, so 0 ≤ cᵢ ≤ K. Also Σcᵢ ≤ R. So ‖c‖₁ ≤
// S := min(R, K·C). ‖c‖₂² is convex, so it is largest at a corner of the allowed set: as many cells as possible are
// K, and one cell has the rest. For x = qK + r with 0 ≤ r < K, let Q(x) := qK² + r². Then ‖c‖₂² ≤ Q(S).
//
// Under add/remove, the counts differ by c. Under change-one, they differ by d = c − c′. Now ‖d‖₁ ≤ ‖c‖₁ + ‖c′‖₁ ≤
// 2S, and each |dᵢ| ≤ max(cᵢ, c′ᵢ) ≤ K. So ‖d‖₁ ≤ T := min(2S, K·C), and as before ‖d‖₂² ≤ Q(T). Also ‖d‖₂² ≤ ‖c‖₂²
// + ‖c′‖₂² ≤ 2Q(S), because c·c′ ≥ 0. With one cell, |d| ≤ max(c, c′) ≤ S. ∎
//
// The proof uses the size of P and its number of values only. So it holds for any grouping, and for any rows that a
// cap or a key drops. Grouping sets have a vector each. If each row is a unit, R = 1.
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

// corner returns the largest sum of squares of numbers from 0 to k whose sum is at most x.
func corner(x, k int64) int64 { return x/k*k*k + x%k*(x%k) }

// distinct reports whether the aggregate counts distinct values.
func (a unpricedAggregate) distinct() bool {
	return slices.ContainsFunc(a.measures(), func(m *unpricedMeasure) bool { return m.Kind == bounded.CountDistinct })
}
