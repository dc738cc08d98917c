package pld

import (
	"fmt"
	"math"
)

// Step is a mechanism, given by its pair, with the number of its uses.
type Step struct {
	Pair  Pair
	Count int64
}

// maxCount is the largest number of mechanisms of a composition.
const maxCount = 1 << 40

// maxWork is the largest sum of the work of all different mechanisms. Within it, a call takes seconds and about 100
// MiB. The unit is the work of a Laplace pair, about 0.2 ms.
const maxWork = 1 << 14

// work returns the work of a pair. An atomic pair has 1 for each 256 of its losses. A sampled pair has 64, because
// it has two directions with a fine lattice each.
func (p Pair) work() int64 {
	work, f := int64(1), p.forward
	if s, ok := f.(sampled); ok {
		work, f = 64, s.of
	}
	if g, ok := f.(generated); ok {
		work += int64(min(1<<20, (g.high-g.low)/g.distance) / 256)
		if p.backward != nil {
			work *= 2
		}
	}
	return work
}

// Composition is a composition of mechanisms that are fixed in advance. It is safe for concurrent use.
type Composition struct {
	chains []chain // one chain if both directions are equal, otherwise two
	rough  chain   // a simpler chain that dominates this composition; nil if no mechanism is used very often
	once   once    // if one mechanism with finitely many losses is used once; otherwise nil
}

// Compose returns the composition of up to 2⁴⁰ mechanisms, of which up to 2¹⁴ may be different. A sampled mechanism
// counts as 64 different ones. A discrete one counts as one more for each 256 of its losses. Beyond these limits
// the error is ErrParameter.
func Compose(steps []Step) (*Composition, error) {
	var order []Step
	at := map[string]int{}
	total, work := int64(0), int64(0)
	for _, s := range steps {
		switch {
		case s.Pair.key == "":
			return nil, fmt.Errorf("%w: a step has no pair of distributions", ErrParameter)
		case s.Count < 0 || s.Count > maxCount-total:
			return nil, fmt.Errorf("%w: a composition must have 0 to 2⁴⁰ mechanisms", ErrParameter)
		case s.Count == 0:
			continue
		}
		total += s.Count
		i, known := at[s.Pair.key]
		switch {
		case !known:
			i = len(order)
			work += s.Pair.work()
			at[s.Pair.key] = i
			order = append(order, s)
			order[i].Pair.variance = s.Pair.variance.mul(point(float64(s.Count)))
		default:
			order[i].Count += s.Count
			order[i].Pair.variance = order[i].Pair.variance.add(s.Pair.variance.mul(point(float64(s.Count))))
		}
		if work > maxWork {
			return nil, fmt.Errorf(
				"%w: more than 2¹⁴ different mechanisms; a sampled mechanism counts as 64, and a discrete mechanism "+
					"as the number of its losses",
				ErrParameter,
			)
		}
	}
	c := &Composition{}
	detail := min(512, max(48, (1<<16)/(1+len(order))))
	var forward, backward chain
	both := false
	for _, s := range order {
		p := part{s.Pair.forward, s.Count, s.Pair.top, nil}
		if s.Pair.key == "gaussian" {
			p = part{gaussianOf(s.Pair.variance), 1, math.Inf(1), nil}
		}
		p.sketch = newSketch(p.family, detail)
		forward = append(forward, p)
		if s.Pair.backward != nil {
			both = true
			p.family, p.top = s.Pair.backward, s.Pair.back
			p.sketch = newSketch(p.family, detail)
		}
		backward = append(backward, p)
	}
	if len(forward) > 0 {
		c.chains = append(c.chains, forward)
	}
	if both {
		c.chains = append(c.chains, backward)
	}
	c.rough = roughly(order, detail)
	c.once = onceOf(order)
	return c, nil
}

// often is the number of uses from which on [roughly] replaces a mechanism. A lattice that is fine enough for each
// use would then be too fine for all uses together.
const often = 1 << 24

