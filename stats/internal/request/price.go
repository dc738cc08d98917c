package request

import (
	"math/big"

	"dither/curator"
	"dither/internal/exact"
)

// Price is a loss as one number, and whether that number is ρ rather than ε.
func Price(l curator.Loss) (price *big.Rat, inRho bool, err error) {
	text := l.Epsilon
	if l.Rho != "" {
		text, inRho = l.Rho, true
	}
	price, err = exact.ParseRat(text)
	return price, inRho, err
}

// Sum adds prices of one budget.
func Sum(prices ...curator.Loss) (sum *big.Rat, inRho bool, err error) {
	sum = new(big.Rat)
	for _, l := range prices {
		var each *big.Rat
		if each, inRho, err = Price(l); err != nil {
			return nil, inRho, err
		}
		sum.Add(sum, each)
	}
	return sum, inRho, nil
}

// Priced is a question at a price, in ε or ρ.
func Priced(q curator.Request, price *big.Rat, inRho bool) curator.Request {
	if q.Epsilon, q.Rho = exact.FormatRat(price), ""; inRho {
		q.Epsilon, q.Rho = "", q.Epsilon
	}
	return q
}

// AtShare is a question at an exact share of a price.
func AtShare(q curator.Request, l curator.Loss, share *big.Rat) (curator.Request, error) {
	price, inRho, err := Price(l)
	if err != nil {
		return q, Misuse("", "a price that cannot be shared: %v", err)
	}
	return Priced(q, price.Mul(price, share), inRho), nil
}

// Share reads a share of a price, a decimal between 0 and 1.
func Share(text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, Misuse("such as 0.2", "a part of the price is a decimal between 0 and 1, not %q", text)
	}
	return r, nil
}

// Divide divides a price. It returns an empty question at each share, rounded down to six digits, and one at the rest.
func Divide(price curator.Loss, shares ...*big.Rat) (parts []curator.Request, rest curator.Request, err error) {
	whole, inRho, err := Price(price)
	if err != nil {
		return nil, rest, Misuse("", "the price %s cannot be divided", price)
	}
	left := new(big.Rat).Set(whole)
	for _, s := range shares {
		part := exact.FloorDigits(new(big.Rat).Mul(whole, s), 6)
		left.Sub(left, part)
		parts = append(parts, Priced(rest, part, inRho))
	}
	if left.Sign() <= 0 {
		return nil, rest, Misuse("give smaller shares", "nothing of the price is left for the model")
	}
	return parts, Priced(rest, left, inRho), nil
}

// At is a question at the price of another.
func At(q, price curator.Request) curator.Request {
	q.Epsilon, q.Rho = price.Epsilon, price.Rho
	return q
}

// Affordable reports whether the remaining budget covers the sum of prices.
func Affordable(remaining curator.Loss, prices ...curator.Loss) bool {
	sum, _, err := Sum(prices...)
	if err != nil {
		return false
	}
	room, _, err := Price(remaining)
	return err == nil && sum.Cmp(room) <= 0
}

// Payable refuses a price that the remaining budget does not cover. largest is the largest ε that a question may cost.
func Payable(remaining, price curator.Loss, largest string) error {
	if Affordable(remaining, price) {
		return nil
	}
	return Exhausted("ask at --epsilon "+largest+" or less", "the price", price, remaining)
}

// Exhausted is the error of a price above the remaining budget.
func Exhausted(hint, what string, price, remaining curator.Loss) error {
	return &curator.Error{
		Code:    curator.CodeExhausted,
		Message: what + ", " + price.String() + ", is more than what remains, " + remaining.String(), Hint: hint,
	}
}
