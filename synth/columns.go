package synth

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/synth/constraint"
)

// Column is a column of a synthetic table.
type Column struct {
	Name   string
	Type   string // as curator.TableColumn has it
	Cells  int    // the number of its values or bins, the one for NULL included
	SQL    string // the key that the real rows are grouped by
	Binned bool   // its cells are bins of numbers, dates or times, and rows draw a value within their bin

	lower    *big.Rat // the least number. A date is the number of its day, and a time that of its microsecond
	upper    *big.Rat // the largest number
	origin   *big.Rat // the lower end of bin 0
	width    *big.Rat // of a bin, if all have the same
	bins     []bin    // otherwise, in the order of their indices
	fine     *fine    // the smaller bins whose counts give the shape of numbers within bins; nil if there are none
	nullable bool
	name     string // in SQL
	offset   string // the SQL of its numbers, from 0 at the lower bound. A time is in seconds
	whole    bool   // its numbers are integers
	place    int    // in the real table
	key      bool   // fresh values, in no model
	values   []any  // by cell
}

// Omitted is a column of the real table that the synthetic table lacks.
type Omitted struct{ Name, Reason string }

// columnsOf returns the columns of a table that can be synthesized. wanted names them, or is empty for all. bins is the
// largest number of cells of a column of numbers.
func columnsOf(t *curator.Table, wanted []string, bins int, edges map[string][]string, rules []*constraint.Rule, sql func(string) string) (out []*Column, omitted []Omitted, err error) {
	for _, name := range wanted {
		if !slices.ContainsFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name }) {
			return nil, nil, usage("name columns of "+t.Name, "there is no column %q", name)
		}
	}
	for place, c := range t.Columns {
		named := slices.Contains(wanted, c.Name)
		if len(wanted) > 0 && !named {
			continue
		}
		column, reason := columnOf(&c, bins, sql(c.Name))
		if c.Name == t.Unit {
			column, reason = nil, "it identifies persons"
		}
		switch {
		case column != nil:
			column.place = place
			out = append(out, column)
		case named:
			return nil, nil, usage("leave it out, or declare values or bounds in the policy",
				"column %s cannot be synthesized: %s", c.Name, reason)
		default:
			omitted = append(omitted, Omitted{c.Name, reason})
		}
	}
	if len(out) == 0 {
		return nil, nil, usage("declare values or bounds of columns in the policy",
			"no column of %s can be synthesized", t.Name)
	}
	for _, r := range rules {
		err := r.Bind(func(name string) (constraint.Column, bool) {
			at := slices.IndexFunc(out, func(c *Column) bool { return c.Name == name })
			if at < 0 {
				return constraint.Column{}, false
			}
			return out[at].schema(), true
		})
		if err != nil {
			return nil, nil, usage("`--explain` lists the columns", "constraint %v", err)
		}
	}
	for name, at := range edges {
		i := slices.IndexFunc(out, func(c *Column) bool { return c.Name == name })
		if i < 0 {
			return nil, nil, usage("`--explain` lists the columns", "edges: there is no column %q in the synthetic table", name)
		}
		if err := out[i].declared(at); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range out {
		c.cut(rules)
		c.refine()
	}
	return out, omitted, nil
}

// columnOf returns a column, or the reason why it cannot be synthesized.
func columnOf(c *curator.TableColumn, bins int, name string) (*Column, string) {
	out := &Column{Name: c.Name, SQL: name, Type: c.Type, name: name, nullable: c.Nullable}
	switch {
	case c.Holdout:
		return nil, "it says which units are held out"
	case len(c.Values) > 0, c.ValuesFrom != "", c.Type == "boolean":
		return out, ""
	case c.Type == "text":
		return nil, "a text without declared values: --private-values or --values can find or name them"
	case c.Lower == "":
		return nil, "the policy declares neither values nor bounds"
	case c.Type == "date", c.Type == "timestamp", c.Type == "time":
		return calendarColumn(c, bins, name)
	}
	lower, okay := new(big.Rat).SetString(c.Lower)
	upper, okay2 := new(big.Rat).SetString(c.Upper)
	if !okay || !okay2 || lower.Cmp(upper) > 0 {
		return nil, "its bounds are not numbers"
	}
	span := new(big.Rat).Sub(upper, lower)
	out.offset = fmt.Sprintf("%s - (%s)", name, c.Lower)
	out.lower, out.upper, out.origin, out.whole = lower, upper, lower, c.Type == "integer"
	if out.whole {
		span.Add(span, big.NewRat(1, 1)) // the number of integers
		if span.Cmp(big.NewRat(int64(bins), 1)) <= 0 {
			return out, ""
		}
		out.Binned, out.width = true, ceil(new(big.Rat).Quo(span, big.NewRat(int64(bins), 1)))
		out.SQL = fmt.Sprintf("FLOOR((%s - (%s)) / %s)", name, c.Lower, out.width.RatString())
		return out, ""
	}
	if span.Sign() == 0 {
		return nil, "its bounds are equal"
	}
	out.Binned = true
	edges := []*big.Rat{lower}
	for i := 1; i < bins; i++ {
		at := new(big.Rat).Mul(span, big.NewRat(int64(i), int64(bins)))
		edges = append(edges, at.Add(at, lower))
	}
	out.setReal(edges, fmt.Sprintf("WIDTH_BUCKET(%s, %s, %s, %d)", name, decimal(lower), decimal(upper), bins))
	out.notNull()
	return out, ""
}

// ceil returns the least integer that is at least x.
func ceil(x *big.Rat) *big.Rat {
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetInt(q)
}

// question returns the question whose keys are the columns and their small bins.
func question(from, where string, keys []string) string {
	if where != "" {
		from += " WHERE " + where
	}
	return fmt.Sprintf("SELECT COUNT(*) FROM %s GROUP BY %s", from, strings.Join(keys, ", "))
}

// usage returns an error of usage with its hint.
func usage(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}
