package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Perturbed computes the minimum of a logistic [Objective] to which a random linear term is added: objective
// perturbation [Chaudhuri, Monteleoni & Sarwate 2011; Kifer, Smith & Thakurta 2012], for minima that are computed, not
// exact. Under a pure ε its error is about half of that of noisy steps from θ = 0, since one release pays for the whole
// minimum.
//
// J, Λ(n), n and N are those of [Objective], and d, R, m, r and Λ those of [Minimiser]. Each predictor is clamped to
// ±C, and a is 1 under add-remove and 2 under change-one. Let
//
//	Δ = a·m·C + Λ·m·r/N   and   ε_J = m·ln(1 + R²/(4Λ)) + d·ln(1 + m/N).
//
// b is a vector of d numbers with density proportional to exp(−‖b‖∞·ε₁/Δ), and θ* the minimum of J(θ) + ⟨b, θ⟩ over the
// ball of radius r. The released numbers are a computed θ* on a grid, with the noise of [mechanism.Cube] at ε₂.
//
// Claim: the release is (ε₁ + ε_J + ε₂)-differentially private, for any solver whose result is within Lemmas 2 and 3 of
// [Minimiser] of the minimum.
//
// Lemma 1. Claim: let X be the set of the θ inside the ball, and of the pairs (θ, λ) of a θ on the sphere and a λ > 0.
// Apart from b of probability 0, each b belongs to one x in X, whose θ is θ*, and each x to one b: b = −∇J(θ) − λθ,
// where λ = 0 inside. Proof. J is strictly convex, so θ* is unique. It is the θ at which −∇J(θ) − b is 0, or is λθ on
// the sphere for a λ ≥ 0. The b whose θ* is on the sphere with λ = 0 are the image of a sphere under a smooth map, and
// have volume 0. ∎
//
// Lemma 2. Claim: for neighbours, the densities p and p′ of x satisfy p ≤ exp(ε₁ + ε_J)·p′. Proof. Let f be the density
// of b, and H the Hessian Σ ℓ″xxᵀ of the rows. Inside, p(x) = f(b)·det(H + Λ(n)I). On the sphere, the derivative of
// −∇J(θ) − λθ along a tangent v is −(H + (Λ(n) + λ)I)v, and along λ it is −θ, which is normal to the sphere and of
// length r. So p(x) = f(b)·r·det(H_T + (Λ(n) + λ)I), where H_T is H restricted to the tangents. Let b and b′ belong to
// the same x. They differ by the gradients at θ of at most m rows of each dataset (of one under add-remove), and by
// (Λ(n′) − Λ(n))θ. Each number of a gradient is ℓ′·x_i with |ℓ′| ≤ 1 and |x_i| ≤ C. Under change-one m rows of each
// differ. And |Λ(n′) − Λ(n)| ≤ Λm/N, |θ_i| ≤ r. So ‖b − b′‖∞ ≤ Δ, and f(b) ≤ exp(ε₁)·f(b′). For the determinants, let
// H₀ be the Hessian of the rows that both have: H = H₀ + A and H′ = H₀ + A′, where A and A′ are sums of at most m terms
// ℓ″xxᵀ with 0 ≤ ℓ″ ≤ ¼. Adding one such term to a matrix M ≥ ΛI multiplies its determinant by 1 + ℓ″xᵀM⁻¹x, which is
// between 1 and 1 + R²/(4Λ). Hence
//
//	det(H + Λ(n)I) ≤ (1 + R²/(4Λ))ᵐ·det(H₀ + Λ(n)I) ≤ (1 + R²/(4Λ))ᵐ·max(1, Λ(n)/Λ(n′))ᵈ·det(H₀ + Λ(n′)I),
//
// and the last determinant is at most that of H′ + Λ(n′)I. If Λ(n) > Λ(n′), then n > N and Λ(n)/Λ(n′) ≤ 1 + m/N: it is
// n/n′ if n′ ≥ N, where n ≤ n′ + m; else it is n/N ≤ (n′ + m)/N < 1 + m/N. The same holds for the restrictions to
// tangents, and with λ added to Λ(n) and Λ(n′), which brings their ratio closer to 1. ∎
//
// Lemma 3. Claim: the computed θ is within η of θ*, where η depends on public parameters alone. Proof. The solver gets
// the integers b̂ in place of b, in units of g = 2^(rowGrid − slopeBits), with |b̂_i − b_i| < g (sample.RealCube). A
// linear term that differs by at most √d·g moves the minimum of a Λ-strongly convex function over a ball by at most
// √d·g/Λ, as in Lemma 1 of Minimiser. Lemma 2 of Minimiser holds for J + ⟨b̂, ·⟩, which has the same Hessian. For Lemma
// 3 of Minimiser, b̂ is added to the sums of gradients as integers. What is new is that s may be long. Its conversion
// to float64 and the three roundings of a step are off by at most 2^-52·‖s‖/β and 3·2^-53·(‖s‖/β + 2r). If ‖s‖/β ≤ 4r,
// that moves T̂ by less than 2^-48·r. Else the vector w that T̂ projects has ‖w‖ ≥ ¾‖s‖/β, and ends at r·w/‖w‖, which
// moves by at most 2r times that over ‖w‖, again less than 2^-48·r. An s beyond 2^400 units is shortened, which turns w
// by less than 2^-80, since ‖s‖/β stays above 2^90·r. So κη of that lemma grows by less than κ·2^-48·r. ∎
//
// Proof of the claim. Let x be in X. Under either dataset, whatever else is random, the computed θ is within η of the θ
// of x. So two computed θ for the same x, rounded to the grid, differ in each coordinate by at most 2η/2^Grid + 1
// units. By the proof of Cube, the probabilities of any released vector given x differ by a factor of at most exp(ε₂).
// Integrating over x with the densities of Lemma 2 gives the claim. ∎
//
// All bounds are rounded up, and ε₁ is what they leave of the given ε, exactly.
type Perturbed struct {
	m      *Minimiser
	inner  privacy.Epsilon // ε₁ + ε_J
	outer  privacy.Epsilon // ε₂
	apart  *big.Rat        // Δ, in units of g
	scale  *big.Rat        // Δ/ε₁, in units of g
	output Summed
}

