package marginal

import (
	"errors"
	"math"

	"dither/mechanism/linear"
	"dither/strategy"
)

// consistent is what a plan of [Workload.Consistent] measures: tables cell by cell, with a share of the price each.
// Every marginal is estimated from all of them.
type consistent struct {
	shares []float64 // by class of subsets: of one table; 0 if it is not measured
	whole  float64   // the share of the table of all attributes
	all    []int     // these attributes
}

// Limits of what a consistent plan computes.
const (
	mostTableCells = 1 << 20 // of the table of all attributes
	mostPairs      = 1 << 20 // pairs of a table and a part
	mostSteps      = 4000    // of the search for the best shares
)

// ErrConsistent reports a workload for which [Workload.Consistent] has no plan.
var ErrConsistent = errors.New("marginal: tables are measured together for plain values, if not too many")

// Consistent returns a plan for Laplace noise: it measures some marginals and perhaps the table of all attributes cell
// by cell, and estimates each marginal from all of them by weighted least squares. It needs plain [Values].
//
// The estimates are in closed form. A marginal of A with noise of variance v in each cell says of part B ⊆ A, the
// deviations of B's counts that smaller subsets do not determine, what B's counts with noise of variance v·n(A∖B) say,
// for n the number of combinations of values. The noise of different parts is uncorrelated, as the parts are orthogonal
// and the noise has the same variance in all directions. So part B is the mean of these, with weights 1/(v·n(A∖B)), and
// its noise has the variance 1/Σ 1/(v·n(A∖B)) in all directions of the part (Gauss and Markov).
//
// At the share s of the price, v is 1/s² in units of the noise of one count. So it is rarely worth it to measure what
// follows from larger tables. The sum of squared errors is not convex in the shares. The search multiplies each share
// by a power of its derivative until all are equal. It may end in a local minimum, but the errors of the plan are
// exact.
func (w *Workload) Consistent() (*Plan, error) {
	if !w.ordinary() {
		return nil, ErrConsistent
	}
	p := &Plan{
		limits: releaseLimits, Name: "consistent marginals", factors: w.factors(flat), residuals: w.residuals(),
		unit: strategy.Epsilon, tables: &consistent{},
	}
	s, err := newShares(p)
	if err != nil {
		return nil, err
	}
	s.best()
	p.tables.shares, p.tables.whole = s.of[:len(s.of)-1], s.of[len(s.of)-1]
	p.units = s.units()
	p.judge(p.loads())
	return p, nil
}

// information says how much a table of one class says of a part of another: the sum over the tables of 1/n(A∖B).
type information struct {
	table, part int
	sum         float64
}

// shares searches for the shares of a plan.
type shares struct {
	of    []float64     // by class, of one table; the last is the table of all attributes
	count []float64     // by class: the number of tables
	pairs []information // of one part
	loads []float64     // by class of parts, of all parts of the class: their errors are the sum of loads/information
	steep []float64     // by class of parts: Π (1 − 1/n)
}

func newShares(p *Plan) (*shares, error) {
	r, w := p.residuals, p.residuals.workload
	size := func(m int) float64 { return float64(w.domain.attributes[m].Size) }
	s := &shares{of: make([]float64, len(r.members)+1), loads: p.loads()}
	s.count = append(append(s.count, r.count...), 1)
	var union subset
	w.each(func(members []int) {
		for _, m := range members {
			if w.domain.attributes[m].Size > 1 {
				union[m/64] |= 1 << (m % 64)
			}
		}
	})
	p.tables.all = union.members()
	cells := w.domain.cells(p.tables.all)
	for a, members := range r.members {
		rest := map[int]float64{}
		if len(members) > 20 || len(s.pairs) > mostPairs {
			return nil, ErrConsistent
		}
		subsets(members, func(b subset) {
			outside := 1.0
			for _, m := range members {
				if !b.has(m) {
					outside *= size(m)
				}
			}
			class := r.index[w.canonical(b)]
			rest[class] += r.count[a] / r.count[class] / outside
		})
		for b := range r.members { // in a fixed order, so that sums are always rounded alike
			if sum, has := rest[b]; has {
				s.pairs = append(s.pairs, information{a, b, sum})
			}
		}
		s.of[a] = 1
		steep, inside := 1.0, 1.0
		for _, m := range members {
			steep *= 1 - 1/size(m)
			inside *= size(m)
		}
		s.steep = append(s.steep, steep)
		s.loads[a] *= r.count[a] / steep
		if cells <= mostTableCells && cells*float64(len(r.members)) <= 1<<28 {
			s.pairs = append(s.pairs, information{len(r.members), a, inside / cells})
			s.of[len(r.members)] = 1
		}
	}
	if class, known := r.class(union); known { // a marginal of the workload is that table
		s.of[len(r.members)] = 0
		s.of[class] = 1
	}
	s.scale()
	return s, nil
}

