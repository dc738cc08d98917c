package constraint

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rule is a constraint.
type Rule struct {
	text    string
	columns []string
	root    node
	bound   []Column
	shifts  []float64 // other than 0
}

// String returns the constraint as it was written.
func (r *Rule) String() string { return r.text }

// Columns returns the names of the columns, in the order of the values of [Rule.Truth].
func (r *Rule) Columns() []string { return slices.Clone(r.columns) }

// Bind checks that the columns exist and have the right kinds, and reads the constants.
func (r *Rule) Bind(column func(name string) (Column, bool)) error {
	r.bound, r.shifts = nil, nil
	for _, name := range r.columns {
		c, ok := column(name)
		if !ok {
			return fmt.Errorf("%s: there is no column %q in the synthetic table", r.text, name)
		}
		r.bound = append(r.bound, c)
	}
	if err := r.root.bind(r); err != nil {
		return fmt.Errorf("%s: %w", r.text, err)
	}
	return nil
}

// Truth evaluates the constraint, which is bound, on values or ranges of its columns. It may contain truth values that
// no values of the ranges have, and lacks none that some have.
func (r *Rule) Truth(values []Value) Truth { return r.root.truth(values) }

// Cut is a constant that a column of numbers is compared with. A bin of the column that begins at the constant, or
// right after it, lies on one side.
type Cut struct {
	At            float64
	Before, After bool // whether the constant begins a bin, and whether it ends one
}

// Cuts returns the constants that a column is compared with.
func (r *Rule) Cuts(name string) (out []Cut) {
	place := slices.Index(r.columns, name)
	if place >= 0 {
		r.root.cuts(place, &out)
	}
	return out
}

// Shifts returns the numbers that are added to columns.
func (r *Rule) Shifts() []float64 { return slices.Clone(r.shifts) }

// node is a part of a condition.
type node interface {
	bind(*Rule) error
	truth([]Value) Truth
	cuts(column int, into *[]Cut)
}

type either struct{ parts []node }

func (n *either) bind(r *Rule) error {
	for _, p := range n.parts {
		if err := p.bind(r); err != nil {
			return err
		}
	}
	return nil
}

func (n *either) truth(v []Value) Truth {
	out := False
	for _, p := range n.parts {
		out = or(out, p.truth(v))
	}
	return out
}

func (n *either) cuts(column int, into *[]Cut) {
	for _, p := range n.parts {
		p.cuts(column, into)
	}
}

type negated struct{ of node }

func (n *negated) bind(r *Rule) error           { return n.of.bind(r) }
func (n *negated) truth(v []Value) Truth        { return not(n.of.truth(v)) }
func (n *negated) cuts(column int, into *[]Cut) { n.of.cuts(column, into) }

// flag is a boolean column.
type flag struct{ column int }

func (n *flag) bind(r *Rule) error {
	if r.bound[n.column].Kind != Boolean {
		return fmt.Errorf("column %s is not boolean, so it is no condition", r.columns[n.column])
	}
	return nil
}

func (n *flag) truth(v []Value) Truth {
	if v[n.column].Null {
		return Unknown
	}
	return truth(v[n.column].True, !v[n.column].True)
}

func (n *flag) cuts(int, *[]Cut) {}

// missing is IS NULL.
type missing struct{ column int }

func (n *missing) bind(*Rule) error      { return nil }
func (n *missing) truth(v []Value) Truth { return truth(v[n.column].Null, !v[n.column].Null) }
func (n *missing) cuts(int, *[]Cut)      {}

// operand is a column plus a shift, or a constant.
type operand struct {
	column int // −1: a constant
	text   string
	quoted bool
	shift  float64 // as written

	value Value // of a constant
	moved float64
}

func (o *operand) at(v []Value) Value {
	if o.column < 0 {
		return o.value
	}
	out := v[o.column]
	out.Low, out.High = out.Low+o.moved, out.High+o.moved
	return out
}

// compare is a comparison: < <= = or their negations.
type compare struct {
	left, right *operand
	how         string // "<", "<=" or "="
	kind        Kind
}

func (n *compare) bind(r *Rule) error {
	if n.left.column < 0 && n.right.column < 0 {
		return fmt.Errorf("a comparison needs a column")
	}
	of := n.left
	if of.column < 0 {
		of = n.right
	}
	c := r.bound[of.column]
	n.kind = c.Kind
	for _, o := range []*operand{n.left, n.right} {
		if err := o.bind(r, c); err != nil {
			return err
		}
	}
	if n.kind != Number && n.how != "=" {
		return fmt.Errorf("column %s has no order here: compare it with = or <>", r.columns[of.column])
	}
	return nil
}

// bind reads a constant that is compared with a column, or checks that another column is of the same kind.
func (o *operand) bind(r *Rule, with Column) error {
	if o.column >= 0 {
		own := r.bound[o.column]
		switch {
		case own.Kind != with.Kind, own.Kind == Number && own.Unit != with.Unit:
			return fmt.Errorf("column %s is compared with a column of another type", r.columns[o.column])
		case o.shift != 0 && (own.Kind != Number || own.Unit == 0):
			return fmt.Errorf("column %s has no + and −", r.columns[o.column])
		}
		if o.moved = o.shift * own.Unit; o.moved != 0 {
			r.shifts = append(r.shifts, o.moved)
		}
		return nil
	}
	switch with.Kind {
	case Text:
		if !o.quoted {
			return fmt.Errorf("write the text '%s' in single quotes", o.text)
		}
		o.value = Value{Text: o.text}
	case Boolean:
		if o.quoted || !strings.EqualFold(o.text, "true") && !strings.EqualFold(o.text, "false") {
			return fmt.Errorf("a boolean column is compared with TRUE or FALSE, not %q", o.text)
		}
		o.value = Value{True: strings.EqualFold(o.text, "true")}
	default:
		x, err := with.Number(o.text)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%q is no value of the column that it is compared with", o.text)
		}
		o.value = At(x)
	}
	return nil
}

func (n *compare) truth(v []Value) Truth {
	a, b := n.left.at(v), n.right.at(v)
	switch {
	case a.Null || b.Null:
		return Unknown
	case n.kind == Text:
		return truth(a.Text == b.Text, a.Text != b.Text)
	case n.kind == Boolean:
		return truth(a.True == b.True, a.True != b.True)
	case n.how == "<":
		return truth(a.Low < b.High, a.High >= b.Low)
	case n.how == "<=":
		return truth(a.Low <= b.High, a.High > b.Low)
	}
	return truth(a.Low <= b.High && b.Low <= a.High, a.Low < a.High || b.Low < b.High || a.Low != b.Low)
}

func (n *compare) cuts(column int, into *[]Cut) {
	of, with, left := n.left, n.right, true
	if of.column != column {
		of, with, left = n.right, n.left, false
	}
	if n.kind != Number || of.column != column || with.column >= 0 {
		return
	}
	c := Cut{At: with.value.Low - of.moved}
	c.Before = n.how == "=" || (n.how == "<") == left
	c.After = n.how == "=" || !c.Before
	*into = append(*into, c)
}
