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
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Mechanisms that Quantiles may name.
const (
	EachQuantile       = "exponential mechanism for each" // the only one with a bound that holds for all data
	RecursiveQuantiles = "approximate quantiles"          // by recursion: for many quantiles of values that seldom repeat
	JointQuantiles     = "joint exponential mechanism"    // over some thousand bins of the domain
)

// Quantiles asks for quantiles of one value: SELECT age FROM people WHERE …. Rows in which it is NULL do not count. Confidence is
// of the RankError.
type Quantiles struct {
	Question
	At        []string // rising decimals from 0 (the least value) to 1 (the greatest); "0.5" is the median
	Mechanism string   // "" is EachQuantile
}

// Ranked are released quantiles.
type Ranked struct {
	ID        string
	At        []string
	Values    []*Number // of each of At
	Mechanism string
	// RankError bounds, with probability Confidence for all values together, how many rows (in the order of the value) lie
	// between each and the quantile that was asked for. It is a function of public parameters, and nil where there is no
	// such bound: the errors of the other mechanisms depend on how often values repeat. How far off a value itself is depends on
	// how dense the rows are there, which further quantiles tell.
	RankError        *float64
	Confidence       string
	Price, Remaining Loss
	Replayed         bool
}

// Rank is the kernel's fourth primitive: quantiles over the integers of the plan's grid, by the exponential mechanism or what
// is built on it; the proofs stand with quantile.Independent, ApproximateQuantiles and JointQuantiles. The rows stay
// with the engine, which gives them in order, once or a few times; what is held here of them does not grow with their
// number.
func (c *Curator) Rank(ctx context.Context, q Quantiles) (*Ranked, error) {
	ctx = c.arrives(ctx)
	r, err := c.ranking(&q)
	if err != nil {
		return nil, c.public(err)
	}
	t, m, l := r.target, r.mechanism, r.look
	s, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		rows, err := c.engine.Order(ctx, l.bounded, from)
		if err != nil {
			return nil, err
		}
		found, err := m.Release(rows)
		if err == nil {
			err = costsAsPlanned(found.Loss, privacy.PureLoss(r.epsilon))
		}
		if err == nil {
			err = paidFor(t.Price, found.Loss, m.BoundedRange())
		}
		return statistics(found), err
	})
	if err != nil {
		return nil, err
	}
	out := &Ranked{ID: s.name(), At: q.At, Mechanism: q.Mechanism, Confidence: q.Confidence, Price: c.loss(t.Price), Replayed: s.replayed}
	if q.Mechanism == EachQuantile {
		out.RankError = &r.rankError
	}
	for _, row := range s.numbers {
		out.Values = append(out.Values, gridNumber(t.Measures[0], row[0]))
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// ranking is a look at quantiles, decided.
type ranking struct {
	target    *plan.Target
	mechanism ordering
	epsilon   privacy.Epsilon
	rankError float64
	look      *look
}

// ranking decides one, and writes q's parameters in one way.
func (c *Curator) ranking(q *Quantiles) (*ranking, error) {
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, err
	}
	r := &ranking{}
	if r.target, err = c.order(q.Question); err != nil {
		return nil, err
	}
	at, err := ranksOf(q)
	if err != nil {
		return nil, err
	}
	if r.mechanism, r.epsilon, err = orderer(r.target, q.Mechanism, at); err != nil {
		return nil, err
	}
	if r.rankError, err = r.mechanism.RankError(alpha); err != nil {
		return nil, unusable(err)
	}
	r.look, err = c.lookAt(r.target, q.Question, ledger.Mechanism{
		Name: q.Mechanism + " at " + strings.Join(q.At, ", "), Sensitivity: r.target.Sensitivity.String(),
		Scale: exact.FormatRat(new(big.Rat).Inv(r.epsilon.Rat())), Cells: len(q.At),
	}, [2]int{len(q.At), 1})
	return r, err
}

// maxQuantiles bounds how many are asked for at once.
const maxQuantiles = 100

// ranksOf reads the ranks that are asked for, and writes them in one way, with the mechanism's name.
func ranksOf(q *Quantiles) (at []*big.Rat, err error) {
	usage := func(message string) error {
		return &Error{Code: CodeUsage, Message: message, Hint: "quantiles are rising decimals from 0 to 1, such as 0.25, 0.5, 0.75"}
	}
	if len(q.At) < 1 || len(q.At) > maxQuantiles {
		return nil, usage(fmt.Sprintf("between 1 and %d quantiles are asked for at once", maxQuantiles))
	}
	texts := make([]string, len(q.At))
	for i, text := range q.At {
		r, err := exact.ParseDecimal(text)
		if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 || i > 0 && r.Cmp(at[i-1]) <= 0 {
			return nil, usage(fmt.Sprintf("%q is no quantile that may stand here", text))
		}
		at, texts[i] = append(at, r), exact.FormatRat(r)
	}
	q.At = texts
	if q.Mechanism == "" {
		q.Mechanism = EachQuantile
	}
	return at, nil
}

// ordering is a mechanism of quantiles.
type ordering interface {
	Release(mechanism.Ordered) (quantile.OrderStatistics, error)
	BoundedRange() privacy.Loss
	RankError(beta float64) (float64, error)
}

// jointTable bounds the memory of JointQuantiles, in numbers of 16 bytes: 64 MB.
const jointTable = 1 << 22

// orderer is the mechanism of a name, at the largest ε that the price pays for.
func orderer(t *plan.Target, name string, at []*big.Rat) (ordering, privacy.Epsilon, error) {
	var with func(privacy.Epsilon) ordering
	_, pure := t.Price.Pure()
	switch domain, unit := domainOf(t), unitOf(t); name {
	case EachQuantile:
		with = func(e privacy.Epsilon) ordering {
			return quantile.Independent{Domain: domain, Unit: unit, Ranks: at, Epsilon: e}
		}
	case RecursiveQuantiles:
		with = func(e privacy.Epsilon) ordering {
			return quantile.Approximate{Domain: domain, Unit: unit, Ranks: at, Epsilon: e, Squares: !pure}
		}
	case JointQuantiles:
		bins := jointTable / (len(at) * len(at))
		with = func(e privacy.Epsilon) ordering {
			return quantile.Joint{Domain: domain, Unit: unit, Ranks: at, Bins: min(bins, 1<<14), Epsilon: e}
		}
	default:
		return nil, privacy.Epsilon{}, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("no mechanism %q gives quantiles", name),
			Hint: fmt.Sprintf("use %q, %q or %q", EachQuantile, RecursiveQuantiles, JointQuantiles),
		}
	}
	epsilon := pureWithin(t.Price)
	if !pure {
		// The bounded range costs ε²·ρ₁, where ρ₁ is the cost at 1: at ε = √(ρ/ρ₁) = √(2·ρ/(2ρ₁)), ρ.
		one, err := privacy.EpsilonOf(big.NewRat(1, 1))
		if err != nil {
			return nil, one, err
		}
		rho, _ := t.Price.ZCDP()
		each, _ := with(one).BoundedRange().ZCDP()
		half, err := privacy.RhoOf(new(big.Rat).Quo(rho.Rat(), each.Times(2).Rat()))
		if err != nil {
			return nil, one, err
		}
		epsilon = half.Pure()
	}
	return with(epsilon), epsilon, nil
}
