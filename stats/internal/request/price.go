package request

import (
	"math/big"

	"dither/curator"
	"dither/internal/exact"
)

// Price returns a loss as one number. inRho reports whether the number is ρ rather than ε.
func Price(l curator.Loss) (price *big.Rat, inRho bool, err error) {
	text := l.Epsilon
	if l.Rho != "" {
		text, inRho = l.Rho, true
	}
	price, err = exact.ParseRat(text)
	return price, inRho, err
}

// Sum adds prices, which must all be in the same unit: ε or ρ.
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

// Priced returns the request q with its price set to price: ρ if inRho is true, otherwise ε.
func Priced(q curator.Request, price *big.Rat, inRho bool) curator.Request {
	if q.Epsilon, q.Rho = exact.FormatRat(price), ""; inRho {
		q.Epsilon, q.Rho = "", q.Epsilon
	}
	return q
}

// AtShare returns the request q at the given share of the price l, without rounding.
func AtShare(q curator.Request, l curator.Loss, share *big.Rat) (curator.Request, error) {
	price, inRho, err := Price(l)
	if err != nil {
		return q, Misuse("", "the price cannot be divided: %v", err)
	}
	return Priced(q, price.Mul(price, share), inRho), nil
}

// Share parses a share of a price: a decimal strictly between 0 and 1.
func Share(text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, Misuse("such as 0.2", "a share of the price must be a decimal between 0 and 1, not %q", text)
	}
	return r, nil
}

// Divide divides a price. parts has one empty request for each share, priced at that share of the price, rounded
// down to six decimal places. rest is an empty request priced at the remainder, which must be positive.
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
		return nil, rest, Misuse("give smaller shares", "the shares leave nothing of the price for the model")
	}
	return parts, Priced(rest, left, inRho), nil
}

// At returns the request q at the price of another request.
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

// Payable returns an error if the remaining budget does not cover the price. largest is the largest ε that a
// question may cost.
func Payable(remaining, price curator.Loss, largest string) error {
	if Affordable(remaining, price) {
		return nil
	}
	return Exhausted("lower it to --epsilon "+largest+" or less", "the price", price, remaining)
}

// Exhausted returns the error for a price above the remaining budget. The text `what` names the price at the start
// of the message.
func Exhausted(hint, what string, price, remaining curator.Loss) error {
	return &curator.Error{
		Code:    curator.CodeExhausted,
		Message: what + ", " + price.String() + ", is more than the remaining " + remaining.String(), Hint: hint,
	}
}
