package bounds

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"testing"
)

// shape is a made-up data set of one column.
type shape struct {
	name string
	kind kind
	draw func(r *rand.Rand) float64
}

var shapes = []shape{
	{"uniform", reals, func(r *rand.Rand) float64 { return 100 * r.Float64() }},
	{"normal, shifted", reals, func(r *rand.Rand) float64 { return 5000 + 30*r.NormFloat64() }},
	{"normal", reals, func(r *rand.Rand) float64 { return 20 * r.NormFloat64() }},
	{"lognormal", reals, func(r *rand.Rand) float64 { return 40 * math.Exp(r.NormFloat64()) }},
	{"Pareto", reals, func(r *rand.Rand) float64 { return 10 * math.Pow(1-r.Float64(), -1/1.8) }},
	{"zero-inflated", reals, func(r *rand.Rand) float64 {
		if r.Float64() < 0.85 {
			return 0
		}
		return 300 * math.Exp(0.8*r.NormFloat64())
	}},
	{"integer counts", integers, func(r *rand.Rand) float64 { return math.Floor(-4 * math.Log(1-r.Float64())) }},
	{"years", integers, func(r *rand.Rand) float64 { return math.Floor(1940 + 66*math.Sqrt(r.Float64())) }},
	{"dates", days, func(r *rand.Rand) float64 { return math.Floor(18262 + 2000*r.Float64()*r.Float64()) }},
	{"constant", integers, func(*rand.Rand) float64 { return 7 }},
	{"bimodal", reals, func(r *rand.Rand) float64 {
		if r.Float64() < 0.7 {
			return 20 + 3*r.NormFloat64()
		}
		return 900 + 40*r.NormFloat64()
	}},
	{"heavy ties", integers, func(r *rand.Rand) float64 {
		return math.Min(1000*math.Floor(30*math.Exp(0.7*r.NormFloat64())), 150000)
	}},
}

// simulated returns an asker over exact values, which adds Laplace noise of pinned draws.
func simulated(values []float64, finest float64, r *rand.Rand) asker {
	sorted := slices.Sorted(slices.Values(values))
	return func(edges []float64, share *big.Rat) (*histogram, error) {
		part, _ := share.Float64()
		h := &histogram{edges: edges, counts: make([]float64, len(edges)+1), sigma: finest / part}
		before := 0
		for i := range h.counts {
			upto := len(sorted)
			if i < len(edges) {
				upto = sort.SearchFloat64s(sorted, edges[i])
			}
			u := r.Float64() - 0.5
			lap := -math.Copysign(math.Log1p(-2*math.Abs(u)), u) * h.sigma / math.Sqrt2
			h.counts[i], before = float64(upto-before)+lap, upto
		}
		return h, nil
	}
}

// exactly returns what is known of a column, from its rows, with as many bounds to choose from as there can be.
func (k kind) exactly(values []float64) *column {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	c := &column{kind: k, units: float64(n)}
	middle := v[n/2]
	for _, x := range v {
		c.mean += x / float64(n)
		c.magnitude += math.Abs(x) / float64(n)
		c.deviation += math.Abs(x-middle) / float64(n)
	}
	c.scaled()
	var at []int
	for i := 0; i < n; i += 1 + min(i, n-1-i)/8 {
		at = append(at, i)
	}
	sum, before := 0.0, make([]float64, n+1)
	for i, x := range v {
		sum += x
		before[i+1] = sum
	}
	for _, i := range at {
		x := v[i]
		lo, hi := sort.SearchFloat64s(v, x), sort.Search(n, func(j int) bool { return v[j] > x })
		c.lower.bounds, c.lower.beyond = append(c.lower.bounds, x), append(c.lower.beyond, float64(lo))
		c.lower.lost = append(c.lower.lost, float64(lo)*x-before[lo])
		c.upper.bounds, c.upper.beyond = append(c.upper.bounds, x), append(c.upper.beyond, float64(n-hi))
		c.upper.lost = append(c.upper.lost, sum-before[hi]-float64(n-hi)*x)
	}
	if k == reals || k == integers {
		c.lower.bounds, c.lower.beyond = append(c.lower.bounds, 0), append(c.lower.beyond, 0)
		c.lower.lost = append(c.lower.lost, lostBelow(v, 0))
	}
	return c
}

func lostBelow(v []float64, low float64) (sum float64) {
	for _, x := range v {
		sum += math.Max(low-x, 0)
	}
	return sum
}

func lostAbove(v []float64, high float64) (sum float64) {
	for _, x := range v {
		sum += math.Max(x-high, 0)
	}
	return sum
}

// TestMeanErrorOfAdvisedBounds checks the doctor's bounds on made-up shapes. Typical questions have at most 1.2 times the
// least mean error that any bounds could give. Rows and noise are pinned, so the test cannot fail by chance. The long form
// has more rows and seeds.
func TestMeanErrorOfAdvisedBounds(t *testing.T) {
	sizes, seeds := []int{50_000}, 3
	if os.Getenv("DITHER_LONG") != "" {
		sizes, seeds = []int{15_000, 30_000, 100_000, 500_000}, 20
	}
	const epsilon, price = 0.075, 0.15 // of a column's examination, and of a typical question
	for _, n := range sizes {
		for _, s := range shapes {
			r := rand.New(rand.NewPCG(1, 2))
			v := make([]float64, n)
			for i := range v {
				v[i] = s.draw(r)
			}
			exact, rows, q := s.kind.exactly(v), rowsOf{1, float64(n), 0}, noise{count: math.Sqrt2 / price, halved: 2}
			best, mean, worst, gave := exact.best(rows, q), 0.0, 0.0, 0.0
			for range seeds {
				h, units, err := s.kind.examined(simulated(v, math.Sqrt2/epsilon, r), false)
				if err != nil {
					t.Fatal(err)
				}
				if h == nil {
					continue
				}
				b := s.kind.columnOf(h, units).best(rows, q)
				ratio := exact.errorOf(b.low, b.high, lostBelow(v, b.low)+lostAbove(v, b.high), rows, q) / best.error
				mean, worst, gave = mean+ratio, math.Max(worst, ratio), gave+1
			}
			t.Logf("%7d rows, %-16s %.3f times the least error on average, %.3f at worst, in %.0f of %d runs",
				n, s.name, mean/gave, worst, gave, seeds)
			// with few more units than are enough, the doctor may abstain
			if !(mean/gave <= 1.2) || gave < float64(seeds) && float64(n)*epsilon > 1.5*leastUnits {
				t.Errorf("%d rows, %s: %.3f times the least error", n, s.name, mean/gave)
			}
		}
	}
}

// TestAbstains checks that the doctor abstains in every run if there are too few units: 12,000 at ε = 0.075.
func TestAbstains(t *testing.T) {
	for _, s := range shapes {
		r := rand.New(rand.NewPCG(1, 2))
		v := make([]float64, 12_000)
		for i := range v {
			v[i] = s.draw(r)
		}
		if h, units, err := s.kind.examined(simulated(v, math.Sqrt2/0.075, r), false); err != nil || h != nil {
			t.Errorf("%s: advice about %.0f units: %v", s.name, units, err)
		}
	}
}
