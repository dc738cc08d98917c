// Package plan turns a question and a policy into everything that an answer needs: the bounded aggregate that an engine
// runs, how far one unit can move it, the noise, the price, and what is computed from the released numbers. It never sees
// data, so that nothing it decides, refuses or prints can reveal any.
package plan

import (
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// Plan is one question, decided. Nothing writes to a plan that Build gave: its methods read it, or copy it, and several goroutines
// may call them. What is found of a plan and kept stands elsewhere (derive.Answer, reuse.Reader).
type Plan struct {
	bounded.Statement
	Measures   []*Measure // in canonical order
	Neighbours privacy.Neighbours
	// PolicyDigest is that of the policy that the question was planned under.
	PolicyDigest string
	Price        privacy.Loss
	Quantiles    []*Quantile
	Modes        []*Mode
	OrderCaps    bounded.Caps // of the looks for quantiles
	RowCaps      bounded.Caps // of those for modes
	Selection    *Selection   // of the groups, where they are not known; else nil
	Sets         []Grouping   // the grouping sets, in canonical order; nil where GROUP BY has none
	Shown        []int        // of Sets, those that the question lists, in its order
	Aggregates   []Aggregate  // in order of first use
	Outputs      []Output
	Having       *Post
	Order        []OrderBy
	Limit        *int64
	Offset       int64
	Searches     []*Search  // for bounds, that are made before anything is added up
	Rows         *RowSearch // for the bound on a unit's rows, before that; nil where it is known

	// TargetError is the relative error that the question asks for in place of a price, or nil. Build plans it at whatever price
	// the request has.
	TargetError *big.Rat
	OwnEpsilons bool // some aggregate has an ε of its own
	Priced      bool // the question names its price, in its text or beside it
	// the bounds on a unit's rows and groups that the question names, in its text or beside it; 0 where it names
	// none
	Asked     bounded.Caps
	Notes     []string // what an asker should know of how the question was taken
	Grouped   []int    // of each GROUP BY expression, in the question's order, its place among Keys
	groupedBy []string // these expressions as the question writes them

	policy  *policy.Policy // that WithRows plans the question under again
	request Request        // likewise
	ordered []ordered      // of the values of Quantiles
}

// Request is a question with what its asker chose.
type Request struct {
	SQL       string
	Price     privacy.Loss // zero: the policy's default price
	MaxGroups int64        // of one unit; 0: the policy's

	Unknown Unknown // what is asked of groups that are not known

	// What GoogleSQL's clause may add.
	MaxRows        int64    // of one unit; 0: the policy's, and never more than that
	AutoRows       bool     // find it first
	RowsRank       *big.Rat // as this quantile of the units' numbers of rows; nil: 0.99
	GroupSelection string   // LaplaceThreshold, PublicGroups, or ""
	TargetError    *big.Rat // in place of a price; nil for none

	rowsAt query.Pos // where AutoRows is asked for; none where it stands beside the question
}

// Build plans a question. Every error is a *query.Error or an *Error, and a function of the request and the policy alone.
func Build(p *policy.Policy, r Request) (*Plan, error) {
	return build(job{policy: p, original: r, unknownKeys: true})
}

// Ahead prepares to Build questions of these texts, which then takes less time together.
func Ahead(sqls []string) { query.Ahead(sqls) }

// KeyText is a key as the question writes it.
func (p *Plan) KeyText(key int) string {
	return p.groupedBy[slices.Index(p.Grouped, key)]
}

// Sensitivity is the L1 distance that the whole answer's vector of measures can move between neighbours, in the measures'
// own units (not the grid's).
func (p *Plan) Sensitivity() *big.Rat {
	return inUnits(p.Vectors(), 1, func(m *Measure) *big.Int { return m.L1 })
}

// L2Squared is the square of the L2 distance, likewise.
func (p *Plan) L2Squared() *big.Rat {
	return inUnits(p.Vectors(), 2, func(m *Measure) *big.Int { return m.L2Squared })
}

// inUnits adds up what measures have in units of some power of their grids': in the finest grid's, as integers.
func inUnits(all []*Measure, power int, of func(*Measure) *big.Int) *big.Rat {
	byGrid := map[int]*big.Int{}
	finest := 0
	for _, m := range all {
		sum := byGrid[m.Grid]
		if sum == nil {
			sum = new(big.Int)
			byGrid[m.Grid] = sum
		}
		sum.Add(sum, of(m))
		finest = min(finest, m.Grid)
	}
	total := new(big.Int)
	for grid, sum := range byGrid {
		total.Add(total, sum.Lsh(sum, uint(power*(grid-finest))))
	}
	return new(big.Rat).SetFrac(total, new(big.Int).Lsh(big.NewInt(1), uint(-power*finest)))
}
