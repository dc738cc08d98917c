package estimate

import (
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/noise"
)

// Intervals by simulation. Released numbers T̂ are exact ones T with noise of a known law that is symmetric about 0,
// so T̂ with other noise of that law stands about T̂ as T̂ does about T, and what is computed from such draws
// spreads about the estimate as the estimate does about the truth, as far as it is linear over the noise's size. The
// interval is between the draws' quantiles. For a population's parameter each draw is moved further by the error of
// sampling, of the size that the draw itself tells.
//
// All of it is computed from what was released, with a generator that anybody can foretell: the same release has the
// same intervals.

// drawsFor is how many draws an interval rests on: of 95 % its ends are where 2.5 % ± 0.16 % of the law lie beyond.
func drawsFor(alpha float64) int { return int(math.Min(math.Max(10_000, 100/alpha), 100_000)) }

// noiseLaw is the law of a number's noise, in the number's unit.
type noiseLaw struct {
	deviation float64
	laplace   bool
}

// noiseLawOf is that of a released vector. Its integers are so fine that their law and its continuous form are the same
// for an interval: a discrete Laplace of scale t has the variance of a continuous one of about t, and likewise the
// Gaussian.
func noiseLawOf(d noise.Distribution, unit *big.Rat) noiseLaw {
	u, _ := unit.Float64()
	_, laplace := d.(noise.DiscreteLaplace)
	return noiseLaw{d.StdDev() * u, laplace}
}

// simulator draws noise.
type simulator struct{ stream splitmix.Stream }

func newSimulator() *simulator { return &simulator{splitmix.At(splitmix.Mix(0x6573_7469_6d61_7465))} }

// uniform is in (0, 1), at the middle of one of 2^53 parts.
func (s *simulator) uniform() float64 { return (float64(s.stream.Word()>>11) + 0.5) / (1 << 53) }

// normal is a standard normal variable.
func (s *simulator) normal() float64 { return math.Sqrt2 * math.Erfinv(2*s.uniform()-1) }

// noise is drawn from a law.
func (s *simulator) noise(l noiseLaw) float64 {
	if !l.laplace {
		return l.deviation * s.normal()
	}
	u := s.uniform() - 0.5
	return -math.Copysign(math.Log1p(-2*math.Abs(u)), u) * l.deviation / math.Sqrt2
}

// vectorSums are released sums of one cell, in the coordinates' own units: of symmetric products the full matrix.
type vectorSums struct {
	count    float64
	first    [][]float64   // by block
	products [][][]float64 // by number of the product sum: a matrix

	law vectorLaw
}

// vectorLaw is the law of all of their noise.
type vectorLaw struct {
	count         noiseLaw
	first         []noiseLaw
	products, off []noiseLaw // off the diagonal
}

// sumsOfCell reads a cell of a release: a count, then the first moments of blocks in their order, then products.
func sumsOfCell(m *curator.Moments, v curator.Vectors, cell int) (out vectorSums) {
	for i, s := range v.Sums {
		noisy := m.Sums[i]
		law := noiseLawOf(noisy.Noise, noisy.Unit)
		values := make([]float64, len(noisy.Values[cell]))
		for j, x := range noisy.Values[cell] {
			values[j], _ = new(big.Rat).Mul(new(big.Rat).SetInt(x), noisy.Unit).Float64()
		}
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

// matrixOf puts a product's entries in their places.
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

// room is where drawn puts what it draws.
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

// drawn puts the sums with other noise into out; symmetric tells which products have one noise for two entries.
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

// estimated is a value with the interval of its draws, within what is possible. An interval always holds its value.
//
// Where a value is beyond what is possible, and is told as the nearest that is, its interval begins there as long as it
// was: what is left of the interval would be short, or a point, the more so the farther off noise has moved the value.
// It holds whatever the other did.
func fromDraws(name string, keys []any, value float64, draws *spread, least, most float64) Value {
	out := Value{Keys: keys, Name: name}
	deviation, low, high := draws.interval()
	clamp := func(x float64) float64 { return math.Min(math.Max(x, least), most) }
	if !math.IsNaN(value) {
		moved := clamp(value) - value
		low, high, value = math.Min(low, low+moved), math.Max(high, high+moved), clamp(value)
		low, high = math.Min(low, value), math.Max(high, value)
		if out.Value = numberOf(value); !math.IsNaN(deviation) {
			out.StdError = &deviation
		}
	} else {
		low, high = math.Inf(-1), math.Inf(1) // nothing is known of it
	}
	out.Low, out.High = numberOf(clamp(low)), numberOf(clamp(high))
	return out
}
