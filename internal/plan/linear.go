package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/mechanism/linear"
	"dither/privacy"
)

// The limits of a measurement of a strategy. The cells of each part, and the released numbers, must fit into memory. The
// numbers must fit into one entry of the ledger: see fitsEntry.
const (
	MaxPartCells     = 1 << 20
	MaxPartsCells    = 1 << 23 // of all parts together
	MaxLinearNumbers = 1 << 22
	MaxLinearParts   = 10_000
	maxPartWeight    = 1 << 40
)

// jointLooks is the least number of histograms that are added up from one result over all of their keys. It is public,
// and changes no answer.
const jointLooks = 8

// LinearPart requests the answers of a strategy on one histogram.
type LinearPart struct {
	// the keys of the histogram, as indices of the question's GROUP BY expressions. The last key changes fastest. With
	// no key, the histogram has one cell: all rows
	Keys     []int
	Strategy linear.Strategy
	Weight   int64 // the weight of its share of the price; 0 is 1
}

// Linear is the plan of an access that measures strategies: integer matrices, applied to histograms of one bounded
// statement.
type Linear struct {
	// Base is the bounded statement with all keys of the question. No engine runs it: it may have too many cells. The
	// same rows count in the statements of all parts.
	Base       bounded.Statement
	Parts      []*MeasuredPart
	Neighbours privacy.Neighbours
	Price      privacy.Loss
	Grouped    []int // the index in Base.Keys of each GROUP BY expression, in the question's order
	// Joint, if not nil, is the statement with the keys of all parts. The engine runs it once, and adds its groups up to the
	// histograms of the parts: see [MeasuredPart.Joint]. It counts the rows that the parts' own statements count: see
	// addParts.
	Joint  *bounded.Statement
	digest string
	given  []LinearPart
}

// MeasuredPart is a strategy with the histogram that it reads, its share of the price, its sensitivity and its noise.
type MeasuredPart struct {
	LinearPart
	// Look is the statement of the histogram. Parts with the same keys have the same pointer. Over a relation, it has all
	// keys of Base, and Strategy sums over those that the part does not have.
	Look *bounded.Statement
	// Answers describes the vector of the strategy's answers. Its Kind, X and grid are those of the histogram.
	Answers Measure
	// Joint has the index in Linear.Joint.Keys of each key of the part, in the order of Keys.
	Joint []int
	keys  []int // the index in Base.Keys of each key of the part, in the order of Keys
}

// BuildLinear plans the measurement of strategies on histograms: SELECT COUNT(*) FROM t WHERE … GROUP BY keys with known
// values. The SELECT list has one COUNT or SUM, and may have keys. Errors are as in Build.
func BuildLinear(p *policy.Policy, r Request, parts []LinearPart) (*Linear, error) {
	out, c, err := histogram(p, r)
	if err != nil {
		return nil, err
	}
	if err := c.addParts(out, parts); err != nil {
		return nil, err
	}
	out.given = parts
	return unless(out, c.unitWithin(&out.Base, out.Looks()...))
}

// BuildHistogram plans a question as BuildLinear does, without parts. So it has the keys and the values of the
// histograms that strategies can be measured on. No kernel runs it.
func BuildHistogram(p *policy.Policy, r Request) (*Linear, error) {
	out, _, err := histogram(p, r)
	return out, err
}

func histogram(p *policy.Policy, r Request) (*Linear, *capped, error) {
	q, err := read(job{policy: p, original: r, manyCells: true})
	if err != nil {
		return nil, nil, err
	}
	k, err := bindPlainKeys(q, func(*query.Select) error { return nil })
	m, err := next(measureHistogram, k, err)
	c, err := next(capRows, m, err)
	if err != nil {
		return nil, nil, err
	}
	base := c.statement()
	return &Linear{
		Base:       base.ReadingToo(nil),
		Neighbours: c.neighbours(),
		Price:      c.price,
		Grouped:    c.place,
		digest:     p.Digest(),
	}, c, nil
}

// measureHistogram makes the one measure of the histogram's cells.
func measureHistogram(k *keyed) (*measured, error) {
	b := newMeasuring(k)
	if err := run(b.selectList, b.plainHistogram, b.severalRows); err != nil {
		return nil, err
	}
	return b.measured, nil
}

// plainHistogram refuses a SELECT list without exactly one count or sum.
func (b *measuring) plainHistogram() error {
	for _, c := range b.claims {
		if c.terms != (terms{}) {
			return bind.Refuse(c.terms.at, "leave it out", "the weights of the parts divide the price of a strategy")
		}
	}
	for i, o := range b.outputs {
		if o.Post != nil && (o.Post.Op != PostAggregate || len(b.aggregates[o.Post.Index].measures()) != 1) {
			return bind.Refuse(
				b.tree.Items[i].Expr.Pos(),
				"ask for COUNT(*), COUNT(x) or SUM(x) itself",
				"a strategy reads one count or sum of each group",
			)
		}
	}
	if len(b.measures) != 1 || !b.measures[0].Additive() {
		return bind.Refuse(
			b.first(),
			"ask for one COUNT(*), COUNT(x) or SUM(x), without DISTINCT",
			"a strategy reads one count or sum of each group",
		)
	}
	if len(b.searches) > 0 || b.cellsClamped() {
		return bind.Refuse(
			b.first(),
			"give the aggregate bounds => (low, high)",
			"a strategy takes constant bounds per row",
		)
	}
	return nil
}

// Reach returns a public bound on the magnitude of a cell of the histogram: as much as MaxRows rows can add.
func (p *MeasuredPart) Reach() *big.Int {
	most := exact.Larger(big.NewInt(p.Answers.Hi), new(big.Int).Neg(big.NewInt(p.Answers.Lo)))
	return new(big.Int).Mul(most, big.NewInt(MaxRows))
}

// Looks returns the statements that an engine runs: those of the parts, each once, or the joint one.
func (p *Linear) Looks() (out []*bounded.Statement) {
	if p.Joint != nil {
		return []*bounded.Statement{p.Joint}
	}
	seen := map[*bounded.Statement]bool{}
	for _, part := range p.Parts {
		if !seen[part.Look] {
			seen[part.Look] = true
			out = append(out, part.Look)
		}
	}
	return out
}

// Given returns the parts that were given to BuildLinear.
func (p *Linear) Given() []LinearPart { return p.given }

// Numbers returns how many numbers are released.
func (p *Linear) Numbers() (n int) {
	for _, part := range p.Parts {
		n += part.Strategy.Rows()
	}
	return n
}

// KeyValues returns the known values of the question's GROUP BY expressions, in their order.
func (p *Linear) KeyValues() (out [][]value.Value) {
	for _, k := range p.Grouped {
		out = append(out, p.Base.Keys[k].Values)
	}
	return out
}
