package account

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Figure is what one accountant tells: a certified upper bound, or why it has none.
type Figure struct {
	Value float64 // an ε or a δ, rounded up; NaN where there is none
	Why   string  // "" where Value holds
}

// Told reports that there is a value.
func (f Figure) Told() bool { return f.Why == "" }

func told(value float64) Figure {
	if math.IsInf(value, 1) || math.IsNaN(value) {
		return none("it is beyond any number")
	}
	return Figure{Value: value}
}

func none(why string, args ...any) Figure {
	return Figure{Value: math.NaN(), Why: fmt.Sprintf(why, args...)}
}

// atMost is the lesser of two figures, where they are told.
func (f Figure) atMost(others ...Figure) Figure {
	for _, g := range others {
		if g.Told() && (!f.Told() || g.Value < f.Value) {
			f = g
		}
	}
	return f
}

// Bracket is what an accountant tells from both sides.
type Bracket struct {
	Lower float64 // rounded down; 0, which says nothing, where Figure is not told
	Figure
}

// Report is the loss of one job, told by every accountant: the ε of each at one δ, or the δ of each at one ε. Of a job that is
// fixed in advance each figure is true, so the least is; the order PLD ≤ Renyi ≤ Basic holds where they are told.
type Report struct {
	Basic    Figure  // the sums of ε and of δ
	Advanced Figure  // advanced composition
	ZCDP     Figure  // the sum of ρ, converted
	Renyi    Figure  // Rényi's divergences, converted at the best order
	PLD      Bracket // the privacy loss distributions, composed numerically
}

// Least is the least of the report's upper bounds, and its accountant's name. Where none is told the figure says so.
func (r Report) Least() (f Figure, accountant string) {
	f = none("no accountant tells it")
	for _, c := range []struct {
		name string
		f    Figure
	}{{"basic", r.Basic}, {"advanced", r.Advanced}, {"zcdp", r.ZCDP}, {"renyi", r.Renyi}, {"pld", r.PLD.Figure}} {
		if c.f.Told() && (!f.Told() || c.f.Value <= f.Value) {
			f, accountant = c.f, c.name
		}
	}
	return f, accountant
}

// Epsilon tells the ε at which the job is (ε, d)-differentially private. d must be below 1, else it is ErrParameter.
func (j *Job) Epsilon(d privacy.Delta) (Report, error) {
	if d.Rat().Cmp(one) >= 0 {
		return Report{}, fmt.Errorf("%w: a δ of 1 promises nothing", ErrParameter)
	}
	t := j.tally()
	var r Report
	r.Basic = t.basicEpsilon(d)
	r.Advanced = t.advancedEpsilon(d)
	r.ZCDP = t.zcdpEpsilon(d)
	r.Renyi = t.renyiEpsilon(d).atMost(r.ZCDP, t.infiniteEpsilon(d))
	r.PLD = t.pldEpsilon(d)
	if r.PLD.Told() {
		r.PLD.Figure = r.PLD.atMost(r.Basic, r.Advanced, r.ZCDP, r.Renyi)
	}
	return r, nil
}

// Delta tells the δ at which the job is (e, δ)-differentially private.
func (j *Job) Delta(e privacy.Epsilon) (Report, error) {
	if e.Rat().Cmp(big.NewRat(largestAsked, 1)) > 0 {
		return Report{}, fmt.Errorf("%w: an ε beyond 10¹² is not asked for", ErrParameter)
	}
	t := j.tally()
	var r Report
	r.Basic = t.basicDelta(e)
	r.Advanced = t.advancedDelta(e)
	r.ZCDP = t.zcdpDelta(e)
	r.Renyi = t.renyiDelta(e).atMost(r.ZCDP, t.infiniteDelta(e))
	r.PLD = t.pldDelta(e)
	if r.PLD.Told() {
		r.PLD.Figure = r.PLD.atMost(r.Basic, r.Advanced, r.ZCDP, r.Renyi)
	}
	return r, nil
}

// largestAsked bounds the ε at which a δ is asked for.
const largestAsked = 1_000_000_000_000

// tally is a job's losses, added up.
type tally struct {
	job      *Job
	promises []Repeated  // of the steps that have one
	keep     keep        // that none of them fails
	sum      Approximate // of the promises
	rho      privacy.Rho // of the steps that have one
	unkept   string      // a step without a promise, or ""
	spread   string      // a step without a ρ, or ""
}

func (j *Job) tally() *tally {
	t := &tally{job: j}
	for _, s := range j.steps {
		a, ok := s.promise()
		if ok {
			t.promises = append(t.promises, Repeated{a, s.count})
		} else if t.unkept == "" {
			t.unkept = s.kind.name
		}
		if rho, ok := s.concentrated(); ok {
			t.rho = t.rho.Plus(rho.Times(s.count))
		} else if t.spread == "" {
			t.spread = s.kind.name
			if s.sampling != nil {
				t.spread = "sampled " + t.spread
			}
		}
	}
	t.keep = keepOf(t.promises, certainty)
	t.sum = Basic(t.promises...)
	return t
}

const (
	whyNoPromise = "%s promises no ε of its own"
	whyNoRho     = "%s has no zCDP loss"
	whyDelta     = "the steps' own δ come to more"
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
		return none("it says nothing below an ε of %s", shown(t.sum.Epsilon))
	}
	return told(exact.FloatUp(t.sum.Delta.Rat()))
}

// infiniteEpsilon is Rényi's divergence of order ∞: the basic sum of ε, where the product of the 1−δᵢ leaves room for d.
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
	if t.unkept != "" || t.sum.Epsilon.Cmp(e) > 0 {
		return none("")
	}
	_, upper := t.keep.whole(new(big.Float), new(big.Float))
	return told(upper).atMost(t.basicDelta(e))
}

func (t *tally) advancedEpsilon(d privacy.Delta) Figure {
	if t.unkept != "" {
		return none(whyNoPromise, t.unkept)
	}
	if d.Cmp(t.sum.Delta) <= 0 {
		return none("it needs a δ above the steps' own")
	}
	epsilon, _, err := Advanced(t.promises, d.Minus(t.sum.Delta))
	if err != nil {
		return none("an ε is too large")
	}
	return told(epsilon)
}

func (t *tally) advancedDelta(e privacy.Epsilon) Figure {
	if t.unkept != "" {
		return none(whyNoPromise, t.unkept)
	}
	slack, ok := advancedSlack(t.promises, e)
	if !ok {
		return none("it says nothing at so small an ε")
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
		return none("it needs a δ above the steps' own")
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

// deltaBelow is x > 0 as a δ, exactly; ok is false where x is 1 or more.
func deltaBelow(x *big.Float) (d privacy.Delta, ok bool) {
	r, _ := x.Rat(nil)
	d, err := privacy.DeltaOf(r)
	return d, err == nil && r.Cmp(one) < 0
}

// shown is an ε in a sentence.
func shown(e privacy.Epsilon) string {
	f, _ := e.Rat().Float64()
	return fmt.Sprintf("%.6g", f)
}

func (t *tally) pldEpsilon(privacy.Delta) Bracket  { return Bracket{Figure: none("not yet")} }
func (t *tally) pldDelta(privacy.Epsilon) Bracket  { return Bracket{Figure: none("not yet")} }
