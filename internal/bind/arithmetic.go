package bind

import (
	"math"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/internal/value"
)

// Literal translates a constant. A decimal constant becomes a double.
func Literal(x *query.Literal) (*bounded.Expr, error) {
	switch x.Kind {
	case query.NullLiteral:
		return &bounded.Expr{Op: bounded.OpConst, Const: value.Value{Null: true}, Nullable: true}, nil
	case query.BooleanLiteral:
		return Constant(value.OfBool(x.Bool)), nil
	case query.StringLiteral:
		v, err := value.Parse(value.Text, x.Text)
		if err != nil {
			return nil, Refuse(x.At, "", "this text constant is too long")
		}
		e := Constant(v)
		e.Text = x.Local
		return e, nil
	case query.DateLiteral:
		v, err := value.Parse(value.Date, x.Text)
		if err != nil {
			return nil, Refuse(x.At, "write DATE '2026-01-31'", "%q is not a date%s", x.Text, yearFirst(x.Text))
		}
		return Constant(v), nil
	case query.TimestampLiteral:
		if x.Local != "" {
			return ConstantTime(value.Timestamp, x.Local, x.At)
		}
		return ConstantTime(value.Timestamp, x.Text, x.At)
	case query.TimeLiteral:
		return ConstantTime(value.Time, x.Text, x.At)
	case query.IntervalLiteral:
		return ConstantTime(value.Interval, x.Text, x.At)
	case query.IntegerLiteral:
		n, err := strconv.ParseInt(x.Text, 10, 64)
		if err != nil || AbsInt(n) > maxInteger {
			return nil, Refuse(x.At, "write "+x.Text+".0", "the integer %s is beyond ±2^62", x.Text)
		}
		return Constant(value.OfInt(n)), nil
	}
	return realLiteral(x)
}

func realLiteral(x *query.Literal) (*bounded.Expr, error) {
	r, err := exact.ParseDecimal(x.Text)
	if err != nil {
		return nil, Refuse(x.At, "", "the number %s cannot be read: %v", x.Text, err)
	}
	f, _ := r.Float64()
	if f != 0 && ExponentBelow(f) < bounded.TinyColumn || r.Sign() != 0 && f == 0 {
		return nil, Refuse(x.At, "", "the number %s is below 2^-60 in magnitude, which counts as 0", x.Text)
	}
	if math.Abs(f) > math.Ldexp(1, 100) {
		return nil, Refuse(x.At, "", "the number %s is beyond 2^100", x.Text)
	}
	return Constant(value.OfReal(f)), nil
}

var arithmetic = map[query.BinaryOp]bounded.Op{
	query.Add: bounded.OpAdd,
	query.Sub: bounded.OpSub,
	query.Mul: bounded.OpMul,
	query.Div: bounded.OpDiv, // of two integers: OpQuo
	query.Mod: bounded.OpMod,
}

func (l *Scope) binary(x *query.Binary) (*bounded.Expr, error) {
	if x.Op == query.Concat {
		return l.joined(x)
	}
	if x.Op == query.And || x.Op == query.Or {
		return l.logical(x)
	}
	if x.Op == query.Add || x.Op == query.Sub {
		if e, found, err := l.shifts(x); found {
			return e, err
		}
	}
	args, err := l.rows([]query.Expr{x.L, x.R})
	if err != nil {
		return nil, err
	}
	if op, ok := Comparisons[x.Op]; ok {
		e, err := compare(op, args[0], args[1], x.At)
		if err == nil && (op == bounded.OpEq || op == bounded.OpNe) {
			err = l.unlisted(e, []query.Pos{x.L.Pos(), x.R.Pos()})
		}
		return e, err
	}
	op, ok := arithmetic[x.Op]
	if !ok {
		return nil, Refuse(x.At, "", "this operator is not supported")
	}
	if op == bounded.OpDiv && args[0].Type == value.Integer && args[1].Type == value.Integer &&
		!l.KeepsFraction(x.L) && !l.KeepsFraction(x.R) {
		e, err := quotient(args[0], args[1], x.At)
		if err == nil {
			e.Dropped = true
		}
		return e, err
	}
	return compute(op, args[0], args[1], x.At)
}

// logical translates AND and OR.
func (l *Scope) logical(x *query.Binary) (*bounded.Expr, error) {
	a, err := l.Condition(x.L)
	var b *bounded.Expr
	if err == nil {
		b, err = l.Condition(x.R)
	}
	switch {
	case err == nil && x.Op == query.And:
		return Logical(bounded.OpAnd, a, b), nil
	case err == nil:
		return Logical(bounded.OpOr, a, b), nil
	case x.Op == query.Or && (l.decided(x.L, x.R) || l.decided(x.R, x.L)):
		return Constant(value.OfBool(true)), nil
	}
	return nil, err
}

// decided reports whether one operand of OR is a constant that is TRUE, and the other operand has no mistake except
// constants that are not among declared values. Dashboards write 'All' = 'All' OR room = 'All' for no filter.
func (l *Scope) decided(one, other query.Expr) bool {
	if l.anyValue || !constant(one) {
		return false
	}
	c, err := l.Condition(one)
	if err != nil {
		return false
	}
	if c = folded(c); c.Op != bounded.OpConst || !c.Const.IsTrue() {
		return false
	}
	l.anyValue = true
	defer func() { l.anyValue = false }()
	_, err = l.Condition(other)
	return err == nil
}

// constant reports whether x names no column and has no subquery.
func constant(x query.Expr) bool {
	found := false
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		switch e.(type) {
		case *query.Column, *query.Nested, *query.Star:
			found = true
		}
		return e, found
	})
	return !found
}

