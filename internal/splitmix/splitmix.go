// Package splitmix implements the pseudorandom generator SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014): a counter with an odd step, whose values are mixed. It makes up
// people, questions, and the noise of simulated curators that keep no promise. The same seed always gives the same
// numbers. The generator is predictable: from one output, anybody can compute all others. So it must never produce
// noise that protects anybody.
//
// The project has its own implementation for two reasons. No release of Go can change its numbers. And the project
// can ban math/rand, so that no predictable generator is used for protective noise by mistake.
package splitmix

import "math/bits"

// Step is the step of the counter: 2⁶⁴/φ, rounded to an odd number.
const Step = 0x9e3779b97f4a7c15

// Stream is a sequence of pseudorandom words. All streams are sections of one sequence of 2⁶⁴ words.
type Stream struct{ state uint64 }

// At returns the stream that begins after the given state of the counter. To get streams that begin at scattered
// states, take states from [Mix].
func At(state uint64) Stream { return Stream{state} }

// Mix returns a scrambled word. It is a bijection that maps neighbouring words to distant ones.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Word returns the next word.
func (s *Stream) Word() uint64 {
	s.state += Step
	return Mix(s.state)
}

// Below returns a number that is uniform in 0 … n−1, for n ≥ 1, up to a bias of at most n/2⁶⁴. That is negligible
// for made-up data.
func (s *Stream) Below(n int) int {
	high, _ := bits.Mul64(s.Word(), uint64(n))
	return int(high)
}
