// Package splitmix is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014): a counter with an odd step, whose values are mixed. It makes up people, questions, and the noise of simulated
// curators that promise nothing, always the same from the same seed. It is written out here, in three lines, for two
// reasons: no release of Go can change the numbers, and math/rand can stay banned, so that no predictable generator
// makes noise that protects anybody. Anybody who sees an output can compute all others.
package splitmix

import "math/bits"

// Step is 2⁶⁴ / φ, made odd: the step of the counter.
const Step = 0x9e3779b97f4a7c15

// Stream is a sequence of pseudorandom words. Streams are windows of one sequence of 2⁶⁴ words.
type Stream struct{ state uint64 }

// At is the stream that begins after a state of the counter. States from Mix begin at scattered places.
func At(state uint64) Stream { return Stream{state} }

// Mix is a bijection of the words that scatters neighbours.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Word is the next word.
func (s *Stream) Word() uint64 {
	s.state += Step
	return Mix(s.state)
}

// Below is uniform in 0 … n-1, for n ≥ 1, but for a bias of at most n / 2⁶⁴, which nothing made up shows.
func (s *Stream) Below(n int) int {
	high, _ := bits.Mul64(s.Word(), uint64(n))
	return int(high)
}
