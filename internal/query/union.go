package query

import pg "github.com/pganalyze/pg_query_go/v6"

// union converts a UNION that is the whole question: a UNION ALL b is SELECT * FROM (a UNION ALL b), and a UNION b has
// DISTINCT. ORDER BY, LIMIT and OFFSET after the last SELECT are of the whole.
func (l *lowering) union(s *pg.SelectStmt) (*Select, error) {
	start := l.text.pos(l.find(pg.Token_SELECT))
	if err := l.refuseClauses(&pg.SelectStmt{LockingClause: s.GetLockingClause(), LimitOption: s.GetLimitOption()}); err != nil {
		return nil, err
	}
	sub, err := l.subquery(&pg.SelectStmt{
		Op: s.GetOp(), All: true, Larg: s.GetLarg(), Rarg: s.GetRarg(), WithClause: s.GetWithClause(),
	}, "", start)
	if err != nil {
		return nil, err
	}
	if fromless(sub) {
		return nil, noTable(start)
	}
	out := &Select{
		Distinct: !s.GetAll(), Items: []Item{{Expr: &Star{At: start}}}, From: From{At: sub.At, Relation: sub},
	}
	if out.Distinct {
		out.DistinctAt = l.text.pos(l.find(pg.Token_UNION))
	}
	return out, l.last(s, out, start)
}
