package query

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// renamed gives the columns of a subquery the names after its alias: q (a, b). The first branch of UNION ALL names the
// columns. A name must not change what GROUP BY, HAVING and ORDER BY of the subquery mean, so they must mention neither
// the alias that a column loses nor the name that it gets.
func renamed(q *Subquery, names []*pg.Node, at Pos) error {
	first, fresh := q.Branches[0], map[string]bool{}
	no := func(format string, args ...any) error {
		return &Error{Pos: at, Message: fmt.Sprintf(format, args...), Hint: "name columns in the SELECT list, with AS"}
	}
	for i := range first.Items {
		if _, star := first.Items[i].Expr.(*Star); star && len(names) > 0 {
			return no("column names after an alias are not supported for a subquery with *")
		}
	}
	if len(names) > len(first.Items) {
		return no("the subquery has %d columns, and its alias names %d", len(first.Items), len(names))
	}
	for i, n := range names {
		item, name := &first.Items[i], n.GetString_().GetSval()
		if fresh[name] {
			return no("the alias gives the name %q twice", name)
		}
		fresh[name] = true
		before := item.Alias
		if c, ok := item.Expr.(*Column); ok && before == "" {
			before = c.Name
		}
		if before != name && (first.sorts(item.Alias) || first.sorts(name)) {
			return no("the name %q after the alias would change the meaning of the subquery", name)
		}
		item.Alias = name
	}
	return nil
}

// sorts reports whether GROUP BY, HAVING or ORDER BY mentions a column by its name alone.
func (s *Select) sorts(name string) bool {
	found := false
	mentions := func(x Expr) {
		if x == nil {
			return
		}
		Replace(x, func(e Expr) (Expr, bool) {
			c, ok := e.(*Column)
			found = found || ok && c.Table == "" && c.Name == name
			return e, found
		})
	}
	for _, x := range s.GroupBy {
		mentions(x)
	}
	mentions(s.Having)
	for _, o := range s.OrderBy {
		mentions(o.Expr)
	}
	return found
}

// figured returns the name that PostgreSQL gives a column without an alias, and whether the name is that of a column or a
// function. Its own rules are in FigureColname of parse_target.c.
func figured(n *pg.Node) (name string, own bool) {
	last := func(parts []*pg.Node) string {
		if len(parts) == 0 {
			return ""
		}
		return parts[len(parts)-1].GetString_().GetSval()
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		name = last(x.ColumnRef.GetFields())
		return name, name != ""
	case *pg.Node_FuncCall:
		return last(x.FuncCall.GetFuncname()), true
	case *pg.Node_CoalesceExpr:
		return "coalesce", true
	case *pg.Node_MinMaxExpr:
		if x.MinMaxExpr.GetOp() == pg.MinMaxOp_IS_LEAST {
			return "least", true
		}
		return "greatest", true
	case *pg.Node_TypeCast:
		if name, own = figured(x.TypeCast.GetArg()); own {
			return name, true
		}
		return last(x.TypeCast.GetTypeName().GetNames()), false
	case *pg.Node_CaseExpr:
		if name, own = figured(x.CaseExpr.GetDefresult()); own {
			return name, true
		}
		return "case", false
	}
	return "", false
}
