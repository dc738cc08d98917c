package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Minimiser computes the minimum of an Objective as a vector of integers with a known sensitivity. Laplace or Gaussian
// noise is then added to the vector. This is output perturbation [Chaudhuri, Monteleoni & Sarwate 2011, Section 3.1; Wu
// et al. 2017], made exact for computed numbers. [Perturbed] has noise inside the objective. The solver's tolerance,
// its floating-point errors and the grid are part of the sensitivity, so the proof assumes nothing about the solver's
// path.
//
// J, Λ(n), n, N and ℓ are those of [Objective], and d is the number of coefficients. Let R be the bound on the norm of
// the predictors, m the most rows of a unit, and r the radius. Let s and b be the bounds on |ℓ′| and ℓ″ (curveOf). J is
// Λ(n)-strongly convex, Λ(n) ≥ Λ. (Λ and r are the given numbers, rounded down to float64.)
//
// Lemma 1. Claim: let θ and θ′ be the minima of J and J′ over the ball B, for neighbours. Their distance is at most Δ =
// (a·m·s·R + Λ·m·r/N)/Λ, where a = 1 under add-remove and a = 2 under change-one. It is also at most 2r. Proof. J is
// convex and differentiable on B, so ⟨∇J(θ), θ′ − θ⟩ ≥ 0 and ⟨∇J′(θ′), θ − θ′⟩ ≥ 0. By strong convexity, Λ‖θ − θ′‖² ≤
// ⟨∇J′(θ) − ∇J′(θ′), θ − θ′⟩ ≤ ⟨∇J′(θ) − ∇J(θ), θ − θ′⟩ ≤ ‖∇J′(θ) − ∇J(θ)‖·‖θ − θ′‖. The two gradients at θ differ by
// two terms. The first is the gradients of the rows that one dataset has and the other lacks: at most m rows of each
// dataset (of one dataset under add-remove), each with ‖ℓ′x‖ ≤ sR. The second is (Λ(n′) − Λ(n))θ, where |Λ(n′) − Λ(n)|
// ≤ Λ|n′ − n|/N, |n′ − n| ≤ m and ‖θ‖ ≤ r. ∎
//
// Lemma 2. Let β ≥ n·b·R² + Λ(n) and κ = β/Λ(n). Let T(θ) = P(θ − ∇J(θ)/β), where P is the projection on B. Claim: T
// contracts B by 1 − 1/κ, and its fixed point is the minimum θ*. So ‖θ − θ*‖ ≤ κ·‖θ − T(θ)‖. For a T̂ that is computed
// to within η of T, ‖θ − θ*‖ ≤ κ·‖θ − T̂(θ)‖ + κη. K steps of T̂ from any point of B end within (1 − 1/κ)^K·2r + κη of
// θ*. Proof. P is not expansive. ∇J(θ) − ∇J(φ) = H(θ − φ), where H is the mean of the Hessian along the segment. The
// eigenvalues of H are between Λ(n) and β, so those of I − H/β are between 0 and 1 − 1/κ. The rest is Banach's
// fixed-point theorem. ∎
//
// Lemma 3. Claim: κη ≤ E for every n, where E depends on public parameters alone. Proof. ℓ′ of a row is computed and
// rounded to a multiple of 2^-k. Its total error is at most e, which has three parts. First, z is a sum of d products
// and off by at most (d+2)·2^-52·r·R, and ℓ′ by b times that. Second, the operations for ℓ′ itself are off by 2^-46·(s
// + reach + |y|), if math.Exp has a relative error of at most 2^-47 (its error is at most 2^-52). Third, rounding is
// off by half a multiple of 2^-k. The products of these integers and the predictors' integers are added as integers:
// exactly, in any order. So the sum is off by at most n·e·R. Its conversion to float64 and the regulariser's term add
// at most 2^-50·Λ(n)·r (and a part of e). Divided by β, with κ/β = 1/Λ(n) ≤ 1/Λ and n/Λ(n) ≤ N/Λ, the error is N·R·e/Λ
// + 2^-50·r. The projection shortens every vector that is longer than (1 − 2^-42)·r to that length. The step and the
// projection are off by 2^-50·(s/(Rb) + 2r) + 2^-41·r, times κ ≤ N·b·R²/Λ + 1. ∎
//
// A minimum is accepted if κ·‖θ − T̂(θ)‖ ≤ t, where t is public. It is then within τ = t + E of the true minimum. The
// solver first tries Newton's method, then accelerated steps, each for a public number of passes over the rows. If
// neither result is accepted, it runs T̂ for the number of passes that Lemma 2 needs for t, which is also public. The
// method that succeeds affects the running time and nothing else, unless the time exceeds the limit for an answer: see
// Passes.
//
// Sensitivity: the minimum is rounded to integers in units of 2^Grid. Between neighbours these differ by at most (Δ +
// 2τ)/2^Grid + √d in L2 norm, and by √d times that in L1 norm, both rounded up. ∎
type Minimiser struct {
	objective Objective
	unit      mechanism.Unit
	d         int
	curve     curve

	r, lambda, bound float64 // the radius, Λ, and the bound R on the predictors' norm
	reach            int64   // the bound on the predictors' norm in grid units, and the exponent of their grid
	rowGrid          int
	slopeBits        int // k: slopes ℓ′ are rounded to multiples of 2^-k
	target, slack    float64
	passes, glides   int64   // the most passes of T̂ and of accelerated steps
	away             float64 // Δ, the distance between the minima of neighbours
	cap              int64   // the most that a predictor may be, in grid units, for [Perturbed]; 0 for no limit but the norm's
	grid             int
	l2               *big.Int
}

