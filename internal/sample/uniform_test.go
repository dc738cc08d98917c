package sample_test

import (
	"encoding/binary"
	"errors"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/internal/stattest"
)

// constant is a rational as a real number.
func constant(r *big.Rat) sample.Real {
	return func(bits uint) exact.Interval { return exact.IntervalOf(r, bits) }
}

func blocks(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// TestUniformBelow goes through the digits of 1/3, 0.0101…, in the first, the second and the third block, and around
// the digits of 1/2 and of 1, which have two expansions.
func TestUniformBelow(t *testing.T) {
	const third = 0x5555555555555555
	for _, c := range []struct {
		p      *big.Rat
		words  []uint64
		below  bool
		blocks int64
	}{
		{ratio(1, 3), []uint64{third - 1}, true, 1},
		{ratio(1, 3), []uint64{third + 1}, false, 1},
		{ratio(1, 3), []uint64{third, third - 1}, true, 2},
		{ratio(1, 3), []uint64{third, third + 1}, false, 2},
		{ratio(1, 3), []uint64{third, third, third, 0}, true, 4},
		{ratio(1, 3), []uint64{third, third, third, 1 << 63}, false, 4},
		{ratio(1, 2), []uint64{1<<63 - 1}, true, 1},
		{ratio(1, 2), []uint64{1 << 63}, false, 1},
		{ratio(0, 1), []uint64{0}, false, 1},
		{ratio(1, 1), []uint64{1<<64 - 1}, true, 1},
		{ratio(-1, 2), []uint64{0}, false, 1},
		{ratio(3, 2), []uint64{1<<64 - 1}, true, 1},
		{shifted(1, 0, new(big.Int).Lsh(big.NewInt(1), 100)), []uint64{0, 1<<28 - 1}, true, 2},
		{shifted(1, 0, new(big.Int).Lsh(big.NewInt(1), 100)), []uint64{0, 1 << 28}, false, 2},
	} {
		for name, decide := range map[string]func(*entropy.Source) bool{
			"Below":     func(src *entropy.Source) bool { u := sample.Uniform{}; return u.Below(src, constant(c.p)) },
			"Bernoulli": func(src *entropy.Source) bool { return sample.NewBernoulli(constant(c.p)).Draw(src) },
		} {
			source := entropy.Recorded(blocks(c.words...))
			if got := decide(source); got != c.below || source.Consumed() != 8*c.blocks {
				t.Errorf("%s of %s on %x: %v after %d bytes", name, c.p, c.words, got, source.Consumed())
			}
		}
	}
	err := entropy.Replay(blocks(third, third), func(src *entropy.Source) {
		u := sample.Uniform{}
		u.Below(src, constant(ratio(1, 3)))
	})
	if !errors.Is(err, entropy.ErrExhausted) {
		t.Errorf("the digits of 1/3 alone decided: %v", err)
	}
}

// TestUniformWaitsForNarrowIntervals gives the digits of 1/3 ± 2⁻⁶ at a p that is first known to be from ¼ to ½
// only.
func TestUniformWaitsForNarrowIntervals(t *testing.T) {
	const third = 0x5555555555555555
	vague := func(bits uint) exact.Interval {
		if bits < 200 {
			return exact.Hull(exact.IntervalOf(ratio(1, 4), bits), exact.IntervalOf(ratio(1, 2), bits))
		}
		return exact.IntervalOf(ratio(1, 3), bits)
	}
	for first, below := range map[uint64]bool{third - 1<<58: true, third + 1<<58: false} {
		source, u := entropy.Recorded(blocks(first, 0, 0)), sample.Uniform{}
		if u.Below(source, vague) != below || source.Consumed() != 16 {
			t.Errorf("%x: not %v after %d bytes", first, below, source.Consumed())
		}
		source = entropy.Recorded(blocks(first, 0, 0))
		if sample.NewBernoulli(vague).Draw(source) != below || source.Consumed() != 16 {
			t.Errorf("%x: not %v after %d bytes", first, below, source.Consumed())
		}
	}
}

// TestUniformIsOneNumber: two decisions on one number agree, since digits stay.
func TestUniformIsOneNumber(t *testing.T) {
	source := entropy.System()
	for range 2000 {
		u := sample.Uniform{}
		first := u.First(source)
		a := u.Below(source, constant(ratio(1, 3)))
		if b := u.Below(source, constant(ratio(1, 2))); a && !b || first != u.First(source) ||
			a != u.Below(source, constant(ratio(1, 3))) {
			t.Fatal("a number is below 1/3 and not below 1/2, or changed")
		}
	}
}

func TestBernoulliDistribution(t *testing.T) {
	source := entropy.System()
	for _, p := range []*big.Rat{ratio(1, 3), ratio(1, 1000), ratio(999, 1000)} {
		b, trues := sample.NewBernoulli(constant(p)), 0
		for range draws() / 5 {
			if b.Draw(source) {
				trues++
			}
		}
		f, _ := p.Float64()
		of := stattest.Binomial{Trials: draws() / 5, Probability: f}
		if err := (stattest.Proportion{Successes: trues, Of: of, FalseAlarm: falseAlarm}).Check(); err != nil {
			t.Error(err)
		}
	}
}
