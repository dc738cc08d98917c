package tabulate

import (
	"slices"

	"dither/strategy/table"
)

// CellName names a cell of a table: its level and place, as in [Cell], and a label for each of the table's columns.
type CellName struct {
	Table        string
	Level, Place string // "" and "" in a table without rows
	Values       []string
}

// Covariance returns the covariance of the noise of two cells' estimates. So the variance of a difference of estimates is
// the sum of their variances less twice the covariance, and a cell's covariance with itself is its variance. It costs
// nothing, and reads no row. It is exact for estimates, and not for values, which are rounded. It returns an error if there
// is no such cell.
func (p *Plan) Covariance(one, other CellName) (float64, error) {
	a, err := p.find(one)
	if err != nil {
		return 0, err
	}
	b, err := p.find(other)
	if err != nil || a.group != b.group { // groups have independent noise
		return 0, err
	}
	all, err := a.group.accuracy.Covariances(a.margin, a.index, b.margin)
	if err != nil {
		return 0, misuse("", "%v", err)
	}
	grid, _ := a.group.grid.Float64()
	return all[b.index] * grid * grid, nil
}

// found is a named cell, by its index in its margin.
type found struct {
	group  *group
	margin table.Margin
	index  int
}

func (p *Plan) find(c CellName) (found, error) {
	i := slices.IndexFunc(p.spec.Tables, func(t Table) bool { return t.Name == c.Table })
	if i < 0 {
		return found{}, misuse("", "the specification has no table %q", c.Table)
	}
	t, out := &p.spec.Tables[i], found{group: p.groups[p.Tables[i].Group]}
	g := out.group
	levels, err := g.levelsOf(p.spec, i)
	if err != nil {
		return out, err
	}
	of := g.of[slices.Index(g.tables, i)]
	out.margin.Level = levels[0]
	node := 0
	if len(t.Rows) > 0 {
		at := slices.Index(t.Rows, c.Level)
		if at < 0 {
			return out, misuse("", "table %s has no level %q", t.Name, c.Level)
		}
		out.margin.Level = levels[at]
		if node = slices.Index(g.space.Hierarchy.Levels[levels[at]].Labels, c.Place); node < 0 {
			return out, misuse("", "table %s has no %s %q", t.Name, c.Level, c.Place)
		}
	}
	slots := g.slots(p.spec, t, of)
	at := slices.IndexFunc(slots, func(l slot) bool { return slices.Equal(l.labels, c.Values) })
	if at < 0 {
		return out, misuse("give a label for each column of the table", "table %s has no cell %q", t.Name, c.Values)
	}
	out.margin.Keys = of[slots[at].of]
	out.index = node*g.space.Width(out.margin.Keys) + slots[at].at
	return out, nil
}
