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
		return q, misuse("", "a price that cannot be shared: %v", err)
	}
	return priced(q, price.Mul(price, share), inRho), nil
}

// shareOf reads a part of a price, a decimal.
func shareOf(text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, misuse("such as 0.2", "a part of the price is a decimal between 0 and 1, not %q", text)
	}
	return r, nil
}

// divided gives each of some shares of a price its part, rounded down to six digits, and what is left: prices of questions that ask nothing yet.
func divided(price curator.Loss, shares ...*big.Rat) (parts []curator.Question, rest curator.Question, err error) {
	whole, inRho, err := priceOf(price)
	if err != nil {
		return nil, rest, misuse("", "the price %s cannot be divided", price)
	}
	left := new(big.Rat).Set(whole)
	for _, s := range shares {
		part := exact.FloorDigits(new(big.Rat).Mul(whole, s), 6)
		left.Sub(left, part)
		parts = append(parts, priced(rest, part, inRho))
	}
	if left.Sign() <= 0 {
		return nil, rest, misuse("give smaller shares", "nothing of the price is left for the model")
	}
	return parts, priced(rest, left, inRho), nil
}

// at is a question at another's price.
func at(q, price curator.Question) curator.Question {
	q.Epsilon, q.Rho = price.Epsilon, price.Rho
	return q
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

// payable refuses a first look where not all of the price can be paid.
func payable(remaining, price curator.Loss, largest string) error {
	if affordable(remaining, price) {
		return nil
	}
	return exhausted("ask at --epsilon "+largest+" or less", "the price", price, remaining)
}

// exhausted is the refusal of a price for what remains.
func exhausted(hint, what string, price, remaining curator.Loss) error {
	return &curator.Error{Code: curator.CodeExhausted, Message: what + ", " + price.String() + ", is more than what remains, " + remaining.String(), Hint: hint}
}
