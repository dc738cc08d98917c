package curator

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/internal/plan"
	"dither/internal/query"
	"dither/internal/release"
	"dither/mechanism/linear"
	"dither/noise"
)

// Strategy asks for the answers of strategies: integer matrices, applied to histograms of one question. The question is
// SELECT COUNT(*) FROM t WHERE … GROUP BY k1, k2, …, or has SUM(x) in place of COUNT(*). Its keys must be known.
type Strategy struct {
	Request
	Parts []StrategyPart
	// Choice is kept in the home when the strategy is measured, so that [Session.Choice] returns it. The first one that
	// is recorded for a text stays
	Choice Choice
	Also   []Choice // further choices, kept in the same way
}

// StrategyPart is a strategy on one histogram of the question.
type StrategyPart struct {
	// Keys are the keys of the histogram: indices of the question's GROUP BY expressions, from 0. The histogram is
	// summed over the other keys. Its cells are the combinations of the keys' values, in the order of
	// [Domain.Values]; the last of Keys changes fastest. nil is the histogram of one cell: all rows.
	Keys []int
	// Queries has one column for each cell. Each of its rows is a query: the sum of the cells, each times the matrix's
	// entry.
	Queries linear.Strategy
	Weight  int64 // the weight of the part's share of the price; 0 is 1. At most 2⁴⁰
}

// Domain describes the histograms of a question. It follows from the question and the policy, never from rows.
type Domain struct {
	Keys []string // for each GROUP BY expression, its SQL
	// for each GROUP BY expression, in the question's order, its known values in increasing order. A value is nil
	// (NULL), int64, float64, string or bool; a date is a string
	Values [][]any
	Unit   *big.Rat // the unit of the histograms' cells; 1 for counts
	Limits *Limits  // what bounds the contribution of one unit
	// the L1 sensitivity of a histogram, in units of Unit. The matrix's largest column norm multiplies it
	Sensitivity *big.Int
	NonNegative bool // no row lowers a cell, as for counts
	Price       Loss // the price of the request
	// the sums of cells that the policy's totals determine; none unless the question counts all rows of one table
	Totals     []KnownTotal
	TotalsNote string // why some totals are not used; "" if all are
}

// StrategyMeasurement is measured strategies, part by part.
type StrategyMeasurement struct {
	ID        string
	Values    [][]any // the values of the keys, as in Domain
	Parts     []MeasuredPart
	Limits    *Limits // what bounds the release
	Price     Loss
	Remaining Loss
	Replayed  bool // returned from an earlier release, at no cost
}

// MeasuredPart is the noisy answers of one part.
type MeasuredPart struct {
	Keys   []int
	Values []*big.Int // one for each query, in units of Unit; nil in an explanation
	Unit   *big.Rat
	Noise  noise.Distribution // the noise, independent for each answer, in units of Unit
	// the largest change of the vector of exact answers by one unit, in units of Unit
	Sensitivity Sensitivity
	Loss        Loss // the part's share of the price
}

// StrategyExplanation states the price and the noise of a [Strategy]. It spends nothing, and reads no row.
type StrategyExplanation struct {
	SQL        string
	Values     [][]any        // the values of the keys, as in Domain
	Parts      []MeasuredPart // without values
	Limits     *Limits
	Price      Loss
	Remaining  Loss
	Affordable bool     // the price is within what remains
	Largest    string   // the largest ε that one question can be asked at now
	Replayed   bool     // the measurement was released before, and would be replayed at no cost
	Charged    []string // the parts of the table that the question is charged to; nil if it is charged to everybody
}

// MeasureStrategy releases the answers of strategies on histograms, with independent noise on each answer. Repeating a
// request replays its release. It needs the same matrices, because the ledger has only their digests.
//
// By composition, the loss is the price: the parts' shares add up to it. The answers of a part form one vector under
// one mechanism (mechanism.Laplace or mechanism.Gaussian). The plan proves its sensitivity from the columns of the
// integer matrix (sensitivity.OfStrategy) and a cap on the rows of one unit, which is the same for all parts.
func (c *Session) MeasureStrategy(ctx context.Context, s Strategy) (*StrategyMeasurement, error) {
	if err := c.asks(&s.Analyst); err != nil {
		return nil, err
	}
	c.timed(&s.SQL)
	ctx = c.kernel.Arrives(ctx)
	of, err := c.strategy(s)
	if err != nil {
		return nil, c.public(err)
	}
	p := of.Plan()
	c.paid(of, append([]Choice{s.Choice, {keptAs(of.Look().Key()), keptStrategy(p.Given())}}, s.Also...)...)
	r, err := c.take(ctx, of)
	if err != nil {
		return nil, err
	}
	out := &StrategyMeasurement{
		ID:       r.Name(),
		Values:   domainValues(p),
		Limits:   c.limitsOf(&p.Base),
		Price:    c.loss(p.Price),
		Replayed: r.Replayed,
	}
	if out.Parts, err = c.partsOf(p); err != nil {
		return nil, c.after(r, err)
	}
	numbers := r.Numbers[0]
	for i, part := range p.Parts {
		n := part.Strategy.Rows()
		out.Parts[i].Values, numbers = numbers[:n:n], numbers[n:]
	}
	out.Remaining, err = c.remains(r)
	return out, err
}

