package stats

import (
	"math/big"

	"dither/curator"
	"dither/internal/exact"
)

// A plan of several looks has one price, of which each look takes a part. All are read back from what the kernel tells of losses, and written into questions in the number
// that they were told in: ε, or ρ.

// priceOf reads a loss back: its one number, and whether that is ρ.
func priceOf(l curator.Loss) (price *big.Rat, inRho bool, err error) {
	text := l.Epsilon
	if l.Rho != "" {
		text, inRho = l.Rho, true
	}
	price, err = exact.ParseRat(text)
	return price, inRho, err
}

// priceOfAll adds prices up, of one budget.
func priceOfAll(prices ...curator.Loss) (sum *big.Rat, inRho bool, err error) {
	sum = new(big.Rat)
	for _, l := range prices {
		var each *big.Rat
		if each, inRho, err = priceOf(l); err != nil {
			return nil, inRho, err
		}
		sum.Add(sum, each)
	}
	return sum, inRho, nil
}

// priced is a question at a price.
func priced(q curator.Question, price *big.Rat, inRho bool) curator.Question {
	if q.Epsilon, q.Rho = exact.FormatRat(price), ""; inRho {
		q.Epsilon, q.Rho = "", q.Epsilon
	}
	return q
}

// atShare is a question at a share of a price, exactly.
func atShare(q curator.Question, l curator.Loss, share *big.Rat) (curator.Question, error) {
	price, inRho, err := priceOf(l)
	if err != nil {
		return q, designError("", "a price that cannot be shared: %v", err)
	}
	return priced(q, price.Mul(price, share), inRho), nil
}

// affordable tells whether prices together are within what remains of their budget.
func affordable(remaining curator.Loss, prices ...curator.Loss) bool {
	sum, _, err := priceOfAll(prices...)
	if err != nil {
		return false
	}
	room, _, err := priceOf(remaining)
	return err == nil && sum.Cmp(room) <= 0
}

// exhausted is the refusal of a price for what remains.
func exhausted(hint, what string, price, remaining curator.Loss) error {
	return &curator.Error{Code: curator.CodeExhausted, Message: what + ", " + price.String() + ", is more than what remains, " + remaining.String(), Hint: hint}
}
