package curator

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/internal/query"
	"dither/internal/value"
)

// histogram returns the key as the histogram groups by it.
func (k *gridKey) histogram() query.Expr {
	if k.whole != nil {
		return k.whole
	}
	return k.expr
}

// counted reports whether the answer has the rows for which the key has no known value.
func (c *GridColumn) counted(k *gridKey) bool {
	return k.drops && !c.Grouped && (c.All || slices.Contains(c.Values, k.values))
}

// arranged replaces the places of values in the key's own list by those in the histogram's.
func (c *GridColumn) arranged(k *gridKey) {
	if c.Grouped && !c.All { // GROUP BY drops the rows without a known value
		c.Values = slices.DeleteFunc(c.Values, func(v int) bool { return v == k.values })
	}
	if k.whole == nil {
		return
	}
	if c.All && c.Grouped {
		c.All = false
		for v := range k.values {
			c.Values = append(c.Values, v)
		}
	}
	for i, v := range c.Values {
		c.Values[i] = k.order[v]
	}
	slices.Sort(c.Values)
}

// withoutValue reports whether a condition, which reads the key's column alone, is TRUE in the rows for which the key has
// no known value. known is false if some of them may satisfy it, and others not.
func (g *gridding) withoutValue(k *gridKey, x query.Expr) (is, known bool) {
	null := &query.Is{X: k.expr, What: query.IsNull}
	var possible [2]bool
	for i := range possible {
		p, err := g.planned(&query.Is{X: x, What: query.IsTrue, Not: i == 1}, null)
		if err != nil {
			return false, false
		}
		sides := p.Possible()
		if len(sides) != 2 {
			return false, false
		}
		possible[i] = sides[1] // FALSE, TRUE
	}
	return possible[0], possible[0] != possible[1]
}

// complete gives a key one more value, for the rows without a known value, if an answer has these rows. It reports whether
// there is such a key.
func (g *gridding) complete() (any bool, err error) {
	for i, k := range g.keys {
		if !slices.ContainsFunc(g.answers, func(a GridAnswer) bool { return a.column(i).counted(k) }) {
			continue
		}
		any = true
		if err := g.widen(k); err != nil {
			return any, err
		}
	}
	return any, nil
}

// widen sets the key with a further value.
func (g *gridding) widen(k *gridKey) error {
	for try := range 4 {
		whole := g.further(k, try)
		if whole == nil {
			continue
		}
		if _, other := g.known[query.Print(whole)]; other { // a question groups by it
			continue
		}
		p, err := g.planned(nil, whole)
		if err != nil {
			continue
		}
		if k.order = placesIn(domainValues(p)[0], k.shown); k.order != nil && !p.Base.Keys[0].Expr.Nullable {
			k.whole = whole
			return nil
		}
	}
	name := query.Print(k.expr)
	return &Error{
		Code: CodePolicy,
		Message: fmt.Sprintf("some questions count the rows for which %s has no known value, and others drop them: "+
			"one histogram cannot have both", name),
		Hint: fmt.Sprintf("ask the questions without %s separately", name),
	}
}

// placesIn returns the place of each known value in a list with one more, and at last the place of that one. It returns
// nil if the list does not have the known values and one more.
func placesIn(all, known []any) []int {
	if len(all) != len(known)+1 {
		return nil
	}
	if _, truth := known[0].(bool); truth { // −1, 0 and 1, as in further
		return append([]int{1, 2}[:len(known)], 0)
	}
	out, more := make([]int, 0, len(all)), -1
	for i, v := range all {
		if j := len(out); j < len(known) && v == known[j] {
			out = append(out, i)
		} else {
			more = i
		}
	}
	if len(out) < len(known) || more < 0 {
		return nil
	}
	return append(out, more)
}

// further returns the key with a further value for the rows without a known value; nil if there is none. try chooses
// among values.
func (g *gridding) further(k *gridKey, try int) query.Expr {
	text := ""
	switch least := k.shown[0].(type) {
	case int64:
		if least < math.MinInt64+8 {
			return nil
		}
		text = strconv.FormatInt(least-1-int64(try), 10)
	case float64:
		if !(math.Abs(least) < 1e15) {
			return nil
		}
		text = strconv.FormatFloat(math.Floor(least)-1-float64(try), 'f', 1, 64)
	case bool:
		switch {
		case try > 0:
			return nil
		case len(k.shown) == 2:
			return g.parsed("CASE WHEN %[1]s THEN 1 WHEN NOT %[1]s THEN 0 ELSE -1 END", k.expr)
		case least:
			return g.parsed("CASE WHEN %s THEN 1 ELSE -1 END", k.expr)
		}
		return g.parsed("CASE WHEN NOT %s THEN 0 ELSE -1 END", k.expr)
	case string:
		if k.of != value.Date && k.of != value.Timestamp {
			text = []string{"''", "'no value'", "'-'", "'?'"}[try]
			break
		}
		year, err := strconv.Atoi(least[:min(4, len(least))])
		if err != nil || year < 2 {
			return nil
		}
		text = fmt.Sprintf("%s '%04d-01-%02d'", strings.ToUpper(k.of.String()), year-1, 1+try)
	default:
		return nil
	}
	return g.parsed("COALESCE(%s, "+text+")", k.expr)
}

// parsed returns the expression of a text with the text of another expression; nil if it is none.
func (g *gridding) parsed(format string, x query.Expr) query.Expr {
	tree, err := query.ParseIn("SELECT "+fmt.Sprintf(format, "("+query.Print(x)+")")+" FROM t", g.c.policy.Clock.Zone)
	if err != nil || len(tree.Items) != 1 {
		return nil
	}
	return tree.Items[0].Expr
}
