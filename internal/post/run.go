package post

import (
	"context"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// Bound is a program whose names and types are known to fit its answers.
type Bound struct {
	program *Program // of one answer; nil for several
	given   []Column // the columns of that answer
	picked  string   // as chosen of Bind
	rows    int      // as most of Bind
	of      source
	frame
	inners []*inner
	counts bool
	pairs  float64 // of several answers: as that of a table
	late   []int
}

// CountsGroups reports whether an aggregate of the question depends on how many groups an answer has, as COUNT and AVG
// do. It then counts all groups of the answer, also those in which nobody has a row.
func (b *Bound) CountsGroups() bool { return b.counts }

// Late returns the indices of the answers whose rows a ranking limits or divides after they are measured. The bounds on
// a unit hold before that.
func (b *Bound) Late() []int { return b.late }

// Most returns the largest number of rows of a question over several answers, or over constants alone.
func (b *Bound) Most() int { return int(min(b.pairs, 1<<31-1)) }

// Bind binds a program to the columns of its answer, which has at most `most` rows. chosen is that of the table that
// Run will get. Every error is a *bind.Error, and depends on the question and the policy alone.
func (p *Program) Bind(columns []Column, most int, chosen string) (*Bound, error) {
	columns = p.quotients(columns)
	b := &binder{wholes: map[*query.Nested]bind.Whole{}}
	rows := frame{columns: positions(columns, 0), chosen: chosen, most: float64(most), empty: ofGroups(columns, most)}
	b.nested = func(_ *scope, x *query.Nested) (*node, error) { return b.sameAnswer(p, x, rows) }
	of, in, err := b.chain(answered(0), p.over, rows)
	if err != nil {
		return nil, p.worded(err)
	}
	readable(of.(selected).by)
	return &Bound{
		program: p, given: columns, picked: chosen, rows: most, of: of, frame: in, inners: b.inners, counts: b.counts,
	}, nil
}

// ofGroups reports whether rows are several groups of an answer.
func ofGroups(columns []Column, most int) bool {
	return most > 1 && slices.ContainsFunc(columns, func(c Column) bool { return c.Noisy })
}

// quotients sets the types of the columns' whole numbers in PostgreSQL.
func (p *Program) quotients(columns []Column) []Column {
	if len(columns) != len(p.Measured.Items) {
		return columns
	}
	columns = slices.Clone(columns)
	for i, item := range p.Measured.Items {
		columns[i].whole = wholeBelow(p.Measured, item.Expr)
	}
	return columns
}

// chain binds SELECTs, each over the rows of the one before.
func (b *binder) chain(of source, over []*query.Select, in frame) (source, frame, error) {
	for i, q := range over {
		t, err := b.bindSelect(q, in)
		if err != nil {
			return nil, in, err
		}
		of, in = selected{of, t}, t.frame()
		if i+1 < len(over) {
			in.table = over[i+1].From.Relation.(*query.Subquery).Alias
		}
	}
	return of, in, nil
}

// positions names the columns of an answer by their positions, as divide does. The answers before it have `from` columns.
func positions(columns []Column, from int) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		out[i] = c
		out[i].Name, out[i].From = position(i), from+i+1
	}
	return out
}

// sameAnswer binds a subquery that gives one value, if it reads the same answer:
// share = n / (SELECT SUM(n) FROM answer).
func (b *binder) sameAnswer(p *Program, x *query.Nested, rows frame) (*node, error) {
	other := bind.Refuse(x.At, "ask it first, and write its answer as a constant",
		"a subquery in an expression over an answer must give one value of that same answer")
	if x.Kind != query.ValueNested || len(x.Sub.Branches) != 1 {
		return nil, other
	}
	var around []*query.Select
	s := x.Sub.Branches[0]
	for ; s != nil && s.String() != p.as; s = below(s) {
		around = append(around, s)
	}
	if s == nil {
		return nil, other
	}
	over := append([]*query.Select{p.split}, reversed(around)...)
	of, in, err := b.chain(answered(0), over, rows)
	if err != nil {
		return nil, err
	}
	if len(in.columns) != 1 || !of.(selected).by.whole {
		return nil, severalValues(x)
	}
	b.wholes[x] = in.columns[0].whole
	return b.subquery(of).value(in), nil
}

func severalValues(x *query.Nested) error {
	return bind.Refuse(x.At, "select one aggregate without GROUP BY", "this subquery may give several values")
}

// Columns returns the columns of the program's rows.
func (o *Bound) Columns() []Column { return o.columns }

// Result is the rows that a program computes.
type Result struct {
	Columns []Column
	Rows    [][]Shown
	// Excess is set if joins paired more rows than are allowed. There are no rows then.
	Excess bool
}

// Shown is a value with its interval. Interval is nil if the value is exact or has none.
type Shown struct {
	Value    value.Value
	Interval *Interval
	StdDev   float64 // of the noise of a linear expression; 0 if it is not known
}

// whyUnknown is the reason why a single number has no interval.
const whyUnknown = "some of its numbers combine errors that are not known together"

// mostPairs bounds the rows that the joins of a question pair.
const mostPairs = 500_000

// cells returns a number of intervals that a program may need, from the sizes of its answers and its columns.
func (o *Bound) cells(answers [][][]Cell) int {
	rows, noisy := 0, 0
	for _, a := range answers {
		rows = max(rows, len(a))
	}
	for _, c := range o.columns {
		if c.Noisy {
			noisy++
		}
	}
	return rows * noisy
}

// Run computes the program over the rows of its answers. Intervals fail to cover with probability at most alpha each. The
// error is a *bind.Error if the program would compute too much over so many rows, or that of ctx.
func (o *Bound) Run(ctx context.Context, alpha float64, answers ...[][]Cell) (*Result, error) {
	if o.program != nil && o.Fits(len(answers[0])) != nil {
		var err error
		if o, err = o.narrow(answers[0]); err != nil {
			return nil, err
		}
	}
	e := &env{
		ctx: ctx, laws: newLaws(alpha), terms: mostTerms, answers: answers, pairs: mostPairs, inner: map[*inner]*found{},
	}
	if o.cells(answers) > mostComputed {
		e.laws.table = map[ratioed]float64{}
	}
	out := &Result{Columns: append([]Column{}, o.columns...)}
	rows := o.of.rows(e)
	if e.pairs < 0 {
		out.Excess, rows = true, nil
	}
	if err := e.spent.refusal(); err != nil {
		return nil, err
	}
	for _, cells := range rows {
		if e.ended() {
			break
		}
		shown := make([]Shown, len(cells))
		for i, c := range cells {
			shown[i].Value = c.Value
			if column := o.columns[i]; !column.Noisy || column.Why != "" || c.Value.Null {
				continue
			}
			if c.error == nil {
				out.Columns[i].Why = whyUnknown
				continue
			}
			around, ok := e.laws.interval(c.error, number(c.Value))
			if !ok {
				out.Columns[i].Why = whyUnknown
				continue
			}
			within := widen(around, c.Value)
			shown[i].Interval, shown[i].StdDev = &within, e.laws.stdDev(c.error)
		}
		out.Rows = append(out.Rows, shown)
	}
	return out, ctx.Err()
}
