package curator

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// Quantiles asks for quantiles of one value: SELECT age FROM people WHERE …. Rows in which it is NULL do not count. Confidence is
// of the RankError.
type Quantiles struct {
	Question
	At []string // rising decimals from 0 (the least value) to 1 (the greatest); "0.5" is the median
}

// Ranked are released quantiles.
type Ranked struct {
	ID        string
	At        []string
	Values    []*Number // of each of At
	Mechanism string
	// RankError bounds, with probability Confidence for all values together, how many rows (in the order of the value) lie
	// between each and the quantile that was asked for. It is a function of public parameters. How far off the value itself is
	// depends on how dense the rows are there, which further quantiles tell.
	RankError        float64
	Confidence       string
	Price, Remaining Loss
	Replayed         bool
}

// Rank is the kernel's fourth primitive: quantiles by the exponential mechanism, several by recursion, over the integers of
// the plan's grid (mechanism.ApproximateQuantiles, where the proof stands). The rows stay with the engine, which gives them
// in order, once for each level of the recursion; what is held does not grow with them.
func (c *Curator) Rank(ctx context.Context, q Quantiles) (*Ranked, error) {
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, public(err)
	}
	t, err := c.order(q.Question)
	if err != nil {
		return nil, public(err)
	}
	m, err := quantiles(t, q.At)
	q.At = nil
	for _, r := range m.Ranks {
		q.At = append(q.At, exact.FormatRat(r))
	}
	if err != nil {
		return nil, public(err)
	}
	rankError, err := m.RankError(alpha)
	if err != nil {
		return nil, unusable(err)
	}
	name := Exponential + " at " + strings.Join(q.At, ", ")
	l, err := c.lookAt(t, q.Question, ledger.Mechanism{
		Name: name, Sensitivity: t.Sensitivity.String(), Scale: exact.FormatRat(new(big.Rat).Inv(m.Epsilon.Rat())), Cells: len(q.At),
	}, [2]int{len(q.At), 1})
	if err != nil {
		return nil, public(err)
	}
	s, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		rows, err := c.engine.Order(ctx, l.bounded, from)
		if err != nil {
			return nil, err
		}
		found, err := m.Release(rows)
		return statistics(found), err
	})
	if err != nil {
		return nil, err
	}
	out := &Ranked{
		ID: s.name(), At: q.At, Mechanism: Exponential, RankError: rankError, Confidence: q.Confidence, Price: c.loss(t.Price), Replayed: s.replayed,
	}
	for _, row := range s.numbers {
		out.Values = append(out.Values, gridNumber(t.Measures[0], row[0]))
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// maxQuantiles bounds how many are asked for at once.
const maxQuantiles = 100

// quantiles is the mechanism at the largest ε that the price pays for.
func quantiles(t *plan.Target, at []string) (m mechanism.ApproximateQuantiles, err error) {
	usage := func(message string) error {
		return &Error{Code: CodeUsage, Message: message, Hint: "quantiles are rising decimals from 0 to 1, such as 0.25, 0.5, 0.75"}
	}
	if len(at) < 1 || len(at) > maxQuantiles {
		return m, usage("between 1 and 100 quantiles are asked for at once")
	}
	m = mechanism.ApproximateQuantiles{Domain: domainOf(t), Unit: unitOf(t), Epsilon: pureWithin(t.Price)}
	for _, text := range at {
		r, err := exact.ParseDecimal(text)
		if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 || len(m.Ranks) > 0 && r.Cmp(m.Ranks[len(m.Ranks)-1]) <= 0 {
			return m, usage(fmt.Sprintf("%q is no quantile that may stand here", text))
		}
		m.Ranks = append(m.Ranks, r)
	}
	if _, pure := t.Price.Pure(); pure {
		return m, nil
	}
	// The bounded range costs ε²·ρ₁, where ρ₁ is the cost at 1: at ε = √(ρ/ρ₁) = √(2·ρ/(2ρ₁)), ρ.
	unit := m
	if unit.Epsilon, err = privacy.EpsilonOf(big.NewRat(1, 1)); err != nil {
		return m, err
	}
	rho, _ := t.Price.ZCDP()
	each, _ := unit.BoundedRange().ZCDP()
	half, err := privacy.RhoOf(new(big.Rat).Quo(rho.Rat(), each.Times(2).Rat()))
	m.Epsilon = half.Pure()
	return m, err
}
