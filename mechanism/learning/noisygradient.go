package learning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"sync"

	"dither/internal/entropy"
	"dither/internal/gradient"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Model is a model to train. A closed formula of this project computes its gradient at a row, so no external code
// sees a row.
type Model = gradient.Model

// NewModel returns a model of the named kind. Model.Check reports whether it is valid.
func NewModel(kind string, features, classes, hidden int, activation string) Model {
	return Model{
		Kind: gradient.Kind(kind), Features: features, Classes: classes, Hidden: hidden,
		Activation: activation,
	}
}

// NoisyGradient is a step of private gradient descent: it samples units, clips each unit's gradient, adds the
// gradients up, and adds noise [Song, Chaudhuri & Sarwate 2013; Abadi et al. 2016].
//
// Claim: under add-remove, a step is a Poisson-subsampled Gaussian mechanism with the rate Rate and the noise
// multiplier Multiplier. So an accountant's bound for that mechanism holds for any number of steps, and the
// parameters θ of a step may depend on all earlier releases (trainprice).
//
// Proof. (1) Each unit is sampled with probability Rate, exactly and independently of everything else: a uniform
// integer below the rate's denominator is below its numerator. (2) A unit contributes a vector of integers that
// depends only on its own rows, the model and θ. The gradients of its rows are added in float64, in an order that
// depends only on the rows' contents, and scaled down to a norm of about Clip. The sum is rounded. The integer
// vector is then scaled down until its squared norm, an integer, is at most c² (opaque.Shorten). If a float64
// overflows, the unit contributes 0. So the L2 norm is at most c, whatever the rounding errors are. (3) The
// contributions are added as integers: exactly, in any order. (4) The noise on each coordinate is round(σN), where
// σ = Multiplier·c and N is standard normal, drawn exactly (noise.RoundedGaussian). Since the sum S is a vector of
// integers, S + round(σN) = round(S + σN). So the release is a function of the release of the continuous Gaussian
// mechanism on the same sample, which has sensitivity c and μ = c/σ = 1/Multiplier. ∎
//
// The step neither uses nor releases the number of units or of sampled units: it does not divide the sum.
type NoisyGradient struct {
	Model      Model
	Clip       *big.Rat // the bound on the norm of a unit's contribution, in the gradient's unit
	Rate       *big.Rat // the probability of sampling a unit, above 0 and at most 1, with a denominator below 2^63
	Multiplier *big.Rat // the noise's standard deviation divided by Clip
}

// clipBits is the number of bits of c, the clip in grid units. c is between 2^20 and 2^21, so that a sum over 2^32
// units fits in 64 bits, and rounding is far below the noise.
const clipBits = 21

