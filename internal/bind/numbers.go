package bind

import (
	"math"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Functions of numbers that are compositions of operations of package bounded. All but POWER with a power that is no
// small integer, and LOG, consist of operations that every engine computes alike, so they may be keys.

// modulo builds MOD(a, b), which is a % b.
func modulo(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	return compute(bounded.OpMod, args[0], args[1], at)
}

// whole builds DIV(a, b): the quotient without its fraction.
func whole(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if args[0].Type == value.Integer && args[1].Type == value.Integer {
		return quotient(args[0], args[1], at)
	}
	e, err := compute(bounded.OpDiv, args[0], args[1], at)
	if err != nil {
		return nil, err
	}
	return truncation(e, at)
}

// truncation builds TRUNC(x): x without its fraction. It is FLOOR(x) for x ≥ 0, and CEIL(x) for x ≤ 0.
func truncation(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	switch {
	case e.Type == value.Integer:
		return e, nil
	case e.Range.Lo >= 0:
		return toInteger(bounded.OpFloor, e, math.Floor, at)
	case e.Range.Hi <= 0:
		return toInteger(bounded.OpCeil, e, math.Ceil, at)
	}
	up, err := toInteger(bounded.OpCeil, e, math.Ceil, at)
	if err != nil {
		return nil, err
	}
	down, err := toInteger(bounded.OpFloor, e, math.Floor, at)
	if err != nil {
		return nil, err
	}
	negative, err := compare(bounded.OpLt, e, Constant(value.OfReal(0)), at)
	if err != nil {
		return nil, err
	}
	out, err := Choose([]*bounded.Expr{negative}, []*bounded.Expr{up, down}, at)
	if err == nil {
		out.Range = bounded.Range{IntLo: up.Range.IntLo, IntHi: down.Range.IntHi}
	}
	return out, err
}

// MaxDigits is the largest number of decimal places to which a value of a row is rounded. A double has some 15 digits.
const MaxDigits = 15

// toDigits returns a builder for ROUND(x, n) or TRUNC(x, n) with a constant n from -MaxDigits to MaxDigits, given the
// builder for n = 0. The result is x·10ⁿ, rounded, divided by 10ⁿ. For n ≤ 0 and an integer x it is an integer.
func toDigits(
	round func(*bounded.Expr, query.Pos) (*bounded.Expr, error),
) func([]*bounded.Expr, query.Pos) (*bounded.Expr, error) {
	return func(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
		x := args[0]
		if err := Numeric(x, at); err != nil {
			return nil, err
		}
		if len(args) == 1 {
			return round(x, at)
		}
		n := args[1]
		if n.Op != bounded.OpConst || n.Type != value.Integer || n.Const.Null || AbsInt(n.Const.Int) > MaxDigits {
			return nil, Refuse(at, "", "the number of decimal places is a constant from -%d to %d", MaxDigits, MaxDigits)
		}
		places := n.Const.Int
		if places == 0 || places > 0 && x.Type == value.Integer {
			return round(x, at)
		}
		power := Constant(value.OfReal(math.Pow10(int(AbsInt(places)))))
		up, down := bounded.OpMul, bounded.OpDiv
		if places < 0 {
			up, down = down, up
		}
		scaled, err := compute(up, x, power, at)
		if err != nil {
			return nil, err
		}
		if scaled, err = round(scaled, at); err != nil {
			return nil, err
		}
		if places < 0 && x.Type == value.Integer {
			power = Constant(value.OfInt(int64(power.Const.Real)))
		}
		return compute(down, scaled, power, at)
	}
}

// maxPower is the largest integer power that is written as a product.
const maxPower = 16

// power builds POWER(x, y). For a constant integer y of magnitude 1 to maxPower, it is a product of powers of x, or 1
// divided by one. Otherwise it is EXP(y · LN(x)), which is NULL unless x > 0.
func power(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	x, y := args[0], args[1]
	for _, e := range args {
		if err := Numeric(e, at); err != nil {
			return nil, err
		}
	}
	x, err := Promote(x, at)
	if err != nil {
		return nil, err
	}
	if y.Op == bounded.OpConst && !y.Const.Null {
		n := y.Const.Real
		if y.Type == value.Integer {
			n = float64(y.Const.Int)
		}
		switch {
		case n == 0.5:
			return squareRoot(x, at)
		case n == 0:
			return nil, Refuse(at, "write 1", "a number to the power 0 is 1")
		case n == math.Trunc(n) && n >= 1 && n <= maxPower:
			return product(x, int(n), at)
		case n == math.Trunc(n) && n < 0 && n >= -maxPower:
			p, err := product(x, int(-n), at)
			if err != nil {
				return nil, err
			}
			return compute(bounded.OpDiv, Constant(value.OfReal(1)), p, at)
		}
	}
	log, err := logarithm(x, at)
	if err != nil {
		return nil, err
	}
	times, err := compute(bounded.OpMul, y, log, at)
	if err != nil {
		return nil, err
	}
	return exponential(times, at)
}

// product builds xⁿ for n ≥ 1, as a product of two equal powers, and of x if n is odd.
func product(x *bounded.Expr, n int, at query.Pos) (*bounded.Expr, error) {
	if n == 1 {
		return x, nil
	}
	half, err := product(x, n/2, at)
	if err != nil {
		return nil, err
	}
	out, err := compute(bounded.OpMul, half, half, at)
	if err != nil || n%2 == 0 {
		return out, err
	}
	return compute(bounded.OpMul, out, x, at)
}

// logarithmTo builds LOG(x), the logarithm to base 10, or LOG(b, x), the one to base b. It is NULL unless x > 0.
func logarithmTo(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	base := Constant(value.OfReal(10))
	if len(args) == 2 {
		base = args[0]
	}
	of := make([]*bounded.Expr, 2)
	for i, e := range []*bounded.Expr{args[len(args)-1], base} {
		if err := Numeric(e, at); err != nil {
			return nil, err
		}
		var err error
		if of[i], err = logarithm(e, at); err != nil {
			return nil, err
		}
	}
	return compute(bounded.OpDiv, of[0], of[1], at)
}
