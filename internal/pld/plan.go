package pld

import (
	"math"
	"slices"

	"dither/internal/exact"
)

// part is one family of a composition, with the number of its uses.
type part struct {
	family
	count  int64
	top    float64 // upper bound on the family's losses
	sketch *sketch
}

// top returns an upper bound on the losses of the composition.
func (c chain) top() float64 {
	top := 0.0
	for _, p := range c {
		top = exact.AddUp(top, exact.MulUp(float64(p.count), p.top))
	}
	return top
}

// chain is a composition in one direction of the neighbouring relation.
type chain []part

func (c chain) moments(lambda float64) (cumulant, mean, variance float64) {
	for _, p := range c {
		k, m, v := p.sketch.moments(lambda)
		n := float64(p.count)
		cumulant, mean, variance = cumulant+n*k, mean+n*m, variance+n*v
	}
	return cumulant, mean, variance
}

// plan determines where and how finely a composition is evaluated. The tilt lambda moves the mean of the loss to
// centre. The window consists of size points at distance h, and contains all but a share e^−depth of the tilted
// weight.
type plan struct {
	lambda, centre, deviation float64
	left, right               float64 // exponents of the Chernoff bounds on the weight outside the window
	low, h                    float64 // first point and distance of points of the window
	size                      int
	guess                     float64 // ln δ at the centre
}

const (
	depth    = 32
	minSize  = 1 << 12
	maxSize  = 1 << 19
	maxCells = 1 << 20 // cells of one lattice

	// The intended difference of the bounds, as a share of ε, if the limits allow it.
	fine   = 1e-4
	coarse = 4e-3 // enough to tell, mostly, that one direction of the neighbouring relation loses less than the other
)

// maxTilt returns the largest tilt whose exponents are within the range of floats.
func (c chain) maxTilt() float64 {
	furthest := 1e-300
	for _, p := range c {
		for _, l := range p.sketch.loss {
			furthest = max(furthest, l, -1e-9*l) // for losses far below 0, the tilted weight may underflow
		}
	}
	if furthest < 1e-110 { // all losses are 0, so there is nothing to tilt
		return 0
	}
	return min(1e100, 1200/furthest)
}

// tiltFor returns an approximation of the tilt λ at which a decreasing function of λ is 0. λ is between 0 and most.
func tiltFor(most float64, falling func(lambda float64) float64) float64 {
	if falling(0) <= 0 {
		return 0
	}
	if falling(most) >= 0 {
		return most
	}
	low, high := most*1e-18, most
	for range 60 {
		middle := math.Sqrt(low * high)
		if high/low < 1.01 {
			return middle
		}
		if falling(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low * high)
}

// at returns the plan for evaluating δ(ε) at an ε, so finely that the bounds differ by about the share wish of ε.
func (c chain) at(epsilon, wish float64) plan {
	return c.plan(wish, tiltFor(c.maxTilt(), func(lambda float64) float64 {
		_, mean, _ := c.moments(lambda)
		return epsilon - mean
	}))
}

// below returns the plan for finding the ε at which δ(ε) is delta, as finely as at does.
func (c chain) below(delta, wish float64) plan {
	return c.plan(wish, tiltFor(c.maxTilt(), func(lambda float64) float64 {
		return c.logDelta(lambda) - math.Log(delta)
	}))
}

// logDelta returns an approximation of ln δ(ε), for the ε that is the mean loss under the tilt λ [saddle point
// method: Alghamdi et al. 2023].
func (c chain) logDelta(lambda float64) float64 {
	k, mean, variance := c.moments(lambda)
	return k - lambda*mean - math.Log1p(lambda*math.Sqrt(2*math.Pi*variance)) - math.Log1p(lambda)
}

func (c chain) plan(wish, lambda float64) plan {
	k, mean, variance := c.moments(lambda)
	p := plan{lambda: lambda, centre: mean, deviation: math.Sqrt(variance), guess: c.logDelta(lambda)}
	natural := math.Sqrt(2*depth) / max(p.deviation, 1e-200)
	farRight, farLeft := math.Inf(1), math.Inf(1)
	for _, share := range []float64{0.1, 0.3, 0.6, 1, 1.6, 3, 10} {
		s := natural * share
		if s+lambda > 1.2*c.maxTilt() {
			break
		}
		if up, _, _ := c.moments(lambda + s); (up-k+depth)/s-mean < farRight {
			farRight, p.right = (up-k+depth)/s-mean, s
		}
		if under, _, _ := c.moments(lambda - s); (under-k+depth)/s+mean < farLeft {
			farLeft, p.left = (under-k+depth)/s+mean, s
		}
	}
	if math.IsInf(farRight, 0) || math.IsInf(farLeft, 0) || farRight+farLeft <= 0 {
		farRight, farLeft = 9*p.deviation, 9*p.deviation
	}
	floor := 1e-12 * (math.Abs(mean) + 1e-50)
	farRight, farLeft = max(farRight*1.05, floor), max(farLeft*1.05, floor)
	p.low = mean - farLeft
	c.grid(&p, wish, farRight+farLeft)
	return p
}

// grid chooses h and the size of a window of the given width. If n composed losses are spread over cells of width
// h, the bounds differ in δ by about 0.8·n·h² times the density at ε. In ε they differ by about 0.8·n·h²·(1 + λ).
func (c chain) grid(p *plan, wish, width float64) {
	spread := 0.0
	for _, q := range c {
		if _, _, on := q.spacing(); !on {
			spread += float64(q.count)
		}
	}
	distance := c.commonest()
	if spread == 0 && c.alike(distance) && width/distance < maxSize/2 {
		p.size, p.h = minSize, distance
		for float64(p.size)*distance < width {
			p.size *= 2
		}
		return
	}
	n := max(spread, 1)
	for _, q := range c {
		if d, _, on := q.spacing(); on && math.Abs(d-distance) > 1e-9*distance {
			n += float64(q.count)
		}
	}
	target := math.Sqrt(wish * max(math.Abs(p.centre), p.deviation) / (0.8 * n * (1 + p.lambda)))
	limit := maxSize
	for limit > 1<<14 && limit*len(c) > 1<<22 {
		limit /= 2
	}
	if len(c) > 1<<10 {
		limit = 1 << 15
	}
	p.size = minSize
	for p.deviation > 1e-6*width && p.size < limit && float64(p.size)*target < width {
		p.size *= 2
	}
	p.h = width / float64(p.size)
	if distance > p.h { // with a divisor of the distance, points of that lattice stay points
		p.h = distance / math.Floor(distance/p.h)
	}
}

// commonest returns the distance of the lattice that is used most often among the parts, or 0 if no part is on a
// lattice.
func (c chain) commonest() float64 {
	distance, most := 0.0, int64(0)
	for _, q := range c {
		if d, _, on := q.spacing(); on && q.count > most {
			distance, most = d, q.count
		}
	}
	return distance
}

// alike reports whether all parts are on lattices whose distances are multiples of the given one.
func (c chain) alike(distance float64) bool {
	return distance > 0 && !slices.ContainsFunc(c, func(q part) bool {
		d, _, on := q.spacing()
		ratio := d / distance
		return !on || math.Abs(ratio-math.Round(ratio)) > 1e-12 || ratio < 0.5
	})
}
