package together

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/strategy"
	"dither/strategy/product"
)

// Limits of the answers of one batch.
const (
	MaxAnswers = 20_000
	maxWork    = 1 << 29 // products of a number and a coefficient
)

// gridded is a batch with its histogram over several keys, and its plan.
type gridded struct {
	grid       *curator.Grid
	workload   *product.Workload
	choice     *product.Choice
	unit       strategy.Unit
	of         string // what determines the choice
	strategy   curator.Strategy
	confidence string
	alpha      float64
	answers    []answered
}

// answered is an answer for one combination of its groups.
type answered struct {
	of    int // index of Grid.Answers
	term  int // index of the term of the plan's workload that answers it
	group []any
	query [][]float64 // by key; nil for all values
}

// optimise compares plans. Tests replace it by one whose floats round differently.
var optimise = product.Choose

// several returns the plan of a batch that no [curator.Joint] answers; nil for the others.
func several(ctx context.Context, c *curator.Session, b Batch) (*gridded, error) {
	g, err := &gridded{}, error(nil)
	if g.confidence, g.alpha, err = level(b.Confidence); err != nil {
		return nil, err
	}
	if g.grid, err = c.Grid(ctx, b.Questions, b.Request); err != nil {
		if _, joint := c.Joint(ctx, b.Questions, b.Request); joint == nil {
			return nil, nil
		}
		return nil, err
	}
	if n := g.grid.Conditions; n >= 0 && n <= curator.MaxJointConditions {
		return nil, nil
	}
	if g.workload, err = workload(g.grid); err != nil {
		return nil, err
	}
	if n := g.workload.Queries(); n > MaxAnswers {
		return nil, misuse("ask fewer questions together", "the questions have %g answers, more than %d", n, MaxAnswers)
	}
	if g.unit = strategy.Epsilon; g.grid.Price.Rho != "" {
		g.unit = strategy.Rho
	}
	g.of = fmt.Sprintf("several columns 1\nunit %d\n%s", g.unit, g.workload.Digest())
	if err := g.choose(ctx, c.Choice(g.of)); err != nil {
		return nil, err
	}
	if err := g.request(b.Request); err != nil {
		return nil, err
	}
	return g, g.list(func(i int, _ [][]float64) (int, error) { return i, nil })
}

