package noise_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

func cube(t testing.TB, scale string, dimension int) noise.DiscreteCube {
	t.Helper()
	d, err := noise.NewDiscreteCube(rational(scale), dimension)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCubeAgreesWithSums holds all figures against sums over the masses p^‖z‖∞ of whole vectors: (2a + 1)^k − (2a − 1)^k
// vectors have the norm a > 0, and of those with a given first coordinate x, (2a + 1)^(k−1) have at most the norm a ≥ |x|.
func TestCubeAgreesWithSums(t *testing.T) {
	for _, c := range []struct {
		scale string
		k     int
	}{{"1/3", 1}, {"1/3", 4}, {"1", 1}, {"1", 2}, {"7/3", 5}, {"10", 3}, {"25", 21}} {
		d := cube(t, c.scale, c.k)
		scale, _ := rational(c.scale).Float64()
		p, reach := math.Exp(-1/scale), int(scale*(150+10*float64(c.k)))+5
		weight := make([]float64, reach+1) // of the vectors with a given first coordinate of magnitude x
		for x := reach; x >= 0; x-- {      // Σ_{a ≥ x} (2a + 1)^(k−1)·(p^a − p^(a+1))
			weight[x] = math.Exp(float64(c.k-1)*math.Log(float64(2*x+1))-float64(x)/scale) * (1 - p)
			if x < reach {
				weight[x] += weight[x+1]
			}
		}
		total, square := weight[0], 0.0
		for x := 1; x <= reach; x++ {
			total += 2 * weight[x]
			square += 2 * float64(x) * float64(x) * weight[x]
		}
		if !near(d.Variance(), square/total, 1e-9) && math.Abs(d.Variance()-square/total) > 1e-12 || d.StdDev() != math.Sqrt(d.Variance()) {
			t.Errorf("%+v: variance %g, want %g", c, d.Variance(), square/total)
		}
		above := 0.0 // P(X > x)
		for x := reach; x >= 0; x-- {
			at := big.NewInt(int64(x))
			if m := d.Mass(at); x < reach/2 && (!near(m, weight[x]/total, 1e-9) || m != d.Mass(new(big.Int).Neg(at))) {
				t.Errorf("%+v: P(%d) = %g, want %g", c, x, m, weight[x]/total)
			}
			if f := d.CDF(big.NewInt(int64(-x - 1))); x < reach/2 && !near(f, above, 1e-9) || math.Abs(d.CDF(at)-1+above) > 1e-12 {
				t.Errorf("%+v: CDF(%d) = %g, want %g", c, -x-1, f, above)
			}
			if p := d.Tail(at); x < reach/2 && (p < 2*above || p > 2*above*(1+1e-8)) {
				t.Errorf("%+v: Tail(%d) = %g, want %g", c, x, p, 2*above)
			}
			above += weight[x] / total
		}
		for _, alpha := range []float64{0.9, 0.5, 0.05, 1e-3, 1e-9, 1e-300} {
			k := d.Quantile(alpha)
			if d.Tail(k) > alpha || k.Sign() > 0 && d.Tail(new(big.Int).Sub(k, big.NewInt(1))) <= alpha {
				t.Errorf("%+v: Quantile(%g) = %s is not the least", c, alpha, k)
			}
		}
	}
}

// TestCubeVariance: at a large scale the variance is (k + 1)(k + 2)/3 squared scales; in one dimension all is as of the
// discrete Laplace.
func TestCubeVariance(t *testing.T) {
	for _, k := range []int{1, 2, 6, 21, 136, noise.MaxCubeDimension} {
		d := cube(t, "1048576/3", k)
		want := float64((k+1)*(k+2)) / 3 * 0x1p40 / 9
		if !near(d.Variance(), want, 1e-4) {
			t.Errorf("%d dimensions: variance %g, want %g", k, d.Variance(), want)
		}
		if q := d.Quantile(0.05); d.Tail(q) > 0.05 || d.Tail(q) < 0.0499 {
			t.Errorf("%d dimensions: P(|X| > %s) = %g", k, q, d.Tail(q))
		}
	}
	d, l := cube(t, "10/3", 1), laplace(t, "10/3")
	for x := int64(-40); x <= 40; x++ {
		if !near(d.Mass(big.NewInt(x)), l.Mass(big.NewInt(x)), 1e-12) || !near(d.CDF(big.NewInt(x)), l.CDF(big.NewInt(x)), 1e-12) {
			t.Errorf("at %d: %g and %g", x, d.Mass(big.NewInt(x)), l.Mass(big.NewInt(x)))
		}
	}
}

// TestCubeDraws has a false-alarm rate of 1e-9 for each scale.
func TestCubeDraws(t *testing.T) {
	for _, d := range []noise.DiscreteCube{cube(t, "1/2", 3), cube(t, "5", 6), cube(t, "1000000/7", 6)} {
		draws := make([]*big.Int, 4000)
		for i := range draws {
			draws[i] = d.Draw()
		}
		if err := (stattest.KolmogorovIntegers{Sample: draws, CDF: d.CDF, FalseAlarm: 1e-9}).Check(); err != nil {
			t.Error(d.Scale(), err)
		}
	}
}

func TestCubeRefuses(t *testing.T) {
	for _, c := range []struct {
		scale *big.Rat
		k     int
	}{{nil, 1}, {new(big.Rat), 1}, {rational("-1"), 1}, {rational("1"), 0}, {rational("1"), noise.MaxCubeDimension + 1}, {rational("1/2"), 5}} {
		if _, err := noise.NewDiscreteCube(c.scale, c.k); !errors.Is(err, noise.ErrScale) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if q := cube(t, "1", 1).Quantile(0); q != nil {
		t.Error(q)
	}
}
