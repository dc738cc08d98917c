package attack

import (
	"math"

	"dither/internal/splitmix"
)

// stream makes up people, questions, and the noise of curators that promise nothing, always the same from the same
// seed. It is predictable, so it must never make noise that protects anybody; that noise comes from package mechanism.
type stream struct{ splitmix.Stream }

// newStream is the stream of one part of a simulation: streams of other parts begin at other, scattered places.
func newStream(seed uint64, parts ...uint64) *stream {
	z := splitmix.Mix(seed + splitmix.Step)
	for _, p := range parts {
		z = splitmix.Mix(z + (p+1)*splitmix.Step)
	}
	return &stream{splitmix.At(z)}
}

// bit is true with probability 1/2.
func (s *stream) bit() bool { return s.Word()>>63 == 1 }

// unit is uniform in [0, 1), in steps of 2⁻⁵³.
func (s *stream) unit() float64 { return float64(s.Word()>>11) * 0x1p-53 }

// within is uniform in [-bound, bound).
func (s *stream) within(bound float64) float64 { return (2*s.unit() - 1) * bound }

// threshold is the word below which a stream's word falls with probability p, to within 2⁻⁶⁴, for p in [0, 1).
func threshold(p float64) uint64 { return uint64(math.Ldexp(p, 64)) }
