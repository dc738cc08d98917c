package post

import "math"

// An answer of thousands of groups may have as many quotients. Their intervals need the quantiles of a·X + b·Y for many
// coefficients a and b, but for few noises X and Y. So these quantiles come from a table.

// mostComputed is the number of cells up to which each quantile is computed anew.
const mostComputed = 256

// perOctave is the number of ratios b/a in the table from each power of two to the next.
const perOctave = 64

// ratioed is an entry of the table: times[0] noises with the coefficient 1 and times[1] with the coefficient
// 2^(step/perOctave).
type ratioed struct {
	numbers [2]int
	times   [2]float64
	step    int
}

// tabulated is [laws.reach] of one or two parts that are in order and differ. It is at most 0.9 % larger than the reach that
// computed returns for two parts, and equal up to rounding for one.
//
// Proof. Let Q(a, b) be a bound that |aX + bY| exceeds with probability at most alpha. Then c·Q(a, b) is one for ca and cb,
// and Q(a, b) is one for all smaller coefficients, because the tail grows with each of them. So for s ≤ b/a ≤ t, both
// a·Q(1, t) and (b/s)·Q(1, s) are bounds, since (b/s)·(1, s) has no smaller coefficients than (a, b). Let Q grow like
// (b/a)^g near this ratio, 0 ≤ g ≤ 1, and let b/a be at the share u of the way from s to t, in logarithms. The bounds are
// too large by the powers (1 − u)·g and u·(1 − g) of t/s, of which the smaller one is at most 1/4. Independent further
// noises do not make a tail smaller, so a number of noises may be rounded up: to the next power of 2^(1/perOctave), which
// adds up to 0.55 % to a reach that grows with its root, and up to 1.1 % in theory.
func (l *laws) tabulated(parts []part) float64 {
	key, a := ratioed{}, parts[0].coefficient
	for i := range parts {
		parts[i].times = manyTimes(parts[i].times)
		key.numbers[i], key.times[i] = parts[i].number, parts[i].times
	}
	if len(parts) == 1 {
		return a * l.entry(key, parts) * (1 + 1e-12)
	}
	ratio := parts[1].coefficient / a
	key.step = int(math.Ceil(math.Log2(ratio) * perOctave))
	above := a * l.entry(key, parts)
	key.step--
	below := parts[1].coefficient / math.Exp2(float64(key.step)/perOctave) * l.entry(key, parts)
	return math.Min(above, below) * (1 + 1e-12)
}

// entry returns a reach from the table.
func (l *laws) entry(key ratioed, parts []part) float64 {
	out, ok := l.table[key]
	if !ok {
		of := []part{parts[0]}
		of[0].coefficient = 1
		if len(parts) > 1 {
			of = append(of, parts[1])
			of[1].coefficient = math.Exp2(float64(key.step)/perOctave) * (1 + 1e-12) // covers the rounding of step
		}
		out = l.computed(of)
		l.table[key] = out
	}
	return out
}

// manyTimes rounds a number of noises up, so that the table has few numbers.
func manyTimes(n float64) float64 {
	if n <= perOctave {
		return n
	}
	return math.Ceil(math.Exp2(math.Ceil(math.Log2(n)*perOctave) / perOctave))
}
