package bounds

import (
	"math"
	"math/big"
	"math/rand/v2"
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
	if c.deviation == 0 {
		c.deviation = math.Max(c.magnitude, 1)
	}
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
		c.lower.bounds, c.lower.lost, c.lower.beyond = append(c.lower.bounds, x), append(c.lower.lost, float64(lo)*x-before[lo]), append(c.lower.beyond, float64(lo))
		c.upper.bounds, c.upper.lost, c.upper.beyond = append(c.upper.bounds, x), append(c.upper.lost, sum-before[hi]-float64(n-hi)*x), append(c.upper.beyond, float64(n-hi))
	}
	if k == reals || k == integers {
		c.lower.bounds, c.lower.beyond = append(c.lower.bounds, 0), append(c.lower.beyond, 0)
		c.lower.lost = append(c.lower.lost, c.lostBelow(v, 0))
	}
	return c
}

func (c *column) lostBelow(v []float64, low float64) (sum float64) {
	for _, x := range v {
		sum += math.Max(low-x, 0)
	}
	return sum
}

func (c *column) lostAbove(v []float64, high float64) (sum float64) {
	for _, x := range v {
		sum += math.Max(x-high, 0)
	}
	return sum
}

func TestSimulated(t *testing.T) {
	for _, n := range []int{20_000, 100_000, 500_000} {
		for _, s := range shapes {
			r := rand.New(rand.NewPCG(1, 2))
			v := make([]float64, n)
			for i := range v {
				v[i] = s.draw(r)
			}
			exact := s.kind.exactly(v)
			rows := rowsOf{1, float64(n), 0}
			epsilon := 0.075
			q := noise{count: math.Sqrt2 / 0.15, halved: 2}
			best := exact.best(rows, q)
			var ratios []float64
			var last choice
			for range 10 {
				h, units, err := s.kind.examined(simulated(v, math.Sqrt2/epsilon, r), false)
				if err != nil {
					t.Fatal(err)
				}
				if h == nil {
					t.Logf("%s: abstains at %.0f units", s.name, units)
					continue
				}
				last = s.kind.columnOf(h, units).best(rows, q)
				e := exact.errorOf(last.low, last.high, exact.lostBelow(v, last.low)+exact.lostAbove(v, last.high), rows, q)
				ratios = append(ratios, e/best.error)
			}
			if len(ratios) == 0 {
				continue
			}
			slices.Sort(ratios)
			mean := 0.0
			for _, x := range ratios {
				mean += x / float64(len(ratios))
			}
			t.Logf("n=%d %-16s mean %.3f max %.3f  best [%.4g, %.4g] %.4g  last [%.6g, %.6g]", n, s.name, mean, ratios[len(ratios)-1], best.low, best.high, best.error, last.low, last.high)
		}
	}
}
