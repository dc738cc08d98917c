package product

import (
	"math"

	"dither/strategy"
)

// slack is a relative error that [builder.bound] allows for sums and products of floats.
const slack = 1e-9

// mostSteps limits the sets of columns that the bound visits.
const mostSteps = 1 << 20

// bound returns a lower bound on the RMSE of every strategy: the largest one of several certificates.
//
// Claim: for y_k > 0 on the values of each column, the sum of weighted variances is at least (Σ_S √(Σ_t w_t·c_tS²))²/Π
// Σy_k, over the sets S of columns, where c_tS = Π_{k∈S} across_tk · Π_{k∉S} along_tk are the products of the numbers of
// [strategy.RootOf] for the term t. It is also at least Σ_t w_t·(Π_k (along_tk + across_tk))²/Π Σy_k.
//
// Proof. Let B have the rows √w·q for all questions, X = AᵀA for a strategy with columns of norm at most 1, and D the
// diagonal matrix of the products of the numbers y. For every N with NNᵀ ≼ D, the inequality of Cauchy and Schwarz gives
// tr(BN)² ≤ tr(BX⁻¹Bᵀ)·tr(NᵀXN), and tr(NᵀXN) = tr(X·NNᵀ) ≤ tr(XD) ≤ Σ D = Π Σy_k. Let B_t be the rows of a term without its
// weight, and B_t·D^½ = V_t·M_t its polar decomposition. M_t is the root of D^½B_tᵀB_tD^½, a Kronecker product of the columns'
// roots. Rows of zeros change no error, so B_t may have as many rows as there are cells, and V_t may be completed so that
// V_tᵀV_t = I. Let P_k be the projection onto v_k (see [strategy.RootOf]), and Π_S the Kronecker product of I − P_k over S
// and of P_k over the other columns. The Π_S are orthogonal and add up to I. Choose N with the blocks D^½·(Σ_S λ_tS·Π_S)·V_tᵀ.
// Then NNᵀ = D^½·(Σ_S Σ_t λ²_tS·Π_S)·D^½ ≼ D if Σ_t λ²_tS ≤ 1 for each S. And tr(BN) = Σ_t Σ_S λ_tS·√w_t·tr(Π_S·M_t), where the
// trace is at least c_tS. The λ_tS that are proportional to √w_t·c_tS give the first bound.
//
// The second bound holds because the least sum over all terms is at least the sum of the terms' least ones. ∎
//
// The bounds hold for Laplace noise too: the L2 norm of a column is at most its L1 norm.
func (b *builder) bound() float64 {
	best := b.certificate(nil)
	for _, y := range b.duals {
		if y != nil {
			best = math.Max(best, b.certificate(b.duals))
			break
		}
	}
	return best
}

// certificate returns the bound for numbers y of each column; nil is 1 for every value.
func (b *builder) certificate(duals [][]float64) float64 {
	w := b.workload
	roots, volume := make([][]strategy.Root, len(w.columns)), 1.0
	for k, c := range w.columns {
		var y []float64
		if duals != nil {
			y = duals[k]
		}
		sum := float64(c.cells)
		if y != nil {
			sum = 0
			for _, v := range y {
				sum += v
			}
		}
		volume *= sum
		for _, f := range c.factors {
			roots[k] = append(roots[k], rootOf(c, f, y))
		}
	}
	sum, steps := 0.0, 0
	squares := map[uint]float64{}
	for _, t := range w.terms {
		trace := 1.0
		var sets []uint
		weights := []float64{t.weight}
		sets = append(sets, 0)
		for k, f := range t.of {
			r := roots[k][f]
			trace *= r.Along + r.Across
			n := len(sets)
			for i := range n {
				if r.Across > 0 {
					sets, weights = append(sets, sets[i]|1<<k), append(weights, weights[i]*r.Across*r.Across)
				}
				weights[i] *= r.Along * r.Along
			}
		}
		if steps += len(sets); steps <= mostSteps {
			for i, s := range sets {
				squares[s] += weights[i]
			}
		}
		sum += t.weight * trace * trace
	}
	norm := 0.0
	for _, v := range squares {
		norm += math.Sqrt(v)
	}
	return w.rmse(math.Max(sum, norm*norm)/volume) * (1 - slack)
}

// rootOf returns strategy.RootOf for a factor. nil is 1 for every value: then the values have M = I, and the total
// M = 11ᵀ/√n.
func rootOf(c column, f Factor, y []float64) strategy.Root {
	n := float64(c.cells)
	if y == nil {
		switch f.kind {
		case total:
			return strategy.Root{Along: math.Sqrt(n)}
		case values:
			return strategy.Root{Along: 1, Across: n - 1}
		}
		y = ones(c.cells)
	}
	if f.kind == total { // M = D^½11ᵀD^½/√Σy, along v
		sum := 0.0
		for _, v := range y {
			sum += v
		}
		return strategy.Root{Along: math.Sqrt(sum)}
	}
	w, err := f.workload()
	if err != nil {
		return strategy.Root{}
	}
	return strategy.RootOf(w, y)
}