// compared compares plans, which may take minutes. If the context ends before, it returns the context's error, and the
// comparison goes on in the background.
func compared(ctx context.Context, w *product.Workload, unit strategy.Unit) (*product.Choice, error) {
	type result struct {
		choice *product.Choice
		err    error
	}
	compare, done := optimise, make(chan result, 1)
	go func() {
		choice, err := compare(w, unit)
		done <- result{choice, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, misuse("ask fewer questions together", "%v", r.err)
		}
		return r.choice, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// choose restores a recorded choice, or compares plans.
func (g *gridded) choose(ctx context.Context, data []byte) (err error) {
	if data != nil {
		if g.choice, err = product.RestoreChoice(g.workload, g.unit, data); err == nil {
			return nil
		}
	}
	if g.choice, err = compared(ctx, g.workload, g.unit); err != nil {
		return err
	}
	if g.choice.Measurable == nil {
		return misuse(fmt.Sprintf("a histogram may have %d cells: ask questions about other columns in another batch", product.MaxPartCells),
			"the columns of the questions have %g cells together, too many for one measurement", g.workload.Cells())
	}
	return nil
}

// request sets the measurement of the plan.
func (g *gridded) request(r curator.Request) error {
	parts, err := g.choice.Measurable.Parts()
	if err != nil {
		return misuse("ask fewer questions together", "%v", err)
	}
	r.SQL = g.grid.SQL
	g.strategy = curator.Strategy{Request: r}
	for _, p := range parts {
		queries, err := linear.NewStrategy(p.Queries)
		if err != nil {
			return misuse("ask fewer questions together", "%v", err)
		}
		if len(g.grid.Keys) == 0 {
			p.Columns = nil
		}
		g.strategy.Parts = append(g.strategy.Parts, curator.StrategyPart{Keys: p.Columns, Queries: queries, Weight: p.Weight})
	}
	return nil
}

// list sets the answers, one for each combination of groups. term returns the term of the plan's workload for a query of
// answer i of the grid. It refuses answers that take too many steps.
func (g *gridded) list(term func(i int, query [][]float64) (int, error)) (err error) {
	work := 0
	for i, a := range g.grid.Answers {
		query := make([][]float64, max(1, len(g.grid.Values)))
		for k, c := range a.Columns {
			if !c.Grouped && !c.All {
				query[k] = coefficients(c, len(g.grid.Values[k]))
			}
		}
		for _, at := range combinations(a, g.grid.Values) {
			one := answered{of: i, query: slices.Clone(query)}
			for j, k := range a.GroupBy {
				one.query[k] = make([]float64, len(g.grid.Values[k]))
				one.query[k][at[j]] = 1
				one.group = append(one.group, g.grid.Values[k][at[j]])
			}
			if one.term, err = term(i, one.query); err != nil {
				return err
			}
			shares, err := g.choice.Measurable.Estimate(one.term, one.query)
			if err != nil {
				return misuse("", "%v", err)
			}
			for _, s := range shares {
				work += len(s.Rows)
			}
			if work > maxWork {
				return misuse("ask fewer questions together", "the answers take more than %d additions", maxWork)
			}
			g.answers = append(g.answers, one)
		}
	}
	return nil
}

// combinations returns the indices of the values of an answer's groups, in the order of its GROUP BY.
func combinations(a curator.GridAnswer, values [][]any) [][]int {
	out := [][]int{nil}
	for _, k := range a.GroupBy {
		c := a.Columns[k]
		own := c.Values
		if c.All {
			own = nil
			for v := range values[k] {
				own = append(own, v)
			}
		}
		var next [][]int
		for _, left := range out {
			for _, v := range own {
				next = append(next, append(slices.Clone(left), v))
			}
		}
		out = next
	}
	return out
}

// ask measures the plan.
func (g *gridded) ask(ctx context.Context, c *curator.Session) (*Answer, error) {
	if data, err := g.choice.Record(); err == nil {
		g.strategy.Choice = curator.Choice{Of: g.of, Data: data}
	}
	m, err := c.MeasureStrategy(ctx, g.strategy)
	if err != nil {
		return nil, err
	}
	out, err := g.answer(m.Parts)
	if err != nil {
		return nil, err
	}
	out.ID, out.Limits, out.Price, out.Remaining, out.Replayed = m.ID, m.Limits, m.Price, m.Remaining, m.Replayed
	return out, nil
}

// explain states the price and the errors of ask.
func (g *gridded) explain(ctx context.Context, c *curator.Session) (*Answer, error) {
	e, err := c.ExplainStrategy(ctx, g.strategy)
	if err != nil {
		return nil, err
	}
	out, err := g.answer(e.Parts)
	if err != nil {
		return nil, err
	}
	out.Limits, out.Price, out.Remaining, out.Replayed, out.Affordable = e.Limits, e.Price, e.Remaining, e.Replayed, e.Affordable
	return out, nil
}

// answer returns the answers from the measured parts, without values if the parts have none.
func (g *gridded) answer(parts []curator.MeasuredPart) (*Answer, error) {
	out := &Answer{SQL: g.grid.SQL, Confidence: g.confidence, TotalsNote: g.grid.TotalsNote}
	unit, _ := g.grid.Unit.Float64()
	out.errors = joint{unit: unit, of: g.combined}
	var rows []int
	for i, p := range parts {
		out.errors.noise, rows = append(out.errors.noise, p.Noise), append(rows, g.strategy.Parts[i].Queries.Rows())
	}
	if len(g.grid.Totals) > 0 {
		out.errors.known = newKnown(g.totals(), rows, out.errors.noise, len(g.answers))
	}
	out.Declared = out.errors.known != nil
	values, sum := released(parts), 0.0
	for i, a := range g.answers {
		of := g.grid.Answers[a.of]
		n := Count{Question: of.Question, Name: of.Name, Group: a.group}
		variance, err := out.errors.set(&n, i, g.alpha, values)
		if err != nil {
			return nil, err
		}
		n.Low, n.High = n.Value-n.HalfWidth, n.Value+n.HalfWidth
		if strings.HasPrefix(g.grid.SQL, "SELECT count(*)") { // a count is not negative
			n.Low, n.High = max(0, n.Low), max(0, n.High)
		}
		sum += variance
		out.Counts = append(out.Counts, n)
	}
	g.candidates(out, math.Sqrt(sum/float64(len(out.Counts))))
	return out, nil
}

// combined returns answer i as combinations of the numbers of parts.
func (g *gridded) combined(i int) ([]combined, error) {
	shares, err := g.choice.Measurable.Estimate(g.answers[i].term, g.answers[i].query)
	return parted(shares), err
}

func parted(shares []product.Share) (out []combined) {
	for _, s := range shares {
		out = append(out, combined{part: s.Part, rows: s.Rows, weights: s.Weights})
	}
	return out
}

// candidates states the expected errors, the measured plan's first. Those of the others are proportional to it.
func (g *gridded) candidates(out *Answer, deviation float64) {
	own := g.choice.Measurable
	out.Candidates = []Candidate{{Name: own.Name, StdDev: deviation}}
	for _, c := range g.choice.Candidates {
		if c.Name != own.Name {
			out.Candidates = append(out.Candidates, Candidate{Name: c.Name, StdDev: deviation * c.RMSE / own.RMSE})
		}
	}
	out.Bound = deviation * g.choice.Bound / own.RMSE
}
