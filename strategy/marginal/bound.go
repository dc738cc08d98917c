package marginal

import "math"

// slack is the relative error that [Workload.Bound] allows for its floating-point arithmetic. The traces come from
// eigenvalues of matrices of at most [MaxOrdered] rows, whose relative error is below 1e-12. The sums have positive
// terms, so their relative error is below 2⁻⁵³ times their number.
const slack = 1e-9

// Bound returns a lower bound on the [Plan.RMSE] of every strategy: a matrix with columns of norm at most 1, measured
// with independent noise of variance 1, from which the answers are reconstructed linearly. For plain [Values] the
// bound is attained by [Workload.Sum].
//
// It bounds strategies with Laplace noise too, because a column's L₁ norm is at least its L₂ norm.
//
// Proof. For a workload matrix W over N cells, the sum of squared errors is at least ‖W‖²/N, with ‖·‖ the nuclear norm
// (Li and Miklau, "Optimal error of query sets under the differentially-private matrix mechanism", ICDT 2013). For
// every U with UᵀU ≼ I, ‖W‖ ≥ tr(UᵀW). A marginal S contributes to W the rows √w_S·⊗ Q_k over k in S times ⊗ 1ᵀ over
// the rest. Let Q_k = U_k√G_k be its polar decomposition, P = I − 11ᵀ/c_k and J = 11ᵀ/c_k. Choose for S the rows Σ_A
// α_SA ⊗_A U_kP ⊗_(S∖A) U_kJ ⊗ 1ᵀ/√c_k over the subsets A of S. Then UᵀU = Σ_A (Σ_S α²_SA)·Π_A with orthogonal
// projections Π_A, so U qualifies if the squares of α_SA add up to at most 1 for each A. The inner product with W is
// Σ_A Σ_S α_SA·√w_S·Π_A tr(P√G_k)·Π_(S∖A) 1ᵀ√G_k1/c_k·Π √c_k. The best α for each A gives the root of the sum of the
// squares of its factors. Division by N turns Π c_k over the attributes outside S into the factor Π 1/c_k over S. ∎
func (w *Workload) Bound() float64 { return w.bound(w.factors(flat), w.residuals()) }

// bound computes Bound from any factors, whose nuclear and level do not depend on the strategy.
func (w *Workload) bound(factors []*factor, r *residuals) float64 {
	size := func(m int) float64 { return float64(factors[m].size) }
	squares := r.weigh(
		func(it item) float64 { return it.weight },
		func(m int) float64 { return factors[m].nuclear * factors[m].nuclear / size(m) },
		func(m int) float64 { return factors[m].level * factors[m].level / size(m) },
	)
	norm := 0.0
	for class, s := range squares {
		norm += r.count[class] * math.Sqrt(s)
	}
	return norm / math.Sqrt(w.weights()) * (1 - slack)
}
