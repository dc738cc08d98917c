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

// A Minimiser returns the minimum of an Objective as a vector of integers with a known sensitivity, to which Laplace or
// Gaussian then adds noise: output perturbation [Chaudhuri, Monteleoni & Sarwate 2011, Section 3.1; Wu et al. 2017],
// made exact for the numbers computed. Noise inside the objective would need the exact minimum of a continuous density.
// Here the solver's tolerance, its floating point and the grid are part of the sensitivity, so nothing is assumed about
// its path.
//
// Let R be the bound of the norm, m the rows of a unit at most, r the radius, and s, b the bounds of |ℓ′| and
// ℓ″ (curveOf). J is Λ(n)-strongly convex, Λ(n) ≥ Λ. (Λ and r are the doubles next to what is given.)
//
// Lemma 1: the minima θ, θ′ of J, J′ of neighbours over the ball B are at most Δ = (a·m·s·R + Λ·m·r/N)/Λ
// apart, where a = 1 under add/remove and 2 under change-one; and at most 2r. Proof. J is convex and differentiable on
// B, so that ⟨∇J(θ), θ′ − θ⟩ ≥ 0 and ⟨∇J′(θ′), θ − θ′⟩ ≥ 0. By strong convexity
// Λ‖θ − θ′‖² ≤ ⟨∇J′(θ) − ∇J′(θ′), θ − θ′⟩ ≤ ⟨∇J′(θ) − ∇J(θ), θ −
// θ′⟩ ≤ ‖∇J′(θ) − ∇J(θ)‖·‖θ − θ′‖. The two gradients at θ differ by those of the rows
// that one has and the other lacks, m in each at most (in one of them under add/remove), ‖ℓ′x‖ ≤ sR each; and
// by (Λ(n′) − Λ(n))θ, where |Λ(n′) − Λ(n)| ≤ Λ|n′ − n|/N, |n′ − n| ≤ m and ‖θ‖ ≤ r.
// ∎
//
// Lemma 2: let β ≥ n·b·R² + Λ(n), κ = β/Λ(n), and T(θ) = P(θ − ∇J(θ)/β), P the projection on B. T is
// a contraction of B by 1 − 1/κ, and its fixed point is the minimum θ*. So ‖θ − θ*‖ ≤ κ·‖θ −
// T(θ)‖, and with a T̂ that is computed to within η of T, ‖θ − θ*‖ ≤ κ·‖θ − T̂(θ)‖ + κη,
// and K steps of T̂ from any point of B end within (1 − 1/κ)^K·2r + κη of it. Proof. P is not expansive;
// ∇J(θ) − ∇J(φ) = H(θ − φ) with H the mean of the Hessian along the segment, of eigenvalues between Λ(n)
// and β; those of I − H/β are between 0 and 1 − 1/κ. The rest is Banach's. ∎
//
// Lemma 3: κη ≤ E, which the public parameters alone fix, whatever n. Proof. ℓ′ of a row is computed and
// rounded to a multiple of 2^-k within e of its true value: z is off by at most (d+2)·2^-52·r·R, a sum of d
// products; ℓ′ by b times that, and by 2^-46·(s + reach + |y|) for its own operations, math.Exp being right to
// 2^-47 of itself (it is to 2^-52); the rounding is half a multiple. Products of these integers and the predictors' are
// added up as integers: exactly, in any order. So the sum is off by at most n·e·R; its conversion to doubles and the
// regulariser's term by 2^-50·Λ(n)·r more (and a part of e). Divided by β, with κ/β = 1/Λ(n) ≤ 1/Λ and
// n/Λ(n) ≤ N/Λ, that is N·R·e/Λ + 2^-50·r. The step and the projection, which shortens what is not within a
// part in 2^42 of the ball so that it is inside, are off by 2^-50·(s/(Rb) + 2r) + 2^-41·r, times κ ≤ N·b·R²/Λ
// + 1. ∎
//
// A minimum is accepted where κ·‖θ − T̂(θ)‖ ≤ t, t public, and so is within τ = t + E of the true one.
// Newton's method is tried first, and then accelerated steps, each for a public number of passes; where what they find
// is not accepted, T̂ itself is run as often as Lemma 2 needs for t, a public number too. Which of them it was may
// show in the time that it took, and in nothing else, unless that time is more than an answer may take: see Passes.
//
// The minimum is rounded to integers in units of 2^Grid. Between neighbours these differ by at most (Δ + 2τ)/2^Grid +
// √d in L2, and by √d times that in L1, both rounded up. ∎
type Minimiser struct {
	objective Objective
	unit      mechanism.Unit
	d         int
	curve     curve

	r, lambda, bound float64 // the radius, Λ and R
	reach            int64   // the reach of rows, and their grid
	rowGrid          int
	slopeBits        int // k
	target, slack    float64
	passes, glides   int64   // the numbers of passes of T̂ and of accelerated steps
	away             float64 // Δ
	grid             int
	l2               *big.Int
}

