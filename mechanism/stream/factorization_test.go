package stream

import (
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
)

// rationalInverse is M's first column by definition, in rationals.
func rationalInverse(root []int64) []*big.Rat {
	out := make([]*big.Rat, len(root))
	sum := new(big.Rat)
	inverse := make([]*big.Rat, len(root)) // R̃'s
	for k := range root {
		v := new(big.Rat)
		if k == 0 {
			v.SetInt64(1)
		}
		for j := 1; j <= k; j++ {
			v.Sub(v, new(big.Rat).Mul(big.NewRat(root[j], 1), inverse[k-j]))
		}
		inverse[k] = v.Quo(v, big.NewRat(root[0], 1))
		sum.Add(sum, inverse[k]) // A after it
		out[k] = new(big.Rat).Set(sum)
	}
	return out
}

// TestFactorizationInverse: M's entries are within the error that is claimed, at any precision, and the error is small.
func TestFactorizationInverse(t *testing.T) {
	root := rootColumn(40)
	want := rationalInverse(root)
	for _, digits := range []uint{40, 64, 128, 1500} {
		in := newInverse(root, digits)
		unit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), digits))
		for k, g := range in.entries {
			off := new(big.Rat).Sub(new(big.Rat).SetInt(g), new(big.Rat).Mul(want[k], unit))
			if off.Abs(off).Cmp(new(big.Rat).SetInt(in.err)) > 0 {
				t.Errorf("%d digits: entry %d is off by more than %s", digits, k, in.err)
			}
		}
		if in.err.Cmp(big.NewInt(1000)) > 0 {
			t.Errorf("%d digits: an error of %s", digits, in.err)
		}
	}
}

// TestFactorizationIsPostProcessing: what is computed from the exact sum and the noise is ⌊My + ½⌋, computed from
// y = R̃x + z in rationals; and A·R̃⁻¹·R̃ = A. With few digits the floor is often in doubt at first.
func TestFactorizationIsPostProcessing(t *testing.T) {
	const steps = 12
	root := rootColumn(steps)
	column := rationalInverse(root)
	source := entropy.System()
	for _, digits := range []uint{40, 50, 60, 128} {
		for range 20 {
			script := &scripted{}
			x, y := make([]*big.Int, steps), make([]*big.Rat, steps)
			for i := range steps {
				z := new(big.Int).SetUint64(source.Bits(44))
				z.Sub(z, big.NewInt(1<<43))
				if i < 2 {
					z.Lsh(z.Rsh(z, 30), 29) // on the border between two integers, or on one
				}
				script.values = append(script.values, z)
				x[i] = big.NewInt(int64(source.Bits(20)))
				total := new(big.Int).Set(z)
				for j := 0; j <= i; j++ {
					total.Add(total, new(big.Int).Mul(big.NewInt(root[i-j]), x[j]))
				}
				y[i] = new(big.Rat).SetInt(total)
			}
			c := Counter{
				steps: steps, sum: new(big.Int),
				noise: newRootNoise(script, noise.DiscreteGaussian{}, root, digits),
			}
			for i := range steps {
				got, err := c.add(nil, mechanism.NewExact(x[i]))
				if err != nil {
					t.Fatal(err)
				}
				v := big.NewRat(1, 2)
				for j := 0; j <= i; j++ {
					v.Add(v, new(big.Rat).Mul(column[i-j], y[j]))
				}
				if want := new(big.Int).Div(v.Num(), v.Denom()); got.Cmp(want) != 0 {
					t.Fatalf("%d digits, step %d: %s, want %s", digits, i+1, got, want)
				}
			}
			// With z up to 2⁴³, 40 digits do not tell all floors: more were computed, and kept.
			if n := c.noise.(*rootNoise); n.inverse.digits != digits || digits == 40 && n.finest.digits < 80 ||
				n.finest.digits > 8*digits {
				t.Errorf("from %d digits to %d", n.inverse.digits, n.finest.digits)
			}
		}
	}
}

// TestFactorizationDigits: whatever the size of the noise, the first precision does for a whole stream, and is not
// lavish. A floor is left open with a probability below 2⁻⁵⁰.
func TestFactorizationDigits(t *testing.T) {
	for _, sensitivity := range []uint{0, 60, 150} {
		m := CountingFactorization{256, new(big.Int).Lsh(big.NewInt(1), sensitivity), mechtest.RhoRatio(t, 1, 2)}
		c, err := m.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for range m.Steps {
			if _, err := c.Next(mechanism.Exact{}); err != nil {
				t.Fatal(err)
			}
		}
		n := c.noise.(*rootNoise)
		if n.finest != n.inverse || n.inverse.digits > sensitivity+128 {
			t.Errorf("a sensitivity of 2^%d: from %d digits to %d", sensitivity, n.inverse.digits, n.finest.digits)
		}
	}
}

