package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Quantile is one quantile of a value, at rank q, in every cell. It is released as a draw of the exponential mechanism
// over the integers from the value's Lo to its Hi, at rank q·n among the n rows of the cell, and the two ends of an
// interval around it, whose half-width is drawn too (quantile.Cells, with the proofs).
//
// Claim: in any cell, with probability at least 1 − BracketAlpha, every row that PERCENTILE_DISC or PERCENTILE_CONT
// takes at q lies between the two ends, whatever the rows are. Proof: that of the half-widths of quantile.Ladder, with
// BracketAlpha as α. ∎ With few rows, the ends are the bounds of the value.
type Quantile struct {
	Value       *bounded.Measure // the value that rows are ordered by, in grid units from Lo to Hi; it is not summed
	Rank        *big.Rat         // q, from 0 to 1
	Sensitivity *big.Rat         // the largest change of the draws' score that one unit causes, in rows, over all cells
	Loss        privacy.Loss

	of        string          // the canonical text of Value
	draw      privacy.Epsilon // the result of Draw, once the share of the price is known
	halfWidth float64         // about the mean half-width of the interval, in rows, for dense values
}

// BracketAlpha is the probability with which the interval of a quantile may miss, at either end. It is fixed,
// because the ends are released and a release must not depend on a confidence that is requested later. At a higher
// confidence, the interval is the bounds of the value. 1/128 leaves room for five aggregates in one expression at
// 95 %.
const BracketAlpha = 1.0 / 128

// MaxApproxQuantiles is the largest number of parts of APPROX_QUANTILES.
const MaxApproxQuantiles = 100

const (
	// quantileBits sets the grid of reals: the range of a value has between 2^(quantileBits-1) and 2^quantileBits
	// grid units. Each bit costs accuracy, because the rank error of a draw grows with the logarithm of the number
	// of candidates.
	quantileBits = 30
	// maxQuantiles is the largest number of quantiles of one value: quantile.Cells draws as many in one pass.
	maxQuantiles = 255
)

// quantileMeasure returns the measure of the value that rows are ordered by.
func (b *measuring) quantileMeasure(x query.Expr, name string) (*bounded.Measure, error) {
	e, err := b.Row(x)
	if err != nil {
		return nil, err
	}
	switch {
	case bind.IsUntypedNull(e):
		return nil, bind.Refuse(x.Pos(), "", "NULL cannot be aggregated")
	case clocked(e.Type):
		return integerSum(e, false, x.Pos())
	case !bind.IsNumber(e.Type):
		return nil, bind.Refuse(
			x.Pos(),
			"write MODE() WITHIN GROUP (ORDER BY x) for the most frequent value",
			"%s needs a number, a date or a timestamp, and this is of type %s",
			name,
			e.Type,
		)
	case e.Type == value.Integer:
		return integerSum(e, false, x.Pos())
	}
	lo, hi := e.Range.Lo, e.Range.Hi
	if bind.MaxAbs(e.Range) > math.Ldexp(1, 100) {
		return nil, bind.BoundsNeeded(e, x.Pos())
	}
	m := &bounded.Measure{Kind: bounded.Sum, X: e}
	m.Grid = max(bind.ExponentAbove(hi-lo)-quantileBits, bind.ExponentAbove(bind.MaxAbs(e.Range))-maxGridded, finestGrid)
	m.Lo, m.Hi = int64(math.Floor(math.Ldexp(lo, -m.Grid))), int64(math.Ceil(math.Ldexp(hi, -m.Grid)))
	return m, nil
}

// clocked reports whether a quantile of values of a type is shown as such a value: a date, a timestamp or a time.
func clocked(t value.Type) bool { return t == value.Date || t == value.Timestamp || t == value.Time }

// quantileAt returns the released value of a quantile that is an aggregate of its own, and so has a claim to a share of
// the price.
func (b *measuring) quantileAt(x query.Expr, name string, rank *big.Rat) (*Post, error) {
	q, p, err := b.quantile(x, name, rank)
	if err == nil {
		b.claim(claim{parts: []part{q}})
	}
	return p, err
}

