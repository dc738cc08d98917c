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
	"dither/privacy"
)

// Quantile is one quantile of a value, asked of every cell at once. It is released as three draws of the exponential mechanism
// over the integers between the value's Lo and Hi (quantile.Cells, with the proof): one at the rank q·n, which is the
// answer, and two that bracket it, at q·n − t and q·n + t rows.
//
// t is Offset: more rows than what is drawn at either end is off by, but with probability BracketAlpha for both together, and one
// row more. So in any cell, with probability at least 1 − BracketAlpha, the least value of any row that PERCENTILE_DISC or
// PERCENTILE_CONT take at q is not below the lower end, and the greatest not above the upper end: PERCENTILE_CONT interpolates
// between rows ⌊r⌋ and ⌈r⌉, r = 1 + q(n − 1). A lower end o has at most q·n − 1 values below it, but with that probability. Now
// ⌊r⌋ > r − 1 = q·n − q, so that fewer than ⌊r⌋ are below o, and row ⌊r⌋ is not; nor is row ⌈q·n⌉ of PERCENTILE_DISC. An upper end
// has at least q·n + 1 values at or below it, hence ⌈q·n + 1⌉ ≥ ⌈r⌉ of them, and row ⌈r⌉ is not above it, nor is row ⌊q·n⌋ + 1.
//
// The bound t is of ranks, and public; what it means in values is what the two draws tell. With few rows they are the domain's
// ends, and say so.
type Quantile struct {
	Value       *bounded.Measure // what rows are ordered by, in grid units from Lo to Hi; it is not summed
	Rank        *big.Rat         // q
	Sensitivity *big.Rat         // by how many rows one unit moves what the draws score by, over all cells together
	Offset      int64            // t
	Loss        privacy.Loss

	of   string          // Value, written
	draw privacy.Epsilon // Draw's, once the share is fixed: of many quantiles it is asked for often
}

// BracketAlpha is the probability with which the ends of a quantile's interval may miss, both together. It is fixed: the ends are
// released, and what is released does not depend on the confidence that is asked for afterwards. At a greater confidence the
// interval is the bounds. A 128th leaves room for five aggregates in one expression at 95 %.
const BracketAlpha = 1.0 / 128

// MaxApproxQuantiles bounds the parts of APPROX_QUANTILES.
const MaxApproxQuantiles = 100

const (
	// quantileBits: a Real value's range has between 2^(quantileBits-1) and 2^quantileBits grid units. Each bit costs ranks, since what a
	// draw is off by grows with the logarithm of the number of candidates.
	quantileBits = 30
	// maxRankDigits: ranks are decimals of at most so many places, so that those of one value have a common denominator.
	maxRankDigits = 4
	// maxQuantiles bounds the quantiles of one value: three draws each, of which quantile.Cells makes at most 765 in one pass.
	maxQuantiles = 255
	// maxOffset bounds t: beyond it the ends are the bounds on any data.
	maxOffset = 1 << 40
)

