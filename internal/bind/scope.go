// Package bind resolves the names and expressions of a question. From the syntax tree and a policy it makes a
// relation, whose rows belong to one unit each, and typed expressions over its rows. The expressions are total:
// none overflows, fails, or leaves a function's domain. Package plan builds its phases on it. Package bind knows
// nothing of noise or prices.
package bind

import (
	"maps"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Scope resolves the names of one relation, and turns the question's syntax into typed, total expressions over the
// relation's rows.
type Scope struct {
	Table    *policy.Table
	alias    string
	Resolved map[*policy.Column]bool // for one table: the columns that the question reads
	// The columns of the table that the question uses, in order of first use. With a Source, the columns of the
	// source.
	Columns []bounded.Column

	// The following fields are set if the question selects from more than one table.
	Names  []Name          // the names; nil for the columns of Table
	Source *bounded.Source // nil for one table
	inside *inside         // for a subquery that is grouped by the unit: its keys and aggregates

	anyValue bool // whether constants beside a column need not be among its declared values
	computed *int // the work of computing functions of known values so far, for the whole question
}

// none reports whether the scope has no table. A zero Scope has none, and is for constant expressions.
func (l *Scope) none() bool { return l.Table == nil && l.Names == nil && l.inside == nil }

// Column returns the expression of a reference to a column, and makes the engine clean that column.
func (l *Scope) Column(c *query.Column) (*bounded.Expr, error) {
	switch {
	case l.inside != nil:
		return nil, Refuse(c.At, "add it to GROUP BY, or aggregate it", "column %q stands outside any aggregate", c.Name)
	case l.none():
		return nil, NoTable(c.At)
	case l.Names != nil:
		return l.resolve(c)
	}
	if c.Table != "" && c.Table != l.alias {
		return nil, Refuse(c.At, suggestion(c.Table, []string{l.alias}), "there is no table %q in this question", c.Table)
	}
	declared := l.Table.Column(c.Name)
	if declared == nil {
		return nil, Refuse(
			c.At,
			noColumn(c.Name, columnNames(l.Table)),
			"there is no column %q in table %q",
			c.Name,
			l.Table.Name,
		)
	}
	if err := unfilled(declared, c.At); err != nil {
		return nil, err
	}
	e := l.Declared(declared)
	l.reads(e)
	return e, nil
}

func columnNames(t *policy.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Row translates an expression of the question, over the values of one row, into a typed expression.
func (l *Scope) Row(x query.Expr) (*bounded.Expr, error) {
	if l.inside != nil {
		if e, ok := l.inside.key(x); ok {
			return e, nil
		}
	}
	e, err := l.dispatch(x)
	if err == nil && e.Weight() > bounded.MaxWeight {
		return nil, Refuse(x.Pos(), "simplify it", "this expression is too large when it is expanded")
	}
	return e, err
}

func (l *Scope) dispatch(x query.Expr) (*bounded.Expr, error) {
	switch x := x.(type) {
	case *query.Column:
		return l.Column(x)
	case *query.Literal:
		return Literal(x)
	case *query.Unary:
		if span, ok := SpanOf(x); ok {
			return Constant(value.OfSpan(span)), nil
		}
		return l.unary(x)
	case *query.Binary:
		return l.binary(x)
	case *query.Between:
		return l.between(x)
	case *query.In:
		return l.in(x)
	case *query.Like:
		return l.like(x)
	case *query.Is:
		return l.Is(x)
	case *query.Case:
		return l.caseWhen(x)
	case *query.Cast:
		return l.cast(x)
	case *query.Call:
		return l.call(x)
	case *query.Nested:
		e := Refuse(
			x.At,
			"put it into WHERE, into GROUP BY or inside an aggregate; or ask it first, and write its answer as a constant",
			"a subquery is not supported here",
		)
		e.Instead = PublicValue
		return nil, e
	}
	return nil, Refuse(x.Pos(), "", "this expression is not supported here")
}

// rows translates several expressions, as Row does.
func (l *Scope) rows(xs []query.Expr) ([]*bounded.Expr, error) {
	out := make([]*bounded.Expr, len(xs))
	for i, x := range xs {
		e, err := l.Row(x)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// Condition translates an expression as Row does, and refuses it unless it is Boolean.
func (l *Scope) Condition(x query.Expr) (*bounded.Expr, error) {
	e, err := l.Row(x)
	if err != nil {
		return nil, err
	}
	return asBoolean(e, x.Pos())
}

func asBoolean(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if IsUntypedNull(e) {
		return Constant(value.NullOf(value.Boolean)), nil
	}
	if e.Type != value.Boolean {
		return nil, Refuse(at, "compare it with something", "a condition is needed here, and this is of type %s", e.Type)
	}
	return e, nil
}

func (l *Scope) unary(x *query.Unary) (*bounded.Expr, error) {
	if x.Op == query.Not {
		e, err := l.Condition(x.X)
		if err != nil {
			return nil, err
		}
		return Logical(bounded.OpNot, e), nil
	}
	e, err := l.Row(x.X)
	if err != nil {
		return nil, err
	}
	return negate(e, x.At)
}

func negate(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if IsUntypedNull(e) {
		return e, nil
	}
	if err := Numeric(e, at); err != nil {
		return nil, err
	}
	zero := Constant(value.OfInt(0))
	if e.Type == value.Real {
		r := e.Range
		r.Lo, r.Hi = -r.Hi, -r.Lo
		return &bounded.Expr{Op: bounded.OpNeg, Type: e.Type, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable}, nil
	}
	r, ok := addRange(value.Integer, zero.Range, e.Range, true)
	if !ok {
		return nil, tooWide(e, at)
	}
	return &bounded.Expr{Op: bounded.OpNeg, Type: e.Type, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable}, nil
}

// Logical builds AND, OR and NOT over Boolean arguments.
func Logical(op bounded.Op, args ...*bounded.Expr) *bounded.Expr {
	return &bounded.Expr{Op: op, Type: value.Boolean, Args: args, Nullable: anyNullable(args)}
}

func anyNullable(args []*bounded.Expr) bool {
	for _, a := range args {
		if a.Nullable {
			return true
		}
	}
	return false
}

// Is translates IS [NOT] NULL, TRUE, FALSE and UNKNOWN into a typed expression.
func (l *Scope) Is(x *query.Is) (*bounded.Expr, error) {
	var e *bounded.Expr
	var err error
	if x.What == query.IsNull {
		e, err = l.Row(x.X)
	} else {
		e, err = l.Condition(x.X)
	}
	if err != nil {
		return nil, err
	}
	switch x.What {
	case query.IsNull, query.IsUnknown:
		e = &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{e}}
	case query.IsTrue:
		e = &bounded.Expr{Op: bounded.OpIs, Type: value.Boolean, Args: []*bounded.Expr{e}}
	default: // IS FALSE
		e = &bounded.Expr{Op: bounded.OpIs, Type: value.Boolean, Args: []*bounded.Expr{Logical(bounded.OpNot, e)}}
	}
	if x.Not {
		e = Logical(bounded.OpNot, e)
	}
	return e, nil
}

// unify converts the expressions args, in place, to a common type, and returns the type. Integer and Real become
// Real, Date and Timestamp become Timestamp, and NULL takes the type of the others. A date beside a text constant with
// a time of day other than midnight becomes a timestamp too, so that the constant keeps its meaning.
func unify(args []*bounded.Expr, at query.Pos) (value.Type, error) {
	var t value.Type
	clocked := false
	for i, a := range args {
		clocked = clocked || hasClock(a)
		switch {
		case IsUntypedNull(a) || a.Type == t:
		case t == 0:
			t = a.Type
		case IsNumber(t) && IsNumber(a.Type):
			t = value.Real
		case readsConstant(t) && a.Op == bounded.OpConst && a.Type == value.Text:
		case readsConstant(a.Type) && t == value.Text && !slices.ContainsFunc(args[:i], isText):
			t = a.Type // the conversion below reads the text constants before it
		case t == value.Date && a.Type == value.Timestamp, t == value.Timestamp && a.Type == value.Date:
			t = value.Timestamp
		default:
			return 0, dontMix(at, t, a, args)
		}
	}
	if t == value.Date && clocked {
		t = value.Timestamp
	}
	if t == 0 {
		return 0, Refuse(at, "NULL alone has no type", "the type of this expression is not known")
	}
	for i, a := range args {
		c, err := convert(a, t, at)
		if err != nil {
			return 0, err
		}
		args[i] = c
	}
	return t, nil
}

// ReadsText reports whether a text constant is read as a value of type t where t is needed: a date, a timestamp, a time
// or an interval.
func ReadsText(t value.Type) bool {
	return t == value.Date || t == value.Timestamp || t == value.Time || t == value.Interval
}

// readsConstant reports whether a text constant is read as a value of type t where t is needed, as PostgreSQL reads it.
func readsConstant(t value.Type) bool {
	return ReadsText(t) || IsNumber(t) || t == value.Boolean
}

// isText reports whether e is a text and no constant.
func isText(e *bounded.Expr) bool { return e.Type == value.Text && e.Op != bounded.OpConst }

// IsNumber reports whether t is Integer or Real.
func IsNumber(t value.Type) bool { return t == value.Integer || t == value.Real }

// convert converts e to the type t if nothing is lost: Integer to Real, Date to Timestamp, a text constant to a type of
// time, NULL to any type. It refuses other conversions.
func convert(e *bounded.Expr, t value.Type, at query.Pos) (*bounded.Expr, error) {
	switch {
	case e.Type == t:
		return e, nil
	case IsUntypedNull(e):
		return Constant(value.NullOf(t)), nil
	case e.Type == value.Integer && t == value.Real:
		return toReal(e), nil
	case e.Type == value.Date && t == value.Timestamp:
		return startOf(e), nil
	case e.Op == bounded.OpConst && e.Type == value.Text && ReadsText(t):
		text := e.Const.Text
		if e.Text != "" && (t == value.Date || t == value.Timestamp) {
			text = e.Text
		}
		return ConstantTime(t, text, at)
	case e.Op == bounded.OpConst && e.Type == value.Text && readsConstant(t):
		if v, ok := readConstant(e.Const.Text, t); ok {
			return Constant(v), nil
		}
	}
	return nil, dontMix(at, t, e, []*bounded.Expr{e})
}

func toReal(e *bounded.Expr) *bounded.Expr {
	if e.Op == bounded.OpConst && e.Const.Null {
		return Constant(value.NullOf(value.Real))
	}
	if e.Op == bounded.OpConst {
		return Constant(value.OfReal(float64(e.Const.Int)))
	}
	r := bounded.Range{Lo: float64(e.Range.IntLo), Hi: float64(e.Range.IntHi)}
	return &bounded.Expr{Op: bounded.OpToReal, Type: value.Real, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable}
}

// NumericIn refuses an aggregate's argument that is not a number. The hint has the aggregate of a number in its place.
func NumericIn(e *bounded.Expr, x *query.Call) error {
	if IsNumber(e.Type) {
		return nil
	}
	shown, name, refusal := query.Print(x.Args[0]), x.Name, "a number is needed here, and this is of type %s"
	switch e.Type {
	case value.Interval:
		if of, ok := x.Args[0].(*query.Call); ok && of.Name == "age" && len(of.Args) == 2 { // whose months have no length in seconds
			moment := func(a query.Expr) query.Expr { return &query.Cast{X: a, Type: "timestamp"} }
			shown = query.Print(&query.Binary{Op: query.Sub, L: moment(of.Args[0]), R: moment(of.Args[1])})
		}
		return Refuse(
			x.At, "write "+name+"(EXTRACT(epoch FROM "+shown+") / 86400) for days, without the division for seconds", refusal, e.Type,
		)
	case value.Date:
		return Refuse(x.At, "write "+name+"("+shown+" - DATE '1970-01-01'), a number of days", refusal, e.Type)
	case value.Timestamp:
		return Refuse(x.At, "write "+name+"(EXTRACT(epoch FROM "+shown+")), in seconds since 1970-01-01", refusal, e.Type)
	case value.Time:
		return Refuse(
			x.At, "write "+name+"(EXTRACT(hour FROM "+shown+") * 60 + EXTRACT(minute FROM "+shown+")), in minutes", refusal, e.Type,
		)
	case value.Text:
		return Refuse(x.At, "write COUNT(DISTINCT "+shown+"), or group by it", refusal, e.Type)
	}
	return Refuse(x.At, "", refusal, e.Type)
}

// Numeric refuses an expression that is not a number.
func Numeric(e *bounded.Expr, at query.Pos) error {
	if !IsNumber(e.Type) {
		hint := ""
		if e.Type == value.Interval {
			hint = "write EXTRACT(epoch FROM a - b) / 86400 for days, or EXTRACT(epoch FROM a - b) / 3600 for hours"
		}
		return Refuse(at, hint, "a number is needed here, and this is of type %s", e.Type)
	}
	return nil
}

// tooWide returns the refusal of arithmetic that could overflow or underflow. The message names the columns without
// declared bounds.
func tooWide(e *bounded.Expr, at query.Pos) *Error {
	var unbounded []string
	e.Walk(func(x *bounded.Expr) {
		if x.Op == bounded.OpColumn && IsUnbounded(x) {
			unbounded = append(unbounded, query.QuoteName(x.Name))
		}
	})
	if len(unbounded) > 0 {
		return Refuse(at, "the owner can declare bounds in the policy; or bound it here: LEAST(GREATEST(x, low), high)",
			"column %s has no declared bounds, so it may be compared but not computed with", strings.Join(unbounded, ", "))
	}
	return Refuse(
		at,
		"narrow the arguments with LEAST and GREATEST",
		"this could overflow or underflow, given the declared bounds",
	)
}

// IsUnbounded reports whether the values of x have no usable bounds.
func IsUnbounded(x *bounded.Expr) bool {
	if x.Type == value.Integer {
		return x.Range.IntLo < -maxInteger || x.Range.IntHi > maxInteger
	}
	return x.Type == value.Real && !soundRange(x.Range)
}

// Clone returns a copy of the scope. Names that the copy resolves, and functions that it computes, do not change the
// original.
func (l *Scope) Clone() Scope {
	out := *l
	if l.computed != nil {
		n := *l.computed
		out.computed = &n
	}
	out.Columns, out.Resolved = slices.Clone(l.Columns), maps.Clone(l.Resolved)
	return out
}
