package tabulate

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"dither/internal/exact"
	"dither/internal/policy"
	"dither/strategy/table"
)

// The limits of a specification.
const (
	MaxTables    = 100
	MaxSubtotals = 4 // the columns of a table with subtotals, which has 2⁴ sums then
	// maxFile is the largest size of a file of places, in bytes.
	maxFile = 64 << 20
)

// Spec is a set of tables that share one price and add up.
type Spec struct {
	Epsilon, Rho string // the price of all tables; at most one is set. If neither is, the policy's default price
	Confidence   string // of the margins of error; "" is 0.95
	MarkBelow    int64  // mark cells whose value is below this number; 0 for no marks
	Hierarchies  []Hierarchy
	Tables       []Table
	Covariances  []Pair
	Fresh        bool // measure again and pay again, even if everything was measured before. No file sets it
}

// Hierarchy declares the levels of a column.
type Hierarchy struct {
	Name   string
	Key    string // the column of the finest level, whose values must be known
	Levels []string
	Total  string     // the name of the level of all places; "" for none
	Paths  [][]string // for each value of the key: its label in each of Levels, the finest first
	Table  string     // in place of Paths: a public table of the policy, which has a column for each of Levels
}

// Table is one table of a specification.
type Table struct {
	Name, Description string
	From              string   // a table of the policy, or a join of tables as SQL writes it
	Where             string   // a condition on rows; "" for none
	Rows              []string // names of levels
	Columns           []string // classifications: expressions with known values, or levels of hierarchies
	Sum               string   // the expression that is summed; "" to count rows
	Subtotals         bool     // whether the table also has the sums over one, several or all of its columns
	Weight            *big.Rat // how much the table's error counts
	Totals            []Total
}

// Total declares the total of a place, which is then no longer estimated.
type Total struct {
	Level, Place string
	Value        int64
}

// Load reads a specification from a file. The paths of further files in it are relative to its folder.
func Load(file string) (*Spec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	text, err := io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	s, err := Parse(text, func(name string) ([][]string, error) { return readPlaces(filepath.Join(filepath.Dir(file), name)) })
	var all policy.Errors
	if errors.As(err, &all) {
		for _, e := range all {
			e.File = file
		}
	}
	return s, err
}

// readPlaces reads a CSV file.
func readPlaces(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	return csv.NewReader(io.LimitReader(f, maxFile)).ReadAll()
}

// Parse reads the text of a specification. The parameter places reads a CSV file of places, by its name in the
// specification. Errors are [policy.Errors], with the line of each.
func Parse(text []byte, places func(name string) ([][]string, error)) (*Spec, error) {
	root, failed := policy.ReadPlain(text)
	s := &Spec{}
	if err := failed(); err != nil {
		return nil, err
	}
	top := root.Keys("version", "price", "confidence", "mark_below", "hierarchies", "tables", "covariances")
	if v, ok := top["version"].Text(); !ok || v != "1" {
		root.Fail("write version: 1", "this dither reads version 1")
	}
	price := top["price"].Keys("epsilon", "rho")
	s.Epsilon, s.Rho = number(price["epsilon"]), number(price["rho"])
	if s.Epsilon != "" && s.Rho != "" {
		top["price"].Fail("", "give epsilon or rho, not both")
	}
	s.Confidence = number(top["confidence"])
	s.MarkBelow, _ = top["mark_below"].Count(1 << 40)
	for _, f := range top["hierarchies"].Entries() {
		s.Hierarchies = append(s.Hierarchies, hierarchy(f, places))
	}
	s.levels(top["hierarchies"])
	all := top["tables"].List()
	if n := len(all); n < 1 || n > MaxTables {
		root.Fail("", "a specification has between 1 and %d tables, not %d", MaxTables, n)
	}
	for _, f := range all[:min(len(all), MaxTables)] {
		s.table(f)
	}
	s.pairs(top["covariances"])
	if err := failed(); err != nil {
		return nil, err
	}
	return s, nil
}

// number returns the text of a decimal number.
func number(f policy.Field) string {
	text, ok := f.Text()
	if !ok {
		return ""
	}
	if _, err := exact.ParseDecimal(text); err != nil {
		f.Fail("", "expected a number: %v", err)
	}
	return text
}

// need returns the text of a field that must be present in the mapping `in`.
func need(in, f policy.Field, name string) string {
	text, ok := f.Text()
	if !f.Present() {
		in.Fail("", "%s is missing", name)
	} else if ok && text == "" {
		f.Fail("", "must not be empty")
	}
	return text
}

// texts returns the items of a list of texts, each of which must be distinct.
func texts(f policy.Field) (out []string) {
	if !f.Present() {
		return nil
	}
	for _, item := range f.List() {
		text, ok := item.Text()
		switch {
		case ok && text == "":
			item.Fail("", "must not be empty")
		case ok && slices.Contains(out, text):
			item.Fail("", "%q is listed twice", text)
		case ok:
			out = append(out, text)
		}
	}
	return out
}