func (m NoisyGradient) check() error {
	if err := m.Model.Check(); err != nil {
		return fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	if m.Clip == nil || m.Clip.Sign() <= 0 || !parameter.Within(m.Clip, 60) {
		return fmt.Errorf("%w: the clip must be between 2^-60 and 2^60", mechanism.ErrParameter)
	}
	return m.CheckSampling()
}

// CheckSampling checks Multiplier and Rate, the parameters that an accountant uses. The error is
// mechanism.ErrParameter.
func (m NoisyGradient) CheckSampling() error {
	if m.Multiplier == nil || m.Multiplier.Sign() <= 0 || !parameter.Within(m.Multiplier, 20) {
		return fmt.Errorf("%w: the noise multiplier must be between 2^-20 and 2^20",
			mechanism.ErrParameter)
	}
	if m.Rate == nil || m.Rate.Sign() <= 0 || m.Rate.Cmp(big.NewRat(1, 1)) > 0 || m.Rate.Denom().BitLen() > 63 {
		return fmt.Errorf("%w: the sampling rate must be above 0 and at most 1, with a denominator below 2^63",
			mechanism.ErrParameter)
	}
	return nil
}

// Grid returns the exponent of the unit of a step's integers, 2^grid, and the clip c in that unit, or ErrParameter.
func (m NoisyGradient) Grid() (grid int, clip int64, err error) {
	if err := m.check(); err != nil {
		return 0, 0, err
	}
	grid, clip = opaque.GridOf(m.Clip, clipBits)
	return grid, clip, nil
}

// Noise returns the distribution of the noise on each coordinate.
func (m NoisyGradient) Noise() (noise.RoundedGaussian, error) {
	_, clip, err := m.Grid()
	if err != nil {
		return noise.RoundedGaussian{}, err
	}
	sigma := new(big.Rat).Mul(m.Multiplier, new(big.Rat).SetInt64(clip))
	return noise.NewRoundedGaussian(sigma.Mul(sigma, sigma))
}

// Step releases one step at θ. The Loss of the result ignores sampling, as if Rate were 1. Package trainprice
// accounts for sampling. The error is ErrParameter, ErrRows, or comes from reading the rows.
func (m NoisyGradient) Step(ctx context.Context, rows *mechanism.Rows, theta []float64) (mechanism.Measurement, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.step(ctx, source, rows, theta)
}

func (m NoisyGradient) step(
	ctx context.Context, src *entropy.Source, rows *mechanism.Rows, theta []float64,
) (mechanism.Measurement, error) {
	dist, err := m.Noise()
	if err != nil {
		return mechanism.Measurement{}, err
	}
	for _, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return mechanism.Measurement{}, fmt.Errorf("%w: θ must hold finite numbers only", mechanism.ErrParameter)
		}
	}
	if len(theta) != m.Model.Parameters() {
		return mechanism.Measurement{}, fmt.Errorf("%w: θ has %d numbers, but the model has %d parameters",
			mechanism.ErrParameter, len(theta), m.Model.Parameters())
	}
	in, err := opaque.OpenRows(rows, m.Model.Features)
	if err != nil {
		return mechanism.Measurement{}, err
	}
	sum, err := m.sum(ctx, src, in, theta)
	if err != nil {
		return mechanism.Measurement{}, err
	}
	two := new(big.Rat).Mul(m.Multiplier, m.Multiplier)
	rho, err := privacy.RhoOf(two.Inv(two.Add(two, two)))
	if err != nil {
		return mechanism.Measurement{}, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	out := mechanism.Measurement{
		Values: make([]*big.Int, len(sum)), Noise: dist,
		Loss: privacy.ZCDPLoss(rho, privacy.Delta{}),
	}
	noisy := sample.NewRoundedGaussian(dist.Sigma2())
	for i, s := range sum {
		z := noisy.Draw(src, new(big.Int))
		out.Values[i] = z.Add(z, big.NewInt(s))
	}
	return out, nil
}

// batchUnits is the number of sampled units that a worker gets at a time.
const batchUnits = 1024

// sum returns the sum of the contributions of a sample of the units.
func (m NoisyGradient) sum(
	ctx context.Context, src *entropy.Source, in *opaque.Reader, theta []float64,
) ([]int64, error) {
	adders := make([]*adder, runtime.GOMAXPROCS(0))
	batches := make(chan []int64, len(adders))
	var all sync.WaitGroup
	for i := range adders {
		adders[i] = m.adder(in, theta)
		all.Go(func() {
			for batch := range batches {
				adders[i].add(batch)
			}
		})
	}
	batch := make([]int64, 0, batchUnits)
	err := m.sampled(ctx, src, in.Units(), func(unit int64) {
		if batch = append(batch, unit); len(batch) == batchUnits {
			batches <- batch
			batch = make([]int64, 0, batchUnits)
		}
	})
	batches <- batch
	close(batches)
	all.Wait()
	out := make([]int64, len(theta))
	for _, a := range adders {
		err = errors.Join(err, a.err)
		for i, v := range a.total {
			out[i] += v
		}
	}
	return out, err
}

