package tabulate

import (
	"fmt"
	"slices"

	"dither/strategy/table"
)

// class is a classification of a group's tables: an expression, or the key of a hierarchy of which tables have levels as
// columns. Its values are those of the expression, or the nodes of the finest level that some table has.
type class struct {
	text   string           // the expression or key
	levels *Hierarchy       // nil for an expression
	base   string           // the finest level in use
	tree   *table.Hierarchy // of levels, over the known values; nil for an expression
	labels []string         // of the values
	known  int              // the number of values of the expression or key
}

// name returns the name of a class in descriptions.
func (c *class) name() string {
	if c.levels != nil {
		return c.base
	}
	return c.text
}

// class returns the index of the group's class for a column of a table, which it adds if there is none.
func (g *group) class(s *Spec, column string) int {
	h := s.hierarchyOf(column)
	k := slices.IndexFunc(g.classes, func(c *class) bool {
		return c.levels == h && (h != nil || c.text == column)
	})
	switch {
	case k < 0 && h == nil:
		g.classes, k = append(g.classes, &class{text: column}), len(g.classes)
	case k < 0:
		g.classes, k = append(g.classes, &class{text: h.Key, levels: h, base: column}), len(g.classes)
	case h != nil && h.depth(column) < h.depth(g.classes[k].base):
		g.classes[k].base = column
	}
	return k
}

// depth returns the index of a level, with 0 for the finest.
func (h *Hierarchy) depth(level string) int {
	if i := slices.Index(h.Levels, level); i >= 0 {
		return i
	}
	return len(h.Levels) // that of all places
}

// fill sets the values of a class from the known values of its key.
func (c *class) fill(values []any) (err error) {
	c.known = len(values)
	if c.levels == nil {
		for _, v := range values {
			c.labels = append(c.labels, label(v))
		}
		return nil
	}
	if c.tree, err = c.levels.over(values); err != nil {
		return err
	}
	c.labels = c.tree.Levels[c.levels.depth(c.base)].Labels
	return nil
}

// nodes returns, for a column of a table, the labels of its values, and the value that contains each value of the class.
func (c *class) nodes(column string) (labels []string, of []int) {
	of = make([]int, len(c.labels))
	for i := range of {
		of[i] = i
	}
	if c.levels == nil {
		return c.labels, of
	}
	top := c.levels.depth(column)
	for l := c.levels.depth(c.base); l < top; l++ {
		for i := range of {
			of[i] = c.tree.Levels[l].Parent[of[i]]
		}
	}
	return c.tree.Levels[top].Labels, of
}

// view describes the cells of a table within a node. Each adds up cells of the table's margin, which has all values of
// the group's classes.
type view struct {
	of     []int      // for each cell of the margin: the cell of the table that contains it
	labels [][]string // for each cell of the table: the labels of the table's columns
	merged [][]int    // for each cell of the table: how many values of each class it adds up
}

// view returns the view of a table with the given classes.
func (g *group) view(s *Spec, t *Table, keys table.Keys) view {
	out := view{of: []int{0}, labels: [][]string{make([]string, len(t.Columns))}, merged: [][]int{nil}}
	copy(out.labels[0], t.Columns) // the label of a total, which no class has
	for k, c := range g.classes {
		if keys>>k&1 == 0 {
			continue
		}
		at := slices.IndexFunc(t.Columns, func(column string) bool {
			h := s.hierarchyOf(column)
			return h == c.levels && (h != nil && h.Total != column || column == c.text)
		})
		labels, of := c.nodes(t.Columns[at])
		sizes := make([]int, len(labels))
		for _, node := range of {
			sizes[node]++
		}
		next := view{}
		for _, cell := range out.of {
			for _, node := range of {
				next.of = append(next.of, cell*len(labels)+node)
			}
		}
		for i := range out.labels {
			for node, text := range labels {
				own := slices.Clone(out.labels[i])
				own[at] = text
				next.labels = append(next.labels, own)
				next.merged = append(next.merged, append(slices.Clone(out.merged[i]), sizes[node]))
			}
		}
		out = next
	}
	return out
}

// merges reports whether some cell of the table adds up several cells of the margin.
func (v *view) merges() bool { return len(v.labels) < len(v.of) }

// variances returns the variances of a table's cells, by node and cell.
func (v *view) variances(a *table.Accuracy, m table.Margin) []float64 {
	known := map[string][]float64{}
	out := make([]float64, 0, len(v.merged))
	var columns [][]float64
	for _, merged := range v.merged {
		name := fmt.Sprint(merged)
		if known[name] == nil {
			known[name] = a.Summed(m, merged)
		}
		columns = append(columns, known[name])
	}
	for node := range columns[0] {
		for _, of := range columns {
			out = append(out, of[node])
		}
	}
	return out
}

// summed adds up the cells of a margin to those of a table.
func summed[V float64 | int64](v *view, x []V) []V {
	out := make([]V, len(x)/len(v.of)*len(v.labels))
	for i, n := range x {
		out[i/len(v.of)*len(v.labels)+v.of[i%len(v.of)]] += n
	}
	return out
}