// scale makes the shares of all tables add up to 1.
func (s *shares) scale() {
	total := 0.0
	for i, x := range s.of {
		total += x * s.count[i]
	}
	for i := range s.of {
		s.of[i] /= total
	}
}

// known returns the information about one part, by class: the inverse of its variance.
func (s *shares) known() []float64 {
	out := make([]float64, len(s.steep))
	for _, p := range s.pairs {
		out[p.part] += p.sum * s.of[p.table] * s.of[p.table]
	}
	return out
}

// best searches from equal shares, and from one large share of the table of all attributes, which may be better alone.
func (s *shares) best() {
	last := len(s.of) - 1
	if s.of[last] == 0 {
		s.search()
		return
	}
	other := *s
	other.of = append([]float64{}, s.of...)
	for i := range other.of[:last] {
		other.of[i] *= 1e-3 / (1 - other.of[last])
	}
	other.of[last] = 1 - 1e-3
	other.scale()
	if a, b := s.search(), other.search(); b < a {
		*s = other
	}
}

// search improves the shares, and returns the sum of squared errors.
func (s *shares) search() (sum float64) {
	most := min(mostSteps, 1+(1<<28)/(1+len(s.pairs)))
	last := math.Inf(1)
	for step := range most {
		known := s.known()
		sum = s.sum(known)
		if step%50 == 49 {
			if last-sum < 1e-9*sum {
				break
			}
			last = sum
		}
		slope := make([]float64, len(s.of)) // −∂(sum)/∂(share of all tables of the class), halved
		for _, p := range s.pairs {
			slope[p.table] += s.loads[p.part] / (known[p.part] * known[p.part]) * p.sum * s.of[p.table]
		}
		largest := 0.0
		for i := range s.of {
			if s.count[i] > 0 && s.of[i] > 0 {
				slope[i] /= s.count[i]
				largest = max(largest, slope[i])
			}
		}
		for i := range s.of {
			s.of[i] *= math.Pow(slope[i]/largest, 0.3)
		}
		s.scale()
	}
	s.round()
	return s.sum(s.known())
}

// sum returns the sum of squared errors, from the information about each part.
func (s *shares) sum(known []float64) (sum float64) {
	for b, i := range known {
		sum += s.loads[b] / i
	}
	return sum
}

// round drops tables whose shares are so small that they say next to nothing, if the others determine all parts.
func (s *shares) round() {
	largest := 0.0
	for _, x := range s.of {
		largest = max(largest, x)
	}
	before := append([]float64{}, s.of...)
	for i, x := range s.of {
		if x < 1e-4*largest {
			s.of[i] = 0
		}
	}
	for _, i := range s.known() {
		if i == 0 {
			s.of = before
			return
		}
	}
	s.scale()
}

// units returns the variances of the parts as [Plan] has them: of a measurement scaled to L₂ sensitivity 1.
func (s *shares) units() []float64 {
	out := s.known()
	for b := range out {
		out[b] = 1 / (s.steep[b] * out[b])
	}
	return out
}

// measured returns the subsets of a consistent plan that are measured, with their shares.
func (c *consistent) measured(p *Plan) (tables [][]int, weights []float64) {
	for _, members := range p.parts() {
		class, _ := p.residuals.class(of(members...))
		if c.shares[class] > 0 {
			tables, weights = append(tables, members), append(weights, c.shares[class])
		}
	}
	if c.whole > 0 {
		tables, weights = append(tables, c.all), append(weights, c.whole)
	}
	return tables, weights
}

// cellByCell returns the identity on the cells of a table.
func (p *Plan) cellByCell(members []int) linear.Product {
	out := linear.Product{}
	for _, m := range members {
		out = append(out, linear.Identity(p.factors[m].size))
	}
	if len(members) == 0 {
		out = append(out, linear.Identity(1))
	}
	return out
}
