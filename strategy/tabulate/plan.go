package tabulate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/strategy/table"
)

// misuse returns the error for a specification that cannot be carried out.
func misuse(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Plan states what a tabulation measures, its price, and the expected error of each table. It depends on no row.
type Plan struct {
	Price      curator.Loss // of all tables together
	Remaining  curator.Loss
	Affordable bool
	Replayed   bool // everything was measured before, and would be replayed at no cost
	Confidence string
	Warnings   []string // tables that are mostly noise, if the policy declares the number of rows, and totals that are not used
	Tables     []TablePlan
	Groups     []GroupPlan
	// for each pair of the specification, the covariance of the noise of both estimates
	Covariances []float64
	spec        *Spec // with the paths of all hierarchies
	groups      []*group
	alpha       float64
}

// TablePlan states the expected error of one table.
type TablePlan struct {
	Name   string
	Group  int // index of the plan's groups
	Levels []LevelPlan
}

// LevelPlan states the expected error of the cells of one level, by some of the table's columns.
type LevelPlan struct {
	Level    string
	Columns  []string // of a table with subtotals: the columns that are not summed out
	Subtotal bool     // some columns are summed out
	Cells    int
	StdDev   float64 // the root of the mean variance of the cells
	Margin   float64 // the margin of error that belongs to StdDev
	Worst    float64 // the largest margin of error of a cell
}

// Name returns the level and its columns, such as "county × sex".
func (l LevelPlan) Name() string {
	return strings.Join(append([]string{l.Level}, l.Columns...), " × ")
}

// GroupPlan describes the measurement of tables that share cells.
type GroupPlan struct {
	SQL        string
	Tables     []string
	Price      curator.Loss // the group's share of the price
	Candidates []Candidate
	Chosen     string
	Bound      float64 // a lower bound on the error of every division of the price among the options
	SVDBound   float64 // a lower bound on the error of every linear measurement; NaN if it was not computed
	Parts      []Part
	Limits     *curator.Limits
	// Declared reports that some totals are declared. Candidates and both bounds leave them out; they make the errors of
	// Plan.Tables smaller, also below the bounds.
	Declared bool
}

// Candidate is a way to divide the price, with its expected error: the root of the tables' mean variances, weighted by
// the tables' weights.
type Candidate struct {
	Name  string
	Error float64
}

// Part is a table that is measured.
type Part struct {
	Level   string
	Columns []string
	Share   float64 // of the group's price
	StdDev  float64
}

// Explain plans a tabulation, at no cost. It reads no row.
func Explain(ctx context.Context, c *curator.Session, s *Spec, analyst string) (*Plan, error) {
	s, err := s.resolved(ctx, c, analyst)
	if err != nil {
		return nil, err
	}
	p := &Plan{Confidence: s.Confidence, spec: s, groups: s.groups(), Affordable: true, Replayed: true}
	if p.alpha, err = confidence(&p.Confidence); err != nil {
		return nil, err
	}
	request := curator.Request{Epsilon: s.Epsilon, Rho: s.Rho, Analyst: analyst, Fresh: s.Fresh}
	weights := make([]*big.Rat, len(p.groups))
	for i, g := range p.groups {
		d, err := g.domain(ctx, c, s, request)
		if err != nil {
			return nil, inTables(err, s, g)
		}
		p.Price, weights[i] = d.Price, new(big.Rat)
		for _, t := range g.tables {
			weights[i].Add(weights[i], s.Tables[t].Weight)
		}
	}
	requests, err := divide(request, p.Price, weights)
	if err != nil {
		return nil, err
	}
	for i, g := range p.groups {
		g.request = requests[i]
		g.request.SQL = g.sql()
		if err := g.choose(ctx, c, s); err != nil {
			return nil, inTables(err, s, g)
		}
		if g.note != "" {
			p.Warnings = append(p.Warnings, strings.Join(g.names(s), ", ")+": "+g.note)
		}
		p.Remaining = g.plan.Remaining
		p.Replayed = p.Replayed && g.plan.Replayed
		p.Groups = append(p.Groups, g.described(s))
	}
	if err := agree(p.groups); err != nil {
		return nil, err
	}
	for _, g := range p.groups {
		if err := g.within(ctx, c, s, p.groups); err != nil {
			return nil, inTables(err, s, g)
		}
	}
	p.Affordable = p.affordable()
	for i := range s.Tables {
		t, err := p.table(s, i)
		if err != nil {
			return nil, err
		}
		p.Tables = append(p.Tables, t)
	}
	if err := p.covariances(); err != nil {
		return nil, err
	}
	return p, p.warn(c, s)
}

// inTables adds the names of a group's tables to an error.
func inTables(err error, s *Spec, g *group) error {
	e, ok := err.(*curator.Error) //nolint:errorlint // the curator returns its errors unwrapped
	if !ok || len(s.Tables) == 1 {
		return err
	}
	names := g.names(s)
	word := "table "
	if len(names) > 1 {
		word = "tables "
	}
	told := *e
	told.Message = word + strings.Join(names, ", ") + ": " + e.Message
	return &told
}

// names returns the names of the group's tables.
func (g *group) names(s *Spec) (out []string) {
	for _, t := range g.tables {
		out = append(out, s.Tables[t].Name)
	}
	return out
}

// described returns the public description of the group's measurement.
func (g *group) described(s *Spec) GroupPlan {
	out := GroupPlan{SQL: g.request.SQL, Price: g.plan.Price, Limits: g.plan.Limits, Declared: len(g.fixed) > 0}
	out.Tables = g.names(s)
	scale, _ := g.unit.Float64()
	for _, split := range g.choice.Candidates {
		out.Candidates = append(out.Candidates, Candidate{split.Name, split.Error * scale})
	}
	chosen := g.choice.Candidates[g.choice.Chosen]
	out.Chosen, out.Bound, out.SVDBound = chosen.Name, g.choice.Bound*scale, g.bound*scale
	for i, j := range g.measured {
		m := g.options[j].Margin
		p := Part{Level: g.space.Hierarchy.Levels[m.Level].Name, Columns: g.columns(m)}
		p.Share, _ = chosen.Shares[j].Float64()
		p.StdDev = math.Sqrt(g.plan.Parts[i].Noise.Variance()) * scale
		out.Parts = append(out.Parts, p)
	}
	return out
}

// table states the expected error of a table.
func (p *Plan) table(s *Spec, i int) (TablePlan, error) {
	at := slices.IndexFunc(p.groups, func(g *group) bool { return slices.Contains(g.tables, i) })
	g := p.groups[at]
	out := TablePlan{Name: s.Tables[i].Name, Group: at}
	levels, err := g.levelsOf(s, i)
	if err != nil {
		return out, err
	}
	grid, _ := g.grid.Float64()
	for _, l := range levels {
		for j, keys := range g.of[slices.Index(g.tables, i)] {
			m := table.Margin{Level: l, Keys: keys}
			variances := g.accuracy.Variances(m)
			mean := 0.0
			for _, v := range variances {
				mean += v / float64(len(variances))
			}
			of := LevelPlan{
				Level: g.space.Hierarchy.Levels[l].Name, Subtotal: j > 0, Cells: len(variances), StdDev: grid * math.Sqrt(mean),
				Margin: g.margin(grid*math.Sqrt(mean), p.alpha), Worst: g.margin(grid*math.Sqrt(slices.Max(variances)), p.alpha),
			}
			if s.Tables[i].Subtotals {
				of.Columns = g.columns(m)
			}
			out.Levels = append(out.Levels, of)
		}
	}
	return out, nil
}

// columns returns the names of a margin's classifications.
func (g *group) columns(m table.Margin) (out []string) {
	for k, of := range g.space.Classes {
		if g.has(m.Keys, k) {
			out = append(out, of.Levels[g.space.LevelOf(m.Keys, k)].Name)
		}
	}
	return out
}

// confidence parses a confidence, whose default is 0.95, and returns 1 − confidence.
func confidence(text *string) (float64, error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, misuse("such as 0.95", "the confidence is a decimal between 0 and 1, not %q", *text)
	}
	alpha, _ := r.Sub(big.NewRat(1, 1), r).Float64()
	if alpha < leastAlpha {
		return 0, misuse("such as 0.999", "the confidence is at most 1 − 10⁻¹², not %s", *text)
	}
	return alpha, nil
}

// leastAlpha is the smallest probability of an error beyond its margin. Quantiles of the normal distribution are computed
// from 1 − alpha, which has few digits of a smaller number.
const leastAlpha = 1e-12

// margin returns the margin of error of an estimate with the given standard deviation: a multiple of the deviation,
// by the quantile of the normal distribution. Under Laplace noise it is the larger one of this and the quantile of the
// Laplace distribution; a sum of several Laplace noises lies between the two. If a measured count has noise with a
// deviation below 1, its distribution is far from continuous, and the margin has 1 more.
func (g *group) margin(deviation, alpha float64) float64 {
	z := math.Sqrt2 * math.Erfinv(1-alpha)
	if g.power == table.UnderEpsilon {
		z = math.Max(z, -math.Log(alpha)/math.Sqrt2)
	}
	out := z * deviation
	if deviation > 0 && g.first.Sum == "" {
		for _, n := range g.accuracy.Noisy() {
			if n.Variance < 1 {
				return out + 1
			}
		}
	}
	return out
}
