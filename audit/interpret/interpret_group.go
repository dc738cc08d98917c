package interpret

import (
	"errors"
	"math/big"
	"strings"

	"dither/account"
	"dither/internal/exact"
)

var errUngrouped = errors.New("the job has no group privacy")

// grows describes, for each mechanism of a spec, how its promise changes between hypotheses that are k steps apart:
// the parameter named key is multiplied by k^power. For sensitivities, this is the triangle inequality. For ε it is
// privacy.Epsilon.Group. The same argument holds for the range of the loss of an exponential mechanism. For ρ it is
// Bun & Steinke 2016, Proposition 1.9. For μ it is Dong, Roth & Su 2022, Theorem 2.14.
var grows = map[string]struct {
	key   string
	power int
}{
	"gaussian": {"sensitivity", 1}, "discrete-gaussian": {"sensitivity", 1}, "laplace": {"sensitivity", 1},
	"discrete-laplace": {"sensitivity", 1},
	"exponential":      {"epsilon", 1}, "pure": {"epsilon", 1}, "zcdp": {"rho", 2}, "gdp": {"mu", 1},
}

// groupStep returns the step of a job for hypotheses that are that many steps of the neighbouring relation apart.
// It returns errUngrouped if there is no such step: for samples, for losses known at one ε or one order only, and
// for parameters beyond the limits of a spec.
func groupStep(s account.Step, steps int64) (account.Step, error) {
	words := strings.Fields(s.String())
	grow, ok := grows[words[0]]
	if !ok {
		return account.Step{}, errUngrouped
	}
	value := big.NewRat(1, 1) // the sensitivity of a spec that does not state it
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
