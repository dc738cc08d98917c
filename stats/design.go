package stats

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/nearest"
)

// Design is a formula's model matrix over a table: of each column an expression of a row. All of it follows from the formula and the policy.
//
// A number is scaled by its declared bounds, to between −1 and 1, and centred where the model holds what centring it adds; so noise falls on all
// predictors alike. A category is one of its declared values: of each but the first there is an indicator (of the first too, where the model lacks the
// term without it). A row in which a column is NULL has NULL coordinates, and does not count.
type Design struct {
	Formula  Formula
	Table    string
	Response Response
	Columns  []DesignColumn // the intercept first, if the model has one
	// MostOfL1 and MostOfL2 bound the norms of a row's scaled predictors, but for the rounding of doubles: of the indicators of one term
	// at most one is 1. Box holds where the columns' own ranges give the same.
	MostOfL1, MostOfL2 *big.Rat
	Box                bool
	ManyRows           bool        // a person may have several, by the policy: then rows are not independent
	from               [][]float64 // of each raw column, what it takes of each scaled one's coefficient
	terms              []Term      // those that have columns, without the intercept,
	of                 []int       // and of each column its term; -1 of the intercept
}

// Response is what a model explains: between Low and High.
type Response struct {
	Name      string // with the value whose probability is modelled
	Column    string
	SQL       string // of a row; a boolean is 1 or 0, a category of two values 1 for the second, of more the number of the class
	Low, High *big.Rat
	Levels    []string // of a category: in words, by class
	real      bool     // it may be any number in between
	some      bool     // it is NULL of rows with values that are none of the classes
}

// DesignColumn is one predictor.
type DesignColumn struct {
	Name  string
	SQL   string   // the scaled predictor
	Most  *big.Rat // no row's has a larger absolute value
	Width float64  // of the column as it is: of a number from its lower to its upper bound, and of a product their product
}

// InterceptName names the intercept.
const InterceptName = "(Intercept)"

// maxPredictors bounds a design.
const maxPredictors = 99

// designVariable is a column of the table as a model takes it.
type designVariable struct {
	name      string // in results
	sql       string
	levels    []string // of a category, as SQL; nil of a number
	names     []string // and in words
	low, high *big.Rat // of a number
}

// rawColumn is a column of the model matrix: a product of numbers, and of indicators of one value each.
type rawColumn struct {
	term    int
	numbers []int       // variables, in the order of the term
	levels  map[int]int // of categorical variables, which level
	order   []int       // all variables, in the order of the term
}