// ExplainStrategy states the price and the noise of [Session.MeasureStrategy], at no cost.
func (c *Session) ExplainStrategy(_ context.Context, s Strategy) (*StrategyExplanation, error) {
	if err := c.asks(&s.Analyst); err != nil {
		return nil, err
	}
	c.timed(&s.SQL)
	of, err := c.strategy(s)
	if err != nil {
		return nil, c.public(err)
	}
	p, l := of.Plan(), of.Look()
	out := &StrategyExplanation{
		SQL: s.SQL, Values: domainValues(p), Limits: c.limitsOf(&p.Base), Price: c.loss(p.Price), Charged: charged(l),
	}
	if out.Replayed, err = c.kernel.Explicable(l); err != nil {
		return nil, c.public(err)
	}
	room, err := c.kernel.Room(l)
	if err != nil {
		return nil, c.public(err)
	}
	out.Remaining, out.Largest, out.Affordable = left(room), c.largest(room), out.Replayed || p.Price.Within(room)
	out.Parts, err = c.partsOf(p)
	if err != nil {
		return nil, c.public(err)
	}
	return out, nil
}

// Domain returns the keys of a question for [Session.MeasureStrategy], with their known values. It spends nothing, and
// reads no row of a table with units.
func (c *Session) Domain(_ context.Context, r Request) (*Domain, error) {
	if err := c.asks(&r.Analyst); err != nil {
		return nil, err
	}
	c.timed(&r.SQL)
	request, err := c.request(r.Question())
	if err != nil {
		return nil, c.public(err)
	}
	p, err := plan.BuildHistogram(c.filled(), request)
	if err != nil {
		return nil, c.public(err)
	}
	m := p.Base.Measures[0]
	most := big.NewInt(max(m.Hi, -m.Lo, 1))
	out := &Domain{
		Keys:        c.groupTexts(r.SQL),
		Values:      domainValues(p),
		Unit:        m.Unit(),
		Limits:      c.limitsOf(&p.Base),
		Sensitivity: most.Mul(most, big.NewInt(p.Base.Caps.Rows)),
		NonNegative: m.Lo >= 0,
		Price:       c.loss(p.Price),
	}
	out.totals(c, p)
	return out, nil
}

// groupTexts returns the expressions of a question's GROUP BY.
func (c *Session) groupTexts(sql string) (out []string) {
	tree, err := query.ParseIn(sql, c.policy.Clock.Zone)
	if err != nil {
		return nil
	}
	groups, err := groupsOf(tree)
	if err != nil {
		return nil
	}
	for _, x := range groups {
		out = append(out, query.Print(x))
	}
	return out
}

// strategy plans the measurement of strategies.
func (c *Session) strategy(s Strategy) (*release.Linear, error) {
	request, err := c.request(s.Question())
	if err != nil {
		return nil, err
	}
	var parts []plan.LinearPart
	for _, part := range s.Parts {
		parts = append(parts, plan.LinearPart{Keys: part.Keys, Strategy: part.Queries, Weight: part.Weight})
	}
	filled := c.filled()
	p, err := plan.BuildLinear(filled, request, parts)
	if err != nil {
		return nil, err
	}
	by := s.asker()
	by.Question = strategyText(s)
	return c.kernel.Linear(p, by, recalledStrategy(filled, request, p))
}

const (
	// mostEntries is the largest number of entries of a matrix that the ledger records in full.
	mostEntries = 64
	// mostDescribed is the largest number of parts that the ledger's question lists.
	mostDescribed = 100
)

// strategyText describes a measurement for the ledger: its matrices in full if they are small, and else their digests.
// The replay key has the digests of all matrices.
func strategyText(s Strategy) string {
	var parts []string
	for i, part := range s.Parts {
		if i == mostDescribed {
			parts = append(parts, fmt.Sprintf("and %d more", len(s.Parts)-i))
			break
		}
		keys, _ := json.Marshal(append([]int{}, part.Keys...)) //nolint:errchkjson // integers
		parts = append(parts, fmt.Sprintf("keys %s %s", keys, matrixText(part.Queries)))
	}
	return fmt.Sprintf("strategies (%s): %s", strings.Join(parts, "; "), s.SQL)
}

func matrixText(s linear.Strategy) string {
	products := s.Products()
	if len(products) == 1 && len(products[0]) == 1 && s.Rows()*s.Columns() <= mostEntries {
		text, _ := json.Marshal(products[0][0].Dense()) //nolint:errchkjson // integers
		return string(text)
	}
	return fmt.Sprintf("%d×%d sha256 %s", s.Rows(), s.Columns(), s.Digest())
}

// partsOf returns the parts of a plan, without values.
func (c *Session) partsOf(p *plan.Linear) (out []MeasuredPart, err error) {
	for _, part := range p.Parts {
		m := &part.Answers
		of := MeasuredPart{Keys: part.Keys, Unit: m.Unit(), Loss: c.loss(m.Loss)}
		if of.Noise, err = m.Noise.Distribution(m.Parameter); err != nil {
			return nil, err
		}
		of.Sensitivity = sensitivityOf(m)
		out = append(out, of)
	}
	return out, nil
}

// sensitivityOf returns how far a vector moves in floats.
func sensitivityOf(m *plan.Measure) Sensitivity {
	return Sensitivity{L1: float(m.L1), L2: math.Sqrt(float(m.L2Squared))}
}

// domainValues returns the values of the keys, in the order of the question.
func domainValues(p *plan.Linear) (out [][]any) {
	for _, values := range p.KeyValues() {
		out = append(out, keyValues(values))
	}
	return out
}
