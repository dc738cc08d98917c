package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// job is the input of planning.
type job struct {
	policy      *policy.Policy
	original    Request // the request as the caller made it
	unknownKeys bool    // whether the question may group by keys without known values
	keys        keysAs  // which values keys have
	found       int64   // the bound on a unit's rows that a search released; 0 if none
	uncut       bool    // for found: whether the plan before the search has no estimate of what its bounds cut
	manyCells   bool    // whether the cells of all keys together are never listed, so that MaxCells does not limit them
}

// keysAs says which values the keys of a plan have.
type keysAs int

const (
	keysDeclared keysAs = iota // all known values; other keys are unknown
	keysPossible               // the values that WHERE leaves possible
	keysUnknown                // all keys are unknown, and the groups are selected
)

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
	// whether the rows are those of a subquery that byUnitGroups wrote
	unitsFirst bool
	asked      bounded.Caps // the caps that the request or its text asks for
	price      privacy.Loss
}

// read parses a request, binds the relation of its FROM clause, and reads its options and its price.
func read(j job) (*question, error) {
	p, r := j.policy, j.original
	tree, err := r.tree(p.Clock.Zone)
	if err == nil {
		err = bind.Catalogs(p, tree)
	}
	if err != nil {
		return nil, err
	}
	tree, unitsFirst, err := byUnitGroups(p, tree)
	if err == nil {
		tree, err = byDistinctRows(p, tree)
	}
	if err != nil {
		return nil, err
	}
	rows, err := bind.RelationOf(p, tree)
	if err != nil {
		return nil, err
	}
	if !tree.Options.Heads(tree) {
		return nil, bind.RefuseHere(tree.Options.At, "put it after the SELECT of the aggregates",
			"the clause stands in a subquery whose rows are no answer")
	}
	if tree, err = distinct(tree); err != nil {
		return nil, err
	}
	if r.MaxGroups < 0 || r.MaxGroups > policy.MaxRowsPerUnit {
		return nil, &Error{Message: fmt.Sprintf("max_groups is between 1 and %d", policy.MaxRowsPerUnit)}
	}
	if r.MaxRows < 0 || r.MaxRows > policy.MaxRowsPerUnit {
		return nil, &Error{Message: fmt.Sprintf("max_rows is between 1 and %d, or auto", policy.MaxRowsPerUnit)}
	}
	if !unitsFirst { // byUnitGroups has checked it, with the names that the question has
		if err := rows.UnitQualified(tree); err != nil {
			return nil, err
		}
	}
	if r, err = optioned(p, rows.Table, tree, r); err != nil {
		return nil, err
	}
	asked := bounded.Caps{Rows: r.MaxRows, Groups: r.MaxGroups}
	if unitsFirst {
		if err := r.groupsAsRows(rows.Table, tree); err != nil {
			return nil, err
		}
	}
	price, err := priceOf(p, r.Price, r.Step)
	if err != nil {
		return nil, err
	}
	return &question{
		job:        j,
		request:    r,
		parsed:     tree,
		scope:      rows.Scope,
		within:     rows.Where,
		public:     rows.Keyed,
		unitsFirst: unitsFirst,
		asked:      asked,
		price:      price,
	}, nil
}

// tree returns the syntax tree of a request, which the caller may change.
func (r *Request) tree(zone *time.Location) (*query.Select, error) {
	if r.Tree == nil {
		return query.ParseIn(r.SQL, zone)
	}
	tree := *r.Tree
	return &tree, nil
}

// HasColumn reports whether the rows that a SELECT reads have a column of a name.
func HasColumn(p *policy.Policy, of *query.Select, name string) bool {
	tree := *of
	rows, err := bind.RelationOf(p, &tree)
	return err == nil && rows.Has(name)
}

// distinct replaces SELECT DISTINCT by GROUP BY of the SELECT list. With GROUP BY, DISTINCT has no effect if every key
// is in the list, because then no two rows are equal.
func distinct(tree *query.Select) (*query.Select, error) {
	if !tree.Distinct {
		return tree, nil
	}
	out := *tree
	out.Distinct = false
	listed := func(x query.Expr) bool {
		text := query.Print(resolveOutput(tree, x))
		return slices.ContainsFunc(tree.Items, func(i query.Item) bool { return query.Print(i.Expr) == text })
	}
	switch {
	case len(tree.GroupBy) > 0 && slices.ContainsFunc(tree.GroupBy, func(x query.Expr) bool { return !listed(x) }):
		return nil, bind.RefuseHere(tree.DistinctAt, "leave DISTINCT out, or select all GROUP BY expressions",
			"SELECT DISTINCT would compare noisy numbers of different groups")
	case len(tree.GroupBy) == 0 && !slices.ContainsFunc(tree.Items, aggregated):
		for _, i := range tree.Items {
			if _, constant := i.Expr.(*query.Literal); !constant {
				out.GroupBy = append(out.GroupBy, i.Expr)
			}
		}
	}
	return &out, nil
}

// aggregated reports whether an item is an aggregate. The answer has one row then, unless it is grouped.
func aggregated(i query.Item) bool {
	c, ok := i.Expr.(*query.Call)
	return ok && bind.IsAggregate(bind.Renamed(c).Name)
}

// neighbours returns the relation between datasets that the policy protects.
func (q *question) neighbours() privacy.Neighbours { return q.policy.Population.Neighbours }

// table returns the question's table. For a relation of several tables, it describes the relation.
func (q *question) table() *policy.Table { return q.scope.Table }

// source returns the relation that the question reads, or nil for one table.
func (q *question) source() *bounded.Source { return q.scope.Source }

func priceOf(p *policy.Policy, asked privacy.Loss, step bool) (privacy.Loss, error) {
	if asked.IsZero() {
		return p.Price.Default, nil
	}
	if !step && !p.Price.Minimum.Within(asked) {
		times, inRho := below(asked, p.Price.Minimum)
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is below the policy's minimum of %s for one question",
				p.Budget.Asked(asked, false), p.Budget.Asked(p.Price.Minimum, true)),
			Hint:  "ask at a higher price, such as the policy's default",
			Price: true, Times: times, InRho: inRho,
		}
	}
	if !asked.Within(p.Price.Maximum) {
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is above the policy's maximum of %s for one question",
				p.Budget.Asked(asked, true), p.Budget.Asked(p.Price.Maximum, false)),
			Hint:  "ask at " + highest(p) + " or less",
			Price: true,
		}
	}
	return asked, nil
}

// below returns how many times as high as a price the policy's minimum is, rounded up to three digits, and whether that is
// meant in ρ. It returns nil if the price lacks something else, such as δ.
func below(price, minimum privacy.Loss) (times *big.Rat, inRho bool) {
	asked, pure := price.Pure()
	least, purely := minimum.Pure()
	have, need := asked.Rat(), least.Rat()
	if inRho = !pure || !purely; inRho {
		a, _ := price.ZCDP()
		b, _ := minimum.ZCDP()
		have, need = a.Rat(), b.Rat()
	}
	if have.Sign() <= 0 || have.Cmp(need) >= 0 {
		return nil, false
	}
	return exact.CeilDigits(need.Quo(need, have), 3), inRho
}

// highest returns the policy's maximum as a flag, in the currency of the budget.
func highest(p *policy.Policy) string {
	most := p.Price.Maximum
	if _, pure := most.Pure(); !pure && p.Budget.Epsilon.IsZero() {
		rho, _ := most.ZCDP()
		return "--rho " + strings.TrimPrefix(privacy.ZCDPLoss(rho, privacy.Delta{}).Short(false), "ρ = ")
	}
	return "--epsilon " + most.Price().String()
}
