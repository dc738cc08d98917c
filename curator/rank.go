package curator

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bounded"
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
	// parameters. It is nil for all mechanisms but EachQuantile: their errors depend on how often values repeat. The
	// error of a value in its own unit depends on how dense the rows are there, which further quantiles can show.
	RankError        *float64
	Confidence       string
	Intervals        []Interval // for LadderQuantiles, one for each of At, each with LadderConfidence; else nil
	Limits           *Limits    // what bounds the release
	Price, Remaining Loss
	Replayed         bool
}

// Interval is an interval around a released quantile. It contains the quantile of the bounded rows, for all data.
type Interval struct{ Low, High *Number }

// LadderConfidence is the confidence of the intervals of [LadderQuantiles].
const LadderConfidence = release.LadderConfidence

// Rank releases quantiles over the integers of the plan's grid, by the exponential mechanism or one built on it.
// The proofs are with quantile.Independent, Approximate, Ladder and Joint. The engine returns the rows in
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
	for _, row := range s.Numbers[:len(q.At)] {
		out.Values = append(out.Values, gridNumber(t.Measures[0], row[0]))
	}
	for i, row := range s.Numbers[len(q.At):] {
		out.Intervals = append(out.Intervals, intervalAround(t.Measures[0], s.Numbers[i][0], row[0]))
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// intervalAround returns the interval of a value and a half-width in grid units, within the bounds. Rows that are
// rounded to the grid are off by at most half a grid unit, which widens the interval.
func intervalAround(m *bounded.Measure, value, half *big.Int) Interval {
	low, high := new(big.Int).Sub(value, half), new(big.Int).Add(value, half)
	if least := big.NewInt(m.Lo); low.Cmp(least) < 0 {
		low = least
	}
	if most := big.NewInt(m.Hi); high.Cmp(most) > 0 {
		high = most
	}
	if !m.Rounds() {
		return Interval{gridNumber(m, low), gridNumber(m, high)}
	}
	step := new(big.Rat).Quo(m.Unit(), big.NewRat(2, 1))
	down := exact.FloatDown(new(big.Rat).Sub(m.Units(low), step))
	up := exact.FloatUp(new(big.Rat).Add(m.Units(high), step))
	return Interval{realNumber(max(down, m.X.Range.Lo)), realNumber(min(up, m.X.Range.Hi))}
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
	known := []string{EachQuantile, RecursiveQuantiles, LadderQuantiles, JointQuantiles}
	if !slices.Contains(known, q.Mechanism) {
		return nil, 0, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("there is no mechanism %q for quantiles", q.Mechanism),
			Hint: "use one of " + strings.Join(known, ", "),
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
