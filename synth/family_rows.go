package synth

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/synth/model"
)

// conditional is the distribution of a column of the children, given columns that were drawn before it.
type conditional struct {
	column int
	given  []int
	sizes  []int       // of given
	sums   [][]float64 // by cell of given: running sums over the cells of the column
	all    []float64   // the running sums without given
}

const (
	mostGiven      = 4       // columns
	mostGivenCells = 1 << 18 // with the column itself
	mostRedraws    = 20      // of a value outside of the first and last ones
)

// conditionals returns the distributions of the children's own columns, in order. A column is given those of its
// measured marginals that were drawn before it: those of the person, and the child's earlier columns.
func (r *FamilyResult) conditionals() (out []conditional, err error) {
	p := r.Children.Plan
	m, ok := r.Children.model.(*model.Model)
	if !ok {
		return nil, errors.New("synth: the children have no model")
	}
	for j := range p.inner {
		c := conditional{column: j}
		sets := slices.Clone(r.Children.measured)
		slices.SortStableFunc(sets, func(a, b model.Measurement) int {
			return cmp.Compare(a.Variance*float64(len(a.Values)), b.Variance*float64(len(b.Values)))
		})
		cells := float64(p.Columns[j].Cells)
		for _, y := range sets {
			if !slices.Contains(y.Attributes, j) {
				continue
			}
			for _, a := range y.Attributes {
				n := float64(p.Columns[a].Cells)
				drawn := a < j || a >= p.inner
				if drawn && !slices.Contains(c.given, a) && len(c.given) < mostGiven && cells*n <= mostGivenCells {
					c.given, cells = append(c.given, a), cells*n
				}
			}
		}
		slices.Sort(c.given)
		if c.sums, err = running(m, j, c.given, p); err != nil {
			c.given = nil // the model has no room for the marginal
			if c.sums, err = running(m, j, nil, p); err != nil {
				return nil, err
			}
		}
		all, err := running(m, j, nil, p)
		if err != nil {
			return nil, err
		}
		for _, a := range c.given {
			c.sizes = append(c.sizes, p.Columns[a].Cells)
		}
		c.all = all[0]
		out = append(out, c)
	}
	return out, nil
}

// running returns the running sums of a column's cells, for each cell of other columns.
func running(m *model.Model, column int, given []int, p *Plan) ([][]float64, error) {
	set := slices.Sorted(slices.Values(append(slices.Clone(given), column)))
	values, err := m.Marginal(set...)
	if err != nil {
		return nil, err
	}
	n := p.Columns[column].Cells
	blocks := len(values) / n
	out := make([][]float64, blocks)
	for i := range out {
		out[i] = make([]float64, n)
	}
	for cell, v := range values {
		rest, block, own, scale := cell, 0, 0, 1
		for k := len(set) - 1; k >= 0; k-- {
			size := p.Columns[set[k]].Cells
			code := rest % size
			if rest /= size; set[k] == column {
				own = code
			} else {
				block, scale = block+code*scale, scale*size
			}
		}
		out[block][own] = max(0, v)
	}
	for _, sums := range out {
		for i := 1; i < n; i++ {
			sums[i] += sums[i-1]
		}
	}
	return out, nil
}

// draw returns a cell of the column, given the cells of a row.
func (c *conditional) draw(row []int, words *splitmix.Stream) int {
	block := 0
	for k, a := range c.given {
		block = block*c.sizes[k] + row[a]
	}
	sums := c.sums[block]
	if !(sums[len(sums)-1] > 0) {
		sums = c.all
	}
	u := float64(words.Word()>>11) / (1 << 53) * sums[len(sums)-1]
	for i, s := range sums {
		if u < s {
			return i
		}
	}
	return len(sums) - 1
}

// person draws the rows of one person after another.
type person struct {
	result       *FamilyResult
	words        *splitmix.Stream
	parent       *writer
	child        *writer
	conditionals []conditional
	places       []int // for each column of the children's model that a person has, its column in the person's model
	number       int   // the columns of the person's model
	first, last  int   // −1 without an order
	order        int   // of the children's columns; −1
}