// outerShare is the part of ε that pays for the solver's tolerance, which is made so small that its noise is.
const outerShare = 64

// NewPerturbed computes everything that does not depend on rows. e is the price of the coefficients. The bound limits
// the norm of the predictors, and each the magnitude of every predictor. It returns ErrParameter for invalid
// parameters, for losses other than the logistic one, and if Λ is so small that it takes more than half of the price.
func NewPerturbed(o Objective, d int, bound, each *big.Rat, u mechanism.Unit, e privacy.Epsilon) (*Perturbed, error) {
	if o.Loss != LogisticLoss {
		return nil, fmt.Errorf("%w: noise inside the objective needs the loss %q, not %q", mechanism.ErrParameter, LogisticLoss, o.Loss)
	}
	if err := parameter.Epsilon(e); err != nil {
		return nil, err
	}
	m, err := NewMinimiser(o, d, bound, u)
	if err != nil {
		return nil, err
	}
	if each == nil || each.Sign() <= 0 || !parameter.Within(each, 60) || m.r > maxPerturbed {
		return nil, fmt.Errorf("%w: the bound on each predictor must be between 2^-60 and 2^60, and the radius at most %g",
			mechanism.ErrParameter, float64(maxPerturbed))
	}
	unit := math.Ldexp(1, m.rowGrid)
	m.cap = int64(min(math.Ceil(exact.FloatUp(each)/unit), float64(m.reach)))
	up := func(x float64) float64 { return x * (1 + 0x1p-30) }
	n, rows, times := float64(o.Rows), float64(u.MaxRows), 1.0
	if u.Neighbours == privacy.ChangeOne {
		times = 2
	}
	apart := up(times*rows*float64(m.cap)*unit + m.lambda*rows*m.r/n)
	lost := up(rows*exact.LogUp(up(1+m.bound*m.bound/(4*m.lambda))) + float64(d)*exact.LogUp(up(1+rows/n)))
	p := &Perturbed{m: m, outer: e.Share(1, outerShare)}
	p.inner = e.Minus(p.outer)
	first := p.inner.Rat()
	if !(lost < 1e9) || first.Sub(first, new(big.Rat).SetFloat64(lost)).Cmp(e.Share(1, 2).Rat()) < 0 {
		return nil, fmt.Errorf("%w: noise inside the objective needs a larger regulariser at this price: Λ leaves less than "+
			"half of ε for the noise", mechanism.ErrParameter)
	}
	g := math.Ldexp(1, m.rowGrid-m.slopeBits)
	p.apart = new(big.Rat).SetFloat64(apart / g) // a power of two divides exactly
	p.scale = new(big.Rat).Quo(p.apart, first)
	return p, p.grid(p.inGradient(p.scale), g)
}

// maxPerturbed is the largest radius.
const maxPerturbed = 1000

