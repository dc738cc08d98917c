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
	low, high *big.Rat
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
// curator.Rank of two quantiles, for an equal part of the share; the looks and the measurement together cost the price, by composition. That the
// whole price can be paid is made sure of first.
func (l *linear) findBounds(ctx context.Context, c *curator.Curator) error {
	share, err := shareOf(l.FindBounds)
	if err != nil {
		return err
	}
	names := l.numbers()
	if len(names) == 0 {
		return nil
	}
	if !l.told.Affordable {
		return &curator.Error{Code: curator.CodeExhausted, Message: "the price, " + l.told.Price.String() + ", is more than what remains, " + l.told.Remaining.String(), Hint: "ask at --epsilon " + l.told.Largest + " or less"}
	}
	price, text := &l.Epsilon, l.told.Price.Epsilon
	if l.told.Price.Rho != "" {
		l.Epsilon, price, text = "", &l.Rho, l.told.Price.Rho
	}
	whole, err := exact.ParseRat(text)
	if err != nil {
		return designError("", "the price %s cannot be divided", text)
	}
	each := new(big.Rat).Mul(whole, share)
	each = exact.FloorDigits(each.Quo(each, big.NewRat(int64(len(names)), 1)), 6)
	left := new(big.Rat).Sub(whole, new(big.Rat).Mul(each, big.NewRat(int64(len(names)), 1)))
	for _, name := range names {
		q := curator.Quantiles{Question: l.Question, At: []string{"0.01", "0.99"}}
		q.SQL = "SELECT " + curator.SQLName(name) + " FROM " + curator.SQLName(l.table.Name)
		if l.Where != "" {
			q.SQL += " WHERE (" + l.Where + "\n)"
		}
		if *price = exact.FormatRat(each); l.told.Price.Rho != "" {
			q.Rho, q.Epsilon = *price, ""
		} else {
			q.Epsilon = *price
		}
		r, err := c.Rank(ctx, q)
		if err != nil {
			return err
		}
		l.replayed = l.replayed && r.Replayed
		if b, ok := boundsFrom(name, r); ok {
			l.found = append(l.found, b)
		}
	}
	*price = exact.FormatRat(left)
	if l.design, err = l.design.Formula.within(l.table, l.found, Classes{}, false); err != nil {
		return err
	}
	return l.plan(ctx, c)
}

// numbers are the numeric columns of the model.
func (l *linear) numbers() (names []string) {
	d := &designer{table: l.table, formula: l.design.Formula}
	add := func(f Factor) {
		c, err := d.column(f.Column)
		if err == nil && !f.Categorical && (c.Type == "integer" || c.Type == "real") && len(c.Values) == 0 && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	add(Factor{Column: l.design.Formula.Response})
	for _, t := range l.design.Formula.Terms {
		for _, f := range t {
			add(f)
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
	decimal := func(x float64) *big.Rat {
		v, err := exact.ParseDecimal(strconv.FormatFloat(x, 'e', 8, 64))
		if err != nil {
			return new(big.Rat)
		}
		return v
	}
	b.low, b.high = decimal(b.Low), decimal(b.High)
	return b, finite(b.Low, b.High) && b.low.Cmp(b.high) < 0
}
