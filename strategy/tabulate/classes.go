package tabulate

import (
	"slices"

	"dither/strategy/table"
)

// class is a classification of a group's tables: an expression, or the key of a hierarchy of which tables have levels as
// columns.
type class struct {
	text   string           // the expression or key
	levels *Hierarchy       // nil for an expression
	used   []string         // the columns of tables: the expression, or levels
	tree   *table.Hierarchy // of levels, over the known values
	depth  []int            // for each level that tables have, the finest first: its index in the tree
}

// class returns the index of the group's class for a column of a table, which it adds if there is none.
func (g *group) class(s *Spec, column string) int {
	h := s.hierarchyOf(column)
	k := slices.IndexFunc(g.classes, func(c *class) bool {
		return c.levels == h && (h != nil || c.text == column)
	})
	if k < 0 {
		k = len(g.classes)
		of := &class{text: column, levels: h}
		if h != nil {
			of.text = h.Key
		}
		g.classes = append(g.classes, of)
	}
	if c := g.classes[k]; !slices.Contains(c.used, column) {
		c.used = append(c.used, column)
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
	if c.levels != nil {
		if c.tree, err = c.levels.over(values); err != nil {
			return err
		}
		for _, level := range c.used {
			c.depth = append(c.depth, c.levels.depth(level))
		}
		slices.Sort(c.depth)
		return nil
	}
	of := table.Level{Name: c.text}
	for _, v := range values {
		of.Labels = append(of.Labels, label(v))
	}
	c.tree, c.depth = &table.Hierarchy{Levels: []table.Level{of}}, []int{0}
	return nil
}

// level returns the index of a column among the levels that tables have.
func (c *class) level(column string) int {
	if c.levels == nil {
		return 0
	}
	return slices.Index(c.depth, c.levels.depth(column))
}

// isTotal reports whether a column is the level of all places of a hierarchy.
func (s *Spec) isTotal(column string) bool {
	h := s.hierarchyOf(column)
	return h != nil && h.Total == column
}
