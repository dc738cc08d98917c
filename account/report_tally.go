package account

import (
	"fmt"
	"math/big"
	"sync"

	"dither/internal/exact"
	"dither/privacy"
)

// tally holds the sums of a job's losses, for each accountant.
type tally struct {
	steps    []Step
	promises []Repeated  // promises of the steps that have one
	keep     keep        // the probability that no promise fails
	sum      Approximate // basic composition of the promises
	rho      privacy.Rho // sum of ρ of the steps that have one
	unkept   string      // name of a step without a promise, or ""
	spread   string      // name of a step without a ρ, or ""
	summed   sync.Once
	renyi    renyiSum // computed on first use, under summed
	few      bool     // whether the steps are few enough for renyi
	once     sync.Once
	pld      *distributions // computed on first use, under once
}

func newTally(steps []Step) *tally {
	t := &tally{steps: steps}
	for _, s := range steps {
		a, ok := s.promise()
		if ok {
			t.promises = append(t.promises, Repeated{a, s.count})
		} else if t.unkept == "" {
			t.unkept = s.kind.name
		}
		if rho, ok := s.concentrated(); ok {
			t.rho = rhoOf(short(t.rho.Plus(rho.Times(s.count)).Rat()))
		} else if t.spread == "" {
			t.spread = s.described()
		}
	}
	t.keep = keepOf(t.promises, certainty)
	t.sum = Basic(t.promises...)
	return t
}

const (
	whyNoPromise = "%s has no ε of its own"
	whyNoRho     = "%s has no zCDP loss"
	whyDelta     = "the δs of the steps alone sum to more"
)

func (t *tally) basicEpsilon(d privacy.Delta) Figure {
	switch {
	case t.unkept != "":
		return none(whyNoPromise, t.unkept)
	case t.sum.Delta.Cmp(d) > 0:
		return none(whyDelta)
	}
	return told(exact.FloatUp(t.sum.Epsilon.Rat()))
}

func (t *tally) basicDelta(e privacy.Epsilon) Figure {
	switch {
	case t.unkept != "":
		return none(whyNoPromise, t.unkept)
	case t.sum.Epsilon.Cmp(e) > 0:
		return none("it has no bound below an ε of %s", shown(t.sum.Epsilon))
	}
	return told(exact.FloatUp(t.sum.Delta.Rat()))
}

// infiniteEpsilon returns the figure of Rényi divergence at the order ∞. It is the basic sum of ε, and holds if 1 −
// ∏(1−δᵢ) is at most d.
func (t *tally) infiniteEpsilon(d privacy.Delta) Figure {
	if t.unkept != "" {
		return none(whyNoPromise, t.unkept)
	}
	if least, _ := t.keep.rest(d); least.Sign() < 0 && t.sum.Delta.Cmp(d) > 0 {
		return none(whyDelta)
	}
	return told(exact.FloatUp(t.sum.Epsilon.Rat()))
}

func (t *tally) infiniteDelta(e privacy.Epsilon) Figure {
	if f := t.basicDelta(e); !f.Told() {
		return f
	}
	_, upper := t.keep.whole(new(big.Float), new(big.Float))
	return told(upper).atMost(t.basicDelta(e))
}

func (t *tally) advancedEpsilon(d privacy.Delta) Figure {
	if t.unkept != "" {
		return none(whyNoPromise, t.unkept)
	}
	if d.Cmp(t.sum.Delta) <= 0 {
		return t.needsDelta()
	}
	epsilon, _, err := Advanced(t.promises, d.Minus(t.sum.Delta))
	if err != nil {
		return none("an ε is too large")
	}
	return told(epsilon)
}

func (t *tally) needsDelta() Figure {
	if t.sum.Delta.IsZero() {
		return none("it needs a δ above 0")
	}
	return none("it needs a δ above the sum of the steps' δs")
}

func (t *tally) advancedDelta(e privacy.Epsilon) Figure {
	if t.unkept != "" {
		return none(whyNoPromise, t.unkept)
	}
	slack, ok := advancedSlack(t.promises, e)
	if !ok {
		return none("it has no bound at this small an ε")
	}
	delta := new(big.Float).SetPrec(certainty).SetMode(big.ToPositiveInf).SetRat(t.sum.Delta.Rat())
	return told(min(1, floatAbove(delta.Add(delta, slack))))
}

func (t *tally) zcdpEpsilon(d privacy.Delta) Figure {
	if t.spread != "" {
		return none(whyNoRho, t.spread)
	}
	least, _ := t.keep.rest(d)
	if t.rho.IsZero() && least.Sign() >= 0 {
		return told(0)
	}
	if least.Sign() <= 0 {
		return t.needsDelta()
	}
	rest, ok := deltaBelow(least)
	if !ok {
		return told(0)
	}
	e, err := t.rho.EpsilonAt(rest)
	if err != nil {
		return none("it needs a δ above 0")
	}
	return told(exact.FloatUp(e.Rat()))
}

func (t *tally) zcdpDelta(e privacy.Epsilon) Figure {
	if t.spread != "" {
		return none(whyNoRho, t.spread)
	}
	d := t.rho.DeltaAt(e).Rat()
	x := exact.IntervalOf(d, t.keep.bits)
	_, upper := t.keep.whole(x.Lo(), x.Hi())
	return told(upper)
}

// deltaBelow returns x > 0 as a δ, exactly. If x is 1 or more, ok is false.
func deltaBelow(x *big.Float) (d privacy.Delta, ok bool) {
	r, _ := x.Rat(nil)
	d, err := privacy.DeltaOf(r)
	return d, err == nil && r.Cmp(one) < 0
}

// shown returns an ε as text for messages.
func shown(e privacy.Epsilon) string {
	f, _ := e.Rat().Float64()
	return fmt.Sprintf("%.6g", f)
}
