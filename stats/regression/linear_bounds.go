package regression

import (
	"context"
	"math/big"
	"slices"

	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// findBounds looks for narrower bounds of the design's numbers, and plans the measurement anew within them for what is
// left of the price. Each look is a curator.Rank of two quantiles, for an equal part of the share; the looks and the
// measurement together cost the price, by composition. Nothing is paid unless there is room for all that has not been
// released before. Without pay it takes only what was; found says whether that is all of the bounds.
func (l *linear) findBounds(ctx context.Context, c *curator.Session, pay bool) (found bool, err error) {
	names := l.design.Formula.Numbers(l.table)
	if len(names) == 0 {
		return true, nil
	}
	looks, rest, err := l.boundsLooks(names)
	if err != nil {
		return false, err
	}
	unpaid := []curator.Loss{{Epsilon: rest.Epsilon, Rho: rest.Rho}}
	for _, q := range looks {
		e, err := c.ExplainRank(ctx, q)
		if err != nil {
			return false, request.Partly(err)
		}
		if !e.Replayed {
			l.replayed = false
			unpaid = append(unpaid, e.Price)
		}
	}
	if !l.replayed {
		if !pay {
			return false, nil
		}
		if !request.Affordable(l.told.Remaining, unpaid...) {
			return false, request.Exhausted("ask at --epsilon "+l.told.Largest+" or less",
				"the price of the bounds and of the fit", l.told.Price, l.told.Remaining)
		}
		if err := l.plannable(ctx, c, rest); err != nil {
			return false, err
		}
	}
	for i, q := range looks {
		r, err := c.Rank(ctx, q)
		if err != nil {
			return false, request.Stopped(err, l.releases...)
		}
		l.releases = append(l.releases, r.ID)
		if b, ok := boundsFrom(names[i], r); ok {
			l.found = append(l.found, b)
		}
	}
	l.Request = request.At(l.Request, rest)
	return true, request.Stopped(l.planWithinFound(ctx, c), l.releases...)
}

// planWithinFound plans the measurement anew within the bounds that were found; within the declared ones where a
// question cannot be asked with these, such as 1e-20 apart.
func (l *linear) planWithinFound(ctx context.Context, c *curator.Session) error {
	err := l.planWithin(ctx, c, l.found)
	if err != nil && len(l.found) > 0 {
		l.found = nil
		err = l.planWithin(ctx, c, nil)
	}
	return err
}

// planWithin plans the measurement within bounds that were found.
func (l *linear) planWithin(ctx context.Context, c *curator.Session, found []formula.Bounds) error {
	design, err := l.design.Formula.DesignWith(l.table, formula.Options{Found: found})
	if err != nil {
		return err
	}
	l.design = design
	return l.plan(ctx, c)
}

// boundsLooks are the looks for bounds, at equal parts of their share of the price, and what is left of it.
func (l *linear) boundsLooks(names []string) (looks []curator.Quantiles, rest curator.Request, err error) {
	share, err := request.Share(l.FindBounds)
	if err != nil {
		return nil, rest, err
	}
	each := share.Quo(share, big.NewRat(int64(len(names)), 1))
	parts, rest, err := request.Divide(l.told.Price, slices.Repeat([]*big.Rat{each}, len(names))...)
	for i, part := range parts {
		q := curator.Quantiles{Request: request.At(l.Request, part), Confidence: l.Confidence, At: []string{"0.01", "0.99"}}
		q.SQL = "SELECT " + curator.SQLName(names[i]) + " FROM " + curator.SQLName(l.table.Name) +
			request.Where(l.Where)
		looks = append(looks, q)
	}
	return looks, rest, err
}

// boundsFrom are the released quantiles as bounds; none where they are one value.
func boundsFrom(name string, r *curator.Ranked) (b formula.Bounds, ok bool) {
	if len(r.Values) != 2 || r.Values[0] == nil || r.Values[1] == nil {
		return b, false
	}
	b = formula.Bounds{Column: name, Low: r.Values[0].Real, High: r.Values[1].Real}
	return b.InDecimals()
}
