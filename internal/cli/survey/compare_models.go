package survey

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"dither/internal/cli/console"
	"dither/local"
	"dither/noise"
	"dither/privacy"
)

// memory reports whether devices of a mechanism have a memory.
func memory(mechanism string) bool {
	return slices.Contains([]string{"rappor", "loloha", "dbit"}, mechanism)
}

func (o *options) repeats() bool { return memory(o.mechanism) }

// comparable returns an error unless --mechanism is one that compare knows.
func (o *options) comparable() error {
	switch {
	case o.mechanism == "" || o.mechanism == "best":
		o.mechanism = ""
	case o.mechanism != prefix && o.mechanism != tree && !o.repeats():
		return console.Usage("compare chooses the mechanism of counts itself; --mechanism is prefix, tree, rappor, loloha or dbit")
	case o.bits != "":
		return console.Usage("--bits is for counts by the best mechanism, without --mechanism")
	}
	return o.memoised(&local.Params{}) // checks what --first and --positions belong to
}

// reporting returns the reports of n people about one of k values, and the error of their result. Without --mechanism it
// chooses the oracle with the least error, and returns what it compared.
func (o *options) reporting(k uint64, e privacy.Epsilon, n int64, size int) (r reporting, all []local.Candidate, err error) {
	people := float64(n)
	switch {
	case o.mechanism == prefix:
		h, err := local.NewHeavy(local.HeavyParams{Epsilon: e, Bits: max(bits.Len64(k-1), 2)})
		if err != nil {
			return r, nil, err
		}
		return reporting{prefix, e, h.Bits(), people * math.Sqrt(h.Variance(n, 0))}, nil, nil
	case o.mechanism == tree:
		q, err := local.NewQuantiles(e, 0, 1, k, n)
		if err != nil {
			return r, nil, err
		}
		return reporting{tree, e, q.Bits(), people * math.Sqrt(q.Variance())}, nil, nil
	case o.repeats():
		p := local.Params{Mechanism: o.mechanism, Values: k, Epsilon: e}
		if err := o.memoised(&p); err != nil {
			return r, nil, err
		}
		oracle, err := local.New(p)
		if err != nil {
			return r, nil, err
		}
		return reporting{o.mechanism, e, oracle.Bits(), countError(oracle, n, k)}, nil, nil
	}
	best, all, err := local.Choose(k, e, n, size)
	if err != nil {
		return r, nil, err
	}
	return reporting{best.Params().Mechanism, e, best.Bits(), countError(best, n, k)}, all, nil
}

// countError returns the standard deviation of an estimated count of a value of average frequency.
func countError(o *local.Oracle, n int64, k uint64) float64 {
	return float64(n) * math.Sqrt(o.Variance(n, 1/float64(k)))
}

// centralError returns the standard deviation of the same result from a trusted curator.
//
// Under change-one, a histogram has sensitivity 2, and so has each level of a tree. With L levels of branching factor b, a
// level has noise of scale 2L/ε, and the number below an edge is a sum of (b − 1)/2 nodes of each level, on average. The
// curator takes the best of the branching factors that local trees have.
func (o *options) centralError(k uint64, e privacy.Epsilon) (float64, error) {
	deviation := func(scale int64) (float64, error) {
		laplace, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(big.NewRat(scale, 1), e.Rat()))
		if err != nil {
			return 0, err
		}
		return math.Sqrt(laplace.Variance()), nil
	}
	if o.mechanism != tree {
		return deviation(2)
	}
	least := math.Inf(1)
	for _, b := range []uint64{2, 4, 8, 16, k} {
		levels := int64(0)
		for size := uint64(1); size < k; size *= b {
			levels++
		}
		each, err := deviation(2 * levels)
		if err != nil {
			return 0, err
		}
		least = min(least, each*math.Sqrt(float64(levels)*float64(b-1)/2))
	}
	return least, nil
}
