// Package together answers several counting questions with one measurement. It measures combinations of the counts that
// need less noise than the counts themselves, and computes the counts from them.
package together

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/exact"
	"dither/mechanism/linear"
	"dither/noise"
)

// Batch is a list of counting questions to be answered together: SELECT COUNT(*) FROM t WHERE …, all over the same
// FROM, or SELECT SUM(x). A question may have several of them, each with a FILTER.
//
// If a question has GROUP BY with known keys or a SUM, or if there are more than curator.MaxJointConditions different
// conditions, all questions count rows or all sum the same expression, and the measurement is a plan of package
// strategy/product: see [curator.Grid].
type Batch struct {
	Questions       []string
	curator.Request        // the price, the analyst and Fresh; SQL is ignored
	Confidence      string // the confidence of each count's interval, a decimal between 0 and 1; "" is 0.95
}

// Answer has the counts of a [Batch], or their expected errors.
type Answer struct {
	ID         string // the release; "" in an explanation
	SQL        string // the question of the histogram that was measured
	Confidence string
	Counts     []Count
	Candidates []Candidate // the strategies that were considered, the chosen one first
	Bound      float64     // no strategy has a smaller root mean square of the standard deviations; 0 if no bound is known
	// Declared reports that the policy declares totals of the table, so that they have no error in Counts, and other counts
	// have less. Candidates and Bound leave them out
	Declared   bool
	TotalsNote string // why some totals of the policy are not used; "" if all are
	Limits     *curator.Limits
	Price      curator.Loss
	Remaining  curator.Loss
	Replayed   bool
	Affordable bool // in an explanation: the price is within what remains
	errors     joint
}

// Count is one count or sum of a question. Its noise has no bias.
type Count struct {
	Question  int    // the index of the question, from 0
	Name      string // the name of the column
	Group     []any  // the values of the question's GROUP BY expressions; nil without GROUP BY
	Value     float64
	StdDev    float64 // the standard deviation of the noise
	Low, High float64 // the interval, which covers the noise
	HalfWidth float64
}

// Candidate is a strategy with the root mean square of its counts' standard deviations.
type Candidate struct {
	Name   string
	StdDev float64
}

// Ask answers the questions of a batch with one release. By composition, its loss is the price of the batch. The
// strategy is chosen from the questions, the policy and the kind of the budget, never from rows.
//
// For two counts X and Y that have rows in common, a budget in ε measures disjoint cells or X + Y and X − Y, with the
// variance 4/ε² of each count in place of 8/ε² (for units of one row). A budget in ρ measures X, Y and X − Y, with
// 2/(3ρ) in place of 1/ρ: this is noise with the inverse covariance 2ρ·[[1, −½], [−½, 1]].
func Ask(ctx context.Context, c *curator.Session, b Batch) (*Answer, error) {
	g, err := several(ctx, c, b)
	if err != nil {
		return nil, err
	}
	if g != nil {
		return g.ask(ctx, c)
	}
	p, err := prepare(ctx, c, b)
	if err != nil {
		return nil, err
	}
	m, err := c.MeasureStrategy(ctx, p.strategy)
	if err != nil {
		return nil, err
	}
	out, err := p.answer(m.Parts)
	if err != nil {
		return nil, err
	}
	out.ID, out.Limits, out.Price, out.Remaining, out.Replayed = m.ID, m.Limits, m.Price, m.Remaining, m.Replayed
	return out, nil
}

// Explain returns the price and the expected errors of [Ask], at no cost. It has no values.
func Explain(ctx context.Context, c *curator.Session, b Batch) (*Answer, error) {
	g, err := several(ctx, c, b)
	if err != nil {
		return nil, err
	}
	if g != nil {
		return g.explain(ctx, c)
	}
	p, err := prepare(ctx, c, b)
	if err != nil {
		return nil, err
	}
	e, err := c.ExplainStrategy(ctx, p.strategy)
	if err != nil {
		return nil, err
	}
	out, err := p.answer(e.Parts)
	if err != nil {
		return nil, err
	}
	out.Limits, out.Price, out.Remaining = e.Limits, e.Price, e.Remaining
	out.Replayed, out.Affordable = e.Replayed, e.Affordable
	return out, nil
}

