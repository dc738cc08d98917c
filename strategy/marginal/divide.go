package marginal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
)

// releaseLimits are the limits of one release of a plan. They are at most the kernel's. Other limits would divide a plan
// otherwise, so that an old measurement of it would not be replayed.
var releaseLimits = room{numbers: 1 << 22, cells: 1 << 23, parts: 10_000, work: 1 << 32}

// smallNumbers is the limit on numbers for the releases of a plan whose numbers are too long for releaseLimits.
const smallNumbers = 1 << 20

// room is what the parts of one release take together.
type room struct{ numbers, cells, parts, work int64 }

// plus returns the sum of what r takes and what a part takes.
func (r room) plus(p curator.StrategyPart) room {
	q := p.Queries
	return room{r.numbers + int64(q.Rows()), r.cells + int64(q.Columns()), r.parts + 1, r.work + q.Work()}
}

// within reports whether r is within limits.
func (r room) within(limits room) bool {
	return r.numbers <= limits.numbers && r.cells <= limits.cells && r.parts <= limits.parts && r.work <= limits.work
}

// releasesOf divides parts among releases that the kernel accepts. Releases of so many numbers that the kernel refuses them
// are divided further. The kernel decides this from the question, the policy and the price, so a plan is always divided
// the same way.
func releasesOf(
	ctx context.Context, s *curator.Session, r curator.Request, price curator.Loss, parts []curator.StrategyPart, limits room,
) ([]curator.Strategy, error) {
	all, err := divided(r, price, parts, limits)
	if err != nil || limits.numbers <= smallNumbers {
		return all, err
	}
	for _, q := range all {
		numbers := 0
		for _, p := range q.Parts {
			numbers += p.Queries.Rows()
		}
		if numbers <= smallNumbers {
			continue
		}
		var refused *curator.Error
		if _, err := s.ExplainStrategy(ctx, q); errors.As(err, &refused) && refused.Code == curator.CodePolicy {
			limits.numbers = smallNumbers
			return divided(r, price, parts, limits)
		} else if err != nil { // another error may pass, and must not divide the plan otherwise than before
			return nil, err
		}
	}
	return all, nil
}

// divided divides parts among releases: each part, the largest first, goes into the first release that has room. A
// release has its parts in their order in the plan.
func divided(
	r curator.Request, price curator.Loss, parts []curator.StrategyPart, limits room,
) ([]curator.Strategy, error) {
	all := room{}
	order := make([]int, len(parts))
	total := new(big.Int)
	for i, p := range parts {
		order[i] = i
		all = all.plus(p)
		total.Add(total, big.NewInt(p.Weight))
		if !(room{}).plus(p).within(limits) {
			return nil, fmt.Errorf(
				"marginal: the part of keys %v has %d numbers and %d cells, and a release holds %d numbers: use marginals of "+
					"fewer attributes, or coarser values", p.Keys, p.Queries.Rows(), p.Queries.Columns(), limits.numbers,
			)
		}
	}
	if all.within(limits) {
		return []curator.Strategy{{Request: r, Parts: parts}}, nil
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(parts[j].Queries.Rows(), parts[i].Queries.Rows()) })
	var taken []room
	var groups [][]int
	for _, i := range order {
		at := slices.IndexFunc(taken, func(t room) bool { return t.plus(parts[i]).within(limits) })
		if at < 0 {
			at, taken, groups = len(taken), append(taken, room{}), append(groups, nil)
		}
		taken[at], groups[at] = taken[at].plus(parts[i]), append(groups[at], i)
	}
	out := make([]curator.Strategy, len(groups))
	for g, group := range groups {
		slices.Sort(group)
		own := new(big.Int)
		for _, i := range group {
			out[g].Parts = append(out[g].Parts, parts[i])
			own.Add(own, big.NewInt(parts[i].Weight))
		}
		var err error
		if out[g].Request, err = priced(r, price, new(big.Rat).SetFrac(own, total)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// priced returns the request at a share of a price, rounded down to 18 digits.
func priced(r curator.Request, price curator.Loss, share *big.Rat) (curator.Request, error) {
	text := price.Rho
	if text == "" {
		text = price.Epsilon
	}
	amount, ok := new(big.Rat).SetString(text)
	if !ok || amount.Sign() <= 0 {
		return r, fmt.Errorf("marginal: the price %q is no positive number", text)
	}
	text = down(amount.Mul(amount, share))
	if r.Rho, r.Epsilon = text, ""; price.Rho == "" {
		r.Rho, r.Epsilon = "", text
	}
	return r, nil
}

// down returns a positive number as a decimal text, rounded down to 18 digits.
func down(x *big.Rat) string {
	f, _ := x.Float64()
	places := max(0, 18-int(math.Floor(math.Log10(f)))-1)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	n := new(big.Int).Mul(x.Num(), power)
	return new(big.Rat).SetFrac(n.Quo(n, x.Denom()), power).FloatString(places)
}

// explained explains all releases as one: their parts, with the price of those that were not released before, and with
// the number of these. It is affordable if that price is. Fresh requests pay for all.
func explained(
	ctx context.Context, s *curator.Session, r curator.Request, all []curator.Strategy,
) (out *curator.StrategyExplanation, unpaid int, err error) {
	price := new(big.Rat)
	var last curator.Strategy // one that was not released before
	for _, q := range all {
		x, err := s.ExplainStrategy(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		if out == nil {
			out = x
		} else {
			out.Parts = append(out.Parts, x.Parts...)
		}
		if x.Replayed && !r.Fresh {
			continue
		}
		text := x.Price.Rho
		if text == "" {
			text = x.Price.Epsilon
		}
		one, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, 0, fmt.Errorf("marginal: the price %q is no number", text)
		}
		price.Add(price, one)
		unpaid, last = unpaid+1, q
	}
	out.SQL = r.SQL
	if out.Replayed = unpaid == 0; out.Replayed || len(all) == 1 {
		return out, unpaid, nil
	}
	// One release at the price of all of them has the price, the limits and the remaining budget of all.
	if text := strings.TrimRight(price.FloatString(45), "0"); last.Rho != "" {
		last.Rho = text
	} else {
		last.Epsilon = text
	}
	x, err := s.ExplainStrategy(ctx, last)
	if err != nil {
		return nil, 0, err
	}
	out.Price, out.Remaining, out.Largest, out.Affordable = x.Price, x.Remaining, x.Largest, x.Affordable
	return out, unpaid, nil
}
