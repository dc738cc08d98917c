package regression

import (
	"context"
	"math/big"
	"slices"

	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// findBounds finds narrower bounds of the design's numbers, and plans the measurement again within them for the
// rest of the price. Each number needs one access, a curator.Rank of two quantiles, for an equal part of the share.
// By composition, these accesses and the measurement together cost the price.
//
// findBounds pays only if the remaining budget covers everything that has not been released before. If pay is
// false, it uses only earlier releases. found reports whether they provide all bounds.
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
			return false, request.Exhausted("lower it to --epsilon "+l.told.Largest+" or less",
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

// planWithinFound plans the measurement again within the bounds that were found. If the question is refused with
// these bounds, for example because they are only 1e-20 apart, it uses the declared bounds.
func (l *linear) planWithinFound(ctx context.Context, c *curator.Session) error {
	err := l.planWithin(ctx, c, l.found)
	if err != nil && len(l.found) > 0 {
		l.found = nil
		err = l.planWithin(ctx, c, nil)
	}
	return err
}

// planWithin plans the measurement again within the given bounds.
func (l *linear) planWithin(ctx context.Context, c *curator.Session, found []formula.Bounds) error {
	design, err := l.design.Formula.DesignWith(l.table, formula.Options{Found: found})
	if err != nil {
		return err
	}
	l.design = design
	return l.plan(ctx, c)
}

// boundsLooks returns the requests for bounds, each at an equal part of their share of the price. rest is priced at
// the remainder.
func (l *linear) boundsLooks(names []string) (looks []curator.Quantiles, rest curator.Request, err error) {
	share, err := request.Share(l.FindBounds)
	if err != nil {
		return nil, rest, err
	}
	each := share.Quo(share, big.NewRat(int64(len(names)), 1))
	parts, rest, err := request.Divide(l.told.Price, slices.Repeat([]*big.Rat{each}, len(names))...)
	for i, part := range parts {
		q := curator.Quantiles{
			Request:    request.At(l.Request, part),
			Confidence: l.Confidence,
			At:         []string{"0.01", "0.99"},
		}
		q.SQL = "SELECT " + curator.SQLName(names[i]) + " FROM " + curator.SQLName(l.table.Name) +
			request.Where(l.Where)
		looks = append(looks, q)
	}
	return looks, rest, err
}

// boundsFrom returns two released quantiles as bounds. ok is false if they do not form a range.
func boundsFrom(name string, r *curator.Ranked) (b formula.Bounds, ok bool) {
	if len(r.Values) != 2 || r.Values[0] == nil || r.Values[1] == nil {
		return b, false
	}
	b = formula.Bounds{Column: name, Low: r.Values[0].Real, High: r.Values[1].Real}
	return b.InDecimals()
}