func newPerson(r *FamilyResult, words *splitmix.Stream) (*person, error) {
	all, err := r.conditionals()
	if err != nil {
		return nil, err
	}
	p := r.Plan
	out := &person{
		result: r, words: words, conditionals: all, parent: newWriter(r.Parents, words), child: newWriter(r.Children, words),
		number: p.Parents.place(p.number()), first: p.Parents.place(p.first()), last: p.Parents.place(p.last()), order: -1,
	}
	if p.Order != "" {
		out.order = p.Children.place(p.Order)
	}
	for _, c := range p.Children.Columns[p.Children.inner:] {
		same := func(o *Column) bool { return o.Name == c.Name || p.ofParent(o.Name) == c.Name }
		out.places = append(out.places, slices.IndexFunc(p.Parents.Columns, same))
	}
	return out, nil
}

// place returns the place of a column, or −1.
func (p *Plan) place(name string) int {
	return slices.IndexFunc(p.Columns, func(c *Column) bool { return c.Name == name })
}

// child is a row of a person.
type child struct {
	cells []int // of all columns of the model
	texts []string
	null  []bool
	at    float64 // in the order; +∞ for NULL
}

// mostChildDraws bounds the draws of a row that breaks a constraint.
const mostChildDraws = 2000

// children draws the rows of the person whose row the writer has.
func (p *person) children() (out []child, err error) {
	n, _ := strconv.Atoi(p.parent.texts[p.number])
	inner := p.result.Plan.Children.inner
	for k, at := range p.places { // the bins of the two models may differ
		p.child.row[inner+k] = max(0, p.child.writers[inner+k].cell(p.parent.texts[at]))
	}
	for i := range n {
		if err := p.drawn(i, n); err != nil {
			return nil, err
		}
		one := child{cells: slices.Clone(p.child.row), at: math.Inf(1)}
		for _, c := range p.conditionals {
			w, cell := p.child.writers[c.column], p.child.row[c.column]
			one.texts, one.null = append(one.texts, w.text(cell, p.child.points[c.column])), append(one.null, w.null[cell])
		}
		if p.order >= 0 && !p.child.writers[p.order].null[p.child.row[p.order]] {
			one.at = p.child.values[p.order].Low
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b child) int { return cmp.Compare(a.at, b.at) })
	return out, nil
}

// drawn draws row i of the n rows of a person, until it satisfies the constraints.
func (p *person) drawn(i, n int) error {
	inner := p.result.Plan.Children.inner
	for range mostChildDraws {
		for _, c := range p.conditionals {
			p.child.row[c.column] = c.draw(p.child.row, p.words)
		}
		p.child.fill()
		for k, at := range p.places {
			p.child.set(inner+k, p.parent.points[at])
		}
		if p.order >= 0 {
			p.ordered(i, n)
		}
		if len(p.child.broken()) == 0 {
			return nil
		}
	}
	return usage("use fewer constraints, or a larger --model-size, which keeps them in the model",
		"none of %d rows of a person satisfies the constraints, so the rows cannot be drawn", mostChildDraws)
}

// ordered gives the first two rows of a person the first and the last value of the order, and the others values between
// them.
func (p *person) ordered(i, n int) {
	a, b := p.parent.values[p.first], p.parent.values[p.last]
	if a.Null || b.Null {
		return
	}
	w := p.child.writers[p.order]
	switch {
	case i == 0:
		p.put(a.Low)
	case i == 1 && n > 1:
		p.put(b.Low)
	default:
		c := p.conditionals[slices.IndexFunc(p.conditionals, func(c conditional) bool { return c.column == p.order })]
		for range mostRedraws {
			if v := p.child.values[p.order]; v.Null || v.Low >= a.Low && v.Low <= b.Low {
				return
			}
			p.child.row[p.order] = c.draw(p.child.row, p.words)
			p.child.set(p.order, w.draw(p.child.row[p.order], p.words))
		}
		u := float64(p.words.Word()>>11) / (1 << 53)
		p.put(math.Floor(a.Low + u*(b.Low-a.Low+1)))
	}
}

