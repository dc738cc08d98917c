package posterior

import (
	"context"
	"math"
	"slices"
)

// The lengths of a chain, in trajectories.
const (
	warmUp  = 600 // before the first draw; the steps and scales are adapted
	between = 30  // from one draw to the next
	probe   = 25  // to check the steps
	probes  = 20  // the largest number of checks
)

// The parameters of a trajectory: its largest number of steps, and the acceptance that the adaptation aims at.
const (
	mostSteps  = 24
	acceptance = 0.8
)

// chain is a Markov chain of Hamiltonian Monte Carlo whose stationary distribution is the target.
type chain struct {
	target   *target
	random   *random
	at       []float64
	slope    []float64
	value    float64 // the logarithm of the density
	scale    []float64
	moves    []bool // the variables that are not fixed at 0
	step     float64
	accepted float64 // the mean probability of acceptance after the warm-up
	moved    int

	next, nextSlope, speed []float64
}

// warm adapts the chain, in windows. The scales of a window are the standard deviations in the second half of the one
// before. At the end, the steps are shortened until enough of them are accepted.
func (c *chain) warm(ctx context.Context) error {
	for _, window := range []int{warmUp / 4, warmUp / 4, warmUp / 4, warmUp / 4} {
		mean, squares := make([]float64, len(c.at)), make([]float64, len(c.at))
		// dual averaging of the logarithm of the step
		centre, short, average := math.Log(2*c.step), 0.0, 0.0
		moments := 0.0
		for k := 1; k <= window; k++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			a := c.move()
			n := float64(k)
			short += (acceptance - a - short) / (n + 10)
			log := min(max(centre-math.Sqrt(n)/0.05*short, -30), 0.5)
			weight := math.Pow(n, -0.75)
			average = weight*log + (1-weight)*average
			c.step = math.Exp(log)
			if k <= window/2 {
				continue
			}
			moments++
			for i, v := range c.at {
				d := v - mean[i]
				mean[i] += d / moments
				squares[i] += d * (v - mean[i])
			}
		}
		c.step = math.Exp(average)
		for i := range c.scale {
			if c.moves[i] { // shrunk towards the scale before
				c.scale[i] = math.Sqrt((squares[i] + 10*c.scale[i]*c.scale[i]) / (moments + 10))
			}
		}
	}
	for range probes {
		c.accepted, c.moved = 0, 0
		for range probe {
			c.move()
		}
		if c.accepted >= 0.7*float64(c.moved) {
			break
		}
		c.step *= 0.7
	}
	c.accepted, c.moved = 0, 0
	return nil
}

// move makes one trajectory, and returns its probability of acceptance. The number of steps is random, so that no trajectory
// returns to its start each time.
func (c *chain) move() float64 {
	before := c.value
	for i := range c.speed {
		c.speed[i] = 0
		if c.moves[i] {
			c.speed[i] = c.random.normal()
			before -= c.speed[i] * c.speed[i] / 2
		}
	}
	copy(c.next, c.at)
	copy(c.nextSlope, c.slope)
	value := c.value
	steps := 1 + int(c.random.uniform()*mostSteps)
	for range steps {
		for i, s := range c.scale {
			c.speed[i] += c.step / 2 * s * c.nextSlope[i]
			c.next[i] += c.step * s * c.speed[i]
		}
		if value = c.target.density(c.next, c.nextSlope); math.IsNaN(value) || value < c.value-1e6 {
			break
		}
		for i, s := range c.scale {
			c.speed[i] += c.step / 2 * s * c.nextSlope[i]
		}
	}
	after := value
	for _, v := range c.speed {
		after -= v * v / 2
	}
	a := math.Exp(min(0, after-before))
	if !(a >= 0) { // not a number
		a = 0
	}
	if c.random.uniform() < a {
		copy(c.at, c.next)
		copy(c.slope, c.nextSlope)
		c.value = value
	}
	c.accepted += a
	c.moved++
	return a
}

// newChain starts a chain near the mode: at the counts of a fitted model.
func newChain(t *target, r *random, variables int, start func(c *clique, cell int) float64) *chain {
	c := &chain{target: t, random: r, step: 0.1}
	for _, table := range []*[]float64{&c.at, &c.slope, &c.scale, &c.next, &c.nextSlope, &c.speed} {
		*table = make([]float64, variables)
	}
	c.moves = slices.Repeat([]bool{true}, variables)
	for _, k := range t.tree {
		for b := range k.size {
			from := b * k.block
			logs := make([]float64, k.block)
			for i := range logs {
				logs[i] = math.Log(start(k, from+i) + prior)
			}
			most := slices.Index(logs, slices.Max(logs))
			k.likely[b] = most
			for i, v := range logs {
				c.at[k.first+from+i] = v - logs[most]
			}
			c.moves[k.first+from+most] = false
		}
	}
	t.counts(c.at)
	c.scales()
	c.value = t.density(c.at, c.slope)
	return c
}

// scales sets the first scales: from the curvature of the likelihood in each variable alone.
func (c *chain) scales() {
	t := c.target
	for i := range c.scale {
		c.scale[i] = 0
	}
	weights := make([]float64, len(t.tree)) // 1/variance of the cells of a clique, of all measurements
	for _, e := range t.evidence {
		weights[e.clique] += 1 / e.variance
	}
	for k, q := range t.tree {
		for i, n := range q.count {
			at := q.first + i
			if c.moves[at] {
				move := n * (1 - q.share[i])
				c.scale[at] = 1 / math.Sqrt(prior+move*move*weights[k])
			}
		}
	}
	last := len(c.scale) - 1
	sum := 1.0
	for _, e := range t.evidence {
		for _, v := range e.values {
			sum += v * v / e.variance
		}
	}
	c.scale[last] = 1 / math.Sqrt(sum)
}
