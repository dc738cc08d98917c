package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dither/synth/internal/layout"
)

// MaxCells is the largest number of cells of a clique, and of a marginal.
const MaxCells = 1 << 28

// ErrTooLarge says that a model needs more memory than [Options.MaxBytes].
var ErrTooLarge = errors.New("model: too large")

// ErrForbidden says that the constraints forbid every row.
var ErrForbidden = errors.New("model: the constraints allow no row: allow at least one combination of values")

// Options are the parameters of [Fit]. The zero value is ready to use.
type Options struct {
	// Total is the number of rows of the model. 0: [Total] estimates it, and it is at least 1.
	Total float64
	// Constraints forbid cells.
	Constraints []Constraint
	// Cliques are further sets of attributes that are each in one clique, so that their marginals are read off.
	Cliques [][]int
	// MaxBytes is the largest [Size] of the model. 0: 2³⁰.
	MaxBytes float64
	// Iterations is the largest number of steps. 0: 1,000.
	Iterations int
	// Gap ends the fit when the loss is proved to be at most Gap above the least one. The loss is minus the logarithm of
	// the likelihood under Gaussian noise, up to a constant: a gap well below 1 is invisible beside the noise.
	Gap float64
	// Improvement ends the fit when ten steps together lower the loss by less than this share of it. 0: 1e-5.
	Improvement float64
	// From is an earlier model of the same domain, from whose potentials the fit starts.
	From *Model
}

// Report says how a fit ended.
type Report struct {
	// Loss is half the sum of the squared errors, each divided by the variance of its noise.
	Loss float64
	// Gap is an upper bound on Loss minus the least loss of any distribution, up to the rounding of floating-point sums.
	Gap        float64
	Iterations int // the steps that were made
	Converged  bool
}

// factor is a set of attributes with potentials of its own.
type factor struct {
	members   []int // ascending
	set       set
	clique    int
	fixed     bool // a constraint, which no step changes
	changed   bool
	potential []float64
	marginal  []float64
	gradient  []float64 // of the loss, by cell of the marginal

	oldPotential, oldMarginal, oldGradient []float64 // at the stored point
	point, best                            []float64 // potentials: before the momentum, and with the least loss
}

// Fit returns the model of maximum entropy among those that minimise the weighted squared error of the measurements,
// Σ ‖Qμ − y‖²/(2·Variance), with the number of rows and the constraints of the options. It approaches that model: see
// [Options.Gap] and [Model.Report].
//
// The order of all sums depends on the arguments alone, so a machine always gives the same model for the same
// arguments. Processors of different kinds may differ in the last bits.
//
// It returns [ErrTooLarge] if the model would need more than MaxBytes, [ErrForbidden] if the constraints allow no row,
// and an error if a measurement does not fit the domain.
func Fit(d *Domain, measurements []Measurement, o Options) (*Model, error) {
	s, err := newSolver(d, measurements, o)
	if err != nil {
		return nil, err
	}
	s.descend()
	return s.model, nil
}

// solver is a fit in progress.
type solver struct {
	model    *Model
	options  Options
	measures []*measure
	step     float64 // the last multiple of the gradient
	longest  float64 // the largest multiple
	opening  bool    // no step has been too long yet
}

