package estimate

import (
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/noise"
)

// Intervals come from simulation. A released number T̂ is an exact number T plus noise of a known distribution that
// is symmetric about 0. A draw is T̂ plus fresh noise of the same distribution, so a draw relates to T̂ as T̂
// relates to T. An estimate computed from draws therefore spreads about the released estimate as that estimate
// spreads about its true value. This holds as far as the estimate is linear over the range of the noise. The
// interval lies between two quantiles of the draws. For a parameter of the population, each draw also gets a random
// sampling error, whose size is estimated from the draw itself.
//
// The simulation uses only releases and a generator with a fixed seed: the same release always has the same
// intervals.

// drawsFor returns the number of draws for an interval with confidence 1 − alpha. At 95 %, the fraction of the
// distribution beyond each end is 2.5 % with a standard error of 0.16 %.
func drawsFor(alpha float64) int { return int(math.Min(math.Max(10_000, 100/alpha), 100_000)) }

// noiseLaw is the distribution of a number's noise: Laplace or Gaussian, with its standard deviation in the
// number's unit.
type noiseLaw struct {
	deviation float64
	laplace   bool
}

// noiseLawOf returns the noise law of a released vector whose integers count multiples of unit. The continuous law
// replaces the discrete one, because the unit is too small to affect an interval. A discrete Laplace distribution
// of scale t has about the variance of a continuous one of scale t, and the Gaussian likewise.
func noiseLawOf(d noise.Distribution, unit *big.Rat) noiseLaw {
	u, _ := unit.Float64()
	_, laplace := d.(noise.DiscreteLaplace)
	return noiseLaw{d.StdDev() * u, laplace}
}

// simulator draws pseudorandom noise from a fixed seed.
type simulator struct{ stream splitmix.Stream }

func newSimulator() *simulator { return &simulator{splitmix.At(splitmix.Mix(0x6573_7469_6d61_7465))} }

// uniform returns a number in (0, 1): the midpoint of one of 2^53 equal parts.
func (s *simulator) uniform() float64 { return (float64(s.stream.Word()>>11) + 0.5) / (1 << 53) }

// normal returns a draw from the standard normal distribution.
func (s *simulator) normal() float64 { return math.Sqrt2 * math.Erfinv(2*s.uniform()-1) }

// noise returns a random draw from the distribution l.
func (s *simulator) noise(l noiseLaw) float64 {
	if !l.laplace {
		return l.deviation * s.normal()
	}
	u := s.uniform() - 0.5
	return -math.Copysign(math.Log1p(-2*math.Abs(u)), u) * l.deviation / math.Sqrt2
}

// vectorSums are the released sums of one cell, in the units of the coordinates. A symmetric product is stored as
// its full matrix.
type vectorSums struct {
	count    float64
	first    [][]float64   // sums of vectors, by block
	products [][][]float64 // sums of products, one matrix each

	law vectorLaw
}

// vectorLaw holds the distributions of the noise on [vectorSums].
type vectorLaw struct {
	count         noiseLaw
	first         []noiseLaw
	products, off []noiseLaw // off is for the entries off the diagonal
}

// sumsOfCell reads the sums of one cell from a release: the count, the first moments of blocks in their order, and
// the products. Without a count, the number of rows is a declared constant.
func sumsOfCell(m *curator.Moments, v curator.Vectors, cell int) (out vectorSums) {
	out.count = float64(m.DeclaredUnits)
	for i, s := range v.Sums {
		noisy := m.Sums[i]
		law := noiseLawOf(noisy.Noise, noisy.Unit)
		values := noisy.Reals(cell)
		switch s.Kind {
		case curator.Count().Kind:
			out.count, out.law.count = values[0], law
		case curator.First(0).Kind:
			out.first, out.law.first = append(out.first, values), append(out.law.first, law)
		default:
			off := law
			if noisy.OffDiagonal != nil {
				off = noiseLawOf(noisy.OffDiagonal, noisy.Unit)
			}
			out.products = append(out.products, matrixOf(values, v.Blocks[s.I].Size, v.Blocks[s.J].Size, s.I == s.J))
			out.law.products, out.law.off = append(out.law.products, law), append(out.law.off, off)
		}
	}
	return out
}

// matrixOf arranges the entries of a product as a matrix. If the matrix is symmetric, the list `values` holds only
// its upper triangle.
func matrixOf(values []float64, rows, columns int, symmetric bool) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	for i := range out {
		for j := range out[i] {
			if symmetric && j < i {
				out[i][j] = out[j][i]
				continue
			}
			out[i][j], values = values[0], values[1:]
		}
	}
	return out
}

// room allocates sums of the same shape, into which [vectorSums.drawn] writes.
func (v *vectorSums) room() *vectorSums {
	out := &vectorSums{law: v.law}
	for _, x := range v.first {
		out.first = append(out.first, make([]float64, len(x)))
	}
	for _, m := range v.products {
		n := make([][]float64, len(m))
		for i := range m {
			n[i] = make([]float64, len(m[i]))
		}
		out.products = append(out.products, n)
	}
	return out
}

// drawn writes the sums plus fresh noise to out. symmetric reports whether a product is symmetric, so that two
// entries share one draw of noise.
func (v *vectorSums) drawn(s *simulator, symmetric func(product int) bool, out *vectorSums) {
	out.count = v.count + s.noise(v.law.count)
	for i, x := range v.first {
		for j := range x {
			out.first[i][j] = x[j] + s.noise(v.law.first[i])
		}
	}
	for p, m := range v.products {
		n, same := out.products[p], symmetric(p)
		for i := range m {
			for j := range m[i] {
				switch {
				case same && j < i:
					n[i][j] = n[j][i]
				case same && j > i:
					n[i][j] = m[i][j] + s.noise(v.law.off[p])
				default:
					n[i][j] = m[i][j] + s.noise(v.law.products[p])
				}
			}
		}
	}
}

// fromDraws returns an estimate with the interval of its draws, as [fromInterval] does.
func fromDraws(name string, keys []any, value float64, draws *spread, least, most float64) Value {
	deviation, low, high := draws.interval()
	return fromInterval(name, keys, value, deviation, low, high, least, most)
}

// fromInterval returns an estimate with its interval, both clamped to the possible range from least to most. An interval
// always contains its value.
//
// If the value lies outside the possible range, it is clamped, and the interval is extended by the same shift.
// Without this extension the interval could shrink to a point when noise moves the value far outside. The extended
// interval contains the original one, so it covers at least as often.
func fromInterval(name string, keys []any, value, deviation, low, high, least, most float64) Value {
	out := Value{Keys: keys, Name: name}
	clamp := func(x float64) float64 { return math.Min(math.Max(x, least), most) }
	if !math.IsNaN(value) {
		moved := clamp(value) - value
		low, high, value = math.Min(low, low+moved), math.Max(high, high+moved), clamp(value)
		low, high = math.Min(low, value), math.Max(high, value)
		if out.Value = numberOf(value); !math.IsNaN(deviation) {
			out.StdError = &deviation
		}
	} else {
		low, high = math.Inf(-1), math.Inf(1) // an undefined value has an unbounded interval
	}
	out.Low, out.High = numberOf(clamp(low)), numberOf(clamp(high))
	return out
}