// put sets the value of the order, and its cell.
func (p *person) put(x float64) {
	w := p.child.writers[p.order]
	for cell, r := range w.ranges {
		if !r.Null && r.Low <= x && x <= r.High {
			p.child.row[p.order] = cell
		}
	}
	p.child.set(p.order, point{whole: int64(x)})
	if !w.of.Binned {
		p.child.values[p.order] = w.ranges[p.child.row[p.order]]
	}
}

// each draws the persons, numbered from 1: these are fresh numbers, and say nothing of real ones. The rows of a person are in their
// order. The same result has the same rows. It calls the functions that are not nil, and stops at their first error.
func (r *FamilyResult) each(parent func(id int64, w *writer) error, row func(id int64, one *child) error) error {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Parents.Release, r.Plan.Parents.SQL) // a hash accepts every write
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	p, err := newPerson(r, &words)
	if err != nil {
		return err
	}
	id := int64(0)
	return r.Parents.model.Sample(r.Parents.Rows, model.Rounded, &words, func(columns [][]int32) error {
		for at := range columns[0] {
			for i, c := range columns {
				p.parent.row[i] = int(c[at])
			}
			if err := p.parent.draw(); err != nil {
				return err
			}
			if id++; parent != nil {
				if err := parent(id, p.parent); err != nil {
					return err
				}
			}
			all, err := p.children()
			for i := 0; err == nil && row != nil && i < len(all); i++ {
				err = row(id, &all[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Tables returns the persons, and their rows. The columns are those of the real tables, in their order, without those that
// cannot be synthesized. Both have the number of the person.
func (r *FamilyResult) Tables() (parents, children *Table) {
	above := newNumbered(r.Plan.parent, r.Plan.Parents, len(r.Plan.Parents.Columns))
	parents = &Table{Name: r.Plan.parent.Name, Release: r.Parents.Release, Columns: above.columns}
	parents.each = func(yield func([]string, []bool) error) error {
		return r.each(func(id int64, w *writer) error { return yield(above.row(id, w.texts, w.null)) }, nil)
	}
	below := newNumbered(r.Plan.child, r.Plan.Children, r.Plan.Children.inner)
	children = &Table{Name: r.Plan.child.Name, Release: r.Children.Release, Columns: below.columns}
	children.each = func(yield func([]string, []bool) error) error {
		return r.each(nil, func(id int64, one *child) error { return yield(below.row(id, one.texts, one.null)) })
	}
	return parents, children
}

// reported makes the reports of both tables count the rows as they are drawn, and counts those of the children: their
// number is the sum of the numbers of rows of the drawn persons.
func (r *FamilyResult) reported() error {
	r.Parents.drawn = func(yield func(cells []int) error) error {
		return r.each(func(_ int64, w *writer) error { return yield(w.row) }, nil)
	}
	r.Children.drawn = func(yield func(cells []int) error) error {
		return r.each(nil, func(_ int64, one *child) error { return yield(one.cells) })
	}
	r.Children.Rows = 0
	return r.each(nil, func(int64, *child) error { r.Children.Rows++; return nil })
}

// numbered arranges the rows of one table, with the number of the person.
type numbered struct {
	columns []*Column
	from    []int // by column: that of the plan, or −1 for the number
	texts   []string
	null    []bool
}

// newNumbered arranges the first columns of a plan that the real table has.
func newNumbered(t *curator.Table, p *Plan, first int) *numbered {
	out := &numbered{}
	for _, c := range t.Columns {
		at := slices.IndexFunc(p.Columns[:first], func(o *Column) bool { return o.Name == c.Name })
		switch {
		case c.Name == t.Unit:
			out.columns, out.from = append(out.columns, &Column{Name: c.Name, Type: c.Type, key: true}), append(out.from, -1)
		case at >= 0:
			out.columns, out.from = append(out.columns, p.Columns[at]), append(out.from, at)
		}
	}
	out.texts, out.null = make([]string, len(out.columns)), make([]bool, len(out.columns))
	return out
}

func (n *numbered) row(id int64, texts []string, null []bool) ([]string, []bool) {
	for i, at := range n.from {
		if n.texts[i], n.null[i] = strconv.FormatInt(id, 10), false; at >= 0 {
			n.texts[i], n.null[i] = texts[at], null[at]
		}
	}
	return n.texts, n.null
}
