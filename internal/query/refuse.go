package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Hints that several refusals share.
const (
	oneTable   = "name a table, a join, or a subquery"
	noSubquery = "join its rows on the person, or ask it first and use its answer as a constant"
	useConst   = "write the value itself"
)

// refuseClauses refuses clauses of a SELECT that the tree cannot represent.
func (l *lowering) refuseClauses(s *pg.SelectStmt) error {
	no := func(kind pg.Token, hint, message string) error {
		return l.text.refuse(l.find(kind), hint, "%s", message)
	}
	switch {
	case s.GetOp() == pg.SetOperation_SETOP_INTERSECT:
		return no(pg.Token_INTERSECT, "ask two questions", "INTERSECT is not supported")
	case s.GetOp() == pg.SetOperation_SETOP_EXCEPT:
		return no(pg.Token_EXCEPT, "ask two questions", "EXCEPT is not supported")
	case len(s.GetValuesLists()) > 0:
		return no(pg.Token_VALUES, "write SELECT … FROM …", "VALUES is not supported")
	case distinctOn(s):
		return no(pg.Token_DISTINCT, "leave the clause out, and name the price with --epsilon",
			"SELECT DISTINCT ON is not supported beside GoogleSQL's clause")
	case s.GetIntoClause() != nil:
		return no(pg.Token_INTO, "leave it out: the answer is returned", "SELECT INTO is not supported")
	case s.GetGroupDistinct():
		return no(pg.Token_GROUP_P, "write GROUP BY alone", "GROUP BY DISTINCT is not supported")
	case len(s.GetLockingClause()) > 0:
		return no(pg.Token_FOR, "leave it out: a question changes nothing",
			"row locks (FOR UPDATE, FOR SHARE) are not supported")
	case s.GetLimitOption() == pg.LimitOption_LIMIT_OPTION_WITH_TIES:
		return no(pg.Token_FETCH, "write LIMIT", "WITH TIES is not supported")
	}
	return nil
}

// distinctOn reports whether a SELECT has DISTINCT ON (…). PostgreSQL's grammar represents plain DISTINCT as a list
// of one empty node.
func distinctOn(s *pg.SelectStmt) bool {
	for _, n := range s.GetDistinctClause() {
		if n.GetNode() != nil {
			return true
		}
	}
	return false
}

// refuseSource returns the error for an item of FROM that is not supported.
func (l *lowering) refuseSource(n *pg.Node, at Pos) error {
	e := &Error{Pos: at, Message: "this is not allowed in FROM", Hint: oneTable}
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeFunction, *pg.Node_RangeTableFunc, *pg.Node_JsonTable:
		e.Message = "functions in FROM are not supported"
		e.Pos = l.text.pos(l.after(pg.Token_FROM))
	case *pg.Node_RangeTableSample:
		e.Message, e.Hint = "TABLESAMPLE is not supported", "leave it out"
		e.Pos = l.pos(x.RangeTableSample.GetLocation(), at)
	}
	return e
}

// after returns the offset of the token that follows the first token of a kind.
func (l *lowering) after(kind pg.Token) int { return l.first(l.find(kind) + 1) }

// refuseNode returns the error for an expression that the tree cannot represent. The error names the expression as
// precisely as possible.
func (l *lowering) refuseNode(n *pg.Node, at Pos) error {
	no := func(location int32, message, hint string) error {
		return &Error{Pos: l.pos(location, at), Message: message, Hint: hint}
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_ParamRef:
		return no(x.ParamRef.GetLocation(), "parameters ($1) are not supported", useConst)
	case *pg.Node_CollateClause:
		return no(x.CollateClause.GetLocation(), "COLLATE is not supported", "leave it out: text is compared by its bytes")
	case *pg.Node_SqlvalueFunction:
		message := "the current user and schema are not part of a question"
		switch x.SqlvalueFunction.GetOp() {
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP,
			pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP,
			pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
			message = "the current date and time are not part of this question" // the caller gives no clock
		case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N,
			pg.SQLValueFunctionOp_SVFOP_LOCALTIME, pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
			message = "the current time of day is not part of a question"
		}
		return no(x.SqlvalueFunction.GetLocation(), message, useConst)
	case *pg.Node_AArrayExpr:
		return no(x.AArrayExpr.GetLocation(), "arrays are not supported",
			"write the values one by one: x IN (1, 2), or PERCENTILE_CONT(0.25) …, PERCENTILE_CONT(0.5) …")
	case *pg.Node_AIndirection:
		return no(0, "subscripts and fields of a value are not supported",
			"a column holds one value; APPROX_QUANTILES(x, 4)[OFFSET(2)] is PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x)")
	case *pg.Node_RowExpr:
		return no(x.RowExpr.GetLocation(), "rows of values are not supported", "list or compare the values one by one")
	case *pg.Node_GroupingSet:
		return no(x.GroupingSet.GetLocation(), "GROUPING SETS, ROLLUP and CUBE are allowed only in GROUP BY", "")
	case *pg.Node_NamedArgExpr:
		return no(x.NamedArgExpr.GetLocation(), "named arguments are not supported", "give the values in order")
	case *pg.Node_SetToDefault:
		return no(x.SetToDefault.GetLocation(), "DEFAULT is not a value here", useConst)
	case *pg.Node_CurrentOfExpr:
		return no(0, "CURRENT OF is not supported", "")
	case *pg.Node_XmlExpr, *pg.Node_XmlSerialize:
		return no(0, "XML is not supported", "")
	case *pg.Node_JsonIsPredicate, *pg.Node_JsonFuncExpr, *pg.Node_JsonParseExpr, *pg.Node_JsonScalarExpr,
		*pg.Node_JsonSerializeExpr, *pg.Node_JsonObjectConstructor, *pg.Node_JsonArrayConstructor,
		*pg.Node_JsonArrayQueryConstructor, *pg.Node_JsonObjectAgg, *pg.Node_JsonArrayAgg:
		return no(0, "JSON is not supported", "")
	}
	return no(0, "this is not supported here", "")
}

// operatorHints suggest an alternative to an operator between two operands, and prefixHints to one before its
// operand.
var (
	operatorHints = map[string]string{
		"~~": "write LIKE", "!~~": "write NOT LIKE", "~~*": "write ILIKE", "!~~*": "write NOT ILIKE",
		"==": "write =",
		"&":  "write x % 2 <> 0 for the lowest bit, FLOOR(x / 2) % 2 <> 0 for the next",
		"<<": "write x * 2 for x << 1", ">>": "write FLOOR(x / 2) for x >> 1",
	}
	prefixHints = map[string]string{"|/": "write sqrt(x)", "@": "write abs(x)", "!": "write NOT x"}
)

func refusePrefix(name string, at Pos) error {
	return &Error{Pos: at, Message: "the operator " + name + " is not supported", Hint: prefixHints[name]}
}

// refuseOperator returns the error for an operator that the tree cannot represent.
func refuseOperator(name string, at Pos) error {
	e := &Error{Pos: at, Message: "the operator " + name + " is not supported", Hint: operatorHints[name]}
	switch name {
	case "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "@?", "@@", "&&":
		e.Message = "JSON and array operators (" + name + ") are not supported"
	case "&", "|", "#", "<<", ">>":
		e.Message = "bit operators (" + name + ") are not supported"
	}
	return e
}
