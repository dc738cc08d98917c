// Package prune decides which groups of a question can have rows. It reads the question's conditions, its keys and the
// policy's declarations, and never rows.
//
// Claim: a group that this package leaves out has no row, whatever the rows are: so each of its sums and counts is 0.
// Proof. A row is in a group if WHERE is TRUE in it and each key has the group's value there. Facts are sets that
// contain the values of expressions in each such row. It holds of the first facts, which contain everything
// ([search.eval]). An assumption keeps it: the values of an expression are in the intersection of two sets that contain
// them; a connective with a truth value gives its arguments the truth values of the three-valued tables ([parts]); a
// comparison with a constant and an invertible operation give their operand only values that they need
// ([search.inverse]); and of alternatives, all are tried, and each row meets one ([splits]). A group is left out only
// if some set became empty on the way in all alternatives. Then no row meets the assumptions. ∎
package prune

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// Rows describes the rows that satisfy a condition.
type Rows struct {
	search *search
	facts  *facts
	none   bool // no row satisfies the condition
	reads  map[*bounded.Expr][]*bounded.Expr
}

// Limits on the search: how many alternatives may be chosen within one another, and how many values of a column are
// tried one by one for each group.
const (
	depth    = 3
	fewItems = 400
)

// Where returns a description of the rows of a relation with these columns for which the condition is TRUE. A nil
// condition is TRUE for all rows.
func Where(condition *bounded.Expr, columns []bounded.Column) *Rows {
	r := &Rows{
		search: &search{lists: map[*bounded.Expr][]value.Value{}},
		facts:  &facts{all: true},
		reads:  map[*bounded.Expr][]*bounded.Expr{},
	}
	for _, c := range columns {
		values := slices.Clone(c.Values)
		slices.SortFunc(values, value.Compare)
		r.search.columns = append(r.search.columns, values)
	}
	if condition != nil {
		r.none = !r.search.assume(goal{condition, onlyTrue}, r.facts) || !r.settle(r.facts, policy.MaxKeys) ||
			!r.possible(r.facts, depth)
	}
	return r
}

// Values lists the values that an expression can have in these rows, without NULL. The boolean is false if they are
// not known, or more than policy.MaxKeys.
func (r *Rows) Values(e *bounded.Expr) ([]value.Value, bool) {
	if r.none {
		return []value.Value{}, true
	}
	out, ok := r.search.eval(e, r.facts).list(policy.MaxKeys)
	return out.values, ok
}

// columns returns the columns that an expression reads, each once.
func (r *Rows) columns(e *bounded.Expr) []*bounded.Expr {
	out, ok := r.reads[e]
	if !ok {
		e.Walk(func(x *bounded.Expr) {
			if x.Op == bounded.OpColumn && !slices.ContainsFunc(out, x.Same) {
				out = append(out, x)
			}
		})
		r.reads[e] = out
	}
	return out
}

// settle drops the goals that follow from the facts about columns. If a goal reads one column that has at most so many
// values, settle tries each of them. It returns false if no row meets the facts.
func (r *Rows) settle(f *facts, most int) bool {
	for range 2 { // a second time for what follows from the first
		goals := f.goals
		f.goals = nil
		for _, g := range goals {
			if meet(r.search.compute(g.e, f), g.in).empty() {
				return false
			}
			plain := facts{of: f.of}
			if r.search.compute(g.e, &plain).within(g.in) {
				continue
			}
			dropped, ok := r.tried(g, f, most)
			if !ok {
				return false
			}
			if !dropped {
				f.goals = append(f.goals, g)
			}
		}
	}
	return true
}

// tried tries each value of the only column that a goal reads, if there are at most so many, and narrows the column to
// those that can meet the goal. It returns whether all of these meet it, and false if there are none.
func (r *Rows) tried(g goal, f *facts, most int) (met, possible bool) {
	columns := r.columns(g.e)
	if len(columns) != 1 {
		return false, true
	}
	was, ok := r.search.eval(columns[0], f).list(most)
	if !ok {
		return false, true
	}
	met = true
	try := func(v value.Value) bool {
		if r.search.spent() {
			met = false
			return true
		}
		is := r.search.compute(g.e, &facts{of: []fact{{columns[0], single(v)}}})
		if meet(is, g.in).empty() {
			return false
		}
		met = met && is.within(g.in)
		return true
	}
	is := was.keep(try, was.null && try(value.NullOf(columns[0].Type)))
	f.put(columns[0], is)
	return met, !is.empty()
}

// possible reports whether a row may meet the facts. It looks for contradictions, and into alternatives.
func (r *Rows) possible(f *facts, depth int) bool {
	if r.search.spent() {
		return true
	}
	if !r.settle(f, fewItems) {
		return false
	}
	if depth == 0 {
		return true
	}
	for i, g := range f.goals {
		alternatives := splits(g)
		if alternatives == nil {
			continue
		}
		return slices.ContainsFunc(alternatives, func(goals []goal) bool {
			each := f.clone()
			each.goals = slices.Delete(each.goals, i, i+1)
			return !slices.ContainsFunc(goals, func(g goal) bool { return !r.search.assume(g, each) }) &&
				r.possible(each, depth-1)
		})
	}
	return true
}
