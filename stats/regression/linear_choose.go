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

// Choice describes a selection of terms from a formula. The selection uses released sums of all terms, so it costs
// nothing more.
type Choice struct {
	Of     []string `json:"of"` // all terms of the formula
	Chosen []string `json:"chosen"`
	// Models is an upper bound on the number of coefficients in all models that could have been selected. The
	// intervals share their total error probability equally among these coefficients. All intervals therefore hold
	// together, with the requested confidence, for every selection.
	Models     float64 `json:"coefficients_of_all_models"`
	Confidence float64 `json:"confidence_of_each"` // confidence of each interval by itself
	// Exhaustive reports whether all such models were compared. Otherwise terms were added one by one, and then
	// exchanged.
	Exhaustive bool `json:"exhaustive"`
}

// automatically selects as many terms as improve the prediction.
const automatically = "auto"

// mostCompared is the largest number of models for an exhaustive comparison.
const mostCompared = 4096

// termsOf parses the number of terms to select. It returns −1 for "auto".
func termsOf(d *formula.Design, text string) (int, error) {
	if !d.Formula.Intercept {
		return 0, request.Misuse("leave out 0 + or - 1", "choosing terms needs an intercept")
	}
	if text == automatically {
		return -1, nil
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 0 || k > len(d.Terms) {
		return 0, request.Misuse("such as 3, or auto", "the number of chosen terms must be 0 to %d for the formula "+
			"%s, or auto, not %q",
			len(d.Terms), d.Formula, text)
	}
	return k, nil
}

// leastAlpha is the smallest error probability of an interval. Further out in the tail, no distribution is known
// accurately enough.
const leastAlpha = 1e-12

// choosable parses the number of terms as [termsOf] does. It returns an error if intervals cannot be widened for
// that many models. alpha is the total error probability of the intervals.
func choosable(d *formula.Design, text string, alpha float64) (int, error) {
	k, err := termsOf(d, text)
	if err != nil {
		return 0, err
	}
	if len(d.Terms) > maxChosenFrom || alpha/candidates(d, k) < leastAlpha {
		return 0, request.Misuse("leave some terms out, choose fewer, or give a number instead of auto",
			"%d terms give too many possible models: no interval could allow for the choice", len(d.Terms))
	}
	return k, nil
}

// candidates returns an upper bound on the number of coefficients in all models with k of the design's terms. A
// negative k means any number of terms. The intercept is in each model, and a column is in the models that contain
// its term. The count includes models that lack a factor of one of their interactions, although such a model is
// never selected.
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

// needsOf returns, for each term, the set of other terms of which it is a product, as bits. A model that contains
// the term must contain these, because its columns would otherwise be centred differently.
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

// chooser compares models by their estimated risk, from released sums.
type chooser struct {
	q      *normalEquations // equations of all terms
	d      *formula.Design
	needs  []uint64
	sigma2 float64 // residual variance with all terms
	known  map[uint64]float64
}

// maxChosenFrom is the largest number of terms among which a selection is made.
const maxChosenFrom = 60

// choose selects the k terms that predict the response best. A negative k means any number of terms. The result is
// a bit set. exhaustive reports whether all models were compared.
func (q *normalEquations) choose(d *formula.Design, k int) (set uint64, exhaustive bool, err error) {
	n := len(d.Terms)
	if n > maxChosenFrom {
		return 0, false, request.Misuse("leave some out", "terms can be chosen from at most %d, not "+
			"%d", maxChosenFrom, n)
	}
	c := &chooser{q: q, d: d, needs: needsOf(d), known: map[uint64]float64{}}
	s, ok := q.solve(true)
	if !ok {
		return 0, false, request.Misuse("", "the released sums are singular: they cannot choose terms")
	}
	q.size, q.sized = s.size, true // the noise of a submatrix has at most the norm of the noise of the whole matrix
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

// all compares every model with k terms and returns the one with the least risk. A negative k means any number of
// terms.
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

// whole reports whether a model contains the factors of all of its interactions.
func (c *chooser) whole(set uint64) bool {
	for i, needs := range c.needs {
		if set>>i&1 == 1 && needs&^set != 0 {
			return false
		}
	}
	return true
}

// stepwise adds the best term repeatedly, then exchanges single terms as long as the risk falls.
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

// neighbour returns the model with the least risk that adds one term to set, or exchanges one term if exchange is
// true.
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

// risk estimates the sum of a model's squared prediction errors, up to a constant. It is Mallows' Cp with a term
// for the noise. z are a row's predictors and v is its response. A = Σzzᵀ and b = Σzv are the released sums, and σ²
// is the residual variance. At the fitted coefficients γ, Σv² − 2γb + γᵀAγ is too small, for two reasons. γ fits
// the rows' own errors, which removes pσ² for p coefficients. γ also fits the noise, which removes tr(A⁻¹V), where
// V is the noise's covariance. A prediction has both errors once more, so risk adds each of them twice.
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

// columns returns the indices of the intercept's column and the columns of a set of terms.
func (c *chooser) columns(set uint64) (out []int) {
	for j, t := range c.d.TermOf {
		if t < 0 || set>>t&1 == 1 {
			out = append(out, j)
		}
	}
	return out
}

// of returns the equations for the given predictors. response is the index of a predictor that serves as the
// response, or −1 for the original response. The noise of the parts is the same as in the whole: independent for
// each entry.
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

// chosenOf returns the formula with only the terms in set.
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

// choiceAmong describes a selection, and returns the part of alpha for each of its intervals.
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

// words describes a selection for the reader of a fit.
func (c *Choice) words() string {
	how := "all such models were compared"
	if !c.Exhaustive {
		how = "terms were added one by one, and exchanged"
	}
	return fmt.Sprintf(
		"%d of %d terms were chosen from the released sums (%s). Intervals hold jointly and allow for the choice: "+
			"they are wider, because %s coefficients were possible.",
		len(c.Chosen), len(c.Of), how, strconv.FormatFloat(c.Models, 'g', 6, 64))
}

// choiceNote returns a note for an explanation: how many terms will be selected, and how much wider the intervals
// will be.
func choiceNote(d *formula.Design, k int, alpha float64) string {
	many := "the best number"
	if k >= 0 {
		many = strconv.Itoa(k)
	}
	n := candidates(d, k)
	wide := math.Erfinv(1-alpha/n) / math.Erfinv(1-alpha)
	return fmt.Sprintf(
		"Of %d terms, %s will be chosen from the released sums, at no further price. Intervals will be about %.2g "+
			"times as wide as for a fixed model, because %s coefficients are "+
			"possible.", len(d.Terms), many, wide, strconv.FormatFloat(n, 'g', 6, 64))
}
