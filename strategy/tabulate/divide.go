package tabulate

import (
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/exact"
)

// divide returns one request for each group, whose prices are proportional to the weights and add up to the price
// exactly.
func divide(request curator.Request, price curator.Loss, weights []*big.Rat) ([]curator.Request, error) {
	out := slices.Repeat([]curator.Request{request}, len(weights))
	if len(weights) == 1 {
		return out, nil
	}
	text := price.Epsilon
	if price.Rho != "" {
		text = price.Rho
	}
	left, err := exact.ParseRat(text)
	if err != nil {
		return nil, misuse("", "the price %s cannot be divided", price)
	}
	whole, sum := new(big.Rat).Set(left), new(big.Rat)
	for _, w := range weights {
		sum.Add(sum, w)
	}
	const digits = 6
	for i, w := range weights {
		part := left
		if i < len(weights)-1 {
			part = new(big.Rat).Mul(whole, new(big.Rat).Quo(w, sum))
			part = exact.FloorDigits(part, digits)
			left = new(big.Rat).Sub(left, part)
		}
		out[i].Epsilon, out[i].Rho = exact.FormatRat(part), ""
		if price.Rho != "" {
			out[i].Epsilon, out[i].Rho = "", out[i].Epsilon
		}
	}
	return out, nil
}

// affordable reports whether the remaining budget covers the groups that would be charged.
func (p *Plan) affordable() bool {
	sum := new(big.Rat)
	var room *big.Rat
	for _, g := range p.groups {
		if g.plan.Replayed {
			continue
		}
		price, left := g.plan.Price.Epsilon, g.plan.Remaining.Epsilon
		if g.plan.Price.Rho != "" {
			price, left = g.plan.Price.Rho, g.plan.Remaining.Rho
		}
		x, err := exact.ParseRat(price)
		if err != nil || !g.plan.Affordable {
			return false
		}
		if room, err = exact.ParseRat(left); err != nil {
			return false
		}
		sum.Add(sum, x)
	}
	return room == nil || sum.Cmp(room) <= 0
}
