package regression

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/stats/formula"
	"dither/stats/internal/request"

	"gonum.org/v1/gonum/mat"
)

// Choice says how terms of a formula were chosen: from sums of all of them that had been released, so at no further
// price.
type Choice struct {
	Of     []string `json:"of"` // the terms that there were
	Chosen []string `json:"chosen"`
	// Models is how many coefficients there are in all models that might have been chosen, at most. Each is given an
	// equal part of what the intervals may fail by: so they hold together, with the confidence that was asked for,
	// whichever model is chosen.
	Models     float64 `json:"coefficients_of_all_models"`
	Confidence float64 `json:"confidence_of_each"` // of each interval by itself
	// Exhaustive reports that all such models were compared. Otherwise terms were added one by one, and exchanged.
	Exhaustive bool `json:"exhaustive"`
}

// automatically is the choice of as many terms as are worth it.
const automatically = "auto"

// mostCompared bounds how many models are compared one by one.
const mostCompared = 4096

// termsOf reads how many terms are to be chosen; -1 for as many as are worth it.
func termsOf(d *formula.Design, text string) (int, error) {
	if !d.Formula.Intercept {
		return 0, request.Misuse("leave out 0 + or - 1", "terms are chosen beside an intercept")
	}
	if text == automatically {
		return -1, nil
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 0 || k > len(d.Terms) {
		return 0, request.Misuse("such as 3, or auto", "of the %d terms of %s none to all are chosen, not %q",
			len(d.Terms), d.Formula, text)
	}
	return k, nil
}

// leastAlpha is how little an interval may fail by: further out in its tail no law is known well enough.
const leastAlpha = 1e-12

// choosable is termsOf, where intervals can allow for so many models: alpha is what they may fail by together.
func choosable(d *formula.Design, text string, alpha float64) (int, error) {
	k, err := termsOf(d, text)
	if err != nil {
		return 0, err
	}
	if len(d.Terms) > maxChosenFrom || alpha/candidates(d, k) < leastAlpha {
		return 0, request.Misuse("leave some out, choose fewer, or a number in place of auto",
			"of %d terms there are too many models to choose from: no interval could allow for them", len(d.Terms))
	}
	return k, nil
}

// candidates bounds the number of coefficients of all models of k of the design's terms (of any number where k is below
// 0): the intercept is in each, and a column in those that have its term. Models that lack what an interaction is made
// of are counted though none is chosen.
func candidates(d *formula.Design, k int) float64 {
	terms, columns := int64(len(d.Terms)), big.NewInt(int64(len(d.Columns)-1))
	all, with := new(big.Int), new(big.Int)
	switch {
	case k < 0:
		all.Lsh(big.NewInt(1), uint(terms))
		with.Rsh(all, 1)
	case k == 0:
		all.SetInt64(1)
	default:
		all.Binomial(terms, int64(k))
		with.Binomial(terms-1, int64(k-1))
	}
	n, _ := new(big.Float).SetInt(all.Add(all, with.Mul(with, columns))).Float64()
	return n
}

// needsOf are, of each term, the others that it is a product of: a model without these is none of its kind, and its
// columns would be centred otherwise.
func needsOf(d *formula.Design) []uint64 {
	out := make([]uint64, len(d.Terms))
	for i, t := range d.Terms {
		for j, part := range d.Terms {
			if i != j && len(part) < len(t) &&
				!slices.ContainsFunc(part, func(f formula.Factor) bool { return !slices.Contains(t, f) }) {
				out[i] |= 1 << j
			}
		}
	}
	return out
}

// chooser compares models by what was released.
type chooser struct {
	q      *normalEquations // of all terms
	d      *formula.Design
	needs  []uint64
	sigma2 float64 // of the residuals, with all terms
	known  map[uint64]float64
}

// maxChosenFrom bounds from how many terms a choice is made.
const maxChosenFrom = 60

// choose finds the k terms (as many as are worth it where k is below 0) with which the response is foretold best.
func (q *normalEquations) choose(d *formula.Design, k int) (set uint64, exhaustive bool, err error) {
	n := len(d.Terms)
	if n > maxChosenFrom {
		return 0, false, request.Misuse("leave some out", "terms are chosen from at most %d, not %d", maxChosenFrom, n)
	}
	c := &chooser{q: q, d: d, needs: needsOf(d), known: map[uint64]float64{}}
	s, ok := q.solve(true)
	if !ok {
		return 0, false, request.Misuse("", "the released sums are singular: nothing can be chosen by them")
	}
	q.size, q.sized = s.size, true // no part of a matrix of noise has a larger norm
	defer func() { q.sized = false }()
	if s.sigma2 > 0 {
		c.sigma2 = math.Min(1, s.sigma2)
	}
	models := new(big.Int).Lsh(big.NewInt(1), uint(n))
	if k >= 0 {
		models.Binomial(int64(n), int64(k))
	}
	if models.Cmp(big.NewInt(mostCompared)) <= 0 {
		return c.all(k), true, nil
	}
	return c.stepwise(k), false, nil
}

// all compares all models.
func (c *chooser) all(k int) (best uint64) {
	least := math.Inf(1)
	compare := func(set uint64) {
		if c.whole(set) {
			if r := c.risk(set); r < least {
				best, least = set, r
			}
		}
	}
	n := len(c.d.Terms)
	var among func(from, left int, set uint64)
	among = func(from, left int, set uint64) {
		if left == 0 {
			compare(set)
			return
		}
		for i := from; i <= n-left; i++ {
			among(i+1, left-1, set|1<<i)
		}
	}
	for size := range n + 1 {
		if k < 0 || size == k {
			among(0, size, 0)
		}
	}
	return best
}

// whole reports that a model has what its interactions are made of.
func (c *chooser) whole(set uint64) bool {
	for i, needs := range c.needs {
		if set>>i&1 == 1 && needs&^set != 0 {
			return false
		}
	}
	return true
}

// stepwise adds the best term again and again, and then exchanges one for another as long as that is better.
func (c *chooser) stepwise(k int) uint64 {
	set, best := uint64(0), uint64(0)
	for size := 0; size < len(c.d.Terms) && (k < 0 || size < k); size++ {
		next, _ := c.neighbour(set, false)
		if next == set {
			break
		}
		if set = next; c.risk(set) < c.risk(best) {
			best = set
		}
	}
	if k < 0 {
		set = best
	}
	for range 2 * len(c.d.Terms) {
		next, r := c.neighbour(set, true)
		if !(r < c.risk(set)) {
			break
		}
		set = next
	}
	return set
}

// neighbour is the best model with one term more, or with one in the place of another.
func (c *chooser) neighbour(set uint64, exchange bool) (best uint64, least float64) {
	best, least = set, math.Inf(1)
	for i := range c.d.Terms {
		with := set | 1<<i
		if with == set {
			continue
		}
		for j := range c.d.Terms {
			of := with
			if exchange {
				of &^= 1 << j
			}
			if (!exchange || set>>j&1 == 1) && c.whole(of) {
				if r := c.risk(of); r < least {
					best, least = of, r
				}
			}
			if !exchange {
				break
			}
		}
	}
	return best, least
}

// risk is what a model's squared errors of prediction add up to, but for a constant: Mallows' Cp, with the part of it
// that is the noise's. At the fitted γ, Σv² − 2γb + γᵀAγ is too small, by pσ² for what is fitted of the
// rows' own errors and by tr(A⁻¹V) for what is fitted of the noise; a prediction has these errors once more.
func (c *chooser) risk(set uint64) float64 {
	if r, ok := c.known[set]; ok {
		return r
	}
	r := math.Inf(1)
	q := c.q.of(c.columns(set), -1)
	if s, ok := q.solve(true); ok {
		r = 2 * c.sigma2 * float64(len(s.gamma))
		v := q.noise.covariance(s.gamma)
		for i, g := range s.gamma {
			r -= 2 * g * q.b[i]
			for j, h := range s.gamma {
				r += g*h*q.a.At(i, j) + 2*s.inverse.At(i, j)*v.At(i, j)
			}
		}
		if math.IsNaN(r) {
			r = math.Inf(1)
		}
	}
	c.known[set] = r
	return r
}

// columns are those of the intercept and of some terms.
func (c *chooser) columns(set uint64) (out []int) {
	for j, t := range c.d.TermOf {
		if t < 0 || set>>t&1 == 1 {
			out = append(out, j)
		}
	}
	return out
}

// of are the equations of some of the predictors, and of a response that is another of them, or -1 for the response
// itself. The noise on these parts of the sums is that of the sums: independent, entry by entry.
func (q *normalEquations) of(columns []int, response int) *normalEquations {
	n := len(columns)
	out := &normalEquations{
		a: mat.NewSymDense(n, nil), b: make([]float64, n), c: q.c, rows: q.rows, noise: q.noise, squares: q.squares,
		size: q.size, sized: q.sized,
		intercept: q.intercept && n > 0 && columns[0] == 0,
	}
	for i, x := range columns {
		out.b[i] = q.b[x]
		if response >= 0 {
			out.b[i] = q.a.At(x, response)
		}
		for j := range i + 1 {
			out.a.SetSym(i, j, q.a.At(x, columns[j]))
		}
	}
	if response >= 0 {
		out.c, out.squares, out.noise.b, out.noise.c = q.a.At(response, response), true, q.noise.offDiagonal,
			q.noise.diagonal
	}
	return out
}

// chosenOf is the formula of some of the design's terms.
func chosenOf(d *formula.Design, set uint64) formula.Formula {
	f := d.Formula
	f.Terms = nil
	for i, t := range d.Terms {
		if set>>i&1 == 1 {
			f.Terms = append(f.Terms, t)
		}
	}
	return f
}

// choiceAmong tells a choice, and gives each of its intervals its part of alpha.
func choiceAmong(d *formula.Design, set uint64, k int, exhaustive bool, alpha float64) (*Choice, float64) {
	out := &Choice{Models: candidates(d, k), Exhaustive: exhaustive, Chosen: []string{}}
	for i, t := range d.Terms {
		out.Of = append(out.Of, t.String())
		if set>>i&1 == 1 {
			out.Chosen = append(out.Chosen, t.String())
		}
	}
	alpha /= out.Models
	out.Confidence = 1 - alpha
	return out, alpha
}

// words says what a choice is.
func (c *Choice) words() string {
	how := "all such models were compared"
	if !c.Exhaustive {
		how = "terms were added one by one, and exchanged"
	}
	return fmt.Sprintf(
		"%d of %d terms were chosen from what was released (%s). Intervals hold for whatever is chosen: all of them "+
			"together, being wider for the %s coefficients that there might have been.",
		len(c.Chosen), len(c.Of), how, strconv.FormatFloat(c.Models, 'g', 6, 64))
}

// choiceNote foretells a choice.
func choiceNote(d *formula.Design, k int, alpha float64) string {
	many := "as many as are worth it"
	if k >= 0 {
		many = strconv.Itoa(k)
	}
	n := candidates(d, k)
	wide := math.Erfinv(1-alpha/n) / math.Erfinv(1-alpha)
	return fmt.Sprintf(
		"Of %d terms %s will be chosen from what is released of all of them, at no further price. Intervals will be "+
			"about %.2g times as wide as a given model's: there might be %s "+
			"coefficients.", len(d.Terms), many, wide, strconv.FormatFloat(n, 'g', 6, 64))
}
