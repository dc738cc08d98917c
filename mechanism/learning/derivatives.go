package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Derivatives computes the gradient and the Hessian of a logistic risk at a public θ, without a regulariser: the sums
// over the rows of ℓ′·x and of ℓ″·xxᵀ (its lower triangle, row by row), where ℓ = ln(1 + eᶻ) − yz, z = θ·x, and y is
// clamped to [0, 1]. With noise, the two are a step of Newton's method.
//
// With a leverage V, the terms of a row are multiplied by its weight w, the smaller of 1 and V/‖x‖₂ [Mallows 1975]. So rows
// with large predictors need less noise. A weight depends on the predictors alone, so the gradient at the population's
// coefficients still has a mean of 0. Without one, V is R and each weight is 1.
//
// Claim: the sums have the sensitivities of Gradient and Hessian. Proof. Let R bound ‖x‖₂, and let C bound each |x_i|,
// C ≤ R. A row adds integers to each sum, in units of 2^Grid: the float64 products w·ℓ′·x_i or w·ℓ″·x_i·x_j, divided by the
// unit, truncated towards 0, and clamped to ±c. They are pure functions of the row and θ. So whatever the float64
// arithmetic does, no row adds more than c to a coordinate. For the L2 norm, ℓ′ is clamped to ±s and ℓ″ to [0, ¼] first,
// and w‖x‖₂ ≤ V. The computed ‖x‖₂ has a relative error of at most 2^-44, since it is the root of at most 256 squares that
// are added, and w one of 2^-43. The products have one of at most 2^-50 more, and neither truncating nor clamping
// increases their magnitude. So the gradient's integers have an L2 norm of at most s·V·(1 + 2^-40) units. Those of the
// Hessian have at most ¼·V·R·(1 + 2^-40) units, since the L2 norm of xxᵀ is ‖x‖₂² and the triangle is a part of xxᵀ. A unit
// has at most m rows. Under change-one they replace m other rows, so 2m rows differ. The sums are sums of integers, and
// exact. ∎
//
// Claim: under change-one the Hessian's L2 sensitivity is at most √2·m·¼VR + 4m√T units, for T entries. Proof. Let A and
// B be what the m rows of the two datasets add before rounding, and a·b the sum of products of the entries of two
// triangles. A and B are positive semidefinite, so 0 ≤ tr(AB) = 2a·b − Σ A_ii·B_ii, hence a·b ≥ 0 and ‖a − b‖² ≤ ‖a‖² +
// ‖b‖² ≤ 2(m·¼VR)². Truncating and the products' errors move each entry of a row by less than 2 units, and the 2m rows
// move the vector by less than 4m√T units. ∎
//
// s bounds |ℓ′| = |σ(z) − y| ≤ σ(|z|), since |z| ≤ min(‖θ‖₂·R, C·‖θ‖₁). At θ = 0 it is ½. The clamp makes it a bound
// that no rounding can break. c is s·min(C, V) or ¼·C·min(C, V), rounded up, because |x_i| ≤ ‖x‖₂.
type Derivatives struct {
	unit              mechanism.Unit
	theta             []float64
	rowGrid           int
	reach             int64   // the bound on the predictors' norm in grid units, and the exponent of their grid
	leverage          float64 // V; infinite without one
	steep             float64 // s
	gradient, hessian Summed
}

// Summed describes one of the sums of [Derivatives]: its integers are in units of 2^Grid. Between neighbours each of
// them changes by at most LInf, and all together by L2Squared in squared L2 norm.
type Summed struct {
	Grid      int
	LInf      *big.Int
	L2Squared *big.Int
	cap       int64
	fine      float64 // 2^-Grid
}

// NewDerivatives computes everything that does not depend on rows. The bound limits the norm of the predictors, and
// each the magnitude of every predictor. leverage is V, or nil. It returns ErrParameter for invalid parameters.
func NewDerivatives(theta []float64, bound, each, leverage *big.Rat, u mechanism.Unit) (*Derivatives, error) {
	if err := parameter.Unit(u.Neighbours, u.MaxRows); err != nil {
		return nil, err
	}
	limits := []*big.Rat{bound, each}
	if leverage != nil {
		limits = append(limits, leverage)
	}
	for _, b := range limits {
		if b == nil || b.Sign() <= 0 || !parameter.Within(b, 60) {
			return nil, fmt.Errorf("%w: the bounds on the predictors and their leverage must be between 2^-60 and 2^60",
				mechanism.ErrParameter)
		}
	}
	most := 0.0
	for _, x := range theta {
		most += math.Abs(x)
	}
	if len(theta) < 1 || len(theta) > maxMinimised || !(most <= 1e6) {
		return nil, fmt.Errorf("%w: θ must be a vector of 1 to %d numbers of magnitudes that add up to at most 10^6",
			mechanism.ErrParameter, maxMinimised)
	}
	d := &Derivatives{unit: u, theta: append([]float64(nil), theta...), leverage: math.Inf(1)}
	if leverage != nil {
		d.leverage, _ = leverage.Float64()
	}
	d.rowGrid, d.reach = opaque.GridOf(bound, opaque.ReachBits)
	// Shortening a row rounds its integers, so a predictor may exceed its own bound by a unit.
	norm2, c := math.Ldexp(float64(d.reach), d.rowGrid), 0.0
	c, _ = each.Float64()
	c = min(c*(1+0x1p-40)+math.Ldexp(1, d.rowGrid), norm2)
	z := min(norm(theta)*norm2, most*c) * (1 + 0x1p-30)
	d.steep = min(1/(1+math.Exp(-z))*(1+0x1p-40), 1)
	weighed := min(d.leverage, norm2) // the bound on w‖x‖₂
	d.gradient = d.summed(d.steep*min(c, weighed), d.steep*weighed, 2, 0)
	entries := float64(len(theta)*(len(theta)+1)) / 2
	d.hessian = d.summed(c*min(c, weighed)/4, weighed*norm2/4, math.Sqrt2, 4*math.Sqrt(entries))
	return d, nil
}

