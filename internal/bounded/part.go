package bounded

import (
	"fmt"
	"slices"

	"dither/internal/value"
)

// Part confines a question to some parts of its table, so that the question is charged to these parts alone
// (parallel composition).
//
// Its meaning: before anything else, the engine keeps only those rows of a unit that lie in the unit's own parts. The
// part of a row is the cleaned value of Column. A row in which this value is NULL is in no part. For each part of a
// unit, take the least rank of the unit's rows in it. (Sealing numbers the rows of each unit, and a rank is such a
// number.) The unit's own parts are the PerUnit parts with the smallest of these ranks. All rows of the unit take part
// in this choice, before WHERE, so every question over the same sealed version has the same own parts. If each row is a
// unit, or no unit has more than one row, nothing is dropped.
//
// Claim: a unit changes the answer only if one of its own parts is in Values. Proof. WHERE is true only in rows
// whose part is in Values: the planner sets Part only for such a WHERE (confine in package plan). After the
// dropping, each row of the unit is in one of its own parts. If none of these is in Values, no row of the unit is
// left. The unit then contributes 0 to every cell, and no value to an ordered statement. Which rows of other units
// are dropped does not depend on this unit. If one of its own parts is in Values, the planned bounds of one unit's
// contribution hold (Measure.bound and Target.boundScore in package plan), because they hold for any rows. ∎
//
// A question that is not confined drops nothing. It is charged to all parts, and own parts play no role. So if a
// unit has rows in more than PerUnit parts, the counts of the parts add up to less than the count of the whole
// table.
type Part struct {
	Column  int // index in Statement.Columns
	PerUnit int64
	Values  []value.Value // the charged parts, sorted: those that WHERE admits
}

// Names returns the charged parts, the elements of Values, as the ledger writes them, sorted as texts.
func (p *Part) Names() []string {
	out := make([]string, len(p.Values))
	for i, v := range p.Values {
		out[i] = v.String()
	}
	slices.Sort(out)
	return out
}

func (p *Part) String() string { return fmt.Sprintf("part %d of %q", p.PerUnit, p.Names()) }

// PartText returns the line of the canonical text that states which rows Part drops, or "" if Part is nil.
func (b *Statement) PartText() string {
	if b.Part == nil {
		return ""
	}
	return fmt.Sprintf("%s by %q\n", b.Part, b.Columns[b.Part.Column].Name)
}
