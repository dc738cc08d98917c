package bounded

import (
	"fmt"
	"slices"

	"dither/internal/value"
)

// Part confines a question to some parts of its table, for parallel composition: it is charged to these parts alone.
//
// Its meaning: before anything else, of each unit only the rows in its own parts remain. The part of a row is the
// cleaned value of Column; a row in which it is NULL is in none. A unit's own parts are the first PerUnit parts in the
// order of their rows' least sealed rank: over all rows of the unit, before WHERE, so that they are the same in every
// question over this sealed version. Where each row is a unit, or no unit has more than one row, nothing is dropped.
//
// Claim: a unit moves the answer only if one of its own parts is named. Proof. WHERE is true only in rows whose part is
// one of Values (see confined). After the dropping, a row of the unit is in one of its own parts; if none of these is
// among Values, no row of it is left, and it contributes 0 to every cell, and no value to an order. What is dropped of
// other units does not depend on it. Within the parts named, the bounds of one unit's contribution (Measure.bound,
// Target.boundScore) hold as ever: they hold for any rows. ∎
//
// A question that is not confined drops nothing: it is charged to everybody, and own parts play no role. So if a unit
// has rows in more than PerUnit parts, the counts of the parts add up to less than the count of all.
type Part struct {
	Column  int // in Bounded.Columns
	PerUnit int64
	Values  []value.Value // the charged parts: those that WHERE keeps, sorted; not all parts
}

// Names are the charged parts as the ledger names them: sorted as texts.
func (p *Part) Names() []string {
	out := make([]string, len(p.Values))
	for i, v := range p.Values {
		out[i] = v.String()
	}
	slices.Sort(out)
	return out
}

func (p *Part) String() string { return fmt.Sprintf("part %d of %q", p.PerUnit, p.Names()) }

// PartText is the line of a canonical text that says which rows Part drops; "" if it drops none.
func (b *Statement) PartText() string {
	if b.Part == nil {
		return ""
	}
	return fmt.Sprintf("%s by %q\n", b.Part, b.Columns[b.Part.Column].Name)
}
