package account

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/exact"
	"dither/privacy"
)

// solvable lists the keys that CalibrateJob can solve for. For the noise parameters sigma and scale it finds the
// least value, for the others the largest.
var solvable = []string{"sigma", "scale", "epsilon", "rho", "mu"}

// CalibrateJob finds one parameter of a job such that the whole job is (e, d)-differentially private. specs are the
// steps of the job, in the form of ParseStep. In exactly one of them, "?" replaces the value of sigma, scale,
// epsilon, rho or mu. The result is the least sigma or scale, or the largest epsilon, rho or mu, that meets this
// goal. It is within a share of 10⁻⁶ of the optimum, as far as the accountants can certify. The accountants certify
// the result for this job, both as a float and as its shortest decimal text, whatever the search did.
//
// TooLittle of the result is noise that is certified to be too little, or another parameter that is certified to be
// too large.
//
// CalibrateJob returns ErrParameter if the other steps alone exceed the goal, if no value or more than one is "?",
// or if e is 0. It returns a *SpecError for an invalid spec.
func CalibrateJob(specs []string, e privacy.Epsilon, d privacy.Delta) (Calibration, error) {
	o, c, err := calibratedJob(context.Background(), specs, e, d)
	if err == nil {
		c.TooLittle = o.tooLittle(c.Value)
	}
	return c, err
}

// LeastNoise is CalibrateJob without TooLittle, which takes less time. When ctx ends, it returns ctx's error after
// the accounting step in progress.
func LeastNoise(ctx context.Context, specs []string, e privacy.Epsilon, d privacy.Delta) (Calibration, error) {
	_, c, err := calibratedJob(ctx, specs, e, d)
	return c, err
}

func calibratedJob(
	ctx context.Context, specs []string, e privacy.Epsilon, d privacy.Delta,
) (*openJob, Calibration, error) {
	if err := loss(e.Rat()); err != nil {
		return nil, Calibration{}, fmt.Errorf("%w: epsilon %w", ErrParameter, err)
	}
	if err := probability(d.Rat()); err != nil {
		return nil, Calibration{}, fmt.Errorf("%w: delta %w", ErrParameter, err)
	}
	o := &openJob{at: -1, epsilon: e, delta: d}
	for i, text := range specs {
		s, open, err := parseStep(text, true)
		switch {
		case err != nil:
			return nil, Calibration{}, err
		case open != "" && o.at >= 0:
			return nil, Calibration{}, fmt.Errorf("%w: only one parameter can be open, not two", ErrParameter)
		case open != "":
			o.at, o.key = i, open
		}
		o.steps = append(o.steps, s)
	}
	if o.at < 0 {
		return nil, Calibration{}, fmt.Errorf("%w: no parameter is open; write one as ?, such as sigma=?", ErrParameter)
	}
	if _, err := NewJob(o.steps...); err != nil {
		return nil, Calibration{}, err
	}
	good, accountant, err := o.solve(ctx)
	if err != nil {
		return nil, Calibration{}, err
	}
	return o, Calibration{Mechanism: o.steps[o.at].kind.name, Parameter: o.key, Value: good, Accountant: accountant},
		nil
}

// openJob is a job with one parameter to find.
type openJob struct {
	steps   []Step
	at      int // index of the step with the open parameter
	key     string
	epsilon privacy.Epsilon
	delta   privacy.Delta
}

// noise reports whether the open parameter is noise, so that a larger value loses less.
func (o *openJob) noise() bool { return o.key == "sigma" || o.key == "scale" }

// job returns the job with the value x for the open parameter, or nil if x is outside the parameter's limits.
func (o *openJob) job(x *big.Rat) *Job {
	open := o.steps[o.at]
	if open.kind.key(o.key).check(x) != nil {
		return nil
	}
	parameters := map[string]*big.Rat{}
	for name, value := range open.parameters {
		parameters[name] = value
	}
	parameters[o.key] = x
	steps := slices.Clone(o.steps)
	steps[o.at].parameters = parameters
	j, err := NewJob(steps...)
	if err != nil {
		return nil
	}
	return j
}

// vouches returns the name of an accountant that certifies that x meets the target, or "".
func (o *openJob) vouches(x *big.Rat) string {
	j := o.job(x)
	if j == nil {
		return ""
	}
	limit := exact.FloatDown(o.delta.Rat())
	if f := j.tally.pldDelta(o.epsilon); f.Told() && f.Value <= limit {
		return "pld"
	}
	if _, sampled := j.Relation(); sampled && j.tally.distributions().why == "" {
		// the other accountants are almost never better, and are slow
		return ""
	}
	r, err := j.Delta(o.epsilon)
	if f, accountant := r.Least(); err == nil && f.Told() && f.Value <= limit {
		return accountant
	}
	return ""
}

// fits returns the name of an accountant that certifies that x meets the target, both as a float and as its decimal
// text, or "".
func (o *openJob) fits(x float64) string {
	text, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok || o.vouches(text) == "" {
		return ""
	}
	return o.vouches(new(big.Rat).SetFloat64(x))
}

// misses reports whether x is certified to miss the target.
func (o *openJob) misses(x float64) bool {
	j := o.job(new(big.Rat).SetFloat64(x))
	return j != nil && j.tally.pldDelta(o.epsilon).Lower > exact.FloatUp(o.delta.Rat())
}

