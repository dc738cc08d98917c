package ours

import (
	"math/big"
	"sync"

	"dither/internal/exact"
	"dither/mechanism/stream"
	"dither/privacy"
)

// countingFactorization returns the subject for running sums of two steps, by the square root of the matrix of
// prefix sums, R = (1 0; ½ 1). The released sums are x₁ + ⌊u₁ + ½⌋ and x₁ + x₂ + ⌊u₁/2 + u₂ + ½⌋ [Fichtenberger,
// Henzinger & Upadhyay 2023]. Here u₁ and u₂ are discrete Gaussian noise on the multiples of 2⁻³⁰ with σ² = (1 +
// ¼)Δ²/(2ρ), where Δ is the sensitivity, and 1 + ¼ is the squared norm of R's first column.
func countingFactorization() Subject {
	m := stream.CountingFactorization{Steps: 2, Sensitivity: big.NewInt(1), Rho: rhoOf(2)}
	all, names := vectors(2, 0, 1)
	law := sync.OnceValue(func() rounded { return newRounded(big.NewRat(5, 4)) })
	return subject(Subject{
		Name:   "counting-factorization",
		About:  "running sums of two steps by the square root of prefix sums, ρ = ½, read at δ = 1/1000",
		Source: "Fichtenberger, Henzinger & Upadhyay 2023",
		at:     gaussianDelta(),
		domain: domain{inputs: names, pair: [2]int{0, place(all, 1, 0)}, draw: func(i int) (drawn, error) {
			sums, loss, err := counted(all[i], m.Begin)
			return plain(loss, sums...), err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			r := law()
			// a change in step 1 moves both sums, and a change in step 2 the second sum
			for _, by := range [][2]int64{{1, 1}, {0, 1}} {
				for _, sign := range []int64{1, -1} {
					low, high := r.shifted(e, sign*by[0], sign*by[1])
					lower, upper = max(lower, low), max(upper, high)
				}
			}
			return lower, upper, nil
		},
		near: func() (*Law, error) {
			r := law()
			grid, outputs := vectors(2, -roundedReach, roundedReach)
			for i, y := range grid {
				outputs[i] = label(y...)
			}
			return roundedLaw(names, nil, append(outputs, other), func(i int) (p []exact.Interval) {
				x := all[i]
				for _, y := range grid {
					p = append(p, r.mass(y[0]-x[0], y[1]-x[0]-x[1]))
				}
				return p
			})
		},
	})
}

// rounded is the distribution of (⌊u₁ + ½⌋, ⌊u₁/2 + u₂ + ½⌋) for independent normal u₁, u₂ with variance σ². at
// holds the probabilities of the pairs whose numbers are at most roundedReach in absolute value. beyond is the
// probability of all other pairs.
//
// A pair has the probability that two normal variables lie in a rectangle. The variables have standard deviations σ
// and σ√(5/4), and correlation r = 1/√5. Let h and k be the two variables, each divided by its standard deviation.
// Their density is Σ_n (rⁿ/n!)·Heₙ(h)φ(h)·Heₙ(k)φ(k) [Mehler 1866]. The integral of Heₙφ is −He_{n−1}φ. So the
// probability of a rectangle is
//
//	ΔΦ(h)·ΔΦ(k) + Σ_{n≥1} (rⁿ/n!)·Δ(He_{n−1}φ)(h)·Δ(He_{n−1}φ)(k),
//
// where Δ is the difference between the two sides of the rectangle. By Cramér's inequality |Heₙ(x)φ(x)| < ½·√n!
// (its constant 1.0865/√(2π) is below ½). So the terms from n = N on sum to at most Σ rⁿ/n ≤ r^N/(1 − r) in
// absolute value.
//
// Claim: the mechanism's distribution is within a total variation distance of 2⁻²⁷ of this one. Proof: the
// mechanism draws discrete Gaussian noise on the multiples of η = 2⁻³⁰. This noise is within total variation
// distance η²/σ² of a normal variable that is rounded to these multiples: the probability of a cell equals η times
// the density at its middle, up to 1/24 of the largest second derivative there. The rounding moves u₁ by at most
// η/2, and u₁/2 + u₂ by at most ¾η. So it takes either of these over an edge with probability at most 2·¾η times
// the sum of the density at edges a unit apart. This sum is at most 2. Together the distance is at most 2·η²/σ² +
// 6η < 2⁻²⁷. ∎
type rounded struct {
	at     map[[2]int64]exact.Interval
	beyond exact.Interval
}

const (
	roundedReach = 10
	mehlerTerms  = 80
)

func newRounded(sigma2 *big.Rat) rounded {
	of := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, gaussianBits) }
	r := whole(1).Quo(whole(5).Sqrt())
	first := differencesOf(of(sigma2).Sqrt())
	second := differencesOf(of(new(big.Rat).Mul(sigma2, big.NewRat(5, 4))).Sqrt())
	weights := make([]exact.Interval, mehlerTerms)
	weights[0] = whole(1)
	for n := 1; n < mehlerTerms; n++ {
		weights[n] = weights[n-1].Mul(r).Quo(whole(int64(n)))
	}
	left := whole(1).Quo(whole(1).Sub(r))
	for range mehlerTerms {
		left = left.Mul(r)
	}
	left = exact.Hull(whole(0).Sub(left), left)
	out := rounded{at: map[[2]int64]exact.Interval{}}
	listed := whole(0)
	for i, a := range first {
		for j, b := range second {
			total := left
			for n, w := range weights {
				total = total.Add(w.Mul(a[n]).Mul(b[n]))
			}
			out.at[[2]int64{int64(i) - roundedReach, int64(j) - roundedReach}] = total
			listed = listed.Add(total)
		}
	}
	out.beyond = whole(1).Sub(listed)
	return out
}

