package audit

import (
	"math"

	"dither/internal/exact"
)

// mostRuns bounds the runs of an audit. Up to it the arithmetic of binomial tails is certified below.
const mostRuns = 1e9

// between returns the Clopper–Pearson interval for the probability of an event that was seen k times in n runs
// [Clopper & Pearson 1934]: each end is beyond the true probability with probability at most alpha, whatever that
// probability is. The ends are rounded outward. n is from 1 to mostRuns, alpha in (0, 1/4].
//
// Proof, of the lower end l(k): it is a p with P(Bin(n, p) ≥ k) ≤ α, and rises in k. If p is the true probability,
// and k* the least k with l(k) > p, then P(l(X) > p) = P(X ≥ k*) ≤ P(Bin(n, l(k*)) ≥ k*) ≤ α, since the tail
// rises in p. The upper end is the lower of the event's opposite. ∎
//
// Where p changes from run to run and the runs stay independent, the ends bound its average p̄ all the same. If k* ≥
// 2, then n·p̄ < n·l(k*) ≤ k* − 1, for l(k) is kept from (k−1)/n; and so far above the mean the tail of a sum
// of unequal trials is at most the binomial's [Hoeffding 1956, Theorem 5]. If k* = 1, that theorem says nothing, and
// l(1) is α/n, a little less than the binomial's 1 − (1−α)^(1/n): P(X ≥ 1) ≤ n·p̄ < n·l(1) = α, as Markov
// has it.
func between(k, n int, alpha float64) (low, high float64) {
	return least(k, n, alpha), math.Nextafter(1-least(n-k, n, alpha), 2)
}

// least is the lower end. The bisection keeps low where the tail is certified to be at most alpha, so wherever it
// stops, low holds.
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

// tail is an upper bound of P(Bin(n, p) ≥ k), for 1 ≤ k ≤ n and 0 < p < 1: exact but for a relative 2e-6 where k
// > np, and 1 elsewhere.
//
// Beyond the mode each mass is the one before times a ratio that falls, so what is left after any term is at most a
// geometric series. The first mass is exp of the deviance and Stirling's remainders, none of which cancel [Loader
// 2000]: each is right to some 1e-12, of a size where the tail matters below 10³; and up to a million ratios multiply
// to a relative 1e-9 at most. The rounding of q moves ln qⁿ by n·2⁻⁵⁴ at most, that of n·p and n·q the
// deviance by |k − np|·2⁻⁵². All that is below a relative 1e-6, which is added.
func tail(k, n int, p float64) float64 {
	q := 1 - p
	x, m := float64(k), float64(n)
	if x <= m*p {
		return 1
	}
	sum, term := 1.0, 1.0
	for j := k; j < n; j++ {
		ratio := (m - float64(j)) / float64(j+1) * p / q
		rest := term * ratio / (1 - ratio) // of all terms after this one
		if rest <= sum*1e-10 {
			sum += rest
			break
		}
		term *= ratio
		sum += term
	}
	return math.Min(1, math.Exp(logMass(x, m, p, q))*sum*(1+1e-6))
}

// logMass is ln P(Bin(n, p) = k), for 1 ≤ k ≤ n.
func logMass(k, n, p, q float64) float64 {
	if k == n {
		return n * math.Log1p(-q)
	}
	return math.Log(n/(2*math.Pi*k*(n-k)))/2 +
		stirling(n) - stirling(k) - stirling(n-k) - deviance(k, n*p) - deviance(n-k, n*q)
}

// deviance is x·ln(x/m) + m − x, at least 0, without cancellation where x is near m.
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

// stirling is ln n! − (n + ½)·ln n + n − ½·ln 2π: between two sums of its asymptotic series, which are 1e-12
// apart where n ≥ 16.
func stirling(n float64) float64 {
	if n < 16 {
		product := 1.0
		for i := 2.0; i <= n; i++ {
			product *= i // 15! is a float
		}
		return math.Log(product) - (n+0.5)*math.Log(n) + n - math.Log(2*math.Pi)/2
	}
	return (1.0/12 - (1.0/360-1.0/(1260*n*n))/(n*n)) / n
}

// ratioBound is a lower bound on ε, given that one side sees an event with at least the probability low, and the other
// with at most high: by P ≤ e^ε·Q + δ it is ln((low − δ)/high). It is rounded down, and at least 0.
func ratioBound(low, high, delta float64) float64 {
	above := exact.SubDown(low, delta)
	if above <= high {
		return 0
	}
	return math.Max(0, exact.LogDown(exact.DivDown(above, high)))
}

// differenceBound is a lower bound on δ at an ε, low − e^ε·high, rounded down, and at least 0. factor is at least
// e^ε.
func differenceBound(low, high, factor float64) float64 {
	if low <= 0 {
		return 0
	}
	return math.Max(0, exact.SubDown(low, exact.MulUp(factor, high)))
}
