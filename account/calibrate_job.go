package account

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/exact"
	"dither/privacy"
)

// solvable are the keys that CalibrateJob finds. The first two are noise, of which the least is sought; of the others the largest.
var solvable = []string{"sigma", "scale", "epsilon", "rho", "mu"}

// CalibrateJob finds one parameter of a job, given by its specs as ParseStep reads them, of which exactly one has "?" in the place of a sigma,
// scale, epsilon, rho or mu: the least noise, or the largest of the others, with which the whole job is (e, d)-differentially
// private, within 10⁻⁶ of it as far as the accountants can tell. What it finds is certified to fit by the accountants of the very
// job, whatever became of the search, both as the float and as its shortest decimal text.
//
// TooLittle is then noise that is certified to be too little, or one of the others that is certified to be too much. Where the
// others of the job leave nothing, where there is none or more than one open parameter, and at an ε of 0 the error is ErrParameter; of a
// spec it is a *SpecError.
func CalibrateJob(specs []string, e privacy.Epsilon, d privacy.Delta) (Calibration, error) {
	if err := loss(e.Rat()); err != nil {
		return Calibration{}, fmt.Errorf("%w: epsilon %w", ErrParameter, err)
	}
	if err := probability(d.Rat()); err != nil {
		return Calibration{}, fmt.Errorf("%w: delta %w", ErrParameter, err)
	}
	o := &openJob{at: -1, epsilon: e, delta: d}
	for i, text := range specs {
		s, open, err := parseStep(text, true)
		switch {
		case err != nil:
			return Calibration{}, err
		case open != "" && o.at >= 0:
			return Calibration{}, fmt.Errorf("%w: one parameter is open, not two", ErrParameter)
		case open != "":
			o.at, o.key = i, open
		}
		o.steps = append(o.steps, s)
	}
	if o.at < 0 {
		return Calibration{}, fmt.Errorf("%w: no parameter is open, as sigma=?", ErrParameter)
	}
	if _, err := NewJob(o.steps...); err != nil {
		return Calibration{}, err
	}
	return o.solve()
}

// openJob is a job with a parameter to find.
type openJob struct {
	steps   []Step
	at      int // the open step
	key     string
	epsilon privacy.Epsilon
	delta   privacy.Delta
}

// noise reports that more of the parameter loses less.
func (o *openJob) noise() bool { return o.key == "sigma" || o.key == "scale" }

// job is the job with the parameter x; nil where x is beyond its limits.
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

// vouches names the accountant by which x fits, or is "".
func (o *openJob) vouches(x *big.Rat) string {
	j := o.job(x)
	if j == nil {
		return ""
	}
	limit := exact.FloatDown(o.delta.Rat())
	if f := j.tally.pldDelta(o.epsilon); f.Told() && f.Value <= limit {
		return "pld"
	}
	if _, sampled := j.Relation(); sampled && j.tally.distributions().why == "" { // the others are hardly ever less, and take their time
		return ""
	}
	r, err := j.Delta(o.epsilon)
	if f, accountant := r.Least(); err == nil && f.Told() && f.Value <= limit {
		return accountant
	}
	return ""
}

// fits names the accountant by which x fits as a float and as the decimal that it is written as.
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

// solve goes from 1 to where the job fits, and back to where it does not, by powers of 16, and then halves the logarithm.
func (o *openJob) solve() (Calibration, error) {
	toward := 16.0 // where less is lost
	if !o.noise() {
		toward = 1.0 / 16
	}
	good, accountant := 1.0, o.fits(1)
	for accountant == "" {
		if good *= toward; o.job(new(big.Rat).SetFloat64(good)) == nil {
			return Calibration{}, fmt.Errorf("%w: whatever %s is, the job is not certified to keep the promise", ErrParameter, o.key)
		}
		accountant = o.fits(good)
	}
	bad := good / toward
	for a := o.fits(bad); a != ""; a = o.fits(bad) {
		good, accountant = bad, a
		bad /= toward
	}
	for range 100 {
		x := math.Sqrt(good) * math.Sqrt(bad)
		if x == good || x == bad || math.Abs(good-bad) <= calibrationStep/2*good {
			break
		}
		if a := o.fits(x); a != "" {
			good, accountant = x, a
		} else {
			bad = x
		}
	}
	c := Calibration{Mechanism: o.steps[o.at].kind.name, Parameter: o.key, Value: good, Accountant: accountant}
	for share := calibrationStep; share < 0.5; share *= 10 {
		x := good * (1 - share)
		if !o.noise() {
			x = good * (1 + share)
		}
		if o.misses(x) {
			c.TooLittle = new(big.Rat).SetFloat64(x)
			break
		}
	}
	return c, nil
}
