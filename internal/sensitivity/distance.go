package sensitivity

import (
	"math/big"

	"dither/mechanism/linear"
)

// OfDistance returns how far any of several scores can move. Each score is the [linear.Distance] of the cells of one
// histogram from a public table. moves has, for each score, the largest L1 distance between the cells of neighbours
// (Bound.L1 of [OfStrategy]). There must be as many distances as moves.
//
// Claim: between neighbours, each score moves by at most the result. Scores may move in opposite directions, so they
// are not monotonic.
//
// Proof. Let x and x′ be the cells of a score's histogram for neighbours. The weight w, the scale q, the penalty and
// the table t are public, so they are the same for both. By the reverse triangle inequality,
// |‖qx − t‖₁ − ‖qx′ − t‖₁| ≤ ‖qx − qx′‖₁ = q‖x − x′‖₁. So the score moves by at most w·q times the histogram's L1 bound,
// and the result is the largest of these products. For a count of at most r rows of one unit it is w·q·r under
// add/remove, and 2w·q·r under change-one: each row is in one cell. If the unit's rows fall into cells above t in one
// histogram, and below t in another, one score rises and the other falls. The score is an integer, so no rounding adds
// to the difference. ∎
func OfDistance(of []linear.Distance, moves []*big.Int) *big.Int {
	most := big.NewInt(1)
	for i, d := range of {
		by := new(big.Int).Mul(big.NewInt(d.Weight), big.NewInt(d.Scale))
		if by.Mul(by, moves[i]); by.Cmp(most) > 0 {
			most = by
		}
	}
	return most
}
