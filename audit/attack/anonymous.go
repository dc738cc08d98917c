package attack

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Limits on published tables.
const (
	MostRows    = 1_000_000
	MostColumns = 256
	MostCells   = 1 << 22 // rows × columns
	MostTables  = 8       // tables that can be intersected
	mostPairs   = 1 << 20 // pairs of sensitive values that can be compared
)

// Table is a published table about people without their names. One column is sensitive. The other columns are
// quasi-identifiers: they are generalised so that several rows are equal in all of them.
type Table struct {
	columns   []string
	sensitive int
	rows      [][]string
}

// ReadTable reads a table from CSV. The first line names the columns, and sensitive is the name of the sensitive
// column. It returns ErrTable for an invalid table, or the reader's own error.
func ReadTable(r io.Reader, sensitive string) (*Table, error) {
	t := &Table{}
	err := records(r, func(_ int, record []string) error {
		switch {
		case t.columns == nil:
			t.columns = slices.Clone(record)
			return t.named(sensitive)
		case len(t.rows) == MostRows || (len(t.rows)+1)*len(t.columns) > MostCells:
			return fmt.Errorf("the table has more than %d rows or %d values", MostRows, MostCells)
		}
		t.rows = append(t.rows, slices.Clone(record))
		return nil
	})
	if err == nil && len(t.rows) == 0 {
		err = fmt.Errorf("%w: it has no rows", ErrTable)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// named checks the names of the columns and finds the sensitive one.
func (t *Table) named(sensitive string) error {
	seen := map[string]bool{}
	for _, name := range t.columns {
		if name == "" || seen[name] {
			return fmt.Errorf("each column must have a unique name that is not empty, unlike %q", shortened(name))
		}
		seen[name] = true
	}
	if len(t.columns) > MostColumns {
		return fmt.Errorf("the table has more than %d columns", MostColumns)
	}
	if t.sensitive = slices.Index(t.columns, sensitive); t.sensitive < 0 {
		return fmt.Errorf("there is no column %q; the columns are %s",
			shortened(sensitive), shortened(strings.Join(t.columns, ", ")))
	}
	if len(t.columns) == 1 {
		return errors.New("the table has only the sensitive column")
	}
	return nil
}

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if t == nil {
		return 0
	}
	return len(t.rows)
}

// Anonymity returns the largest k for which the table is k-anonymous [Sweeney 2002]: every row is equal to at least
// k−1 other rows in all columns except the sensitive one. It returns 0 if there are no rows.
func (t *Table) Anonymity() int {
	if t.Rows() == 0 {
		return 0
	}
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

// Found is what one table says about one person.
type Found struct {
	Rows   int            // the number of rows that may be the person's
	Values map[string]int // the sensitive values of those rows, as published, with the number of rows for each
	Lacks  []string       // known columns that the table does not have; they exclude no row
	unread map[string]bool
}

// about finds the rows that agree with everything known about a person. A row with a value in an unknown notation
// may be the person's.
func (t *Table) about(known map[string]string) Found {
	out := Found{Values: map[string]int{}, unread: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if i := slices.Index(t.columns, name); i < 0 || i == t.sensitive {
			out.Lacks = append(out.Lacks, name)
		}
	}
	told := make([]map[string]verdict, len(t.columns)) // caches the verdicts by column and value
	for i := range told {
		told[i] = map[string]verdict{}
	}
	for _, row := range t.rows {
		fits := yes
		var doubtful []string
		for i, name := range t.columns {
			value, ok := known[name]
			if !ok || i == t.sensitive {
				continue
			}
			v, ok := told[i][row[i]]
			if !ok {
				v = covers(row[i], value)
				told[i][row[i]] = v
			}
			if fits = min(fits, v); fits == no {
				break
			}
			if v == unsure {
				doubtful = append(doubtful, row[i])
			}
		}
		if fits == no {
			continue
		}
		out.Rows++
		out.Values[row[t.sensitive]]++
		for _, text := range doubtful {
			out.unread[text] = true
		}
	}
	return out
}

// forms returns the possible forms of the person's sensitive value. It stops once it has more than mostPairs.
func (f Found) forms() []form {
	var out []form
	for _, text := range slices.Sorted(maps.Keys(f.Values)) {
		if out = append(out, parse(text)...); len(out) > mostPairs {
			return out
		}
	}
	return distinct(out)
}

// distinct sorts forms by their text and removes duplicates.
func distinct(forms []form) []form {
	slices.SortFunc(forms, func(a, b form) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(forms, func(a, b form) bool { return a.text == b.text })
}

// Intersection is what several tables together say about one person.
type Intersection struct {
	Tables  []Found  // what each table says alone
	Left    []string // the sensitive values that all tables leave possible, sorted; "*" stands for any value
	Certain bool     // whether exactly one value is possible
	Unread  []string // published values in an unknown notation, sorted; they exclude nothing
}

// Intersect returns the sensitive values that several tables together leave possible for a person who is in all of
// them [Ganta, Kasiviswanathan & Smith 2008]. known holds the person's values in some columns. Even if each table
// is k-anonymous for a large k, only one value may remain, which is then the person's. If no value remains, the
// person is not in all tables, or a known value is wrong. A table may lack some or all of the known columns.
//
// A published value may be generalised, in the notations that docs/explanation/checking.md lists. A value excludes
// another one only if Intersect understands the notations of both, so an unknown notation never excludes too much.
// Words are compared as texts: Intersect does not know that Europe contains France.
//
// Intersect returns ErrParameter if there are no tables, or more than MostTables, or a table without rows. It also
// returns it if nothing is known, if no table has a known column other than as the sensitive one, and if there are
// too many sensitive values to compare.
func Intersect(tables []*Table, known map[string]string) (Intersection, error) {
	switch {
	case len(tables) == 0 || len(known) == 0:
		return Intersection{}, fmt.Errorf("%w: give at least one table and one known value of the person", ErrParameter)
	case len(tables) > MostTables:
		return Intersection{}, fmt.Errorf("%w: there can be at most %d tables", ErrParameter, MostTables)
	case slices.ContainsFunc(tables, func(t *Table) bool { return t.Rows() == 0 }):
		return Intersection{}, fmt.Errorf("%w: a table has no rows", ErrParameter)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !slices.ContainsFunc(tables, func(t *Table) bool {
			at := slices.Index(t.columns, name)
			return at >= 0 && at != t.sensitive
		}) {
			return Intersection{},
				fmt.Errorf("%w: no table has a column %q besides the sensitive one", ErrParameter, shortened(name))
		}
	}
	var out Intersection
	unread := map[string]bool{}
	left := []form{{kind: anything, text: "*"}}
	for _, t := range tables {
		found := t.about(known)
		out.Tables = append(out.Tables, found)
		maps.Copy(unread, found.unread)
		values := found.forms()
		if len(left)*len(values) > mostPairs {
			return Intersection{}, fmt.Errorf("%w: comparing %d sensitive values with %d is too much work",
				ErrParameter, len(values), len(left))
		}
		var both []form
		for _, a := range left {
			for _, b := range values {
				f, v := meet(a, b)
				if v == unsure {
					unread[a.text], unread[b.text] = true, true
				}
				if v != no {
					both = append(both, f)
				}
			}
		}
		left = distinct(both)
	}
	for _, f := range left {
		out.Left = append(out.Left, f.text)
	}
	out.Certain = len(left) == 1 && left[0].exact()
	out.Unread = slices.Sorted(maps.Keys(unread))
	return out, nil
}
