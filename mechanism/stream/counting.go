// Package stream contains mechanisms for sequences: running sums, and tests of queries against thresholds.
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

// Counter releases the running sum of a stream of integers after each step. A released sum is the exact sum so far
// plus noise. Noise variables are shared between steps. A Counter must not be used concurrently. Printing one shows
// only that it exists.
//
// CountingTree and CountingFactorization create Counters. Each of these mechanisms measures linear functions of the
// stream with independent noise, and computes the sums from the measurements. Since every step is linear, a sum
// equals the exact sum plus the same linear combination of the noise alone. The code computes it in this form.
type Counter struct {
	steps, now int
	sum        *big.Int
	noise      streamNoise
	loss       privacy.Loss
}

// streamNoise is the noise on the running sums of a stream.
type streamNoise interface {
	next(src *entropy.Source) *big.Int // next returns the noise on the next step's sum
	variance(step int) float64
}

// Format writes a fixed text, for every verb, so that printing reveals nothing.
func (*Counter) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSession) }

// Next adds the stream's next value, and returns the noisy sum up to and including it. After the last step it
// returns ErrEnded.
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

// Loss returns the loss of the whole stream, which is charged when the stream begins.
func (c *Counter) Loss() privacy.Loss { return c.loss }

// Variance returns an upper bound on the variance of the sum after the given step, in squared units. The bound is
// valid up to a relative error of 1e-12. Variance returns 0 if step is not in 1, …, Steps.
func (c *Counter) Variance(step int) float64 {
	if step < 1 || step > c.steps {
		return 0
	}
	return c.noise.variance(step)
}

// CountingTree releases running sums with a binary tree over a stream of Steps values [Dwork, Naor, Pitassi &
// Rothblum 2010; Chan, Shi & Song 2011]. The sum of each aligned block of 2ⁱ steps that ends within the stream gets
// independent noise. The sum of the first t steps consists of one block for each 1 in the binary digits of t. The
// mechanism stores one noisy block of each size.
//
// Between neighbours, one value of the stream changes by at most Sensitivity =: Δ. Claim: with the noise below, the
// mechanism is ε-differentially private ([CountingTree.Laplace]) or ρ-zCDP ([CountingTree.Gaussian]). Proof: a step
// lies in at most one block of each of the sizes 2⁰, …, 2^(L−1), where L = ⌊log₂ Steps⌋ + 1. That is at most L
// blocks. So the vector of all block sums changes by at most LΔ in L1 norm, and by at most LΔ² in squared L2 norm.
// Discrete Laplace noise of scale LΔ/ε on each block makes the vector ε-differentially private. Discrete Gaussian
// noise with σ² = LΔ²/(2ρ) makes it ρ-zCDP. The sums are computed from the noisy vector alone.
//
// The stream may be chosen adaptively. The blocks are measured one after another, each at the loss of its own
// change. The losses of the blocks that contain the changed step add up to at most the stated loss, whatever the
// values are (privacy.Filter). If several steps may change, the loss is that of a group of that many
// (privacy.Loss.Group).
type CountingTree struct {
	Steps       int      // the length of the stream, fixed in advance; at least 1
	Sensitivity *big.Int // the most that one value changes between neighbours, in the values' unit; at least 1
}

// levels returns L, the most blocks that contain one step (see [CountingTree]), or ErrParameter.
func (m CountingTree) levels() (int64, error) {
	switch {
	case m.Steps < 1:
		return 0, fmt.Errorf("%w: the number of steps of a stream must be at least 1, not %d",
			mechanism.ErrParameter, m.Steps)
	case m.Sensitivity == nil || m.Sensitivity.Sign() <= 0:
		return 0, fmt.Errorf("%w: counting needs a sensitivity above 0", mechanism.ErrParameter)
	}
	return int64(bits.Len(uint(m.Steps))), nil
}

// Laplace starts a stream with pure loss e. It returns ErrParameter if the parameters give no privacy, or if the
// noise would be too large to draw.
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

// Gaussian starts a stream with zCDP loss r. It returns ErrParameter if the parameters give no privacy, or if the
// noise would be too large to draw.
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

// gaussianFor returns the discrete Gaussian noise for a squared L2 sensitivity and the loss r, or ErrParameter.
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

// treeNoise generates the noise of CountingTree. blocks[i] is the noise of the block of 2ⁱ steps in the current
// sum, or nil if there is none.
type treeNoise struct {
	each   sample.Sampler
	dist   noise.Distribution
	step   int
	blocks [bits.UintSize]*big.Int
}

// next draws the noise of the block that ends at the next step and is part of that step's sum. The block has 2ⁱ
// steps, where i is the number of trailing zeros of the step in binary. It replaces the smaller blocks, which it
// contains. Blocks that are never part of a sum need no draw.
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
