package sample

import (
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// order is the result of comparing the times of two runners.
type order int8

const (
	open order = iota // not decided
	ahead
	behind
)

// compare returns ahead if x's time is less than y's, otherwise behind.
func (r *Race) compare(x, y *runner) order {
	if o := r.surely(x, y); o != open && !r.exactly {
		return o
	}
	for _, z := range []*runner{x, y} {
		if z.digits == nil {
			z.digits = new(big.Int).SetUint64(z.word)
		}
	}
	for bits := 2 * min(x.known, y.known); ; bits *= 2 {
		if o := r.closely(x, y, bits); o != open {
			return o
		}
		x.reveal(r.src, bits)
		y.reveal(r.src, bits)
	}
}

// surely compares x and y in floats. With G, c and s of [Race], x is ahead if the upper bound of G_x minus the
// lower bound of G_y is below c·(s_x − s_y).
func (r *Race) surely(x, y *runner) order {
	gainDown, gainUp := r.gain(x, y)
	switch {
	case exact.SubUp(x.late, y.early) < gainDown:
		return ahead
	case exact.SubDown(x.early, y.late) > gainUp:
		return behind
	}
	return open
}

// gain returns bounds on c·(s_x − s_y), the rate times the difference of the scores.
func (r *Race) gain(x, y *runner) (down, up float64) {
	if x.bigScore == nil && y.bigScore == nil {
		if d, err := exact.Sub(x.score, y.score); err == nil {
			return r.scaled(floatBounds(d))
		}
	}
	d := new(big.Rat).SetInt(difference(x, y))
	return r.scaled(exact.FloatDown(d), exact.FloatUp(d))
}

// floatBounds returns float bounds on an integer, with its sign.
func floatBounds(d int64) (down, up float64) {
	f := float64(d)
	if d > -1<<53 && d < 1<<53 {
		return f, f
	}
	return math.Nextafter(f, math.Inf(-1)), math.Nextafter(f, math.Inf(1))
}

// scaled returns bounds on c·d, where c is the rate, given bounds on d that have the sign of d.
func (r *Race) scaled(down, up float64) (lower, upper float64) {
	switch {
	case down == 0 || r.up == 0:
		return 0, 0
	case down > 0:
		return exact.MulDown(r.down, down), exact.MulUp(r.up, up)
	}
	return exact.MulDown(r.up, down), exact.MulUp(r.down, up)
}

func difference(x, y *runner) *big.Int { return new(big.Int).Sub(x.exactScore(), y.exactScore()) }

func (x *runner) exactScore() *big.Int {
	if x.bigScore != nil {
		return x.bigScore
	}
	return big.NewInt(x.score)
}

func (x *runner) exactWeight() *big.Int {
	if x.bigWeight != nil {
		return x.bigWeight
	}
	return new(big.Int).SetUint64(x.weight)
}

// weightBounds returns float bounds on w.
func weightBounds(w uint64) (down, up float64) {
	if f := float64(w); w > 1<<53 {
		return math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1))
	}
	return float64(w), float64(w)
}

// reveal draws binary digits of the runner's U until at least the given number of them is known.
func (x *runner) reveal(src *entropy.Source, many uint) {
	for ; x.known < many; x.known += 64 {
		x.digits.Lsh(x.digits, 64).Or(x.digits, new(big.Int).SetUint64(src.Uint64()))
	}
}

// closely compares x and y by their known digits, with intervals of the given precision.
func (r *Race) closely(x, y *runner, bits uint) order {
	rise := new(big.Rat).SetInt(difference(x, y))
	gain := exact.IntervalOf(rise.Mul(rise, r.rate), bits)
	before := func(a, b *runner) (exact.Interval, bool) { // an upper bound of G of a, minus a lower bound of G of b
		if a.digits.Sign() == 0 || b.above().BitLen() > int(b.known) {
			return exact.Interval{}, false // ln E has no finite bound yet
		}
		return a.logTime(a.digits, bits).Sub(b.logTime(b.above(), bits)), true
	}
	if d, ok := before(x, y); ok && d.Sub(gain).Hi().Sign() < 0 {
		return ahead
	}
	if d, ok := before(y, x); ok && d.Add(gain).Hi().Sign() < 0 {
		return behind
	}
	return open
}

// above returns digits + 1. With n known digits, U lies between digits/2ⁿ and above/2ⁿ.
func (x *runner) above() *big.Int { return new(big.Int).Add(x.digits, bigOne) }

// logTime returns an interval around G = ln(−ln(u)/w) at u = m/2ⁿ, 0 < u < 1, where n is the number of known
// digits. It uses −ln u = ln(1 + (2ⁿ − m)/m), which is precise for small values.
func (x *runner) logTime(m *big.Int, bits uint) exact.Interval {
	rest := new(big.Int).Lsh(bigOne, x.known)
	ratio := new(big.Rat).SetFrac(rest.Sub(rest, m), m)
	weight := exact.IntervalOf(new(big.Rat).SetInt(x.exactWeight()), bits)
	return logOf(exact.IntervalOf(ratio, bits).Log1p()).Sub(logOf(weight))
}

// logOf returns ln x for x > 0, as ln(1 + (2ᵏx − 1)) − k·ln 2 with the least k ≥ 0 for which 2ᵏx ≥ 1.
func logOf(x exact.Interval) exact.Interval {
	low := x.Lo()
	bits := low.Prec()
	k := max(0, 1-low.MantExp(nil))
	point := func(f *big.Float) exact.Interval { return exact.PointOf(f, bits) }
	one := point(big.NewFloat(1))
	scaled := x.Mul(point(new(big.Float).SetMantExp(big.NewFloat(1), k)))
	return scaled.Sub(one).Log1p().Sub(one.Log1p().Mul(point(new(big.Float).SetInt64(int64(k)))))
}
