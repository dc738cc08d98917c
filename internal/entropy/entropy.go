// Package entropy provides random bits: from the operating system's generator or, for replay, from a recording.
//
// It is the only importer of crypto/rand, whose Read never returns an error. Since Go 1.24, the program crashes if
// the operating system provides no randomness. So no answer can be returned without its noise. The package is
// internal, so that no other module can supply weak noise. No flag, setting or build tag replaces a System source.
// (The variable rand.Reader of crypto/rand can be changed by any code in the program. In this module only tests
// that replay draws change it.)
package entropy

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"math/big"
	"math/bits"
)

// blockSize is the number of bytes that a System source reads at a time. The first block is shorter, since many
// sources serve a single draw.
const (
	firstBlock = 256
	blockSize  = 4096
)

// Source provides independent, uniformly distributed bits: from the operating system, or from a recording.
//
// A Source is not safe for concurrent use, and must not be copied: two copies would return the same bits (go vet
// reports it).
//
// If buffered bytes survived a fork or a restored machine image, two processes could draw the same noise. A Go
// program cannot fork without exec, which discards the buffer. Three facts limit the risk of images. A System
// source is created for each answer, after the answer's reservation is durable. It is never kept for another
// answer. It is wiped when the answer's noise is drawn. The operating system's own generator learns of a restored
// image if the hypervisor supports it (vmgenid). The remaining risk is an image that is taken within the
// microseconds of one answer.
type Source struct {
	_        noCopy
	buffer   []byte // the unread bytes are buffer[next:]
	next     int
	consumed int64
	recorded bool
}

// noCopy makes go vet report copies of a Source.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// System returns a new source of the operating system's randomness.
func System() *Source { return new(Source) }

// Recorded returns a source that returns the bits of recording in order, and then panics with ErrExhausted. It
// copies the recording. It is for golden tests and replay audits; Replay turns the panic into an error.
func Recorded(recording []byte) *Source {
	return &Source{buffer: append([]byte(nil), recording...), recorded: true}
}

// ErrExhausted is the panic value when a source reads beyond the end of its recording. A sampler cannot continue
// without its bits, and must not return a value.
var ErrExhausted = errors.New("entropy: the recording is exhausted")

// Replay runs f on a recording, and returns ErrExhausted if f reads beyond its end.
func Replay(recording []byte, f func(*Source)) (err error) {
	defer func() {
		if r := recover(); r == ErrExhausted { //nolint:errorlint // take panics with exactly this value
			err = ErrExhausted
		} else if r != nil {
			panic(r)
		}
	}()
	f(Recorded(recording))
	return nil
}

// Consumed returns the number of bytes returned so far.
func (s *Source) Consumed() int64 { return s.consumed }

// Wipe overwrites the whole buffer. A System source may be used again, and reads fresh bytes. A recorded source is
// then exhausted.
func (s *Source) Wipe() {
	clear(s.buffer)
	s.next = len(s.buffer)
}

// take returns the next n ≤ firstBlock bytes, which are valid until the next call. If a System source's buffer has
// fewer bytes, take drops them.
func (s *Source) take(n int) []byte {
	if len(s.buffer)-s.next < n {
		s.fill()
		if len(s.buffer)-s.next < n {
			panic(ErrExhausted)
		}
	}
	b := s.buffer[s.next : s.next+n]
	s.next += n
	s.consumed += int64(n)
	return b
}

// fill replaces the buffer of a System source with fresh bytes.
func (s *Source) fill() {
	switch {
	case s.recorded:
		return
	case s.buffer == nil:
		s.buffer = make([]byte, firstBlock)
	case len(s.buffer) < blockSize:
		clear(s.buffer)
		s.buffer = make([]byte, blockSize)
	}
	_, _ = rand.Read(s.buffer) // fills the buffer, or crashes the program
	s.next = 0
}

// Uint64 returns 64 uniform bits.
func (s *Source) Uint64() uint64 {
	if len(s.buffer)-s.next < 8 {
		return binary.LittleEndian.Uint64(s.take(8))
	}
	v := binary.LittleEndian.Uint64(s.buffer[s.next:])
	s.next += 8
	s.consumed += 8
	return v
}

// Bits returns n ≤ 64 uniform bits as an integer. It consumes whole bytes. It panics if n is negative or more than
// 64.
func (s *Source) Bits(n int) uint64 {
	if n < 0 || n > 64 {
		panic("entropy: Bits of no 0…64 bits")
	}
	size := (n + 7) / 8
	if len(s.buffer)-s.next >= 8 { // the buffer holds a whole word, so one load replaces a load for each byte
		v := binary.LittleEndian.Uint64(s.buffer[s.next:])
		s.next += size
		s.consumed += int64(size)
		return v & (1<<n - 1) // for n = 64, 1<<n is 0 in Go, and 0 − 1 has all bits set
	}
	var v uint64
	for i, b := range s.take(size) {
		v |= uint64(b) << (8 * i)
	}
	return v & (1<<n - 1)
}

// Digits returns n ≤ 64 uniform bits as Bits does. It takes its bytes one by one, as Below does: where a System source's
// buffer ends within them, Bits drops the bytes before, and Digits does not.
func (s *Source) Digits(n int) uint64 {
	if len(s.buffer)-s.next >= 8 {
		return s.Bits(n)
	}
	var v uint64
	for i := 0; i < n; i += 8 {
		v |= uint64(s.take(1)[0]) << i
	}
	return v & (1<<n - 1)
}

// Below64 returns a uniform integer in [0, n), by rejection: at most two draws on average. It panics if n is 0.
func (s *Source) Below64(n uint64) uint64 {
	if n == 0 {
		panic("entropy: Below64(0)")
	}
	width := bits.Len64(n - 1)
	for {
		if v := s.Bits(width); v < n {
			return v
		}
	}
}

// Below returns a uniform integer in [0, n), by rejection: at most two draws on average. If n fits in 64 bits, it
// consumes the same bytes as Below64 and returns the same integer. It panics if n ≤ 0.
func (s *Source) Below(n *big.Int) *big.Int {
	if n.Sign() <= 0 {
		panic("entropy: Below of no positive integer")
	}
	v := new(big.Int).Sub(n, big.NewInt(1))
	width := v.BitLen()
	raw := make([]byte, (width+7)/8)
	for {
		for i := range raw {
			raw[len(raw)-1-i] = s.take(1)[0] // the first byte is the least significant, as in Bits
		}
		if len(raw) > 0 {
			raw[0] &= 0xff >> (8*len(raw) - width)
		}
		if v.SetBytes(raw).Cmp(n) < 0 {
			clear(raw)
			return v
		}
	}
}
