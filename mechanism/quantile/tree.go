package quantile

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Tree counts the values in the nodes of a tree over the domain, with noise. Any number of quantiles can then be
// computed from these counts without further loss [Hay, Rastogi, Miklau & Suciu 2010; quantile trees in Google's
// differential privacy library].
//
// Branching^Height leaves divide the domain evenly. A node has Branching children in the level below. Every level
// below the root is counted, and each count gets its own noise, drawn once.
//
// Privacy: a row is counted in one node of each level. Under AddRemove, up to m = MaxRows rows come or go. The
// worst case is that they share a leaf. Then each level's counts change by m in L1 and in L2 norm. All levels
// together change by m·Height in L1 norm and m²·Height in squared L2 norm. Under ChangeOne, m rows leave and m
// others come, so the L1 sensitivity is 2m·Height. The squared L2 sensitivity is 2m²·Height: a level's counts
// change by a − b with a, b ≥ 0 and ‖a‖₁, ‖b‖₁ ≤ m, so ‖a − b‖₂² ≤ ‖a‖₂² + ‖b‖₂² ≤ 2m². Laplace or Gaussian then
// measures the counts. Their proofs hold for these sensitivities.
type Tree struct {
	Domain
	mechanism.Unit
	Height    int          // the number of levels below the root; 4 is usual
	Branching int          // the number of children of a node; 16 is usual
	Loss      privacy.Loss // the loss of the whole tree; pure for Laplace noise, zCDP with no δ for Gaussian noise
}

// maxNodes limits a tree's memory to some 30 MB.
const maxNodes = 1 << 18

// NoisyTree is a released tree. Its counts are ordered by level, from the top, and within a level from left to
// right.
type NoisyTree struct {
	Tree Tree
	mechanism.Measurement
}

func (m Tree) check() error {
	if err := m.Domain.check(); err != nil {
		return err
	}
	if err := parameter.Unit(m.Neighbours, m.MaxRows); err != nil {
		return err
	}
	if m.Height < 1 || m.Branching < 2 || m.nodes() == 0 {
		return fmt.Errorf(
			"%w: a quantile tree needs a height of at least 1, a branching of at least 2, and at most %d nodes",
			mechanism.ErrParameter, maxNodes)
	}
	return nil
}

// nodes returns the number of nodes below the root, or 0 if there are more than maxNodes.
func (m Tree) nodes() int {
	total, width := 0, 1
	for range m.Height {
		if m.Branching > maxNodes/width {
			return 0
		}
		width *= m.Branching
		total += width
	}
	if total > maxNodes {
		return 0
	}
	return total
}

// leaves returns the number of leaves, Branching^Height.
func (m Tree) leaves() int {
	n := 1
	for range m.Height {
		n *= m.Branching
	}
	return n
}

// leaf returns the index of the leaf of a value x in the domain: ⌊(x − Lower)·leaves/points⌋.
func (m Tree) leaf(x int64) int {
	hi, lo := bits.Mul64(uint64(x-m.Lower), uint64(m.leaves()))
	q, _ := bits.Div64(hi, lo, uint64(m.points())) // hi < points, since x − Lower < points and leaves < 2⁶⁴
	return int(q)
}

// counts returns the exact counts, level by level from the top.
func (m Tree) counts(data mechanism.Ordered) ([]int64, error) {
	out := make([]int64, m.nodes())
	_, err := each(data, m.Domain, func(value, count int64) {
		node, end := m.leaf(value), len(out)
		for width := m.leaves(); width > 1; width /= m.Branching {
			out[end-width+node] += count
			end -= width
			node /= m.Branching
		}
	})
	return out, err
}

// Measure counts the values and adds noise. The error is ErrParameter or comes from the scan.
func (m Tree) Measure(data mechanism.Ordered) (NoisyTree, error) {
	if err := m.check(); err != nil {
		return NoisyTree{}, err
	}
	noisy, err := counter(m.Unit, m.Loss, int64(m.Height))
	if err != nil {
		return NoisyTree{}, err
	}
	counts, err := m.counts(data)
	if err != nil {
		return NoisyTree{}, err
	}
	released, err := noisy(exactly(counts))
	if err != nil {
		return NoisyTree{}, err
	}
	return NoisyTree{Tree: m, Measurement: released}, nil
}

// counter returns a function that measures the counts of the given number of histograms with the given loss. Each
// row of a unit is counted once in each histogram. The error is ErrParameter.
func counter(
	u mechanism.Unit, loss privacy.Loss, histograms int64,
) (func([]mechanism.Exact) (mechanism.Measurement, error), error) {
	refused := func(err error) error {
		if err != nil && !errors.Is(err, mechanism.ErrParameter) {
			err = fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
		}
		return err
	}
	if e, pure := loss.Pure(); pure {
		l1 := new(big.Int).Mul(big.NewInt(steps(u)), big.NewInt(histograms))
		m := mechanism.Laplace{Sensitivity: l1, Epsilon: e}
		scale, err := m.Scale()
		if err == nil {
			_, err = noise.NewDiscreteLaplace(scale)
		}
		return m.Measure, refused(err)
	}
	rho, delta := loss.ZCDP()
	if !delta.IsZero() {
		return nil, fmt.Errorf("%w: the loss of noisy counts must not have a δ", mechanism.ErrParameter)
	}
	l2 := new(big.Int).Mul(big.NewInt(u.MaxRows), big.NewInt(steps(u))) // m² under AddRemove, 2m² under ChangeOne
	m := mechanism.Gaussian{L2Squared: l2.Mul(l2, big.NewInt(histograms)), Rho: rho}
	sigma2, err := m.Sigma2()
	if err == nil {
		_, err = noise.NewDiscreteGaussian(sigma2)
	}
	return m.Measure, refused(err)
}

func exactly(counts []int64) []mechanism.Exact {
	out := make([]mechanism.Exact, len(counts))
	for i, c := range counts {
		out[i] = mechanism.NewExact(big.NewInt(c))
	}
	return out
}
