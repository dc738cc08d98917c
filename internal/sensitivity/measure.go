// Package sensitivity computes how far the vectors of a bounded statement can move between neighbouring datasets. Each
// function has the proof of its result. The results depend on the statement alone, and never on data.
package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/privacy"
)

// Bound is how far a vector of integers can move between neighbouring datasets, in grid units. Both numbers are at
// least 1.
type Bound struct {
	L1        *big.Int // the largest L1 distance
	L2Squared *big.Int // the square of the largest L2 distance
}

// OfMeasure returns how far a measure's vector of cells (groups) can move under caps, in grid units. The vector has one
// cell unless grouped is set. A measure that counts distinct values needs a cap on rows. A spread needs one cell, and the
// relation change-one: see spread.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. Let c be the contribution of one unit to the vector. Contributions of other units do not depend on the unit,
// because a unit's own rows alone decide which of its rows and cells count. Each counting row adds an integer in [Lo,
// Hi] to one cell. Engines enforce both: they clamp each value, and they choose the counting rows by ranks within the
// unit (docs/design/engines.md, rules 1 and 3). The replay audits, which compare results on neighbouring databases,
// test both. Let M = max(|Lo|, |Hi|).
//   - If rows are capped, c is a sum of at most Rows rows. So ‖c‖₂ ≤ ‖c‖₁ ≤ R := Rows·M. Equality holds in both if
//     all rows are in one cell and have magnitude M. Let Q := R².
//   - If groups are capped, c has at most Groups nonzero cells. Each lies within CellBounds, so its magnitude is at
//     most G, the larger magnitude of these bounds. So ‖c‖₁ ≤ R := Groups·G, and ‖c‖₂² ≤ Q := Groups·G². G is
//     RowsPerGroup·M, or less if Cells is set. (The bounds in Cells may exclude 0. Then a cell of c is 0 if the
//     unit has no row in it, and otherwise within CellBounds.)
//   - A count of units adds at most 1 to each of at most Groups cells: R := Q := Groups. For CountUnitsWith, it adds 0
//     to those of the cells in which X is NULL in all rows of the unit.
//
// Units share distinct values, so a count of distinct values is no sum of contributions. It moves like a count of at
// most Rows rows. The unit's own rows determine a set P of at most Rows pairs of a cell and a value. The count of a
// cell is the number of its pairs in the union of all units' sets. Let c have, for each cell, the number of pairs of
// P that are in no other unit's set. Then c ≥ 0 and ‖c‖₁ ≤ |P| ≤ Rows. Under add/remove, the counts differ by c.
// Under change-one, the two sets P and P′ have such vectors c and c′, both relative to the same union of the other
// units' sets, and the counts differ by c − c′. So the bounds above hold with one sign and M = 1.
//
// Under add/remove, the vectors differ by c. Under change-one, they differ by c − c′, where c′ is the contribution
// of the changed unit. So the L1 distance is at most ‖c‖₁ + ‖c′‖₁ ≤ 2R. The squared L2 distance ‖c − c′‖₂² = ‖c‖₂²
// + ‖c′‖₂² − 2c·c′ is at most 4Q. It is at most 2Q if all contributions have one sign, because then c·c′ ≥ 0. With
// one cell, c and c′ both lie between the least and the largest sum of the counting rows, which include 0, so they
// differ by at most the length of that interval.
//
// An engine may write a statement in several forms, depending on facts that sealing recorded about the file
// (engine.Sealed). All forms give one answer, so the choice of a form changes no contribution. Both sensitivities are
// at least 1, so a sum that is 0 by its bounds gets noise too. ∎
func OfMeasure(m *bounded.Measure, n privacy.Neighbours, caps bounded.Caps, grouped bool) (out Bound) {
	lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0)) // what one row adds to its cell
	cells := int64(1)
	switch {
	case m.OfUnits():
		cells = caps.Groups
	case caps.Rows > 0:
		rows := big.NewInt(caps.Rows)
		lo.Mul(lo, rows)
		hi.Mul(hi, rows)
	default:
		cells = caps.Groups
		zero := new(big.Int)
		lo, hi = m.CellBounds(caps)
		lo, hi = exact.Smaller(lo, zero), exact.Larger(hi, zero)
	}
	if m.Kind == bounded.Spread {
		return spread(m.Size, lo, hi)
	}
	cell := new(big.Int).Neg(lo) // the largest change of one cell
	switch {
	case n == privacy.ChangeOne && !grouped:
		cell.Add(cell, hi)
	case cell.Cmp(hi) < 0:
		cell.Set(hi)
	}
	if cell.Sign() == 0 {
		cell.SetInt64(1)
	}
	out.L1 = new(big.Int).Mul(cell, big.NewInt(cells))
	out.L2Squared = new(big.Int).Mul(out.L1, cell) // cells·cell²
	if n == privacy.ChangeOne && grouped {
		out.L1.Lsh(out.L1, 1)
		out.L2Squared.Lsh(out.L2Squared, 1)
		if lo.Sign() < 0 && hi.Sign() > 0 {
			out.L2Squared.Lsh(out.L2Squared, 1)
		}
	}
	return out
}

// OverGrouping returns how far a measure's vector over a grouping can move under caps, in grid units. Each cell (group)
// of the grouping is a sum of cells of all keys, and the parameter parts is the largest number of these. If parts is 1,
// the result is that of OfMeasure.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. The contribution of a unit is bounded once, in the table of all keys, and a coarser table is a sum of its
// cells.
//   - If rows are capped, a unit's contribution is still a sum of at most Rows rows, each in one cell. So the proof
//     at OfMeasure holds unchanged.
//   - If groups are capped, let c be the contribution to the coarser vector. It is a sum of at most Groups numbers
//     of magnitude at most G := RowsPerGroup·M. At most k := min(Groups, parts) of them fall into one coarser cell.
//     So ‖c‖₁ ≤ Groups·G, and each |cᵢ| ≤ kG. ‖c‖₂² is convex, so it is largest at a corner of the allowed set.
//     With Groups = qk + r and 0 ≤ r < k, the corner has q cells of kG and one cell of rG. So ‖c‖₂² ≤ Q := (qk² +
//     r²)·G².
//
// Under change-one, as in the proof at OfMeasure, the L1 distance is at most twice as much. The squared L2 distance is
// at most 4Q, or 2Q if all contributions have one sign. With a single cell, contributions lie between
// Groups·RowsPerGroup times the least and the largest value that one row adds, which include 0. So they differ by
// at most the length of that interval. ∎
func OverGrouping(m *bounded.Measure, n privacy.Neighbours, caps bounded.Caps, grouped bool, parts int64) Bound {
	out := OfMeasure(m, n, caps, grouped)
	if caps.Rows > 0 || m.OfUnits() || parts == 1 {
		return out
	}
	// OfMeasure computed L2² as Groups·G², times a factor. Replace Groups by qk² + r².
	k := min(caps.Groups, parts)
	q, r := caps.Groups/k, caps.Groups%k
	cells := new(big.Int).Mul(big.NewInt(k), big.NewInt(k))
	cells.Mul(cells, big.NewInt(q))
	cells.Add(cells, new(big.Int).Mul(big.NewInt(r), big.NewInt(r)))
	out.L2Squared.Div(out.L2Squared, big.NewInt(caps.Groups)) // exact, because Groups is a factor
	out.L2Squared.Mul(out.L2Squared, cells)
	return out
}
