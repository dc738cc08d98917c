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

// Cleaning a text or a date of every row takes longer than everything else in a count by group. So if a key is such a
// column itself, the statement first adds up rows by the column's own values, and then cleans each of these values once.
//
// Claim: the sums are those of the statement that cleans every row. Proof. The cleaned key is a function of the column's
// own value. So each group of own values lies in one cell (group), or in none if the cleaned value is NULL and NULL is
// no group. A sum of integers is the sum of its groups' sums, and HUGEINT holds them all. Texts are cut to one character
// more than the longest declared one has. A text that is cut is none of them, before and after. ∎
//
// A row that belongs to no cell must not count among the first rows of its unit. So only rows of units of which every
// row counts are added up like this (capped). What one unit can cost stays in proportion to its rows and the longest
// declared text: each row is in one group of own values.

// lateKeys returns the keys of b that are texts with declared values, or dates.
func lateKeys(b *bounded.Statement) (keys []int) {
	if b.Ordered || b.RowVectors != nil || b.Other || b.Chosen != nil || b.Caps.Groups > 0 || b.CellsClamped() ||
		slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return m.Distinct() || m.OfUnits() }) {
		return nil
	}
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
// of each of them, so that no row is dropped.
func withRaw(b *bounded.Statement, scan string, late []int) (*bounded.Statement, string) {
	if len(late) == 0 {
		return b, scan
	}
	out := *b
	out.Columns, out.Keys = slices.Clone(b.Columns), slices.Clone(b.Keys)
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
	names, sums := engine.KeyNames(b), []string{}
	for i, m := range b.Measures {
		sum := fmt.Sprintf("sum(m%d)", i)
		if m.Kind == bounded.CountRows {
			sum = "CAST(count(*) AS HUGEINT)"
		}
		sums = append(sums, fmt.Sprintf("%s AS m%d", sum, i))
	}
	sums = append(sums, "count(*) AS n")
	groups := "SELECT " + strings.Join(append(slices.Clone(names), sums...), ", ") + " FROM (" + contributed(raw, rows) + ")" + engine.GroupBy(names)
	cleaned := slices.Clone(names)
	for _, i := range late {
		c := b.Columns[b.Keys[i].Expr.Column]
		key := *c.Column
		key.Name = names[i]
		c.Column = &key
		cleaned[i] = clean(c) + " AS " + names[i]
	}
	for i := range b.Measures {
		cleaned = append(cleaned, fmt.Sprintf("m%d", i))
	}
	cleaned = append(cleaned, "n")
	of := *b
	of.Unit = nil // its rows have been left out
	all := "SELECT * EXCLUDE (n) FROM (SELECT " + strings.Join(cleaned, ", ") + " FROM (" + groups + "))"
	if kept := engine.Kept(&of, nil); kept != "" {
		// n is never negative. Without it, DuckDB would move the condition, and the cleaning in it, to every row
		all += " WHERE (" + strings.TrimPrefix(kept, " WHERE ") + ") OR n < 0"
	}
	if further != "" {
		all += " UNION ALL " + contributed(b, further)
	}
	return engine.SumUp(b, all)
}
