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

// Quantile is one quantile of a value, at rank q, in every cell. It is released as three draws of the exponential
// mechanism over the integers from the value's Lo to its Hi (quantile.Cells, with the proof). One draw is at rank
// q·n among the n rows of the cell, which is the answer. Two draws bracket it, at ranks q·n − t and q·n + t. t is
// Offset: the bound on the rank error of both end draws, which fails with probability at most BracketAlpha, plus
// one row.
//
// Claim: in any cell, with probability at least 1 − BracketAlpha, every row that PERCENTILE_DISC or PERCENTILE_CONT
// takes at q lies between the two ends. Proof. PERCENTILE_CONT interpolates between rows ⌊r⌋ and ⌈r⌉, where r = 1 +
// q(n − 1). With that probability, at most q·n − 1 values are below the lower end o. Now ⌊r⌋ > r − 1 = q·n − q, so
// fewer than ⌊r⌋ values are below o. So row ⌊r⌋ is not below o, and neither is row ⌈q·n⌉ of PERCENTILE_DISC. At
// least q·n + 1 values are at or below the upper end, hence at least ⌈q·n + 1⌉ ≥ ⌈r⌉ values. So row ⌈r⌉ is not
// above it, and neither is row ⌊q·n⌋ + 1. ∎
//
// The bound t is public. It counts rows in the order of the value. The two end draws show what it means in values. With
// few rows, the ends are the bounds of the value.
type Quantile struct {
	Value       *bounded.Measure // the value that rows are ordered by, in grid units from Lo to Hi; it is not summed
	Rank        *big.Rat         // q, from 0 to 1
	Sensitivity *big.Rat         // the largest change of the draws' score that one unit causes, in rows, over all cells
	Offset      int64            // t, in rows
	Loss        privacy.Loss

	of   string          // the canonical text of Value
	draw privacy.Epsilon // the result of Draw, once the share of the price is known
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
	// maxQuantiles is the largest number of quantiles of one value. Each has three draws, and quantile.Cells makes
	// at most 765 draws in one pass.
	maxQuantiles = 255
	// maxOffset bounds Quantile.Offset. Beyond it, the ends are the bounds of the value for any data.
	maxOffset = 1 << 40
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

// Draw returns the ε of each of the quantile's three draws: its value and the ends of its interval. It is a third of
// the quantile's ε. Under zCDP, a draw of ε costs ε²/8 by bounded range, so the ε is √(8ρ) for a third of the
// quantile's ρ, rounded down. Equal parts are a balance. For 2,000 incomes at ε = 1, the median's average error is 3.8
// rows and its interval's average width 160 rows. With a fifth of the ε for the value, they are 5.5 and 135 rows; with
// a half, 2.5 and 216 rows.
func (q *Quantile) Draw() privacy.Epsilon {
	if !q.draw.IsZero() {
		return q.draw
	}
	return drawOf(q.Loss.Share(1, 3))
}

// choose sets the sensitivity and the offset of a quantile that has its share of the price. The parameter rows is the
// largest number of rows of one unit that count, over all cells (groups).
//
// The sensitivity is the one that quantile.Cells proves: rows·max(q, 1 − q), and under change-one twice that, or
// rows if there is a single cell.
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
		return fmt.Errorf("the price is too small: %s could be anywhere", q)
	}
	q.Offset = exact.CeilRat(new(big.Rat).SetFloat64(t)).Int64() + 1
	return nil
}

// rankError returns a bound on the rank error of one draw, in rows, which fails with probability at most alpha. It is
// 2Δ(ln N + ln(1/alpha))/ε, rounded up, for sensitivity Δ and the N integers of the domain (quantile.Single.RankError).
// It is infinite if the price is 0.
func (q *Quantile) rankError(alpha float64) float64 {
	return rankErrorOf(q.Sensitivity, q.Draw(), float64(q.Value.Hi-q.Value.Lo+1), alpha)
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

// Span returns a bound on the number of rows between the quantile and either end of its interval. It fails with
// probability at most alpha for both ends together. Each end is drawn Offset rows away, or is the value itself. The
// bound is infinite if the interval is the bounds of the value.
func (p *Plan) Span(q *Quantile, alpha float64) float64 {
	if alpha < BracketAlpha {
		return math.Inf(1)
	}
	third := exact.DivDown(alpha, 3)
	return max(exact.AddUp(float64(q.Offset), q.rankError(third)), p.RankError(q, third))
}
