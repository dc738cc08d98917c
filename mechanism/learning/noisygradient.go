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

// Model is a model to train. Its gradient at a row is a closed formula of this project, so no foreign code sees a row.
type Model = gradient.Model

// NewModel returns a model by the name of its kind; Check reports whether it is valid.
func NewModel(kind string, features, classes, hidden int, activation string) Model {
	return Model{
		Kind: gradient.Kind(kind), Features: features, Classes: classes, Hidden: hidden,
		Activation: activation,
	}
}

// NoisyGradient is one kind of training step: a sample of the units, the sum of their gradients, each clipped, and
// noise [Song, Chaudhuri & Sarwate 2013; Abadi et al. 2016].
//
// A step is a Poisson-subsampled Gaussian mechanism of rate Rate and noise multiplier Multiplier under add/remove, so
// that what is certified of that one holds of any number of steps, whose parameters θ may depend on all that was
// released before (trainprice). Proof. (1) Each unit is taken with probability Rate, exactly and independently of
// everything: a uniform integer below the rate's denominator is below its numerator. (2) What a unit adds is a vector
// of integers that is a function of its own rows, the model and θ: the gradients of its rows, in an order that is that
// of their contents, are added up in doubles, and scaled down to about Clip; rounded; and the integer vector is scaled
// down until its squared norm, an integer, is at most c² (shorten). Where a double overflows, it adds nothing. So
// whatever doubles did, its L2 norm is at most c. (3) These are added up as integers: exactly, in any order. (4) The
// noise on each coordinate is the integer next to σN, σ = Multiplier·c, N standard normal, exactly
// (noise.RoundedGaussian). Since the sum S is a vector of integers, S + round(σN) = round(S + σN): the release is a
// function of that of the continuous Gaussian mechanism of the same sample, whose sensitivity is c and whose μ is c/σ
// = 1/Multiplier. ∎
//
// Neither the number of units nor that of those taken is used, or released: the sum is not divided by it.
type NoisyGradient struct {
	Model      Model
	Clip       *big.Rat // the bound on the norm of a unit's contribution, in the gradient's unit
	Rate       *big.Rat // q, above 0 and at most 1, with a denominator below 2^63
	Multiplier *big.Rat // z
}

// clipBits: c is between 2^20 and 2^21 units of the grid, so that a sum over 2^32 units stays within 64 bits, and
// rounding far below the noise.
const clipBits = 21

func (m NoisyGradient) check() error {
	if err := m.Model.Check(); err != nil {
		return fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	if m.Clip == nil || m.Clip.Sign() <= 0 || !parameter.Within(m.Clip, 60) {
		return fmt.Errorf("%w: the clip must be above 0, and between 2^-60 and 2^60", mechanism.ErrParameter)
	}
	return m.CheckSampling()
}

// CheckSampling checks the parameters that an accountant uses, the noise and the rate. The error is
// mechanism.ErrParameter.
func (m NoisyGradient) CheckSampling() error {
	if m.Multiplier == nil || m.Multiplier.Sign() <= 0 || !parameter.Within(m.Multiplier, 20) {
		return fmt.Errorf("%w: the noise multiplier must be above 0, and between 2^-20 and 2^20",
			mechanism.ErrParameter)
	}
	if m.Rate == nil || m.Rate.Sign() <= 0 || m.Rate.Cmp(big.NewRat(1, 1)) > 0 || m.Rate.Denom().BitLen() > 63 {
		return fmt.Errorf("%w: the sampling rate must be above 0, and at most 1, with a denominator below 2^63",
			mechanism.ErrParameter)
	}
	return nil
}

// Grid says what an integer of a step stands for, 2^Grid, and c; or ErrParameter.
func (m NoisyGradient) Grid() (grid int, clip int64, err error) {
	if err := m.check(); err != nil {
		return 0, 0, err
	}
	grid, clip = opaque.GridOf(m.Clip, clipBits)
	return grid, clip, nil
}

// Noise is the noise on each coordinate.
func (m NoisyGradient) Noise() (noise.RoundedGaussian, error) {
	_, clip, err := m.Grid()
	if err != nil {
		return noise.RoundedGaussian{}, err
	}
	sigma := new(big.Rat).Mul(m.Multiplier, new(big.Rat).SetInt64(clip))
	return noise.NewRoundedGaussian(sigma.Mul(sigma, sigma))
}

// Step releases one step at θ. Its Loss is that of a step of which every unit is taken; package trainprice accounts
// for samples. The error is ErrParameter, ErrRows, or the rows' own.
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
			return mechanism.Measurement{}, fmt.Errorf("%w: θ holds what is no number", mechanism.ErrParameter)
		}
	}
	if len(theta) != m.Model.Parameters() {
		return mechanism.Measurement{}, fmt.Errorf("%w: θ is %d numbers, and the model has %d parameters",
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

// batchUnits is how many sampled units a worker gets at a time.
const batchUnits = 1024

// sum adds up the contributions of a sample of the units.
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

// sampled takes each of n units with probability Rate, independently, in increasing order.
//
// With 2^-k the least power of two that is at least Rate, a unit passes k fair coins, those of 64 units at a time, and
// then one of Rate·2^k: a uniform integer below the denominator is below numerator·2^k, which is at most the
// denominator.
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

// adder accumulates one goroutine's sum.
type adder struct {
	rows     *opaque.Reader
	theta    []float64
	model    Model
	scratch  *gradient.Scratch
	unit     float64 // of the rows' grid
	fine     float64 // 1 over the gradient's
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

// nearBytes is the largest distance of units that are read together.
const nearBytes = 1 << 20

// add adds the contributions of some units, in increasing order.
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

// contribute leaves in z the contribution of a unit with these records: see NoisyGradient.
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
