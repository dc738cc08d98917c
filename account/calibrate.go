package account

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/internal/exact"
	"dither/privacy"
)

// Target is the goal of a calibration: Count answers that are together (Epsilon, Delta)-differentially private.
// Each answers a query with the given sensitivity. If Sampling is set, each runs on a Poisson sample of the data
// with that rate.
type Target struct {
	Epsilon     privacy.Epsilon
	Delta       privacy.Delta
	Sensitivity *big.Rat // nil means 1
	Count       int64    // 0 means 1
	Sampling    *big.Rat // nil means that every answer reads all of the data
}

// Calibration is the result of a calibration: the least noise, or the largest other parameter, that meets the
// target.
type Calibration struct {
	Mechanism string
	Parameter string  // key of the calibrated parameter, such as "sigma" or "scale"
	Value     float64 // certified to keep the promise, both as a float and as its shortest decimal text
	// TooLittle is a value with more loss, such as less noise, that is certified to miss the target. It is nil if
	// none was found.
	TooLittle  *big.Rat
	Accountant string // name of the accountant that certifies Value
}

// Calibratable lists the mechanisms that Calibrate accepts.
func Calibratable() []string {
	return []string{"gaussian", "discrete-gaussian", "laplace", "discrete-laplace"}
}

// calibrationStep is the relative precision of the search.
const calibrationStep = 1e-6

// Calibrate finds the least noise with which a mechanism meets a target. The result is within a share of 10⁻⁶ of
// the least, as far as the accountants can certify. It is certified to keep the promise whatever the search did.
//
// Gaussian noise without sampling uses its own curve, because n answers with noise σ on one vector are equivalent
// to one answer with noise σ/√n [Balle & Wang 2018; GaussianSigma2]. Laplace noise at a δ of 0 uses its ε,
// amplified if it is sampled. All other mechanisms use the least figure of all accountants for the job.
//
// The results for gaussian and laplace hold for continuous noise and its post-processing, such as rounding if the
// values are integers. Discrete noise has another distribution, and other results. Discrete Laplace noise loses
// more than continuous noise of the same scale: between the multiples of 1/scale its δ is linear in e^ε, and the δ
// of continuous noise is below that line.
//
// Calibrate returns ErrParameter for a mechanism outside Calibratable, parameters beyond a spec's limits, or an ε
// of 0. For Gaussian noise it also does so for a δ of 0, or a δ that GaussianSigma2 refuses.
func Calibrate(mechanism string, t Target) (Calibration, error) {
	c, err := newCalibrator(mechanism, t)
	if err != nil {
		return Calibration{}, err
	}
	out := Calibration{Mechanism: mechanism, Parameter: c.step.kind.keys[0].name}
	var found float64
	switch {
	case c.pure() && t.Sampling == nil: // the exact result kΔ/ε
		found = exact.FloatUp(new(big.Rat).Quo(c.step.parameters["sensitivity"], c.share()))
	case c.pure():
		// amplified losses are rounded up to 17 digits, so aim at the largest such number
		found = floatAbove(c.leastScale(exact.FloorDigits(c.share(), 17)).Hi())
	case mechanism == "gaussian" && t.Sampling == nil:
		sigma2, err := GaussianSigma2(big.NewInt(1), t.Epsilon, t.Delta)
		if err != nil {
			return Calibration{}, fmt.Errorf("%w: %w", ErrParameter, err)
		}
		found = floatAbove(rootAbove(exact.IntervalOf(sigma2.Mul(sigma2, c.squares()), certainty).Hi()))
	default:
		if found, err = c.search(); err != nil {
			return Calibration{}, err
		}
	}
	for step := 0x1p-53; step < 0.1; step *= 2 { // add noise until the accountants' rounding no longer matters
		if out.Accountant = c.certifies(found); out.Accountant != "" {
			out.Value, out.TooLittle = found, c.tooLittle(found)
			return out, nil
		}
		found = math.Nextafter(found*(1+step), math.Inf(1))
	}
	return Calibration{}, errNoNoise
}

var errNoNoise = fmt.Errorf("%w: no noise was certified to keep the promise", ErrParameter)

