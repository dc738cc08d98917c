// Package coin realises the probabilities of local randomizers, without floats. The probabilities are multiples of
// 2⁻¹²⁸, so a few random bytes decide each toss exactly.
package coin

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/privacy"
)

// bits is the number of binary digits of a coin's probability.
const bits = 128

// precision is the precision of intervals that are rounded to coins, in bits. Its error is negligible beside 2⁻¹²⁸.
const precision = 320

// Coin is a coin that shows heads with a probability in (0, 1) that is a multiple of 2⁻¹²⁸. It is immutable.
type Coin struct {
	digits [bits / 8]byte // of the probability, the most significant byte first
}

// Of returns the coin with the probability p. It panics unless p is in (0, 1) and a multiple of 2⁻¹²⁸: callers
// compute p from constants.
func Of(p *big.Rat) Coin {
	scaled := new(big.Rat).Mul(p, scale)
	if !scaled.IsInt() || p.Sign() <= 0 || p.Cmp(one) >= 0 {
		panic("coin: a probability is not between 0 and 1, or is no multiple of 2^-128")
	}
	return ofInt(scaled.Num())
}

// Up returns the coin whose probability is the least multiple of 2⁻¹²⁸ that is not below p, which lies in (0, 1). The
// coin of an interval is the coin of its upper end.
func Up(p exact.Interval) Coin {
	r, _ := p.Hi().Rat(nil)
	return Of(new(big.Rat).Quo(new(big.Rat).SetInt(exact.CeilRat(r.Mul(r, scale))), scale))
}

// Down returns the coin whose probability is the greatest multiple of 2⁻¹²⁸ that is not above p. The coin of an
// interval is the coin of its lower end.
func Down(p exact.Interval) Coin {
	r, _ := p.Lo().Rat(nil)
	return Of(new(big.Rat).Quo(new(big.Rat).SetInt(exact.FloorRat(r.Mul(r, scale))), scale))
}

var (
	one   = big.NewRat(1, 1)
	scale = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
)

func ofInt(n *big.Int) (c Coin) {
	n.FillBytes(c.digits[:])
	return c
}

// Rat returns the probability of heads, exactly.
func (c Coin) Rat() *big.Rat {
	return new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).SetBytes(c.digits[:])), scale)
}

// Tails returns 1 − Rat.
func (c Coin) Tails() *big.Rat { p := c.Rat(); return p.Sub(one, p) }

// Toss returns true with the probability of heads, exactly: a uniform number u of 128 bits is below 2¹²⁸·p with
// probability p. The bytes of u are drawn from the most significant one, and only until one differs from the byte of
// p. So most tosses take one byte.
func (c Coin) Toss(src *entropy.Source) bool {
	for _, digit := range c.digits {
		if b := byte(src.Bits(8)); b != digit {
			return b < digit
		}
	}
	return false
}

// Chooser makes the random choices of a randomizer. Random is the only one outside of tests. Tests enumerate the
// choices of the same code, to compute the exact law of its reports.
type Chooser interface {
	Toss(Coin) bool        // true with the coin's probability
	Below(n uint64) uint64 // uniform in [0, n), for n ≥ 1
}

// Random chooses with the bits of a source.
type Random struct{ Source *entropy.Source }

// Toss implements Chooser.
func (r Random) Toss(c Coin) bool { return c.Toss(r.Source) }

// Below implements Chooser.
func (r Random) Below(n uint64) uint64 { return r.Source.Below64(n) }

// Whole returns the integer n as an interval.
func Whole(n uint64) exact.Interval {
	return exact.IntervalOf(new(big.Rat).SetInt(new(big.Int).SetUint64(n)), precision)
}

// Exp returns an interval around e^(ε·num/den).
func Exp(e privacy.Epsilon, num, den int64) exact.Interval {
	r := e.Rat()
	return exact.IntervalOf(r.Mul(r, big.NewRat(num, den)), precision).Exp()
}

// Floor returns the greatest integer that is not above the lower end of p, which is from 0 to below 2⁶⁴. Parameters of
// mechanisms are computed with it: other processors and other clients compute the same, because it has no floats.
func Floor(p exact.Interval) uint64 {
	r, _ := p.Lo().Rat(nil)
	return exact.FloorRat(r).Uint64()
}

// Round returns the integer nearest to p, as [Floor] does.
func Round(p exact.Interval) uint64 {
	return Floor(p.Add(exact.IntervalOf(big.NewRat(1, 2), precision)))
}

// Limits on the ε of local randomizers. Beyond them, 128 bits do not represent its probabilities closely enough for
// an exact ε within 10⁻⁹ of the declared one.
const (
	MaxEpsilon = 40
	MinDigits  = 6 // ε is at least 10⁻⁶
)

// Check returns an error of the given kind if ε is beyond the limits.
func Check(e privacy.Epsilon, kind error) error {
	r := e.Rat()
	switch {
	case r.Cmp(big.NewRat(MaxEpsilon, 1)) > 0:
		return fmt.Errorf(
			"%w: the ε of a local randomizer is at most %d: above it, a report hides nothing",
			kind,
			MaxEpsilon,
		)
	case r.Cmp(exact.DecimalStep(MinDigits)) < 0:
		return fmt.Errorf("%w: the ε of a local randomizer is at least 1e-%d", kind, MinDigits)
	case r.Denom().BitLen() > 256:
		return fmt.Errorf("%w: the ε has too many digits", kind)
	}
	return nil
}

// Near returns the coin whose probability is the greatest multiple of 2⁻¹²⁸ that is at most p, for p in [0, 1). ok is
// false if that is 0.
func Near(p *big.Rat) (c Coin, ok bool) {
	n := exact.FloorRat(new(big.Rat).Mul(p, scale))
	if n.Sign() <= 0 || n.BitLen() > bits {
		return c, false
	}
	return ofInt(n), true
}
