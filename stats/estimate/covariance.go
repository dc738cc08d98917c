package estimate

import (
	"context"
	"fmt"
	"math"

	"dither/curator"
	"dither/stats/internal/request"
	"dither/stats/internal/student"
)

// Covariance estimates the means, the covariance matrix and the correlations of a sample's columns, over the rows in
// which none is NULL. By default it measures the sum of vectors and the sum of their products, about the middle of the
// declared bounds. With MethodCoinPress it measures in rounds. Intervals come from a simulation. With Population they
// also cover sampling, from a normal distribution.
func Covariance(ctx context.Context, c *curator.Session, s Sample) (*Result, error) {
	p, err := PlanCovariance(ctx, c, s)
	return run(ctx, p, err)
}

// PlanCovariance returns the plan that Covariance would carry out. It spends nothing.
func PlanCovariance(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
	return planCovariance(ctx, c, s)
}

func planCovariance(ctx context.Context, k asker, s Sample) (*Plan, error) {
	if err := s.check(MethodBounded, MethodCoinPress); err != nil {
		return nil, err
	}
	p := &Plan{Kind: "covariance", Method: s.Method}
	if err := chooseMoments(k, s, p); err != nil {
		return nil, err
	}
	if p.Method == MethodCoinPress {
		return pressPlan(ctx, k, s, p, true)
	}
	return p, boundedCovariance(ctx, k, s, p, covarianceValues)
}

// cellValues computes the values of a cell from its sums. If they are too small for estimates, note says so.
type cellValues func(
	p *pressed, s Sample, ranges [][2]float64, keys []any, alpha float64, symmetric func(int) bool,
) (out []Value, note string)

// boundedCovariance completes a plan that measures the sums of vectors and of their products, about the middle of the
// declared bounds.
func boundedCovariance(ctx context.Context, k asker, s Sample, p *Plan, of cellValues) error {
	confidence := s.Confidence
	alpha, err := request.Confidence(&confidence)
	if err != nil {
		return err
	}
	forms, ranges, err := boundedForms(ctx, k, s)
	if err != nil {
		return err
	}
	v := pressVectors(s, forms, "", true)
	v.SQL = s.sql(false, forms.sql(s.Columns)...)
	if v, err = uncounted(ctx, k, v); err != nil {
		return err
	}
	if err := momentsLook(ctx, k, s, p, v); err != nil {
		return err
	}
	p.Notes = append(p.Notes, covarianceNotes(s)...)
	p.measures(k, s, v, confidence, func(out *Result, sums *vectorSums, keys []any) {
		last := pressed{sums: sums, forms: forms}
		values, note := of(&last, s, ranges, keys, alpha, productSymmetric(v))
		out.Values = append(out.Values, values...)
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
	})
	return nil
}

func covarianceNotes(s Sample) []string {
	notes := []string{"Rows with NULL in one of the columns do not count."}
	if s.Population {
		return append(notes,
			"Intervals are simulated from the releases. They assume the sampling error of "+
				"a normal distribution, and are too narrow for heavier tails.")
	}
	return append(notes, "Intervals are simulated from the releases.")
}

// boundedForms returns each column relative to the middle of its bounds, in units of half their width, so that its
// absolute value is at most 1. A column with equal bounds keeps its own unit.
func boundedForms(ctx context.Context, k asker, s Sample) (forms linearForms, ranges [][2]float64, err error) {
	t, err := s.declaredTable(k)
	if err != nil {
		return forms, nil, err
	}
	middle, unit := make([]float64, len(s.Columns)), make([]float64, len(s.Columns))
	for i, c := range s.Columns {
		low, high, err := s.rangeOf(ctx, k, t, c)
		if err != nil {
			return forms, nil, err
		}
		if middle[i], unit[i] = low+(high-low)/2, (high-low)/2; unit[i] <= 0 {
			unit[i] = 1
		}
		ranges = append(ranges, [2]float64{low, high})
	}
	return plainForms(middle, unit), ranges, nil
}

// covarianceValues returns the means, variances, covariances and correlations of a cell. If the noisy count is too
// small for estimates, note says so.
func covarianceValues(
	p *pressed, s Sample, ranges [][2]float64, keys []any, alpha float64, symmetric func(int) bool,
) (out []Value, note string) {
	d := len(s.Columns)
	means, covariances := p.means(p.sums), p.covariances(p.sums)
	size := d + d*(d+1)/2 + d*(d-1)/2
	draws := newSpreads(size, alpha)
	sim, v := newSimulator(), p.sums.room()
	for range drawsFor(alpha) {
		p.sums.drawn(sim, symmetric, v)
		m, c := p.means(v), p.covariances(v)
		at := 0
		add := func(x float64) {
			draws[at].add(x)
			at++
		}
		sampled := func() float64 {
			if s.Population {
				return student.FromNormal(sim.normal(), p.sums.count)
			}
			return 0
		}
		for i := range d {
			add(m[i] + sampled()*math.Sqrt(math.Max(math.Max(c[i][i], covariances[i][i]), 0)/v.count))
		}
		for i := range d {
			// use the larger sampling variance of the draw and of the release, as [simulated] does
			for j := i; j < d; j++ {
				add(
					c[i][j] + sampled()*math.Sqrt(
						math.Max(math.Max(normalProduct(c, i, j), normalProduct(covariances, i, j)), 0)/(v.count-1)))
			}
		}
		for i := range d {
			for j := i + 1; j < d; j++ {
				add(correlated(c, i, j, sampled()/math.Sqrt(math.Max(v.count-3, 1))))
			}
		}
	}
	at := 0
	add := func(name string, value, least, most float64) {
		out, at = append(out, fromDraws(name, keys, value, draws[at], least, most)), at+1
	}
	for i, c := range s.Columns {
		add("mean("+c+")", means[i], ranges[i][0], ranges[i][1])
	}
	for i := range d {
		for j := i; j < d; j++ {
			least := math.Inf(-1)
			if i == j {
				least = 0
			}
			name := fmt.Sprintf("cov(%s, %s)", s.Columns[i], s.Columns[j])
			if i == j {
				name = "var(" + s.Columns[i] + ")"
			}
			add(name, covariances[i][j], least, math.Inf(1))
		}
	}
	for i := range d {
		for j := i + 1; j < d; j++ {
			add(fmt.Sprintf("corr(%s, %s)", s.Columns[i], s.Columns[j]), correlated(covariances, i, j, 0), -1, 1)
		}
	}
	if p.sums.count < 2 {
		note = tooFew(p.sums, keys)
	}
	return out, note
}

// normalProduct returns the variance of the product of two centred normal variables with covariance matrix c. The
// variance of a sample covariance is about this divided by the number of rows.
func normalProduct(c [][]float64, i, j int) float64 { return c[i][i]*c[j][j] + c[i][j]*c[i][j] }

// correlated returns a correlation, shifted by z on Fisher's scale. It returns NaN if a noisy variance is not
// positive.
func correlated(c [][]float64, i, j int, z float64) float64 {
	if !(c[i][i] > 0 && c[j][j] > 0) {
		return math.NaN()
	}
	r := math.Min(math.Max(c[i][j]/math.Sqrt(c[i][i]*c[j][j]), -1), 1)
	if z == 0 {
		return r
	}
	return math.Tanh(math.Atanh(r) + z)
}
