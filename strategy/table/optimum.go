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
	levels  int
	needed  []Keys             // components of goals
	factors []map[Keys]float64 // of each goal
}

func newEvaluator(space *Space, goals []Goal, options []Option, p Power) *evaluator {
	e := &evaluator{space: space, goals: goals, options: options, power: p, levels: len(space.Hierarchy.Levels)}
	e.tree = newTree(space.Hierarchy, func(int, int) bool { return false })
	for _, g := range goals {
		e.weight += g.Weight
		e.factors = append(e.factors, g.factors(space))
		for _, t := range g.Keys.subsets() {
			if !slices.Contains(e.needed, t) {
				e.needed = append(e.needed, t)
			}
		}
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

// means returns the mean variance of each goal's cells, as a function of the options' precisions. It is not finite for
// a goal that is not determined.
func means[F number](e *evaluator, precision []F) []F {
	out := make([]F, len(e.goals))
	for _, t := range e.needed {
		byLevel, lowest := make([]F, e.levels), -1
		for j, o := range e.options {
			if o.Keys&t == t && precision[j] != 0 {
				byLevel[o.Level] += precision[j] / times[F](float64(e.space.width(o.Keys&^t)))
			}
		}
		for l := e.levels - 1; l >= 0; l-- {
			if byLevel[l] != 0 {
				lowest = l
			}
		}
		level := make([]F, e.levels) // the mean variance of the component in each level
		if lowest >= 0 {
			s := smooth(e.tree, byLevel, lowest)
			for i, l := range e.tree.level {
				level[l] += times[F](e.tree.all[i]/float64(e.space.Hierarchy.Nodes(l))) * s.full[i]
			}
		}
		for i, g := range e.goals {
			if g.Keys&t != t {
				continue
			}
			if lowest < 0 || g.Level < lowest {
				out[i] += times[F](math.Inf(1))
				continue
			}
			out[i] += times[F](e.factors[i][t]) * level[g.Level]
		}
	}
	return out
}

// mean returns the weighted mean of the goals' variances.
func mean[F number](e *evaluator, precision []F) F {
	var sum F
	for i, v := range means(e, precision) {
		sum += times[F](e.goals[i].Weight/e.weight) * v
	}
	return sum
}

// split evaluates a division of the price.
func (e *evaluator) split(name string, shares []*big.Rat) Split {
	out := Split{Name: name, Shares: shares}
	floats := make([]float64, len(shares))
	for j, s := range shares {
		floats[j], _ = s.Float64()
	}
	sum := 0.0
	for i, v := range means(e, e.precisions(floats)) {
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
	maxSteps   = 2000
	enoughGap  = 1e-5
	leastShare = 1e-6 // keeps derivatives finite; such shares are dropped in the end
	tinyFactor = 1e-30
)

// gradient returns the mean variance, and the decrease of the mean variance in each option's precision divided by
// that option's cost. The complex step has no cancellation, so the derivatives are exact to the rounding of floats
// [Squire & Trapp 1998].
func (e *evaluator) gradient(precision []float64) (value float64, decrease []float64) {
	value, decrease = mean(e, precision), make([]float64, len(precision))
	complexes := make([]complex128, len(precision))
	for j, p := range precision {
		complexes[j] = complex(p, 0)
	}
	for j, p := range precision {
		complexes[j] = complex(p, p*tinyFactor)
		decrease[j] = -imag(mean(e, complexes)) / (p * tinyFactor) / e.options[j].Cost
		complexes[j] = complex(p, 0)
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
	for range maxSteps / int(e.power*e.power) {
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