// certifies returns the name of an accountant that certifies that noise x meets the target, both for the float x
// and for its shortest decimal text. It returns "" if no accountant does.
//
// Claim: except for discrete Gaussian noise, if the smaller of these two numbers meets the target, so does the
// larger. Proof. The larger noise is the smaller noise plus an independent random variable, so it is a
// post-processing. For Gaussian noise that variable is normal. For Laplace noise of scales b < b′ it is a mixture
// of 0 and Laplace noise of scale b′, because the ratio of the characteristic functions at t is (1+b²t²)/(1+b′²t²)
// = b²/b′² + (1−b²/b′²)/(1+b′²t²). Discrete Laplace noise of scale b has the characteristic function
// (1−p)²/(1+p²−2p·cos t) at p = e^(−1/b). For p < p′ the ratio of two such functions is (1−p′)²/(1−p)² times p/p′ +
// (1−p/p′)(1−pp′)/(1+p′²−2p′·cos t). So the variable is again a mixture of 0 and the larger noise. ∎ For discrete
// Gaussian noise this is not proved, so certifies tests both numbers.
func (c *calibrator) certifies(x float64) (accountant string) {
	itself := new(big.Rat).SetFloat64(x)
	text, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		return ""
	}
	less, more := itself, text
	if text.Cmp(itself) < 0 {
		less, more = text, itself
	}
	fits, accountant := c.fits(less)
	if fits && c.step.kind.name == "discrete-gaussian" {
		fits, accountant = c.fits(more)
	}
	if !fits {
		return ""
	}
	return accountant
}

// calibrator is a calibration in progress: a step whose noise parameter is to be found, and the target.
type calibrator struct {
	step   Step
	target Target
}

func newCalibrator(mechanism string, t Target) (*calibrator, error) {
	wrong := func(format string, args ...any) (*calibrator, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{ErrParameter}, args...)...)
	}
	if !slices.Contains(Calibratable(), mechanism) {
		return wrong("%q cannot be calibrated%s; these can: %s",
			mechanism, guess(mechanism, Calibratable()), strings.Join(Calibratable(), ", "))
	}
	k := kindNamed(mechanism)
	s := Step{kind: k, parameters: map[string]*big.Rat{"sensitivity": one}, count: max(t.Count, 1)}
	if t.Sensitivity != nil {
		if err := k.key("sensitivity").check(t.Sensitivity); err != nil {
			return wrong("sensitivity %v", err)
		}
		s.parameters["sensitivity"] = t.Sensitivity
	}
	if t.Count != 0 {
		if err := count(new(big.Rat).SetInt64(t.Count)); err != nil {
			return wrong("count %v", err)
		}
	}
	if t.Sampling != nil {
		if err := rate(t.Sampling); err != nil {
			return wrong("sampling %v", err)
		}
		s.sampling, s.scheme = t.Sampling, Poisson
	}
	if err := loss(t.Epsilon.Rat()); err != nil {
		return wrong("epsilon %v", err)
	}
	if err := probability(t.Delta.Rat()); err != nil {
		return wrong("delta %v", err)
	}
	if t.Delta.IsZero() && !strings.HasSuffix(mechanism, "laplace") {
		return wrong("Gaussian noise needs a delta above 0")
	}
	return &calibrator{s, t}, nil
}

// laplace reports whether the noise is Laplace noise, continuous or discrete.
func (c *calibrator) laplace() bool { return c.step.kind.keys[0].name == "scale" }

// squares returns kΔ², the squared L₂ sensitivity of all k answers together, where Δ is the sensitivity of one
// answer.
func (c *calibrator) squares() *big.Rat {
	s := c.step.parameters["sensitivity"]
	return new(big.Rat).Mul(new(big.Rat).Mul(s, s), new(big.Rat).SetInt64(c.step.count))
}

// job returns the job of the calibration with the noise parameter x.
func (c *calibrator) job(x *big.Rat) (*Job, error) {
	s := c.step
	s.parameters = map[string]*big.Rat{"sensitivity": s.parameters["sensitivity"], s.kind.keys[0].name: x}
	return NewJob(s)
}

// curve returns a lower and an upper bound of the δ of noise x, by the curve of Gaussian noise. ok is false for
// other mechanisms, and with sampling.
func (c *calibrator) curve(x *big.Rat) (lower, upper float64, ok bool) {
	if c.step.kind.name != "gaussian" || c.step.sampling != nil {
		return 0, 1, false
	}
	mu2 := new(big.Rat).Mul(x, x)
	lower, upper = GaussianDelta(mu2.Quo(c.squares(), mu2), c.target.Epsilon)
	return lower, upper, true
}

// delta returns an upper bound of the δ of noise x, and the name of the accountant that gives it.
func (c *calibrator) delta(x *big.Rat) (upper float64, accountant string) {
	if _, upper, ok := c.curve(x); ok {
		return upper, "the Gaussian's own curve"
	}
	j, err := c.job(x)
	if err != nil {
		return 1, ""
	}
	if c.pure() { // the sum of ε is the exact loss
		if f := j.tally.basicDelta(c.target.Epsilon); f.Told() {
			return f.Value, "basic"
		}
		return 1, ""
	}
	f, accountant, err := j.LeastDelta(c.target.Epsilon)
	if err != nil || !f.Told() {
		return 1, ""
	}
	return f.Value, accountant
}

// pure reports whether the noise is Laplace noise and the target's δ is 0.
func (c *calibrator) pure() bool { return c.laplace() && c.target.Delta.IsZero() }

