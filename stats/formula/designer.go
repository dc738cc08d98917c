package formula

import (
	"fmt"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/nearest"
	"dither/stats/internal/request"
)

// designer collects the variables, terms and columns from which it builds a [Design].
type designer struct {
	table     curator.Table
	formula   Formula
	variables []variable
	terms     [][]int // indices of each term's variables; the intercept is first and has none
	columns   []*rawColumn
	places    map[string]int // indices in columns by [rawColumn.key]
	options   Options
}

// rawColumn is an unscaled column of the model matrix: a product of numbers and of indicators of one value each.
type rawColumn struct {
	term    int
	numbers []int       // indices of numeric variables, in the order of the term
	levels  map[int]int // level of each categorical variable, by the variable's index
	order   []int       // indices of all variables, in the order of the term
}

// key returns a text that identifies the raw column regardless of the order of its factors. It leaves out the
// numeric variables that the list `without` names.
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

// column returns the table's column with this name, ignoring case.
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
		hint = fmt.Sprintf("did you mean %s?", Quote(near))
	}
	return curator.TableColumn{}, request.Misuse(hint, "the table %s has no column %q", d.table.Name, name)
}

// expand adds the columns of a term: one for each combination of values of its categories. If the model already
// spans the term without a category, expand leaves out the first value of that category. This value is then the
// reference with which the other values are compared.
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
				with := &rawColumn{
					term: term, numbers: slices.Clone(c.numbers), levels: map[int]int{v: l},
					order: variables,
				}
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
		return request.Misuse("leave some out, or group the values of categories",
			"the model has more than %d predictors", maxPredictors)
	}
	return nil
}

// spanned reports whether the model contains a term, or columns that add up to it. The indicators of a category add
// up to the intercept, which is the term without variables. For this case, only terms with an index less than
// `before` count.
func (d *designer) spanned(rest []int, before int) bool {
	for i, other := range d.terms {
		if sameSet(other, rest) || len(rest) == 0 && i < before && len(other) == 1 &&
			d.variables[other[0]].levels != nil {
			return true
		}
	}
	return false
}

// name returns the name of a raw column in results.
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

func sameSet(a, b []int) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}
