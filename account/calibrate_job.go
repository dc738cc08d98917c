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

// solvable are the keys that CalibrateJob solves for. The first two are noise, of which it finds the least; of the
// others it finds the largest.
var solvable = []string{"sigma", "scale", "epsilon", "rho", "mu"}

// CalibrateJob finds one parameter of a job. The job is given by its specs, as ParseStep reads them; exactly one has
// "?" in the place of a sigma, scale, epsilon, rho or mu. The result is the least noise, or the largest of the others,
// with which the whole job is (e, d)-differentially private, within 10⁻⁶ of it as far as the accountants can
// certify. The accountants of this very job certify the result, both as a float and as its shortest decimal text,
// however the search went.
//
// TooLittle is then noise that is certified to be too little, or another parameter that is certified to be too large.
// The error is ErrParameter if the other steps leave nothing of the promise, if none or several parameters are open,
// and at an ε of 0; for a faulty spec it is a *SpecError.
func CalibrateJob(specs []string, e privacy.Epsilon, d privacy.Delta) (Calibration, error) {
	o, c, err := calibratedJob(context.Background(), specs, e, d)
	if err == nil {
		c.TooLittle = o.tooLittle(c.Value)
	}
	return c, err
}

// LeastNoise is CalibrateJob without TooLittle, for a caller that waits for the number alone. When ctx ends, it returns
// ctx's error after the accounting step in progress.
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
			return nil, Calibration{}, fmt.Errorf("%w: one parameter is open, not two", ErrParameter)
		case open != "":
			o.at, o.key = i, open
		}
		o.steps = append(o.steps, s)
	}
	if o.at < 0 {
		return nil, Calibration{}, fmt.Errorf("%w: no parameter is open, as sigma=?", ErrParameter)
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

// openJob is a job with a parameter to find.
type openJob struct {
	steps   []Step
	at      int // the open step
	key     string
	epsilon privacy.Epsilon
	delta   privacy.Delta
}

// noise reports whether a larger parameter loses less.
func (o *openJob) noise() bool { return o.key == "sigma" || o.key == "scale" }

// job is the job with the parameter x; nil if x is beyond its limits.
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

// vouches names the accountant by which x meets the target, or returns "".
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
		// the others are almost never less, and are slow
		return ""
	}
	r, err := j.Delta(o.epsilon)
	if f, accountant := r.Least(); err == nil && f.Told() && f.Value <= limit {
		return accountant
	}
	return ""
}

// fits names the accountant by which x meets the target both as a float and as its decimal text.
func (o *openJob) fits(x float64) string {
	text, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok || o.vouches(text) == "" {
		return ""
	}
	return o.vouches(new(big.Rat).SetFloat64(x))
}

// misses reports that x is certified not to fit.
func (o *openJob) misses(x float64) bool {
	j := o.job(new(big.Rat).SetFloat64(x))
	return j != nil && j.tally.pldDelta(o.epsilon).Lower > exact.FloatUp(o.delta.Rat())
}

// excess is how far the δ of x exceeds the target, as the logarithm of the quotient; +∞ if x is beyond its limits.
func (o *openJob) excess(x float64) float64 {
	j := o.job(new(big.Rat).SetFloat64(x))
	if j == nil {
		return math.Inf(1)
	}
	upper, limit := math.Inf(1), exact.FloatDown(o.delta.Rat())
	if f := j.tally.pldDelta(o.epsilon); f.Told() {
		upper = f.Value
	}
	if _, sampled := j.Relation(); upper > limit && (!sampled || j.tally.distributions().why != "") { // as in vouches
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

// guess is a starting point, and the factor of the next steps. It decides how long the search takes, and nothing else.
// Many steps on small samples lose about as much as one Gaussian step with μ = q√(k(e^(1/σ²) − 1)) [Dong, Roth &
// Su 2022, corollary 5.4].
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
			// no number, far out: it is too much
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

// solve brackets the parameter, from a guess by growing factors, and narrows the bracket by the Illinois form of false
// position, on the logarithms of δ and of the parameter, between which the curve is nearly linear over short
// distances.
func (o *openJob) solve(ctx context.Context) (good float64, accountant string, err error) {
	good, factor := o.guess()
	less := 1.0 // to what power: the way to where less is lost
	if !o.noise() {
		less = -1
	}
	under := o.excess(good)
	bad, above := good, under
	for grown := factor; !(under <= 0); grown = min(grown*grown, 16) {
		bad, above = good, under
		if good *= math.Pow(grown, less); o.job(new(big.Rat).SetFloat64(good)) == nil {
			return 0, "", fmt.Errorf("%w: whatever %s is, the job is not certified to keep the promise",
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
	for step := calibrationStep / 16; step < 1; step *= 2 { // as a decimal too, past its rounding
		if accountant = o.fits(good); accountant != "" {
			return good, accountant, nil
		}
		if good *= math.Pow(1+step, less); ctx.Err() != nil {
			return 0, "", ctx.Err()
		}
	}
	return 0, "", fmt.Errorf("%w: no %s is certified to keep the promise", ErrParameter, o.key)
}

// tooLittle tries points with less noise than x, at increasing distances from it, and returns the first that is
// certified to miss the target, or nil.
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
