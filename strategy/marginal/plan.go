package marginal

import (
	"fmt"
	"math"
	"slices"

	"dither/curator"
	"dither/strategy"
)

// Plan is a strategy for a workload: what is measured for each subset of attributes, and with which share of the price.
//
// For a subset A, it measures the integer matrix ⊗ R_k over k in A, applied to the counts by A's attributes, with
// independent noise. The rows of each R_k add up to 0, so measurements of different subsets concern orthogonal parts of
// the data, and every marginal of the workload is a sum of such parts.
//
// With Laplace noise, the plan of [Workload.Consistent] measures marginals cell by cell instead.
//
// All errors are standard deviations in units of the noise of one count at the plan's whole price.
type Plan struct {
	Name      string
	RMSE      float64 // the root of the mean variance over the workload's queries, each with its marginal's weight
	Maximum   float64 // the root of the largest variance of a query; an upper bound if Rough
	Rough     bool    // Maximum is an upper bound: there are too many queries to compare
	factors   []*factor
	residuals *residuals
	unit      strategy.Unit
	shares    []float64 // by class: the share of the price of one subset. They add up to 1 over all subsets
	units     []float64 // by class: the variance of a measurement scaled to L₂ sensitivity 1
	limits    room      // of one release
	// tables, if not nil, are what is measured instead, cell by cell. Then shares is nil
	tables *consistent
	kept   curator.Choice // the shares for the home, of [Workload.ChooseIn]
}

// Sum returns ResidualPlanner's plan for the least weighted sum of squared errors: the strategy of plain marginals,
// c·I − 11ᵀ for each attribute. If all attributes have plain [Values], no strategy with Gaussian noise has a smaller
// sum: it equals [Workload.Bound]. With Laplace noise, the shares of the price are the best for these matrices.
//
// Source: Xiao, He, Zhang and Kifer, "An optimal and scalable matrix mechanism for noisy marginals under convex loss
// functions", NeurIPS 2023.
func (w *Workload) Sum(u strategy.Unit) *Plan {
	return w.plan("residual planner (sum)", u, w.factors(flat))
}

// Decomposition returns the plan for the least weighted sum of squared errors that measures each subset of attributes
// with its best strategy for Gaussian noise. For plain [Values] it is [Workload.Sum].
//
// With Gaussian noise, its sum of squared errors is the least of all strategies with Gaussian noise whose Gram matrix
// is block diagonal: the parts of different subsets of attributes are measured independently. ResidualPlanner and its
// extensions to other bases are such strategies, so this plan is never worse than they are.
//
// Proof. Let B be the Gram matrix of the strategy, B = Σ B_A, with B_A the block of subset A and diagonal entries of B
// at most 1. The sum of squared errors is Σ tr(B_A⁺V_A), with V_A the block of the workload's Gram matrix. Every
// attribute has one kind of queries, so V_A = v_A·⊗ V_k over k in A, times ⊗ 11ᵀ over the other attributes. Let y_k be
// the dual optimum of attribute k, scaled to the sum 1, D_k = diag(y_k), and y = ⊗ y_k. By Cauchy–Schwarz,
// tr(B_A⁺V_A)·tr(DB_A) ≥ (tr (D^½V_AD^½)^½)². The right-hand side is L_A = v_A·Π f_k, because traces and square roots
// of Kronecker products are products, (tr (D_k^½V_kD_k^½)^½)² = f_k, and (tr (D_k^½11ᵀD_k^½)^½)² = 1. Since
// Σ tr(DB_A) = tr(DB) ≤ 1, the sum is at least the minimum of Σ L_A/β_A over shares β_A that add up to at most 1,
// which is (Σ √L_A)². The plan attains it, with B_A = β_A·⊗ X_k and f_k = Σ qᵀX_k⁺q, up to the tolerance to which each
// X_k is found and to its rounding to integers. ∎
//
// The full table and the marginals measured cell by cell have such Gram matrices too. The best strategy for one ordered
// attribute alone may not: package strategy finds it.
//
// Source: He, Xiao, Bai, Gu, Ding, Yin and Kifer, "Accurate and scalable matrix mechanisms via divide and conquer",
// arXiv 2604.00868, 2026, has the decomposition. The proof above is new.
func (w *Workload) Decomposition(u strategy.Unit) *Plan {
	return w.plan("decomposition", u, w.factors(best))
}

// factors returns a factor for each attribute that a marginal has.
func (w *Workload) factors(choose func(Attribute) *factor) []*factor {
	out := make([]*factor, len(w.domain.attributes))
	known := map[Attribute]*factor{}
	for i, a := range w.domain.attributes {
		a.Name = ""
		if known[a] == nil {
			known[a] = choose(a)
		}
		out[i] = known[a]
	}
	return out
}

// plan returns the plan with these factors whose shares are best for the sum of squared errors. With Gaussian noise, a
// part with the share β has the variance 1/β and the best β is proportional to √L_A. With Laplace noise, the variance
// is 1/β² times the square of the L₁ sensitivity for L₂ sensitivity 1, and the best β is proportional to the cube
// root.
func (w *Workload) plan(name string, u strategy.Unit, factors []*factor) *Plan {
	p := &Plan{limits: releaseLimits, Name: name, factors: factors, residuals: w.residuals(), unit: u}
	loads := p.loads()
	p.shares = make([]float64, len(loads))
	total := 0.0
	for class, l := range loads {
		if u == strategy.Epsilon {
			l *= p.steepness(class)
		}
		p.shares[class] = share(u, l)
		total += p.residuals.count[class] * p.shares[class]
	}
	for class := range p.shares {
		p.shares[class] /= total
	}
	p.evaluate(loads)
	return p
}