// quantile returns a quantile and its released value, and adds the quantile if it is new.
func (b *measuring) quantile(x query.Expr, name string, rank *big.Rat) (*unpricedQuantile, *Post, error) {
	m, err := b.quantileMeasure(x, name)
	if err != nil {
		return nil, nil, err
	}
	q := &unpricedQuantile{value: m, rank: rank, of: m.String()}
	for _, o := range b.quantiles {
		if o.of != q.of {
			continue
		}
		q.value = o.value
		if o.rank.Cmp(rank) == 0 {
			q = o
			break
		}
	}
	t := value.Real
	if clocked(m.X.Type) {
		t = m.X.Type
	}
	for i, a := range b.aggregates {
		if a.quantile == q {
			return q, &Post{Op: PostAggregate, Type: t, Index: i}, nil
		}
	}
	b.quantiles = append(b.quantiles, q)
	b.aggregates = append(b.aggregates, unpricedAggregate{of: QuantileFunc, quantile: q})
	return q, &Post{Op: PostAggregate, Type: t, Index: len(b.aggregates) - 1}, nil
}

// String returns the quantile's canonical text, without its share of the price.
func (q *Quantile) String() string {
	of := q.of
	if of == "" {
		of = q.Value.String()
	}
	return quantileText(q.Rank, of)
}

func quantileText(rank *big.Rat, of string) string {
	return "quantile " + rank.RatString() + " of " + of
}

// Draw returns the ε of the quantile's value, for three tenths of the quantile's share of the price. Under zCDP, a draw
// of ε costs ε²/8 by bounded range, so the ε is √(8ρ) for three tenths of the quantile's ρ, rounded down.
func (q *Quantile) Draw() privacy.Epsilon {
	if !q.draw.IsZero() {
		return q.draw
	}
	return drawOf(q.Loss.Share(3, 10))
}

// Width returns the ε of the half-width of the interval, for the rest of the share. The division is that of
// quantile.Ladder.
func (q *Quantile) Width() privacy.Epsilon { return drawOf(q.Loss.Share(7, 10)) }

// Sought returns the draws of the quantile.
func (q *Quantile) Sought() quantile.Sought {
	return quantile.Sought{Rank: q.Rank, Epsilon: q.Draw(), Width: q.Width(), Miss: new(big.Rat).SetFloat64(BracketAlpha)}
}

// choose sets the sensitivity of a quantile that has its share of the price. The parameter rows is the largest number of
// rows of one unit that count, over all cells (groups).
func (q *Quantile) choose(n privacy.Neighbours, rows int64, cells int) error {
	q.draw = q.Draw()
	m := quantile.Cells{
		Domain: quantile.Domain{Lower: q.Value.Lo, Upper: q.Value.Hi}, Unit: mechanism.Unit{Neighbours: n, MaxRows: rows},
		Cells: cells, Sought: []quantile.Sought{q.Sought()},
	}
	q.Sensitivity = m.Sensitivity(q.Rank)
	if q.halfWidth = m.ExpectedHalfWidth(0); math.IsNaN(q.halfWidth) {
		return fmt.Errorf("the price is too small: %s could be anywhere", q)
	}
	return nil
}

// rankError returns a bound on the rank error of one draw, in rows, which fails with probability at most alpha. It is
// 2Δ(ln N + ln(1/alpha))/ε, rounded up, for sensitivity Δ and the N integers of the domain (quantile.Single.RankError).
// It is infinite if the price is 0.
func (q *Quantile) rankError(alpha float64) float64 {
	return rankErrorOf(q.Sensitivity, q.Draw(), float64(q.Value.Hi-q.Value.Lo+1), alpha)
}

// formerly returns what identifies the quantile's draws in replay keys: the ε of each of three draws, and how many rows two
// of them were away from the rank. Earlier versions drew the ends of the interval so. With these texts, their releases
// are repeated free: these have the same three numbers, and the same claim about the interval. The texts are functions of
// the quantile, its sensitivity and its share, and so determine the present draws too.
func (q *Quantile) formerly() (draw string, offset int64) {
	e := drawOf(q.Loss.Share(1, 3))
	t := rankErrorOf(q.Sensitivity, e, float64(q.Value.Hi-q.Value.Lo+1), BracketAlpha/2)
	if !(t < 1<<40) {
		return e.Rat().RatString(), math.MaxInt64
	}
	return e.Rat().RatString(), exact.CeilRat(new(big.Rat).SetFloat64(t)).Int64() + 1
}

