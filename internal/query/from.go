package query

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Limits on a question's relations. Each use of a name from WITH counts with all its tables.
const (
	maxTables = 16
	maxNested = 12
)

// sources is the part of a lowering's state that concerns relations.
type sources struct {
	named  map[string]named // the names from WITH that are visible here
	after  int              // the offset after the SELECT that was converted last
	tables int              // the number of tables that are read, counting each mention
	nested int
	none   bool // whether the outermost SELECT has no FROM
	value  bool // whether this is inside a subquery for one value, which may be a constant

	catalogs   []Catalog
	read       []string    // the names of the tables that are read
	tableNames []tableName // those with a schema that are not settled yet
}

// named is the definition of a name from WITH.
type named struct {
	branches []*Select
	listed   *Constants // VALUES of several rows, instead of branches
	tables   int
}

// from converts FROM. A single table without a join becomes From.Table, and anything else becomes From.Relation. The
// outermost SELECT may lack FROM, and so may a subquery that stands beside other relations (see OneRow).
func (l *lowering) from(nodes []*pg.Node, start Pos) (From, error) {
	switch {
	case len(nodes) == 0 && l.sources.nested > 0: // counted too, because a name of WITH may double at each use
		return From{At: start}, l.counted(1, start)
	case len(nodes) == 0:
		return From{At: start}, nil
	}
	at := l.text.pos(l.after(pg.Token_FROM))
	if len(nodes) > 1 {
		list := &List{}
		for _, n := range nodes {
			r, err := l.relation(n, at, 1)
			if err != nil {
				return From{}, err
			}
			list.Items = append(list.Items, r)
		}
		list.At = list.Items[0].Pos()
		if !slices.ContainsFunc(list.Items, func(r Relation) bool { return !tableless(r) }) {
			return From{}, noTable(list.At)
		}
		return From{At: list.At, Relation: list}, nil
	}
	r, err := l.relation(nodes[0], at, 1)
	if err != nil {
		return From{}, err
	}
	if tableless(r) && !l.sources.value {
		return From{}, noTable(r.Pos())
	}
	if t, ok := r.(*Table); ok {
		return From{Table: t.Name, Alias: t.Alias, At: t.At}, nil
	}
	return From{At: r.Pos(), Relation: r}, nil
}

// relation converts one relation. depth is its nesting depth in FROM.
func (l *lowering) relation(n *pg.Node, at Pos, depth int) (Relation, error) {
	if depth > maxTables {
		return nil, tooManyTables(at)
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return l.table(x.RangeVar, l.pos(x.RangeVar.GetLocation(), at))
	case *pg.Node_RangeSubselect:
		s, alias := x.RangeSubselect.GetSubquery().GetSelectStmt(), x.RangeSubselect.GetAlias()
		if plainValues(s) {
			return l.ofValues(s, alias.GetAliasname(), alias.GetColnames(), at)
		}
		q, err := l.subquery(s, alias.GetAliasname(), at)
		if err != nil {
			return nil, err
		}
		q.Lateral = x.RangeSubselect.GetLateral()
		return q, renamed(q, alias.GetColnames(), at)
	case *pg.Node_JoinExpr:
		return l.join(x.JoinExpr, at, depth)
	case *pg.Node_RangeFunction:
		if err := l.counted(1, at); err != nil {
			return nil, err
		}
		return l.called(x.RangeFunction, n)
	}
	return nil, l.refuseSource(n, at)
}

func tooManyTables(at Pos) *Error {
	return &Error{Pos: at, Message: fmt.Sprintf("the question reads more than %d tables, counting each mention",
		maxTables), Hint: "read fewer tables in one question"}
}

// counted adds tables to the number of tables read, and returns an error beyond the limit.
func (l *lowering) counted(tables int, at Pos) error {
	if l.sources.tables += tables; l.sources.tables > maxTables {
		return tooManyTables(at)
	}
	return nil
}

// table converts a table's name, or a name from WITH.
func (l *lowering) table(r *pg.RangeVar, at Pos) (Relation, error) {
	switch {
	case !r.GetInh():
		return nil, &Error{Pos: at, Message: "FROM ONLY is not supported", Hint: "leave out ONLY"}
	case len(r.GetAlias().GetColnames()) > 0:
		return nil, &Error{
			Pos: at, Message: "a table alias with column names is not supported",
			Hint: "leave out the names",
		}
	}
	name, alias := r.GetRelname(), r.GetAlias().GetAliasname()
	if err := l.inSchema(r.GetCatalogname(), r.GetSchemaname(), quote(name), at); err != nil {
		return nil, err
	}
	// a name from WITH has no schema
	if given, ok := l.sources.named[name]; ok && r.GetSchemaname() == "" {
		if alias == "" {
			alias = name
		}
		if l.sources.nested+deep(given.branches) > maxNested {
			return nil, tooNested(at)
		}
		if given.listed != nil {
			c := *given.listed
			c.At, c.Alias = at, alias
			return &c, l.counted(given.tables, at)
		}
		return &Subquery{At: at, Branches: given.branches, Alias: alias}, l.counted(given.tables, at)
	}
	l.sources.read = append(l.sources.read, name)
	return &Table{At: at, Name: name, Alias: alias}, l.counted(1, at)
}

func (l *lowering) join(x *pg.JoinExpr, at Pos, depth int) (Relation, error) {
	left, err := l.relation(x.GetLarg(), at, depth+1)
	if err != nil {
		return nil, err
	}
	right, err := l.relation(x.GetRarg(), left.Pos(), depth+1)
	if err != nil {
		return nil, err
	}
	out := &Join{At: right.Pos(), L: left, R: right}
	no := func(message, hint string) (Relation, error) {
		return nil, &Error{Pos: out.At, Message: message, Hint: hint}
	}
	switch x.GetJointype() {
	case pg.JoinType_JOIN_INNER:
		out.Kind = InnerJoin
	case pg.JoinType_JOIN_LEFT:
		out.Kind = LeftJoin
	case pg.JoinType_JOIN_RIGHT:
		out.Kind = RightJoin
	case pg.JoinType_JOIN_FULL:
		out.Kind = FullJoin
	default:
		return no("this join is not supported", "write JOIN … ON")
	}
	switch {
	case x.GetAlias() != nil || x.GetJoinUsingAlias() != nil:
		return no("an alias of a join is not supported", "give each table its own alias")
	case x.GetIsNatural():
		out.Natural = true
		return out, nil
	case len(x.GetUsingClause()) > 0:
		for _, n := range x.GetUsingClause() {
			out.Using = append(out.Using, n.GetString_().GetSval())
		}
		return out, nil
	case x.GetQuals() == nil: // CROSS JOIN
		return out, nil
	}
	out.On, err = l.expr(x.GetQuals(), out.At, 1)
	return out, err
}
