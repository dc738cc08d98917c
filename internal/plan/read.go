package plan

import (
	"fmt"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// job is the input of planning.
type job struct {
	policy      *policy.Policy
	original    Request // the request as the caller made it
	unknownKeys bool    // whether the question may group by keys without known values
	found       int64   // the bound on a unit's rows that a search released; 0 if none
}

// question is the result of the first phase, read. It holds the request's syntax, the relation that it selects
// from, its options and its price.
type question struct {
	job
	request Request       // the request, with the options that its text has
	parsed  *query.Select // the syntax tree
	scope   bind.Scope    // the names of the relation
	within  *bounded.Expr // the conditions of subqueries on the rows; nil for all rows
	// for a join that makes groups public, what GROUP BY must have; nil if there is no such join
	public *bind.PublicJoin
	price  privacy.Loss
}

// read parses a request, binds the relation of its FROM clause, and reads its options and its price.
func read(j job) (*question, error) {
	p, r := j.policy, j.original
	tree, err := query.Parse(r.SQL)
	if err == nil {
		err = bind.Catalogs(p, tree)
	}
	if err != nil {
		return nil, err
	}
	if tree.Distinct {
		return nil, bind.Refuse(
			tree.DistinctAt,
			"write SELECT x, COUNT(*) … GROUP BY x, which returns one row for each known value of x",
			"SELECT DISTINCT is not supported",
		)
	}
	rows, err := bind.RelationOf(p, tree)
	if err != nil {
		return nil, err
	}
	if r.MaxGroups < 0 || r.MaxGroups > policy.MaxRowsPerUnit {
		return nil, &Error{Message: fmt.Sprintf("max_groups is between 1 and %d", policy.MaxRowsPerUnit)}
	}
	if r.MaxRows < 0 || r.MaxRows > policy.MaxRowsPerUnit {
		return nil, &Error{Message: fmt.Sprintf("max_rows is between 1 and %d, or auto", policy.MaxRowsPerUnit)}
	}
	if err := rows.UnitQualified(tree); err != nil {
		return nil, err
	}
	if r, err = optioned(p, rows.Table, tree, r); err != nil {
		return nil, err
	}
	price, err := priceOf(p, r.Price)
	if err != nil {
		return nil, err
	}
	return &question{
		job:     j,
		request: r,
		parsed:  tree,
		scope:   rows.Scope,
		within:  rows.Where,
		public:  rows.Keyed,
		price:   price,
	}, nil
}

// neighbours returns the relation between datasets that the policy protects.
func (q *question) neighbours() privacy.Neighbours { return q.policy.Population.Neighbours }

// table returns the question's table. For a relation of several tables, it describes the relation.
func (q *question) table() *policy.Table { return q.scope.Table }

// source returns the relation that the question reads, or nil for one table.
func (q *question) source() *bounded.Source { return q.scope.Source }

func priceOf(p *policy.Policy, asked privacy.Loss) (privacy.Loss, error) {
	if asked.IsZero() {
		return p.Price.Default, nil
	}
	if !p.Price.Minimum.Within(asked) {
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is below the policy's minimum of %s for one question", asked, p.Price.Minimum),
			Hint:    "ask at a higher price, such as the policy's default",
			Price:   true,
		}
	}
	if !asked.Within(p.Price.Maximum) {
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is above the policy's maximum of %s for one question", asked, p.Price.Maximum),
			Hint:    "ask at --epsilon " + p.Price.Maximum.Price().String() + " or less",
			Price:   true,
		}
	}
	return asked, nil
}
