package synth

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/curator"
	"dither/synth/model"
)

// Recorded is the method of a result that was computed from earlier releases: see Request.From.
const Recorded Method = "recorded"

// maxFrom is the largest number of releases of a request.
const maxFrom = 1000

// fromReleases fits a model to the marginals that earlier syntheses of the same columns have measured. It spends
// nothing, and reads no row. The marginals of an interrupted synthesis suffice.
func fromReleases(ctx context.Context, c *curator.Session, r Request) (*Result, error) {
	start := time.Now()
	if err := r.checkFrom(); err != nil {
		return nil, err
	}
	t, err := tableOf(c, r.Table)
	if err != nil {
		return nil, err
	}
	of, err := viewOf(t, r.Values)
	if err != nil {
		return nil, err
	}
	return fitted(ctx, c, r, of, start)
}

// fitted fits a model to recorded marginals of a checked request for a view.
func fitted(ctx context.Context, c *curator.Session, r Request, of *view, start time.Time) (*Result, error) {
	p, err := laidOut(ctx, c, r, of)
	if err != nil {
		return nil, err
	}
	p.Method = Recorded
	budget, err := c.Budget()
	if err != nil {
		return nil, err
	}
	p.Price = curator.Loss{Epsilon: "0", Delta: "0"}
	s := &synthesis{Plan: p, result: &Result{Plan: p, Replayed: true, Remaining: budget.Remaining}}
	if s.inRho = budget.Remaining.Rho != ""; s.inRho {
		p.Price.Rho = "0"
	}
	if err := s.recorded(ctx, c); err != nil {
		return nil, err
	}
	size, err := model.Size(p.domain, s.sets)
	if err != nil {
		return nil, err
	}
	if size > r.ModelBytes {
		return nil, usage("give a larger --model-size, or name fewer releases",
			"one model of all these marginals needs %.0f bytes, above %.0f", size, r.ModelBytes)
	}
	if err := s.fit(lastIterations); err != nil {
		return nil, err
	}
	return s.finished(start), nil
}

// checkFrom refuses values out of range, and what has no meaning without a measurement. It sets the defaults.
func (r *Request) checkFrom() error {
	switch {
	case len(r.From) > maxFrom:
		return usage("", "there are at most %d releases, not %d", maxFrom, len(r.From))
	case r.Epsilon != "" || r.Delta != "" || r.Rho != "" || r.Fresh || r.Resume:
		return usage("leave the price, --fresh and --resume out", "rows from earlier releases are free")
	case len(r.PrivateEdges)+len(r.PrivateValues) > 0:
		return usage("give --edges and --values as the output of then has them", "rows from earlier releases are free, and choosing edges and values is not")
	case r.Method != "" || len(r.Cliques) > 0 || len(r.Ways) > 0 || len(r.Workload) > 0:
		return usage("leave --method, --cliques, --ways and --workload out", "rows from earlier releases have the marginals that these measured")
	}
	return r.check()
}

// recorded gathers the marginals of all releases.
func (s *synthesis) recorded(ctx context.Context, c *curator.Session) error {
	var names []string
	var versions map[string]int
	for _, name := range s.request.From {
		if name = strings.TrimSpace(name); slices.Contains(names, name) {
			continue // a measurement counts once
		}
		of, err := c.RecordedRounds(ctx, s.Plan.rounds.Request, name)
		if err != nil {
			return err
		}
		if versions == nil {
			versions = of.Versions
		}
		if fmt.Sprint(of.Versions) != fmt.Sprint(versions) {
			return usage("name releases of one version", "%s and %s measured different versions of the table", names[0], name)
		}
		s.result.Outdated = s.result.Outdated || !of.Current
		some := false
		for _, m := range of.Marginals {
			of, err := s.addRecorded(m)
			if err != nil {
				return err
			}
			some = some || of
		}
		if err := s.recordedApart(ctx, c, name); err != nil {
			return err
		}
		if !some {
			return usage("give the flags of then and --resume, which measures the rest of what was paid", "%s has no measured marginal yet", name)
		}
		names = append(names, name)
	}
	s.result.Release = strings.Join(names, ",")
	for i, column := range s.Columns {
		if !slices.ContainsFunc(s.sets, func(set []int) bool { return slices.Contains(set, i) }) {
			s.result.Unmeasured = append(s.result.Unmeasured, column.Name)
		}
	}
	return nil
}

// recordedApart reads the shapes that a release has measured by a question for each.
func (s *synthesis) recordedApart(ctx context.Context, c *curator.Session, name string) error {
	if !s.apart {
		return nil
	}
	for _, f := range s.shapes() {
		q := s.Plan.rounds.Request
		q.SQL = question(s.shapesFrom, s.shapesWhere, []string{f.sql})
		of, err := c.RecordedRounds(ctx, q, name)
		if err != nil {
			continue // it has no such shape: numbers are even within bins
		}
		for _, m := range of.Marginals {
			s.outline(f, m.Values, math.Sqrt(m.Noise.Variance()), s.Price)
		}
	}
	return nil
}

// addRecorded adds a recorded marginal, and reports whether the model has it. The model is of marginals with columns.
func (s *synthesis) addRecorded(m curator.RecordedMarginal) (inModel bool, err error) {
	deviation := math.Sqrt(m.Noise.Variance())
	if len(m.Keys) == 1 && m.Keys[0] >= len(s.Columns) {
		for _, f := range s.shapes() {
			if f.key == m.Keys[0] {
				s.outline(f, m.Values, deviation, s.Price)
			}
		}
		return false, nil
	}
	for _, k := range m.Keys {
		if k >= len(s.Columns) {
			return false, usage("", "a recorded marginal has columns together with small bins, which no synthesis measures")
		}
	}
	if len(m.Keys) > 0 {
		set := slices.Sorted(slices.Values(m.Keys))
		s.add(set, arranged(m, set, s.domain.Sizes()), deviation, s.Price)
	}
	return len(m.Keys) > 0, nil
}

// arranged returns the cells of a marginal in the order of set, which are its keys in ascending order.
func arranged(m curator.RecordedMarginal, set, sizes []int) []float64 {
	values := make([]float64, len(m.Values))
	at := make([]int, len(sizes)) // the value of each key in a cell
	for _, v := range m.Values {
		cell := 0
		for _, a := range set {
			cell = cell*sizes[a] + at[a]
		}
		values[cell], _ = new(big.Float).SetInt(v).Float64()
		for _, k := range slices.Backward(m.Keys) { // the last key changes fastest
			if at[k]++; at[k] < sizes[k] {
				break
			}
			at[k] = 0
		}
	}
	return values
}
