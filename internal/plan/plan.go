// Package plan turns a question and a policy into a Plan: the statements that an engine runs, the sensitivities,
// the noise, the price, and the post-processing of the released numbers. The planner never sees data. So its
// decisions, refusals and texts reveal nothing about data.
package plan

import (
	"errors"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Plan is a planned question. Nobody writes to a plan after Build: its methods read it or copy it, so goroutines
// may share it. Results about a plan that are kept have types of their own (derive.Answer, reuse.Reader).
type Plan struct {
	bounded.Statement
	Measures   []*Measure // in canonical order
	Neighbours privacy.Neighbours
	// PolicyDigest is the digest of the policy under which the question was planned.
	PolicyDigest string
	Price        privacy.Loss
	Quantiles    []*Quantile
	Modes        []*Mode
	OrderCaps    bounded.Caps // the caps of the accesses for quantiles
	RowCaps      bounded.Caps // the caps of the accesses for modes
	Selection    *Selection   // the selection of unknown groups; nil if the groups are known
	Sets         []Grouping   // the grouping sets, in canonical order; nil if there are none
	Shown        []int        // the indices in Sets of the sets that the question lists, in its order
	Aggregates   []Aggregate  // in order of first use
	Outputs      []Output
	Having       *Post
	Order        []OrderBy
	Limit        *int64
	Offset       int64
	Searches     []*Search // the searches for bounds, which come before the measures
	// the search for the bound on a unit's rows, which comes before all else; nil if there is none
	Rows *RowSearch
	// the estimate of what the bounds cut; nil if there is none
	Truncation *Truncation

	// TargetError is the relative error that the question requests in place of a price, or nil. Build plans the
	// question at the request's price.
	TargetError *big.Rat
	OwnEpsilons bool // whether some aggregate has an ε of its own
	Priced      bool // whether the question or the request has a price
	// the bounds on a unit's rows and groups that the question or the request has; 0 for none
	Asked     bounded.Caps
	Notes     []string // notes for the analyst on how dither read the question
	Declared  int64    // the declared number of units, if the answer uses it; else 0
	Constants bool     // whether some count is the declared number that CountsMeasured measures
	Grouped   []int    // the index in Keys of each GROUP BY expression, in the question's order
	groupedBy []string // the GROUP BY expressions as the question writes them

	// OneUnit is the refusal of a key each of whose groups belongs to one unit, so that a selection would release none;
	// nil if there is none. A question that was answered before is not refused.
	OneUnit    error
	everyGroup bool // a join with a public table asks for every group (bind.PublicJoin)

	policy  *policy.Policy // the policy, for WithRows
	request Request        // the request, for WithRows
	keysAs  keysAs         // which values the keys have, for WithRows
	ordered []ordered      // Quantiles grouped by value
}

// Request is a question with the analyst's options.
type Request struct {
	SQL       string
	Tree      *query.Select // the parsed question, which Build does not change; nil to parse SQL
	Price     privacy.Loss  // zero for the policy's default price
	Step      bool          // a step of rounds: the policy's minimum price is that of the rounds
	MaxGroups int64         // the largest number of groups of one unit; 0 for the policy's
	Sums      Sums          // how sums are measured
	Variances Variances     // how variances are measured
	Counts    Counts        // whether counts of all rows are measured

	Unknown Unknown // the options for unknown groups

	Truncation Estimate // the estimate of what the bounds cut

	// The options below are also options of GoogleSQL's clause.
	MaxRows        int64    // the largest number of rows of one unit, at most the policy's; 0 for the policy's
	AutoRows       bool     // whether to find MaxRows by a private search
	RowsRank       *big.Rat // the quantile of the units' numbers of rows that the search finds; nil for 0.99
	GroupSelection string   // LaplaceThreshold, PublicGroups, or ""
	TargetError    *big.Rat // the relative error requested in place of a price; nil for none

	rowsAt query.Pos // the position of AutoRows in the text; zero if it is not in the text
}

// Build plans a question. Every error is a *query.Error or an *Error, and depends on the request and the policy
// alone.
//
// If the question is refused, and not for its estimate of what bounds cut, Build plans it over those values of its keys that WHERE leaves possible. So a question
// about one year by day is answered even if the days of all declared years are too many groups. If there
// are too many groups even so, and the request allows it, Build plans a private selection among the groups. A question
// that is refused for another reason stays refused, because it may be a list of declared values, which is free.
func Build(p *policy.Policy, r Request) (*Plan, error) {
	out, err := build(job{policy: p, original: r, unknownKeys: true})
	refusal := (*Error)(nil)
	if err == nil || !errors.As(err, &refusal) || refusal.Price {
		return out, err
	}
	if refusal.Firm {
		return nil, concrete(p, r, refusal)
	}
	if narrow, other := build(job{policy: p, original: r, unknownKeys: true, keys: keysPossible}); other == nil {
		return narrow, nil
	}
	if r.Unknown.Allow && refusal.Many {
		return build(job{policy: p, original: r, unknownKeys: true, keys: keysUnknown})
	}
	return nil, concrete(p, r, refusal)
}

// Ahead parses several questions at once and keeps the results, so that calls of Build soon after it take less time.
func Ahead(sqls []string) { query.Ahead(sqls) }

// KeyText returns a key as the question writes it.
func (p *Plan) KeyText(key int) string {
	return p.groupedBy[slices.Index(p.Grouped, key)]
}

// Sensitivity returns the L1 sensitivity of the vector of all measures of the answer, in the measures' own units
// (not grid units).
func (p *Plan) Sensitivity() *big.Rat {
	return inUnits(p.Vectors(), 1, func(m *Measure) *big.Int { return m.L1 })
}

// L2Squared returns the squared L2 sensitivity of the vector of all measures of the answer, in the squares of the
// measures' own units.
func (p *Plan) L2Squared() *big.Rat {
	return inUnits(p.Vectors(), 2, func(m *Measure) *big.Int { return m.L2Squared })
}

// inUnits adds up a number of each measure. The numbers are in grid units to the given power, and the sum is in the
// measures' own units to that power.
func inUnits(all []*Measure, power int, of func(*Measure) *big.Int) *big.Rat {
	byGrid := map[int]*big.Int{}
	finest := 0
	for _, m := range all {
		sum := byGrid[m.Scale()]
		if sum == nil {
			sum = new(big.Int)
			byGrid[m.Scale()] = sum
		}
		sum.Add(sum, of(m))
		finest = min(finest, m.Scale())
	}
	total := new(big.Int)
	for grid, sum := range byGrid {
		total.Add(total, sum.Lsh(sum, uint(power*(grid-finest))))
	}
	return new(big.Rat).SetFrac(total, new(big.Int).Lsh(big.NewInt(1), uint(-power*finest)))
}

// Certain reports whether an expression of the plan's statement has a value in every row that sealing accepts (see
// [bounded.Statement.Certain]). It is false for a part of another plan, which has no policy.
func (p *Plan) Certain(e *bounded.Expr) bool {
	return p.policy != nil && p.Statement.Certain(e, p.policy.Table(p.Table))
}

// Whole reports whether the key with this index leaves out no row: whether it is NULL in none, or NULL is one of its groups.
func (p *Plan) Whole(key int) bool {
	k := &p.Keys[key]
	return !k.Expr.Nullable || k.Index(value.NullOf(k.Expr.Type)) >= 0 || p.Certain(k.Expr)
}
