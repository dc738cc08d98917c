package bind

import (
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/internal/value"
)

// OrderForms maps the name of each quantile or mode function to a hint on how to write it.
var OrderForms = map[string]string{
	"median": "write MEDIAN(x)", "mode": "write MODE() WITHIN GROUP (ORDER BY x)",
	"percentile_cont":  "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
	"percentile_disc":  "write PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x)",
	"approx_quantiles": "write APPROX_QUANTILES(x, 4)",
}

// OrderedBy returns the expression that a call orders rows by, and the call's other arguments. The expression is
// NULL in rows where FILTER does not hold. It comes from WITHIN GROUP, or else is the first argument.
func OrderedBy(x *query.Call, upper string) (of query.Expr, rest []query.Expr, err error) {
	rest = x.Args
	switch {
	case x.Within != nil:
		of = x.Within.Expr
	case len(rest) > 0:
		of, rest = rest[0], rest[1:]
	default:
		return nil, nil, Refuse(x.At, OrderForms[x.Name], "wrong arguments for %s", upper)
	}
	if x.Filter != nil {
		of = &query.Case{At: of.Pos(), Whens: []query.When{{Cond: x.Filter, Result: of}}}
	}
	return of, rest, nil
}

// RankOf reads the rank of a quantile: a number from 0 to 1, which is 1/2 for the median.
func RankOf(x query.Expr) (*big.Rat, error) {
	l, ok := x.(*query.Literal)
	if ok && (l.Kind == query.DecimalLiteral || l.Kind == query.IntegerLiteral) {
		r, err := exact.ParseDecimal(l.Text)
		fine := new(big.Rat).SetInt64(10_000) // 10^maxRankDigits
		if err == nil && r.Sign() >= 0 && r.Cmp(big.NewRat(1, 1)) <= 0 && fine.Mul(fine, r).IsInt() {
			return r, nil
		}
	}
	return nil, Refuse(
		x.Pos(),
		"write a constant such as 0.5, which is the median",
		"a quantile's rank is a decimal from 0 to 1, of at most %d places",
		maxRankDigits,
	)
}

// maxRankDigits is the largest number of decimal places of a rank, so that the ranks of one value have a small common
// denominator.
const maxRankDigits = 4

// quantile returns a quantile of one unit's values.
//
// PERCENTILE_DISC(p) is the value at place max(⌈n·p⌉ − 1, 0) of n values, counted from 0. For p = P/Q > 0 this is
// ⌊(n·P − 1)/Q⌋, because ⌈a/Q⌉ = ⌊(a − 1)/Q⌋ + 1 for integers. In descending order it is n − 1 less that place. Since
// n − ⌈n·p⌉ = ⌊n − n·p⌋, this is ⌊n·(Q − P)/Q⌋ for P > 0, and n − 1 = ⌊(n·Q − 1)/Q⌋ for P = 0. PERCENTILE_CONT
// interpolates at (n − 1)·p, and in descending order at (n − 1)·(1 − p).
func (in *inside) quantile(x *query.Call) (bounded.Inner, bounded.Column, error) {
	fail := func(err error) (bounded.Inner, bounded.Column, error) { return bounded.Inner{}, bounded.Column{}, err }
	upper := strings.ToUpper(x.Name)
	if x.Star || x.Distinct {
		return fail(Refuse(x.At, "leave it out", "%s takes neither * nor DISTINCT", upper))
	}
	of, rest, err := OrderedBy(x, upper)
	if err != nil {
		return fail(err)
	}
	rank, desc := big.NewRat(1, 2), x.Within != nil && x.Within.Desc
	switch median := x.Name == "median"; {
	case median && len(rest) == 0 && x.Within == nil:
	case !median && len(rest) == 1:
		if rank, err = RankOf(rest[0]); err != nil {
			return fail(err)
		}
	default:
		return fail(Refuse(x.At, OrderForms[x.Name], "wrong arguments for %s", upper))
	}
	e, err := in.input.Row(of)
	if err != nil {
		return fail(err)
	}
	switch {
	case IsUntypedNull(e):
		return fail(Refuse(of.Pos(), "", "NULL cannot be aggregated"))
	case e.Type == value.Boolean:
		return fail(Refuse(of.Pos(), "use BOOL_OR or BOOL_AND, or AVG(CASE WHEN b THEN 1.0 ELSE 0 END)", "%s does not take booleans", upper))
	}
	a := bounded.Inner{Func: bounded.InnerPlaced, X: e, Type: e.Type, Num: rank.Num().Int64(), Den: rank.Denom().Int64()}
	if x.Name == "percentile_disc" {
		switch first := a.Num == 0; {
		case !desc && !first, desc && first:
			a.Offset = -1
		}
		if desc {
			a.Num = a.Den - a.Num
		}
		return a, in.input.output(x.Name, e), nil
	}
	if !IsNumber(e.Type) {
		return fail(Refuse(
			of.Pos(),
			"write PERCENTILE_DISC("+rank.FloatString(digits(rank))+") WITHIN GROUP (ORDER BY "+query.Print(of)+")",
			"%s interpolates numbers, and this is of type %s", upper, e.Type,
		))
	}
	if a.X, err = Promote(e, of.Pos()); err != nil {
		return fail(err)
	}
	if desc {
		a.Num = a.Den - a.Num
	}
	return in.between(a, x.Name, of.Pos())
}

// digits returns how many decimal places a rank needs.
func digits(rank *big.Rat) int {
	n, _ := rank.FloatPrec()
	return max(n, 1)
}

// between returns an interpolated quantile of reals.
//
// Claim: a result other than 0 is at least 2^Tiny in magnitude for the Tiny of this range, and no step overflows or
// underflows. Proof: the steps are those of addRange and mulRange, for a share r/Den that is 0 or at least 2^-14, since
// Den ≤ 10⁴. The result is not above b. It is not below a, because b − a and the share are not negative and rounding is
// monotone. So it lies in the range of the values. ∎
func (in *inside) between(a bounded.Inner, name string, at query.Pos) (bounded.Inner, bounded.Column, error) {
	r := a.X.Range
	gap, sound := addRange(value.Real, r, r, true)
	way, fine := mulRange(value.Real, gap, bounded.Range{Hi: 1, Tiny: -14})
	to, ok := addRange(value.Real, r, way, false)
	if !sound || !fine || !ok || !soundRange(r) {
		return bounded.Inner{}, bounded.Column{}, BoundsNeeded(a.X, at)
	}
	a.Func, a.Type = bounded.InnerBetween, value.Real
	return a, in.column(a, name, settledRange(bounded.Range{Lo: r.Lo, Hi: r.Hi, Tiny: min(r.Tiny, to.Tiny)})), nil
}
