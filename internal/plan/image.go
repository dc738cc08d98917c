package plan

import (
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// image lists the values other than NULL of an arithmetic operation whose arguments' values are known: the operation is done
// on each of them, or, where there are two arguments, on each pair, or, where both are the same expression, on each value twice. FLOOR(age / 10) * 10 thus has the dozen values that it
// can have, and not each integer between them.
//
// It is sound: every value that an engine gives is in the list. By induction an argument's value is in its list, and what
// apply computes from it is what every engine computes, to the last bit: integer operations are exact within the ranges
// that were proved when the expression was built; + − × ÷ of doubles are correctly rounded by IEEE 754; and the roundings to
// integers are exact. What is left out, being rounded differently here and there (SQRT, LN, EXP), has no list.
func (l *lowering) image(e *bounded.Expr) ([]value.Value, bool) {
	if !mapped[e.Op] {
		return nil, false
	}
	twice := len(e.Args) == 2 && e.Args[0].String() == e.Args[1].String() // as in a square, whose range is proved so
	args := e.Args
	if twice {
		args = args[:1]
	}
	lists := make([][]value.Value, len(args))
	size := 1
	for i, a := range args {
		v, ok := l.known(a)
		if !ok {
			return nil, false
		}
		if size *= len(v); size > policy.MaxKeys {
			return nil, false
		}
		lists[i] = v
	}
	out := make([]value.Value, 0, size)
	for _, x := range lists[0] {
		others := []value.Value{x}
		switch {
		case len(e.Args) == 1:
			out = append(out, apply1(e, x))
			continue
		case !twice:
			others = lists[1]
		}
		for _, y := range others {
			if v, ok := apply2(e, x, y); ok {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, value.Compare)
	return slices.Compact(out), true
}

var mapped = map[bounded.Op]bool{
	bounded.OpNeg: true, bounded.OpAdd: true, bounded.OpSub: true, bounded.OpMul: true, bounded.OpDiv: true, bounded.OpMod: true,
	bounded.OpToReal: true, bounded.OpToInteger: true, bounded.OpAbs: true, bounded.OpSign: true, bounded.OpFloor: true, bounded.OpCeil: true, bounded.OpRound: true,
	bounded.OpDatePart: true, bounded.OpDateTrunc: true,
}

// apply1 is an operation on one value that is not NULL.
func apply1(e *bounded.Expr, x value.Value) value.Value {
	switch e.Op {
	case bounded.OpNeg:
		return value.Value{Type: e.Type, Int: -x.Int, Real: -x.Real}
	case bounded.OpToReal:
		return value.OfReal(float64(x.Int))
	case bounded.OpAbs:
		return value.Value{Type: e.Type, Int: max(x.Int, -x.Int), Real: math.Abs(x.Real)}
	case bounded.OpSign:
		return value.OfInt(int64(value.Compare(x, value.Value{Type: x.Type})))
	case bounded.OpFloor:
		return value.OfInt(int64(math.Floor(x.Real)))
	case bounded.OpCeil:
		return value.OfInt(int64(math.Ceil(x.Real)))
	case bounded.OpRound:
		return value.OfInt(int64(math.Round(x.Real)))
	case bounded.OpDatePart:
		return value.OfInt(value.DatePart(e.Text, x.Int))
	case bounded.OpDateTrunc:
		return value.OfDay(value.DateTrunc(e.Text, x.Int))
	case bounded.OpToInteger:
		if x.Type == value.Boolean {
			if x.Bool {
				return value.OfInt(1)
			}
			return value.OfInt(0)
		}
		return value.OfInt(int64(math.RoundToEven(x.Real)))
	}
	panic("plan: no operation on one known value: " + string(e.Op))
}

// apply2 is an operation on two values that are not NULL; false where the result is. The conversions keep a compiler from
// fusing an operation with the next one, which would round once instead of twice.
func apply2(e *bounded.Expr, x, y value.Value) (value.Value, bool) {
	whole := e.Type == value.Integer
	switch {
	case e.Op == bounded.OpAdd && whole:
		return value.OfInt(x.Int + y.Int), true
	case e.Op == bounded.OpSub && whole:
		return value.OfInt(x.Int - y.Int), true
	case e.Op == bounded.OpMul && whole:
		return value.OfInt(x.Int * y.Int), true
	case e.Op == bounded.OpMod:
		if y.Int == 0 {
			return value.Value{}, false
		}
		return value.OfInt(x.Int % y.Int), true
	case e.Op == bounded.OpAdd:
		return value.OfReal(float64(x.Real + y.Real)), true
	case e.Op == bounded.OpSub:
		return value.OfReal(float64(x.Real - y.Real)), true
	case e.Op == bounded.OpMul:
		return value.OfReal(float64(x.Real * y.Real)), true
	case e.Op == bounded.OpDiv:
		if y.Real == 0 {
			return value.Value{}, false
		}
		return value.OfReal(float64(x.Real / y.Real)), true
	}
	panic("plan: no operation on two known values: " + string(e.Op))
}