// grid sets the solver's target so low that the noise for it is far below that of b, and computes the grid and the
// sensitivity of the output. spread is the scale of b.
func (p *Perturbed) grid(spread, g float64) error {
	m := p.m
	outer, _ := p.outer.Rat().Float64()
	m.slack = (m.slack + m.kappa()*0x1p-48*m.r) * (1 + 0x1p-30)
	// b moves the minimum by at least ‖b‖/β, where β is the largest curvature of N rows.
	least := spread / (m.kappa() * m.lambda)
	if err := m.aim(least*outer*0x1p-12, m.r/64); err != nil {
		return err
	}
	total := 2 * (m.target + m.slack + math.Sqrt(float64(m.d))*g/m.lambda) * (1 + 0x1p-30)
	_, e := math.Frexp(total)
	m.grid = e - 20
	if math.Ldexp(m.r, -m.grid) > 0x1p60 {
		return fmt.Errorf("%w: the radius is too large for a grid this fine", mechanism.ErrParameter)
	}
	p.output = Summed{Grid: m.grid, LInf: big.NewInt(int64(math.Ceil(math.Ldexp(total, -m.grid))) + 1)}
	p.output.L2Squared = new(big.Int).Mul(p.output.LInf, p.output.LInf)
	p.output.L2Squared.Mul(p.output.L2Squared, big.NewInt(int64(m.d)))
	return nil
}

// Objective returns the objective.
func (p *Perturbed) Objective() Objective { return p.m.objective }

// Loss returns the loss of b, ε₁ + ε_J of [Perturbed]. The loss of the output's noise, OutputLoss, is apart.
func (p *Perturbed) Loss() privacy.Loss { return privacy.PureLoss(p.inner) }

// OutputLoss returns ε₂, the loss of the noise on the output.
func (p *Perturbed) OutputLoss() privacy.Loss { return privacy.PureLoss(p.outer) }

// Output describes the minimum: its integers are in units of 2^Grid, and given b's place they change by at most LInf.
func (p *Perturbed) Output() Summed { return p.output.copied() }

// Sensitivity returns Δ, the most that a number of b differs between neighbours with the same minimum, in units of the
// sums of gradients.
func (p *Perturbed) Sensitivity() *big.Rat { return new(big.Rat).Set(p.apart) }

// Apart returns Δ, as Sensitivity does, in units of the gradient.
func (p *Perturbed) Apart() float64 { return p.inGradient(p.apart) }

// inGradient converts units of the sums of gradients to those of the gradient.
func (p *Perturbed) inGradient(x *big.Rat) float64 {
	f, _ := x.Float64()
	return math.Ldexp(f, p.m.rowGrid-p.m.slopeBits)
}

// Scale returns Δ/ε₁, the scale of b, in the units of Sensitivity.
func (p *Perturbed) Scale() *big.Rat { return new(big.Rat).Set(p.scale) }

// StdDev returns the standard deviation of each number of b.
func (p *Perturbed) StdDev() float64 {
	d := float64(p.m.d)
	return p.inGradient(p.scale) * math.Sqrt((d+1)*(d+2)/3)
}

// Within shortens released coefficients to the ball of the objective. This is post-processing.
func (p *Perturbed) Within(theta []float64) { p.m.project(theta) }

// Tolerance returns the largest distance of the computed minimum from that for the solver's b, before rounding to the
// grid.
func (p *Perturbed) Tolerance() float64 { return p.m.Tolerance() }

// Tries is [Minimiser.Tries].
func (p *Perturbed) Tries() int64 { return p.m.Tries() }

// Passes is [Minimiser.Passes].
func (p *Perturbed) Passes() int64 { return p.m.Passes() }

// Minimum draws b, and returns the minimum over rows in units of the output's grid. It is no release before the noise
// for OutputLoss is added. The error is ErrRows if the rows do not have the expected shape, or comes from reading the
// rows.
func (p *Perturbed) Minimum(ctx context.Context, rows *mechanism.Rows) ([]mechanism.Exact, error) {
	tilt := make([]*big.Int, p.m.d)
	for i := range tilt {
		tilt[i] = new(big.Int)
	}
	source := entropy.System()
	defer source.Wipe()
	sample.RealCube(source, p.scale, tilt)
	return p.minimum(ctx, rows, tilt)
}

func (p *Perturbed) minimum(ctx context.Context, rows *mechanism.Rows, tilt []*big.Int) ([]mechanism.Exact, error) {
	theta, err := p.m.solve(ctx, rows, tilt)
	if err != nil {
		return nil, err
	}
	return p.m.onGrid(theta), nil
}
