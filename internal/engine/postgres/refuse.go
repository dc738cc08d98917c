package postgres

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// Refuses returns the error with which Rehearse refuses b before it contacts the server, or nil. It contacts no
// server.
func (*Engine) Refuses(b *bounded.Statement, from engine.Sealed) error { return refuse(b, from) }

// refuse returns an error if b has a part that this engine does not support. Charges and noise depend on each part
// of a statement, so the engine must not ignore any. refuse reads no row and no table. TestEveryFieldIsKnown
// compares the fields of bounded.Statement with this function, so that a new field needs a decision here.
func refuse(b *bounded.Statement, from engine.Sealed) error {
	if b.Source != nil {
		if err := refuseSource(b, from); err != nil {
			return err
		}
	}
	switch {
	case b.Part != nil && from.Copy == nil:
		return &engine.RefusedError{
			Message: "questions about parts of this table are not supported, because it is read in place: " +
				"a person who moves from one part to another would be charged in only one of them",
			Hint: "ask about all parts, for example with GROUP BY, or ask the owner to seal the table with --copy",
		}
	case b.Ordered && (len(b.Measures) != 1 || b.Measures[0].Kind != bounded.Sum && !b.CountsRows() || b.Open() ||
		b.Other || b.Caps.Groups > 0 && b.Caps.RowsPerGroup == 0):
		return unknown("these values in order")
	case b.RowVectors != nil &&
		(b.Ordered || b.Open() || b.Other || b.Caps.Groups > 0 ||
			slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return m.Kind != bounded.Sum })):
		return unknown("these vectors")
	case b.Other && !b.Open(), len(b.Chosen) > 0 && !b.Open():
		return unknown("a choice among known groups")
	case b.Unit == nil && (b.CellsClamped() || b.Caps.RowsPerGroup > 0):
		// Without a unit, rows are added up before they could be clamped.
		return unknown("bounds per group without a unit column")
	case b.Unit != nil && !b.Ordered && b.CellsClamped() && b.Caps.RowsPerGroup == 0:
		return unknown("bounds per group together with a cap on rows")
	case b.CountsRows() && (!b.Ordered || b.Unit == nil || len(b.Keys) > 0 || b.Caps != bounded.Caps{}):
		return unknown("these numbers of rows")
	case b.CountsRows(): // the numbers of rows are clamped, so no cap is needed
	case b.Unit != nil && (b.Caps.Rows == 0) == (b.Caps.RowsPerGroup == 0), b.Caps.RowsPerGroup > 0 &&
		b.Caps.Groups == 0:
		return unknown("these caps")
	}
	for _, m := range b.Measures {
		if why := refuseMeasure(b, m); why != "" {
			return unknown(why)
		}
	}
	if b.Where != nil && !known(b.Where) ||
		slices.ContainsFunc(b.Keys, func(k bounded.Key) bool { return !known(k.Expr) }) {
		return unknown("one of its operations")
	}
	return nil
}

func refuseMeasure(b *bounded.Statement, m *bounded.Measure) string {
	switch m.Kind {
	case bounded.CountRows:
	case bounded.CountUnits, bounded.CountUnitsWith: // counted once in each cell: grouping by unit and cell suffices
		if b.Unit != nil && b.Caps.Groups == 0 {
			return "a count of units without a cap on groups"
		}
	case bounded.CountDistinct, bounded.SumDistinct:
		if b.Unit != nil && b.Caps.Rows == 0 { // if the only row with a value were in a group beyond the cap, the value would be lost
			return "a count of distinct values without a cap on rows"
		}
	case bounded.CountValue, bounded.Sum:
	case bounded.Spread:
		if len(b.Keys) > 0 {
			return "a spread in groups"
		}
	case bounded.UnitRows: // refuse checks the rest of the statement
		if !b.CountsRows() {
			return "numbers of rows together with other measures"
		}
	default:
		return "a measure of the kind " + string(m.Kind)
	}
	if m.X != nil && !known(m.X) {
		return "one of its operations"
	}
	return ""
}

// known reports whether this package can write every operation of e.
func known(e *bounded.Expr) bool {
	all := true
	e.Walk(func(x *bounded.Expr) {
		_, simple := engine.Infix[x.Op]
		_, template := templates[x.Op]
		all = all && (simple || template || slices.Contains(written, x.Op))
	})
	return all
}

// written lists the operations that functions write. All others have a template.
var written = []bounded.Op{
	bounded.OpColumn, bounded.OpConst, bounded.OpDiv, bounded.OpQuo, bounded.OpMod, bounded.OpToInteger, bounded.OpIn,
	bounded.OpLike, bounded.OpFold, bounded.OpText, bounded.OpDatePart, bounded.OpDateTrunc, bounded.OpAddMonths, bounded.OpDayOf, bounded.OpTimeOf,
	bounded.OpStartOf, bounded.OpTimeTrunc, bounded.OpTimePart, bounded.OpChar, bounded.OpCase,
	bounded.OpCoalesce, bounded.OpLeast, bounded.OpGreatest,
}

func unknown(what string) error {
	return &engine.RefusedError{
		Message: "a table on a server does not support " + what,
		Hint:    "write the question in another way; please report this error with the policy and the question",
	}
}
