package post

import (
	"context"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// node is a bound expression over the rows of an answer.
type node struct {
	typ   value.Type // 0 for NULL without a type
	noisy bool       // the value depends on released numbers
	why   string     // why the value has no interval; "" if it may have one
	from  int        // as Column.From
	sure  bool       // as Column.Sure
	fixed *value.Value
	local string // of a text constant that spells a moment: the time that clocks in the policy's zone show then
	eval  func(*env, *row) Cell
	work  int // a bound on the work of an evaluation (see mostWork)
	width int // a bound on the bytes of the value, if it is a text
}

// env is the state of one evaluation.
type env struct {
	ctx     context.Context
	laws    *laws
	terms   int               // how many more terms the forms of the question may have
	pairs   int               // how many more rows its joins may pair
	answers [][][]Cell        // the rows of each measured question
	inner   map[*inner]*found // the rows of subqueries in expressions
	spent   tally
}

// ended reports whether the caller has given up.
func (e *env) ended() bool { return e.ctx.Err() != nil }

// afford reports whether the forms of the question may have more terms, and counts them. Forms beyond the bound are not
// made, so their numbers have no interval.
func (e *env) afford(terms int) bool {
	e.terms -= terms
	return e.terms >= 0
}

// mostTerms bounds the work and the memory for forms. Running sums over 2,000 rows have two million terms.
const mostTerms = 4_000_000

// row is one row over which expressions are evaluated.
type row struct {
	cells   []Cell // the columns that FROM has
	keys    []Cell // the values of GROUP BY expressions
	folds   []Cell // the values of aggregates
	windows []Cell // the values of window functions
}

// WhyChosen is the reason why a mode has no interval.
const WhyChosen = "it was chosen from a list"

// Reasons why a column has no interval.
const (
	whyPicked    = "which rows are left depends on their noise, and an interval would not allow for that choice"
	whyCondition = "it depends on a condition on noisy numbers"
	whyProduct   = "it is neither linear in the released numbers nor a quotient of such expressions"
	whyExtreme   = "it is chosen among noisy numbers, and the choice depends on the noise"
	whyOrder     = "it depends on the order of noisy numbers"
	whyGroups    = "it depends on groups that noisy numbers form"
	whyText      = "it is not a number"
	whyCount     = "it counts values that depend on noise"
)

func exactly(v value.Value) *node {
	return &node{typ: v.Type, fixed: &v, width: len(v.Text), eval: func(*env, *row) Cell { return Exact(v) }}
}

// nothing is NULL without a type.
func nothing() *node {
	n := exactly(value.Value{Null: true})
	n.typ = 0
	return n
}

// function returns a node that applies a function of values. It is NULL if an argument is NULL. It has no interval if an
// argument is noisy.
func function(typ value.Type, why string, f func([]value.Value) value.Value, args ...*node) *node {
	return general(typ, why, func(vs []value.Value) value.Value {
		for _, v := range vs {
			if v.Null {
				return value.NullOf(typ)
			}
		}
		return f(vs)
	}, args...)
}

// general is function for functions that take NULLs.
func general(typ value.Type, why string, f func([]value.Value) value.Value, args ...*node) *node {
	out := (&node{typ: typ, work: 1}).costs(args...)
	out.depends(why, args...)
	if typ == value.Text {
		out.width = value.MaxTextBytes
	}
	fixed := make([]value.Value, 0, len(args))
	for _, a := range args {
		if a.fixed != nil {
			fixed = append(fixed, *a.fixed)
		}
	}
	if len(fixed) == len(args) {
		return exactly(typed(f(fixed), typ))
	}
	out.eval = func(e *env, r *row) Cell {
		vs := make([]value.Value, len(args))
		for i, a := range args {
			vs[i] = a.eval(e, r).Value
		}
		return Exact(typed(f(vs), typ))
	}
	return out
}

// once returns a node that computes the value of n once for a row. It is for nodes that occur several times in an
// expression: otherwise the work would grow exponentially with nesting. The caller adds the work of n itself.
func once(n *node) *node {
	if n.fixed != nil {
		return n
	}
	out := *n
	out.work = 1
	var of *row // kept, so that no other row has its address
	var in *env
	var c Cell
	out.eval = func(e *env, r *row) Cell {
		if r != of || e != in {
			c = n.eval(e, r)
			of, in = r, e
		}
		return c
	}
	return &out
}

// typed returns v with a type, which a NULL may lack.
func typed(v value.Value, t value.Type) value.Value {
	if v.Null {
		return value.NullOf(t)
	}
	return v
}

// depends marks a node as noisy if an argument is, and gives the first reason why it has no interval.
func (n *node) depends(why string, args ...*node) {
	for _, a := range args {
		if a.noisy {
			n.noisy = true
			if n.why == "" {
				n.why = a.why
			}
		}
	}
	if n.noisy && n.why == "" {
		n.why = why
	}
}

// monotone returns a node that applies a monotone function of a number, and maps the interval of its argument.
func monotone(typ value.Type, x *node, rounds bool, of func(value.Value) value.Value, ends func(float64) float64) *node {
	out := function(typ, "", func(vs []value.Value) value.Value { return of(vs[0]) }, x)
	if out.fixed != nil || !x.noisy {
		return out
	}
	inner := x.eval
	out.eval = func(e *env, r *row) Cell {
		c := inner(e, r)
		if c.Value.Null {
			return Exact(value.NullOf(typ))
		}
		v := of(c.Value)
		if v.Null {
			return Exact(value.NullOf(typ))
		}
		return Cell{Value: v, error: e.mapped(c, ends, rounds)}
	}
	return out
}

// asNumber refuses arguments that are not numbers.
func asNumber(at query.Pos, args ...*node) error {
	for _, a := range args {
		if a.typ != 0 && !bind.IsNumber(a.typ) {
			return bind.Refuse(at, "", "a number is needed here, and this is of type %s", a.typ)
		}
	}
	return nil
}

// asCondition refuses an expression that is not a condition.
func asCondition(n *node, at query.Pos) error {
	if n.typ != 0 && n.typ != value.Boolean {
		return bind.Refuse(at, "compare it with something", "a condition is needed here, and this is of type %s", n.typ)
	}
	return nil
}

// ofReal returns a Real value, or NULL for a number that is not finite.
func ofReal(x float64) value.Value {
	if !finite(x) {
		return value.NullOf(value.Real)
	}
	if x == 0 {
		x = 0 // no −0
	}
	return value.OfReal(x)
}