// key tells raw columns apart, whatever the order of their factors; without some of their numbers.
func (c *rawColumn) key(without ...int) string {
	var parts []string
	for _, v := range c.numbers {
		if !slices.Contains(without, v) {
			parts = append(parts, fmt.Sprintf("%06d", v))
		}
	}
	for v, l := range c.levels {
		parts = append(parts, fmt.Sprintf("%06d=%d", v, l))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// designer builds a Design.
type designer struct {
	table     curator.Table
	formula   Formula
	variables []designVariable
	terms     [][]int // of each term its variables; the first, of the intercept, has none
	columns   []*rawColumn
	places    map[string]int // of raw columns by key
	options   designOptions
}

// Design finds the formula's columns in a table of the policy. Errors are *curator.Error, with CodeUsage.
func (f Formula) Design(t curator.Table) (*Design, error) { return f.designWith(t, designOptions{}) }

// designOptions change what a policy says of the columns.
type designOptions struct {
	Found   []FoundBounds // narrower bounds of some columns: values beyond them are clamped
	Classes Classes       // of the response
	Several bool          // the response may have more than two classes
}

// designWith is Design with options.
func (f Formula) designWith(t curator.Table, o designOptions) (*Design, error) {
	d := &designer{table: t, formula: f, places: map[string]int{}, options: o}
	out := &Design{Formula: f, Table: t.Name, ManyRows: t.ManyRows}
	var err error
	if out.Response, err = d.response(); err != nil {
		return nil, err
	}
	if f.Intercept {
		d.terms = append(d.terms, nil)
	}
	for _, term := range f.Terms {
		var variables []int
		for _, x := range term {
			v, err := d.variable(x)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(variables, v) { // factor(g) and g, where g is a category anyway
				variables = append(variables, v)
			}
		}
		if !slices.ContainsFunc(d.terms, func(other []int) bool { return sameSet(other, variables) }) {
			d.terms, out.terms = append(d.terms, variables), append(out.terms, term)
		}
	}
	for i := range d.terms {
		if err := d.expand(i); err != nil {
			return nil, err
		}
	}
	if len(d.columns) == 0 {
		return nil, misuse("", "the model has neither an intercept nor a predictor")
	}
	d.scale(out)
	for _, c := range d.columns {
		out.of = append(out.of, c.term-(len(d.terms)-len(out.terms)))
	}
	if n := len(out.Response.Levels); n > 2 && !o.Several {
		return nil, misuse(severalClasses, "the response %s has %d classes, and this model has two", out.Response.Name, n)
	}
	return out, nil
}

func sameSet(a, b []int) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}

// column finds a column by its name, whatever its case.
func (d *designer) column(name string) (curator.TableColumn, error) {
	var names []string
	for _, c := range d.table.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	hint := ""
	if near := nearest.Name(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", quoteFactor(near))
	}
	return curator.TableColumn{}, misuse(hint, "the table %s has no column %q", d.table.Name, name)
}

const undeclaredBounds = "the owner declares them in the policy, as wide as they may be: they are never looked up in the rows, " +
	"but --find-bounds and --normalise find narrower ones privately"

// number is a numeric column, within its bounds.
func (d *designer) number(c curator.TableColumn) (sql string, low, high *big.Rat, err error) {
	sql = curator.SQLName(c.Name)
	low, high, err = declaredBounds(c, undeclaredBounds)
	for _, b := range d.options.Found {
		if b.Column == c.Name && err == nil {
			low, high = b.low, b.high
			sql = fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN LEAST(GREATEST(%s, %s), %s) END", sql, sql, sqlRat(low), sqlRat(high))
		}
	}
	return sql, low, high, err
}

// levels are a category's declared values, in SQL and in words.
func levels(c curator.TableColumn) (sql, words []string, err error) {
	values := c.Values
	if c.Type == "boolean" && values == nil {
		values = []string{"false", "true"}
	}
	if len(values) == 0 && c.Type == "integer" && c.Lower != "" {
		low, high, err := declaredBounds(c, undeclaredBounds)
		if err != nil {
			return nil, nil, err
		}
		if n := new(big.Rat).Sub(high, low); n.Cmp(big.NewRat(maxPredictors, 1)) <= 0 {
			for ; low.Cmp(high) <= 0; low = new(big.Rat).Add(low, big.NewRat(1, 1)) {
				values = append(values, exact.FormatRat(low))
			}
		}
	}
	for _, v := range values {
		switch c.Type {
		case "text":
			sql = append(sql, "'"+strings.ReplaceAll(v, "'", "''")+"'")
		case "date":
			sql = append(sql, "DATE '"+v+"'")
		default:
			sql = append(sql, v)
		}
	}
	switch {
	case len(values) == 0:
		return nil, nil, misuse("the owner declares its values in the policy; they are never looked up in the rows, but SELECT … GROUP BY finds them privately, at a price", "the column %s is a category without declared values", c.Name)
	case len(values) == 1:
		return nil, nil, misuse("leave it out", "the column %s has one declared value alone", c.Name)
	case len(values) > maxPredictors:
		return nil, nil, misuse("group them, or leave it out", "the column %s has more than %d declared values", c.Name, maxPredictors)
	}
	return sql, values, nil
}

// response reads the left-hand side.
func (d *designer) response() (r Response, err error) {
	c, err := d.column(d.formula.Response)
	if err != nil {
		return r, err
	}
	name := curator.SQLName(c.Name)
	r = Response{Name: c.Name, Column: c.Name, SQL: name, Low: new(big.Rat), High: big.NewRat(1, 1), real: c.Type == "real" && len(c.Values) == 0}
	if d.options.Classes.given() {
		return d.classified(c)
	}
	switch c.Type {
	case "integer", "real":
		r.SQL, r.Low, r.High, err = d.number(c)
		return r, err
	case "boolean":
		r.SQL = "CAST(" + name + " AS INTEGER)"
		return r, nil
	}
	sql, words, err := levels(c)
	if err != nil {
		return r, err
	}
	if d.options.Several && len(sql) != 2 {
		return d.classified(c)
	}
	if len(sql) != 2 {
		return r, misuse(severalClasses, "the response %s is neither a number nor one of two declared values", c.Name)
	}
	r.Name, r.SQL, r.Levels = levelName(c.Name, words[1]), indicator(name, sql[1]), words
	return r, nil
}

func indicator(name, level string) string { return "CAST(" + name + " = " + level + " AS INTEGER)" }

func levelName(name, level string) string { return name + "[" + level + "]" }

// variable finds what a factor stands for.
func (d *designer) variable(f Factor) (int, error) {
	c, err := d.column(f.Column)
	if err != nil {
		return 0, err
	}
	v := designVariable{name: c.Name, sql: curator.SQLName(c.Name)}
	switch {
	case strings.EqualFold(c.Name, d.formula.Response):
		return 0, misuse("", "the response %s is on the right-hand side too", c.Name)
	case f.Categorical || c.Type == "text" || c.Type == "boolean":
		v.levels, v.names, err = levels(c)
	case c.Type == "integer" || c.Type == "real":
		v.sql, v.low, v.high, err = d.number(c)
	default:
		err = misuse("factor(…) takes its declared values as categories", "the column %s is a %s, not a number or a category", c.Name, c.Type)
	}
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(d.variables, func(other designVariable) bool {
		return other.name == v.name && (other.levels == nil) == (v.levels == nil)
	})
	if at < 0 {
		at, d.variables = len(d.variables), append(d.variables, v)
	}
	return at, nil
}

// expand makes the columns of a term: of numbers one, and one for each combination of the categories' values. The first value of a
// category is left out where the model holds the term without it: there it is what the others are compared with.
func (d *designer) expand(term int) error {
	variables := d.terms[term]
	made := []*rawColumn{{term: term, levels: map[int]int{}, order: variables}}
	for _, v := range variables {
		if d.variables[v].levels == nil {
			for _, c := range made {
				c.numbers = append(c.numbers, v)
			}
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(variables), func(x int) bool { return x == v })
		first := 0
		if d.spanned(rest, term) {
			first = 1
		}
		var next []*rawColumn
		for _, c := range made {
			for l := first; l < len(d.variables[v].levels) && len(next) <= maxPredictors; l++ {
				with := &rawColumn{term: term, numbers: slices.Clone(c.numbers), levels: map[int]int{v: l}, order: variables}
				for k, x := range c.levels {
					with.levels[k] = x
				}
				next = append(next, with)
			}
		}
		made = next
	}
	for _, c := range made {
		d.places[c.key()] = len(d.columns)
		d.columns = append(d.columns, c)
	}
	if len(d.columns) > maxPredictors {
		return misuse("leave some out, or group the values of categories", "the model has more than %d predictors", maxPredictors)
	}
	return nil
}

// spanned reports that the model holds a term, or a combination of columns that is the same: all indicators of a category before it add up to
// the intercept.
func (d *designer) spanned(rest []int, before int) bool {
	for i, other := range d.terms {
		if sameSet(other, rest) || len(rest) == 0 && i < before && len(other) == 1 && d.variables[other[0]].levels != nil {
			return true
		}
	}
	return false
}

// name is a raw column's name in results.
func (d *designer) name(c *rawColumn) string {
	if len(c.order) == 0 {
		return InterceptName
	}
	var parts []string
	for _, v := range c.order {
		x := d.variables[v]
		if x.levels == nil {
			parts = append(parts, x.name)
		} else {
			parts = append(parts, levelName(x.name, x.names[c.levels[v]]))
		}
	}
	return strings.Join(parts, ":")
}

const severalClasses = "`dither fit logistic` --positive VALUE models one value against the others, " +
	"--levels A,B two of them; `dither fit network`, with --softmax or without, models all"
