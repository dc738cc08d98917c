package bind

import (
	"slices"

	"dither/internal/query"
)

// Relations of which each row of a join meets exactly one row: a subquery of constants, and a LATERAL subquery that only
// aggregates. Neither multiplies or drops rows, so the bounds of a unit stay. Their columns become names of the relation
// beside them: constants, and the values of subqueries in expressions.

// oneRow joins such a relation to the rows of l.
func (f from) oneRow(l *Relation, q *query.Subquery, j *query.Join) (*Relation, error) {
	always := j.Cross()
	if on, ok := j.On.(*query.Literal); ok {
		always = on.Kind == query.BooleanLiteral && on.Bool
	}
	if j.On == nil && !j.Cross() || j.Kind != query.InnerJoin && (j.Kind != query.LeftJoin || !always) {
		return nil, Refuse(j.At, "use CROSS JOIN, and put the condition into WHERE", "this subquery is joined to every row")
	}
	if slices.Contains(l.tables(), q.Alias) {
		return nil, Refuse(j.At, "give one of them an alias", "two tables are called %q here", q.Alias)
	}
	var err error
	if q.Lateral && !query.OneRow(q) {
		err = f.lateral(l, q)
	} else {
		err = f.constants(l, q)
	}
	if err != nil || always {
		return l, err
	}
	on, err := l.Condition(j.On)
	if err != nil {
		return nil, err
	}
	return l, l.restrict(on, j.At)
}

// constants adds the columns of a subquery of constants to the names of l.
func (f from) constants(l *Relation, q *query.Subquery) error {
	reads := &Relation{Scope: Scope{computed: f.computed}} // no column
	if q.Lateral {
		reads = l
	}
	for _, item := range q.Branches[0].Items {
		n, err := reads.item(item)
		if err != nil {
			return err
		}
		n.table, n.merged = q.Alias, false
		l.Names = append(l.Names, n)
	}
	return nil
}

// lateral adds the columns of a LATERAL subquery to the names of l. Each item is an expression of aggregates, so it is
// the value of the subquery that selects it alone.
func (f from) lateral(l *Relation, q *query.Subquery) error {
	no := func() error {
		return Refuse(q.At, "write a join, or LATERAL (SELECT COUNT(*) AS n FROM t WHERE t.person = p.person) q",
			"a LATERAL subquery may only aggregate, without GROUP BY, or keep first rows of the outer row's person with ORDER BY and LIMIT")
	}
	s := q.Branches[0]
	if len(q.Branches) > 1 || len(s.GroupBy) > 0 || s.Having != nil || s.Distinct || len(s.OrderBy) > 0 || s.Limit != nil ||
		s.Offset != nil {
		return no()
	}
	n := &nesting{from: f, base: l.copied(), out: l, known: map[string]query.Expr{}}
	n.out.materialize()
	for _, item := range s.Items {
		if !aggregates(item.Expr) {
			return no()
		}
		one := *s
		one.Items = []query.Item{{Expr: item.Expr}}
		x, err := n.expression(&query.Nested{
			At: q.At, Kind: query.ValueNested, Sub: &query.Subquery{At: q.At, Branches: []*query.Select{&one}},
		})
		if err != nil {
			return err
		}
		e, err := l.Row(x)
		if err != nil {
			return err
		}
		name := item.Alias
		if c, ok := item.Expr.(*query.Call); ok && name == "" {
			name = c.Name
		}
		l.Names = append(l.Names, Name{table: q.Alias, name: name, e: e})
	}
	return nil
}
