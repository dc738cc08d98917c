package exact_test

import (
	"math"
	"math/big"
)

// Reference evaluations at 400 bits, independent of package math, for the property tests.

const precision = 400

func wide() *big.Float { return new(big.Float).SetPrec(precision) }

func bigExp(x float64) *big.Float { return bigExpOf(wide().SetFloat64(x)) }

// bigExpOf is eˣ by Taylor's series at x/2²⁰ followed by twenty squarings; its relative error is below
// 2⁻³⁰⁰.
func bigExpOf(x *big.Float) *big.Float {
	y := wide().SetMantExp(x, -20)
	sum, term := wide().SetInt64(1), wide().SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -precision; k++ {
		term.Mul(term, y)
		term.Quo(term, wide().SetInt64(k))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigExpm1 is eˣ − 1, by Taylor's series where the subtraction would cancel.
func bigExpm1(x float64) *big.Float {
	if math.Abs(x) > 0.5 {
		return wide().Sub(bigExp(x), wide().SetInt64(1))
	}
	y := wide().SetFloat64(x)
	sum, term := wide(), wide().SetInt64(1)
	for k := range int64(200) {
		term.Mul(term, y)
		term.Quo(term, wide().SetInt64(k+1))
		sum.Add(sum, term)
	}
	return sum
}

func bigLog(x float64) *big.Float { return bigLogOf(wide().SetFloat64(x)) }

// bigLogOf is ln x by two steps of Halley's method, y + 2(x − eʸ)/(x + eʸ), each of which triples the digits.
func bigLogOf(target *big.Float) *big.Float {
	mantissa := wide()
	exponent := target.MantExp(mantissa)
	fraction, _ := mantissa.Float64()
	y := wide().SetFloat64(math.Log(fraction) + float64(exponent)*math.Ln2)
	for range 2 {
		e := bigExpOf(y)
		step := wide().Sub(target, e)
		step.Quo(step, wide().Add(target, e))
		y.Add(y, step.Mul(step, wide().SetInt64(2)))
	}
	return y
}
