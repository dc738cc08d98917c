package tabulate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/strategy/table"
)

// maxOptions is the largest number of tables that one measurement chooses from.
const maxOptions = 64

// maxShared is the largest number of cells of the histogram over all classifications that all parts of a measurement
// read. Larger ones are read once for each set of classifications.
const maxShared = 1 << 18

// NotStated is the label of a place or a value that is NULL.
const NotStated = "(not stated)"

// group is a set of tables that share cells: they count the same rows, by levels of the same hierarchy.
type group struct {
	tables   []int // indices of the specification's tables
	first    *Table
	places   *Hierarchy   // nil if no table has rows by place
	columns  []string     // the classifications of all tables
	of       []table.Keys // the classifications of each table
	space    *table.Space
	values   [][]string // the labels of each classification's values
	fixed    map[[2]int]int64
	request  curator.Request // with the group's share of the price
	options  []table.Option
	choice   *table.Choice
	power    table.Power
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
				(g.places == places || g.places == nil || places == nil)
		})
		if at < 0 {
			out, at = append(out, &group{first: t}), len(out)
		}
		g := out[at]
		if g.places == nil {
			g.places = places
		}
		g.tables = append(g.tables, i)
		var keys table.Keys
		for _, c := range t.Columns {
			k := slices.Index(g.columns, c)
			if k < 0 {
				g.columns, k = append(g.columns, c), len(g.columns)
			}
			keys |= 1 << k
		}
		g.of = append(g.of, keys)
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
		text += " WHERE (" + g.first.Where + "\n)"
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
	return append(out, g.columns...)
}

// label returns the text of a value.
func label(v any) string {
	if v == nil {
		return NotStated
	}
	return fmt.Sprint(v)
}

// domain reads the known values of keys, and builds the space of the group's tables.
func (g *group) domain(ctx context.Context, c *curator.Session, request curator.Request) (*curator.Domain, error) {
	if len(g.columns) > table.MaxClassifications {
		return nil, misuse("write them into separate specifications", "tables of %s have %d classifications together; at most %d fit",
			g.first.From, len(g.columns), table.MaxClassifications)
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
			return nil, misuse("", "the classification %s has no value", g.columns[k])
		}
		var labels []string
		for _, v := range of {
			labels = append(labels, label(v))
		}
		g.values, g.space.Sizes = append(g.values, labels), append(g.space.Sizes, len(of))
	}
	g.unit = d.Unit
	return d, nil
}

// over returns the tree of places whose leaves are the known values of the key, in their order.
func (h *Hierarchy) over(values []any) (*table.Hierarchy, error) {
	paths, own := map[string][]string{}, *h
	for _, p := range h.Paths {
		paths[p[0]] = p
	}
	own.Paths = nil
	var missing []string
	for _, v := range values {
		text := label(v)
		p, ok := paths[text]
		switch {
		case ok:
		case v == nil: // rows without a place are in a place of their own, in every level
			p = slices.Repeat([]string{text}, len(h.Levels))
		default:
			missing = append(missing, text)
			continue
		}
		own.Paths = append(own.Paths, p)
		delete(paths, text)
	}
	if len(missing) > 0 {
		return nil, misuse("add them to the hierarchy", "the hierarchy %s lacks %s of %s: %s", h.Name,
			counted(len(missing), "value"), h.Key, few(missing))
	}
	if len(paths) > 0 {
		var extra []string
		for _, p := range h.Paths {
			if _, left := paths[p[0]]; left {
				extra = append(extra, p[0])
			}
		}
		return nil, misuse("the policy declares the values of a column", "the hierarchy %s has %s that %s cannot have: %s", h.Name,
			counted(len(extra), "place"), h.Key, few(extra))
	}
	tree, err := own.tree()
	if err != nil {
		return nil, misuse("", "hierarchy %s: %v", h.Name, err)
	}
	return tree, nil
}

