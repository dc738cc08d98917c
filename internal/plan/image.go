package plan

import (
	"math"
	"slices"

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
func (l *lowering) image(e *Expr) ([]value.Value, bool) {
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

var mapped = map[Op]bool{
	OpNeg: true, OpAdd: true, OpSub: true, OpMul: true, OpDiv: true, OpMod: true,
	OpToReal: true, OpToInteger: true, OpAbs: true, OpSign: true, OpFloor: true, OpCeil: true, OpRound: true,
	OpDatePart: true, OpDateTrunc: true,
}

// apply1 is an operation on one value that is not NULL.
func apply1(e *Expr, x value.Value) value.Value {
	switch e.Op {
	case OpNeg:
		return value.Value{Type: e.Type, Int: -x.Int, Real: -x.Real}
	case OpToReal:
		return value.OfReal(float64(x.Int))
	case OpAbs:
		return value.Value{Type: e.Type, Int: max(x.Int, -x.Int), Real: math.Abs(x.Real)}
	case OpSign:
		return value.OfInt(int64(value.Compare(x, value.Value{Type: x.Type})))
	case OpFloor:
		return value.OfInt(int64(math.Floor(x.Real)))
	case OpCeil:
		return value.OfInt(int64(math.Ceil(x.Real)))
	case OpRound:
		return value.OfInt(int64(math.Round(x.Real)))
	case OpDatePart:
		return value.OfInt(value.DatePart(e.Text, x.Int))
	case OpDateTrunc:
		return value.OfDay(value.DateTrunc(e.Text, x.Int))
	case OpToInteger:
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
func apply2(e *Expr, x, y value.Value) (value.Value, bool) {
	whole := e.Type == value.Integer
	switch {
	case e.Op == OpAdd && whole:
		return value.OfInt(x.Int + y.Int), true
	case e.Op == OpSub && whole:
		return value.OfInt(x.Int - y.Int), true
	case e.Op == OpMul && whole:
		return value.OfInt(x.Int * y.Int), true
	case e.Op == OpMod:
		if y.Int == 0 {
			return value.Value{}, false
		}
		return value.OfInt(x.Int % y.Int), true
	case e.Op == OpAdd:
		return value.OfReal(float64(x.Real + y.Real)), true
	case e.Op == OpSub:
		return value.OfReal(float64(x.Real - y.Real)), true
	case e.Op == OpMul:
		return value.OfReal(float64(x.Real * y.Real)), true
	case e.Op == OpDiv:
		if y.Real == 0 {
			return value.Value{}, false
		}
		return value.OfReal(float64(x.Real / y.Real)), true
	}
	panic("plan: no operation on two known values: " + string(e.Op))
}
