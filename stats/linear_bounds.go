package stats

import (
	"context"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/exact"
)

// FoundBounds are bounds of a column that were found privately.
type FoundBounds struct {
	Column    string
	Low, High float64
	// Mean and Spread are what they were found by, where a column was normalised: else 0. Both are noisy.
	Mean, Spread float64
	low, high    *big.Rat
}

// shareOf reads a part of a price.
func shareOf(text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, designError("such as 0.2", "the part of the price that finds bounds is a decimal between 0 and 1, not %q", text)
	}
	return r, nil
}

// findBounds looks for narrower bounds of the design's numbers, and plans the measurement anew within them for what is left of the price. Each look is a
// curator.Rank of two quantiles, for an equal part of the share; the looks and the measurement together cost the price, by composition. Nothing is paid unless
// there is room for all that has not been released before. Without pay it takes only what was; found says whether that is all of the bounds.
func (l *linear) findBounds(ctx context.Context, c *curator.Curator, pay bool) (found bool, err error) {
	names := numbersOf(l.design.Formula, l.table)
	if len(names) == 0 {
		return true, nil
	}
	looks, left, err := l.boundsLooks(names)
	if err != nil {
		return false, err
	}
	unpaid, remaining := new(big.Rat).Set(left), l.told.Remaining
	for _, q := range looks {
		e, err := c.ExplainRank(ctx, q)
		if err != nil {
			return false, partly(err)
		}
		if !e.Replayed {
			l.replayed = false
			each, _, err := priceOf(e.Price)
			if err != nil {
				return false, err
			}
			unpaid.Add(unpaid, each)
		}
	}
	if !l.replayed && !pay {
		return false, nil
	}
	if room, _, err := priceOf(remaining); err != nil || !l.replayed && unpaid.Cmp(room) > 0 {
		return false, &curator.Error{
			Code: curator.CodeExhausted, Message: "the price of the bounds and of the fit, " + l.told.Price.String() + ", is more than what remains, " + remaining.String(), Hint: "ask at --epsilon " + l.told.Largest + " or less",
		}
	}
	if !l.replayed { // whether what is left is a price that the policy takes must not turn out when the bounds are paid
		var rest curator.Question
		rest.Epsilon, rest.Rho = pricedAs(l.told.Price, left)
		if err := l.plannable(ctx, c, rest); err != nil {
			return false, err
		}
	}
	for i, q := range looks {
		r, err := c.Rank(ctx, q)
		if err != nil {
			return false, stopped(err, l.releases...)
		}
		l.releases = append(l.releases, r.ID)
		if b, ok := boundsFrom(names[i], r); ok {
			l.found = append(l.found, b)
		}
	}
	l.Epsilon, l.Rho = pricedAs(l.told.Price, left)
	return true, stopped(l.planWithinFound(ctx, c), l.releases...)
}

// planWithinFound plans the measurement anew within the bounds that were found; within the declared ones where a question cannot be asked with these, such as 1e-20 apart.
func (l *linear) planWithinFound(ctx context.Context, c *curator.Curator) error {
	err := l.planWithin(ctx, c, l.found)
	if err != nil && len(l.found) > 0 {
		l.found = nil
		err = l.planWithin(ctx, c, nil)
	}
	return err
}

// planWithin plans the measurement within bounds that were found.
func (l *linear) planWithin(ctx context.Context, c *curator.Curator, found []FoundBounds) error {
	design, err := l.design.Formula.within(l.table, found, Classes{}, false)
	if err != nil {
		return err
	}
	l.design = design
	return l.plan(ctx, c)
}

// boundsLooks are the looks for bounds, at their parts of the price, and what is left of it.
func (l *linear) boundsLooks(names []string) (looks []curator.Quantiles, left *big.Rat, err error) {
	share, err := shareOf(l.FindBounds)
	if err != nil {
		return nil, nil, err
	}
	whole, _, err := priceOf(l.told.Price)
	if err != nil {
		return nil, nil, designError("", "the price %s cannot be divided", l.told.Price)
	}
	n := big.NewRat(int64(len(names)), 1)
	each := new(big.Rat).Mul(whole, share)
	each = exact.FloorDigits(each.Quo(each, n), 6)
	for _, name := range names {
		q := curator.Quantiles{Question: l.Question, At: []string{"0.01", "0.99"}}
		q.SQL = "SELECT " + curator.SQLName(name) + " FROM " + curator.SQLName(l.table.Name) + whereClause(l.Where)
		q.Epsilon, q.Rho = pricedAs(l.told.Price, each)
		looks = append(looks, q)
	}
	return looks, new(big.Rat).Sub(whole, n.Mul(n, each)), nil
}

// pricedAs is a price as a question names it, in the number that another price is in.
func pricedAs(other curator.Loss, price *big.Rat) (epsilon, rho string) {
	if other.Rho != "" {
		return "", exact.FormatRat(price)
	}
	return exact.FormatRat(price), ""
}

// numbersOf are the numeric columns of a model.
func numbersOf(f Formula, t curator.Table) (names []string) {
	d := &designer{table: t, formula: f}
	add := func(f Factor) {
		c, err := d.column(f.Column)
		if err == nil && !f.Categorical && (c.Type == "integer" || c.Type == "real") && len(c.Values) == 0 && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	add(Factor{Column: f.Response})
	for _, t := range f.Terms {
		for _, x := range t {
			add(x)
		}
	}
	return names
}

// boundsFrom are the released quantiles as bounds; none where they are one value.
func boundsFrom(name string, r *curator.Ranked) (b FoundBounds, ok bool) {
	if len(r.Values) != 2 || r.Values[0] == nil || r.Values[1] == nil {
		return b, false
	}
	b = FoundBounds{Column: name, Low: r.Values[0].Real, High: r.Values[1].Real}
	return b.inDecimals()
}

// inDecimals reads the bounds as decimals of nine digits, by which they are asked for; ok is false where they are no range.
func (b FoundBounds) inDecimals() (out FoundBounds, ok bool) {
	if !finite(b.Low, b.High, b.Mean, b.Spread) {
		return b, false
	}
	var wrong, wrongly error
	b.low, wrong = exact.ParseDecimal(strconv.FormatFloat(b.Low, 'e', 8, 64))
	b.high, wrongly = exact.ParseDecimal(strconv.FormatFloat(b.High, 'e', 8, 64))
	return b, wrong == nil && wrongly == nil && b.low.Cmp(b.high) < 0
}