// steepness returns the square of the L₁ sensitivity of a part's matrix, scaled to L₂ sensitivity 1.
func (p *Plan) steepness(class int) float64 {
	out := 1.0
	for _, m := range p.residuals.members[class] {
		out *= p.factors[m].absolute * p.factors[m].absolute / p.factors[m].norm
	}
	return out
}

// loads returns L_A by class: the weighted sum of squared errors due to part A, if it had the whole price.
func (p *Plan) loads() []float64 {
	return p.residuals.weigh(
		func(it item) float64 { return it.weight },
		func(m int) float64 { return p.factors[m].spread },
		func(m int) float64 { return p.factors[m].means },
	)
}

// evaluate computes the plan's errors from its shares.
func (p *Plan) evaluate(loads []float64) {
	p.units = make([]float64, len(loads))
	for class := range loads {
		p.units[class] = 1 / p.shares[class]
		if p.unit == strategy.Epsilon {
			p.units[class] *= p.steepness(class) / p.shares[class]
		}
	}
	p.judge(loads)
}

// judge computes the plan's errors from the variances of its parts.
func (p *Plan) judge(loads []float64) {
	sum := 0.0
	for class, l := range loads {
		sum += p.residuals.count[class] * l * p.units[class]
	}
	p.RMSE = math.Sqrt(sum / p.residuals.workload.weights())
	most := 0.0
	for _, it := range p.residuals.workload.items {
		v, exact := p.largest(it.members)
		most = max(most, v)
		p.Rough = p.Rough || !exact
	}
	p.Maximum = math.Sqrt(most)
}

// Answers returns the number of the workload's queries. It is a float because it may be large.
func (w *Workload) Answers() float64 {
	total := 0.0
	for _, it := range w.items {
		total += it.count * w.domain.queries(it.members)
	}
	return total
}

// weights returns the sum of the weights of the workload's queries.
func (w *Workload) weights() float64 {
	total := 0.0
	for _, it := range w.items {
		total += it.weight * it.count * w.domain.queries(it.members)
	}
	return total
}

// Domain returns the domain of the plan's workload.
func (p *Plan) Domain() *Domain { return p.residuals.workload.domain }

// Variance returns the variance of each cell of the marginal of these attributes, in units of the variance of one
// count at the plan's whole price. Each attribute must have [Values]. The attributes must be among those of one
// marginal of the workload.
func (p *Plan) Variance(attributes ...string) (float64, error) {
	members, err := p.spanned(attributes)
	if err != nil {
		return 0, err
	}
	for _, m := range members {
		if a := p.Domain().attributes[m]; a.Queries != Values {
			return 0, fmt.Errorf(
				"marginal: the cells of attribute %q have different variances: it has %v", a.Name, a.Queries,
			)
		}
	}
	v, _ := p.largest(members)
	return v, nil
}

// spanned returns the positions of attributes, ascending, if the plan's measurements determine their marginal.
func (p *Plan) spanned(attributes []string) ([]int, error) {
	members, err := p.Domain().positions(attributes)
	if err != nil {
		return nil, err
	}
	slices.Sort(members)
	if _, known := p.residuals.class(of(members...)); !known {
		return nil, fmt.Errorf(
			"marginal: no marginal of the workload has the attributes %q, so the plan does not measure theirs", attributes,
		)
	}
	return members, nil
}

// Errors are the expected errors of one marginal, in the units of [Plan].
type Errors struct {
	Attributes []string
	Count      float64 // how many marginals of the workload have these errors, by a symmetry of the domain
	Queries    float64 // the number of queries of one marginal
	RMSE       float64
	Maximum    float64
}

// errors returns the description of a class of marginals, without errors.
func (w *Workload) errors(it item) Errors {
	e := Errors{Count: it.count, Queries: w.domain.queries(it.members)}
	for _, m := range it.members {
		e.Attributes = append(e.Attributes, w.domain.attributes[m].Name)
	}
	return e
}

// Errors returns the expected errors of the workload's marginals, as [Candidate.Errors] does.
func (p *Plan) Errors() []Errors {
	r := p.residuals
	ratio := r.ratios(
		func(m int) float64 { return p.factors[m].spread },
		func(m int) float64 { return p.factors[m].means },
	)
	out := make([]Errors, len(r.workload.items))
	for i, it := range r.workload.items {
		e := r.workload.errors(it)
		base := 1.0
		for _, m := range it.members {
			base *= p.factors[m].means
		}
		sum := 0.0
		for _, t := range r.terms[i] {
			sum += t.count * base * ratio[t.class] * p.units[t.class]
		}
		most, _ := p.largest(it.members)
		e.RMSE, e.Maximum = math.Sqrt(sum/e.Queries), math.Sqrt(most)
		out[i] = e
	}
	return out
}
