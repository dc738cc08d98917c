// Package reuse decides which earlier releases answer a question, at no further cost: it compares what two plans
// measure, as typed trees, and gives the cells of the one as sums of cells of the other. It reads plans alone,
// never rows, and no canonical text.
package reuse

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Following tells how the cells of a measure over one grouping follow from what another plan released: each is a
// sum of cells of the other's table over some of its keys. They need not be equally many: the months of a release
// by day have 28 to 31.
type Following struct {
	Measure int   // among the other plan's
	Keys    []int // of the other plan, increasing: those whose table is taken, summed over the others
	// Cells are, for each cell of the grouping, the cells of that table, in the order of its keys, that add up to
	// it; none where it is 0 for all rows.
	Cells [][]int
}

// Follow tells how measure m over grouping g of the reader's plan p follows from what q releases, both being
// planned under one policy over one sealed version; false where it does not.
//
// Claim: for every table of rows, each of p's exact *bounded* cells is the sum of those cells of q. (The same of
// what the aggregates would be without bounds is not claimed.) Proof, case by case.
//   - The measures are the Same, so each row contributes the same integer.
//   - Columns that both plans read are cleaned alike: the policy is the same, and so is the version of a public
//     table that their values are of. So two expressions that are the Same have the same value in each row.
//   - The same rows are left. WHERE has the same conditions; what p has besides picks values of q's keys, and is
//     true for no row that q drops (see picks). A key drops a row if its value is not a known one, which can only
//     be NULL: a key of which NULL is one, or that has none, drops none. Each key that one plan has and the other
//     has not is of that kind, or drops what the other plan drops, or what is then taken from its cells (see
//     leads).
//   - Each row that is left is in one cell of q's, and in the one of p's that this cell leads to: a key of p is
//     one of q's, or a function of one, whose value decides p's. Two keys of p may be functions of one; a cell of
//     p to which none leads is then 0, for all rows.
//   - Parts drop the same rows: none where each row is a unit; else both plans are confined, or neither, under one
//     policy's division, whose rule asks for no question.
//   - What a unit keeps is the same: each row is a unit; or at most so many rows of a unit count, the same number,
//     of the same rows, in their one order (see sameOrder), and no condition of p takes some of q's rows after q's
//     cap; or the plans have the same cells, and the same caps: without ranks an engine puts a unit's cells in an
//     order of their keys alone.
//   - Units in cells are counted alike only where the cells and the caps are the same: a unit may be in several
//     cells.
//   - Nothing else plays a part in what a Followable plan measures: TestEveryFieldIsDecided lists each field of a
//     plan and of its statement with the case that speaks of it, and fails for one that is new. ∎
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

// Tells reports that some measure of the reader's plan follows from what q released, in all groupings.
func (r *Reader) Tells(q *plan.Plan) bool {
	return slices.ContainsFunc(r.asked.Measures, func(m *plan.Measure) bool {
		return !slices.ContainsFunc(r.asked.Groupings(), func(g plan.Grouping) bool {
			_, ok := r.Follow(m, g, q)
			return !ok
		})
	})
}

// Followable reports a plan that releases sums and counts alone, over one table, in groups and within bounds that
// were known: all that its release depends on is then what Follow compares, or the plan's versions, noise and
// price.
func Followable(p *plan.Plan) bool {
	if p.Source != nil { // which of a unit's rows count goes there by what the question evaluates of them
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
		case bounded.CountRows, bounded.CountValue, bounded.CountUnits, bounded.Sum:
			return m.Search != nil
		}
		return true
	})
}

// sameCaps reports that a unit keeps the same of a measure in both plans.
func sameCaps(m *plan.Measure, p, q *plan.Plan) bool {
	sameCells := func() bool {
		missing := func(k bounded.Key) bool { return keyLike(q, &k) < 0 }
		return len(p.Keys) == len(q.Keys) && !slices.ContainsFunc(p.Keys, missing)
	}
	switch {
	case m.Kind == bounded.CountUnits:
		return p.Sets == nil && q.Sets == nil && p.Caps == q.Caps && sameCells() && (p.Caps.Rows == 0 || sameOrder(p, q))
	case p.Unit == nil:
		return true
	case p.Caps.Rows > 0:
		return p.Caps.Rows == q.Caps.Rows && sameOrder(p, q)
	}
	return p.Caps == q.Caps && sameCells()
}

// sameOrder reports that a unit's rows are in one order in both plans: in that of their ranks or, where they have
// none, in that which the columns make that a question reads.
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

// keyLike is the index of the key of q that is the same expression with the same known values, or −1.
func keyLike(q *plan.Plan, k *bounded.Key) int {
	for i := range q.Keys {
		if q.Keys[i].Same(k) {
			return i
		}
	}
	return -1
}
