package account

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/exact"
	"dither/privacy"
)

// kind describes a mechanism that a spec may name.
type kind struct {
	name string
	keys []*key
}

// key describes a parameter of a spec.
type key struct {
	name  string
	usual *big.Rat // default value; nil if the parameter is required
	check func(*big.Rat) error
}

// kinds lists the mechanisms. Sensitivity is in L₁ norm for Laplace noise and in L₂ norm for Gaussian noise, in the
// unit of the noise. Discrete noise is for integers, and its sensitivity is an integer.
var kinds = []*kind{
	{"gaussian", []*key{{"sigma", nil, size}, {"sensitivity", one, size}}},
	{"discrete-gaussian", []*key{{"sigma", nil, size}, {"sensitivity", one, integer}}},
	{"laplace", []*key{{"scale", nil, size}, {"sensitivity", one, size}}},
	{"discrete-laplace", []*key{{"scale", nil, size}, {"sensitivity", one, integer}}},
	{"exponential", []*key{{"epsilon", nil, loss}}},
	{"randomized-response", []*key{{"k", nil, answers}, {"epsilon", nil, loss}}},
	{"pure", []*key{{"epsilon", nil, loss}}},
	{"approx", []*key{{"epsilon", nil, lossOrNone}, {"delta", nil, probability}}},
	{"zcdp", []*key{{"rho", nil, rhoWithin}}},
	{"renyi", []*key{{"order", nil, order}, {"epsilon", nil, loss}}},
	{"gdp", []*key{{"mu", nil, size}}},
}

// Keys that every mechanism accepts.
var (
	countKey    = &key{"count", one, count}
	samplingKey = &key{"sampling", nil, rate}
)

func (k *kind) key(name string) *key {
	for _, key := range append([]*key{countKey, samplingKey}, k.keys...) {
		if key.name == name {
			return key
		}
	}
	return nil
}

func (k *kind) names() []string {
	var names []string
	for _, key := range k.keys {
		names = append(names, key.name)
	}
	return append(names, "sampling", "scheme", "count")
}

func (k *kind) allowed() string { return strings.Join(k.names(), ", ") }

// Limits of the numbers in specs. A number outside them protects nothing or loses nothing, and is probably a typing
// error.
var (
	leastLoss  = exact.DecimalStep(30) // 10⁻³⁰
	largest18  = exact.DecimalStep(-18)
	smallest18 = exact.DecimalStep(18)
)

var errAboveZero = errors.New("must be above 0")

// between returns an error unless r is above 0 and in the interval [least, most].
func between(r, least, most *big.Rat) error {
	switch {
	case r.Sign() <= 0:
		return errAboveZero
	case r.Cmp(least) < 0 || r.Cmp(most) > 0:
		return fmt.Errorf("must be from %s to %s", brief(least), brief(most))
	}
	return nil
}

// brief returns a power of ten as text.
func brief(r *big.Rat) string {
	f, _ := r.Float64()
	return strings.ReplaceAll(fmt.Sprintf("%.9g", f), "e+", "e")
}

func size(r *big.Rat) error { return between(r, smallest18, largest18) }

func loss(r *big.Rat) error { return between(r, leastLoss, big.NewRat(privacy.MaxEpsilon, 1)) }

func rhoWithin(r *big.Rat) error { return between(r, leastLoss, big.NewRat(privacy.MaxRho, 1)) }

func lossOrNone(r *big.Rat) error {
	if r.Sign() == 0 {
		return nil
	}
	return loss(r)
}

func integer(r *big.Rat) error {
	if err := size(r); err != nil || r.IsInt() {
		return err
	}
	return errors.New("must be an integer, because discrete noise is for integers")
}

func count(r *big.Rat) error {
	if !r.IsInt() || r.Sign() <= 0 || r.Cmp(new(big.Rat).SetInt64(MostSteps)) > 0 {
		return fmt.Errorf("must be an integer from 1 to %s", brief(new(big.Rat).SetInt64(MostSteps)))
	}
	return nil
}

func answers(r *big.Rat) error {
	if !r.IsInt() || r.Cmp(big.NewRat(2, 1)) < 0 || r.Cmp(big.NewRat(1_000_000_000, 1)) > 0 {
		return errors.New("must be an integer from 2 to 1e9: the number of answers")
	}
	return nil
}

func rate(r *big.Rat) error {
	if r.Sign() <= 0 || r.Cmp(one) > 0 || r.Cmp(smallest18) < 0 {
		return errors.New("must be a rate above 0 (at least 1e-18) and at most 1")
	}
	return nil
}

func probability(r *big.Rat) error {
	if r.Sign() < 0 || r.Cmp(one) >= 0 {
		return errors.New("must be at least 0 and below 1")
	}
	return nil
}

func order(r *big.Rat) error {
	if r.Cmp(one) <= 0 || r.Cmp(big.NewRat(1_000_000, 1)) > 0 {
		return errors.New("must be above 1 and at most 1e6")
	}
	return nil
}
