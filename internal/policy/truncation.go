package policy

import (
	"errors"
	"math/big"
	"strings"
)

// ErrTruncation reports a text that is no share of a price for an estimate of what the bounds cut.
var ErrTruncation = errors.New("it must be a percentage above 0% and at most 50%, with at most two decimals")

// Truncation parses the share of a price that pays for an estimate of what the bounds cut: for "5%" it returns
// 1/20. The denominator of the result is at most 10,000.
func Truncation(text string) (*big.Rat, error) {
	share, err := percentage(text)
	if err != nil || !strings.HasSuffix(text, "%") {
		return nil, ErrTruncation
	}
	if parts := new(big.Rat).Mul(share, big.NewRat(10_000, 1)); !parts.IsInt() || share.Cmp(big.NewRat(1, 2)) > 0 {
		return nil, ErrTruncation
	}
	return share, nil
}

// truncation reads such a share, or returns nil if there is none.
func (f field) truncation() *big.Rat {
	text, ok := f.text()
	if !ok {
		return nil
	}
	share, err := Truncation(text)
	if err != nil {
		f.fail("write, for example, 5%", "not a share of a price: %s: %v", quote(text), err)
		return nil
	}
	return share
}
