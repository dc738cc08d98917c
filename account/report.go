package account

import (
	"fmt"
	"math"
	"math/big"
	"sync"

	"dither/privacy"
)

// Figure is the result of one accountant: a certified upper bound, or the reason why it has none.
type Figure struct {
	Value float64 // an ε or a δ, rounded up; NaN if there is none
	Why   string  // "" if Value holds
}

// Told reports whether there is a value.
func (f Figure) Told() bool { return f.Why == "" && !math.IsNaN(f.Value) }

func told(value float64) Figure {
	if math.IsInf(value, 1) || math.IsNaN(value) {
		return none("it tells no finite bound")
	}
	return Figure{Value: value}
}

func none(why string, args ...any) Figure {
	return Figure{Value: math.NaN(), Why: fmt.Sprintf(why, args...)}
}

// atMost is the lesser of two figures that have values.
func (f Figure) atMost(others ...Figure) Figure {
	for _, g := range others {
		if g.Told() && (!f.Told() || g.Value < f.Value) {
			f = g
		}
	}
	return f
}

// Bracket is an accountant's result from both sides.
type Bracket struct {
	Lower float64 // rounded down; 0, which says nothing, if Figure has no value
	Figure
}

// Report is the loss of one job by every accountant: the ε of each at one δ, or the δ of each at one ε. For a job
// that is fixed in advance each figure is true, so the least is; PLD ≤ Renyi ≤ Basic among those that have values.
type Report struct {
	Basic    Figure  // the sums of ε and of δ
	Advanced Figure  // advanced composition
	ZCDP     Figure  // the sum of ρ, converted
	Renyi    Figure  // Rényi's divergences, converted at the best order
	PLD      Bracket // the privacy loss distributions, composed numerically
}

// Least is the least of the report's upper bounds, and the name of the first accountant that has it. If none has a
// value, the figure says so.
func (r Report) Least() (f Figure, accountant string) {
	f = none("no accountant tells it")
	for _, c := range []struct {
		name string
		f    Figure
	}{{"basic", r.Basic}, {"advanced", r.Advanced}, {"zcdp", r.ZCDP}, {"renyi", r.Renyi}, {"pld", r.PLD.Figure}} {
		if c.f.Told() && (!f.Told() || c.f.Value < f.Value) {
			f, accountant = c.f, c.name
		}
	}
	return f, accountant
}

// Epsilon reports the ε at which the job is (ε, d)-differentially private. d must be below 1, otherwise the error is
// ErrParameter.
func (j *Job) Epsilon(d privacy.Delta) (Report, error) {
	if d.Rat().Cmp(one) >= 0 {
		return Report{}, fmt.Errorf("%w: a δ of 1 promises nothing", ErrParameter)
	}
	t := j.tally
	var r Report
	r.Basic = t.basicEpsilon(d)
	r.Advanced = t.advancedEpsilon(d)
	r.ZCDP = t.zcdpEpsilon(d)
	var both sync.WaitGroup // the two that take a while
	both.Go(func() { r.PLD = t.pldEpsilon(d) })
	r.Renyi = t.renyiEpsilon(d).atMost(r.ZCDP, t.infiniteEpsilon(d))
	both.Wait()
	r.settle()
	return r, nil
}

// Delta reports the δ at which the job is (e, δ)-differentially private.
func (j *Job) Delta(e privacy.Epsilon) (Report, error) {
	if e.Rat().Cmp(big.NewRat(largestAsked, 1)) > 0 {
		return Report{}, fmt.Errorf("%w: an ε beyond 10¹² is not asked for", ErrParameter)
	}
	t := j.tally
	var r Report
	r.Basic = t.basicDelta(e)
	r.Advanced = t.advancedDelta(e)
	r.ZCDP = t.zcdpDelta(e)
	var both sync.WaitGroup
	both.Go(func() { r.PLD = t.pldDelta(e) })
	r.Renyi = t.renyiDelta(e).atMost(r.ZCDP, t.infiniteDelta(e))
	both.Wait()
	r.settle()
	return r, nil
}

// LeastDelta is the least of the figures of Delta, to within a hundredth of it, and the name of an accountant that has
// it. If the loss distributions bracket δ that closely, it uses them alone, because the others are slower and never
// below the bracket.
func (j *Job) LeastDelta(e privacy.Epsilon) (f Figure, accountant string, err error) {
	if e.Rat().Cmp(big.NewRat(largestAsked, 1)) <= 0 {
		if f := j.tally.basicDelta(e); f.Told() && f.Value == 0 {
			return f, "basic", nil
		}
		if b := j.tally.pldDelta(e); b.Told() && b.Lower >= 0.99*b.Value {
			return b.Figure, "pld", nil
		}
	}
	r, err := j.Delta(e)
	if err != nil {
		return none("no accountant tells it"), "", err
	}
	f, accountant = r.Least()
	return f, accountant, nil
}

// settle makes the figure of the loss distributions the least, if there are any.
func (r *Report) settle() {
	if r.PLD.Told() {
		r.PLD.Figure = r.PLD.atMost(r.Basic, r.Advanced, r.ZCDP, r.Renyi)
	}
	if r.PLD.Told() {
		r.PLD.Figure = told(r.PLD.Value)
	}
	if !r.PLD.Told() {
		r.PLD.Lower = 0
	}
}

// largestAsked bounds the ε at which a δ is asked for.
const largestAsked = 1_000_000_000_000
