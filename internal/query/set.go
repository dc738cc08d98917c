package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// together converts UNION, INTERSECT and EXCEPT of the rows of two lists of SELECTs to a SELECT DISTINCT:
//
//	SELECT a FROM t INTERSECT SELECT b FROM u   becomes   SELECT DISTINCT a FROM (SELECT a FROM t) q WHERE a IN (SELECT b FROM u)
//
// EXCEPT is NOT IN. They are the same unless a value is NULL, so they are marked to be of the unit's column alone, which is
// NULL in no row that counts.
func together(s *pg.SelectStmt, left, right []*Select, at Pos) ([]*Select, error) {
	message, hint := "UNION is not supported here: it drops a row if another person has the same row", "write UNION ALL"
	switch s.GetOp() {
	case pg.SetOperation_SETOP_INTERSECT:
		message = "INTERSECT is not supported here: whether a row stays would depend on other persons' rows"
		hint = "select the person's column alone on both sides"
	case pg.SetOperation_SETOP_EXCEPT:
		message = "EXCEPT is not supported here: whether a row stays would depend on other persons' rows"
		hint = "select the person's column alone on both sides"
	default:
	}
	no := &Error{Pos: at, Message: message, Hint: hint}
	union := s.GetOp() == pg.SetOperation_SETOP_UNION
	if s.GetAll() || !union && len(left[0].Items) != 1 {
		return nil, no
	}
	out := &Select{At: at, Distinct: true, DistinctAt: at}
	var names []string
	for _, item := range left[0].Items {
		name := item.Alias
		if c, ok := item.Expr.(*Column); ok && name == "" {
			name = c.Name
		}
		if name == "" || slices.Contains(names, name) {
			return nil, no
		}
		names = append(names, name)
		out.Items = append(out.Items, Item{Expr: &Column{At: at, Name: name}})
	}
	rows := left
	if union {
		rows = slices.Concat(left, right)
	} else {
		var in Expr = &Nested{At: at, Kind: InNested, X: []Expr{out.Items[0].Expr}, Sub: &Subquery{At: at, Branches: right}, Apart: true}
		out.Where, out.OfUnits = negation(in, s.GetOp() == pg.SetOperation_SETOP_EXCEPT), true
	}
	out.From = From{At: at, Relation: &Subquery{At: at, Branches: rows, Alias: "q"}}
	return []*Select{out}, nil
}