// quotient builds the quotient of two integers without its fraction. If neither is negative, it builds FLOOR of the
// quotient of reals, so that a / b and FLOOR(a / b) are one expression, which older releases have too.
//
// Claim: then both are equal. Proof: let a = k·b + r with 0 ≤ r < b. The exact quotient is at least k, and so is the
// nearest double, because k is a double. The exact quotient is at most k + 1 − 1/b. Doubles below k + 1 are at most
// (k + 1)·2^-52 apart, so the quotient is rounded to k + 1 only if 1/b ≤ (k + 1)·2^-53, hence b·(k + 1) ≥ 2^53. But
// b·(k + 1) ≤ a + b ≤ 2^51. ∎
func quotient(a, b *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	const most = 1 << 50
	if a.Range.IntLo < 0 || a.Range.IntHi > most || b.Range.IntLo < 0 || b.Range.IntHi > most {
		return compute(bounded.OpQuo, a, b, at)
	}
	e, err := compute(bounded.OpDiv, a, b, at)
	if err != nil {
		return nil, err
	}
	return toInteger(bounded.OpFloor, e, math.Floor, at)
}

// compute builds the expression a op b over numbers. It refuses the expression unless the ranges of a and b prove
// that no cleaned row makes it overflow.
func compute(op bounded.Op, a, b *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if IsUntypedNull(a) || IsUntypedNull(b) {
		return nil, Refuse(at, "", "arithmetic with NULL is always NULL")
	}
	if e, found, err := temporal(op, a, b, at); found {
		return e, err
	}
	for _, e := range []*bounded.Expr{a, b} {
		if !IsNumber(e.Type) {
			return nil, Refuse(at, arithmeticHint(a, b), "a number is needed here, and this is of type %s", e.Type)
		}
	}
	if (op == bounded.OpMod || op == bounded.OpQuo) && (a.Type != value.Integer || b.Type != value.Integer) {
		return nil, Refuse(at, "x - FLOOR(x / y) * y is a remainder of real numbers", "a remainder is of two integers")
	}
	if op == bounded.OpDiv || a.Type != b.Type {
		for _, e := range []**bounded.Expr{&a, &b} {
			var err error
			if *e, err = Promote(*e, at); err != nil {
				return nil, err
			}
		}
	}
	t := a.Type
	e := &bounded.Expr{Op: op, Type: t, Args: []*bounded.Expr{a, b}, Nullable: a.Nullable || b.Nullable}
	ok := true
	switch op {
	case bounded.OpAdd, bounded.OpSub:
		e.Range, ok = addRange(t, a.Range, b.Range, op == bounded.OpSub)
	case bounded.OpMul:
		x, y := a.Range, b.Range
		if a.Same(b) { // a square is not negative
			size, err := absolute(a, at)
			if err != nil {
				return nil, err
			}
			x, y = size.Range, size.Range
		}
		e.Range, ok = mulRange(t, x, y)
	case bounded.OpDiv:
		e.Range, ok = divRange(a.Range, b.Range)
		e.Nullable = e.Nullable || makesNull(e)
	case bounded.OpQuo:
		e.Range, ok = quoRange(a.Range, b.Range), !IsUnbounded(a) || b.Range.IntLo > 1 // −2^63 / −1 has no value in 64 bits
		e.Nullable = e.Nullable || makesNull(e)
	case bounded.OpMod:
		e.Range, ok = modRange(a.Range, b.Range), !IsUnbounded(a) || b.Range.IntLo > 0 // −2^63 % −1 has no value in 64 bits
		e.Nullable = e.Nullable || makesNull(e)
	}
	if !ok {
		return nil, tooWide(e, at)
	}
	return e, nil
}

// Promote converts an Integer expression to Real, for arithmetic. It refuses an expression without bounds.
func Promote(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	switch {
	case e.Type != value.Integer:
		return e, nil
	case IsUnbounded(e):
		return nil, tooWide(e, at)
	}
	return toReal(e), nil
}

// caseWhen translates CASE. It turns the form with an operand into comparisons with the operand.
func (l *Scope) caseWhen(x *query.Case) (*bounded.Expr, error) {
	var conditions, results []*bounded.Expr
	for _, w := range x.Whens {
		var c *bounded.Expr
		var err error
		if x.Operand != nil {
			c, err = l.binary(&query.Binary{At: w.Cond.Pos(), Op: query.Eq, L: x.Operand, R: w.Cond})
		} else {
			c, err = l.Condition(w.Cond)
		}
		if err != nil {
			return nil, err
		}
		r, err := l.Row(w.Result)
		if err != nil {
			return nil, err
		}
		conditions, results = append(conditions, c), append(results, r)
	}
	otherwise := &bounded.Expr{Op: bounded.OpConst, Const: value.Value{Null: true}, Nullable: true}
	if x.Else != nil {
		var err error
		if otherwise, err = l.Row(x.Else); err != nil {
			return nil, err
		}
	}
	return Choose(conditions, append(results, otherwise), x.At)
}

// Choose builds a CASE. The slice results has one element more than conditions: the result of ELSE.
func Choose(conditions, results []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	t, err := unify(results, at)
	if err != nil {
		return nil, err
	}
	e := &bounded.Expr{Op: bounded.OpCase, Type: t, Nullable: anyNullable(results), Range: branches(conditions, results)}
	for i, c := range conditions {
		e.Args = append(e.Args, c, results[i])
	}
	e.Args = append(e.Args, results[len(conditions)])
	return e, nil
}

// unionOf returns the smallest range that contains the ranges of all args, except NULL constants.
func unionOf(args []*bounded.Expr) bounded.Range {
	var r bounded.Range
	first := true
	for _, a := range args {
		if a.Op == bounded.OpConst && a.Const.Null {
			continue
		}
		if first {
			r, first = a.Range, false
			continue
		}
		r = unionRange(r, a.Range)
	}
	return r
}
