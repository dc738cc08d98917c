package audit

import (
	"math"

	"dither/internal/exact"
)

// rareBound returns a lower bound on the ε of every pure promise, from an event that was seen x times in n runs of one
// side and y times in n runs of the other. For rare events it is far better than [ratioBound], whose two ends each
// allow for the chance that the event was not seen at all. The result is rounded down, and at least 0.
//
// Claim: if runs are independent and identically distributed on each side, the result exceeds the true ε with
// probability at most 2α. Proof. Let p and q be the event's probabilities, X and Y its counts, and θ = ψ/(1+ψ) with the
// odds ratio ψ = p(1−q)/(q(1−p)). Given X + Y = c, the law F of X is proportional to C(n,k)·C(n,c−k)·ψ^k, and the
// binomial law B of c trials with probability θ to C(c,k)·ψ^k [Fisher 1935]. The quotient F/B is proportional to
// 1/((n−k)!·(n−c+k)!), which depends on Z = |k − c/2| alone, and falls in Z. So Z is stochastically smaller under F
// than under B. Given Z, both laws have k > c/2 with the same probability σ(Z) = ψ^2Z/(1+ψ^2Z), which rises in Z if ψ ≥
// 1. For k* > c/2, P(X ≥ k*) is the mean of σ(Z) over Z ≥ k* − c/2, a rising function of Z. So it is at most P(B ≥ k*).
//
// Let l be the low end of [between] for X of X + Y runs. The claim is trivial where l ≤ ½. Where l > ½, X > c/2,
// because l ≤ (X−1)/c. For ψ ≥ 1, the proof at between gives that l exceeds θ with probability at most α, as it only
// needs the tail beyond a k* > c/2. For ψ < 1, F is stochastically smaller than at ψ = 1, so l exceeds ½ with
// probability at most α. Let h be the high end for X of n runs: p > h with probability at most α. If neither end is
// wrong, l/(1−l) ≤ ψ, or l ≤ ½. An ε-private mechanism has q ≥ e^(−ε)·p, so ψ ≤ (e^ε − p)/(1 − p). This rises in p, so
// ψ ≤ (e^ε − h)/(1 − h), and e^ε ≥ h + (1−h)·l/(1−l). ∎
func rareBound(x, y, n int, alpha float64) float64 {
	if x <= y {
		return 0
	}
	l, _ := between(x, x+y, alpha)
	_, h := between(x, n, alpha)
	if l <= 0.5 || h >= 1 {
		return 0
	}
	odds := exact.DivDown(l, exact.SubUp(1, l))
	return math.Max(0, exact.LogDown(exact.AddDown(h, exact.MulDown(exact.SubDown(1, h), odds))))
}

// rareGuess returns about the e^ε that [rareBound] gives for x and y expected runs of n with the event, with error
// probability e^−z at each end.
func rareGuess(x, y, n, z float64) float64 {
	if x <= y || x < 1 {
		return 0
	}
	l := lowGuess(x/(x+y), z, x+y)
	if y == 0 {
		l = math.Exp(-z / x) // l^x = e^−z
	}
	p := x / n
	h := math.Min(1, p+math.Sqrt(2*z*p*(1-p)/n)+z/n)
	return h + (1-h)*l/(1-l)
}
