// Package free answers questions that read no row, such as SELECT 1, which tools send to test a connection, and SELECT
// DISTINCT of a column with declared values, with which they fill their filters. Such an answer follows from the question
// and the policy. So it has no noise, no price and no entry in the ledger.
package free

import (
	"fmt"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Answer is a table of values that are not secret.
type Answer struct {
	Columns []string
	Rows    [][]value.Value // one value for each column
}

// Of answers a question without reading rows. It returns nil if the question needs rows. Every error is a
// *query.Error or a *bind.Error, and depends on the question and the policy alone.
func Of(p *policy.Policy, sql string) (*Answer, error) {
	tree, err := query.ParseIn(sql, p.Clock.Zone)
	if err != nil {
		return nil, err
	}
	return OfTree(p, tree)
}

// OfTree is Of for a parsed question.
func OfTree(p *policy.Policy, tree *query.Select) (*Answer, error) {
	if tree.From.None() {
		return constants(tree)
	}
	return list(p, tree)
}

// constants answers a SELECT without FROM, which has one row. WHERE, LIMIT and OFFSET may leave it out.
func constants(tree *query.Select) (*Answer, error) {
	if err := plain(tree); err != nil {
		return nil, err
	}
	out, row := &Answer{}, []value.Value{}
	taken := map[string]bool{}
	for _, item := range tree.Items {
		v, err := constant(item.Expr)
		if err != nil {
			return nil, err
		}
		row, out.Columns = append(row, v), append(out.Columns, nameOf(item, taken))
	}
	keep := tree.Limit == nil || *tree.Limit > 0
	if tree.Where != nil {
		v, err := constant(tree.Where)
		if err != nil {
			return nil, err
		}
		if v.Type != value.Boolean && !v.Null {
			return nil, bind.Refuse(tree.Where.Pos(), "compare it with something", "WHERE needs a condition")
		}
		keep = keep && v.IsTrue()
	}
	if keep && (tree.Offset == nil || *tree.Offset == 0) {
		out.Rows = [][]value.Value{row}
	}
	return out, nil
}

// plain refuses clauses that a SELECT without FROM has no use for.
func plain(tree *query.Select) error {
	if len(tree.GroupBy) > 0 || tree.Having != nil || len(tree.OrderBy) > 0 || tree.Options != nil {
		return bind.NoTable(tree.From.At)
	}
	return nil
}

// constant returns the value of an expression without columns. It accepts only operations that every engine computes
// alike.
func constant(x query.Expr) (value.Value, error) {
	e, err := (&bind.Scope{}).Row(x)
	if err != nil {
		return value.Value{}, err
	}
	return evaluate(e, x.Pos())
}

func evaluate(e *bounded.Expr, at query.Pos) (value.Value, error) {
	if !e.Op.Agreed() {
		return value.Value{}, bind.Refuse(at, "write the number itself", "%s of a constant is not computed here", e.Op)
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		v, err := evaluate(a, at)
		if err != nil {
			return v, err
		}
		args[i] = v
	}
	return e.Apply(args...), nil
}

// nameOf returns the unique name of an output column, as package plan chooses it.
func nameOf(item query.Item, taken map[string]bool) string {
	name := item.Alias
	if name == "" {
		switch x := item.Expr.(type) {
		case *query.Call:
			name = x.Name
		case *query.Case:
			name = "case"
		default:
			name = "expr"
		}
	}
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	taken[unique] = true
	return unique
}
