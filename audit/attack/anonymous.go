package attack

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Limits of a published table.
const (
	MostRows    = 1_000_000
	MostColumns = 256
)

// Table is a published table about people without their names: one column is sensitive, and the others, the quasi-identifiers, are
// generalised so that several rows are alike in them.
type Table struct {
	columns   []string
	sensitive int
	rows      [][]string
}

// ReadTable reads a table from CSV whose first line names its columns. The error is ErrTable, or the reader's own.
func ReadTable(r io.Reader, sensitive string) (*Table, error) {
	t := &Table{}
	err := records(r, func(_ int, record []string) error {
		switch {
		case t.columns == nil:
			t.columns = slices.Clone(record)
			return t.named(sensitive)
		case len(t.rows) == MostRows:
			return fmt.Errorf("more than %d rows", MostRows)
		}
		t.rows = append(t.rows, slices.Clone(record))
		return nil
	})
	if err == nil && len(t.rows) == 0 {
		err = fmt.Errorf("%w: it holds no rows", ErrTable)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// named finds the sensitive column.
func (t *Table) named(sensitive string) error {
	seen := map[string]bool{}
	for _, name := range t.columns {
		if name == "" || seen[name] {
			return fmt.Errorf("each column has a name of its own, not %q", shortened(name))
		}
		seen[name] = true
	}
	if len(t.columns) > MostColumns {
		return fmt.Errorf("more than %d columns", MostColumns)
	}
	if t.sensitive = slices.Index(t.columns, sensitive); t.sensitive < 0 {
		return fmt.Errorf("there is no column %q; there are %s", shortened(sensitive), shortened(strings.Join(t.columns, ", ")))
	}
	if len(t.columns) == 1 {
		return errors.New("there is no column but the sensitive one")
	}
	return nil
}

// Rows is the number of rows.
func (t *Table) Rows() int { return len(t.rows) }

// Anonymity is the largest k for which the table is k-anonymous [Sweeney 2002]: every row has at least k−1 others that are like it in
// all columns but the sensitive one.
func (t *Table) Anonymity() int {
	classes := map[string]int{}
	for _, row := range t.rows {
		var key strings.Builder
		for i, text := range row {
			if i != t.sensitive {
				fmt.Fprintf(&key, "%q,", text)
			}
		}
		classes[key.String()]++
	}
	return slices.Min(slices.Collect(maps.Values(classes)))
}

// Found is what one table says about a person.
type Found struct {
	Rows   int            // that may be the person's
	Values map[string]int // the sensitive values of those rows, and in how many each stands
}

// about finds the rows that agree with all that is known of a person.
func (t *Table) about(known map[string]string) Found {
	out := Found{Values: map[string]int{}}
	for _, row := range t.rows {
		fits := true
		for i, name := range t.columns {
			if value, ok := known[name]; ok && i != t.sensitive && !covers(row[i], value) {
				fits = false
				break
			}
		}
		if fits {
			out.Rows++
			out.Values[row[t.sensitive]]++
		}
	}
	return out
}

// Intersection is what several tables say about one person.
type Intersection struct {
	Tables []Found  // what each says alone
	Left   []string // the sensitive values that all of them leave possible, sorted
}

// Intersect finds what tables together leave possible of a person who is in all of them, and of whom the values of some columns are known
// [Ganta, Kasiviswanathan & Smith 2008]. However large the k for which each table is k-anonymous, one value may be left, which
// is then the person's; if none is left, the person is not in all of them, or not as it is known. Tables that have none of the known columns are
// taken too.
//
// The error is ErrParameter where there are no tables, nothing is known, or no table has a column that is said to be known, but as the sensitive one.
func Intersect(tables []*Table, known map[string]string) (Intersection, error) {
	if len(tables) == 0 || len(known) == 0 {
		return Intersection{}, fmt.Errorf("%w: there is no table, or nothing is known of the person", ErrParameter)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !slices.ContainsFunc(tables, func(t *Table) bool {
			at := slices.Index(t.columns, name)
			return at >= 0 && at != t.sensitive
		}) {
			return Intersection{}, fmt.Errorf("%w: no table has a column %q besides the sensitive one", ErrParameter, shortened(name))
		}
	}
	var out Intersection
	for i, t := range tables {
		found := t.about(known)
		out.Tables = append(out.Tables, found)
		values := slices.Sorted(maps.Keys(found.Values))
		if i == 0 {
			out.Left = values
			continue
		}
		out.Left = slices.DeleteFunc(out.Left, func(v string) bool { return found.Values[v] == 0 })
	}
	return out, nil
}