// differencesOf returns the differences in the formula of [rounded], for a normal variable with the given standard
// deviation. Entry i belongs to the unit interval around the integer i − roundedReach. It holds ΔΦ, and then
// Δ(He_{n−1}φ) for n = 1, 2, …
func differencesOf(deviation exact.Interval) (out [][]exact.Interval) {
	edge := func(twice int64) []exact.Interval { // Φ and He_{n−1}φ at twice/2, divided by the standard deviation
		x := exact.IntervalOf(big.NewRat(twice, 2), gaussianBits).Quo(deviation)
		values := []exact.Interval{x.NormalCDF()}
		before, now := whole(0), x.NormalDensity() // uses He_{n+1} = x·Heₙ − n·He_{n−1}
		for n := int64(0); len(values) < mehlerTerms; n++ {
			values = append(values, now)
			before, now = now, x.Mul(now).Sub(whole(n).Mul(before))
		}
		return values
	}
	low := edge(-2*roundedReach - 1)
	for z := int64(-roundedReach); z <= roundedReach; z++ {
		high := edge(2*z + 1)
		d := make([]exact.Interval, mehlerTerms)
		for n := range d {
			d[n] = high[n].Sub(low[n])
		}
		out, low = append(out, d), high
	}
	return out
}

// mass returns the probability of a pair of rounded values. It returns 0 for a pair that is not in r.at.
func (r rounded) mass(first, second int64) exact.Interval {
	if p, ok := r.at[[2]int64{first, second}]; ok {
		return p
	}
	return whole(0)
}

// shifted returns bounds on the smallest δ at ε between this distribution and the same one, shifted by (first,
// second).
func (r rounded) shifted(e privacy.Epsilon, first, second int64) (lower, upper float64) {
	var p, q []exact.Interval
	for at := range r.at {
		p, q = append(p, r.mass(at[0], at[1])), append(q, r.mass(at[0]-first, at[1]-second))
	}
	lower, upper = unlisted(e, excess(e, p, q), r.beyond)
	off, _ := exact.IntervalOf(e.Rat(), gaussianBits).Exp().Add(whole(1)).Hi().Float64()
	off *= 0x1p-27 * (1 + nearly)
	return max(0, lower-off), upper + off
}
