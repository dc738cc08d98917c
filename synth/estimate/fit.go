package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dither/stats/combine"
)

// Errors of estimates from one table.
var (
	errNone     = errors.New("a table has no rows that count")
	errSingular = errors.New("a table does not determine the coefficients: leave out predictors, or draw more rows")
	errNumber   = errors.New("a value is not a number")
)

// design is the rows of a regression, with one row for each combination of values.
type design struct {
	names []string
	x     [][]float64
	y     []float64
	rows  []float64
}

// number reads a number. Booleans are 0 and 1.
func number(text string) (float64, error) {
	switch text {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%w: %q", errNumber, text)
	}
	return x, nil
}

// design returns the rows of a statistic. A mean is a regression on the intercept alone.
func (t *Tables) design(s *Statistic, cells []cell) (*design, error) {
	d := &design{names: []string{"intercept"}}
	levels := make([][]string, len(s.Predictors)) // of texts
	for k, name := range s.Predictors {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.Type == "integer" || c.Type == "real" || c.Type == "boolean" {
			d.names = append(d.names, name)
			continue
		}
		for _, v := range c.Values {
			if v != "" { // NULL
				levels[k] = append(levels[k], v)
			}
		}
		if len(levels[k]) < 2 {
			return nil, fmt.Errorf("the predictor %s has no two values", name)
		}
		for _, v := range levels[k][1:] {
			d.names = append(d.names, name+"="+v)
		}
	}
	for _, c := range cells {
		y, err := s.outcome(c.values[0])
		if err != nil {
			return nil, err
		}
		x := []float64{1}
		for k := range s.Predictors {
			v := c.values[k+1]
			if levels[k] == nil {
				n, err := number(v)
				if err != nil {
					return nil, err
				}
				x = append(x, n)
				continue
			}
			at := slices.Index(levels[k], v)
			if at < 0 {
				return nil, fmt.Errorf("the table has the unknown value %q", v)
			}
			for j := range levels[k][1:] {
				x = append(x, map[bool]float64{true: 1}[j+1 == at])
			}
		}
		d.x, d.y, d.rows = append(d.x, x), append(d.y, y), append(d.rows, c.rows)
	}
	if len(d.rows) == 0 {
		return nil, errNone
	}
	return d, nil
}

// outcome returns the number that a value of the outcome stands for.
func (s *Statistic) outcome(text string) (float64, error) {
	if s.Value != "" {
		if text == s.Value {
			return 1, nil
		}
		return 0, nil
	}
	y, err := number(text)
	if err == nil && s.Kind == Logistic && y != 0 && y != 1 {
		err = fmt.Errorf("the outcome %s is neither boolean nor 0 or 1: write %s=VALUE ~ …", s.Column, s.Column)
	}
	return y, err
}

// fit returns the coefficients with their variances. The variances are robust: they hold also if the outcome is not linear
// in the predictors, or its variance differs [White 1980].
func (d *design) fit(logistic bool) ([]combine.Estimate, error) {
	k := len(d.names)
	beta := make([]float64, k)
	steps := 1
	if logistic {
		steps = 50
	}
	var inverse [][]float64
	for step := 0; ; step++ {
		if step == steps+1 {
			return nil, errSingular // the values of a predictor separate the outcomes
		}
		hessian, gradient := square(k), make([]float64, k)
		for i, x := range d.x {
			p, w := d.predicted(beta, x, logistic)
			for a := range k {
				gradient[a] += d.rows[i] * x[a] * (d.y[i] - p)
				for b := range k {
					hessian[a][b] += d.rows[i] * w * x[a] * x[b]
				}
			}
		}
		var ok bool
		if inverse, ok = invert(hessian); !ok {
			return nil, errSingular
		}
		moved := 0.0
		for a := range k {
			move := 0.0
			for b := range k {
				move += inverse[a][b] * gradient[b]
			}
			beta[a] += move
			moved = max(moved, math.Abs(move)/(1e-12+math.Sqrt(inverse[a][a])))
		}
		if !logistic && step == 1 || logistic && moved < 1e-8 {
			break
		}
	}
	middle := square(k) // the variance of the gradient
	for i, x := range d.x {
		p, _ := d.predicted(beta, x, logistic)
		r := d.y[i] - p
		for a := range k {
			for b := range k {
				middle[a][b] += d.rows[i] * r * r * x[a] * x[b]
			}
		}
	}
	out := make([]combine.Estimate, k)
	for a := range k {
		out[a].Value = beta[a]
		for b := range k {
			for c := range k {
				out[a].Variance += inverse[a][b] * middle[b][c] * inverse[a][c]
			}
		}
		out[a].Variance = max(0, out[a].Variance)
	}
	return out, nil
}

// predicted returns the mean of the outcome, and its derivative by the linear predictor.
func (d *design) predicted(beta, x []float64, logistic bool) (mean, weight float64) {
	sum := 0.0
	for a, v := range x {
		sum += beta[a] * v
	}
	if !logistic {
		return sum, 1
	}
	p := 1 / (1 + math.Exp(-sum))
	return p, p * (1 - p)
}

func square(k int) [][]float64 {
	out := make([][]float64, k)
	for i := range out {
		out[i] = make([]float64, k)
	}
	return out
}

// invert returns the inverse of a positive definite matrix, or false if it is singular to the precision of floats.
func invert(m [][]float64) ([][]float64, bool) {
	k := len(m)
	scale := make([]float64, k)
	a, out := square(k), square(k)
	for i := range k {
		if scale[i] = math.Sqrt(m[i][i]); !(scale[i] > 0) {
			return nil, false
		}
	}
	for i := range k {
		out[i][i] = 1
		for j := range k {
			a[i][j] = m[i][j] / scale[i] / scale[j]
		}
	}
	for i := range k { // Gauss and Jordan; the diagonal has pivots of at most 1
		pivot := a[i][i]
		if !(pivot > 1e-10) {
			return nil, false
		}
		for j := range k {
			a[i][j] /= pivot
			out[i][j] /= pivot
		}
		for r := range k {
			f := a[r][i]
			if r == i || f == 0 {
				continue
			}
			for j := range k {
				a[r][j] -= f * a[i][j]
				out[r][j] -= f * out[i][j]
			}
		}
	}
	for i := range k {
		for j := range k {
			out[i][j] /= scale[i] * scale[j]
		}
	}
	return out, true
}