// roughly returns a composition that dominates the given one. It replaces each mechanism that is used often and has
// losses of at most e by Gaussian pairs with μ² = (π/2)·e². It returns nil if no mechanism is used often, or if a
// mechanism that is used often has no bound on its losses. It also returns nil if a sampled mechanism is not used
// often.
//
// Claim: a Gaussian pair with μ² = (π/2)·e² dominates every e-private mechanism. Proof: binary randomised response
// dominates it, and has log-odds of ±e. So μ ≤ √(π/8)·2e, by the argument at [window.lower]. ∎ The other direction
// of a sampled mechanism has no larger losses (see [Subsample]).
func roughly(order []Step, detail int) chain {
	var c chain
	var gaussians bound
	replaced := false
	for _, s := range order {
		switch {
		case s.Pair.key == "gaussian":
			gaussians = gaussians.add(s.Pair.variance)
		case s.Count >= often && s.Pair.top < 1e6:
			replaced = true
			e := point(s.Pair.top)
			gaussians = gaussians.add(e.mul(e).mul(point(float64(s.Count))).mul(bound{1.57, 1.5707963267949}))
		case s.Count >= often || s.Pair.backward != nil:
			return nil
		default:
			c = append(c, part{s.Pair.forward, s.Count, s.Pair.top, newSketch(s.Pair.forward, detail)})
		}
	}
	if !replaced {
		return nil
	}
	g := gaussianOf(gaussians)
	return append(c, part{g, 1, math.Inf(1), newSketch(g, detail)})
}

// Delta returns bounds on the smallest δ for which the composition is (ε, δ)-private. For a negative ε and for NaN,
// the bounds are 0 and 1.
func (c *Composition) Delta(epsilon float64) (lower, upper float64) {
	if math.IsNaN(epsilon) || epsilon < 0 {
		return 0, 1
	}
	finite := min(epsilon, math.MaxFloat64)
	lower, upper = c.greatest(
		func(chain chain) float64 { return chain.at(finite, coarse).guess },
		func(chain chain, wish float64) (lower, upper float64) {
			if top := chain.top(); epsilon >= top && !math.IsInf(top, 1) {
				return 0, 0
			}
			w := chain.compose(chain.at(finite, wish))
			if math.IsInf(epsilon, 1) { // only the mass at +∞ remains, because δ(ε) is decreasing
				return w.infinite.lo, w.upper(finite)
			}
			return w.lower(epsilon), w.upper(epsilon)
		})
	if c.rough != nil {
		upper = min(upper, c.rough.compose(c.rough.at(finite, fine)).upper(finite))
	}
	if c.once != nil {
		low, high := c.once.delta(epsilon)
		lower, upper = max(lower, low), min(upper, high)
	}
	return lower, max(lower, upper)
}

// Epsilon returns bounds on the smallest ε ≥ 0 for which the composition is (ε, δ)-private. The upper bound may be
// +Inf.
func (c *Composition) Epsilon(delta float64) (lower, upper float64) {
	return c.EpsilonBetween(delta, delta)
}

// EpsilonBetween is [Composition.Epsilon] for a δ in the interval [least, most], which need not be a float. The
// bounds hold for every δ in this range.
func (c *Composition) EpsilonBetween(least, most float64) (lower, upper float64) {
	switch {
	case !(least >= 0 && least <= most):
		return 0, math.Inf(1)
	case least >= 1 || len(c.chains) == 0:
		return 0, 0
	}
	lower, upper = c.greatest(
		func(chain chain) float64 { return chain.below(max(least, smallest), coarse).centre },
		func(chain chain, wish float64) (lower, upper float64) {
			lower, upper = chain.epsilon(least, most, wish)
			return lower, min(upper, chain.top())
		})
	if c.rough != nil {
		_, high := c.rough.epsilon(least, most, fine)
		upper = min(upper, high)
	}
	if c.once != nil {
		low, high := c.once.epsilon(least, most, upper)
		lower, upper = max(lower, low), min(upper, high)
	}
	return min(lower, upper), upper
}