// newSolver checks the arguments of Fit, and lays out the model.
func newSolver(d *Domain, measurements []Measurement, o Options) (*solver, error) {
	if o.Iterations < 0 || o.Gap < 0 || o.Improvement < 0 || o.MaxBytes < 0 || !(o.Total >= 0 && o.Total <= 1e100) {
		return nil, fmt.Errorf("model: the options %+v must not be negative", o)
	}
	if o.Iterations == 0 {
		o.Iterations = 1000
	}
	if o.Improvement == 0 {
		o.Improvement = 1e-5
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	if o.Total == 0 {
		total, _, err := Total(d, measurements)
		if err != nil {
			return nil, err
		}
		o.Total = max(1, total)
	}
	s := &solver{model: &Model{domain: d, total: o.Total}, options: o}
	within, err := readAll(d, o.Cliques)
	if err != nil {
		return nil, err
	}
	known := map[set]*factor{}
	weights := 0.0
	for i := range measurements {
		y := &measurements[i]
		set, p, err := y.check(d)
		if err != nil {
			return nil, err
		}
		f := known[set]
		if f == nil {
			f = s.factor(y.Attributes, set)
			known[set] = f
			within = append(within, set)
		}
		s.measures = append(s.measures, &measure{
			factor: f, product: p, values: y.Values, weight: 1 / y.Variance, residual: make([]float64, len(y.Values)),
		})
		weights += 1 / y.Variance
	}
	for i := range o.Constraints {
		set, err := s.constrain(&o.Constraints[i])
		if err != nil {
			return nil, err
		}
		within = append(within, set)
	}
	if err := s.layOut(within, o.MaxBytes); err != nil {
		return nil, err
	}
	s.step = 1 / (o.Total * max(weights, 1e-300))
	s.longest, s.opening = 1e9*s.step, true
	s.resume(o.From)
	return s, nil
}

// factor adds a factor to the model.
func (s *solver) factor(members []int, of set) *factor {
	f := &factor{members: members, set: of, changed: true}
	n := int(s.model.domain.only(of))
	for _, table := range []*[]float64{
		&f.potential, &f.marginal, &f.gradient, &f.oldPotential, &f.oldMarginal, &f.oldGradient, &f.point, &f.best,
	} {
		*table = make([]float64, n)
	}
	s.model.factors = append(s.model.factors, f)
	return f
}

// constrain adds the factor of a constraint, and returns its set.
func (s *solver) constrain(c *Constraint) (set, error) {
	d := s.model.domain
	of, err := d.read(c.Attributes)
	if err != nil {
		return of, err
	}
	if float64(len(c.Allowed)) != d.only(of) {
		return of, fmt.Errorf(
			"model: the constraint on %v has %d cells instead of %.0f", c.Attributes, len(c.Allowed), d.only(of),
		)
	}
	f := &factor{members: c.Attributes, set: of, changed: true, fixed: true, potential: make([]float64, len(c.Allowed))}
	for i, allowed := range c.Allowed {
		if !allowed {
			f.potential[i] = math.Inf(-1)
		}
	}
	s.model.factors = append(s.model.factors, f)
	return of, nil
}

// layOut makes the junction tree, and places each factor in a clique.
func (s *solver) layOut(within []set, most float64) error {
	d := s.model.domain
	cliques := triangulate(d, within)
	if size := bytes(d, cliques); size > most {
		return fmt.Errorf(
			"%w: the measurements need a model of %.0f bytes, above the limit of %.0f: measure fewer attributes together", ErrTooLarge, size, most,
		)
	}
	t := newTree(d, cliques)
	for _, c := range t.cliques {
		if d.only(c.set) > MaxCells {
			return fmt.Errorf(
				"%w: a clique has %.0f cells, above the limit of %d", ErrTooLarge, d.only(c.set), MaxCells,
			)
		}
	}
	t.allocate()
	for i, f := range s.model.factors {
		f.clique = t.home(f.set)
		c := t.cliques[f.clique]
		c.terms = append(c.terms, i)
		c.places = append(c.places, layout.New(d.sizes, c.members, f.members))
	}
	s.model.tree = t
	if math.IsInf(t.propagate(s.model.factors, s.model.total), -1) {
		return ErrForbidden
	}
	return nil
}

// depth is the largest difference of the potentials of a factor that a fit starts from. Cells without rows have far
// lower potentials, from which a later measurement would raise them only in many steps.
const depth = 15

// resume takes the potentials of an earlier model.
func (s *solver) resume(from *Model) {
	if from == nil {
		return
	}
	earlier := map[set]*factor{}
	for _, f := range from.factors {
		if !f.fixed {
			earlier[f.set] = f
		}
	}
	for _, f := range s.model.factors {
		if e := earlier[f.set]; e != nil && !f.fixed && len(e.potential) == len(f.potential) {
			most := slices.Max(e.potential)
			for i, v := range e.potential {
				f.potential[i] = max(v, most-depth)
			}
			f.changed = true
		}
	}
}

// evaluate computes the marginals, the loss and its gradient from the potentials. The gradient of a factor has the mean
// 0 over the rows.
func (s *solver) evaluate() float64 {
	m := s.model
	m.tree.propagate(m.factors, m.total)
	for _, c := range m.tree.cliques {
		for i, f := range c.terms {
			if f := m.factors[f]; !f.fixed {
				c.places[i].Sum(f.marginal, c.marginal)
				clear(f.gradient)
			}
		}
	}
	loss := 0.0
	for _, y := range s.measures {
		answers := y.factor.marginal
		if y.product != nil {
			answers = y.product.apply(answers, false)
		}
		squares := 0.0
		for i, v := range answers {
			r := v - y.values[i]
			squares += r * r
			y.residual[i] = r * y.weight
		}
		loss += squares * y.weight / 2
		cells := y.residual
		if y.product != nil {
			cells = y.product.apply(cells, true)
		}
		for i, v := range cells {
			y.factor.gradient[i] += v
		}
	}
	// All distributions have the same total, so a constant changes no step. Without it, products with the gradient are
	// precise near the optimum, where the gradient is constant wherever there are rows.
	for _, f := range m.factors {
		mean := 0.0
		for i, g := range f.gradient {
			mean += g * f.marginal[i]
		}
		mean /= m.total
		for i := range f.gradient {
			f.gradient[i] -= mean
		}
	}
	return loss
}
