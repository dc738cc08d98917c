package synth

import (
	"context"
	"errors"
	"slices"

	"dither/internal/splitmix"
	"dither/synth/constraint"
	"dither/synth/model"
)

// rule is a constraint on cells.
type rule struct {
	*constraint.Rule
	at      []int   // its columns, in the order of Rule.Columns
	set     []int   // its columns, ascending
	states  []state // by cell of set; nil if there are too many cells
	dropped bool    // the model is too small for the table, so that rows are drawn again instead
}

// state says how a cell stands to a constraint.
type state byte

const (
	holds  state = iota // all its values satisfy it
	mixed               // some do
	broken              // none does
)

// MaxConstraints is the largest number of constraints.
const MaxConstraints = 1000

// mostStates bounds the cells of a constraint that is kept in the model.
const mostStates = 1 << 18

// parsed reads constraints.
func parsed(texts []string) (out []*constraint.Rule, err error) {
	if len(texts) > MaxConstraints {
		return nil, usage("", "there are at most %d constraints, not %d", MaxConstraints, len(texts))
	}
	for _, text := range texts {
		r, err := constraint.Parse(text)
		if err != nil {
			return nil, usage("write a constraint such as: age < 18 => NOT married", "constraint %v", err)
		}
		out = append(out, r)
	}
	return out, nil
}

// constrain compiles the constraints. The model has those whose tables fit into half of its size, and rows that break
// others are drawn again. It refuses constraints that no row satisfies.
func (p *Plan) constrain(ctx context.Context, rules []*constraint.Rule) error {
	if len(rules) == 0 {
		return nil
	}
	w := newWriter(&Result{Plan: p}, nil)
	for _, r := range rules {
		c := &rule{Rule: r}
		for _, name := range r.Columns() {
			c.at = append(c.at, slices.IndexFunc(p.Columns, func(c *Column) bool { return c.Name == name }))
		}
		c.set = slices.Sorted(slices.Values(c.at))
		if p.domain.Cells(c.set...) <= mostStates {
			if err := c.tabulate(ctx, p, w); err != nil {
				return err
			}
		} else {
			c.dropped = true
		}
		p.constraints = append(p.constraints, c)
	}
	if err := p.fitConstraints(); err != nil {
		return err
	}
	return p.satisfiable()
}

// constrainedBytes bounds models with constraints, unless the request has a bound.
const constrainedBytes = 1 << 26

// fitConstraints leaves those with the largest tables out of the model, until the rest fits.
func (p *Plan) fitConstraints() error {
	room := float64(constrainedBytes)
	if p.Method == AIM || p.Method == Fixed {
		room = p.request.ModelBytes / 2
	}
	for {
		size, err := model.Size(p.domain, append(p.ones(), p.constrained()...))
		if err != nil || size <= room || !p.drop() {
			return err
		}
	}
}

// satisfiable refuses constraints that no row satisfies, by a search for one.
func (p *Plan) satisfiable() error {
	refused := func(format string, args ...any) error {
		var texts []string
		for _, c := range p.constraints {
			texts = append(texts, c.String())
		}
		return usage("change the constraints, or the values and bounds that the policy declares", format+": %q", append(args, texts)...)
	}
	even := make([]float64, p.Columns[0].Cells)
	m, err := model.Fit(p.domain, []model.Measurement{{Attributes: []int{0}, Values: even, Variance: 1}}, model.Options{
		Total: 1, Iterations: 1, Constraints: p.forbidden(),
	})
	switch {
	case errors.Is(err, model.ErrForbidden):
		return refused("no row satisfies the constraints")
	case err != nil:
		return err
	}
	words := splitmix.At(1)
	w := newWriter(&Result{Plan: p, model: m}, &words)
	if found, err := w.replaced(); err != nil || !found {
		return refused("none of %d rows that were tried satisfies the constraints", mostTries)
	}
	return nil
}

// constrained returns the sets of columns of the constraints that the model has.
func (p *Plan) constrained() (out [][]int) {
	for _, c := range p.constraints {
		if !c.dropped {
			out = append(out, c.set)
		}
	}
	return out
}

// forbidden returns the constraints that the model has.
func (p *Plan) forbidden() (out []model.Constraint) {
	for _, c := range p.constraints {
		if c.dropped {
			continue
		}
		allowed := make([]bool, len(c.states))
		for i, s := range c.states {
			allowed[i] = s != broken
		}
		out = append(out, model.Constraint{Attributes: c.set, Allowed: allowed})
	}
	return out
}

// tabulate sets the states of all cells. A cell whose ranges contain no satisfying values among those that the search
// tries is forbidden.
func (c *rule) tabulate(ctx context.Context, p *Plan, w *writer) error {
	c.states = make([]state, int(p.domain.Cells(c.set...)))
	codes := make([]int, len(c.set))
	values := make([]constraint.Value, len(c.at))
	for i := range c.states {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rest := i
		for k := len(codes) - 1; k >= 0; k-- {
			n := p.Columns[c.set[k]].Cells
			codes[k], rest = rest%n, rest/n
		}
		for k, a := range c.set {
			w.row[a] = codes[k]
		}
		for k, a := range c.at {
			values[k] = w.writers[a].ranges[w.row[a]]
		}
		switch t := c.Truth(values); {
		case t.Holds():
		case t.Breaks() || !w.search([]*rule{c}):
			c.states[i] = broken
		default:
			c.states[i] = mixed
		}
	}
	return nil
}

// state returns the state of the cells of a row. It is mixed if it is not known.
func (c *rule) state(p *Plan, row []int) state {
	if c.states == nil {
		return mixed
	}
	cell := 0
	for _, a := range c.set {
		cell = cell*p.Columns[a].Cells + row[a]
	}
	return c.states[cell]
}

// Constraint is a constraint of a plan.
type Constraint struct {
	Text string
	// Modelled: the model gives no row to cells that break it. Otherwise the model has no room for its columns
	// together, and rows that break it are drawn again
	Modelled bool
}

// Constraints returns the constraints.
func (p *Plan) Constraints() []Constraint {
	out := []Constraint{}
	for _, c := range p.constraints {
		out = append(out, Constraint{c.String(), !c.dropped})
	}
	return out
}

// drop leaves the constraint with the largest table out of the model. It reports whether there was one.
func (p *Plan) drop() bool {
	var largest *rule
	for _, c := range p.constraints {
		if !c.dropped && (largest == nil || p.domain.Cells(c.set...) > p.domain.Cells(largest.set...)) {
			largest = c
		}
	}
	if largest != nil {
		largest.dropped = true
	}
	return largest != nil
}
