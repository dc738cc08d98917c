package marginal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dither/noise"
)

const (
	// mostTerms is the largest number of different coefficients of an interval that uses the exact noise.
	mostTerms = 1 << 14
	// mostMargins is the largest number of different margins of a table.
	mostMargins = 1 << 12
)

// Interval returns a confidence interval of a query, as for [Estimate.Answer], around its estimate. The confidence is
// between 0 and 1. The interval covers the noise alone, and is valid for every single query that does not depend on the
// release.
//
// The half-width bounds a quantile of the exact distribution of the noise (noise.Combination). A query whose noise has
// more than 2¹⁴ different coefficients gets a wider one, from Chebyshev's inequality.
func (e *Estimate) Interval(q Query, confidence float64) (low, high float64, err error) {
	if !(confidence > 0 && confidence < 1) {
		return 0, 0, fmt.Errorf("marginal: the confidence must be between 0 and 1, and is %v", confidence)
	}
	value, _, err := e.Answer(q)
	if err != nil {
		return 0, 0, err
	}
	half, err := e.margin(q, 1-confidence)
	return value - half, value + half, err
}

// Margins returns the margin of error of each cell of a marginal, in the order of [Estimate.Marginal]: the half-width
// of its [Estimate.Interval].
func (e *Estimate) Margins(confidence float64, attributes ...string) ([]float64, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("marginal: the confidence must be between 0 and 1, and is %v", confidence)
	}
	members, err := e.plan.spanned(attributes)
	if err != nil {
		return nil, err
	}
	cells, different := 1, 1
	for _, m := range members {
		f := e.plan.factors[m]
		cells *= f.size
		if f.inverse != nil { // all cells of a plain attribute have the same margin
			different *= f.size
		}
	}
	if different > mostMargins {
		return nil, fmt.Errorf("marginal: the marginal of %q has %d different margins: use Interval for some of its cells",
			attributes, different)
	}
	known := map[int]float64{}
	out := make([]float64, cells)
	for cell := range out {
		q, class, rest := Query{}, 0, cell
		for _, m := range slices.Backward(members) {
			f := e.plan.factors[m]
			at := rest % f.size
			rest /= f.size
			if f.inverse == nil {
				at = 0
			} else {
				class = class*f.size + at
			}
			one := make([]float64, f.size)
			one[at] = 1
			q[e.plan.Domain().attributes[m].Name] = one
		}
		half, seen := known[class]
		if !seen {
			if half, err = e.margin(q, 1-confidence); err != nil {
				return nil, err
			}
			known[class] = half
		}
		out[cell] = half
	}
	return out, nil
}

// margin returns a y that the error of a query's estimate exceeds in magnitude with probability at most alpha.
func (e *Estimate) margin(q Query, alpha float64) (float64, error) {
	members, err := e.read(q)
	if err != nil {
		return 0, err
	}
	if e.plan.tables != nil {
		return e.consistentMargin(members, q, alpha)
	}
	var off noise.Combination
	terms, total := 0, 0.0
	e.within(members, func(p *part) {
		if p.variance == 0 { // declared
			return
		}
		coefficients := []coefficient{{math.Abs(e.means(members, p, q)) * p.unit, 1}}
		squares := coefficients[0].size * coefficients[0].size
		for _, m := range p.members {
			own := e.plan.factors[m].coefficients(q[e.plan.Domain().attributes[m].Name])
			sum := 0.0
			for _, c := range own {
				sum += c.times * c.size * c.size
			}
			squares *= sum
			if coefficients != nil && len(coefficients)*len(own) <= mostTerms {
				coefficients = products(coefficients, own)
			} else {
				coefficients = nil
			}
		}
		total += squares * p.noise.Variance()
		if coefficients == nil && squares > 0 {
			terms = mostTerms + 1
		}
		if terms += len(coefficients); terms > mostTerms {
			return
		}
		for _, c := range coefficients {
			off.Add(c.size*(1+1e-12), p.noise, c.times)
		}
	})
	if terms > mostTerms {
		return math.Sqrt(total/alpha) * (1 + 1e-9), nil
	}
	return off.Quantile(alpha), nil
}

// coefficient is the magnitude of the coefficients of several measured numbers, and their number.
type coefficient struct{ size, times float64 }

// coefficients returns the magnitudes of R⁺ᵀq: what a query reads of the numbers measured for an attribute.
func (f *factor) coefficients(q []float64) []coefficient {
	sizes := make([]float64, len(q))
	if f.inverse == nil { // (q − its mean)/c
		mean, n := 0.0, float64(f.size)
		for _, v := range q {
			mean += v / n
		}
		for i, v := range q {
			sizes[i] = math.Abs(v-mean) / n
		}
	} else {
		var w mat.VecDense
		w.MulVec(f.inverse.T(), mat.NewVecDense(len(q), slices.Clone(q)))
		sizes = sizes[:0]
		for i := range w.Len() {
			sizes = append(sizes, math.Abs(w.AtVec(i)))
		}
	}
	return counted(sizes)
}

// counted returns different sizes above 0 with their numbers, in increasing order.
func counted(sizes []float64) (out []coefficient) {
	slices.Sort(sizes)
	for _, s := range sizes {
		if n := len(out); n > 0 && out[n-1].size == s {
			out[n-1].times++
		} else if s > 0 {
			out = append(out, coefficient{s, 1})
		}
	}
	return out
}

// products returns the products of two lists of coefficients.
func products(a, b []coefficient) (out []coefficient) {
	for _, x := range a {
		for _, y := range b {
			out = append(out, coefficient{x.size * y.size, x.times * y.times})
		}
	}
	slices.SortFunc(out, func(x, y coefficient) int { return cmp.Compare(x.size, y.size) })
	return out
}
