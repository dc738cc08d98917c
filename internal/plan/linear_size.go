package plan

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

const (
	// freeNumbers is how many numbers fit into one entry of the ledger whatever their noise is.
	freeNumbers = 1 << 20
	// maxNumberBytes is the most that more numbers take together. One entry of the ledger holds 64 MiB, and base64 writes
	// three bytes as four.
	maxNumberBytes = 48 << 20
	// tailBits is the logarithm of the noise that no number is expected to exceed, in units of its scale: 2¹⁰ scales. The
	// probability of more is below e⁻¹⁰⁰⁰ for each number.
	tailBits = 10
)

// fitsEntry returns an error if the released numbers may be too long for one entry of the ledger. It depends on the
// question, the policy and the price alone.
func (p *Linear) fitsEntry() error {
	numbers := p.Numbers()
	if width := p.NumberBytes(); numbers > freeNumbers && numbers*width > maxNumberBytes {
		return &Error{
			Message: fmt.Sprintf("the %d numbers of the measurement take up to %d bytes each, and a release holds %d MiB",
				numbers, width, maxNumberBytes>>20),
			Hint: "divide the parts, and the price, among several measurements",
		}
	}
	return nil
}

// NumberBytes returns how many bytes suffice for each released number, except with negligible probability. An exact
// answer is at most the strategy's reach times that of a cell, and the noise at most 2¹⁰ times its scale.
func (p *Linear) NumberBytes() int {
	most := 0
	for _, part := range p.Parts {
		m := &part.Answers
		scale := new(big.Int).Quo(m.Parameter.Num(), m.Parameter.Denom())
		bits := scale.BitLen()
		if m.Noise == Gaussian { // the parameter is the square of the scale
			bits = (bits + 1) / 2
		}
		answer := new(big.Int).Mul(part.Reach(), part.Strategy.Reach())
		most = max(most, exact.Larger(answer, new(big.Int).Lsh(big.NewInt(1), uint(bits+tailBits))).BitLen()+1)
	}
	return most/8 + 1 // with a bit for the sign
}