// maxMinimised is the largest number of coefficients. A Hessian has the square of that number of entries.
const maxMinimised = 256

// NewMinimiser computes everything that does not depend on rows. d is the number of predictors, bound is a bound on
// their norm, and u is the privacy unit. It returns ErrParameter for invalid parameters, and if the arithmetic
// would be too imprecise for them.
func NewMinimiser(o Objective, d int, bound *big.Rat, u mechanism.Unit) (*Minimiser, error) {
	if err := parameter.Unit(u.Neighbours, u.MaxRows); err != nil {
		return nil, err
	}
	if d < 1 || d > maxMinimised {
		return nil, fmt.Errorf("%w: the number of coefficients must be from 1 to %d",
			mechanism.ErrParameter, maxMinimised)
	}
	if bound == nil || bound.Sign() <= 0 || !parameter.Within(bound, 60) {
		return nil, fmt.Errorf("%w: the bound on the predictors' norm must be between 2^-60 and 2^60",
			mechanism.ErrParameter)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	c, err := o.curveOf(bound)
	if err != nil {
		return nil, err
	}
	m := &Minimiser{
		objective: o, unit: u, d: d, curve: c, r: exact.FloatDown(o.Radius),
		lambda: exact.FloatDown(o.Regularise),
	}
	m.rowGrid, m.reach = opaque.GridOf(bound, opaque.ReachBits)
	m.bound = math.Ldexp(float64(m.reach), m.rowGrid)
	_, e := math.Frexp(c.steep)
	m.slopeBits = slopeBits - e
	if err := m.tolerances(); err != nil {
		return nil, err
	}
	m.sensitivities()
	return m, nil
}

// slopeBits is the number of bits of an ℓ′ as an integer. A product with a predictor of 23 bits has 60 bits.
const slopeBits = 37

// tolerances evaluates the bounds of Lemmas 1 to 3 of [Minimiser]. All terms are positive, and each has few
// roundings. Each bound is increased by one part in 2^30, which is far more than the roundings.
func (m *Minimiser) tolerances() error {
	up := func(x float64) float64 { return x * (1 + 0x1p-30) }
	n, rows := float64(m.objective.Rows), float64(m.unit.MaxRows)
	c, R := &m.curve, m.bound
	times := 1.0
	if m.unit.Neighbours == privacy.ChangeOne {
		times = 2
	}
	m.away = min(up(rows*(times*c.steep*R/m.lambda+m.r/n)), up(2*m.r))
	e := c.bend*float64(m.d+2)*0x1p-52*m.r*R + 0x1p-46*(c.steep+c.reach+c.response) + math.Ldexp(1, -m.slopeBits-1)
	m.slack = up(n*R*e/m.lambda + 0x1p-50*m.r + m.kappa()*(0x1p-50*(c.steep/(R*c.bend)+2*m.r)+0x1p-41*m.r))
	return m.aim(m.away/1024, m.away/16)
}

// kappa returns N·b·R²/Λ + 1, in the notation of [Minimiser].
func (m *Minimiser) kappa() float64 {
	return float64(m.objective.Rows)*m.curve.bend*m.bound*m.bound/m.lambda + 1
}

// aim sets the target, which is t of [Minimiser], and the most passes that reach it. It returns ErrParameter if Lemma 3
// promises less than `most`.
func (m *Minimiser) aim(target, most float64) error {
	kappa := m.kappa()
	m.target = max(target, 2*m.slack)
	passes := (kappa*math.Log(2*m.r/m.target))*(1+0x1p-30) + 1
	if !(m.slack <= most) || !(passes <= 1e12) {
		return fmt.Errorf(
			"%w: the regulariser is too small for a sufficiently exact minimum over so many rows: make Λ larger, "+
				"or the bound on the predictors' norm smaller",
			mechanism.ErrParameter,
		)
	}
	m.passes = max(int64(passes), 1)
	m.glides = int64(math.Sqrt(kappa)*(2*math.Log(4*m.r/m.target)+3*math.Log(kappa))) + 1
	return nil
}

// sensitivities chooses the grid so that Δ + 2τ of [Minimiser] has 20 bits, and computes the L2 sensitivity in its
// units.
func (m *Minimiser) sensitivities() {
	total := (m.away + 2*(m.target+m.slack)) * (1 + 0x1p-30)
	_, e := math.Frexp(total)
	m.grid = e - 20
	l2 := math.Ceil(math.Ldexp(total, -m.grid)) + math.Ceil(math.Sqrt(float64(m.d)))
	m.l2 = big.NewInt(int64(l2))
}

// Objective returns the objective that m minimises.
func (m *Minimiser) Objective() Objective { return m.objective }

// Grid returns the exponent of the minimum's unit: its integers are in units of 2^Grid.
func (m *Minimiser) Grid() int { return m.grid }

// L2Squared returns the squared L2 sensitivity of the minimum, in squared units of the grid.
func (m *Minimiser) L2Squared() *big.Int { return new(big.Int).Mul(m.l2, m.l2) }

// L1 returns the L1 sensitivity of the minimum, in units of the grid: at most √d times the L2 sensitivity, for d
// coefficients.
func (m *Minimiser) L1() *big.Int {
	square := m.L2Squared()
	return ceilSqrt(square.Mul(square, big.NewInt(int64(m.d))))
}

func ceilSqrt(square *big.Int) *big.Int {
	root := new(big.Int).Sqrt(square)
	if new(big.Int).Mul(root, root).Cmp(square) < 0 {
		root.Add(root, big.NewInt(1))
	}
	return root
}

// Sensitivity returns the largest L2 distance between the minima of neighbours, before tolerances and rounding to
// the grid.
func (m *Minimiser) Sensitivity() float64 { return m.away }

// Tolerance returns the largest distance of the result from the true minimum, before rounding to the grid.
func (m *Minimiser) Tolerance() float64 { return m.target + m.slack }

// Passes returns the most times that the rows are read. It is a proven bound for all rows, and far above the usual
// number.
func (m *Minimiser) Passes() int64 { return m.passes + m.glides + newtonPasses }

// Tries returns the most times that Newton's method and accelerated steps together read the rows, before the
// projected gradient steps T̂ of [Minimiser] begin.
func (m *Minimiser) Tries() int64 { return m.glides + newtonPasses }

// Minimum returns the minimum over rows, in units of the grid. The error is ErrRows if the rows do not have the
// shape that m expects, or comes from reading the rows.
func (m *Minimiser) Minimum(ctx context.Context, rows *mechanism.Rows) ([]mechanism.Exact, error) {
	theta, err := m.solve(ctx, rows, nil)
	if err != nil {
		return nil, err
	}
	return m.onGrid(theta), nil
}

// onGrid rounds θ to the grid.
func (m *Minimiser) onGrid(theta []float64) []mechanism.Exact {
	out := make([]mechanism.Exact, m.d)
	for i, x := range theta {
		out[i] = mechanism.NewExact(big.NewInt(int64(math.RoundToEven(math.Ldexp(x, -m.grid)))))
	}
	return out
}
