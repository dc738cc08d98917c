package regression

import "math"

// quantile returns the x that |X| exceeds with probability alpha, where X is d·(Σ z e + f − Eγ) divided by its
// standard deviation. For the symbols, see [inverter]. For Gaussian noise, X is normal. Laplace noise with scale b
// has the characteristic function 1/(1 + b²t²), so the characteristic function φ of X is known. The distribution of
// X follows by integration: P(|X| ≤ x) = (2/π)∫ sin(tx)/t φ(t) dt.
func (n equationNoise) quantile(d, gamma []float64, sampling, alpha float64) float64 {
	normal := math.Sqrt2 * math.Erfinv(1-alpha)
	if !n.laplace {
		return normal
	}
	var scales []float64 // b² of each noise term of X
	total := sampling
	add := func(weight, variance float64) {
		if v := weight * weight * variance; v > 0 {
			scales, total = append(scales, v/2), total+v
		}
	}
	for i, x := range d {
		add(x, n.b)
		add(x*gamma[i], n.diagonal)
		for j, y := range d[:i] {
			add(x*gamma[j]+y*gamma[i], n.offDiagonal)
		}
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return normal
	}
	if alpha < smallTail {
		return tailBound(scales, sampling, total, alpha)
	}
	// Tabulate φ at the midpoints of steps. The part of the integral beyond the last step is below 1e-5, or below
	// 1e-7 for a small alpha. |X| exceeds 2π/step only with a much smaller probability.
	const step = 0.05
	last, little := 400.0, 1e-9
	if alpha < 1e-3 {
		last, little = 4000, 1e-13
	}
	var phi []float64
	for t := step / 2; t < last; t += step {
		log := -sampling / total * t * t / 2
		for _, b := range scales {
			log -= math.Log1p(b / total * t * t)
		}
		value := math.Exp(log)
		if phi = append(phi, value/t); value < little {
			break
		}
	}
	within := func(x float64) float64 {
		sum := 0.0
		for i, f := range phi {
			sum += f * math.Sin((float64(i)+0.5)*step*x)
		}
		return 2 / math.Pi * step * sum
	}
	low, high := 0.0, 4*normal+4
	for range 50 {
		if mid := (low + high) / 2; within(mid) < 1-alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// smallTail is the probability below which the error of the numerical integral would be too large.
const smallTail = 1e-6

// tailBound returns an x that |X| exceeds with probability at most alpha, by Chernoff's bound: P(|X| > x) ≤
// 2·e^(−tx)·M(t) for all t. M is the moment generating function of X. It is the product of a factor 1/(1 − b²t²)
// for each noise term and of e^(s²t²/2) for sampling.
func tailBound(scales []float64, sampling, total, alpha float64) float64 {
	largest := 0.0
	for _, b := range scales {
		largest = math.Max(largest, b/total)
	}
	best := math.Inf(1)
	try := func(t float64) {
		log := sampling/total*t*t/2 + math.Log(2/alpha)
		for _, b := range scales {
			log -= math.Log1p(-b / total * t * t)
		}
		if x := log / t; x < best { // false if x is NaN
			best = x
		}
	}
	most := 20.0
	if largest > 0 {
		most = math.Min(most, 1/math.Sqrt(largest))
	}
	for i := 1; i < 400; i++ {
		try(most * float64(i) / 400)
	}
	return best
}
