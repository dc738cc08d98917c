package local

// covariance returns an upper bound of the covariance of the estimated frequencies of two values, times the number of
// reports, for an oracle of [Choose], if no two reports share a function. Sums of estimates need it; see [Quantiles].
//
// With shared functions, the covariances between different reports add up to less than that of the two biases that the
// functions give (see [Oracle.Variance]). By Cauchy and Schwarz, that is at most [Oracle.SharedVariance], which callers
// add.
//
// Let I and J be the indicators that a report supports the values v and w, and u the value of its sender. An estimate
// is the average of an indicator, minus q, divided by p − q (see [Oracle]). So Cov(I, J | u)/(p − q)² is to be bounded.
// Drawing the senders from a population adds the covariance of the expectations: −(p − q)² times the product of the
// frequencies of v and w, which is at most 0.
//
// Claim: it is at most 0 for "krr", "sue", "oue", "ss", "hr" and "flh". Proof. Reports of "krr" never support two
// values. Bits of unary encodings are independent.
//
// "ss" of size s: if u is v, I changes the share of J from s/(k − 1) to (s − 1)/(k − 1), so the covariance is negative.
// Otherwise let a be s − 1 if the set has u, and s if not. Given a, the covariance is −a(k − 1 − a)/((k − 1)²(k − 2)),
// and the expectations a/(k − 1) add p(1 − p)/(k − 1)². For s = 1, the first part is −(1 − p)/(k − 1)² on average. For
// larger s, (s − 1)(k − s) ≥ k − 2, so it is at most −p/(k − 1)². Either one exceeds the second part in size.
//
// The bits of three values are independent under "hr", because two different vectors that are not 0 are linearly
// independent. The cells of three values are independent under the polynomials of degree 2 of "flh". For local hashing
// in general, let T be the probability that three cells are equal. The report names the cell of u with probability p,
// and each other one with probability (1 − p)/(g − 1). If u is neither v nor w, then
// P(IJ) = pT + (1 − p)(1/g − T)/(g − 1), and with q = 1/g
//
//	Cov(I, J | u) = (T − 1/g²)(p − q)g/(g − 1),
//
// which is 0 for T = 1/g². If u is v, it is p/g − pq = 0. ∎
//
// Claim: it is at most 1/(2(g − 1)(p − q)) for "olh". Proof. Up to 2⁻⁴⁰, the cells are arcs of length 1/g of a circle
// of length 1, and a value z is at c₀ + c₁z. Divide the differences of u, v and w by their greatest common divisor,
// which changes c₁ alone. Let m ≥ 2 be the largest difference then, and x the signed distance on the circle of the two
// values that have it. It is uniform. Given x, the third value is at one of m points, each with the distance 1/m to the
// next. If the shortest arc with all three has the length r, they are in one cell with probability g(1/g − r), or 0 if
// that is negative. Along the circle of the third value this rises once and falls once, and is at most g(1/g − |x|). So
// the average over the m points is at most that over the circle, plus g(1/g − |x|)/m. The average over the circle and x
// is 1/g², as for independent places. The average of g(1/g − |x|) over |x| < 1/g is ∫ g(1/g − |x|)dx = 1/g. Thus
// T ≤ 1/g² + 1/(mg) ≤ 1/g² + 1/(2g). ∎
//
// Claim: it is at most q(1 − q)/(1024(p − q)²) for "cms" and "hcms". Proof. The cells of three values are independent,
// and indicators of different cells are independent, given the cells. So the covariance is the variance of an indicator
// of one cell for v and w, which has probability a = 1/1024. Let r be the probability of support for the cell of u, and
// s that for another. If u is neither v nor w, it is a((1 − a)s(1 − s) + a·r(1 − r)), and a mixture has at least the
// average of the variances: it is at most a·q(1 − q). If u is v, it is a·r(1 − r), and q is between 1 − r and r. ∎
func (o *Oracle) covariance() float64 {
	switch s := o.scheme.(type) {
	case olh:
		return 1 / (2 * float64(s.k-1) * o.gap)
	case cms, hcms:
		return o.other * (1 - o.other) / (o.gap * o.gap * buckets)
	}
	return 0
}
