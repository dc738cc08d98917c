// Package stream holds mechanisms that answer a sequence of questions: running sums, and whether a value is above a
// threshold.
package stream

import (
	"fmt"
	"io"
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Counter releases the running sum of a stream of integers after each step: the exact sum so far, plus noise that is
// drawn for the whole stream together and shared by the steps. Only one goroutine may use it. Printing it in any way
// shows only that it exists.
//
// Its mechanism is one of CountingTree or CountingFactorization. Each of those measures linear functions of the stream
// with independent noise, and computes sums from what it measured. As all of it is linear, what comes out is the exact
// sum plus the same combination of the noise alone, and that is how it is computed here.
type Counter struct {
	steps, now int
	sum        *big.Int
	noise      streamNoise
	loss       privacy.Loss
}

// streamNoise is the noise on the sums of a stream.
type streamNoise interface {
	next(src *entropy.Source) *big.Int // the noise of the next step
	variance(step int) float64
}

// Format reveals nothing, whatever the verb.
func (*Counter) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSession) }

// Next takes the stream's next value, and returns the noisy sum up to it. After the last step it is ErrEnded.
func (c *Counter) Next(x mechanism.Exact) (*big.Int, error) {
	source := entropy.System()
	defer source.Wipe()
	return c.add(source, x)
}

func (c *Counter) add(src *entropy.Source, x mechanism.Exact) (*big.Int, error) {
	if c == nil || c.now >= c.steps {
		return nil, ErrEnded
	}
	c.now++
	c.sum.Add(c.sum, opaque.Open(x))
	z := c.noise.next(src)
	return z.Add(z, c.sum), nil
}

// Loss is the price of the whole stream, spent at its beginning.
func (c *Counter) Loss() privacy.Loss { return c.loss }

// Variance is an upper bound, up to a relative 1e-12, on the variance of the sum after a step in 1, …, Steps, in
// squared units; 0 for any other step.
func (c *Counter) Variance(step int) float64 {
	if step < 1 || step > c.steps {
		return 0
	}
	return c.noise.variance(step)
}

// CountingTree counts continually by a binary tree over a stream of Steps values [Dwork, Naor, Pitassi & Rothblum 2010;
// Chan, Shi & Song 2011]: the sum of each aligned block of 2ⁱ steps that ends within the stream gets noise, and the
// sum of the first t is made of one block for each 1 in t's binary digits. It remembers one noisy block of each size.
//
// Between neighbours, one value of the stream moves by at most Sensitivity =: Δ. Proof of the losses: a step lies in
// at most one block of each of the sizes 2⁰, …, 2^(L−1), L = ⌊log₂ Steps⌋ + 1, that is in at most L blocks.
// So the vector of all block sums moves by at most LΔ in L1 norm, and by at most LΔ² in squared L2 norm. With
// discrete Laplace noise of scale LΔ/ε on each it is ε-differentially private (Laplace), with discrete Gaussian
// noise of σ² = LΔ²/(2ρ) it is ρ-zCDP (Gaussian). Sums are computed from it alone. The stream may be chosen with
// a view of what came before: blocks are measured one after another, each at the loss of its own shift, and those of
// the blocks that hold the step add up to what was said, whatever is chosen (privacy.Filter). Who can change several
// steps is a group of that many (privacy.Loss.Group).
type CountingTree struct {
	Steps       int      // the length of the stream, fixed in advance; at least 1
	Sensitivity *big.Int // the most by which one step's value changes between neighbours, in its unit; at least 1
}

// levels is L.
func (m CountingTree) levels() (int64, error) {
	switch {
	case m.Steps < 1:
		return 0, fmt.Errorf("%w: a stream of %d steps", mechanism.ErrParameter, m.Steps)
	case m.Sensitivity == nil || m.Sensitivity.Sign() <= 0:
		return 0, fmt.Errorf("%w: counting needs a sensitivity above 0", mechanism.ErrParameter)
	}
	return int64(bits.Len(uint(m.Steps))), nil
}

// Laplace begins a stream with pure loss e. Parameters that give no privacy, or need more noise than can be drawn, are
// ErrParameter.
func (m CountingTree) Laplace(e privacy.Epsilon) (*Counter, error) {
	levels, err := m.levels()
	if err != nil {
		return nil, err
	}
	dist, err := parameter.SelectionNoise(new(big.Int).Mul(m.Sensitivity, big.NewInt(levels)), true, e, 1)
	if err != nil {
		return nil, err
	}
	return m.begin(sample.NewLaplace(dist.Scale()), dist, privacy.PureLoss(e)), nil
}

// Gaussian begins a stream with zCDP loss r. Parameters that give no privacy, or need more noise than can be drawn, are
// ErrParameter.
func (m CountingTree) Gaussian(r privacy.Rho) (*Counter, error) {
	levels, err := m.levels()
	if err != nil {
		return nil, err
	}
	square := new(big.Int).Mul(m.Sensitivity, m.Sensitivity)
	dist, err := gaussianFor(square.Mul(square, big.NewInt(levels)), r)
	if err != nil {
		return nil, err
	}
	return m.begin(sample.NewGaussian(dist.Sigma2()), dist, privacy.ZCDPLoss(r, privacy.Delta{})), nil
}

func (m CountingTree) begin(s sample.Sampler, dist noise.Distribution, loss privacy.Loss) *Counter {
	return &Counter{steps: m.Steps, sum: new(big.Int), noise: &treeNoise{each: s, dist: dist}, loss: loss}
}

// gaussianFor is the discrete Gaussian for a squared L2 sensitivity, or ErrParameter.
func gaussianFor(l2squared *big.Int, r privacy.Rho) (noise.DiscreteGaussian, error) {
	sigma2, err := mechanism.Gaussian{L2Squared: l2squared, Rho: r}.Sigma2()
	if err != nil {
		return noise.DiscreteGaussian{}, err
	}
	dist, err := noise.NewDiscreteGaussian(sigma2)
	if err != nil {
		return noise.DiscreteGaussian{}, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	return dist, nil
}

// treeNoise is the noise of the blocks that make the current sum, by the power of two of their size.
type treeNoise struct {
	each   sample.Sampler
	dist   noise.Distribution
	step   int
	blocks [bits.UintSize]*big.Int
}

// next draws the noise of the block that ends at the next step and is part of its sum: of 2ⁱ steps, i the number of
// zeros that the step's binary digits end in. Smaller blocks are within it. (Those that are never part of a sum need no
// draw.)
func (n *treeNoise) next(src *entropy.Source) *big.Int {
	n.step++
	zeros := bits.TrailingZeros(uint(n.step))
	clear(n.blocks[:zeros])
	n.blocks[zeros] = n.each.Draw(src, new(big.Int))
	total := new(big.Int)
	for _, b := range n.blocks {
		if b != nil {
			total.Add(total, b)
		}
	}
	return total
}

func (n *treeNoise) variance(step int) float64 {
	return float64(bits.OnesCount(uint(step))) * n.dist.Variance()
}
