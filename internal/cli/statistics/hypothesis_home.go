package statistics

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/noise"
)

// released are noisy counts and sums from a home, by group.
type released struct {
	*curator.Measurements
	many bool // a person may have several rows
}

// measure asks a home for noisy numbers and passes them to the function do, or with --explain prints what they would
// cost. Before anything is paid, it calls the function try with the number of cells (groups), which tries the test on
// made-up numbers.
func measure(
	s *console.Console, o *testOptions, sql string, try func(cells int) error, do func(*released) error,
) error {
	if o.given["release"] {
		return s.Asking(func(c *curator.Session) error {
			m, err := c.Measured(o.get("release"), o.analyst)
			if err != nil {
				return err
			}
			tables, err := c.Tables()
			if err != nil {
				return err
			}
			r := &released{Measurements: m}
			// the release does not name its table, so warn if any table has several rows for a person
			for _, t := range tables {
				r.many = r.many || t.ManyRows
			}
			return do(r)
		})
	}
	q := o.question()
	q.SQL = sql
	return s.Asking(func(c *curator.Session) error { return measured(s, c, o.get("table"), q, o.is("explain"), try, do) })
}

// measured asks a question about a table, or with explain prints what it would cost.
func measured(
	s *console.Console, c *curator.Session, table string, q curator.Question, explain bool, try func(cells int) error,
	do func(*released) error,
) error {
	e, err := c.Explain(context.Background(), q)
	if err != nil {
		return err
	}
	if e.Selection != nil {
		return console.Usage(
			"the policy must declare the values of the tested columns: unknown values are released only if they are " +
				"frequent, and a test of them is invalid")
	}
	if try != nil {
		if err := try(e.Cells); err != nil {
			return err
		}
	}
	if explain {
		e.Notes = countsNotes(e.Notes)
		switch s.Format {
		case "json":
			return s.JSON(e)
		case "markdown":
			s.Print("%s", render.ExplanationMarkdown(e))
			return nil
		}
		s.Print("%s", render.ExplanationText(e))
		return nil
	}
	m, err := c.Measure(s.Context(), q)
	if err != nil {
		return err
	}
	r := &released{Measurements: m}
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.Name == table {
			r.many = t.ManyRows
		}
	}
	err = do(r)
	if errors.Is(err, hypothesis.ErrInput) && !r.Replayed {
		return fmt.Errorf("%w (release %s is paid: other tests of its numbers are free)", err, r.ID)
	}
	return err
}

// publicRows returns the number of the tested rows, if the policy declares it as a constant and each of the columns has a
// value in every row; else 0. COUNT of these columns is free then. publicRows returns the refusal of a count that is refused,
// such as for a price below the policy's minimum: the test's own question has the same table, condition and price.
func (o *testOptions) publicRows(s *console.Console, columns ...string) (n int64, err error) {
	counts := make([]string, len(columns))
	for i, c := range columns {
		counts[i] = "COUNT(" + c + ")"
	}
	q := o.question()
	q.SQL = o.groupedBy(strings.Join(counts, ", "))
	err = s.Asking(func(c *curator.Session) error {
		e, err := c.Explain(s.Context(), q)
		if err == nil && e.Free {
			n = e.DeclaredUnits
		}
		return err
	})
	return n, err
}

// declaredRows sets n to the number of the tested rows, unless --n gives it, if it is public as in publicRows.
func (o *testOptions) declaredRows(s *console.Console, n *float64, columns ...string) error {
	if o.given["n"] || o.given["release"] {
		return nil
	}
	for i, c := range columns {
		columns[i] = curator.SQLName(c)
	}
	rows, err := o.publicRows(s, columns...)
	*n = float64(rows)
	return err
}

// countsNotes replaces the note that an explanation has on what the intervals of its numbers cover. What tests and estimates
// compute from these numbers covers sampling too.
func countsNotes(notes []string) []string {
	out := []string{
		"The expected error is that of the noise in each number. The intervals and p-values that are computed from the numbers " +
			"cover sampling and noise. They do not cover what the bounds leave out.",
	}
	for _, n := range notes {
		if n != curator.CoverNote {
			out = append(out, n)
		}
	}
	return out
}

// groupedBy returns a question about the groups of some columns. The text `what` has the selected expressions.
func (o *testOptions) groupedBy(what string, columns ...string) string {
	keys := make([]namedKey, len(columns))
	for i, c := range columns {
		keys[i] = columnKey(c)
	}
	return groupedSQL(o.get("table"), what, o.get("where"), keys...)
}

// namedKey is a key of a question in SQL, with the name that an explanation has for it.
type namedKey struct{ sql, name string }

func columnKey(column string) namedKey { return namedKey{curator.SQLName(column), column} }

