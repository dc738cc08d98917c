package plan

import (
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/query"
)

// together refuses combinations of features for which no proof exists, although each feature alone has a proof.
func (b *measuring) together() error {
	if err := b.severalRows(); err != nil {
		return err
	}
	ordered := len(b.quantiles)+len(b.modes) > 0
	at := b.tree.Items[0].Expr.Pos()
	if b.open() && ordered {
		return bind.Refuse(
			at,
			"ask for counts and sums of these groups; or group by an expression with declared values",
			"quantiles and modes need known keys, and this GROUP BY has unknown keys",
		)
	}
	if b.sets == nil {
		return nil
	}
	if b.open() {
		return bind.Refuse(
			b.setsAt,
			b.setBySet(),
			"grouping sets need known keys, and those of %s are unknown: a group selected in one set may be missing in another, so the totals would not add up",
			b.openKeys(),
		)
	}
	if b.cellsClamped() {
		b.notes.add(
			"Bounds per group apply to the groups of all keys together. A unit adds to a total the sum of its clamped amounts in these groups.",
		)
	}
	return nil
}

// setBySet returns a hint that lists a question for each grouping set.
func (b *measuring) setBySet() string {
	var each []string
	for _, set := range b.written {
		var keys []string
		for _, x := range set {
			if text := query.Print(b.tree.GroupBy[x]); !slices.Contains(keys, text) {
				keys = append(keys, text)
			}
		}
		text := "without GROUP BY"
		if len(keys) > 0 {
			text = "GROUP BY " + strings.Join(keys, ", ")
		}
		if !slices.Contains(each, text) {
			each = append(each, text)
		}
		if len(each) > mostHinted {
			each[mostHinted] = "…"
			break
		}
	}
	return "ask one question for each grouping: " + strings.Join(
		each,
		"; ",
	) + ". With unknown keys, --other adds a row for all groups that are not selected"
}

// mostHinted is the largest number of questions that a hint writes out.
const mostHinted = 4

// openKeys returns the keys without known values, as the question writes them.
func (b *measuring) openKeys() string {
	var names []string
	for i := range b.keys {
		if b.keys[i].Open {
			names = append(names, b.groupedBy[slices.Index(b.place, i)])
		}
	}
	return strings.Join(names, ", ")
}

// severalRows refuses features that need a single row for each unit, if each row is a unit and the relation makes
// several rows of it. No column identifies such units. So neither the number of units in a group can be counted,
// nor a bound on one unit's rows in a group be enforced.
func (b *measuring) severalRows() error {
	unit := b.Table.Unit
	if b.Source == nil || !unit.IsRow() || unit.RowsPerUnit == 1 {
		return nil
	}
	at, bounded := b.tree.Items[0].Expr.Pos(), func(n int64) bool { return n > 0 && n < unit.RowsPerUnit }
	switch {
	case b.open():
		return bind.Refuse(
			at,
			"group by an expression with declared values; or join columns with rows_per_value: 1",
			"each row is a unit here, and FROM makes up to %d rows of it: unknown keys would be selected by rows, not by units",
			unit.RowsPerUnit,
		)
	case bounded(b.request.MaxGroups), bounded(b.request.MaxRows):
		return bind.Refuse(
			at,
			"leave it out",
			"each row is a unit here, and FROM makes up to %d rows of it: a question cannot bound their number",
			unit.RowsPerUnit,
		)
	}
	return nil
}

// plainArguments refuses named arguments of a quantile or a mode, except weight, epsilon and bounds of rows.
func (b *measuring) plainArguments(at query.Pos) error {
	switch {
	case b.given.auto:
		return bind.Refuse(
			at,
			"leave it out, or give constant bounds",
			"bounds => auto is not for quantiles, which need no search for bounds",
		)
	case b.given.cells != nil:
		return bind.Refuse(
			b.given.cells.at,
			"write contribution_bounds_per_row => (low, high)",
			"a quantile takes bounds per row, not per group",
		)
	}
	return nil
}
