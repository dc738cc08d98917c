package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/release"
)

// Quantiles asks for quantiles of one value: SELECT age FROM people WHERE …. Rows in which the value is NULL do not
// count.
type Quantiles struct {
	Request
	Confidence string   // the confidence of Ranked.RankError, a decimal between 0 and 1; "" is 0.95
	At         []string // rising decimals from 0 (the least value) to 1 (the greatest); "0.5" is the median
	Mechanism  string   // "" is EachQuantile
}

// Ranked holds released quantiles.
type Ranked struct {
	ID        string
	At        []string
	Values    []*Number // one for each of At
	Mechanism string
	// RankError bounds the number of rows, in the order of the value, between each value and the requested
	// quantile. The bound holds for all values together with probability Confidence. It is a function of public
	// parameters. It is nil for the mechanisms RecursiveQuantiles and JointQuantiles, whose errors depend on how
	// often values repeat. The error of a value in its own unit depends on how dense the rows are there, which
	// further quantiles can show.
	RankError        *float64
	Confidence       string
	Limits           *Limits // what bounds the release
	Price, Remaining Loss
	Replayed         bool
}

// Rank releases quantiles over the integers of the plan's grid, by the exponential mechanism or one built on it.
// The proofs are with quantile.Independent, ApproximateQuantiles and JointQuantiles. The engine returns the rows in
// order, once or a few times. The memory used here does not grow with the number of rows.
func (c *Session) Rank(ctx context.Context, q Quantiles) (*Ranked, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	r, rankError, err := c.ranking(&q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, r)
	if err != nil {
		return nil, err
	}
	t := r.Target()
	out := &Ranked{
		ID:         s.Name(),
		At:         q.At,
		Mechanism:  q.Mechanism,
		Confidence: q.Confidence,
		Limits:     c.limitsOf(&t.Statement),
		Price:      c.loss(t.Price),
		Replayed:   s.Replayed,
	}
	if q.Mechanism == EachQuantile {
		out.RankError = &rankError
	}
	for _, row := range s.Numbers {
		out.Values = append(out.Values, gridNumber(t.Measures[0], row[0]))
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// ranking builds the access for a request, and brings the request's parameters into canonical form.
func (c *Session) ranking(q *Quantiles) (_ *release.Quantiles, rankError float64, err error) {
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, 0, err
	}
	t, err := c.order(q.Request)
	if err != nil {
		return nil, 0, err
	}
	at, err := ranksOf(q)
	if err != nil {
		return nil, 0, err
	}
	if name := q.Mechanism; name != EachQuantile && name != RecursiveQuantiles && name != JointQuantiles {
		return nil, 0, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("there is no mechanism %q for quantiles", name),
			Hint: fmt.Sprintf("use %q, %q or %q", EachQuantile, RecursiveQuantiles, JointQuantiles),
		}
	}
	r, err := c.kernel.Quantiles(t, q.asker(), q.Mechanism, at)
	if err != nil {
		return nil, 0, err
	}
	if rankError, err = r.RankError(alpha); err != nil {
		return nil, 0, unusable(err)
	}
	return r, rankError, nil
}

// maxQuantiles is the largest number of quantiles in one request.
const maxQuantiles = 100

// ranksOf parses the requested ranks, from 0 to 1; the rank of the median is 1/2. It writes them back in canonical
// form, and sets the default mechanism.
func ranksOf(q *Quantiles) (at []*big.Rat, err error) {
	usage := func(message string) error {
		return &Error{
			Code:    CodeUsage,
			Message: message,
			Hint:    "give quantiles as increasing decimals from 0 to 1, such as 0.25, 0.5, 0.75",
		}
	}
	if len(q.At) < 1 || len(q.At) > maxQuantiles {
		return nil, usage(fmt.Sprintf("a question takes between 1 and %d quantiles", maxQuantiles))
	}
	texts := make([]string, len(q.At))
	for i, text := range q.At {
		r, err := exact.ParseDecimal(text)
		if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 || i > 0 && r.Cmp(at[i-1]) <= 0 {
			return nil, usage(fmt.Sprintf("%q is not a quantile that is allowed here", text))
		}
		at, texts[i] = append(at, r), exact.FormatRat(r)
	}
	q.At = texts
	if q.Mechanism == "" {
		q.Mechanism = EachQuantile
	}
	return at, nil
}
