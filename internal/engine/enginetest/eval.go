package enginetest

import (
	"fmt"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// clean returns a column's cleaned value, as docs/reference/sql.md defines it.
func clean(c bounded.Column, v value.Value) value.Value {
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
	if c.Type.Whole() {
		v.Int = min(max(v.Int, c.Range.IntLo), c.Range.IntHi)
	}
	return v
}

// eval evaluates an expression over the cleaned columns of one row. It is the reference for what expressions mean.
func eval(e *bounded.Expr, row []value.Value) value.Value {
	switch e.Op {
	case bounded.OpColumn:
		return row[e.Column]
	case bounded.OpConst:
		return e.Const
	case bounded.OpAnd, bounded.OpOr:
		return connective(e, row)
	case bounded.OpCase:
		return caseWhen(e, row)
	case bounded.OpCoalesce, bounded.OpLeast, bounded.OpGreatest:
		return firstOrExtreme(e, row)
	case bounded.OpNil:
		return value.OfBool(eval(e.Args[0], row).Null)
	case bounded.OpIs:
		v := eval(e.Args[0], row)
		return value.OfBool(!v.Null && v.Bool)
	case bounded.OpIn:
		return in(e, row)
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		if args[i] = eval(a, row); args[i].Null {
			return value.NullOf(e.Type)
		}
	}
	if e.Op == bounded.OpText {
		return textOf(e, []rune(args[0].Text))
	}
	if len(args) == 2 {
		return binary(e, args[0], args[1])
	}
	return unary(e, args[0])
}

func connective(e *bounded.Expr, row []value.Value) value.Value {
	decisive := e.Op == bounded.OpOr // TRUE decides OR, FALSE decides AND
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

func caseWhen(e *bounded.Expr, row []value.Value) value.Value {
	for i := 0; i+1 < len(e.Args); i += 2 {
		if c := eval(e.Args[i], row); !c.Null && c.Bool {
			return eval(e.Args[i+1], row)
		}
	}
	return eval(e.Args[len(e.Args)-1], row)
}

func firstOrExtreme(e *bounded.Expr, row []value.Value) value.Value {
	out := value.NullOf(e.Type)
	for _, a := range e.Args {
		v := eval(a, row)
		if v.Null {
			continue
		}
		switch {
		case out.Null:
			out = v
		case e.Op == bounded.OpLeast && value.Compare(v, out) < 0, e.Op == bounded.OpGreatest &&
			value.Compare(v, out) > 0:
			out = v
		}
		if e.Op == bounded.OpCoalesce {
			return out
		}
	}
	return out
}

func in(e *bounded.Expr, row []value.Value) value.Value {
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

func binary(e *bounded.Expr, a, b value.Value) value.Value {
	order := value.Compare(a, b)
	switch e.Op {
	case bounded.OpEq:
		return value.OfBool(order == 0)
	case bounded.OpNe:
		return value.OfBool(order != 0)
	case bounded.OpLt:
		return value.OfBool(order < 0)
	case bounded.OpLe:
		return value.OfBool(order <= 0)
	case bounded.OpGt:
		return value.OfBool(order > 0)
	case bounded.OpGe:
		return value.OfBool(order >= 0)
	}
	if e.Type.Whole() {
		return integers(e, a.Int, b.Int)
	}
	switch e.Op {
	case bounded.OpAdd:
		return value.OfReal(a.Real + b.Real)
	case bounded.OpSub:
		return value.OfReal(a.Real - b.Real)
	case bounded.OpMul:
		return value.OfReal(a.Real * b.Real)
	}
	if b.Real == 0 {
		return value.NullOf(value.Real)
	}
	return value.OfReal(a.Real / b.Real)
}

func integers(e *bounded.Expr, a, b int64) value.Value {
	switch e.Op {
	case bounded.OpAdd:
		return value.Value{Type: e.Type, Int: a + b}
	case bounded.OpSub:
		return value.Value{Type: e.Type, Int: a - b}
	case bounded.OpMul:
		return value.OfInt(a * b)
	}
	if b == 0 {
		return value.NullOf(value.Integer)
	}
	if e.Op == bounded.OpQuo {
		return value.OfInt(a / b)
	}
	return value.OfInt(a % b)
}

func unary(e *bounded.Expr, v value.Value) value.Value {
	real := v.Type == value.Real
	switch e.Op {
	case bounded.OpNot:
		return value.OfBool(!v.Bool)
	case bounded.OpNeg:
		return value.Value{Type: v.Type, Int: -v.Int, Real: -v.Real}
	case bounded.OpToReal:
		return value.OfReal(float64(v.Int))
	case bounded.OpToInteger:
		if v.Type == value.Boolean {
			return value.OfInt(map[bool]int64{true: 1}[v.Bool])
		}
		return value.OfInt(int64(math.RoundToEven(v.Real)))
	case bounded.OpAbs:
		return value.Value{Type: v.Type, Int: max(v.Int, -v.Int), Real: math.Abs(v.Real)}
	case bounded.OpSign:
		zero := value.Value{Type: v.Type}
		return value.OfInt(int64(value.Compare(v, zero)))
	case bounded.OpFloor:
		return value.OfInt(int64(math.Floor(v.Real)))
	case bounded.OpCeil:
		return value.OfInt(int64(math.Ceil(v.Real)))
	case bounded.OpRound:
		return value.OfInt(int64(math.Round(v.Real)))
	case bounded.OpSqrt:
		if v.Real < 0 {
			return value.NullOf(value.Real)
		}
		return value.OfReal(math.Sqrt(v.Real))
	case bounded.OpLn:
		if v.Real <= 0 {
			return value.NullOf(value.Real)
		}
		return value.OfReal(math.Log(v.Real))
	case bounded.OpExp:
		return value.OfReal(math.Exp(v.Real))
	case bounded.OpDatePart:
		return value.OfInt(value.DatePart(e.Text, v.Int))
	case bounded.OpDateTrunc:
		return value.OfDay(value.DateTrunc(e.Text, v.Int))
	case bounded.OpAddMonths, bounded.OpDayOf, bounded.OpTimeOf, bounded.OpStartOf, bounded.OpTimeTrunc,
		bounded.OpTimePart:
		return value.Value{Type: e.Type, Int: clock(e, v.Int)}
	case bounded.OpFold:
		b := []byte(v.Text) // no byte of another character is a letter of ASCII
		for i, c := range b {
			if from := map[string]byte{"lower": 'A', "upper": 'a'}[e.Text]; c >= from && c < from+26 {
				b[i] ^= 'a' ^ 'A'
			}
		}
		return value.OfText(string(b))
	case bounded.OpChar:
		return value.OfText(char(e, v))
	case bounded.OpLike:
		return value.OfBool(like([]rune(v.Text), []rune(e.Text)))
	}
	panic(fmt.Sprintf("enginetest: no meaning for %s (real %t)", e.Op, real))
}

// like matches by recursion over the pattern. It is fast enough for short patterns and texts only.
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
