package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// renyi returns the Rényi loss of one run of a step. If the step has a δ, that is the δ of promise. Every step has
// a Rényi loss.
func (s Step) renyi() Renyi {
	p := s.parameters
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	var whole Renyi // the loss of a run on all of the data
	switch s.kind.name {
	case "gaussian", "discrete-gaussian":
		mu2 := square(new(big.Rat).Quo(p["sensitivity"], p["sigma"]))
		if s.kind.name == "gaussian" && s.sampling != nil && s.scheme == Poisson {
			return RenyiSampledGaussian(s.sampling, mu2)
		}
		whole = RenyiGaussian(mu2)
	case "gdp":
		whole = RenyiGaussian(square(p["mu"]))
	case "zcdp":
		whole = RenyiZCDP(rhoOf(p["rho"]))
	case "renyi":
		whole = RenyiUpTo(exact.FloatDown(p["order"]), epsilonOf(p["epsilon"]))
	case "laplace":
		whole = RenyiLaplace(epsilonOf(new(big.Rat).Quo(p["sensitivity"], p["scale"])))
	case "discrete-laplace":
		whole = RenyiDiscreteLaplace(p["sensitivity"].Num(), p["scale"])
	case "exponential":
		whole = RenyiBoundedRange(epsilonOf(p["epsilon"]))
	case "randomized-response":
		whole = RenyiRandomizedResponse(p["k"].Num().Int64(), epsilonOf(p["epsilon"]))
	default: // "pure" and "approx"
		whole = RenyiPure(epsilonOf(p["epsilon"]))
	}
	if s.sampling == nil {
		return whole
	}
	a, ok := s.promise()
	if s.kind.name == "approx" { // apart from its δ, the promise is pure
		return RenyiPure(a.Epsilon)
	}
	sampled := whole.PoissonSampled
	if s.scheme == FixedSize {
		sampled = whole.FixedSampled
	}
	least := sampled(s.sampling)
	if ok {
		least = least.Least(RenyiPure(a.Epsilon))
	}
	return least
}

// RenyiUpTo returns the Rényi loss of a mechanism of which only the loss e at one order is known. Rényi divergence
// does not decrease in its order, so up to that order the loss is at most e. Beyond it the result is +Inf.
func RenyiUpTo(order float64, e privacy.Epsilon) Renyi {
	most := RenyiPure(e)(math.Inf(1))
	return renyi(func(at float64) float64 {
		if at > order {
			return math.Inf(1)
		}
		return most
	})
}

// Limits on the number of distinct steps of a job. With more steps, computing their divergences would take too
// long: a sampled step takes some milliseconds at an integer order, and more at other orders.
const (
	mostSampled        = 16   // with every order
	mostSampledInteger = 500  // with integer orders up to largestInteger only
	mostDifferent      = 2000 // sampled steps or not
	largestInteger     = 128
)

// total returns the job's Rényi loss. It is created once, because it caches its results. ok is false if the job has
// too many distinct steps.
func (t *tally) total() (s renyiSum, ok bool) {
	t.summed.Do(func() { t.renyi, t.few = t.summedUp() })
	return t.renyi, t.few
}

// renyiSum is a job's Rényi loss, with a search for the best order and further orders to try.
type renyiSum struct {
	loss   Renyi
	best   search
	orders []float64 // orders that are named in specs
}

func (t *tally) summedUp() (s renyiSum, ok bool) {
	sampled := 0
	parts := make([]Renyi, len(t.steps))
	for i, s := range t.steps {
		if s.sampling != nil {
			sampled++
		}
		parts[i] = s.renyi().Times(s.count)
	}
	if sampled > mostSampledInteger || len(t.steps) > mostDifferent {
		return renyiSum{}, false
	}
	s = renyiSum{remembered(ComposeRenyi(parts...)), bestOrder, t.orders()}
	if sampled > mostSampled {
		s.best = func(f func(order float64) float64) float64 { return bestInteger(f, largestInteger) }
		for i, order := range s.orders {
			s.orders[i] = math.Floor(min(order, largestInteger))
		}
	}
	return s, true
}

// orders returns the orders that are named in specs. If a loss is known only up to an order, that order is often
// the best, and a search would not find it.
func (t *tally) orders() []float64 {
	var out []float64
	for _, s := range t.steps {
		if r := s.parameters["order"]; r != nil {
			out = append(out, exact.FloatDown(r))
		}
	}
	return out
}

const whyDifferent = "the job has too many different steps"

func (t *tally) renyiEpsilon(d privacy.Delta) Figure {
	least, _ := t.keep.rest(d)
	if least.Sign() < 0 {
		return none("the δs of the steps alone sum to more")
	}
	rest, ok := deltaBelow(least)
	if !ok {
		return told(0)
	}
	total, ok := t.total()
	if !ok {
		return none(whyDifferent)
	}
	return told(total.loss.epsilonBy(total.best, total.orders, rest))
}

func (t *tally) renyiDelta(e privacy.Epsilon) Figure {
	total, ok := t.total()
	if !ok {
		return none(whyDifferent)
	}
	least := total.loss.deltaBy(total.best, total.orders, e)
	d := new(big.Float).SetFloat64(least)
	_, upper := t.keep.whole(d, d)
	return told(upper)
}
