package account

import (
	"fmt"
	"math"
	"math/big"
	"sync"

	"dither/privacy"
)

// Figure is the result of one accountant: a certified upper bound, or the reason why there is none.
type Figure struct {
	Value float64 // an ε or a δ, rounded up; NaN if there is no bound
	Why   string  // the reason; "" if Value is valid
}

// Told reports whether f has a value.
func (f Figure) Told() bool { return f.Why == "" && !math.IsNaN(f.Value) }

func told(value float64) Figure {
	if math.IsInf(value, 1) || math.IsNaN(value) {
		return none("its bound is infinite")
	}
	return Figure{Value: value}
}

func none(why string, args ...any) Figure {
	return Figure{Value: math.NaN(), Why: fmt.Sprintf(why, args...)}
}

// atMost returns the least of f and the others. It ignores figures without a value.
func (f Figure) atMost(others ...Figure) Figure {
	for _, g := range others {
		if g.Told() && (!f.Told() || g.Value < f.Value) {
			f = g
		}
	}
	return f
}

// Bracket is an accountant's lower and upper bound.
type Bracket struct {
	Lower float64 // rounded down; 0 if Figure has no value
	Figure
}

// Report holds the loss of one job by every accountant: the ε of each at one δ, or the δ of each at one ε. All
// figures hold, because the job is fixed in advance, so the least of them holds too. Among those that have values,
// PLD ≤ Renyi ≤ Basic.
type Report struct {
	Basic    Figure  // the sums of ε and of δ
	Advanced Figure  // advanced composition
	ZCDP     Figure  // the sum of ρ, converted to ε or δ
	Renyi    Figure  // the sum of Rényi divergences, converted at the best order
	PLD      Bracket // privacy loss distributions, composed numerically
	// Fixed is the optimum of equal exponential mechanisms by [OptimalRange]. It holds only if all their scores are fixed
	// before the first output. If a score depends on an earlier output, as in MWEM and AIM, only the other figures hold. So
	// Least leaves it out.
	Fixed Bracket
}

// Least returns the least upper bound of the report, and the name of the first accountant that has it. If no figure
// has a value, f says so.
func (r Report) Least() (f Figure, accountant string) {
	f = none("no accountant has a bound")
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

// Epsilon reports the ε at which the job is (ε, d)-differentially private, by every accountant. If d is not below
// 1, it returns ErrParameter.
func (j *Job) Epsilon(d privacy.Delta) (Report, error) {
	if d.Rat().Cmp(one) >= 0 {
		return Report{}, fmt.Errorf("%w: a δ of 1 gives no protection", ErrParameter)
	}
	t := j.tally
	var r Report
	r.Basic = t.basicEpsilon(d)
	r.Advanced = t.advancedEpsilon(d)
	r.ZCDP = t.zcdpEpsilon(d)
	var both sync.WaitGroup // PLD and Renyi take longest, so they run in parallel
	r.Fixed = t.fixedEpsilon(d)
	both.Go(func() { r.PLD = t.pldEpsilon(d) })
	r.Renyi = t.renyiEpsilon(d).atMost(r.ZCDP, t.infiniteEpsilon(d))
	both.Wait()
	r.settle()
	return r, nil
}

// Delta reports the δ at which the job is (e, δ)-differentially private, by every accountant. If e is beyond 10¹²,
// it returns ErrParameter.
func (j *Job) Delta(e privacy.Epsilon) (Report, error) {
	if e.Rat().Cmp(big.NewRat(largestAsked, 1)) > 0 {
		return Report{}, fmt.Errorf("%w: an ε must not exceed 10¹²", ErrParameter)
	}
	t := j.tally
	var r Report
	r.Basic = t.basicDelta(e)
	r.Advanced = t.advancedDelta(e)
	r.ZCDP = t.zcdpDelta(e)
	var both sync.WaitGroup
	r.Fixed = t.fixedDelta(e)
	both.Go(func() { r.PLD = t.pldDelta(e) })
	r.Renyi = t.renyiDelta(e).atMost(r.ZCDP, t.infiniteDelta(e))
	both.Wait()
	r.settle()
	return r, nil
}

// LeastDelta returns the least figure of Delta, to within one part in a hundred, and the name of an accountant that
// has it. If the loss distributions give bounds of δ that are this close, LeastDelta uses them alone. The other
// accountants are slower, and never below these bounds.
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
		return none("no accountant has a bound"), "", err
	}
	f, accountant = r.Least()
	return f, accountant, nil
}

// settle sets PLD to the least of all figures, if PLD has a value. A PLD of +Inf becomes a figure without a value.
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

// largestAsked is the largest ε for which Job.Delta computes a δ.
const largestAsked = 1_000_000_000_000