// ordered has the quantiles of one value.
type ordered struct {
	of        *bounded.Measure
	quantiles []*Quantile // by increasing rank
	// worst is a quantile with the largest ratio of sensitivity to ε, which has the largest rank error, because all
	// else is equal. It is nil if some ε is 0, or before sensitivities are set.
	worst *Quantile
}

// ordersOf groups quantiles by value.
func ordersOf(quantiles []*Quantile) (out []ordered) {
	at := map[*bounded.Measure]int{}
	for _, q := range quantiles {
		i, ok := at[q.Value]
		if !ok {
			i, at[q.Value] = len(out), len(out)
			out = append(out, ordered{of: q.Value})
		}
		out[i].quantiles = append(out[i].quantiles, q)
	}
	for i := range out {
		out[i].worst = worstOf(out[i].quantiles)
		slices.SortFunc(out[i].quantiles, func(x, y *Quantile) int { return x.Rank.Cmp(y.Rank) })
	}
	return out
}

// orderOf returns the plan's quantiles of a value.
func (p *Plan) orderOf(value *bounded.Measure) *ordered {
	return &p.ordered[slices.IndexFunc(p.ordered, func(o ordered) bool { return o.of == value })]
}

// worstOf returns the first quantile with the largest ratio of sensitivity to ε, among quantiles of one value. It
// returns nil if some ε is 0, or before sensitivities are set.
func worstOf(quantiles []*Quantile) *Quantile {
	out, most := quantiles[0], new(big.Rat)
	for _, q := range quantiles {
		if q.Sensitivity == nil {
			return nil
		}
		e := q.Draw().Rat()
		if e.Sign() == 0 {
			return nil
		}
		if scale := e.Quo(q.Sensitivity, e); scale.Cmp(most) > 0 {
			out, most = q, scale
		}
	}
	return out
}

// Siblings returns all quantiles of the value that q is a quantile of, including q, from the lowest rank to the
// highest.
func (p *Plan) Siblings(q *Quantile) []*Quantile { return p.orderOf(q.Value).quantiles }

// RankError returns a bound on the rank error of a quantile in one group, in rows, which fails with probability at most
// alpha. The draws of several quantiles of one value are sorted, so a bound that holds for all draws together still
// holds (quantile.Independent.RankError).
func (p *Plan) RankError(q *Quantile, alpha float64) float64 {
	of := p.orderOf(q.Value)
	if of.worst == nil {
		return math.Inf(1)
	}
	return of.worst.rankError(exact.DivDown(alpha, float64(len(of.quantiles))))
}

// Span returns about the mean half-width of a quantile's interval, in rows, if values are dense around the quantile. It is
// infinite if the interval is the bounds of the value.
func (p *Plan) Span(q *Quantile, alpha float64) float64 {
	if alpha < BracketAlpha {
		return math.Inf(1)
	}
	return q.halfWidth
}

// Formerly returns RankError and Span of a release by an earlier version (see [Quantile.formerly]). Its span bounds the
// number of rows between the quantile and either end of its interval. It fails with a probability of at most alpha.
func (p *Plan) Formerly(q *Quantile, alpha float64) (rank, span float64) {
	of := p.orderOf(q.Value)
	if of.worst == nil {
		return math.Inf(1), math.Inf(1)
	}
	within := func(q *Quantile, alpha float64) float64 {
		return rankErrorOf(q.Sensitivity, drawOf(q.Loss.Share(1, 3)), float64(q.Value.Hi-q.Value.Lo+1), alpha)
	}
	n, third := float64(len(of.quantiles)), exact.DivDown(alpha, 3)
	rank = within(of.worst, exact.DivDown(alpha, n))
	_, offset := q.formerly()
	if alpha < BracketAlpha || offset == math.MaxInt64 {
		return rank, math.Inf(1)
	}
	return rank, max(exact.AddUp(float64(offset), within(q, third)), within(of.worst, exact.DivDown(third, n)))
}