// keysSQL returns keys as SELECT and as GROUP BY have them. The names are no part of what is released.
func keysSQL(keys []namedKey) (selected, grouped string) {
	var items, by []string
	for _, k := range keys {
		item := k.sql
		if name := curator.SQLName(k.name); name != k.sql {
			item += " AS " + name
		}
		items, by = append(items, item), append(by, k.sql)
	}
	return strings.Join(items, ", "), strings.Join(by, ", ")
}

// groupedSQL returns a question about the groups of some keys. The text `what` has the
// selected expressions. Rows satisfy the condition, unless it is empty.
func groupedSQL(table, what, condition string, keys ...namedKey) string {
	where, group := "", ""
	if condition != "" {
		where = " WHERE (" + condition + "\n)" // the line break ends a comment in the condition
	}
	if len(keys) > 0 {
		selected, by := keysSQL(keys)
		group, what = " GROUP BY "+by, selected+", "+what
	}
	return "SELECT " + what + " FROM " + curator.SQLName(table) + where + group
}

// footer returns lines that state what bounds the release, its name and its price.
func (r *released) footer() (lines []string) {
	paid := fmt.Sprintf("release %s, price %s", r.ID, r.Price)
	if r.Replayed {
		paid = fmt.Sprintf("release %s, paid before: free", r.ID)
	}
	if r.Limits != nil {
		lines = append(lines, strings.TrimSpace(render.BoundsLine(r.Limits)))
	}
	for line := range strings.Lines(render.TruncationLines(r.Truncation)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return append(lines, paid+"; remaining "+r.Remaining.String())
}

// warnings returns warnings that do not follow from the numbers themselves.
func (r *released) warnings() []string { return r.dependent("the test assumes") }

// dependent returns a warning if a person may have several rows. The text `assumed` says what assumes that rows are
// independent.
func (r *released) dependent(assumed string) (lines []string) {
	if r.many {
		lines = append(lines, "a person may have several rows, but "+assumed+" that rows are independent")
	}
	return lines
}

// groups reports for each cell whether each of its keys has a value that WHERE leaves a row. The other values are no
// groups. A combination of values that alone cannot occur stays, so that the cells are a complete table.
func (r *released) groups() []bool {
	out, occur := make([]bool, len(r.Cells)), map[[2]any]bool{} // by the place and the value of a key
	for i, keys := range r.Cells {
		for place, k := range keys {
			if r.Possible.Has(i) {
				occur[[2]any{place, k}] = true
			}
		}
	}
	for i, keys := range r.Cells {
		out[i] = true
		for place, k := range keys {
			out[i] = out[i] && occur[[2]any{place, k}]
		}
	}
	return out
}

// counts returns the count of each group whose keys are not NULL, with the keys in the question's order, and the
// noise of the counts. columns is the number of columns by which the test groups.
func (r *released) counts(
	test string, columns int,
) (names [][]string, counts []float64, d noise.Distribution, err error) {
	var of []curator.Vector
	for _, v := range r.Vectors {
		if v.Name == "count" && v.Of == "" {
			of = append(of, v)
		}
	}
	if len(of) != 1 || of[0].First > 0 || len(of[0].Values) != len(r.Cells) {
		return nil, nil, nil, console.Usage("the release does not have exactly one count for each group")
	}
	if len(r.Grouped) != columns {
		return nil, nil, nil,
			console.Usage("test %s needs counts by %s, but this release groups by %d", test,
				render.Plural(columns, "column"), len(r.Grouped))
	}
	v, group := of[0], r.groups()
	for i, keys := range r.Cells {
		if !group[i] {
			continue
		}
		var name []string
		for _, place := range r.Grouped {
			if k := keys[place]; k != nil {
				name = append(name, fmt.Sprint(k))
			}
		}
		if len(name) < len(r.Grouped) { // NULL is no category
			continue
		}
		names = append(names, name)
		x, _ := new(big.Rat).SetInt(v.Values[i-v.First]).Float64()
		counts = append(counts, x)
	}
	return names, counts, v.Noise, nil
}

// columnOf returns a column of the tested table as the policy declares it.
func columnOf(s *console.Console, table, name string) (curator.TableColumn, error) {
	column, found, err := findColumn(s, table, name)
	if err == nil && !found {
		err = console.Usage("there is no table %s with a column %s", table, name)
	}
	return column, err
}

// findColumn returns a column as the policy declares it, and whether there is one.
func findColumn(s *console.Console, table, name string) (column curator.TableColumn, found bool, err error) {
	err = s.Asking(func(c *curator.Session) error {
		tables, err := c.Tables()
		for _, t := range tables {
			for _, x := range t.Columns {
				if t.Name == table && x.Name == name {
					column, found = x, true
				}
			}
		}
		return err
	})
	return column, found, err
}
