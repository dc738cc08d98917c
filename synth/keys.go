package synth

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
)

// keysOfTable returns the columns that get fresh values, of which no two rows have the same. They are no part of the
// model.
func keysOfTable(t *curator.Table, names []string) (out []*Column, err error) {
	for i, name := range names {
		at := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name })
		switch {
		case at < 0:
			return nil, usage("name columns of "+t.Name, "there is no column %q", name)
		case slices.Contains(names[:i], name):
			return nil, usage("", "--keys names the column %s twice", name)
		case t.Columns[at].Type != "integer" && t.Columns[at].Type != "text":
			return nil, usage("a key is an integer or a text", "column %s cannot have fresh values, because it is a %s", name, t.Columns[at].Type)
		case len(t.Columns[at].Values) > 0 || t.Columns[at].ValuesFrom != "":
			return nil, usage("leave it out of --keys", "column %s cannot have fresh values, because its values are declared", name)
		}
		c := &Column{Name: name, Type: t.Columns[at].Type, key: true, place: at, lower: big.NewRat(1, 1)}
		if t.Columns[at].Lower != "" {
			lower, ok := new(big.Rat).SetString(t.Columns[at].Lower)
			upper, ok2 := new(big.Rat).SetString(t.Columns[at].Upper)
			if !ok || !ok2 {
				return nil, usage("", "the bounds of column %s are not numbers", name)
			}
			if c.upper = upper; lower.Cmp(c.lower) > 0 || upper.Cmp(c.lower) < 0 {
				c.lower = lower
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// Output returns the columns of the rows, in the order of the real table: those of the model and the keys.
func (p *Plan) Output() []*Column {
	out := append(slices.Clone(p.Columns), p.Keys...)
	if len(p.Keys) > 0 {
		slices.SortStableFunc(out, func(a, b *Column) int { return a.place - b.place })
	}
	return out
}

// fresh returns the value of a key in a row, numbered from 0.
func (c *Column) fresh(row int64) (string, error) {
	if c.Type == "text" {
		return "synthetic-" + strconv.FormatInt(row+1, 10), nil
	}
	first, last := int64(1), int64(math.MaxInt64)
	if c.lower.IsInt() && c.lower.Num().IsInt64() {
		first = c.lower.Num().Int64()
	}
	if c.upper != nil && c.upper.IsInt() && c.upper.Num().IsInt64() {
		last = c.upper.Num().Int64()
	}
	if row > last-first {
		return "", usage("give fewer --rows", "column %s has only %s values within its bounds, fewer than the rows", c.Name,
			new(big.Int).Add(new(big.Int).Sub(big.NewInt(last), big.NewInt(first)), big.NewInt(1)))
	}
	return strconv.FormatInt(first+row, 10), nil
}

// output is a row with its keys.
type output struct {
	columns []*Column
	from    []int // the places of the columns in the model; −1 for keys
	rows    int64
	texts   []string
	null    []bool
}

func newOutput(p *Plan) *output {
	o := &output{columns: p.Output()}
	for _, c := range o.columns {
		o.from = append(o.from, slices.Index(p.Columns, c))
	}
	o.texts, o.null = make([]string, len(o.columns)), make([]bool, len(o.columns))
	return o
}

// fill takes the row that the writer has drawn.
func (o *output) fill(w *writer) (err error) {
	for i, at := range o.from {
		if at >= 0 {
			o.texts[i], o.null[i] = w.texts[at], w.null[at]
		} else if o.texts[i], err = o.columns[i].fresh(o.rows); err != nil {
			return err
		}
	}
	o.rows++
	return nil
}
