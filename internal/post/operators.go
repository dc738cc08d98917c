package post

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

// number types of an operation: integer if both arguments are.
func common(a, b *node) value.Type {
	if a.typ == value.Integer && b.typ == value.Integer {
		return value.Integer
	}
	return value.Real
}

// arithmetic binds + − × ÷ and %. Integers that do not fit in 64 bits, doubles that are not finite, and quotients by 0
// are NULL. A quotient is real. scope.binary binds quotients of whole numbers that depend on no released number.
func arithmetic(op query.BinaryOp, a, b *node, at query.Pos) (*node, error) {
	if n, ok := dates(op, a, b); ok {
		return n, nil
	}
	if n, ok := spans(op, a, b); ok {
		return n, nil
	}
	if err := asNumber(at, a, b); err != nil {
		return nil, err
	}
	typ := common(a, b)
	if op == query.Div {
		typ = value.Real
	}
	if op == query.Mod {
		if a.typ == value.Real || b.typ == value.Real {
			return nil, bind.Refuse(at, "write CAST(x AS integer)", "%% needs whole numbers")
		}
		typ = value.Integer
	}
	out := function(typ, reasonOf(op, a, b), func(vs []value.Value) value.Value { return calculated(op, typ, vs[0], vs[1]) }, a, b)
	if out.fixed != nil || !out.noisy || op == query.Mod || a.why != "" && a.noisy || b.why != "" && b.noisy {
		return out, nil
	}
	xa, xb := !a.noisy, !b.noisy
	out.eval = func(e *env, r *row) Cell {
		x, y := a.eval(e, r), b.eval(e, r)
		if x.Value.Null || y.Value.Null {
			return Exact(value.NullOf(typ))
		}
		c := Exact(calculated(op, typ, x.Value, y.Value))
		if c.Value.Null {
			return c
		}
		switch op {
		case query.Add:
			c.error = e.sum(x, y, xa, xb, 1)
		case query.Sub:
			c.error = e.sum(x, y, xa, xb, -1)
		case query.Mul:
			if xb {
				c.error = e.scaled(x, number(y.Value)).error
			} else if xa {
				c.error = e.scaled(y, number(x.Value)).error
			}
		case query.Div:
			c.error = e.divided(x, y, xa, xb)
		default:
		}
		return c
	}
	return out, nil
}

// reasonOf returns why an operation on noisy numbers has no interval, or "" if it may have one.
func reasonOf(op query.BinaryOp, a, b *node) string {
	if op == query.Mod || op == query.Mul && a.noisy && b.noisy {
		return whyProduct
	}
	return ""
}

func calculated(op query.BinaryOp, typ value.Type, x, y value.Value) value.Value {
	if typ == value.Integer {
		return whole(op, x.Int, y.Int)
	}
	a, b := number(x), number(y)
	switch op {
	case query.Add:
		return ofReal(a + b)
	case query.Sub:
		return ofReal(a - b)
	case query.Mul:
		return ofReal(a * b)
	default:
		return ofReal(a / b)
	}
}

// whole computes with integers. A result beyond 64 bits is NULL.
func whole(op query.BinaryOp, a, b int64) value.Value {
	var n big.Int
	x, y := big.NewInt(a), big.NewInt(b)
	switch {
	case op == query.Mod && b == 0:
		return value.NullOf(value.Integer)
	case op == query.Add:
		n.Add(x, y)
	case op == query.Sub:
		n.Sub(x, y)
	case op == query.Mul:
		n.Mul(x, y)
	default:
		n.Rem(x, y)
	}
	if !n.IsInt64() {
		return value.NullOf(value.Integer)
	}
	return value.OfInt(n.Int64())
}

// dates binds date ± integer and date − date, which counts days.
func dates(op query.BinaryOp, a, b *node) (*node, bool) {
	isDay, isInt := a.typ == value.Date, b.typ == value.Integer
	switch {
	case op == query.Sub && isDay && b.typ == value.Date:
		return function(value.Integer, whyProduct, func(vs []value.Value) value.Value {
			return value.OfInt(vs[0].Int - vs[1].Int)
		}, a, b), true
	case (op == query.Add || op == query.Sub) && isDay && isInt:
		return function(value.Date, whyProduct, func(vs []value.Value) value.Value {
			n := vs[1].Int
			if op == query.Sub {
				n = -n
			}
			day := vs[0].Int + n
			if n < -2*value.MaxDay || n > 2*value.MaxDay || day < value.MinDay || day > value.MaxDay {
				return value.NullOf(value.Date)
			}
			return value.OfDay(day)
		}, a, b), true
	case op == query.Add && a.typ == value.Integer && b.typ == value.Date:
		return dates(op, b, a)
	}
	return nil, false
}

// negate binds −x.
func negate(x *node, at query.Pos) (*node, error) {
	if x.typ == value.Interval {
		return arithmetic(query.Mul, x, exactly(value.OfInt(-1)), at)
	}
	return arithmetic(query.Sub, exactly(value.OfInt(0)), x, at)
}

