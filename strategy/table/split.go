package table

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Goal is a margin whose error matters, with a weight.
type Goal struct {
	Margin
	Weight float64
}

// Option is a margin that can be measured.
type Option struct {
	Margin
	Cost float64 // the variance of the noise on each cell if the margin gets the whole price
}

// Power states how variances follow from shares of the price: the variance is Cost/share^Power.
type Power int

// Under ρ of zCDP, the variance of Gaussian noise is proportional to 1/ρ. Under ε, the variance of Laplace noise is
// proportional to 1/ε².
const (
	UnderRho     Power = 1
	UnderEpsilon Power = 2
)

// Parts is the number of equal parts into which a split divides the price.
const Parts = 1000

// Split is a division of the price among margins.
type Split struct {
	Name    string
	Shares  []*big.Rat // for each option; they add up to 1. An option with share 0 is not measured
	Error   float64    // the root of the weighted mean variance of the goals' cells; +Inf if some goal is not determined
	ByGoal  []float64  // for each goal, the root of the mean variance of its cells
	Nothing []int      // goals that the measured options do not determine
}

// Noisy returns the measured margins of a split, with their variances.
func (s Split) Noisy(options []Option, p Power) (out []Noisy) {
	for j, o := range options {
		if share, _ := s.Shares[j].Float64(); share > 0 {
			out = append(out, Noisy{o.Margin, o.Cost / math.Pow(share, float64(p))})
		}
	}
	return out
}

// Choice is the result of [Choose].
type Choice struct {
	Candidates []Split
	Chosen     int // the candidate with the least error
	// a lower bound on the error of every division of the price among the options. Under ε the bound is loose
	Bound float64
}

// Choose compares divisions of the price by their exact expected errors, before anything is measured: the finest table
// alone, equal shares for the goals' own tables, and the shares that minimise the error.
//
// Under ρ, the error is a convex function of the shares, and the bound is certified up to the rounding of floats by its
// gradient: if f is convex and homogeneous of degree −1, then f(q) ≥ f(p)²/max_j(−∂f/∂p_j) for all shares q that add up
// to 1, because f(q) ≥ 2f(p)/c − (−∇f(p)·q)/c² for every c > 0. This is the bound on efficiency of optimal design
// [Pukelsheim 1993, §6]. Under ε, shares enter as their squares, of which each is at most the share, so the
// same bound holds; the search then finds a local minimum.
func Choose(space *Space, goals []Goal, options []Option, p Power) (*Choice, error) {
	if len(goals) == 0 || len(options) == 0 {
		return nil, fmt.Errorf("a tabulation needs a table and something to measure")
	}
	if err := space.checkLevels(); err != nil {
		return nil, err
	}
	e := newEvaluator(space, goals, options, p)
	if e.work > maxWork/minSteps {
		return nil, tooManyLevels(e.parts[0].dim)
	}
	all := slices.Repeat([]float64{1}, len(options))
	if slices.Contains(e.means(all), math.Inf(1)) {
		return nil, fmt.Errorf("the tables that can be measured do not determine all tables")
	}
	c := &Choice{Bound: math.NaN()}
	add := func(name string, shares []float64) {
		c.Candidates = append(c.Candidates, e.split(name, rounded(shares)))
		if last := len(c.Candidates) - 1; c.Candidates[last].Error < c.Candidates[c.Chosen].Error {
			c.Chosen = last
		}
	}
	n := len(options)
	for j, o := range options {
		if !slices.ContainsFunc(goals, func(g Goal) bool { return o.Level > g.Level || g.Keys&^o.Keys != 0 }) {
			alone := make([]float64, n)
			alone[j] = 1
			add("finest table alone", alone)
			break
		}
	}
	direct := make([]float64, n)
	for _, g := range goals {
		if j := slices.IndexFunc(options, func(o Option) bool { return o.Margin == g.Margin }); j >= 0 {
			direct[j] = 1
		}
	}
	add("equal shares", direct)
	best, bound := e.optimum()
	if p == UnderRho {
		add("optimal shares", best)
	} else {
		add("shares found by search", best)
	}
	c.Bound = math.Sqrt(bound)
	return c, nil
}

// rounded rounds shares to multiples of 1/Parts that add up to 1, and drops shares below 2/Parts.
func rounded(shares []float64) []*big.Rat {
	sum := 0.0
	for _, x := range shares {
		if x*Parts >= 2 {
			sum += x
		}
	}
	whole, left := make([]int64, len(shares)), int64(Parts)
	rest := make([]float64, len(shares))
	for j, x := range shares {
		if x*Parts >= 2 {
			exact := x / sum * Parts
			whole[j] = int64(exact)
			rest[j] = exact - float64(whole[j])
			left -= whole[j]
		}
	}
	for ; left > 0; left-- {
		j := 0
		for i := range rest {
			if rest[i] > rest[j] {
				j = i
			}
		}
		rest[j] = -1
		whole[j]++
	}
	out := make([]*big.Rat, len(shares))
	for j := range out {
		out[j] = big.NewRat(whole[j], Parts)
	}
	return out
}
