package estimate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dither/stats/combine"
)

// Coefficient is one estimated number.
type Coefficient struct {
	Name  string
	Value float64
	// Interval is the combined estimate, or nil if there is none. Then Reason of the result says why.
	Interval *combine.Combined
}

// Result is the estimate of a statistic.
type Result struct {
	Statistic    Statistic
	Coefficients []Coefficient
	Draws        int
	Reason       string // why there is no interval, or ""
}

// Estimate estimates a statistic from all tables. If it is outside of the span of the model, or the marginals were
// chosen adaptively, the result has no interval and says why.
func (t *Tables) Estimate(ctx context.Context, s Statistic, confidence float64) (*Result, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("a confidence is between 0 and 1, not %v", confidence)
	}
	for _, name := range s.columns() {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.Empty {
			return nil, fmt.Errorf("a value of column %s is the empty text, which CSV does not distinguish from NULL, so the rows with it "+
				"would be left out: use other columns, or declare another text in the policy", name)
		}
	}
	if c, _ := t.column(s.Column); s.Kind == Proportion && !c.Binned && !slices.Contains(c.Values, s.Value) {
		return nil, fmt.Errorf("%s has no value %q", s.Column, s.Value)
	}
	r := &Result{Statistic: s, Draws: len(t.Files), Reason: t.outside(&s)}
	var sets [][]combine.Estimate // by coefficient
	for i := range t.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cells, err := t.read(i, s.columns())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Files[i], err)
		}
		d, err := t.design(&s, cells)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Files[i], err)
		}
		found, err := d.fit(s.Kind == Logistic)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Files[i], err)
		}
		if sets == nil {
			sets = make([][]combine.Estimate, len(found))
			for k, name := range d.names {
				r.Coefficients = append(r.Coefficients, Coefficient{Name: name})
				if len(s.Predictors) == 0 {
					r.Coefficients[k].Name = s.String()
				}
			}
		}
		for k, e := range found {
			sets[k] = append(sets[k], e)
		}
	}
	for k := range sets {
		c := &r.Coefficients[k]
		for _, e := range sets[k] {
			c.Value += e.Value / float64(len(sets[k]))
		}
		if r.Reason != "" {
			continue
		}
		combined, err := combine.Synthetic(sets[k], t.Rows, t.RealRows, confidence)
		if err != nil {
			r.Reason = "all draws have the same estimate"
			continue
		}
		c.Interval = combined
	}
	return r, nil
}

// outside returns the reason why a statistic has no interval, or "".
func (t *Tables) outside(s *Statistic) string {
	names := s.columns()
	for _, name := range names {
		if c, err := t.column(name); err == nil && c.Binned {
			return name + " is divided into bins, and the numbers within bins were not measured"
		}
	}
	covered := func(m []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(m, n) })
	}
	if !slices.ContainsFunc(t.Measured, covered) {
		return "outside of the span of the model: no measured marginal has " + strings.Join(names, ", ") + " together"
	}
	if t.Method == "mst" && len(names) > 1 { // of 9 pairs selected among 45 of independent columns, 79 % are covered
		return "mst selected its pairs as those that depend most on each other, and intervals of their relations do not include that: " +
			"name the pairs with --cliques"
	}
	if !t.Valid {
		return cmp.Or(t.Reason, "the description of the draws says that intervals do not hold")
	}
	return ""
}
