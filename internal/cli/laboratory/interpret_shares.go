package laboratory

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/cli/render"
)

// Fractions are expressed in people, as 1 in 37 or 14 of 100. An upper bound on a fraction is rounded up.

// exactly writes a given probability in people, such as 1 in 100. If that needs too many people, it returns the
// text that the user typed.
func exactly(r *big.Rat, typed string) string {
	if r.Denom().Cmp(manyPeople) > 0 {
		return typed
	}
	return fmt.Sprintf("%s in %s", commas(r.Num()), commas(r.Denom()))
}

// manyPeople is the largest number of people in a fraction.
var manyPeople = big.NewInt(1_000_000_000_000)

const certainty = "certainty"

// atMost writes an upper bound on a belief: "1 in N" if it is small, "n in 100", or "N − 1 in N" if it is close to 1,
// for integers n and N.
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

// crowd returns the number of people by which a test is described. It is the smallest power of ten, from 100 on, of
// which the test wrongly accuses an integer number of at least five. If there is none, it is 100.
func crowd(alpha *big.Rat) int64 {
	for n := int64(100); n <= 1_000_000_000; n *= 10 {
		if accused := new(big.Rat).Mul(alpha, big.NewRat(n, 1)); accused.IsInt() && accused.Cmp(big.NewRat(5, 1)) >= 0 {
			return n
		}
	}
	return 100
}

// accused writes the false alarm rate of a test, as 5 of 100.
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

// found writes the power of a test at the given level, as 14 of 100.
func found(power float64, alpha *big.Rat) string {
	n := crowd(alpha)
	r := new(big.Rat).SetFloat64(power)
	if many := new(big.Rat).Mul(r, big.NewRat(n, 1)); power < 1 && many.Sign() > 0 && many.Cmp(big.NewRat(1, 1)) < 0 {
		// less than one person in a crowd of n
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

// commas writes an integer with commas between groups of three digits.
func commas(n *big.Int) string { return render.Grouped(n.String()) }

func grouping(n int64) string { return commas(big.NewInt(n)) }

// times writes an upper bound of e^ε, where e is an upper bound of ε.
func times(e float64) string {
	switch {
	case e == 0:
		return "1"
	case e > mostTimes:
		return "e^" + upTo(e)
	}
	return upTo(math.Exp(e) * (1 + 1e-14)) // the error of math.Exp is smaller
}

// many writes the mean number of people, rounded up.
func many(r *big.Rat) string {
	if r.Cmp(big.NewRat(1000, 1)) >= 0 {
		return commas(ceilingOf(r))
	}
	return render.RoundedTo(4, float(r), func(written *big.Rat) bool { return written.Cmp(r) < 0 }, 1)
}

// upTo writes a bound with four digits, rounded up. downTo rounds down.
func upTo(x float64) string { return render.DigitsAbove(x, 4) }

func downTo(x float64) string {
	return render.RoundedTo(4, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// floatUp returns the smallest float that is at least a number.
func floatUp(r *big.Rat) float64 {
	f := float(r)
	if math.IsInf(f, 1) || new(big.Rat).SetFloat64(f).Cmp(r) >= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(1))
}