// few lists the first of some texts.
func few(texts []string) string {
	const most = 3
	if len(texts) <= most {
		return fmt.Sprintf("%q", texts)
	}
	return fmt.Sprintf("%q, …", texts[:most])
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// levelsOf returns the indices of a table's levels in the group's hierarchy. A table without rows has the coarsest
// level, which must have one node.
func (g *group) levelsOf(s *Spec, table int) ([]int, error) {
	t, h := &s.Tables[table], g.space.Hierarchy
	if len(t.Rows) == 0 {
		top := len(h.Levels) - 1
		if h.Nodes(top) != 1 {
			return nil, misuse("give the hierarchy a total, such as total: country",
				"table %s has no rows, and %s has no level of all places", t.Name, g.places.Name)
		}
		return []int{top}, nil
	}
	var out []int
	for _, name := range t.Rows {
		out = append(out, h.Level(name))
	}
	return out, nil
}

// declared collects the declared totals, and checks them against each other.
func (g *group) declared(s *Spec) error {
	g.fixed = map[[2]int]int64{}
	h := g.space.Hierarchy
	for _, i := range g.tables {
		for _, total := range s.Tables[i].Totals {
			l := h.Level(total.Level)
			node := slices.Index(h.Levels[l].Labels, total.Place)
			if node < 0 {
				return misuse("", "table %s declares the total of %s %q, which does not exist", s.Tables[i].Name, total.Level, total.Place)
			}
			at := [2]int{l, node}
			if before, again := g.fixed[at]; again && before != total.Value {
				return misuse("", "the total of %s %q is declared as %d and as %d", total.Level, total.Place, before, total.Value)
			}
			g.fixed[at] = total.Value
		}
	}
	if err := table.CheckFixed(h, g.fixed, true); err != nil {
		return misuse("correct the declared totals", "%v", err)
	}
	return nil
}

// goals returns the margins of the group's tables, with their weights.
func (g *group) goals(s *Spec) (out []table.Goal, err error) {
	for n, i := range g.tables {
		levels, err := g.levelsOf(s, i)
		if err != nil {
			return nil, err
		}
		w, _ := s.Tables[i].Weight.Float64()
		for _, l := range levels {
			out = append(out, table.Goal{Margin: table.Margin{Level: l, Keys: g.of[n]}, Weight: w / float64(len(levels))})
		}
	}
	return out, nil
}

// part returns the measurement of a margin. Its strategy adds up leaves to nodes of the level, and sums over the
// classifications that the margin lacks. If the histogram over all keys is small, all parts share it, so that the rows
// are read once.
func (g *group) part(m table.Margin) (curator.StrategyPart, error) {
	h := g.space.Hierarchy
	cells := float64(h.Nodes(0))
	for _, n := range g.space.Sizes {
		cells *= float64(n)
	}
	shared := cells <= maxShared
	var out curator.StrategyPart
	var product linear.Product
	offset := 0
	if g.places != nil {
		offset = 1
		switch top := len(h.Levels) - 1; {
		case m.Level == top && h.Nodes(top) == 1 && !shared:
		default:
			f, err := sums(h, m.Level)
			if err != nil {
				return out, err
			}
			product, out.Keys = append(product, f), append(out.Keys, 0)
		}
	}
	for k, n := range g.space.Sizes {
		switch {
		case m.Keys>>k&1 == 1:
			product = append(product, linear.Identity(n))
		case shared:
			product = append(product, linear.Total(n))
		default:
			continue
		}
		out.Keys = append(out.Keys, k+offset)
	}
	if len(product) == 0 {
		product = linear.Product{linear.Identity(1)}
	}
	var err error
	if out.Queries, err = linear.NewStrategy(product); err != nil {
		return out, misuse("tabulate fewer places or classifications", "%v", err)
	}
	return out, nil
}

// sums returns the matrix that adds up leaves to the nodes of a level.
func sums(h *table.Hierarchy, level int) (linear.Matrix, error) {
	if level == 0 {
		return linear.Identity(h.Nodes(0)), nil
	}
	rows := make([][]linear.Run, h.Nodes(level))
	for leaf, node := range h.Ancestor(level) {
		if n := len(rows[node]); n > 0 && rows[node][n-1].To == leaf {
			rows[node][n-1].To++
			continue
		}
		rows[node] = append(rows[node], linear.Run{From: leaf, To: leaf + 1, Value: 1})
	}
	return linear.NewMatrix(h.Nodes(0), rows)
}

// strategy returns the measurement of the chosen options, with their shares of the price as weights.
func (g *group) strategy() (curator.Strategy, error) {
	out := curator.Strategy{Request: g.request}
	for _, j := range g.measured {
		p, err := g.part(g.options[j].Margin)
		if err != nil {
			return out, err
		}
		share := g.choice.Candidates[g.choice.Chosen].Shares[j] // a multiple of 1/table.Parts
		p.Weight = new(big.Rat).Mul(share, big.NewRat(table.Parts, 1)).Num().Int64()
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

// candidates sets the options: each level with each table's classifications, and without any. Their costs are the
// variances of the noise at the whole price.
func (g *group) candidates(ctx context.Context, c *curator.Session, goals []table.Goal) error {
	levels := len(g.space.Hierarchy.Levels)
	add := func(m table.Margin) {
		if !slices.ContainsFunc(g.options, func(o table.Option) bool { return o.Margin == m }) {
			g.options = append(g.options, table.Option{Margin: m})
		}
	}
	for _, goal := range goals {
		add(goal.Margin)
	}
	if len(g.options)*levels <= maxOptions {
		for _, goal := range slices.Clone(goals) {
			for l := range levels {
				add(table.Margin{Level: l, Keys: goal.Keys})
			}
		}
	}
	for j := range g.options {
		part, err := g.part(g.options[j].Margin)
		if err != nil {
			return err
		}
		e, err := c.ExplainStrategy(ctx, curator.Strategy{Request: g.request, Parts: []curator.StrategyPart{part}})
		if err != nil {
			return err
		}
		g.options[j].Cost = e.Parts[0].Noise.Variance()
		if !(g.options[j].Cost > 0) {
			// Under change-one the number of all rows is public, and nobody moves it. A tiny variance stands for none.
			g.options[j].Cost = math.SmallestNonzeroFloat32
		}
		g.power = table.UnderRho
		if e.Price.Rho == "" {
			g.power = table.UnderEpsilon
		}
	}
	return nil
}
