package together

import (
	"context"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/strategy"
	"dither/strategy/product"
)

// Workload returns the questions of a batch as a workload over the keys of their histogram. It spends nothing, and reads
// no row of a table with units.
func Workload(ctx context.Context, c *curator.Session, b Batch) (*product.Workload, *curator.Grid, error) {
	g, err := c.Grid(ctx, b.Questions, b.Request)
	if err != nil {
		return nil, nil, err
	}
	w, err := workload(g)
	return w, g, err
}

func workload(g *curator.Grid) (*product.Workload, error) {
	terms := make([]product.Term, len(g.Answers))
	for i, a := range g.Answers {
		for k, values := range g.Values {
			f, err := factor(a.Columns[k], len(values))
			if err != nil {
				return nil, misuse("let the owner declare coarser values; or group the values by CASE or FLOOR in each question",
					"%s has %d values, and the questions ask about sets of them: at most %d fit", g.Keys[k], len(values), product.MaxOrdered)
			}
			terms[i].Factors = append(terms[i].Factors, f)
		}
		if len(g.Values) == 0 {
			terms[i].Factors = []product.Factor{product.Total(1)}
		}
	}
	w, err := product.NewWorkload(terms...)
	if err != nil {
		return nil, misuse("ask fewer questions together", "%s", err.Error()[len(product.ErrWorkload.Error()+": "):])
	}
	return w, nil
}

// factor returns the questions about one key.
func factor(c curator.GridColumn, n int) (product.Factor, error) {
	switch {
	case c.All && c.Grouped:
		return product.Values(n), nil
	case c.All:
		return product.Total(n), nil
	case n > product.MaxOrdered:
		return product.Factor{}, product.ErrWorkload
	}
	first, last := c.Values[0], c.Values[len(c.Values)-1]
	var w strategy.Workload
	var err error
	switch {
	case c.Grouped:
		var pairs [][2]int
		for _, v := range c.Values {
			pairs = append(pairs, [2]int{v, v + 1})
		}
		w, err = strategy.Intervals(n, pairs)
	case last-first == len(c.Values)-1:
		w, err = strategy.Intervals(n, [][2]int{{first, last + 1}})
	default:
		w, err = strategy.Explicit([][]float64{coefficients(c, n)})
	}
	return product.Of(w), err
}

// coefficients returns 1 for each value of a set, and 0 for the others.
func coefficients(c curator.GridColumn, n int) []float64 {
	row := make([]float64, n)
	for _, v := range c.Values {
		row[v] = 1
	}
	return row
}

// Comparison is what could be measured for the questions of a batch, with exact expected errors.
type Comparison struct {
	*product.Choice
	Workload  *product.Workload
	Grid      *curator.Grid
	Unit      strategy.Unit
	Deviation float64 // of the noise of one count, or of a sum, alone at the same price: the unit of all errors
}

// Compare compares what could be measured for the questions of a batch, whatever their conditions are. It spends
// nothing, and reads no row of a table with units.
func Compare(ctx context.Context, c *curator.Session, b Batch) (*Comparison, error) {
	w, g, err := Workload(ctx, c, b)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Workload: w, Grid: g, Unit: strategy.Epsilon}
	if g.Price.Rho != "" {
		out.Unit = strategy.Rho
	}
	if out.Choice, err = compared(ctx, w, out.Unit); err != nil {
		return nil, err
	}
	request := b.Request
	request.SQL = g.SQL
	if out.Deviation, _, err = CountNoise(ctx, c, request); err != nil {
		return nil, err
	}
	return out, nil
}

// CountNoise returns the standard deviation of the noise of one count, or one sum, of all rows of a question with known
// groups at the question's price, and that price. It spends nothing.
func CountNoise(
	ctx context.Context, c *curator.Session, r curator.Request,
) (deviation float64, price curator.Loss, err error) {
	total, err := linear.NewStrategy(linear.Product{linear.Identity(1)})
	if err != nil {
		return 0, price, err
	}
	e, err := c.ExplainStrategy(ctx, curator.Strategy{Request: r, Parts: []curator.StrategyPart{{Queries: total}}})
	if err != nil {
		return 0, price, err
	}
	unit, _ := e.Parts[0].Unit.Float64()
	return e.Parts[0].Noise.StdDev() * unit, e.Price, nil
}
