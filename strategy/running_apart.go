package strategy

import (
	"fmt"
	"math"
)

// apart returns further factorizations for a stream that counts at most `together` of a unit's Rows rows in one step. Then
// the rows of a unit arrive in several steps, and the columns of these steps add up. So a matrix with shorter bands, or
// with entries that fall faster, needs less noise, and the square root is no longer near the optimum:
//
//   - the square root with few bands [Kalinin & Lampert 2024], which is the identity for one band;
//   - the power (1 − fx)^−p of the fading sums, as a series, for p from 0 (the identity) to 1.
//
// The search computes with floats and with whole steps. The integers of the returned matrices decide about their noise.
func (r Running) apart(l Limits) (out []*Factorization, err error) {
	steps, n := l.steps(), len(r.weights)
	root := seriesRoot(r.weights)
	best, bands := math.Inf(1), 0
	for b := 2; b < n; b += max(b/2, 1) {
		column := banded(root, b)
		if e := r.errorApart(column, inverseSeries(column, b), steps); e < best {
			best, bands = e, b
		}
	}
	if bands > 0 {
		f, err := r.toeplitz(fmt.Sprintf("square root of %d bands", bands), banded(root, bands))
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	best = math.Inf(1)
	var power, fading float64
	for _, f := range []float64{1, 0.995, 0.99, 0.975, 0.95, 0.925, 0.9, 0.85, 0.8, 0.7, 0.6} {
		for p := 0.025; p < 0.99; p += 0.025 {
			if e := r.errorApart(powerSeries(n, p, f), powerSeries(n, -p, f), steps); e < best {
				best, power, fading = e, p, f
			}
		}
	}
	name := fmt.Sprintf("power %.4g of totals", power)
	if fading < 1 {
		name = fmt.Sprintf("power %.4g of sums fading by %.4g", power, fading)
	}
	f, err := r.toeplitz(name, powerSeries(n, power, fading))
	return append(out, f), err
}

// apart reports whether the rows of a unit cannot all arrive in one step.
func (l Limits) apart() bool { return l.PerPeriod > 0 && l.PerPeriod < l.Rows }

// steps returns the number of steps in which the rows of a unit arrive if each has as many as it may have.
func (l Limits) steps() int { return int(min((l.Rows+l.PerPeriod-1)/l.PerPeriod, MaxCells)) }

// errorApart returns the largest error of a sum, up to a constant factor, if the rows of a unit arrive in the given number of
// steps: see [stream.Continual]. It measures by the Toeplitz matrix of a series, whose inverse is given. It returns +Inf for a
// series that has negative numbers or increases, because the bound on its noise is not tight.
func (r Running) errorApart(column, inverse []float64, steps int) float64 {
	measured, sum, squares := 0.0, 0.0, 0.0
	for k, v := range column {
		if v < 0 || k > 0 && v > column[k-1] {
			return math.Inf(1)
		}
		if sum += v; k >= steps {
			sum -= column[k-steps]
		}
		measured += sum * sum
	}
	for _, v := range r.sums(inverse) {
		squares += v * v
	}
	return math.Sqrt(measured * squares)
}

// sums returns the running sums of a series of numbers.
func (r Running) sums(of []float64) []float64 {
	out, width := make([]float64, len(of)), 0
	for width < len(of) && r.weights[width] == 1 {
		width++
	}
	sum := 0.0
	for k, v := range of {
		if r.decay > 0 {
			sum = r.decay*sum + v
		} else if sum += v; k >= width {
			sum -= of[k-width]
		}
		out[k] = sum
	}
	return out
}

// inverseSeries returns 1 divided by a series that begins with 1 and has b numbers other than 0.
func inverseSeries(of []float64, b int) []float64 {
	out := make([]float64, len(of))
	out[0] = 1
	for k := 1; k < len(of); k++ {
		for j := 1; j <= k && j < b; j++ {
			out[k] -= of[j] * out[k-j]
		}
	}
	return out
}

// banded returns the first b numbers of a series, followed by zeros.
func banded(series []float64, b int) []float64 {
	out := make([]float64, len(series))
	copy(out, series[:b])
	return out
}

// powerSeries returns the first n numbers of the series (1 − fx)^−p.
func powerSeries(n int, p, f float64) []float64 {
	out := make([]float64, n)
	out[0] = 1
	for k := 1; k < n; k++ {
		out[k] = out[k-1] * f * (p + float64(k) - 1) / float64(k)
	}
	return out
}

// boundApart returns a lower bound on the largest error of a sum, in units of the noise of a count of all rows of a unit. The
// given bound holds for one row of a unit.
//
// Let p be PerPeriod, and q = ⌊Rows/p⌋ a number of steps with p rows each. A unit with p rows in one step moves Cx by p times
// the longest column, which gives p/Rows times the bound for one row. A unit with p rows in each step of a set S moves it by
// p·‖Σ_{j∈S} c_j‖. The mean of the square over all S of q of n steps is
//
//	q/n·Σ‖c_j‖² + q(q−1)/(n(n−1))·(‖C1‖² − Σ‖c_j‖²) ≥ q(n−q)/(n−1) · mean ‖c_j‖²,
//
// and the largest square is at least the mean. The root of the mean ‖c_j‖², times the root of the mean square of the rows of
// W·C⁻¹, is at least Σσ/n, where σ are the singular values of W: see [Factorize] with all weights 1.
func (r Running) boundApart(one float64, l Limits) float64 {
	n := len(r.weights)
	share := float64(l.PerPeriod) / float64(l.Rows)
	q := min(int(min(l.Rows/l.PerPeriod, int64(n))), n/2) // a unit may have rows in fewer steps, and n/2 give the best bound
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	_, trace := r.roots(ones).diagonal(ones)
	if n == 1 || q < 1 {
		return share * one
	}
	spread := math.Sqrt(float64(q) * float64(n-q) / float64(n-1))
	return share * math.Max(one, spread*trace/float64(n))
}
