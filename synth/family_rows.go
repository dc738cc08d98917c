package synth

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
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
	cells        [][]int // for each column of the children's model that a person has, its cell by cell of the person's model; −1 for none
	places       []int   // and its column in the person's model
	number       int     // the columns of the person's model
	first, last  int     // −1 without an order
	order        int     // of the children's columns; −1
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
		at := slices.IndexFunc(p.Parents.Columns, func(o *Column) bool { return o.Name == c.Name || p.ofParent(o.Name) == c.Name })
		known := map[string]int{}
		for cell, v := range c.values {
			known[fmt.Sprint(v)] = cell
		}
		var cells []int
		for _, v := range p.Parents.Columns[at].values {
			cell, ok := known[fmt.Sprint(v)]
			if !ok {
				cell = 0 // no rows: the person has no children
			}
			cells = append(cells, cell)
		}
		out.places, out.cells = append(out.places, at), append(out.cells, cells)
	}
	return out, nil
}

// place returns the place of a column, or −1.
func (p *Plan) place(name string) int {
	return slices.IndexFunc(p.Columns, func(c *Column) bool { return c.Name == name })
}

// child is a row of a person.
type child struct {
	texts []string
	at    float64 // in the order; +∞ for NULL
}

// children draws the rows of the person whose row the writer has.
func (p *person) children() (out []child) {
	n, _ := strconv.Atoi(p.parent.texts[p.number])
	for k, at := range p.places {
		p.child.row[p.result.Plan.Children.inner+k] = p.cells[k][p.parent.row[at]]
	}
	for i := range n {
		for _, c := range p.conditionals {
			p.child.row[c.column] = c.draw(p.child.row, p.words)
		}
		p.child.fill()
		if p.order >= 0 {
			p.ordered(i, n)
		}
		one := child{at: math.Inf(1)}
		for _, c := range p.conditionals {
			w := p.child.writers[c.column]
			one.texts = append(one.texts, w.text(p.child.row[c.column], p.child.points[c.column]))
		}
		if p.order >= 0 && !p.child.writers[p.order].null[p.child.row[p.order]] {
			one.at = p.child.values[p.order].Low
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b child) int { return cmp.Compare(a.at, b.at) })
	return out
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

// WriteCSV writes both tables as CSV. Their columns are in the order of the real tables. Persons are numbered from 1:
// these are fresh numbers, and no real person's. The rows of a person are in their order. The same result has the same
// rows.
func (r *FamilyResult) WriteCSV(parents, children io.Writer) error {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Parents.Release, r.Children.Release, r.Plan.Parents.SQL) // a hash accepts every write
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	p, err := newPerson(r, &words)
	if err != nil {
		return err
	}
	above, err := newFamilyFile(parents, r.Plan.parent.Unit, r.Plan.Parents, func(name string) bool {
		return name == r.Plan.number() || name == r.Plan.first() || name == r.Plan.last()
	}, names(r.Plan.parent.Columns))
	if err != nil {
		return err
	}
	below, err := newFamilyFile(children, r.Plan.child.Unit, r.Plan.Children, func(name string) bool {
		return r.Plan.Children.place(name) >= r.Plan.Children.inner
	}, names(r.Plan.child.Columns))
	if err != nil {
		return err
	}
	id := int64(0)
	err = r.Parents.model.Sample(r.Parents.Rows, model.Rounded, &words, func(columns [][]int32) error {
		for at := range columns[0] {
			for i, c := range columns {
				p.parent.row[i] = int(c[at])
			}
			if err := p.parent.draw(); err != nil {
				return err
			}
			id++
			if err := above.write(id, p.parent.texts); err != nil {
				return err
			}
			for _, one := range p.children() {
				if err := below.write(id, one.texts); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, above.close(), below.close())
}

// familyFile writes the rows of one table.
type familyFile struct {
	buffer *bufio.Writer
	csv    *csv.Writer
	from   []int // by column of the file: the column of the plan, or −1 for the number of the person
	record []string
}

func newFamilyFile(to io.Writer, unit string, p *Plan, hidden func(string) bool, order []string) (*familyFile, error) {
	f := &familyFile{buffer: bufio.NewWriterSize(to, 1<<16)}
	f.csv = csv.NewWriter(f.buffer)
	var header []string
	for _, name := range order {
		if at := p.place(name); name == unit {
			header, f.from = append(header, name), append(f.from, -1)
		} else if at >= 0 && !hidden(name) {
			header, f.from = append(header, name), append(f.from, at)
		}
	}
	f.record = make([]string, len(header))
	return f, f.csv.Write(header)
}

func (f *familyFile) write(id int64, texts []string) error {
	for i, at := range f.from {
		if f.record[i] = strconv.FormatInt(id, 10); at >= 0 {
			f.record[i] = texts[at]
		}
	}
	return f.csv.Write(f.record)
}

func (f *familyFile) close() error {
	f.csv.Flush()
	return errors.Join(f.csv.Error(), f.buffer.Flush())
}

func names(columns []curator.TableColumn) (out []string) {
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}