// greatest returns bounds on the maximum of a quantity over the chains. bounds returns bounds on a chain's quantity, and
// guess an estimate, which affects only the running time. The chain with the greatest guess is evaluated finely. Another
// chain needs that only if its coarse upper bound exceeds the lower bound so far.
func (c *Composition) greatest(
	guess func(chain) float64, bounds func(c chain, wish float64) (lower, upper float64),
) (lower, upper float64) {
	chains := c.chains
	if len(chains) == 2 && guess(chains[1]) > guess(chains[0]) {
		chains = []chain{chains[1], chains[0]}
	}
	for i, chain := range chains {
		if i > 0 {
			if _, high := bounds(chain, coarse); high <= lower {
				continue
			}
		}
		low, high := bounds(chain, fine)
		lower, upper = max(lower, low), max(upper, high)
	}
	return lower, upper
}

// epsilon returns two values of ε. At the first, the upper bound on δ(ε) falls to the number least. At the second,
// the lower bound falls to the number most. A sketch of the composition predicts where the crossing is, and the
// window is placed there. If the crossing proves to be elsewhere, the window is placed again.
func (c chain) epsilon(least, most, wish float64) (lower, upper float64) {
	p := c.below(max(least, smallest), wish)
	upper = math.Inf(1)
	for range 4 {
		w := c.compose(p)
		if w.unknown {
			return lower, upper
		}
		if w.infinite.lo > most {
			return math.Inf(1), math.Inf(1)
		}
		low, high := max(0, w.low()), max(0, w.base+p.h*float64(w.start+int64(p.size)))
		found := crossing(w.upper, least, low, high, true)
		upper = min(upper, found)
		// The lower bound crosses close to the upper one. Far left of the centre it is useless.
		near := min(found, high)
		gap := max(1e-6*p.deviation, 1e-9*(near-low))
		for near > low && w.lower(near) <= most {
			near, gap = max(low, near-gap), 4*gap
		}
		lower = max(lower, crossing(w.lower, most, near, min(found, high), false))
		if math.IsInf(found, 1) || found <= 0 || math.Abs(found-p.centre) < 2*p.deviation ||
			(p.lambda == 0 && found < p.centre) {
			return lower, upper
		}
		p = c.at(found, wish)
	}
	return lower, upper
}

// smallest is the least δ for which a window is placed.
const smallest = 1e-280

// crossing searches [low, high] for the point at which a decreasing function falls to a value. If outward is true,
// it returns an ε at which the function is at most the value, or +Inf. If outward is false, it returns an ε at
// which the function is above the value, or 0.
func crossing(f func(epsilon float64) float64, value, low, high float64, outward bool) float64 {
	enough := func(y float64) bool { return y <= value }
	a, b := low, high
	fa, fb := f(a), f(b)
	switch {
	case enough(fa) && outward:
		return a
	case enough(fa):
		return 0
	case !enough(fb) && outward:
		return math.Inf(1)
	case !enough(fb):
		return b
	}
	// The Illinois method on logarithms. Every third step is a bisection, so that progress is never slow.
	target := math.Log(max(value, 1e-320))
	log := func(y float64) float64 { return math.Log(max(y, 1e-320)) - target }
	ya, yb := log(fa), log(fb)
	side := 0
	for i := range 80 {
		if b-a <= 1e-12*(high-low) || b-a <= 1e-9*b {
			break
		}
		m := (a*yb - b*ya) / (yb - ya)
		if i%3 == 2 || !(m > a && m < b) {
			m = a + (b-a)/2
		}
		y := f(m)
		switch {
		case !enough(y):
			a, ya = m, log(y)
			if side == 1 {
				yb /= 2
			}
			side = 1
		default:
			b, yb = m, log(y)
			if side == -1 {
				ya /= 2
			}
			side = -1
		}
	}
	if outward {
		return b
	}
	return a
}
