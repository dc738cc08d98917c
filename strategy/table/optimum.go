package table

import (
	"math"
	"math/big"
	"slices"
)

// evaluator computes the weighted mean variance of the goals for any shares.
type evaluator struct {
	space   *Space
	goals   []Goal
	options []Option
	power   Power
	weight  float64
	tree    *tree
	parts   []*evaluated // the components of goals
	work    float64      // about the number of multiplications of one evaluation
}

// evaluated is a component with what the options and the goals have of it.
type evaluated struct {
	*component
	options, goals []share
}

// share is what one option or goal has of a component.
type share struct {
	index   int
	level   int
	gram    []float64
	depends []bool
	factor  float64 // of the covariances' traces in a goal's weighted mean variance
}

func newEvaluator(space *Space, goals []Goal, options []Option, p Power) *evaluator {
	e := &evaluator{space: space, goals: goals, options: options, power: p}
	e.tree = newTree(space.Hierarchy, func(int, int) bool { return false })
	var sets []Keys
	for _, g := range goals {
		e.weight += g.Weight
		for _, t := range space.contrasts(g.Keys).subsets() {
			if !slices.Contains(sets, t) {
				sets = append(sets, t)
			}
		}
	}
	axes := newAxes(space)
	for _, t := range sets {
		part := &evaluated{component: newComponent(space, axes, t)}
		for j, o := range options {
			if part.in(o.Keys) {
				part.options = append(part.options, share{j, o.Level, part.gram(o.Keys), part.depends(o.Keys), 0})
			}
		}
		for i, g := range goals {
			if part.in(g.Keys) {
				f := part.contrasts / float64(space.Cells(g.Margin))
				part.goals = append(part.goals, share{i, g.Level, part.gram(g.Keys), part.depends(g.Keys), f})
			}
		}
		e.parts = append(e.parts, part)
		e.work += float64(len(e.tree.level)) * math.Pow(float64(part.dim), 3)
	}
	return e
}

// precisions returns the precision of each option's cells, for the given shares.
func (e *evaluator) precisions(shares []float64) []float64 {
	out := make([]float64, len(shares))
	for j, s := range shares {
		out[j] = math.Pow(s, float64(e.power)) / e.options[j].Cost
	}
	return out
}

// evidenceOf returns what the options with a precision measure of a component.
func evidenceOf[F number](e *evaluator, part *evaluated, precision []float64) *evidence[F] {
	out := newEvidence[F](part.dim, len(e.space.Hierarchy.Levels))
	for _, o := range part.options {
		if precision[o.index] > 0 {
			out.add(o.level, times[F](precision[o.index]), o.gram, o.depends)
		}
	}
	return out
}

// byLevel returns the sum of the nodes' covariances in each level.
func byLevel[F number](e *evaluator, dim int, s *smoothed[F]) [][]F {
	out := make([][]F, len(e.space.Hierarchy.Levels))
	for l := range out {
		out[l] = make([]F, dim*dim)
	}
	for i, l := range e.tree.level {
		for c, x := range of(s.full, i, dim) {
			out[l][c] += times[F](e.tree.all[i]) * x
		}
	}
	return out
}

// means returns the mean variance of each goal's cells. It is infinite for a goal that is not determined.
func (e *evaluator) means(precision []float64) []float64 {
	out := make([]float64, len(e.goals))
	for _, part := range e.parts {
		evidence := evidenceOf[float64](e, part, precision)
		sums := byLevel(e, part.dim, smooth(e.tree, evidence))
		for _, g := range part.goals {
			if !evidence.covers(g.level, g.depends) {
				out[g.index] = math.Inf(1)
				continue
			}
			for c, x := range sums[g.level] {
				out[g.index] += g.factor * g.gram[c] * x
			}
		}
	}
	return out
}

// split evaluates a division of the price.
func (e *evaluator) split(name string, shares []*big.Rat) Split {
	out := Split{Name: name, Shares: shares}
	floats := make([]float64, len(shares))
	for j, s := range shares {
		floats[j], _ = s.Float64()
	}
	sum := 0.0
	for i, v := range e.means(e.precisions(floats)) {
		out.ByGoal = append(out.ByGoal, math.Sqrt(v))
		if math.IsInf(v, 1) {
			out.Nothing = append(out.Nothing, i)
		}
		sum += e.goals[i].Weight / e.weight * v
	}
	out.Error = math.Sqrt(sum)
	return out
}

