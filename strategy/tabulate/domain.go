package tabulate

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/strategy/table"
)

// NotStated is the label of a place or a value that is NULL.
const NotStated = "(not stated)"

// group is a set of tables that share cells: they count the same rows, by levels of the same hierarchy.
type group struct {
	tables   []int // indices of the specification's tables
	first    *Table
	places   *Hierarchy     // nil if no table has rows by place
	classes  []*class       // the classifications of all tables
	of       [][]table.Keys // the classifications of each table's cells: all of the table, then those of its subtotals
	space    *table.Space
	known    []curator.KnownTotal // of the policy
	note     string               // why some of its totals are not used
	fixed    map[[2]int]int64
	request  curator.Request // with the group's share of the price
	options  []table.Option
	kept     string // what determines the choice
	choice   *table.Choice
	power    table.Power
	bound    float64 // that of the singular values; NaN if it was not computed
	plan     *curator.StrategyExplanation
	measured []int // indices of options
	accuracy *table.Accuracy
	unit     *big.Rat // of released numbers
	grid     *big.Rat // of shown numbers; unit for counts
}

// groups divides the tables among groups, in the order of the specification.
func (s *Spec) groups() (out []*group) {
	for i := range s.Tables {
		t := &s.Tables[i]
		var places *Hierarchy
		if len(t.Rows) > 0 {
			places = s.hierarchyOf(t.Rows[0])
		}
		at := slices.IndexFunc(out, func(g *group) bool {
			return g.first.From == t.From && g.first.Where == t.Where && g.first.Sum == t.Sum &&
				(g.places == places || g.places == nil || places == nil) && !s.twice(g, places, t)
		})
		if at < 0 {
			out, at = append(out, &group{first: t}), len(out)
		}
		g := out[at]
		if g.places == nil {
			g.places = places
		}
		g.tables = append(g.tables, i)
		for _, c := range t.Columns {
			if !s.isTotal(c) {
				g.class(s, c)
			}
		}
	}
	return out
}

// twice reports whether a group with a further table would have a hierarchy both in the rows and in the columns, or two
// classifications by one column, such as hierarchies of one key that need not nest.
func (s *Spec) twice(g *group, places *Hierarchy, t *Table) bool {
	of := slices.Concat(s.keyed(g.places, nil), s.keyed(places, t.Columns))
	for _, c := range g.classes {
		of = append(of, keyed{c.levels, c.text})
	}
	if _, clash := twiceKeyed(of); clash {
		return true
	}
	return slices.ContainsFunc(g.classes, func(c *class) bool { return c.levels != nil && c.levels == places }) ||
		slices.ContainsFunc(t.Columns, func(c string) bool { h := s.hierarchyOf(c); return h != nil && h == g.places })
}

// keyed is a hierarchy, or nil for a classification without levels, with its key.
type keyed struct {
	levels *Hierarchy
	key    string
}

// twiceKeyed returns a key that two different classifications have, if there is one.
func twiceKeyed(all []keyed) (key string, found bool) {
	for i, a := range all {
		for _, b := range all[:i] {
			if a.key == b.key && a.levels != b.levels {
				return a.key, true
			}
		}
	}
	return "", false
}

// keyed returns the hierarchies and the other classifications of a table.
func (s *Spec) keyed(places *Hierarchy, columns []string) (out []keyed) {
	if places != nil {
		out = append(out, keyed{places, places.Key})
	}
	for _, c := range columns {
		switch h := s.hierarchyOf(c); {
		case h == nil:
			out = append(out, keyed{nil, c})
		case h.Total != c:
			out = append(out, keyed{h, h.Key})
		}
	}
	return out
}

// sql returns the question whose histograms are measured.
func (g *group) sql() string {
	measure, keys := "COUNT(*)", g.keys()
	if g.first.Sum != "" {
		measure = "SUM(" + g.first.Sum + ")"
	}
	text := "SELECT " + measure + " FROM " + g.first.From
	if strings.TrimSpace(g.first.Where) != "" {
		text += " WHERE (" + g.first.Where
		if strings.Contains(g.first.Where, "--") {
			text += "\n" // a comment ends with its line
		}
		text += ")"
	}
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
	}
	return text
}

// keys returns the question's GROUP BY expressions: the key of places, if there is one, and the classifications.
func (g *group) keys() (out []string) {
	if g.places != nil {
		out = append(out, g.places.Key)
	}
	for _, c := range g.classes {
		out = append(out, c.text)
	}
	return out
}

// label returns the text of a value.
func label(v any) string {
	if v == nil {
		return NotStated
	}
	return fmt.Sprint(v)
}

// domain reads the known values of keys, and builds the space of the group's tables.
func (g *group) domain(ctx context.Context, c *curator.Session, s *Spec, request curator.Request) (*curator.Domain, error) {
	levels := 0
	for _, of := range g.classes {
		levels += len(of.used)
	}
	if len(g.classes) > table.MaxClassifications || levels > table.MaxLevels {
		return nil, misuse("write them into separate specifications", "tables of %s have %d classifications together, at %d levels; at most %d fit, at %d levels",
			g.first.From, len(g.classes), levels, table.MaxClassifications, table.MaxLevels)
	}
	request.SQL = g.sql()
	d, err := c.Domain(ctx, request)
	if err != nil {
		return nil, err
	}
	if keys := g.keys(); len(d.Values) != len(keys) {
		return nil, misuse("list each classification by itself, and only a condition under where",
			"%s has %s, and the specification names %s", g.first.Name, counted(len(d.Values), "key"), counted(len(keys), "key"))
	}
	g.space = &table.Space{Hierarchy: table.Single("total")}
	values := d.Values
	if g.places != nil {
		if g.space.Hierarchy, err = g.places.over(values[0]); err != nil {
			return nil, err
		}
		values = values[1:]
	}
	for k, of := range values {
		if len(of) == 0 {
			return nil, misuse("", "the classification %s has no value", g.classes[k].text)
		}
		if err := g.classes[k].fill(of); err != nil {
			return nil, err
		}
		g.space.Classes = append(g.space.Classes, g.classes[k].tree.Only(g.classes[k].depth))
	}
	for _, i := range g.tables {
		g.of = append(g.of, g.keysOf(s, &s.Tables[i]))
		if err := g.distinct(&s.Tables[i], g.of[len(g.of)-1][0]); err != nil {
			return nil, err
		}
	}
	g.unit, g.known, g.note = d.Unit, d.Totals, d.TotalsNote
	return d, nil
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
