package interpret

import (
	"errors"
	"math/big"
	"strings"

	"dither/account"
	"dither/internal/exact"
)

var errUngrouped = errors.New("the job has no form for a group")

// grows is, for each mechanism of a spec, the key that grows with the steps between the hypotheses, and the power of
// the steps that it grows by. Sensitivities add up by the triangle inequality; losses by privacy.Epsilon.Group, and the
// range of a choice's loss, which is what "exponential" stands for, likewise; ρ by Bun & Steinke 2016, Proposition
// 1.9; μ by Dong, Roth & Su 2022, Theorem 2.14.
var grows = map[string]struct {
	key   string
	power int
}{
	"gaussian": {"sensitivity", 1}, "discrete-gaussian": {"sensitivity", 1}, "laplace": {"sensitivity", 1},
	"discrete-laplace": {"sensitivity", 1},
	"exponential":      {"epsilon", 1}, "pure": {"epsilon", 1}, "zcdp": {"rho", 2}, "gdp": {"mu", 1},
}

// groupStep is a step between hypotheses that are k steps apart. The error is errUngrouped if there is none: for
// samples, for losses known at one ε or at one order, and for parameters beyond a spec's limits.
func groupStep(s account.Step, steps int64) (account.Step, error) {
	words := strings.Fields(s.String())
	grow, ok := grows[words[0]]
	if !ok {
		return account.Step{}, errUngrouped
	}
	value := big.NewRat(1, 1) // of a sensitivity that is not written
	kept := words[:1]
	for _, word := range words[1:] {
		key, text, _ := strings.Cut(word, "=")
		switch key {
		case "sampling":
			return account.Step{}, errUngrouped
		case grow.key:
			r, err := account.ParseNumber(text)
			if err != nil {
				return account.Step{}, errUngrouped
			}
			value = r
		default:
			kept = append(kept, word)
		}
	}
	for range grow.power {
		value.Mul(value, new(big.Rat).SetInt64(steps))
	}
	grown, err := account.ParseStep(strings.Join(append(kept, grow.key+"="+exact.FormatRat(value)), " "))
	if err != nil {
		return account.Step{}, errUngrouped
	}
	return grown, nil
}
