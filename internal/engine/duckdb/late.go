package duckdb

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/value"
)

// Testing the key of every row takes as long as the rest of a count by group, and cleaning a text or a date takes longer.
// So the statement first adds up rows by group, those without a group included, and then drops the sums of the latter.
// If a key is a text with declared values or a date, the first groups are the column's own values, and the statement
// cleans each of these values once.
//
// Claim: the sums are those of the statement that cleans and tests every row. Proof. The cleaned key is a function of the
// column's own value. So each group of own values lies in one cell (group), or in none if the cleaned value is NULL and
// NULL is no group. A sum of integers is the sum of its groups' sums, and HUGEINT holds them all. A sum of ones is the
// number of rows that have them. Texts are cut to one character more than the longest declared one has. A text that is
// cut is none of them, before and after. ∎
//
// A row that belongs to no cell must not count among the first rows of its unit. So only rows of units of which every
// row counts are added up like this (capped). What one unit can cost stays in proportion to its rows and the longest
// declared text: each row is in one group.

// dropsLate reports whether b adds up rows by group before it drops those without a group.
func dropsLate(b *bounded.Statement) bool {
	return len(b.Keys) > 0 && !b.Ordered && b.RowVectors == nil && !b.Other && b.Chosen == nil && b.Caps.Groups == 0 && !b.CellsClamped() &&
		!slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return !m.Additive() })
}

// lateKeys returns the keys of b whose own values are the first groups: texts with declared values, and dates.
func lateKeys(b *bounded.Statement) (keys []int) {
	for i, k := range b.Keys {
		if k.Expr.Op != bounded.OpColumn || k.Open {
			continue
		}
		if c := b.Columns[k.Expr.Column]; c.Type == value.Date || c.Type == value.Text && c.Values != nil {
			keys = append(keys, i)
		}
	}
	return keys
}

// rawColumn is the name of the column of a late key's own values. No policy has such a name.
func rawColumn(key int) string { return fmt.Sprintf("__dither_raw%d", key) }

// withRaw returns scan with the columns of the own values of late keys, and b with these columns as keys. NULL is a group
// of each key, so that no row is dropped. A count of a value that every row has becomes a count of rows.
func withRaw(b *bounded.Statement, scan string, late []int, known engine.Sealed) (*bounded.Statement, string) {
	out := *b
	out.Columns, out.Keys, out.Measures = slices.Clone(b.Columns), slices.Clone(b.Keys), slices.Clone(b.Measures)
	for i := range out.Keys {
		out.Keys[i].Null = true
	}
	for i, m := range out.Measures {
		if m.Kind == bounded.CountValue && engine.InEveryRow(b, m.X, known.Complete) {
			rows := *m
			rows.Kind, rows.X = bounded.CountRows, nil
			out.Measures[i] = &rows
		}
	}
	if len(late) == 0 {
		return &out, scan
	}
	raw := []string{"*"}
	for _, i := range late {
		c := b.Columns[b.Keys[i].Expr.Column]
		x := identifier(c.Name)
		if c.Type == value.Text {
			longest := 0
			for _, v := range c.Values {
				longest = max(longest, utf8.RuneCountInString(v.Text))
			}
			x = fmt.Sprintf("left(%s, %d)", x, longest+1) // a function keeps the file's dictionary, and CASE does not
		}
		raw = append(raw, x+" AS "+identifier(rawColumn(i)))
		// an Integer without bounds is not cleaned
		out.Keys[i] = bounded.Key{
			Expr:   &bounded.Expr{Op: bounded.OpColumn, Type: value.Integer, Column: len(out.Columns), Name: rawColumn(i), Nullable: true},
			Values: []value.Value{value.NullOf(value.Integer)},
		}
		out.Columns = append(out.Columns, bounded.Column{Column: &policy.Column{Name: rawColumn(i), Type: value.Integer}})
	}
	return &out, "(SELECT " + strings.Join(raw, ", ") + " FROM " + scan + ")"
}

// addedLate returns the statement that adds up rows by the own values of late keys. rows are those of the statement of
// withRaw. further, if not "", are rows of b, whose keys are cleaned.
func addedLate(b, raw *bounded.Statement, late []int, rows, further string) string {
	all := inCells(b, "("+firstGroups(b, raw, late, rows)+")")
	if further != "" {
		all += " UNION ALL " + contributed(b, further)
	}
	return dialect.SumUp(b, all)
}

// firstGroups returns a SELECT of the sums of rows by the keys of raw. It has these keys, x0, x1, …, the keys of b, which
// are the cleaned ones, the sums m0, m1, …, and the number n of rows. A group that lies in no cell has a NULL among the
// keys of b.
func firstGroups(b, raw *bounded.Statement, late []int, rows string) string {
	names := engine.KeyNames(b)
	added, sums, out := slices.Clone(names), []string{}, []string{}
	for i, name := range names {
		sums, out = append(sums, name+" AS "+firstKey(i)), append(out, firstKey(i), firstKey(i)+" AS "+name)
	}
	for _, i := range late {
		c := b.Columns[b.Keys[i].Expr.Column]
		key := *c.Column
		key.Name = firstKey(i)
		c.Column = &key
		out[2*i+1] = clean(c) + " AS " + names[i]
	}
	for i, m := range raw.Measures {
		x, sum := contribution(raw, i), fmt.Sprintf("sum(m%d)", i)
		if ones := m.Lo <= 1 && m.Hi >= 1; ones && m.Kind == bounded.CountRows {
			x, sum = "", "CAST(count(*) AS HUGEINT)"
		} else if ones && m.Kind == bounded.CountValue {
			x, sum = fmt.Sprintf("v%[1]d AS m%[1]d", i), fmt.Sprintf("CAST(count(m%d) AS HUGEINT)", i)
		}
		if x != "" {
			added = append(added, x)
		}
		sums, out = append(sums, fmt.Sprintf("%s AS m%d", sum, i)), append(out, fmt.Sprintf("m%d", i))
	}
	groups := "SELECT " + strings.Join(sums, ", ") + ", count(*) AS n FROM (SELECT " + strings.Join(added, ", ") +
		" FROM (" + rows + "))" + engine.GroupBy(names)
	return "SELECT " + strings.Join(out, ", ") + ", n FROM (" + groups + ")"
}

func firstKey(i int) string { return fmt.Sprintf("x%d", i) }

// inCells returns a SELECT of the keys of b and the sums of the first groups that lie in a cell.
func inCells(b *bounded.Statement, groups string) string {
	out := engine.KeyNames(b)
	for i := range b.Measures {
		out = append(out, fmt.Sprintf("m%d", i))
	}
	all := "SELECT " + strings.Join(out, ", ") + " FROM " + groups
	if cell := hasCell(b); cell != "" {
		// n is never negative. Without it, DuckDB would move the condition, and the cleaning in it, to every row
		all += " WHERE (" + cell + ") OR n < 0"
	}
	return all
}

// hasCell returns the condition that a first group lies in a cell, or "" if each one does. It is never NULL.
func hasCell(b *bounded.Statement) string {
	of := *b
	of.Unit = nil // rows without a unit have been left out
	return strings.TrimPrefix(engine.Kept(&of, nil), " WHERE ")
}
