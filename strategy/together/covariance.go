package together

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/noise"
)

// combined is an answer as a combination of released numbers: their indices in increasing order, part by part, and the
// weight of each.
type combined struct {
	part    int
	rows    []int
	weights []float64
}

// joint has what determines the errors of answers.
type joint struct {
	of    func(i int) ([]combined, error)
	noise []noise.Distribution // of each part
	unit  float64
	known *known // what totals of the policy determine
}

// rounding is the largest weight, as a share of the largest one, that rounding may leave of 0.
const rounding = 1e-13

// set sets the errors of answer i, and its value if there are released numbers. It returns the variance that the answer would
// have without the policy's totals.
func (j *joint) set(n *Count, i int, alpha float64, released [][]float64) (without float64, err error) {
	of, err := j.of(i)
	if err != nil {
		return 0, err
	}
	without = j.variance(of, of) * j.unit * j.unit
	of, constant := j.known.apply(of)
	var off noise.Combination
	for _, c := range of {
		times, most := map[float64]float64{}, 0.0
		for _, w := range c.weights {
			most = max(most, math.Abs(w))
		}
		for k, w := range c.weights {
			if size := math.Abs(w); size > rounding*most {
				times[size*(1+1e-9)]++ // rounded up, beyond the rounding of the weights
			}
			if released != nil {
				n.Value += w * released[c.part][c.rows[k]]
			}
		}
		for _, w := range slices.Sorted(maps.Keys(times)) {
			off.Add(w, j.noise[c.part], times[w])
		}
	}
	if released != nil {
		n.Value = (n.Value + constant) * j.unit
	}
	n.StdDev, n.HalfWidth = off.StdDev()*j.unit, off.Quantile(alpha)*j.unit
	return without, nil
}

// released returns the released numbers of parts; nil for an explanation.
func released(parts []curator.MeasuredPart) (out [][]float64) {
	for _, p := range parts {
		if p.Values == nil {
			return nil
		}
		values := make([]float64, len(p.Values))
		for i, y := range p.Values {
			values[i], _ = new(big.Float).SetInt(y).Float64()
		}
		out = append(out, values)
	}
	return out
}

// variance returns the covariance of two combinations, in squared units of released numbers.
func (j *joint) variance(one, other []combined) (sum float64) {
	for _, x := range one {
		for _, y := range other {
			if x.part == y.part {
				sum += dot(x, y) * j.noise[x.part].Variance()
			}
		}
	}
	return sum
}

// Covariance returns the covariance of the noise of two of the answers, by their indices in Counts. So the variance of the
// difference of two answers is the sum of their variances less twice the covariance. It returns an error for an index that
// is out of range.
func (a *Answer) Covariance(i, j int) (float64, error) {
	if n := len(a.Counts); i < 0 || i >= n || j < 0 || j >= n {
		return 0, misuse("", "there are answers 0 to %d, not %d and %d", n-1, i, j)
	}
	one, err := a.errors.of(i)
	if err != nil {
		return 0, err
	}
	other, err := a.errors.of(j)
	if err != nil {
		return 0, err
	}
	one, _ = a.errors.known.apply(one)
	other, _ = a.errors.known.apply(other)
	return a.errors.variance(one, other) * a.errors.unit * a.errors.unit, nil
}

// dot returns the product of two combinations of the numbers of one part.
func dot(x, y combined) (sum float64) {
	at := map[int]float64{}
	for k, row := range x.rows {
		at[row] += x.weights[k]
	}
	for k, row := range y.rows {
		sum += at[row] * y.weights[k]
	}
	return sum
}