// excess returns ln(δ/d), where δ is the job's δ with the value x, and d is the target's. It is +Inf if x is
// outside the parameter's limits.
func (o *openJob) excess(x float64) float64 {
	j := o.job(new(big.Rat).SetFloat64(x))
	if j == nil {
		return math.Inf(1)
	}
	upper, limit := math.Inf(1), exact.FloatDown(o.delta.Rat())
	if f := j.tally.pldDelta(o.epsilon); f.Told() {
		upper = f.Value
	}
	// for the same reason as in vouches
	if _, sampled := j.Relation(); upper > limit && (!sampled || j.tally.distributions().why != "") {
		r, err := j.Delta(o.epsilon)
		if f, _ := r.Least(); err == nil && f.Told() {
			upper = min(upper, f.Value)
		}
	}
	switch {
	case upper == 0:
		return math.Inf(-1)
	case limit == 0:
		return math.Inf(1)
	}
	return math.Log(upper) - math.Log(limit)
}

// guess returns a starting point x for the search, and the factor of its first steps. They affect only the running
// time. For Gaussian noise σ on small samples of rate q, k steps together lose about as much as one Gaussian step
// with μ = q√(k(e^(1/σ²) − 1)) [Dong, Roth & Su 2022, Corollary 5.4]. guess solves this for σ. For other jobs it
// returns 1 and 16.
func (o *openJob) guess() (x, factor float64) {
	s := o.steps[o.at]
	d, _ := o.delta.Rat().Float64()
	if len(o.steps) > 1 || s.kind.name != "gaussian" || s.sampling == nil || !(d > 0) {
		return 1, 16
	}
	e, _ := o.epsilon.Rat().Float64()
	q, _ := s.sampling.Float64()
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	low, high := 1e-9, 1e3
	for range 60 {
		mu := math.Sqrt(low * high)
		if loses := normal(mu/2-e/mu) - math.Exp(e)*normal(-mu/2-e/mu); loses > d {
			// if mu is so large that loses is NaN, it is too large
			high = mu
		} else {
			low = mu
		}
	}
	size := 1.0
	if p := s.parameters["sensitivity"]; p != nil {
		size, _ = p.Float64()
	}
	x = size / math.Sqrt(math.Log1p(low*low/(q*q*float64(s.count))))
	if !(x > 1e-6*size && x < 1e9*size) || o.job(new(big.Rat).SetFloat64(x)) == nil {
		return 1, 16
	}
	return x, 1.1
}

// solve finds the open parameter. It brackets it by steps of growing factors from the guess. Then it narrows the
// bracket by false position, in its Illinois form, on the logarithms of δ and of the parameter. Over short
// distances, the logarithm of δ is nearly linear in the logarithm of the parameter.
func (o *openJob) solve(ctx context.Context) (good float64, accountant string, err error) {
	good, factor := o.guess()
	less := 1.0 // the exponent that makes a factor above 1 reduce the loss
	if !o.noise() {
		less = -1
	}
	under := o.excess(good)
	bad, above := good, under
	for grown := factor; !(under <= 0); grown = min(grown*grown, 16) {
		bad, above = good, under
		if good *= math.Pow(grown, less); o.job(new(big.Rat).SetFloat64(good)) == nil {
			return 0, "", fmt.Errorf("%w: for no value of %s is the job certified to keep the promise",
				ErrParameter, o.key)
		}
		if under = o.excess(good); ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
	}
	for grown := factor; above <= 0; grown = min(grown*grown, 16) {
		good, under = bad, above
		bad /= math.Pow(grown, less)
		if above = o.excess(bad); ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
	}
	for round, side := 0, 0; math.Abs(good-bad) > calibrationStep/2*good && round < 200; round++ {
		share := above / (above - under)
		if !(share > 0 && share < 1) || round%8 == 7 {
			share = 0.5
		}
		x := bad * math.Exp(share*math.Log(good/bad))
		if !(min(bad, good) < x && x < max(bad, good)) {
			break
		}
		y := o.excess(x)
		if y <= 0 {
			good, under = x, y
			if side < 0 {
				above /= 2
			}
			side = -1
		} else {
			bad, above = x, y
			if side > 0 {
				under /= 2
			}
			side = 1
		}
		if ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
	}
	// move to less loss until both the float and its decimal text are certified
	for step := calibrationStep / 16; step < 1; step *= 2 {
		if accountant = o.fits(good); accountant != "" {
			return good, accountant, nil
		}
		if good *= math.Pow(1+step, less); ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
	}
	return 0, "", fmt.Errorf("%w: no value of %s is certified to keep the promise", ErrParameter, o.key)
}

// tooLittle tries values with more loss than x, at increasing distances. It returns the first that is certified to
// miss the target, or nil.
func (o *openJob) tooLittle(x float64) *big.Rat {
	for share := calibrationStep; share < 0.5; share *= 10 {
		y := x * (1 - share)
		if !o.noise() {
			y = x * (1 + share)
		}
		if o.misses(y) {
			return new(big.Rat).SetFloat64(y)
		}
	}
	return nil
}
