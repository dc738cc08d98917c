package post

import (
	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// Bound is a program whose names and types are known to fit its answer.
type Bound struct {
	stages []*stage
	nested []*nested
}

// nested is a subquery in an expression that gives one value of the same answer.
type nested struct {
	stages []*stage
	value  *Cell // set while the program runs
}

// Bind binds a program to the columns of its answer. chosen is that of the table that Run will get. Every error is a
// *bind.Error, and depends on the question and the policy alone.
func (p *Program) Bind(columns []Column, chosen string) (*Bound, error) {
	out := &Bound{}
	b := &binder{program: p}
	b.nested = func(x *query.Nested) (*node, error) { return out.value(b, x, columns, chosen) }
	var err error
	out.stages, err = b.chain(p.over, columns, chosen)
	return out, err
}

// chain binds SELECTs, each over the rows of the one before.
func (b *binder) chain(over []*query.Select, columns []Column, chosen string) (stages []*stage, err error) {
	table := ""
	for i, q := range over {
		if i == 0 {
			columns = positions(columns)
		}
		t, err := b.bindSelect(q, columns, table, chosen)
		if err != nil {
			return nil, err
		}
		stages, columns, chosen = append(stages, t), t.columns, t.chosen
		if i+1 < len(over) {
			table = over[i+1].From.Relation.(*query.Subquery).Alias
		}
	}
	return stages, nil
}

// positions names the columns of the answer by their positions, as divide does.
func positions(columns []Column) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		out[i] = c
		out[i].Name, out[i].From = position(i), i+1
	}
	return out
}

// value binds a subquery that gives one value, if it reads the same answer: share = n / (SELECT SUM(n) FROM answer).
func (o *Bound) value(b *binder, x *query.Nested, columns []Column, chosen string) (*node, error) {
	other := bind.Refuse(x.At, "ask it first, and write its answer as a constant",
		"a subquery in an expression over an answer must give one value of that same answer")
	if x.Kind != query.ValueNested || len(x.Sub.Branches) != 1 {
		return nil, other
	}
	var around []*query.Select
	s := x.Sub.Branches[0]
	for ; s != nil && s.String() != b.program.as; s = below(s) {
		around = append(around, s)
	}
	if s == nil {
		return nil, other
	}
	stages, err := b.chain(append([]*query.Select{b.program.split}, reversed(around)...), columns, chosen)
	if err != nil {
		return nil, err
	}
	last := stages[len(stages)-1]
	if len(last.items) != 1 || !last.whole {
		return nil, bind.Refuse(x.At, "select one aggregate without GROUP BY", "this subquery may give several values")
	}
	n := &nested{stages: stages}
	o.nested = append(o.nested, n)
	c := last.columns[0]
	return &node{typ: c.Type, noisy: c.Noisy, why: c.Why, eval: func(*env, *row) Cell {
		if n.value == nil {
			return Exact(value.NullOf(c.Type))
		}
		return *n.value
	}}, nil
}

// Columns returns the columns of the program's rows.
func (o *Bound) Columns() []Column { return o.stages[len(o.stages)-1].columns }

// Chosen says why the rows of the program depend on noise; "" if they do not.
func (o *Bound) Chosen() string { return o.stages[len(o.stages)-1].chosen }

// Result is the rows that a program computes.
type Result struct {
	Columns []Column
	Rows    [][]Shown
}

// Shown is a value with its interval. Interval is nil if the value is exact or has none.
type Shown struct {
	Value    value.Value
	Interval *Interval
	StdDev   float64 // of the noise of a linear expression; 0 if it is not known
}

// whyUnknown is the reason why a single number has no interval.
const whyUnknown = "some of its numbers combine errors that are not known together"

// Run computes the program over the rows of its answer. Intervals fail to cover with probability at most alpha each.
func (o *Bound) Run(rows [][]Cell, alpha float64) *Result {
	e := &env{laws: newLaws(alpha), terms: mostTerms}
	for _, n := range o.nested {
		if found := chain(e, n.stages, rows); len(found) == 1 {
			n.value = &found[0][0]
		}
	}
	out := &Result{Columns: append([]Column{}, o.Columns()...)}
	for _, cells := range chain(e, o.stages, rows) {
		shown := make([]Shown, len(cells))
		for i, c := range cells {
			shown[i].Value = c.Value
			if column := o.Columns()[i]; !column.Noisy || column.Why != "" || c.Value.Null {
				continue
			}
			if c.error == nil {
				out.Columns[i].Why = whyUnknown
				continue
			}
			within := widen(e.laws.interval(c.error, number(c.Value)), c.Value)
			shown[i].Interval, shown[i].StdDev = &within, e.laws.stdDev(c.error)
		}
		out.Rows = append(out.Rows, shown)
	}
	return out
}

func chain(e *env, stages []*stage, rows [][]Cell) [][]Cell {
	for _, t := range stages {
		rows = t.run(e, rows)
	}
	return rows
}