// prepared is a batch with its histogram and its strategy.
type prepared struct {
	joint      *curator.Joint
	candidates []candidate
	strategy   curator.Strategy
	confidence string
	alpha      float64
	of         string // what determines the choice
}

// level parses a confidence, whose default is 0.95, and returns 1 − confidence.
func level(text string) (confidence string, alpha float64, err error) {
	if text == "" {
		text = "0.95"
	}
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return "", 0, misuse("such as 0.95", "the confidence must be a decimal between 0 and 1, not %q", text)
	}
	alpha, _ = new(big.Rat).Sub(big.NewRat(1, 1), r).Float64()
	return text, alpha, nil
}

func prepare(ctx context.Context, c *curator.Session, b Batch) (*prepared, error) {
	p, err := &prepared{}, error(nil)
	if p.confidence, p.alpha, err = level(b.Confidence); err != nil {
		return nil, err
	}
	if p.joint, err = c.Joint(ctx, b.Questions, b.Request); err != nil {
		return nil, err
	}
	in := make([][]bool, len(p.joint.Counts))
	for i, n := range p.joint.Counts {
		in[i] = n.In
	}
	if !slices.ContainsFunc(in, func(cells []bool) bool { return slices.Contains(cells, true) }) {
		return nil, misuse("check their conditions; an answer that is always 0 needs no measurement",
			"no row can satisfy the conditions of any of the questions")
	}
	in, of := unrepeated(in)
	pure := p.joint.Price.Rho == ""
	p.of = fmt.Sprintf("counts 1\npure %v\n%v", pure, in)
	if p.candidates = restored(c.Choice(p.of), in); p.candidates == nil {
		p.candidates = choose(in, pure)
	}
	record := encoded(p.candidates)
	best := &p.candidates[0]
	best.recovers = repeated(best.recovers, of)
	columns := make([][]int64, len(best.queries))
	for i, query := range best.queries {
		columns[i] = make([]int64, p.joint.All)
		for j, cell := range p.joint.Cells {
			columns[i][cell] = query[j]
		}
	}
	matrix, err := linear.Dense(columns)
	if err != nil {
		return nil, misuse("ask fewer questions together", "%v", err)
	}
	queries, err := linear.NewStrategy(linear.Product{matrix})
	if err != nil {
		return nil, misuse("ask fewer questions together", "%v", err)
	}
	p.strategy = curator.Strategy{
		Request: b.Request,
		Parts:   []curator.StrategyPart{{Keys: p.joint.Keys, Queries: queries}},
		Choice:  curator.Choice{Of: p.of, Data: record},
	}
	p.strategy.SQL = p.joint.SQL
	return p, nil
}

func misuse(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// answer returns the counts from the measured part, without values if it has none.
func (p *prepared) answer(parts []curator.MeasuredPart) (*Answer, error) {
	out := &Answer{SQL: p.joint.SQL, Confidence: p.confidence}
	best := p.candidates[0]
	out.errors = joint{noise: []noise.Distribution{parts[0].Noise}, unit: 1, of: func(i int) ([]combined, error) {
		c := combined{weights: best.recovers.RawRowView(i)}
		for j := range c.weights {
			c.rows = append(c.rows, j)
		}
		return []combined{c}, nil
	}}
	if totals := p.joint.Totals; len(totals) > 0 {
		out.errors.known = newKnown(best.totals(totals), []int{len(best.queries)}, out.errors.noise, len(p.joint.Counts))
	}
	out.Declared = out.errors.known != nil
	// expected errors are proportional to the roots of the candidates' totals
	values, sum := released(parts), 0.0
	for i, of := range p.joint.Counts {
		n := Count{Question: of.Question, Name: of.Name}
		variance, err := out.errors.set(&n, i, p.alpha, values)
		if err != nil {
			return nil, err
		}
		n.Low, n.High = max(0, n.Value-n.HalfWidth), max(0, n.Value+n.HalfWidth) // a count is not negative
		sum += variance
		out.Counts = append(out.Counts, n)
	}
	for _, c := range p.candidates {
		rmse := math.Sqrt(sum / float64(len(out.Counts)) * c.total / best.total)
		out.Candidates = append(out.Candidates, Candidate{Name: c.name, StdDev: rmse})
	}
	return out, nil
}