// quantileMeasure is what rows are ordered by.
func (b *measuring) quantileMeasure(x query.Expr, name string) (*bounded.Measure, error) {
	e, err := b.Row(x)
	if err != nil {
		return nil, err
	}
	switch {
	case bind.IsUntypedNull(e):
		return nil, bind.Refuse(x.Pos(), "", "an aggregate of NULL says nothing")
	case e.Type == value.Date:
		return integerSum(e, false, x.Pos())
	case !bind.IsNumber(e.Type):
		return nil, bind.Refuse(
			x.Pos(),
			"MODE() WITHIN GROUP (ORDER BY x) tells the most frequent value",
			"%s needs a number or a date, and this is of type %s",
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

// quantileAt is one quantile, an aggregate by itself.
func (b *measuring) quantileAt(x query.Expr, name string, rank *big.Rat) (*Post, error) {
	q, p, err := b.quantile(x, name, rank)
	if err == nil {
		b.claim(claim{parts: []part{q}})
	}
	return p, err
}

// quantile finds or adds a quantile, and is its released value.
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
	if m.X.Type == value.Date {
		t = value.Date
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

// String is the quantile's canonical text, without its share of the price.
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

// Draw is the ε of each of the three draws: a third of the quantile's, or, under zCDP, that of a third of its ρ, where a draw of ε
// costs its bounded range ε²/8: √(8ρ), rounded down. (Equal parts are a balance. Of 2,000 incomes at ε = 1 the median is off by 3.8 rows and its
// interval 160 rows wide, on average; with a fifth for the value 5.5 and 135, with a half 2.5 and 216.)
func (q *Quantile) Draw() privacy.Epsilon {
	if !q.draw.IsZero() {
		return q.draw
	}
	return drawOf(q.Loss.Share(1, 3))
}

// choose fixes the sensitivity and the offset, for a quantile that has its share of the price.
//
// The sensitivity is that of quantile.Cells, where it is proved: rows·max(q, 1 − q), of the rows that count of one unit in
// all cells together; under change-one twice that, or, in a single cell, rows.
func (q *Quantile) choose(n privacy.Neighbours, rows int64, cells int) error {
	q.draw = q.Draw()
	q.Sensitivity = new(big.Rat).SetInt64(rows)
	if n == privacy.AddRemove || cells > 1 {
		w := new(big.Rat).Sub(big.NewRat(1, 1), q.Rank)
		if w.Cmp(q.Rank) < 0 {
			w.Set(q.Rank)
		}
		if n == privacy.ChangeOne {
			w.Add(w, w)
		}
		q.Sensitivity.Mul(q.Sensitivity, w)
	}
	t := q.rankError(BracketAlpha / 2)
	if !(t < maxOffset-2) {
		return fmt.Errorf("at so small a price %s could be anywhere", q)
	}
	q.Offset = exact.CeilRat(new(big.Rat).SetFloat64(t)).Int64() + 1
	return nil
}

// rankError bounds by how many rows one draw is off, but with probability alpha: 2Δ(ln N + ln(1/α))/ε for the N integers of the
// domain, rounded up (quantile.Single.RankError). It is infinite where the price is 0.
func (q *Quantile) rankError(alpha float64) float64 {
	return rankErrorOf(q.Sensitivity, q.Draw(), float64(q.Value.Hi-q.Value.Lo+1), alpha)
}

// ordered is what a plan's quantiles of one value have in common.
type ordered struct {
	of        *bounded.Measure
	quantiles []*Quantile // by rising rank
	// worst is one that has the greatest Δ/ε, all else being the same for all; nil where some ε is 0, or before they have shares.
	worst *Quantile
}

// ordersOf gathers quantiles by their values.
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

// orderOf is what the plan's quantiles of a value have in common.
func (p *Plan) orderOf(value *bounded.Measure) *ordered {
	return &p.ordered[slices.IndexFunc(p.ordered, func(o ordered) bool { return o.of == value })]
}

// worstOf is the first with the greatest Δ/ε of several quantiles of one value; nil where some ε is 0, or before sensitivities are chosen.
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

// Siblings are the quantiles of q's value, itself too, by rising rank.
func (p *Plan) Siblings(q *Quantile) []*Quantile { return p.orderOf(q.Value).quantiles }

// RankError bounds how many rows, in the order of the value, lie between what is told of a quantile in one cell and the quantile, but with
// probability alpha. Of several quantiles of one value the draws are put in order, which keeps a bound that all have in common
// (quantile.Independent.RankError).
func (p *Plan) RankError(q *Quantile, alpha float64) float64 {
	of := p.orderOf(q.Value)
	if of.worst == nil {
		return math.Inf(1)
	}
	return of.worst.rankError(exact.DivDown(alpha, float64(len(of.quantiles))))
}

// Span bounds how many rows lie between the quantile and either end of its interval, but with probability alpha for both ends: each is
// drawn at Offset rows, or is the value itself. Where the interval is the bounds it is infinite.
func (p *Plan) Span(q *Quantile, alpha float64) float64 {
	if alpha < BracketAlpha {
		return math.Inf(1)
	}
	third := exact.DivDown(alpha, 3)
	return max(exact.AddUp(float64(q.Offset), q.rankError(third)), p.RankError(q, third))
}