// rootEntry is f_k, by the gamma function.
func rootEntry(k int) float64 {
	a, _ := math.Lgamma(float64(k) + .5)
	b, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(a-b) / math.Sqrt(math.Pi)
}

func TestFactorizationRoot(t *testing.T) {
	root := rootColumn(5000)
	norm, sum := squaredNorm(root), 0.0
	for k, f := range root {
		if k > 0 && f > root[k-1] {
			t.Errorf("entry %d is above the one before", k)
		}
		if want := rootEntry(k); math.Abs(float64(f)*0x1p-30-want) > 0x1p-31+1e-11 {
			t.Errorf("entry %d is %g, not %g", k, float64(f)*0x1p-30, want)
		}
		sum += float64(f) * float64(f)
	}
	if got, _ := new(big.Float).SetInt(norm).Float64(); math.Abs(got-sum) > 1e-9*sum {
		t.Errorf("squared norm %g, want %g", got, sum)
	}
	if root[0] != 1<<fractionBits {
		t.Error("the diagonal is not 1")
	}
}

// TestFactorizationVariance: per-step variances are the formula's, Δ²/(2ρ)·Σ_{k<T} f_k²·Σ_{k<t} f_k²; and the
// worst of them is below the tree's, from 64 steps on.
func TestFactorizationVariance(t *testing.T) {
	lengths := []int{16, 64, 256, 1024}
	if os.Getenv("DITHER_LONG") != "" {
		lengths = append(lengths, 4096)
	}
	for _, steps := range lengths {
		c, err := CountingFactorization{steps, big.NewInt(5000), mechtest.RhoRatio(t, 1, 2)}.Begin()
		if err != nil {
			t.Fatal(err)
		}
		tree, err := CountingTree{steps, big.NewInt(5000)}.Gaussian(mechtest.RhoRatio(t, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		whole := 0.0
		for k := range steps {
			whole += rootEntry(k) * rootEntry(k)
		}
		part, worst, worstTree, mean, meanTree := 0.0, 0.0, 0.0, 0.0, 0.0
		for step := 1; step <= steps; step++ {
			part += rootEntry(step-1) * rootEntry(step-1)
			want, got := 5000*5000*whole*part, c.Variance(step)
			if got < want*(1-1e-6) || got > want*(1+1e-3) {
				// the rounding adds half a unit to a deviation of 5000 or more
				t.Errorf("%d of %d steps: variance %g, want %g", step, steps, got, want)
			}
			v := tree.Variance(step)
			worst, worstTree = max(worst, got), max(worstTree, v)
			mean, meanTree = mean+got/float64(steps), meanTree+v/float64(steps)
		}
		if steps >= 64 && worst >= worstTree {
			t.Errorf("%d steps: worst variance %g, the tree's %g", steps, worst, worstTree)
		}
		t.Logf("%5d steps, Δ = 1, ρ = ½: deviation worst %.3f, root mean square %.3f; tree %.3f, %.3f",
			steps, math.Sqrt(worst)/5000, math.Sqrt(mean)/5000, math.Sqrt(worstTree)/5000, math.Sqrt(meanTree)/5000)
	}
}

// TestFactorizationNoise: the noise of the second step has the law of (M_1·z_0 + M_0·z_1), a normal one so nearly
// that a sample cannot tell.
func TestFactorizationNoise(t *testing.T) {
	m := CountingFactorization{Steps: 2, Sensitivity: big.NewInt(1000), Rho: mechtest.RhoRatio(t, 1, 2)}
	const cells, n = 10, 4000
	observed, expected := make([]int, cells), make([]float64, cells)
	for i := range expected {
		expected[i] = 1.0 / cells
	}
	deviation := 1000 * 1.25 // (1 + ¼), twice, under the root
	for range n {
		c, err := m.Begin()
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Next(mechtest.Exacts(7)[0])
		s, err2 := c.Next(mechtest.Exacts(-9)[0])
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		p := .5 * math.Erfc(-float64(s.Int64()+2)/(deviation*math.Sqrt2))
		observed[min(int(p*cells), cells-1)]++
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: expected,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}