// maxMinimised bounds the number of coefficients, because a Hessian has its square many entries.
const maxMinimised = 256

// NewMinimiser fixes everything public. d is the number of predictors, bound bounds their norm, and u is the unit of
// privacy. Invalid parameters, or parameters that leave nothing but rounding, are ErrParameter.
func NewMinimiser(o Objective, d int, bound *big.Rat, u mechanism.Unit) (*Minimiser, error) {
	if err := parameter.Unit(u.Neighbours, u.MaxRows); err != nil {
		return nil, err
	}
	if d < 1 || d > maxMinimised {
		return nil, fmt.Errorf("%w: a minimum has 1 to %d coefficients", mechanism.ErrParameter, maxMinimised)
	}
	if bound == nil || bound.Sign() <= 0 || !parameter.Within(bound, 60) {
		return nil, fmt.Errorf("%w: the norm of the predictors needs a bound between 2^-60 and 2^60",
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

// slopeBits is how large an ℓ′ is, as an integer: with a predictor's 23 bits a product has 60.
const slopeBits = 37

// tolerances are Lemmas 1 to 3 in numbers. All terms are positive, and the few roundings of each are far below the part
// in 2^30 that is added in the end.
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
	kappa := n*c.bend*R*R/m.lambda + 1
	m.slack = up(n*R*e/m.lambda + 0x1p-50*m.r + kappa*(0x1p-50*(c.steep/(R*c.bend)+2*m.r)+0x1p-41*m.r))
	m.target = max(m.away/1024, 2*m.slack)
	passes := up(kappa*math.Log(2*m.r/m.target)) + 1
	if !(m.slack <= m.away/16) || !(passes <= 1e12) {
		return fmt.Errorf(
			"%w: so weak a regulariser over so many rows cannot be minimised exactly enough: make Λ larger, or the norm's bound smaller",
			mechanism.ErrParameter,
		)
	}
	m.passes = max(int64(passes), 1)
	m.glides = int64(math.Sqrt(kappa)*(2*math.Log(4*m.r/m.target)+3*math.Log(kappa))) + 1
	return nil
}

// sensitivities are in units of a grid on which Δ + 2τ has 20 bits.
func (m *Minimiser) sensitivities() {
	total := (m.away + 2*(m.target+m.slack)) * (1 + 0x1p-30)
	_, e := math.Frexp(total)
	m.grid = e - 20
	l2 := math.Ceil(math.Ldexp(total, -m.grid)) + math.Ceil(math.Sqrt(float64(m.d)))
	m.l2 = big.NewInt(int64(l2))
}

// Objective is what it was made for.
func (m *Minimiser) Objective() Objective { return m.objective }

// Grid says what an integer of the minimum stands for: 2^Grid.
func (m *Minimiser) Grid() int { return m.grid }

// L2Squared is the square of the minimum's sensitivity, in squared units of the grid.
func (m *Minimiser) L2Squared() *big.Int { return new(big.Int).Mul(m.l2, m.l2) }

// L1 is its sensitivity in L1: at most √d times that in L2.
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

// Sensitivity is the largest L2 distance between the minima of neighbours, before tolerances and the grid.
func (m *Minimiser) Sensitivity() float64 { return m.away }

// Tolerance is the largest distance of the result from the true minimum.
func (m *Minimiser) Tolerance() float64 { return m.target + m.slack }

// Passes is the most times that the rows are read: a proven bound for all possible rows, and far above the usual number.
func (m *Minimiser) Passes() int64 { return m.passes + m.glides + newtonPasses }

// Tries is how often the rows are read at most before T̂ is run: by Newton's method, and by accelerated steps.
func (m *Minimiser) Tries() int64 { return m.glides + newtonPasses }

// Minimum returns the minimum over rows, on the grid. The error is the rows' own, or ErrRows if they are not those that
// it was made for.
func (m *Minimiser) Minimum(ctx context.Context, rows *mechanism.Rows) ([]mechanism.Exact, error) {
	theta, err := m.solve(ctx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]mechanism.Exact, m.d)
	for i, x := range theta {
		out[i] = mechanism.NewExact(big.NewInt(int64(math.RoundToEven(math.Ldexp(x, -m.grid)))))
	}
	return out, nil
}