// Limits on the search for the best shares.
const (
	minSteps   = 40
	maxSteps   = 2000
	maxWork    = 1e10
	enoughGap  = 1e-5
	leastShare = 1e-6  // keeps derivatives finite; such shares are dropped in the end
	tinyFactor = 1e-60 // keeps the squares of imaginary parts below the rounding of real parts
)

// gradient returns the weighted mean variance f of the goals, and the decrease of f in each option's precision, divided by
// that option's cost. All options have a precision.
//
// Let Σ = Λ⁻¹ be the covariance of all unknowns, and f = tr(ΣG). A table with rows A decreases f by tr(A ΣGΣ Aᵀ) per unit
// of its precision. The inverse of Λ + itG is Σ − itΣGΣ up to the square of t. So one evaluation with the goals as
// imaginary measurements has the blocks of ΣGΣ in its imaginary parts, without cancellation (the complex step of Squire &
// Trapp 1998).
func (e *evaluator) gradient(precision []float64) (value float64, decrease []float64) {
	decrease = make([]float64, len(precision))
	t := tinyFactor * slices.Min(precision)
	for _, part := range e.parts {
		evidence := evidenceOf[complex128](e, part, precision)
		for _, g := range part.goals {
			weight := g.factor / part.contrasts * e.goals[g.index].Weight / e.weight
			evidence.add(g.level, complex(0, t*weight), g.gram, g.depends)
		}
		sums := byLevel(e, part.dim, smooth(e.tree, evidence))
		for _, g := range part.goals {
			for c, x := range sums[g.level] {
				value += e.goals[g.index].Weight / e.weight * g.factor * g.gram[c] * real(x)
			}
		}
		for _, o := range part.options {
			for c, x := range sums[o.level] {
				decrease[o.index] -= part.contrasts * o.gram[c] * imag(x) / t / e.options[o.index].Cost
			}
		}
	}
	return value, decrease
}

// optimum searches for the shares with the least mean variance. It returns the best shares that it found, and a lower
// bound on the mean variance. Under ρ it starts from equal shares, which leads to the optimum. Under ε it also starts
// near each option alone, because there can be several local minima.
func (e *evaluator) optimum() (best []float64, bound float64) {
	n := len(e.options)
	equal := make([]float64, n)
	for j := range equal {
		equal[j] = 1 / float64(n)
	}
	best, least, bound := e.descend(equal)
	if e.power == UnderRho {
		return best, bound
	}
	const most = 0.9
	for j := range n {
		start := make([]float64, n)
		for i := range start {
			start[i] = (1 - most) / float64(n)
		}
		start[j] += most
		shares, value, lower := e.descend(start)
		bound = math.Max(bound, lower)
		if value < least {
			best, least = shares, value
		}
	}
	return best, bound
}

// descend improves shares step by step. It returns the best ones, their mean variance, and a lower bound on that of all
// shares.
func (e *evaluator) descend(shares []float64) (best []float64, least, bound float64) {
	least = math.Inf(1)
	for range int(max(minSteps, min(maxSteps, maxWork/e.work))) / int(e.power*e.power) {
		value, decrease := e.gradient(e.precisions(shares))
		most := slices.Max(decrease)
		bound = math.Max(bound, value*value/most)
		if value < least {
			least, best = value, slices.Clone(shares)
		}
		if e.power == UnderRho && value-bound <= enoughGap*value {
			break
		}
		sum, moved := 0.0, 0.0
		next := make([]float64, len(shares))
		for j, s := range shares {
			// For a mean variance Σ c_j/s_j^power these steps reach the optimum at once.
			next[j] = s * math.Pow(decrease[j]*math.Pow(s, float64(e.power)-1), 1/float64(1+e.power))
			sum += next[j]
		}
		for j := range next {
			next[j] = math.Max(next[j]/sum, leastShare)
			moved = math.Max(moved, math.Abs(next[j]-shares[j]))
		}
		shares = next
		if e.power == UnderEpsilon && moved < 1e-6 {
			break
		}
	}
	return best, least, bound
}
