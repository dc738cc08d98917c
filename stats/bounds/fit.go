package bounds

import (
	"math"
	"slices"
)

// A curve is a law of tails. At a distance d from the middle, it leaves exp(−(rate/growth)·((d/from)^growth − 1)) of the
// units at the distance from, less what this is at the end. With growth 0 it is a power of d, as of a Pareto
// distribution. Growth 1 is an exponential distribution, 2 about a normal one, and a lognormal one is between 0 and 1.
type curve struct {
	from, rate, growth float64
	end                float64 // the distance at which values end; infinite if they do not
}

// at returns the share of the units at the distance from that is at the distance d or beyond.
func (c curve) at(d float64) float64 {
	if d >= c.end {
		return 0
	}
	return c.endless(d) - c.endless(c.end)
}

func (c curve) endless(d float64) float64 {
	switch {
	case math.IsInf(d, 1):
		return 0
	case c.growth == 0:
		return math.Pow(d/c.from, -c.rate)
	}
	return math.Exp(-c.rate / c.growth * (math.Pow(d/c.from, c.growth) - 1))
}

// The candidates for the curve of a tail.
var (
	growths = []float64{0, 0.2, 0.4, 0.7, 1, 1.5, 2, 3}
	rates   = geometric(1.1, 300, 48)
)

const (
	misfit    = 0.15 // the relative deviation of a bin from the curve that is no surprise
	evidence  = 9    // by how much an end of the values must improve the fit
	mostWorse = 12   // by how much the fit of a curve may be worse than that of the best one
)

func geometric(low, high float64, n int) (out []float64) {
	for i := range n {
		out = append(out, low*math.Pow(high/low, float64(i)/float64(n-1)))
	}
	return out
}

// law is what noisy counts say of a tail: curves, each with the weight that its fit gives it.
type law []weighted

type weighted struct {
	curve
	weight float64
}

// at returns the weighted mean of the curves at the distance d, where they are 1 at the distance from.
func (l law) at(d, from float64) (sum float64) {
	for _, c := range l {
		if one := c.at(from); one > 0 {
			sum += c.weight * c.at(d) / one
		}
	}
	return sum
}

// rate returns the weighted mean of the exponents of the powers at which the curves fall at the distance d.
func (l law) rate(d float64) (sum float64) {
	for _, c := range l {
		sum += c.weight * c.rate * math.Pow(d/c.from, c.growth)
	}
	return sum
}

// fitted returns the law of noisy counts. The weight of a curve falls with its weighted sum of squares, as the density
// of a normal distribution does. A curve for which no multiple fits much worse than the best one has hardly any weight.
// Bin i is between the distances i and i+1, and the last one is endless. All distances are above 0. ends are the
// distances at which values may end.
//
// The bins of few units have the weight of the noise. Those of many have that of the misfit of a curve. So the empty
// bins beyond the last visible one have as much to say as those before.
func fitted(distances, counts []float64, sigma float64, ends []float64) (out law) {
	weights := make([]float64, len(counts))
	for i, c := range counts {
		c = math.Max(c, 0)
		weights[i] = 1 / (sigma*sigma + c + misfit*misfit*c*c)
	}
	least, left := math.Inf(1), make([]float64, len(distances)+1)
	add := func(c curve, badness float64) {
		least = math.Min(least, badness)
		out = append(out, weighted{c, badness})
	}
	for _, g := range growths {
		for _, r := range rates {
			c := curve{distances[0], r, g, math.Inf(1)}
			for i, d := range distances {
				left[i] = c.endless(d)
			}
			add(c, badness(left, 0, counts, weights))
			for _, end := range ends {
				add(curve{distances[0], r, g, end}, evidence+badness(left, c.endless(end), counts, weights))
			}
		}
	}
	sum := 0.0
	out = slices.DeleteFunc(out, func(c weighted) bool { return !(c.weight < least+mostWorse) })
	for i, c := range out {
		out[i].weight = math.Exp((least - c.weight) / 2)
		sum += out[i].weight
	}
	for i := range out {
		out[i].weight /= sum
	}
	return out
}

// badness returns the weighted sum of squares of the differences between counts and the best multiple of a curve. left
// is the endless curve at the ends of the bins, and cut is its value at the end of the values.
func badness(left []float64, cut float64, counts, weights []float64) float64 {
	var cross, square, own float64
	for i, n := range counts {
		part := math.Max(left[i]-cut, 0) - math.Max(left[i+1]-cut, 0)
		cross += weights[i] * part * n
		square += weights[i] * part * part
		own += weights[i] * n * n
	}
	if square == 0 || cross <= 0 {
		return math.Inf(1)
	}
	return own - cross*cross/square
}
