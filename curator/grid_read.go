package curator

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"dither/internal/query"
)

// add reads one question.
func (g *gridding) add(i int, sql string) error {
	wrong := func(hint, format string, args ...any) error {
		return &Error{Code: CodePolicy, Message: fmt.Sprintf("question %d ", i+1) + fmt.Sprintf(format, args...), Hint: hint}
	}
	const alone = "ask it in a question of its own, without --together"
	g.c.timed(&sql)
	tree, err := query.ParseIn(sql, g.c.policy.Clock.Zone)
	if err != nil {
		return g.c.public(err)
	}
	switch {
	case tree.From.None():
		return wrong(alone, "has no FROM")
	case tree.Having != nil, len(tree.OrderBy) > 0, tree.Limit != nil, tree.Offset != nil, tree.Distinct, tree.Options != nil:
		return wrong(alone, "has a clause besides SELECT, FROM, WHERE and GROUP BY")
	}
	groups, err := groupsOf(tree)
	if err != nil {
		return wrong(alone, "%v", err)
	}
	g.groups = g.groups || len(groups) > 0
	from := (&query.Select{Items: []query.Item{{Expr: &query.Literal{Kind: query.NullLiteral}}}, From: tree.From}).String()
	if i == 0 {
		g.text, g.from = from, tree.From
	} else if from != g.text {
		return wrong("ask about each relation separately", "is about another relation than question 1")
	}
	for _, item := range tree.Items {
		if slices.ContainsFunc(groups, func(x query.Expr) bool { return query.Print(x) == query.Print(item.Expr) }) {
			continue
		}
		of := gridAsked{question: i, name: item.Alias, where: tree.Where, groups: groups}
		call, ok := item.Expr.(*query.Call)
		if !ok || call.Distinct || call.Over != nil || call.Within != nil || !countsOrSums(call) {
			return wrong(alone, "selects something else than COUNT(*), COUNT(x), SUM(x) or the same with FILTER (WHERE …)")
		}
		if of.name == "" {
			of.name = call.Name
		}
		of.filter = call.Filter
		measure := &query.Call{Name: call.Name, Args: call.Args, Star: call.Star, Named: call.Named}
		if call.Name == "count" && !call.Star {
			of.filter = both(of.filter, &query.Is{X: call.Args[0], What: query.IsNull, Not: true})
			measure = &query.Call{Name: "count", Star: true}
		}
		if g.measure == nil {
			g.measure = measure
		} else if a, b := query.Print(measure), query.Print(g.measure); a != b {
			return wrong("ask about each separately, with a share of the price", "measures %s, and question 1 measures %s", a, b)
		}
		g.asked = append(g.asked, of)
	}
	return nil
}

func countsOrSums(call *query.Call) bool {
	switch call.Name {
	case "count":
		return len(call.Named) == 0 && (call.Star || len(call.Args) == 1)
	case "sum":
		return len(call.Args) == 1
	}
	return false
}

// groupsOf returns the expressions of GROUP BY. A number stands for an expression of the SELECT list.
func groupsOf(tree *query.Select) (out []query.Expr, err error) {
	for _, x := range tree.GroupBy {
		if l, ok := x.(*query.Literal); ok {
			i, err := strconv.Atoi(l.Text)
			if l.Kind != query.IntegerLiteral || err != nil || i < 1 || i > len(tree.Items) {
				return nil, errors.New("groups by a constant that is no column's number")
			}
			x = tree.Items[i-1].Expr
		}
		if _, ok := x.(*query.Grouping); ok {
			return nil, errors.New("has GROUPING SETS, ROLLUP or CUBE")
		}
		out = append(out, x)
	}
	return out, nil
}

// share moves a WHERE that all questions have to the histogram. It then bounds the rows of a unit after this condition.
func (g *gridding) share() {
	first := printed(g.asked[0].where)
	if slices.ContainsFunc(g.asked, func(a gridAsked) bool { return printed(a.where) != first }) {
		return
	}
	g.where = g.asked[0].where
	for i := range g.asked {
		g.asked[i].where = nil
	}
}

func printed(x query.Expr) string {
	if x == nil {
		return ""
	}
	return query.Print(x)
}

// conjuncts returns the conditions that AND joins.
func conjuncts(x query.Expr) []query.Expr {
	if x == nil {
		return nil
	}
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(conjuncts(b.L), conjuncts(b.R)...)
	}
	return []query.Expr{x}
}
