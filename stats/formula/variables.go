package formula

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
	"dither/stats/internal/scale"
)

// variable is a table's column as a number or a category in the model.
type variable struct {
	name      string // name in results
	sql       string
	levels    []string // values of a category in SQL; nil for a number
	names     []string // values of a category in words
	low, high *big.Rat // bounds of a number
}

// variable returns the index of a factor's variable, which it adds if it is new.
func (d *designer) variable(f Factor) (int, error) {
	c, err := d.column(f.Column)
	if err != nil {
		return 0, err
	}
	v := variable{name: c.Name, sql: curator.SQLName(c.Name)}
	switch {
	case strings.EqualFold(c.Name, d.formula.Response):
		return 0, request.Misuse("", "the response %s is on the right-hand side too", c.Name)
	case f.Categorical || c.Type == "text" || c.Type == "boolean":
		v.levels, v.names, err = levels(c)
	case c.Type == "integer" || c.Type == "real":
		v.sql, v.low, v.high, err = d.number(c)
	default:
		err = request.Misuse("use factor(…) to treat its declared values as categories",
			"the column %s is a %s, not a number or a category", c.Name, c.Type)
	}
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(d.variables, func(other variable) bool {
		return other.name == v.name && (other.levels == nil) == (v.levels == nil)
	})
	if at < 0 {
		at, d.variables = len(d.variables), append(d.variables, v)
	}
	return at, nil
}

// response returns the response variable of the formula's left-hand side.
func (d *designer) response() (r Response, err error) {
	c, err := d.column(d.formula.Response)
	if err != nil {
		return r, err
	}
	name := curator.SQLName(c.Name)
	r = Response{
		Name: c.Name, Column: c.Name, SQL: name, Low: new(big.Rat), High: big.NewRat(1, 1),
		Real: c.Type == "real" && len(c.Values) == 0,
	}
	if d.options.Classes.Given() {
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
		return r, request.Misuse(severalClasses, "the response %s is neither a number nor one of two declared values",
			c.Name)
	}
	r.Name, r.SQL, r.Levels = levelName(c.Name, words[1]), indicator(name, sql[1]), words
	return r, nil
}

// number returns the SQL and the bounds of a numeric column. If the options contain found bounds for the column,
// the SQL clamps it to these.
func (d *designer) number(c curator.TableColumn) (sql string, low, high *big.Rat, err error) {
	sql = curator.SQLName(c.Name)
	low, high, err = scale.Bounds(c, undeclaredBounds)
	for _, b := range d.options.Found {
		if b.Column == c.Name && err == nil {
			low, high = b.low, b.high
			sql = fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN LEAST(GREATEST(%s, %s), %s) END",
				sql, sql, scale.Decimal(low), scale.Decimal(high))
		}
	}
	return sql, low, high, err
}

// Constants returns values of a column, as [curator.TableColumn] has them, as constants of SQL.
func Constants(c curator.TableColumn, values []string) (sql []string) {
	for _, v := range values {
		switch c.Type {
		case "text":
			sql = append(sql, curator.SQLText(v))
		case "date":
			sql = append(sql, "DATE '"+v+"'")
		default:
			sql = append(sql, v)
		}
	}
	return sql
}

// levels returns the declared values of a category, in SQL and in words.
func levels(c curator.TableColumn) (sql, words []string, err error) {
	values := c.Values
	if c.Type == "boolean" && values == nil {
		values = []string{"false", "true"}
	}
	if len(values) == 0 && c.Type == "integer" && c.Lower != "" {
		low, high, err := scale.Bounds(c, undeclaredBounds)
		if err != nil {
			return nil, nil, err
		}
		if n := new(big.Rat).Sub(high, low); n.Cmp(big.NewRat(maxPredictors, 1)) <= 0 {
			for ; low.Cmp(high) <= 0; low = new(big.Rat).Add(low, big.NewRat(1, 1)) {
				values = append(values, exact.FormatRat(low))
			}
		}
	}
	sql = Constants(c, values)
	switch {
	case len(values) == 0:
		return nil, nil, request.Misuse(
			"ask the owner to declare its values in the policy: dither never takes them from the rows, but SELECT … "+
				"GROUP BY finds them privately, at a price", "the column %s is a category without declared "+
				"values", c.Name)
	case len(values) == 1:
		return nil, nil, request.Misuse("leave it out", "the column %s has only one declared value", c.Name)
	case len(values) > maxPredictors:
		return nil, nil, request.Misuse("group the values, or leave the column out", "the column %s has more than "+
			"%d declared values",
			c.Name, maxPredictors)
	}
	return sql, values, nil
}

func indicator(name, level string) string { return "CAST(" + name + " = " + level + " AS INTEGER)" }

func levelName(name, level string) string { return name + "[" + level + "]" }

const undeclaredBounds = "ask the owner to declare wide bounds in the policy: dither never takes them from the " +
	"rows, but --find-bounds and --normalise find narrower bounds privately"

const severalClasses = "`dither fit logistic --positive VALUE` models one value against all others, and `--levels " +
	"A,B` models two values; `dither fit network`, with or without --softmax, models all values"
