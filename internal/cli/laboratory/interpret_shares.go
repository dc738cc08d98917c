package laboratory

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/cli/render"
)

// Shares are expressed in people: 1 in 37, 14 of 100. An upper bound on a share is rounded up.

// exactly writes a given probability: in people, as 1 in 100, or as it was typed if that takes too many.
func exactly(r *big.Rat, typed string) string {
	if r.Denom().Cmp(manyPeople) > 0 {
		return typed
	}
	return fmt.Sprintf("%s in %s", commas(r.Num()), commas(r.Denom()))
}

// manyPeople is the largest number of people that a reader can imagine.
var manyPeople = big.NewInt(1_000_000_000_000)

const certainty = "certainty"

// atMost writes an upper bound of a belief: 1 in N if it is small, n in 100, or all but 1 in N.
func atMost(p float64) string {
	switch {
	case p >= 1:
		return certainty
	case p <= 0:
		return "nothing"
	}
	r := new(big.Rat).SetFloat64(p)
	one := big.NewRat(1, 1)
	switch {
	case p <= 0.1:
		n := floorOf(r.Inv(r))
		if n.Cmp(manyPeople) > 0 {
			return upTo(p)
		}
		return "1 in " + commas(n)
	case p <= 0.99:
		return fmt.Sprintf("%v in 100", ceilingOf(r.Mul(r, big.NewRat(100, 1))))
	}
	all := ceilingOf(r.Inv(r.Sub(one, r)))
	if all.Cmp(manyPeople) > 0 {
		return certainty
	}
	return fmt.Sprintf("%s in %s", commas(new(big.Int).Sub(all, big.NewInt(1))), commas(all))
}

// crowd is how many people a test is described with: 100, or the power of ten of whom an integer number of at least
// five are wrongly accused at its level. Without such a power it is 100.
func crowd(alpha *big.Rat) int64 {
	for n := int64(100); n <= 1_000_000_000; n *= 10 {
		if accused := new(big.Rat).Mul(alpha, big.NewRat(n, 1)); accused.IsInt() && accused.Cmp(big.NewRat(5, 1)) >= 0 {
			return n
		}
	}
	return 100
}

// accused writes the level of a test, as 5 of 100.
func accused(alpha *big.Rat, typed string) string {
	n := crowd(alpha)
	if r := new(big.Rat).Mul(alpha, big.NewRat(n, 1)); r.IsInt() {
		return fmt.Sprintf("%s of %s", commas(r.Num()), grouping(n))
	}
	if alpha.Denom().Cmp(manyPeople) > 0 {
		return typed + " of all"
	}
	return fmt.Sprintf("%s of %s", commas(alpha.Num()), commas(alpha.Denom()))
}

// found writes the power of a test of a level, as 14 of 100.
func found(power float64, alpha *big.Rat) string {
	n := crowd(alpha)
	r := new(big.Rat).SetFloat64(power)
	if many := new(big.Rat).Mul(r, big.NewRat(n, 1)); power < 1 && many.Sign() > 0 && many.Cmp(big.NewRat(1, 1)) < 0 {
		// less than one of so few
		if fewer := floorOf(r.Inv(r)); fewer.Cmp(manyPeople) <= 0 {
			return "1 of " + commas(fewer)
		}
		return upTo(power) + " of all"
	} else if whole := ceilingOf(many); whole.Cmp(big.NewInt(n)) < 0 || power >= 1 {
		return fmt.Sprintf("%s of %s", commas(whole), grouping(n))
	}
	all := ceilingOf(r.Inv(r.Sub(big.NewRat(1, 1), r)))
	if all.Cmp(manyPeople) > 0 {
		return fmt.Sprintf("%s of %s", grouping(n), grouping(n))
	}
	return fmt.Sprintf("%s of %s", commas(new(big.Int).Sub(all, big.NewInt(1))), commas(all))
}

func floorOf(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceilingOf(r *big.Rat) *big.Int {
	n := new(big.Int).Neg(r.Num())
	return n.Neg(n.Div(n, r.Denom()))
}

// commas writes an integer with them.
func commas(n *big.Int) string { return render.Grouped(n.String()) }

func grouping(n int64) string { return commas(big.NewInt(n)) }

// times is an upper bound of e^ε in words, where e bounds ε.
func times(e float64) string {
	switch {
	case e == 0:
		return "1"
	case e > mostTimes:
		return "e^" + upTo(e)
	}
	return upTo(math.Exp(e) * (1 + 1e-14)) // math.Exp errs by less
}

// many writes the mean number of people, rounded up.
func many(r *big.Rat) string {
	if r.Cmp(big.NewRat(1000, 1)) >= 0 {
		return commas(ceilingOf(r))
	}
	return render.RoundedTo(4, float(r), func(written *big.Rat) bool { return written.Cmp(r) < 0 }, 1)
}

// upTo writes a bound with four digits, rounded up, and downTo rounded down.
func upTo(x float64) string { return render.DigitsAbove(x, 4) }

func downTo(x float64) string {
	return render.RoundedTo(4, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// floatUp is the least float that is not below a number.
func floatUp(r *big.Rat) float64 {
	f := float(r)
	if math.IsInf(f, 1) || new(big.Rat).SetFloat64(f).Cmp(r) >= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(1))
}
