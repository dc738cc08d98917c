package town

import "dither/internal/splitmix"

// stream is a sequence of pseudorandom words. From one output, all others can be computed, so it is not for noise.
type stream struct{ splitmix.Stream }

// purpose identifies the table for which numbers are drawn, so that the draws of the two tables differ.
type purpose uint64

const (
	forPerson purpose = iota + 1
	forVisits
)

// newStream returns the stream of one person for one purpose.
func newStream(seed uint64, id int64, p purpose) *stream {
	return &stream{
		splitmix.At(splitmix.Mix(splitmix.Mix(splitmix.Mix(seed)+uint64(p)*splitmix.Step) + uint64(id)*splitmix.Step)),
	}
}

// chance returns true with probability p/1000.
func (s *stream) chance(p int) bool { return s.Below(1000) < p }

// pick returns a random index of weights, with probability proportional to the weight. Weights must not be
// negative, and at least one must be positive.
func (s *stream) pick(weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := s.Below(total)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1 // not reached, because the weights add up to total
}

// one is 2¹⁶. It is the standard deviation of [stream.normal], and the unit of the exponents of [scale].
const one = 1 << 16

// normal returns an approximately normal number with mean 0 and standard deviation [one]. It is the sum of twelve
// uniform 16-bit numbers minus its mean (Irwin and Hall), so it lies within six standard deviations.
func (s *stream) normal() int64 {
	sum := int64(-6 * (one - 1))
	for range 3 {
		w := s.Word()
		sum += int64(w&0xffff + w>>16&0xffff + w>>32&0xffff + w>>48)
	}
	return sum
}

// roots are 2^(1/2), 2^(1/4), 2^(1/8), …, rounded to integers in units of 2⁻³¹.
var roots = [16]uint64{
	3037000500, 2553802834, 2341847524, 2242560872, 2194507417, 2170868212, 2159144272, 2153306067,
	2150392887, 2148937775, 2148210589, 2147847087, 2147665360, 2147574502, 2147529075, 2147506361,
}

// scale returns approximately x · 2^(exponent/one). It requires 0 ≤ x < 2³¹, an exponent within ±16·one, and a
// result below 2⁶².
func scale(x, exponent int64) int64 {
	m := uint64(1) << 31
	for i, r := range roots {
		if exponent>>(15-i)&1 == 1 {
			m = m * r >> 31 // both factors are below 2³²
		}
	}
	y := int64(uint64(x) * m >> 31)
	whole := exponent >> 16
	if whole < 0 {
		return y >> -whole
	}
	return y << whole
}

// logNormal draws from a log-normal distribution with the given median. One standard deviation multiplies or
// divides the median by 2^(doublings/100).
func (s *stream) logNormal(median, doublings int64) int64 {
	return scale(median, s.normal()*doublings/100)
}
