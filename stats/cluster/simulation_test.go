package cluster

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"

	"dither/noise"
)

// simulatedSource are made-up rows, with noise by the law that the kernel plans: under ε, discrete Laplace on counts
// and on sums' grid units.
type simulatedSource struct {
	t       testing.TB
	rows    [][]float64
	task    task
	epsilon float64
	change  bool // neighbours change one row
	random  *rand.Rand
	exact   bool        // no noise
	truth   []*cellSums // of each look, the exact cells
}

const simulatedGrid = 1 << 24

func (s *simulatedSource) share(step int) float64 {
	total := int64(0)
	for _, w := range s.task.shares() {
		total += w
	}
	return s.epsilon * float64(s.task.shares()[step]) / float64(total)
}

// laws are the noises of a look: a row adds 1 to a count, and a vector of an L1 norm of at most the radius or d to a
// sum.
func (s *simulatedSource) laws(step int, l access) (count, sum noise.DiscreteLaplace) {
	epsilon, times := s.share(step), 1.0
	if l.sums {
		epsilon /= 2
	}
	if s.change {
		times = 2
	}
	norm := float64(s.task.d)
	if s.task.radius > 0 {
		norm = math.Min(norm, s.task.radius)
	}
	law := func(scale float64) noise.DiscreteLaplace {
		d, err := noise.NewDiscreteLaplace(new(big.Rat).SetFloat64(scale))
		if err != nil {
			s.t.Fatal(err)
		}
		return d
	}
	return law(times / epsilon), law(times * norm * simulatedGrid / epsilon)
}

func (s *simulatedSource) deviation(_ context.Context, step int, l access) (count, sum float64, err error) {
	c, x := s.laws(step, l)
	return c.StdDev(), x.StdDev() / simulatedGrid, nil
}

// laplace is discrete Laplace noise: the difference of two geometric numbers.
func (s *simulatedSource) laplace(scale float64) float64 {
	geometric := func() float64 { return math.Floor(s.random.ExpFloat64() * scale) }
	return geometric() - geometric()
}

func (s *simulatedSource) take(_ context.Context, step int, l access) (*cellSums, error) {
	n := map[string]int{
		allRows: 1, byCentre: len(l.centres), byBucket: 1, bySide: 1 << len(l.planes),
		byLeaf: l.leaves,
	}[l.kind]
	if l.kind == byBucket {
		for _, b := range l.buckets {
			n *= b
		}
	}
	truth := &cellSums{counts: make([]float64, n), sums: make([][]float64, n)}
	for i := range truth.sums {
		truth.sums[i] = make([]float64, s.task.d)
	}
	for _, x := range s.rows {
		at := 0
		switch l.kind {
		case byCentre:
			at, _ = nearestCentre(x, l.centres)
		case byBucket:
			for i, v := range x {
				at = at*l.buckets[i] + min(int((v+1)/2*float64(l.buckets[i])), l.buckets[i]-1)
			}
		case bySide, byLeaf:
			for _, p := range l.planes {
				sum := 0.0
				for i, v := range x {
					sum += p.normal[i] * v
				}
				at *= 2
				if sum > p.offset {
					at++
				}
			}
			if l.kind == byLeaf {
				at = l.leaf[at]
			}
		}
		truth.counts[at]++
		for i, v := range x {
			truth.sums[at][i] += v
		}
	}
	count, sum := s.laws(step, l)
	out := &cellSums{absent: make([]bool, n), countNoise: count, sumNoise: sum, sumUnit: 1.0 / simulatedGrid, id: "r"}
	countScale, sumScale := count.StdDev()/math.Sqrt2, sum.StdDev()/math.Sqrt2
	if s.exact {
		countScale, sumScale = 0, 0
	}
	for i := range truth.counts {
		out.counts = append(out.counts, truth.counts[i]+s.laplace(countScale))
		row := make([]float64, s.task.d)
		for x := range row {
			row[x] = truth.sums[i][x] + s.laplace(sumScale)/simulatedGrid
		}
		out.sums = append(out.sums, row)
	}
	s.truth = append(s.truth, truth)
	return out, nil
}

// blobs are rows around k places: the places at least apart from each other, in a cube of reach.
func blobs(r *rand.Rand, n, k, d int, reach, apart, deviation float64) (rows, places [][]float64) {
	for len(places) < k {
		c := make([]float64, d)
		for i := range c {
			c[i] = (2*r.Float64() - 1) * reach
		}
		if _, near := nearestCentre(c, places); len(places) == 0 || math.Sqrt(near) >= apart {
			places = append(places, c)
		}
	}
	for i := range n {
		x := make([]float64, d)
		for j := range x {
			x[j] = math.Max(-1, math.Min(1, places[i%k][j]+r.NormFloat64()*deviation))
		}
		rows = append(rows, x)
	}
	return rows, places
}

// costOf is the mean squared distance of rows to the nearest centre.
func costOf(rows, centres [][]float64) float64 {
	sum := 0.0
	for _, x := range rows {
		_, d := nearestCentre(x, centres)
		sum += d
	}
	return sum / float64(len(rows))
}

func centresFound(r *result) (out [][]float64) {
	for _, c := range r.clusters {
		var at []float64
		for _, x := range c.centre {
			at = append(at, x.Value)
		}
		out = append(out, at)
	}
	return out
}

func medianOf(xs []float64) float64 {
	sort.Float64s(xs)
	return xs[len(xs)/2]
}

func withDefaults(t task) task {
	if t.iterations == 0 {
		t.iterations = 6
	}
	if t.average == 0 {
		t.average = max(1, t.iterations/2)
	}
	if t.alpha == 0 {
		t.alpha = 0.05
	}
	if t.seed == 0 {
		t.seed = 1
	}
	return t
}