// sampled calls the function take for each of the units with probability Rate, independently, in increasing order.
//
// Let 2^-k be the least power of two that is at least Rate. A unit must pass k fair coins, which are tossed for 64
// units at a time, and then a coin of probability Rate·2^k. That last coin draws a uniform integer below the
// denominator and tests whether it is below numerator·2^k, which is at most the denominator.
func (m NoisyGradient) sampled(ctx context.Context, src *entropy.Source, units int64, take func(unit int64)) error {
	numerator, denominator := m.Rate.Num().Uint64(), m.Rate.Denom().Uint64()
	coins := 0
	for ; numerator <= denominator/2; coins++ {
		numerator *= 2
	}
	for from := int64(0); from < units; from += 64 {
		if from%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		left := ^uint64(0)
		for i := 0; i < coins && left != 0; i++ {
			left &= src.Uint64()
		}
		for ; left != 0; left &= left - 1 {
			unit := from + int64(bits.TrailingZeros64(left))
			if unit < units && (numerator == denominator || src.Below64(denominator) < numerator) {
				take(unit)
			}
		}
	}
	return nil
}

// adder accumulates the sum of one goroutine.
type adder struct {
	rows     *opaque.Reader
	theta    []float64
	model    Model
	scratch  *gradient.Scratch
	unit     float64 // the value of one unit of the rows' grid
	fine     float64 // the reciprocal of the value of one unit of the gradient's grid
	clip     int64
	integers []int64
	x, g     []float64
	z, total []int64
	records  []byte
	err      error
}

func (m NoisyGradient) adder(in *opaque.Reader, theta []float64) *adder {
	grid, clip := opaque.GridOf(m.Clip, clipBits)
	d, p := m.Model.Features, len(theta)
	return &adder{
		rows: in, theta: theta, model: m.Model, scratch: m.Model.NewScratch(), unit: math.Ldexp(1, in.Grid()),
		fine: math.Ldexp(1, -grid), clip: clip,
		integers: make([]int64, d), x: make([]float64, d), g: make([]float64, p), z: make([]int64, p),
		total: make([]int64, p),
	}
}

// nearBytes is the largest range of stored records, in bytes, that add reads at once.
const nearBytes = 1 << 20

// add adds the contributions of the given units, which are in increasing order.
func (a *adder) add(units []int64) {
	if len(units) == 0 || a.err != nil {
		return
	}
	first, _ := a.rows.Span(units[0])
	_, last := a.rows.Span(units[len(units)-1])
	together := a.rows.Stored() && (last-first)*int64(a.rows.Record()) <= nearBytes
	var all []byte
	if together {
		all, a.err = a.rows.Read(first, last, a.records)
		a.records = all
	}
	for _, u := range units {
		if a.err != nil {
			return
		}
		from, to := a.rows.Span(u)
		var records []byte
		if together {
			records = all[(from-first)*int64(a.rows.Record()) : (to-first)*int64(a.rows.Record())]
		} else if records, a.err = a.rows.Read(from, to, a.records); a.rows.Stored() {
			a.records = records
		}
		a.contribute(records)
		for i, v := range a.z {
			a.total[i] += v
		}
	}
}

// contribute sets z to the contribution of a unit with the given records: see NoisyGradient.
func (a *adder) contribute(records []byte) {
	clear(a.g)
	for ; len(records) > 0; records = records[a.rows.Record():] {
		y := a.rows.Decode(records, a.integers, a.x, a.unit)
		a.model.Add(a.theta, a.x, y, a.g, a.scratch)
	}
	length := norm(a.g) * a.fine
	if math.IsNaN(length) || math.IsInf(length, 0) {
		clear(a.z)
		return
	}
	scale, c := a.fine, float64(a.clip)
	if length > c {
		scale *= c / length
	}
	for i, g := range a.g {
		a.z[i] = int64(min(max(math.RoundToEven(g*scale), -c), c))
	}
	opaque.Shorten(a.z, a.clip)
}