// summed returns the sensitivities of a sum to which a row adds at most `each` to a coordinate, and at most `all` in L2
// norm. Under change-one, the L2 sensitivity is `times` that of one row, and `more` units, for each row of a unit.
func (d *Derivatives) summed(each, all, times, more float64) Summed {
	each, all = each*(1+0x1p-40), all*(1+0x1p-40)
	_, e := math.Frexp(each)
	s := Summed{Grid: e - curvatureBits, fine: math.Ldexp(1, curvatureBits-e)}
	s.cap = int64(math.Ceil(each * s.fine))
	s.LInf = big.NewInt(s.cap)
	units := all * s.fine
	if d.unit.Neighbours == privacy.ChangeOne {
		s.LInf.Lsh(s.LInf, 1)
		units = (units*times + more) * (1 + 0x1p-40)
	}
	rows := big.NewInt(d.unit.MaxRows)
	s.LInf.Mul(s.LInf, rows)
	l2, _ := big.NewFloat(math.Ceil(units)).Int(nil)
	l2.Mul(l2, rows)
	s.L2Squared = l2.Mul(l2, l2)
	return s
}

// Theta returns a copy of θ.
func (d *Derivatives) Theta() []float64 { return append([]float64(nil), d.theta...) }

// Gradient describes the gradient's sum.
func (d *Derivatives) Gradient() Summed { return d.gradient.copied() }

// Hessian describes the Hessian's sum.
func (d *Derivatives) Hessian() Summed { return d.hessian.copied() }

func (s Summed) copied() Summed {
	s.LInf, s.L2Squared = new(big.Int).Set(s.LInf), new(big.Int).Set(s.L2Squared)
	return s
}

// term returns what a row adds to a coordinate.
func (s *Summed) term(x float64) int64 { return min(max(int64(x*s.fine), -s.cap), s.cap) }

// Sums returns the gradient and the Hessian. The error is ErrRows, or comes from reading the rows.
func (d *Derivatives) Sums(ctx context.Context, rows *mechanism.Rows) (gradient, hessian []mechanism.Exact, err error) {
	k := len(d.theta)
	in, err := opaque.OpenRows(rows, k)
	if err != nil {
		return nil, nil, err
	}
	if in.Reach() != d.reach || in.Grid() != d.rowGrid || in.Most() > d.unit.MaxRows {
		return nil, nil, mechanism.ErrRows
	}
	loss := curve{kind: LogisticLoss, steep: d.steep, bend: 0.25}
	workers, size := runtime.GOMAXPROCS(0), k*(k+1)/2
	sums, integers, x := make([][]sum128, workers), make([][]int64, workers), make([][]float64, workers)
	for w := range workers {
		sums[w], integers[w], x[w] = make([]sum128, k+size), make([]int64, k), make([]float64, k)
	}
	unit := math.Ldexp(1, d.rowGrid)
	err = in.Each(ctx, workers, func(w int, records []byte) {
		x, sums := x[w], sums[w]
		for ; len(records) > 0; records = records[in.Record():] {
			y := in.Decode(records, integers[w], x, unit)
			_, first, second := loss.at(dot(d.theta, x), y)
			weight := min(1, d.leverage/norm(x))
			first, second = weight*first, weight*second
			n := k
			for i := range x {
				sums[i].add(d.gradient.term(first * x[i]))
				for j := range i + 1 {
					sums[n].add(d.hessian.term(second * x[i] * x[j]))
					n++
				}
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	out := make([]mechanism.Exact, k+size)
	for i := range out {
		total := sum128{}
		for w := range sums {
			total.plus(sums[w][i])
		}
		out[i] = mechanism.NewExact(total.integer())
	}
	return out[:k], out[k:], nil
}
