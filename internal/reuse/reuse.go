// Package reuse decides which earlier releases answer a question at no further cost. It compares what two plans
// measure, as typed trees, and expresses the cells of one as sums of cells of the other. It reads plans alone: no
// rows, and no canonical text but those of relations.
package reuse

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Following states how the cells (groups) of a measure over one grouping follow from the release of another plan. Each
// cell is a sum of cells of the other plan's table over some of its keys. The sums may have different lengths: over a
// release by day, a month has 28 to 31 cells.
type Following struct {
	Measure int   // index among the measures of the other plan
	Keys    []int // keys of the other plan, in increasing order; its table is summed over all other keys
	// Cells lists, for each cell of the grouping, the cells of that table that add up to it, in the order of the
	// table's keys. The list is empty if the cell is 0 for all rows.
	Cells [][]int
}

// Follow states how measure m over grouping g of the reader's plan p follows from what q releases. Both plans must
// be planned under one policy over one sealed version. Follow returns false if the measure does not follow.
//
// Claim: for every table of rows that sealing accepts under the policy, each exact *bounded* cell of p is the sum of
// the stated cells of q. (Nothing is claimed about the aggregates without bounds.) Proof, by what determines a cell.
//   - Both plans read one table, or the same relation: the texts of their sources are equal. Under one policy, such
//     sources have the same rows, with their columns at the same places.
//   - The measures are the Same, so each row contributes the same integer to both.
//   - Columns that both plans read are cleaned alike. The policy is the same, and so is the version of a public
//     table from which they take their values. So expressions that are the Same have the same value in each row.
//   - The same rows remain in both plans. p has every condition of q's WHERE. Each further condition of p is about
//     one key of q, picks some of its values, and is true for no row that q drops (see picks). A key drops a row if
//     the row's value is not one of its known values, which happens only if the value is NULL. It drops no row if
//     its expression is never NULL, or NULL in no row that sealing accepts, or if NULL is one of its values. Every
//     other key of q drops only rows that p drops too. Every key of p drops no row, or only rows that q drops too, or
//     that are in cells of q which no cell of p adds up (see lead).
//   - Each remaining row is in one cell of q, and in the cell of p to which that cell leads: each key of p is a key
//     of q, or a function of one, so a value of q's key determines the value of p's. Two keys of p may be functions
//     of the same key of q. A cell of p to which no cell of q leads is 0 for all rows.
//   - Parts drop the same rows. If each row is a unit, they drop none. Otherwise both plans are confined to parts,
//     or neither is. Which parts are a unit's own depends on the policy and not on the question.
//   - Each unit keeps the same rows. There are three cases. In the first, every row counts (see everyRow). In the
//     second, the same number of a unit's rows count, in the same order (see sameOrder), and p has no further
//     condition, which would drop some of the rows that q's cap kept. In the third, the plans have the same cells and
//     the same caps: without ranks, an engine orders a unit's cells by their keys alone.
//   - Counts of units follow only if the cells and the caps are the same, because a unit may be in several cells.
//   - Nothing else affects what a Followable plan measures. TestEveryFieldIsDecided lists each field of a plan and
//     of its statement with the item above that covers it, and fails for a new field. ∎
func (r *Reader) Follow(m *plan.Measure, g plan.Grouping, q *plan.Plan) (Following, bool) {
	p := r.asked
	if !r.followable || !Followable(q) {
		return Following{}, false
	}
	if p.Table != q.Table || p.Neighbours != q.Neighbours || p.PolicyDigest != q.PolicyDigest {
		return Following{}, false
	}
	c := r.with(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	j := c.measure(m)
	if j < 0 || !sameCaps(m, p, q) || !c.rows() {
		return Following{}, false
	}
	cells := c.cells(g)
	if cells == nil {
		return Following{}, false
	}
	out := *cells
	out.Measure = j
	return out, true
}

// Tells reports whether some measure of the reader's plan follows (see [Following]) from a release of the plan q, in
// all groupings.
func (r *Reader) Tells(q *plan.Plan) bool {
	return slices.ContainsFunc(r.asked.Measures, func(m *plan.Measure) bool {
		return !slices.ContainsFunc(r.asked.Groupings(), func(g plan.Grouping) bool {
			_, ok := r.Follow(m, g, q)
			return !ok
		})
	})
}

// Followable reports whether p releases only sums and counts, over one table, with groups and bounds that were
// known in advance. What such a release depends on is compared by Follow, or is one of the plan's versions, its
// noise or its price.
func Followable(p *plan.Plan) bool {
	if p.Source != nil && !everyRow(p) { // the keys and the values of a question choose which rows of a unit count
		return false
	}
	if p.Rows != nil || len(p.Searches)+len(p.Quantiles)+len(p.Modes) > 0 || p.Selection != nil || p.Open() || p.Other {
		return false
	}
	if p.Statement.Ordered || p.RowVectors != nil || p.Chosen != nil || len(p.Measures) != len(p.Statement.Measures) {
		return false
	}
	return !slices.ContainsFunc(p.Measures, func(m *plan.Measure) bool {
		switch m.Kind {
		case bounded.CountRows, bounded.CountValue, bounded.CountUnits, bounded.Sum, bounded.Spread:
			return m.Search != nil
		}
		return true
	})
}

// everyRow reports whether every row of the table or relation counts: no cap drops one. If each row is a unit, a
// question has no cap on rows. A relation's joins have bounds, but these belong to the relation. If a unit has at most
// one row in the relation, that row is within every cap.
func everyRow(p *plan.Plan) bool { return p.Unit == nil || p.Source != nil && p.Source.Single }

// sameCaps reports whether a unit keeps the same rows and cells for a measure in both plans.
func sameCaps(m *plan.Measure, p, q *plan.Plan) bool {
	sameCells := func() bool {
		missing := func(k bounded.Key) bool { return keyLike(q, &k) < 0 }
		return len(p.Keys) == len(q.Keys) && !slices.ContainsFunc(p.Keys, missing)
	}
	switch {
	case m.Kind == bounded.CountUnits:
		return p.Sets == nil && q.Sets == nil && p.Caps == q.Caps && sameCells() && (p.Caps.Rows == 0 || sameOrder(p, q))
	case everyRow(p):
		return true
	case p.Caps.Rows > 0:
		return p.Caps.Rows == q.Caps.Rows && sameOrder(p, q)
	}
	return p.Caps == q.Caps && sameCells()
}

// sameOrder reports whether a unit's rows have the same order in both plans. It is the order of their ranks. If the
// rows have no ranks, it is an order by the columns that the question reads.
func sameOrder(p, q *plan.Plan) bool {
	return !p.Unranked && !q.Unranked || slices.Equal(readNames(p), readNames(q))
}

func readNames(p *plan.Plan) (out []string) {
	for _, i := range p.Reads() {
		if p.Unit == nil || p.Columns[i].Name != p.Unit.Name {
			out = append(out, p.Columns[i].Name)
		}
	}
	return out
}

// keyLike returns the index of the key of q that has the same expression and the same known values, or −1 if there
// is none.
func keyLike(q *plan.Plan, k *bounded.Key) int {
	for i := range q.Keys {
		if q.Keys[i].Same(k) {
			return i
		}
	}
	return -1
}
