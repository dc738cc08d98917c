// Package free answers questions that read no row, such as SELECT 1, which tools send to test a connection, SELECT DISTINCT
// of a column with declared values, with which they fill their filters, and SELECT * … LIMIT 0, with which they ask for
// names. It also answers COUNT(*) of a table whose number of units is declared. Such an answer follows from the question
// and the policy. So it has no noise, no price and no entry in the ledger.
package free

import (
	"cmp"
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
	Notes   []string        // how to read the answer
	Units   int64           // the declared number of units, if the answer counts them; else 0
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
		return constants(p, tree)
	}
	tree = flat(p, tree)
	if out := none(p, tree); out != nil {
		return out, nil
	}
	if out := units(p, tree); out != nil {
		return out, nil
	}
	return list(p, tree)
}

// constants answers a SELECT without FROM, which has one row. WHERE, LIMIT and OFFSET may leave it out.
func constants(p *policy.Policy, tree *query.Select) (*Answer, error) {
	if err := plain(tree); err != nil {
		return nil, err
	}
	constant := func(x query.Expr) (value.Value, error) { return constant(serverNamed(p, x)) }
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

// serverNamed returns an expression in which the server's names, for which clients ask when they connect, are constants. The
// catalog has the population's name, and every caller is called analyst.
func serverNamed(p *policy.Policy, x query.Expr) query.Expr {
	names := map[string]string{
		"version": "dither, with a part of the SQL of PostgreSQL 16", "current_schema": "public",
		"current_database": p.Population.Name, "current_catalog": p.Population.Name,
		"current_user": "analyst", "session_user": "analyst", "current_role": "analyst", "user": "analyst",
	}
	out, err := query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		c, ok := x.(*query.Call)
		if !ok || len(c.Args) > 0 || c.Star || c.Over != nil || c.Filter != nil {
			return x, nil
		}
		if name, ok := names[c.Name]; ok {
			return &query.Literal{At: c.At, Kind: query.StringLiteral, Text: name}, nil
		}
		return x, nil
	})
	if err != nil {
		return x
	}
	return out
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
		return value.Value{}, bind.Refuse(at, "use the number itself", "%s of a constant is not computed here", e.Op)
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
			name = cmp.Or(item.Name, "expr")
		}
	}
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	taken[unique] = true
	return unique
}