// alike gives constants the type of the expression that they are compared or combined with: NULL any type, and a text
// that of a date or a time.
func alike(at query.Pos, ns ...*node) (value.Type, error) {
	var typ value.Type
	for _, n := range ns {
		constant := n.typ == value.Text && n.fixed != nil
		switch {
		case n.typ == 0 || constant:
		case typ == 0 || typ == value.Integer && n.typ == value.Real || typ == value.Date && n.typ == value.Timestamp:
			typ = n.typ
		case typ == n.typ, typ == value.Real && n.typ == value.Integer, typ == value.Timestamp && n.typ == value.Date:
		default:
			return 0, bind.Refuse(at, bind.MixHint(typ, n.typ, nil), "%s and %s cannot be mixed here", typ, n.typ)
		}
	}
	if typ == 0 {
		typ = value.Text
	}
	if typ == value.Date && slices.ContainsFunc(ns, (*node).hasClock) { // the dates count as the start of their days
		typ = value.Timestamp
	}
	for i, n := range ns {
		switch {
		case n.typ == value.Text && typ != value.Text && !n.fixed.Null:
			c, err := n.readAs(typ, at)
			if err != nil {
				return 0, err
			}
			ns[i] = c
		case n.typ == value.Date && typ == value.Timestamp:
			ns[i] = function(typ, "", func(vs []value.Value) value.Value { return value.OfMicro(vs[0].Int * value.DayMicros) }, n)
		case n.typ == value.Integer && typ == value.Real:
			ns[i] = toReal(n)
		}
	}
	return typ, nil
}

// spelled returns the text of a constant that is read as a time.
func (n *node) spelled() string {
	if n.local != "" {
		return n.local
	}
	return n.fixed.Text
}

// hasClock reports whether n is a text constant that spells a timestamp with a time of day other than midnight.
func (n *node) hasClock() bool {
	if n.typ != value.Text || n.fixed == nil || n.fixed.Null {
		return false
	}
	v, err := value.Parse(value.Timestamp, n.spelled())
	return err == nil && value.TimeOf(v.Int) != 0
}

// readAs returns the value of a type that a text constant spells, as PostgreSQL reads it.
func (n *node) readAs(typ value.Type, at query.Pos) (*node, error) {
	switch {
	case typ == value.Interval:
		s, err := value.ParseSpan(n.fixed.Text, "")
		if err != nil {
			return nil, bind.Refuse(at, "write INTERVAL '1 day'", "%q is not an interval", n.fixed.Text)
		}
		return exactly(ofSpan(s)), nil
	case bind.ReadsText(typ):
		c, err := bind.ConstantTime(typ, n.spelled(), at)
		if err != nil {
			return nil, err
		}
		return exactly(c.Const), nil
	}
	v, ok := text.Read(n.fixed.Text, typ)
	if !ok {
		return nil, bind.Refuse(at, bind.MixHint(typ, value.Text, nil), "%s and text cannot be mixed here", typ)
	}
	return exactly(v), nil
}

// toReal returns a number as a real, with its interval.
func toReal(n *node) *node {
	if n.typ != value.Integer {
		return n
	}
	out := *n
	out.typ = value.Real
	if n.fixed != nil {
		return exactly(asReal(*n.fixed))
	}
	out.eval = func(e *env, r *row) Cell {
		c := n.eval(e, r)
		c.Value = asReal(c.Value)
		return c
	}
	return &out
}

func asReal(v value.Value) value.Value {
	if v.Null {
		return value.NullOf(value.Real)
	}
	return value.OfReal(number(v))
}

// compare binds a comparison.
func compare(op query.BinaryOp, a, b *node, at query.Pos) (*node, error) {
	both := []*node{a, b}
	if _, err := alike(at, both...); err != nil {
		return nil, err
	}
	return function(value.Boolean, whyCondition, func(vs []value.Value) value.Value {
		return value.OfBool(bounded.Holds(bind.Comparisons[op], value.Compare(vs[0], vs[1])))
	}, both...), nil
}

// logic binds AND and OR, with three values.
func logic(op query.BinaryOp, a, b *node) *node {
	return general(value.Boolean, whyCondition, func(vs []value.Value) value.Value {
		decides := op == query.Or // the value that decides, whatever the other is
		for _, v := range vs {
			if !v.Null && v.Bool == decides {
				return value.OfBool(decides)
			}
		}
		if vs[0].Null || vs[1].Null {
			return value.NullOf(value.Boolean)
		}
		return value.OfBool(!decides)
	}, a, b)
}

func not(x *node) *node {
	return function(value.Boolean, whyCondition, func(vs []value.Value) value.Value { return value.OfBool(!vs[0].Bool) }, x)
}

// isTest binds IS NULL, IS TRUE, IS FALSE and IS UNKNOWN.
func isTest(what query.IsWhat, x *node) *node {
	return general(value.Boolean, whyCondition, func(vs []value.Value) value.Value {
		v := vs[0]
		switch what {
		case query.IsTrue:
			return value.OfBool(v.IsTrue())
		case query.IsFalse:
			return value.OfBool(!v.Null && !v.Bool)
		default:
			return value.OfBool(v.Null)
		}
	}, x)
}
