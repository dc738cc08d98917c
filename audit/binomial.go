package audit

import (
	"math"

	"dither/internal/exact"
)

// mostRuns is the largest number of runs of an audit. Up to this number, the error bound at [tail] covers the
// rounding of binomial tails.
const mostRuns = 1e9

// between returns the Clopper–Pearson interval for the probability of an event that was seen k times in n runs
// [Clopper & Pearson 1934]. Whatever the true probability is, each end misses it with probability at most alpha:
// the low end lies above it, or the high end below it. The ends are rounded outward. n is from 1 to mostRuns, and
// alpha is in (0, 1/4].
//
// Claim: the low end exceeds the true probability with probability at most α. Proof: let l(k) be the low end. It
// satisfies P(Bin(n, l(k)) ≥ k) ≤ α, and it rises in k. Let p be the true probability, X the event's count, and k*
// the least k with l(k) > p. Then P(l(X) > p) = P(X ≥ k*) ≤ P(Bin(n, l(k*)) ≥ k*) ≤ α, because the tail rises in p.
// The high end is 1 minus the low end of the complementary event. ∎
//
// If p changes from run to run and the runs are independent, the same holds for the average p̄ of p. For k* ≥ 2,
// n·p̄ < n·l(k*) ≤ k* − 1, because the search for l(k) ends at or below (k−1)/n. So far above the mean, the tail of
// a sum of unequal trials is at most the binomial tail [Hoeffding 1956, Theorem 5]. For k* = 1 that theorem says
// nothing. There l(1) is α/n, which is a little less than the Clopper–Pearson end 1 − (1−α)^(1/n). Markov's
// inequality gives P(X ≥ 1) ≤ n·p̄ < n·l(1) = α.
func between(k, n int, alpha float64) (low, high float64) {
	return least(k, n, alpha), math.Nextafter(1-least(n-k, n, alpha), 2)
}

// least returns the low end of [between]. The bisection raises low only to values at which the upper bound on the
// tail is at most alpha, so low is valid wherever the bisection stops.
func least(k, n int, alpha float64) float64 {
	if k <= 0 {
		return 0
	}
	if k == 1 {
		return exact.DivDown(alpha, float64(n))
	}
	low, high := 0.0, float64(k-1)/float64(n)
	for range 120 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high || high-low < low*1e-13 {
			break
		}
		if tail(k, n, middle) <= alpha {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// tail returns an upper bound on P(Bin(n, p) ≥ k), for 1 ≤ k ≤ n and 0 < p < 1. For k > np the bound exceeds the
// probability by a relative 2e-6 at most. For k ≤ np it is 1.
//
// Proof of the error: beyond the mode, the ratios of successive probabilities fall. So a geometric series bounds
// the terms after any term. The first probability is the exponential of the deviances and of Stirling's remainders,
// which [Loader 2000] computes without cancellation. Each of these has a relative error of about 1e-12, and is
// below 10³ wherever the tail matters. Up to a million ratios multiply to a relative error of at most 1e-9.
// Rounding q changes ln qⁿ by at most n·2⁻⁵⁴. Rounding n·p and n·q changes the deviance by at most |k − np|·2⁻⁵².
// All these errors together are below a relative 1e-6, which the code adds. ∎
func tail(k, n int, p float64) float64 {
	q := 1 - p
	x, m := float64(k), float64(n)
	if x <= m*p {
		return 1
	}
	sum, term := 1.0, 1.0
	for j := k; j < n; j++ {
		ratio := (m - float64(j)) / float64(j+1) * p / q
		rest := term * ratio / (1 - ratio) // an upper bound on the sum of all later terms
		if rest <= sum*1e-10 {
			sum += rest
			break
		}
		term *= ratio
		sum += term
	}
	return math.Min(1, math.Exp(logMass(x, m, p, q))*sum*(1+1e-6))
}

// logMass returns ln P(Bin(n, p) = k), for 1 ≤ k ≤ n and q = 1 − p.
func logMass(k, n, p, q float64) float64 {
	if k == n {
		return n * math.Log1p(-q)
	}
	return math.Log(n/(2*math.Pi*k*(n-k)))/2 +
		stirling(n) - stirling(k) - stirling(n-k) - deviance(k, n*p) - deviance(n-k, n*q)
}

// deviance returns x·ln(x/m) + m − x, which is at least 0. If x is near m, it sums a series that avoids
// cancellation.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum, power := (x-m)*v, 2*x*v
	for j := 3.0; ; j += 2 {
		power *= v * v
		next := sum + power/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// stirling returns Stirling's remainder, ln n! − (n + ½)·ln n + n − ½·ln 2π. For n ≥ 16 it is the sum of three
// terms of the asymptotic series, with an error of at most the next term, about 2e-12.
func stirling(n float64) float64 {
	if n < 16 {
		product := 1.0
		for i := 2.0; i <= n; i++ {
			product *= i // up to 15! the product is exact
		}
		return math.Log(product) - (n+0.5)*math.Log(n) + n - math.Log(2*math.Pi)/2
	}
	return (1.0/12 - (1.0/360-1.0/(1260*n*n))/(n*n)) / n
}

// ratioBound returns a lower bound on ε if one side sees an event with probability at least low, and the other side
// with probability at most high. By P ≤ e^ε·Q + δ the bound is ln((low − δ)/high). The result is rounded down, and
// at least 0.
func ratioBound(low, high, delta float64) float64 {
	above := exact.SubDown(low, delta)
	if above <= high {
		return 0
	}
	return math.Max(0, exact.LogDown(exact.DivDown(above, high)))
}

// differenceBound returns a lower bound on δ at a given ε, for probabilities low and high as in [ratioBound]: low −
// e^ε·high, rounded down, and at least 0. factor is at least e^ε.
func differenceBound(low, high, factor float64) float64 {
	if low <= 0 {
		return 0
	}
	return math.Max(0, exact.SubDown(low, exact.MulUp(factor, high)))
}
