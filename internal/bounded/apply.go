package bounded

import (
	"math"
	"slices"
	"strconv"

	"dither/internal/text"
	"dither/internal/value"
)

// Apply applies e's operation to the values of its arguments, which may be NULL. If e.Op is [Op.Agreed], every
// engine computes this same value, to the last bit. For any other operation Apply panics.
//
// Proof. The operations that choose or compare round nothing. Integer operations are exact, because the ranges that
// were proved when the expression was built exclude overflow. IEEE 754 rounds + − × ÷ of doubles correctly, and the
// roundings to integers are exact. The operations that engines round differently (SQRT, LN, EXP) are not Agreed. ∎
func (e *Expr) Apply(args ...value.Value) value.Value {
	switch e.Op { // these operations may return a value even if an argument is NULL
	case OpConst:
		return e.Const
	case OpNil:
		return value.OfBool(args[0].Null)
	case OpIs:
		return value.OfBool(args[0].IsTrue())
	case OpAnd, OpOr:
		return connected(args, e.Op == OpOr)
	case OpCase:
		for i := 0; i+1 < len(args); i += 2 {
			if args[i].IsTrue() {
				return args[i+1]
			}
		}
		return args[len(args)-1]
	case OpCoalesce, OpLeast, OpGreatest:
		return firstOrExtreme(e, args)
	}
	for i := range args {
		if args[i].Null {
			return value.NullOf(e.Type)
		}
	}
	switch e.Op {
	case OpNot:
		return value.OfBool(!args[0].Bool)
	case OpLike:
		return value.OfBool(text.Like(args[0].Text, e.Text))
	case OpText:
		f, _ := text.Named(e.Text)
		v, _ := f.Of(args...) // total for the constants that the binder admits
		return v
	case OpIn:
		return value.OfBool(slices.ContainsFunc(args[1:], func(v value.Value) bool { return value.Compare(args[0], v) == 0 }))
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		return value.OfBool(Holds(e.Op, value.Compare(args[0], args[1])))
	}
	if len(args) == 1 {
		return apply1(e, args[0])
	}
	return apply2(e, args[0], args[1])
}

// Agreed reports whether all engines compute op alike, to the last bit. Apply supports exactly these operations.
// OpColumn is not one of them, because its value comes from a row.
func (op Op) Agreed() bool { return op == OpConst || op.Arithmetic() || judged[op] }

// Arithmetic reports whether op is an Agreed operation that computes or converts: it maps one or two values to a
// new value.
func (op Op) Arithmetic() bool { return arithmetic[op] }

var arithmetic = map[Op]bool{
	OpNeg: true, OpAdd: true, OpSub: true, OpMul: true, OpDiv: true, OpQuo: true, OpMod: true, OpToReal: true, OpToInteger: true,
	OpAbs: true, OpSign: true, OpFloor: true, OpCeil: true, OpRound: true, OpDatePart: true, OpDateTrunc: true,
	OpFold: true, OpAddMonths: true, OpDayOf: true, OpTimeOf: true, OpStartOf: true, OpTimeTrunc: true, OpTimePart: true,
	OpChar: true, OpText: true,
}

// judged holds the Agreed operations that choose or compare.
var judged = map[Op]bool{
	OpEq: true, OpNe: true, OpLt: true, OpLe: true, OpGt: true, OpGe: true, OpIn: true, OpLike: true,
	OpNot: true, OpAnd: true, OpOr: true, OpNil: true, OpIs: true,
	OpCase: true, OpCoalesce: true, OpLeast: true, OpGreatest: true,
}

// apply1 applies e's operation to one value that is not NULL.
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
	case OpFold:
		return value.OfText(text.Fold(x.Text, e.Text == "upper"))
	case OpDatePart:
		return value.OfInt(value.DatePart(e.Text, x.Int))
	case OpDateTrunc:
		return value.OfDay(value.DateTrunc(e.Text, x.Int))
	case OpChar:
		format, _ := value.ParseFormat(e.Text) // the binder has read it
		if x.Type == value.Date {
			return value.OfText(format.Char(x.Int * value.DayMicros))
		}
		return value.OfText(format.Char(x.Int))
	case OpAddMonths, OpDayOf, OpTimeOf, OpStartOf, OpTimeTrunc, OpTimePart:
		return applyClock(e, x.Int)
	case OpToInteger:
		if x.Type == value.Boolean {
			if x.Bool {
				return value.OfInt(1)
			}
			return value.OfInt(0)
		}
		return value.OfInt(int64(math.RoundToEven(x.Real)))
	}
	panic("bounded: unknown operation on one value: " + string(e.Op))
}

// applyClock applies a function of a date or a time to its day or its microseconds.
func applyClock(e *Expr, x int64) value.Value {
	out := value.Value{Type: e.Type}
	switch e.Op {
	case OpAddMonths:
		months, _ := strconv.ParseInt(e.Text, 10, 64) // the planner wrote the number
		out.Int = value.AddMonths(x, months)
	case OpDayOf:
		out.Int = value.DayOf(x)
	case OpTimeOf:
		out.Int = value.TimeOf(x)
	case OpStartOf:
		out.Int = x * value.DayMicros
	case OpTimeTrunc:
		out.Int = value.TimeTrunc(e.Text, x)
	default:
		out.Int = value.TimePart(e.Text, x)
	}
	return out
}

// apply2 applies e's operation to two values that are not NULL. The conversions to float64 forbid the compiler to
// fuse an operation with the next one, which would round once instead of twice.
func apply2(e *Expr, x, y value.Value) value.Value {
	whole := e.Type.Whole()
	switch {
	case e.Op == OpAdd && whole:
		return value.Value{Type: e.Type, Int: x.Int + y.Int}
	case e.Op == OpSub && whole:
		return value.Value{Type: e.Type, Int: x.Int - y.Int}
	case e.Op == OpMul && whole:
		return value.OfInt(x.Int * y.Int)
	case e.Op == OpQuo:
		if y.Int == 0 {
			return value.NullOf(e.Type)
		}
		return value.OfInt(x.Int / y.Int)
	case e.Op == OpMod:
		if y.Int == 0 {
			return value.NullOf(e.Type)
		}
		return value.OfInt(x.Int % y.Int)
	case e.Op == OpAdd:
		return value.OfReal(float64(x.Real + y.Real))
	case e.Op == OpSub:
		return value.OfReal(float64(x.Real - y.Real))
	case e.Op == OpMul:
		return value.OfReal(float64(x.Real * y.Real))
	case e.Op == OpDiv:
		if y.Real == 0 {
			return value.NullOf(e.Type)
		}
		return value.OfReal(float64(x.Real / y.Real))
	}
	panic("bounded: unknown operation on two values: " + string(e.Op))
}
