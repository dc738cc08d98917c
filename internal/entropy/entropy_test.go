package entropy_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
	"dither/internal/stattest"
)

const falseAlarm = 1e-6

func TestRecordedGivesItsBytes(t *testing.T) {
	s := entropy.Recorded([]byte{1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0x34, 0x12, 0x09})
	if v := s.Uint64(); v != 0x0807060504030201 {
		t.Errorf("Uint64 gave %#x", v)
	}
	if v := s.Bits(3); v != 7 {
		t.Errorf("Bits(3) gave %d", v)
	}
	if v := s.Bits(12); v != 0x234 {
		t.Errorf("Bits(12) gave %#x", v)
	}
	if v := s.Bits(0); v != 0 {
		t.Errorf("Bits(0) gave %d", v)
	}
	if v := s.Below64(1); v != 0 {
		t.Errorf("Below64(1) gave %d", v)
	}
	if n := s.Consumed(); n != 11 {
		t.Errorf("%d bytes were consumed, want 11", n)
	}
	if v := s.Below64(10); v != 9 {
		t.Errorf("Below64(10) gave %d", v)
	}
}

func TestBelowRejectsRatherThanReduces(t *testing.T) {
	s := entropy.Recorded([]byte{0x0f, 0x0a, 0xf3}) // 15 and 10 are not below 10
	if v := s.Below64(10); v != 3 || s.Consumed() != 3 {
		t.Errorf("Below64(10) gave %d from %d bytes", v, s.Consumed())
	}
	s = entropy.Recorded([]byte{0x05, 0xff, 0x02, 0xfe, 0x80}) // of 9 bits, 0x105 is not below 257, 0x002 is
	if v := s.Below(big.NewInt(257)); v.Int64() != 2 || s.Consumed() != 4 {
		t.Errorf("Below(257) gave %s from %d bytes", v, s.Consumed())
	}
	if v := s.Below(big.NewInt(1)); v.Sign() != 0 {
		t.Errorf("Below(1) gave %s", v)
	}
}

func TestBelowAgreesWithBelow64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recording := rapid.SliceOfN(rapid.Byte(), 80, 80).Draw(t, "recording")
		n := rapid.Uint64Min(1).Draw(t, "n")
		var small, large uint64
		a := entropy.Replay(recording, func(s *entropy.Source) { small = s.Below64(n) + uint64(s.Consumed())<<56 })
		b := entropy.Replay(recording, func(s *entropy.Source) {
			large = s.Below(new(big.Int).SetUint64(n)).Uint64() + uint64(s.Consumed())<<56
		})
		if small != large || (a == nil) != (b == nil) {
			t.Fatalf("Below64(%d) gave %x, %v; Below gave %x, %v", n, small, a, large, b)
		}
	})
}

func TestExhaustedRecording(t *testing.T) {
	draws := map[string]func(*entropy.Source){
		"Uint64":  func(s *entropy.Source) { s.Uint64() },
		"Bits":    func(s *entropy.Source) { s.Bits(33) },
		"Below64": func(s *entropy.Source) { s.Below64(1 << 40) },
		"Below":   func(s *entropy.Source) { s.Below(new(big.Int).Lsh(big.NewInt(1), 100)) },
		"wiped":   func(s *entropy.Source) { s.Wipe(); s.Bits(1) },
	}
	for name, draw := range draws {
		if err := entropy.Replay([]byte{1, 2, 3, 4}, draw); !errors.Is(err, entropy.ErrExhausted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := entropy.Replay(make([]byte, 8), func(s *entropy.Source) { s.Uint64() }); err != nil {
		t.Errorf("a recording that suffices: %v", err)
	}
	defer func() {
		if recover() != "another" {
			t.Error("Replay kept a panic that is not its own")
		}
	}()
	_ = entropy.Replay(nil, func(*entropy.Source) { panic("another") })
}

func TestRecordingIsCopied(t *testing.T) {
	recording := bytes.Repeat([]byte{7}, 16)
	s := entropy.Recorded(recording)
	s.Wipe()
	if !bytes.Equal(recording, bytes.Repeat([]byte{7}, 16)) {
		t.Errorf("the caller's recording was changed: %s", hex.EncodeToString(recording))
	}
}

func TestSystemSourcesDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for range 64 {
		s := entropy.System()
		for range 1200 { // beyond both blocks
			seen[s.Uint64()] = true
		}
		s.Wipe()
		seen[s.Uint64()] = true
	}
	if want := 64 * 1201; len(seen) != want { // a collision of 64 bits: 1 in 6·10⁹
		t.Errorf("%d different words, want %d", len(seen), want)
	}
}

func TestUniform(t *testing.T) {
	s := entropy.System()
	for _, n := range []uint64{2, 3, 5, 64, 100, 255, 256, 257, 1000} {
		small, large := make([]int, n), make([]int, n)
		expected := make([]float64, n)
		for i := range expected {
			expected[i] = 1 / float64(n)
		}
		for range 50_000 {
			small[s.Below64(n)]++
			large[s.Below(new(big.Int).SetUint64(n)).Int64()]++
		}
		for name, observed := range map[string][]int{"Below64": small, "Below": large} {
			if err := (stattest.ChiSquared{
				Observed: observed, Expected: expected,
				FalseAlarm: falseAlarm,
			}).Check(); err != nil {
				t.Errorf("%s(%d): %v", name, n, err)
			}
		}
	}
}

// TestWideUniform checks integers just above a power of two, where a reduction in place of a rejection would show.
func TestWideUniform(t *testing.T) {
	s := entropy.System()
	n := new(big.Int).Lsh(big.NewInt(3), 125) // 1.5·2¹²⁶
	sample := make([]float64, 50_000)
	for i := range sample {
		v := s.Below(n)
		if v.Sign() < 0 || v.Cmp(n) >= 0 {
			t.Fatalf("%s is not below %s", v, n)
		}
		sample[i], _ = new(big.Rat).SetFrac(v, n).Float64()
	}
	uniform := func(x float64) float64 { return x }
	if err := (stattest.Kolmogorov{Sample: sample, CDF: uniform, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
}

func BenchmarkUint64(b *testing.B) {
	s := entropy.System()
	for b.Loop() {
		s.Uint64()
	}
}

func BenchmarkBelow64(b *testing.B) {
	s := entropy.System()
	for b.Loop() {
		s.Below64(100)
	}
}
