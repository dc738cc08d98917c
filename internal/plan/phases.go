package plan

import (
	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// builder puts one plan together.
type builder struct {
	bind.Scope
	tree      *query.Select
	within    *bounded.Expr // what subqueries leave of the rows; nil for all
	request   Request
	maxGroups int64 // as asked for; 0 if not
	maxRows   int64 // likewise
	foundRows int64 // the bound on rows that was found; 0 where none was
	policy    *policy.Policy
	priced    bool // at a price that was asked for
	given     given
	plan      *Plan
	grouped   []bounded.Key // the GROUP BY expressions, in the question's order
	place     []int         // of each grouped expression among the plan's keys
	claims    []claim
	measures  map[string]*Measure // those of the plan, by their texts
	taken     map[string]bool     // the names of outputs
	counted   map[string]int      // of a name that was repeated, the last number that it got
	sets      [][]int             // the grouping sets, of GROUP BY's expressions; nil where there are none
	setsAt    query.Pos           // where they stand
	clash     error               // of two claims that are one
	public    *bind.PublicJoin    // what the join for them asks for; nil where there is none
	sums      []*VectorSum        // of rows' vectors, where they are asked for
	opens     *opening            // admits groups that are not known; nil where a question needs them known
}

// build plans the question in phases. Each phase needs what the phases before it found. bind.RelationOf comes before
// them all: it gives the relation that the question selects from (newBuilder).
func (b *builder) build() (*Plan, error) {
	if err := run(b.bindKeys, b.measure, b.boundUnits, b.dividePrice, b.completeStatements, b.admit); err != nil {
		return nil, err
	}
	b.plan.Limit = b.tree.Limit
	if b.tree.Offset != nil {
		b.plan.Offset = *b.tree.Offset
	}
	b.plan.Weigh()
	return b.plan, nil
}

// bindKeys fixes which rows count and which cell each is in: the conditions, the parts, the keys and the grouping sets.
func (b *builder) bindKeys() error {
	return run(b.spread, b.publicKeys, b.where, b.confine, b.groupBy, b.selectionOptions, b.groupSets)
}

// measure fixes what is added up, put in order or chosen of each cell, what is computed of the released numbers, and
// which aggregates claim a share of the price.
func (b *builder) measure() error {
	return run(b.outputs, b.having, b.orderBy, b.otherColumn, b.together)
}

// boundUnits fixes how much of one unit counts.
func (b *builder) boundUnits() error { return run(b.rowsWanted, b.caps) }

// dividePrice fixes each mechanism's share of the price and, with the sensitivities that follow from the phases before,
// its noise.
func (b *builder) dividePrice() error { return run(b.split, b.splitSets, b.selected, b.orders) }

// completeStatements fixes what engines are asked: the plan's own statement, and those of the grouping sets and of the
// searches, which read the same columns, so that the same rows of a unit count.
func (b *builder) completeStatements() error {
	b.located()
	var more []*bounded.Expr
	for _, q := range b.plan.Quantiles {
		more = append(more, q.Value.X)
	}
	for _, m := range b.plan.Modes {
		more = append(more, m.Of.Expr)
	}
	b.plan.Statement = b.plan.ReadingToo(more)
	return run(b.orderSets, b.looks, b.rowsLook)
}

// admit refuses a question whose statements are too large, or take an engine too long.
func (b *builder) admit() error { return run(b.inProportion, b.affordable) }

// located fills in whose rows are read.
func (b *builder) located() {
	for i := range b.Columns {
		b.Columns[i].Unread = b.Source == nil && !b.Resolved[b.Columns[i].Column]
	}
	b.plan.Table, b.plan.Columns, b.plan.Source, b.plan.Unranked = b.Table.Name, b.Columns, b.Source, b.Table.Unranked
}

// run takes steps until one refuses.
func run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
