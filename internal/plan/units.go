package plan

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// wholeUnits returns the declared number of units (policy.Table.Units) if the question's one group has all rows of the
// table, and 0 otherwise.
//
// Claim: an answer that contains this number, or divides by it, is as private as its measures. Proof. The number is a
// constant of the policy, which no row changes, and neighbouring databases both have so many units (policy/units.go). The
// rest of the answer is computed from the measures. Their sensitivities hold for rows of any content: a row without a value
// adds 0 to a sum. ∎
//
// Claim: sums of vectors that are released without their count, beside this number, are as private as with it. Proof. Each
// sum has a sensitivity of its own, for rows of any content, whichever other sums are released (sensitivity.OfVectors): a row
// without a coordinate adds 0 to all of them. The noise of each sum follows from that and from its share of the price, and
// the shares of the sums that remain add up to the price (vectorSums). The number is a constant, as above. ∎
//
// So it is a matter of accuracy alone that an average divides by the number only if each row has a value
// (bind.Scope.Always), and that a count is the number only if it counts all rows (bind.Scope.CountsAll). That sealing
// checks the number matters to one sensitivity, that of a spread: there are no more rows than the number.
func (k *keyed) wholeUnits() int64 {
	if k.source() != nil || k.where != nil || k.part != nil || len(k.keys) > 0 || k.sets != nil {
		return 0
	}
	return k.table().Units
}

// unitsWith returns the declared number of units if each of them has a value of all expressions, and 0 otherwise.
func (b *measuring) unitsWith(all ...*bounded.Expr) int64 {
	if b.units == 0 || slices.ContainsFunc(all, func(e *bounded.Expr) bool { return !b.Always(e) }) {
		return 0
	}
	b.declared = b.units
	return b.units
}

// declaration returns a note if the answer uses the declared number of units.
func (p *Plan) declaration() (out notes) {
	if p.Declared > 0 {
		out.add("The policy declares the number of units, %s. It is public, and has no noise: a count of all rows is this number, and averages "+
			"and variances divide by it.", Thousands(p.Declared))
	}
	return out
}

// Counts says whether the counts of all rows of a question are measured, where the number of units is declared.
type Counts int

// The ways.
const (
	CountsDeclared Counts = iota // each is the declared number
	CountsMeasured               // all but COUNT(*) are measured, as before COUNT(x) and REGR_COUNT(y, x) were the declared number
)

// declaredCount returns the declared number of units as the value of a count of all rows (bind.Scope.CountsAll). It returns
// nil if the aggregate is measured or refused. Named arguments ask for a measurement.
func (b *measuring) declaredCount(x *query.Call) *Post {
	if b.units == 0 || x.Distinct || b.given != (given{}) || b.original.Counts == CountsMeasured && !x.Star {
		return nil
	}
	if scope := b.Clone(); !scope.CountsAll(x) { // a constant reads no column
		return nil
	}
	b.declaredCounts = b.declaredCounts || !x.Star
	return constantCount(b.unitsWith())
}

// pairs reports whether both arguments of an aggregate have a value in every row.
func (b *measuring) pairs(x *query.Call) bool {
	if b.units == 0 {
		return false
	}
	for _, arg := range x.Args {
		if e, err := b.Row(arg); err != nil || !b.Always(e) {
			return false
		}
	}
	return true
}

// constantCount returns a count that is a constant. Its type is that of released numbers, whose quotients keep fractions.
func constantCount(n int64) *Post {
	return &Post{Op: PostConst, Type: value.Real, Const: value.OfInt(n)}
}
