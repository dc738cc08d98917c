package enginetest

import (
	"fmt"
	"math"
	"slices"

	"dither/internal/plan"
	"dither/internal/value"
)

// clean is a column's cleaned value, from docs/sql.md.
func clean(c plan.Column, v value.Value) value.Value {
	null := value.NullOf(c.Type)
	if v.Null {
		return null
	}
	if c.Type == value.Real {
		if math.IsNaN(v.Real) || math.IsInf(v.Real, 0) {
			return null
		}
		if math.Abs(v.Real) < math.Ldexp(1, -60) {
			v.Real = 0
		}
		v.Real = math.Min(math.Max(v.Real, c.Range.Lo), c.Range.Hi)
		return v
	}
	if c.Values != nil {
		if !slices.ContainsFunc(c.Values, func(w value.Value) bool { return value.Compare(v, w) == 0 }) {
			return null
		}
		return v
	}
	if c.Type == value.Integer || c.Type == value.Date {
		v.Int = min(max(v.Int, c.Range.IntLo), c.Range.IntHi)
	}
	return v
}

// eval is the reference meaning of an expression over one row's cleaned columns.
func eval(e *plan.Expr, row []value.Value) value.Value {
	switch e.Op {
	case plan.OpColumn:
		return row[e.Column]
	case plan.OpConst:
		return e.Const
	case plan.OpAnd, plan.OpOr:
		return connective(e, row)
	case plan.OpCase:
		return caseWhen(e, row)
	case plan.OpCoalesce, plan.OpLeast, plan.OpGreatest:
		return firstOrExtreme(e, row)
	case plan.OpNil:
		return value.OfBool(eval(e.Args[0], row).Null)
	case plan.OpIs:
		v := eval(e.Args[0], row)
		return value.OfBool(!v.Null && v.Bool)
	case plan.OpIn:
		return in(e, row)
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		if args[i] = eval(a, row); args[i].Null {
			return value.NullOf(e.Type)
		}
	}
	if len(args) == 2 {
		return binary(e, args[0], args[1])
	}
	return unary(e, args[0])
}

func connective(e *plan.Expr, row []value.Value) value.Value {
	decisive := e.Op == plan.OpOr // TRUE decides OR, FALSE decides AND
	out := value.OfBool(!decisive)
	for _, a := range e.Args {
		switch v := eval(a, row); {
		case v.Null:
			out = value.NullOf(value.Boolean)
		case v.Bool == decisive:
			return value.OfBool(decisive)
		}
	}
	return out
}

func caseWhen(e *plan.Expr, row []value.Value) value.Value {
	for i := 0; i+1 < len(e.Args); i += 2 {
		if c := eval(e.Args[i], row); !c.Null && c.Bool {
			return eval(e.Args[i+1], row)
		}
	}
	return eval(e.Args[len(e.Args)-1], row)
}

func firstOrExtreme(e *plan.Expr, row []value.Value) value.Value {
	out := value.NullOf(e.Type)
	for _, a := range e.Args {
		v := eval(a, row)
		if v.Null {
			continue
		}
		switch {
		case out.Null:
			out = v
		case e.Op == plan.OpLeast && value.Compare(v, out) < 0, e.Op == plan.OpGreatest && value.Compare(v, out) > 0:
			out = v
		}
		if e.Op == plan.OpCoalesce {
			return out
		}
	}
	return out
}

func in(e *plan.Expr, row []value.Value) value.Value {
	v := eval(e.Args[0], row)
	if v.Null {
		return value.NullOf(value.Boolean)
	}
	for _, a := range e.Args[1:] {
		if value.Compare(v, a.Const) == 0 {
			return value.OfBool(true)
		}
	}
	return value.OfBool(false)
}

func binary(e *plan.Expr, a, b value.Value) value.Value {
	order := value.Compare(a, b)
	switch e.Op {
	case plan.OpEq:
		return value.OfBool(order == 0)
	case plan.OpNe:
		return value.OfBool(order != 0)
	case plan.OpLt:
		return value.OfBool(order < 0)
	case plan.OpLe:
		return value.OfBool(order <= 0)
	case plan.OpGt:
		return value.OfBool(order > 0)
	case plan.OpGe:
		return value.OfBool(order >= 0)
	}
	if e.Type == value.Integer {
		return integers(e, a.Int, b.Int)
	}
	switch e.Op {
	case plan.OpAdd:
		return value.OfReal(a.Real + b.Real)
	case plan.OpSub:
		return value.OfReal(a.Real - b.Real)
	case plan.OpMul:
		return value.OfReal(a.Real * b.Real)
	}
	if b.Real == 0 {
		return value.NullOf(value.Real)
	}
	return value.OfReal(a.Real / b.Real)
}

func integers(e *plan.Expr, a, b int64) value.Value {
	switch e.Op {
	case plan.OpAdd:
		return value.OfInt(a + b)
	case plan.OpSub:
		return value.OfInt(a - b)
	case plan.OpMul:
		return value.OfInt(a * b)
	}
	if b == 0 {
		return value.NullOf(value.Integer)
	}
	return value.OfInt(a % b)
}

func unary(e *plan.Expr, v value.Value) value.Value {
	real := v.Type == value.Real
	switch e.Op {
	case plan.OpNot:
		return value.OfBool(!v.Bool)
	case plan.OpNeg:
		return value.Value{Type: v.Type, Int: -v.Int, Real: -v.Real}
	case plan.OpToReal:
		return value.OfReal(float64(v.Int))
	case plan.OpToInteger:
		if v.Type == value.Boolean {
			return value.OfInt(map[bool]int64{true: 1}[v.Bool])
		}
		return value.OfInt(int64(math.RoundToEven(v.Real)))
	case plan.OpAbs:
		return value.Value{Type: v.Type, Int: max(v.Int, -v.Int), Real: math.Abs(v.Real)}
	case plan.OpSign:
		zero := value.Value{Type: v.Type}
		return value.OfInt(int64(value.Compare(v, zero)))
	case plan.OpFloor:
		return value.OfInt(int64(math.Floor(v.Real)))
	case plan.OpCeil:
		return value.OfInt(int64(math.Ceil(v.Real)))
	case plan.OpRound:
		return value.OfInt(int64(math.Round(v.Real)))
	case plan.OpSqrt:
		if v.Real < 0 {
			return value.NullOf(value.Real)
		}
		return value.OfReal(math.Sqrt(v.Real))
	case plan.OpLn:
		if v.Real <= 0 {
			return value.NullOf(value.Real)
		}
		return value.OfReal(math.Log(v.Real))
	case plan.OpExp:
		return value.OfReal(math.Exp(v.Real))
	case plan.OpDatePart:
		return value.OfInt(value.DatePart(e.Text, v.Int))
	case plan.OpDateTrunc:
		return value.OfDay(value.DateTrunc(e.Text, v.Int))
	case plan.OpLike:
		return value.OfBool(like([]rune(v.Text), []rune(e.Text)))
	}
	panic(fmt.Sprintf("enginetest: no meaning for %s (real %t)", e.Op, real))
}

// like matches by recursion on the pattern: short patterns and texts only.
func like(s, p []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch p[0] {
	case '%':
		for i := range len(s) + 1 {
			if like(s[i:], p[1:]) {
				return true
			}
		}
		return false
	case '\\':
		p = p[1:]
	case '_':
		return len(s) > 0 && like(s[1:], p[1:])
	}
	return len(s) > 0 && s[0] == p[0] && like(s[1:], p[1:])
}