// share returns the ε of each answer: the target's ε divided by the number of answers.
func (c *calibrator) share() *big.Rat {
	return new(big.Rat).Quo(c.target.Epsilon.Rat(), new(big.Rat).SetInt64(c.step.count))
}

// leastScale bounds the scale at which one answer's loss is e at a δ of 0. Let Δ be the sensitivity. Without
// sampling, that scale is Δ/e. With sampling at rate q it is Δ/ε₀, where ln(1 + q(e^ε₀−1)) = e
// [Approximate.Amplified]. This amplified loss is exact, because in the tails the densities of Laplace noise on two
// neighbours have the ratio e^ε₀.
func (c *calibrator) leastScale(e *big.Rat) exact.Interval {
	bits := certainty + zeros(e)
	local := exact.IntervalOf(e, bits)
	if q := c.step.sampling; q != nil {
		local = local.Expm1().Quo(exact.IntervalOf(q, bits)).Log1p()
	}
	return exact.IntervalOf(c.step.parameters["sensitivity"], bits).Quo(local)
}

// fits reports whether noise x is certified to keep the promise, and by which accountant.
func (c *calibrator) fits(x *big.Rat) (bool, string) {
	upper, accountant := c.delta(x)
	return accountant != "" && upper <= exact.FloatDown(c.target.Delta.Rat()), accountant
}

// misses reports whether noise x is certified to miss the target.
func (c *calibrator) misses(x *big.Rat) bool {
	limit := exact.FloatUp(c.target.Delta.Rat())
	if lower, _, ok := c.curve(x); ok {
		return lower > limit
	}
	// discrete noise too has the loss sensitivity/scale in each answer, and with a probability above 0 in all
	// answers at once
	if c.pure() {
		least, _ := c.leastScale(c.share()).Lo().Rat(nil)
		return x.Cmp(least) < 0
	}
	j, err := c.job(x)
	return err == nil && j.tally.pldDelta(c.target.Epsilon).Lower > limit
}

// tooLittle tries values below x, at increasing distances. It returns the first that is certified to miss the
// target, or nil.
func (c *calibrator) tooLittle(x float64) *big.Rat {
	for share := calibrationStep; share < 0.5; share *= 10 {
		if less := new(big.Rat).SetFloat64(x * (1 - share)); c.misses(less) {
			return less
		}
	}
	return nil
}

// search narrows down the least noise that meets the target. It starts from noise that basic composition certifies
// for Laplace noise, or zCDP for Gaussian noise.
func (c *calibrator) search() (float64, error) {
	var enough *big.Rat
	if c.laplace() {
		enough = new(big.Rat).Quo(c.step.parameters["sensitivity"], c.target.Epsilon.Rat())
		enough.Mul(enough, new(big.Rat).SetInt64(c.step.count))
	} else {
		rho, err := privacy.RhoFor(c.target.Epsilon, c.target.Delta)
		if err != nil || rho.IsZero() {
			return 0, fmt.Errorf("%w: no noise achieves this small a loss", ErrParameter)
		}
		sigma2 := new(big.Rat).Quo(c.squares(), rho.Times(2).Rat())
		enough, _ = rootAbove(exact.IntervalOf(sigma2, certainty).Hi()).Rat(nil)
	}
	high := exact.FloatUp(enough)
	for step := 0x1p-40; ; step *= 4 { // add noise until the rounding of these accountants no longer matters
		if ok, _ := c.fits(new(big.Rat).SetFloat64(high)); ok {
			break
		}
		if step > 1 {
			return 0, errNoNoise
		}
		high *= 1 + step
	}
	goal := math.Log(exact.FloatDown(c.target.Delta.Rat()))
	at := func(x float64) float64 {
		upper, _ := c.delta(new(big.Rat).SetFloat64(x))
		if upper == 0 { // meets any target
			return math.Inf(-1)
		}
		return math.Log(upper) - goal
	}
	low, above, under := high, 0.0, at(high)
	for above <= 0 {
		high, under = low, at(low)
		if low /= 2; low < 1e-18 {
			return high, nil // almost no noise suffices
		}
		above = at(low)
	}
	// Over short distances ln δ is nearly linear in the logarithm of the noise. So search for the root by false
	// position, in its Illinois form, on that logarithm.
	for round, side := 0, 0; high/low > 1+calibrationStep && round < 200; round++ {
		share := above / (above - under)
		if !(share > 0 && share < 1) || round%8 == 7 {
			share = 0.5
		}
		x := low * math.Exp(share*math.Log(high/low))
		if !(low < x && x < high) {
			x = low + (high-low)/2
		}
		if y := at(x); y <= 0 {
			high, under = x, y
			if side < 0 {
				above /= 2
			}
			side = -1
		} else {
			low, above = x, y
			if side > 0 {
				under /= 2
			}
			side = 1
		}
	}
	return high, nil
}