// checkName checks the name of a hierarchy, a level or a table, which also names files.
func checkName(f policy.Field, text string) {
	for i, r := range []rune(text) {
		if i == 63 || r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '-' && !unicode.IsNumber(r)) {
			f.Fail("", "a name is a letter or _ followed by at most 62 letters, digits, _ or -, not %q", text)
			return
		}
	}
}

func (s *Spec) table(f policy.Field) {
	keys := f.Keys("name", "description", "from", "where", "rows", "columns", "measure", "subtotals", "weight", "totals")
	t := Table{
		Name: need(f, keys["name"], "name"), From: need(f, keys["from"], "from"), Rows: texts(keys["rows"]),
		Columns: texts(keys["columns"]), Weight: big.NewRat(1, 1),
	}
	t.Description, _ = keys["description"].Text()
	t.Where, _ = keys["where"].Text()
	t.Where = strings.TrimSpace(t.Where)
	checkName(keys["name"], t.Name)
	if slices.ContainsFunc(s.Tables, func(o Table) bool { return o.Name == t.Name }) {
		keys["name"].Fail("", "two tables have the name %q", t.Name)
	}
	if n := len(t.Columns); n > table.MaxClassifications {
		keys["columns"].Fail("", "a table has at most %d classifications, not %d", table.MaxClassifications, n)
	}
	for _, level := range t.Rows {
		switch h := s.hierarchyOf(level); {
		case h == nil:
			keys["rows"].Fail("declare it under hierarchies", "there is no level %q", level)
		case h != s.hierarchyOf(t.Rows[0]):
			keys["rows"].Fail("write one table for each", "%q and %q are levels of different hierarchies", t.Rows[0], level)
		}
	}
	for i, c := range t.Columns {
		switch h := s.hierarchyOf(c); {
		case h == nil:
		case len(t.Rows) > 0 && h == s.hierarchyOf(t.Rows[0]):
			keys["columns"].Fail("name the level under rows", "%q is a level of the hierarchy in the table's rows", c)
		case slices.ContainsFunc(t.Columns[:i], func(o string) bool { return s.hierarchyOf(o) == h }):
			keys["columns"].Fail("write one table for each", "%q is a second level of the hierarchy %s in the columns", c, h.Name)
		}
	}
	s.apart(&t, keys["columns"])
	t.measure(keys["measure"])
	t.subtotals(keys["subtotals"])
	if text := number(keys["weight"]); text != "" {
		w, err := exact.ParseDecimal(text)
		if err == nil && (w.Sign() <= 0 || w.Cmp(big.NewRat(1_000_000, 1)) > 0) {
			keys["weight"].Fail("", "a weight is above 0 and at most 1000000")
		}
		t.Weight = cmp.Or(w, t.Weight)
	}
	for _, level := range keys["totals"].Entries() {
		if !slices.Contains(t.Rows, level.Name()) {
			level.Fail("name one of the table's rows", "the table has no level %q", level.Name())
		}
		for _, place := range level.Entries() {
			text, _ := place.Text()
			v, err := exact.ParseDecimal(text)
			if err != nil || !v.IsInt() || v.Sign() < 0 || v.Num().BitLen() > 40 {
				place.Fail("", "a declared total is a whole number from 0 to %d", int64(1)<<40)
				continue
			}
			t.Totals = append(t.Totals, Total{level.Name(), place.Name(), v.Num().Int64()})
		}
	}
	if len(t.Totals) > 0 && t.Sum != "" {
		keys["totals"].Fail("", "only totals of counts can be declared")
	}
	s.Tables = append(s.Tables, t)
}

// apart refuses two classifications of one table by the same column: their levels need not nest, and most combinations of
// their values would have no rows.
func (s *Spec) apart(t *Table, f policy.Field) {
	var places *Hierarchy
	if len(t.Rows) > 0 {
		places = s.hierarchyOf(t.Rows[0])
	}
	if key, found := twiceKeyed(s.keyed(places, t.Columns)); found {
		f.Fail("write one table for each, which then has noise of its own; or replace them by expressions, "+
			"such as FLOOR(age / 10)",
			"table %s is classified by %s in two ways that need not nest", t.Name, key)
	}
}

// subtotals reads whether the table has sums over its columns.
func (t *Table) subtotals(f policy.Field) {
	if !f.Present() {
		return
	}
	text, ok := f.Text()
	t.Subtotals = text == "true"
	switch {
	case ok && !t.Subtotals && text != "false":
		f.Fail("", "write true or false, not %q", text)
	case t.Subtotals && len(t.Columns) > MaxSubtotals:
		f.Fail("write a table for each sum that you need", "a table with subtotals has at most %d columns, not %d",
			MaxSubtotals, len(t.Columns))
	}
}

// measure reads count, or {sum: expression}.
func (t *Table) measure(f policy.Field) {
	switch {
	case f.Mapped():
		t.Sum = need(f, f.Keys("sum")["sum"], "sum")
	case f.Present():
		if text, ok := f.Text(); ok && text != "count" {
			f.Fail("", "a measure is count, or {sum: column}, not %q", text)
		}
	}
}
