package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shares notes changes to the division of the budget: by parts, by periods, and among analysts. The neighbouring
// relation stays the same, so the k of the theorem at [Reread] is 1. Past charges count for at least as much as before:
//
//   - Parts: charges to everybody count for every part. Charges to parts of an earlier division (by another column,
//     other values, or another number of parts for a unit) stay in that division. In the questions that made these
//     charges, a unit counted in at most m parts, the limit of that division. So each unit is charged what the m
//     most expensive parts were charged together. The charges of several divisions add up (the ledger's account has
//     the proof).
//   - Periods: the account of the whole budget continues, and so does that of the current period. If there were no
//     periods before, the first one begins with the change.
//   - Analysts: the amount that each has spent stays spent.
func (c *change) shares() {
	for _, table := range union(c.old.Parts, c.next.Parts) {
		was, divided := c.old.Parts[table]
		now, divides := c.next.Parts[table]
		switch {
		case was == now:
		case !divided:
			c.note("table %s: divided by %s; past charges count for every part", table, now)
		case !divides:
			c.note("table %s: no longer divided by %s; the charges of its most expensive parts stay", table, was)
		default:
			c.note("table %s: divided by %s → %s; the past charges of the most expensive parts stay, and new "+
				"charges are added", table, was, now)
		}
	}
	if c.old.Per != c.next.Per || !same(c.old.Grant, c.next.Grant) {
		c.note("granted: %s → %s", granted(c.old), granted(c.next))
	}
	for _, name := range union(c.old.Analysts, c.next.Analysts) {
		was, listed := c.old.Analysts[name]
		now, lists := c.next.Analysts[name]
		switch {
		case !listed:
			c.note("analyst %s: may spend %v", name, now)
		case !lists:
			c.note("analyst %s: no longer listed", name)
		case !same(was, now):
			c.note("analyst %s: may spend %v → %v", name, was, now)
		}
	}
}

// String returns a description of p for messages, without the digest of its values.
func (p Parting) String() string {
	term := p.Term
	if at := strings.LastIndex(term, " values, "); at >= 0 {
		term = term[:at+len(" values")]
	}
	return fmt.Sprintf("%s, %d for a unit", term, p.Most)
}

func granted(t Terms) string {
	if t.Per == "" {
		return "at once"
	}
	return fmt.Sprintf("%v per %s", t.Grant, t.Per)
}

func union[T any](a, b map[string]T) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}
