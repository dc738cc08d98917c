package seal

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/csvtable"
)

// Report is the result of a sealing. It has exact counts, so it is for the owner only.
type Report struct {
	Table     string
	Version   int
	Unchanged bool // the source and the declaration match the newest version, so no new one was made
	// for a live table: the number of the previous version, if it had the same rows under the same declaration;
	// else 0
	SameAs     int
	Facts      Facts
	Ignored    []string           // columns of the source that are not declared
	Invalids   []csvtable.Invalid // values that could not be read and became NULL
	SharedWith []string           // other homes with a budget of their own for the same source
	Warnings   []string
}

func (r *Report) warn(text string) { r.Warnings = appendNew(r.Warnings, text) }

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// String returns the report as lines of text. One of the first lines says that the counts are not private.
func (r Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.Unchanged {
		line("table %q: nothing has changed since version %d", r.Table, r.Version)
	} else {
		line("table %q: sealed version %d", r.Table, r.Version)
	}
	line("  (exact counts, for the owner only: they are not private)")
	if r.SameAs > 0 {
		line("  the rows are those of version %d", r.SameAs)
	}
	line("  rows: %d", r.Facts.Rows)
	if r.Facts.Units != r.Facts.Rows && r.Facts.Units > 0 {
		line("  units: %d, at most %d rows each", r.Facts.Units, r.Facts.MaxRowsPerUnit)
	}
	if r.Facts.UnitsOver > 0 {
		line("  units with more rows than rows_per_unit: %d; %d of their rows do not count where a row limit applies",
			r.Facts.UnitsOver, r.Facts.RowsOver)
	}
	if r.Facts.UnitsLeftOut > 0 {
		line(
			"  units with more rows than stored_rows_per_unit: %d; %d of their rows were left out of the sealed version",
			r.Facts.UnitsLeftOut,
			r.Facts.RowsLeftOut,
		)
	}
	if r.Facts.SimilarUnits > 0 {
		line("  warning: %d units differ from another unit only in case or in blanks, and count as different persons",
			r.Facts.SimilarUnits)
	}
	if r.Facts.NullUnits > 0 {
		line("  rows whose unit is NULL, which no question sees: %d", r.Facts.NullUnits)
	}
	for _, c := range r.Facts.Columns {
		var found []string
		for _, f := range []struct {
			n    int64
			what string
		}{{c.Nulls, "NULL"}, {c.Special, "NaN or infinite"}, {c.Outside, "outside the declared bounds or values"}} {
			if f.n > 0 {
				found = append(found, fmt.Sprintf("%d %s", f.n, f.what))
			}
		}
		if c.Similar > 0 {
			found[len(found)-1] += fmt.Sprintf(" (%d of them differ from a value only in case or in blanks)", c.Similar)
		}
		if len(found) > 0 {
			line("  column %q: %s", c.Name, strings.Join(found, ", "))
		}
	}
	for _, v := range r.Invalids {
		first := ""
		if v.FirstRow > 0 { // a table on a server has no first row
			first = fmt.Sprintf(", the first in row %d", v.FirstRow)
		}
		line("  column %q: %d unreadable values became NULL%s", v.Column, v.Count, first)
	}
	if len(r.Ignored) > 0 {
		quoted := make([]string, len(r.Ignored))
		for i, name := range r.Ignored {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		line("  not declared, so left out: %s", strings.Join(quoted, ", "))
	}
	for _, home := range r.SharedWith {
		line("  shared with the home %s: the losses of both homes add up", home)
	}
	for _, w := range r.Warnings {
		line("  warning: %s", w)
	}
	return b.String()
}
