package quantile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// countsMove checks that counts of neighbours move by at most so much, in L1 norm and in squared L2 norm.
func countsMove(t *testing.T, a, b []int64, l1, l2 int64) {
	t.Helper()
	sum, squares := int64(0), int64(0)
	for i := range a {
		d := max(a[i]-b[i], b[i]-a[i])
		sum, squares = sum+d, squares+d*d
	}
	if sum > l1 || squares > l2 {
		t.Fatalf("counts moved by %d and, squared, %d; at most %d and %d were promised", sum, squares, l1, l2)
	}
}

func TestQuantileTreeSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 12_000 {
		u := relations[i%4]
		a, b := randomNeighbours(r, u)
		m := Tree{Domain: Domain{-r.Int64N(70), r.Int64N(70)}, Unit: u, Height: 1 + r.IntN(4), Branching: 2 + r.IntN(3)}
		x, _ := m.counts(orderedOf(a...))
		y, _ := m.counts(orderedOf(b...))
		h, k := int64(m.Height), u.MaxRows
		l1, l2 := h*k, h*k*k
		if u.Neighbours == privacy.ChangeOne {
			l1, l2 = 2*l1, 2*l2
		}
		countsMove(t, x, y, l1, l2)
	}
	// The bounds are attained.
	m := Tree{
		Domain: Domain{0, 255}, Unit: mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3}, Height: 4,
		Branching: 4,
	}
	x, _ := m.counts(orderedOf(0, 0, 0))
	y, _ := m.counts(orderedOf(255, 255, 255))
	sum, squares := int64(0), int64(0)
	for i := range x {
		sum, squares = sum+max(x[i]-y[i], y[i]-x[i]), squares+(x[i]-y[i])*(x[i]-y[i])
	}
	if sum != 24 || squares != 72 {
		t.Errorf("moved by %d and %d", sum, squares)
	}
}

// TestQuantileTreeNoise reads the parameters of the noise that a price buys.
func TestQuantileTreeNoise(t *testing.T) {
	rho, err := privacy.ParseRho("0.5")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		unit  mechanism.Unit
		loss  privacy.Loss
		scale string
	}{
		"Laplace, rows": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			privacy.PureLoss(mechtest.Epsilon(t, "0.5")), "8",
		},
		"Laplace, change": {
			mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3},
			privacy.PureLoss(mechtest.Epsilon(t, "1")), "24",
		},
		"Gaussian, rows": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			privacy.ZCDPLoss(rho, privacy.Delta{}), "4",
		},
		"Gaussian, 3 rows": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 3},
			privacy.ZCDPLoss(rho, privacy.Delta{}), "36",
		},
		"Gaussian, a change": {
			mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3},
			privacy.ZCDPLoss(rho, privacy.Delta{}), "72",
		},
	} {
		out, err := Tree{Domain{0, 1000}, c.unit, 4, 3, c.loss}.Measure(orderedOf(1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch d := out.Noise.(type) {
		case interface{ Scale() *big.Rat }:
			got = d.Scale().RatString()
		case interface{ Sigma2() *big.Rat }:
			got = d.Sigma2().RatString()
		}
		if got != c.scale || len(out.Values) != 3+9+27+81 || fmt.Sprint(out.Loss) != fmt.Sprint(c.loss) {
			t.Errorf("%s: parameter %s, not %s; %d values at %v", name, got, c.scale, len(out.Values), out.Loss)
		}
	}
}

func TestTreeLeaves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		in := Domain{-r.Int64N(1 << r.IntN(61)), r.Int64N(1 << (1 + r.IntN(60)))}
		m := Tree{Domain: in, Height: 3, Branching: 2 + r.IntN(20)}
		x := in.Lower + r.Int64N(in.points())
		want := new(big.Int).Mul(big.NewInt(x-in.Lower), big.NewInt(int64(m.leaves())))
		if want.Quo(want, big.NewInt(in.points())); want.Int64() != int64(m.leaf(x)) {
			t.Fatalf("%d in %v is in leaf %d, not %s", x, in, m.leaf(x), want)
		}
	}
}

// noiseless is a tree as if its noise had been 0.
func noiseless(t testing.TB, m Tree, data mechanism.Ordered) NoisyTree {
	t.Helper()
	counts, err := m.counts(data)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]*big.Int, len(counts))
	for i, c := range counts {
		values[i] = big.NewInt(c)
	}
	return NoisyTree{Tree: m, Measurement: mechanism.Measurement{Values: values}}
}

func TestQuantileTreeWithoutNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		data, _ := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		if len(data) == 0 {
			continue
		}
		// a leaf is an integer
		m := Tree{
			Domain: Domain{-64, 63}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, Height: 7,
			Branching: 2,
		}
		tree := noiseless(t, m, orderedOf(data...))
		for i := range 21 {
			q := big.NewRat(int64(i), 20)
			got, err := tree.Quantiles([]*big.Rat{q})
			if err != nil {
				t.Fatal(err)
			}
			below, upTo := 0, 0
			for _, x := range data {
				if m.clamp(x) < got[0] {
					below++
				}
				if m.clamp(x) <= got[0] {
					upTo++
				}
			}
			at, _ := q.Float64()
			at *= float64(len(data))
			if at < float64(below)-1e-9 || at > float64(upTo)+1e-9 {
				t.Fatalf("the %s quantile of %v is %d", q, data, got[0])
			}
		}
	}
}

func TestQuantileTreeRises(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, in := range []Domain{{0, 10_000}, {0, 3}, {5, 5}, goodDomain} {
		m := Tree{
			in,
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			3, 8,
			privacy.PureLoss(mechtest.Epsilon(t, "0.5")),
		}
		data := make([]int64, 200)
		for i := range data {
			data[i] = in.Lower + r.Int64N(in.points())
		}
		for _, set := range [][]int64{data, nil} {
			tree, err := m.Measure(orderedOf(set...))
			if err != nil {
				t.Fatal(err)
			}
			var ranks []*big.Rat
			for i := range 201 {
				ranks = append(ranks, big.NewRat(int64(i), 200))
			}
			values, err := tree.Quantiles(ranks)
			if err != nil || !slices.IsSorted(values) || in.clamp(values[0]) != values[0] ||
				in.clamp(values[200]) != values[200] {
				t.Errorf("%v: %v, %v", in, values, err)
			}
		}
	}
}

func TestTreeShares(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		z := make([]float64, 1+r.IntN(8))
		for i := range z {
			z[i] = r.NormFloat64() * 10
		}
		total := r.Float64() * 20
		p := shares(z, total)
		sum, tau := 0.0, math.Inf(1)
		for i := range p {
			sum += p[i]
			if p[i] > 0 {
				tau = z[i] - p[i]
			}
		}
		if math.Abs(sum-total) > 1e-9 {
			t.Fatalf("%v adds up to %g, not %g", p, sum, total)
		}
		for i := range p { // optimal [Karush, Kuhn & Tucker]: the same shift where above 0, and no less elsewhere
			if p[i] < 0 || p[i] > 0 && math.Abs(z[i]-p[i]-tau) > 1e-9 || p[i] == 0 && z[i] > tau+1e-9 {
				t.Fatalf("%v is not the nearest to %v", p, z)
			}
		}
	}
}

func TestQuantileTreeRefuses(t *testing.T) {
	rho, _ := privacy.ParseRho("1")
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		t.Fatal(err)
	}
	good := Tree{
		goodDomain,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		4, 16,
		privacy.PureLoss(mechtest.Epsilon(t, "1")),
	}
	if _, err := good.Measure(orderedOf(1)); err != nil {
		t.Fatal(err)
	}
	bad := map[string]func(*Tree){
		"no loss":      func(m *Tree) { m.Loss = privacy.Loss{} },
		"tiny loss":    func(m *Tree) { m.Loss = privacy.PureLoss(tinyEpsilon(t)) },
		"tiny rho":     func(m *Tree) { m.Loss = privacy.ZCDPLoss(tinyEpsilon(t).Rho(), privacy.Delta{}) },
		"no rho":       func(m *Tree) { m.Loss = privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{}) },
		"delta":        func(m *Tree) { m.Loss = privacy.ZCDPLoss(rho, delta) },
		"no height":    func(m *Tree) { m.Height = 0 },
		"no branching": func(m *Tree) { m.Branching = 1 },
		"tall":         func(m *Tree) { m.Height = math.MaxInt },
		"broad":        func(m *Tree) { m.Branching = math.MaxInt },
	}
	for i := range badUnits {
		bad[fmt.Sprint("unit ", i)] = func(m *Tree) { m.Unit = badUnits[i] }
	}
	for i := range badDomains {
		bad[fmt.Sprint("domain ", i)] = func(m *Tree) { m.Domain = badDomains[i] }
	}
	for name, spoil := range bad {
		m := good
		spoil(&m)
		if _, err := m.Measure(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (NoisyTree{}).Quantiles(nil); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("no tree: %v", err)
	}
	tree := noiseless(t, good, orderedOf(1))
	for _, q := range []*big.Rat{nil, big.NewRat(-1, 2), big.NewRat(3, 2)} {
		if _, err := tree.Quantiles([]*big.Rat{q}); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("share %v: %v", q, err)
		}
	}
	broken := errors.New("disk")
	if _, err := good.Measure(mechanism.NewOrdered(func(func(int64, int64) bool) error { return broken })); !errors.Is(
		err, broken) {
		t.Errorf("the scan's error: %v", err)
	}
}
