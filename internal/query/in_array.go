package query

import pg "github.com/pganalyze/pg_query_go/v6"

// inArray returns the constants that a subquery after IN lists, as the variables of dashboards do: those of
// SELECT UNNEST(array), and of VALUES (1), (2). It returns nil for any other subquery.
func (l *lowering) inArray(s *pg.SelectStmt, at Pos, depth int) ([]Expr, error) {
	if s.GetWithClause() != nil || s.GetOp() > pg.SetOperation_SETOP_NONE || len(s.GetFromClause())+len(s.GetSortClause()) > 0 ||
		s.GetWhereClause() != nil || len(s.GetGroupClause())+len(s.GetDistinctClause()) > 0 || s.GetHavingClause() != nil ||
		s.GetLimitCount() != nil || s.GetLimitOffset() != nil {
		return nil, nil
	}
	if rows := s.GetValuesLists(); len(rows) > 0 {
		var nodes []*pg.Node
		for _, r := range rows {
			if len(r.GetList().GetItems()) != 1 {
				return nil, nil
			}
			nodes = append(nodes, r.GetList().GetItems()[0])
		}
		return l.exprs(nodes, at, depth)
	}
	if len(s.GetTargetList()) != 1 {
		return nil, nil
	}
	call := s.GetTargetList()[0].GetResTarget().GetVal().GetFuncCall()
	names := call.GetFuncname()
	if len(names) != 1 || names[0].GetString_().GetSval() != "unnest" || len(call.GetArgs()) != 1 {
		return nil, nil
	}
	_ = l.window() // the tokens of this SELECT
	return l.array(call.GetArgs()[0], at, depth)
}
