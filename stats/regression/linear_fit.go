package regression

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/noise"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// lawOf returns the noise of the measured sums, in units of the scaled columns.
func lawOf(sums []curator.NoisySum) (n equationNoise) {
	variance := func(d noise.Distribution, unit *big.Rat) float64 {
		u, _ := unit.Float64()
		return d.Variance() * u * u
	}
	_, n.laplace = sums[0].Noise.(noise.DiscreteLaplace)
	n.diagonal, n.offDiagonal = variance(sums[0].Noise, sums[0].Unit), variance(sums[0].OffDiagonal, sums[0].Unit)
	n.b = variance(sums[1].Noise, sums[1].Unit)
	if len(sums) > 2 {
		n.c = variance(sums[2].Noise, sums[2].Unit)
	}
	n.rows = n.diagonal
	if len(sums) > 3 {
		n.rows = variance(sums[3].Noise, sums[3].Unit)
	}
	return n
}

// sum converts measured sum i to a [LinearSum].
func (l *linear) sum(i int, s curator.NoisySum) LinearSum {
	return linearSum([]string{"Σ z zᵀ", "Σ z v", "Σ v²", "rows"}[i], i == 0, s)
}

// linearSum converts a measured sum. matrix reports whether it is a symmetric matrix.
func linearSum(name string, matrix bool, s curator.NoisySum) LinearSum {
	unit, _ := s.Unit.Float64()
	out := LinearSum{Name: name, StdDev: s.Noise.StdDev() * unit, Price: s.Loss, Noise: "discrete Gaussian"}
	if _, laplace := s.Noise.(noise.DiscreteLaplace); laplace {
		out.Noise = "discrete Laplace"
	}
	if s.OffDiagonal != nil && matrix {
		off := s.OffDiagonal.StdDev() * unit
		out.OffDiagonal = &off
	}
	for cell := range s.Values {
		out.Values = append(out.Values, s.Reals(cell)...)
	}
	return out
}

// newLinearFit returns a fit without coefficients, whose intervals are about the population.
func newLinearFit(id string, d *formula.Design, method string, paid Paid) *LinearFit {
	return &LinearFit{
		ID: id, Spec: Spec{LinearModel, d.Formula.String(), d.Table}, Method: method,
		About: AboutPopulation, Paid: paid,
		Coefficients: []Coefficient{}, Bounds: []formula.Bounds{}, Warnings: []string{}, Measured: []LinearSum{},
	}
}

// fit computes the regression from the released sums.
func (l *linear) fit(m *curator.Moments) (*LinearFit, error) {
	of, q, choice, err := l.narrowed(l.equations(m))
	if err != nil {
		return nil, err
	}
	out := newLinearFit(m.ID, of.design, l.Method, Paid{m.Limits, m.Price, m.Remaining, m.Replayed})
	out.Confidence, out.Choice = json.Number(l.Confidence), choice
	if !q.squares {
		out.About = AboutRows
	}
	names := of.design.Formula.Numbers(l.table)
	for _, b := range l.found { // bounds of the numbers in this model
		if slices.Contains(names, b.Column) {
			out.Bounds = append(out.Bounds, b)
		}
	}
	if len(out.Bounds) > 0 {
		out.warn("Values outside the bounds found are clamped to them.")
	}
	if choice != nil {
		words := choice.words()
		if q.squares && len(choice.Chosen) < len(choice.Of) {
			words += " Intervals treat the effect of the omitted terms as error with the same variance in all rows."
		}
		out.warn(words)
	}
	if l.FindBounds != "" && len(l.releases) > 0 && len(l.found) == 0 {
		out.warn("No usable narrower bounds were found: the declared bounds are used.")
	}
	if l.Normalise != "" && len(l.releases) > 0 {
		if kept := keptBounds(names, l.found); kept != "" {
			out.warn(kept)
		}
	}
	for i, s := range m.Sums {
		out.Measured = append(out.Measured, l.sum(i, s))
	}
	of.tell(out, q)
	return out, nil
}

// tell solves the equations and enters the coefficients of the unscaled columns in the fit.
func (l *linear) tell(out *LinearFit, q *normalEquations) {
	if finite(q.rows) {
		sd := math.Sqrt(q.noise.rows)
		out.Rows, out.RowsError = &q.rows, &sd
		if q.rows < 2*sd {
			out.warn("Noise hides the number of rows: there may be none.")
		}
	}
	s, ok := q.solve(l.Method == AdaSSP)
	if !ok {
		out.warn("The noisy equations are singular: they determine no coefficients.")
		for _, c := range l.design.Columns {
			out.Coefficients = append(out.Coefficients, Coefficient{Name: c.Name})
		}
		return
	}
	out.Ridge = s.ridge
	spread := 0.0
	if q.squares {
		spread = s.spread()
		l.residual(out, q, s)
	}
	v, weak := newInverter(q, s, spread), 0
	l.enterClusters(out, q, v)
	for k, row := range l.design.Weights {
		f := v.interval(row, l.alpha)
		offset := 0.0
		if k == 0 && l.design.Formula.Intercept {
			offset = l.at
		}
		c := Coefficient{Name: l.design.Columns[k].Name, Width: l.design.Columns[k].Width}
		if estimate := offset + l.half*f.estimate; finite(estimate) {
			c.Estimate = &estimate
		}
		if variance := f.sampling + f.privacy; variance > 0 && finite(variance) {
			sd, part := l.half*math.Sqrt(variance), f.privacy/variance
			c.StdError, c.Privacy = &sd, &part
		}
		if low := offset + l.half*f.low; finite(low) {
			c.Low = &low
		}
		if high := offset + l.half*f.high; finite(high) {
			c.High = &high
		}
		if f.weak {
			weak++
		}
		out.Coefficients = append(out.Coefficients, c)
	}
	if s.ridge > 0 {
		out.warn(
			fmt.Sprintf(
				"The noise is not small compared with Σzzᵀ: the noisy smallest eigenvalue is %.3g, and the noise "+
					"has norm up to %.3g. A ridge penalty of %.3g therefore shrinks coefficients towards 0. "+
					"Standard errors ignore this; intervals do not depend on it.", s.least, s.size, s.ridge))
	}
	if l.clustered == nil && q.squares && request.ManyRows(l.told.Unit) {
		out.warn(
			"A person may have several rows, but the sampling part of the errors assumes that rows are independent.")
	}
	if weak > 0 {
		out.warn(
			fmt.Sprintf(
				"%d of %d intervals are infinite: at this price nothing bounds these coefficients. Use fewer "+
					"predictors, narrower bounds, more rows or a higher price.", weak, len(out.Coefficients)))
	}
}

// residual enters the residual error and R² in the fit.
func (l *linear) residual(out *LinearFit, q *normalEquations, s *solution) {
	if !(s.sigma2 > 0) {
		out.warn("Noise hides the residual variance: intervals assume a larger variance.")
		return
	}
	sd := l.half * math.Sqrt(s.sigma2)
	out.ResidualError = &sd
	if !l.design.Formula.Intercept {
		return
	}
	total := q.c - q.b[0]*q.b[0]/q.rows
	if r := 1 - s.sigma2*s.freedom/total; total > 0 && r >= 0 && r <= 1 {
		out.RSquared = &r
	}
}

func (f *LinearFit) warn(text string) { f.Warnings = append(f.Warnings, text) }
