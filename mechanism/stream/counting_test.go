package stream

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
	"dither/privacy"
)

// scripted draws what it is told.
type scripted struct {
	values []*big.Int
	next   int
}

func (s *scripted) Draw(_ *entropy.Source, z *big.Int) *big.Int {
	s.next++
	return z.Set(s.values[s.next-1])
}

// TestTreeIsATree: with a different power of two for each block's noise, each sum shows which blocks it is made of:
// disjoint aligned ones that end within it and cover it, and the same noise for the same block.
func TestTreeIsATree(t *testing.T) {
	const steps = 77
	script := &scripted{}
	for i := range uint(steps) {
		script.values = append(script.values, new(big.Int).Lsh(big.NewInt(1), i))
	}
	n := &treeNoise{each: script}
	for step := 1; step <= steps; step++ {
		got, covered := n.next(nil), 0
		for end := 1; end <= steps; end++ { // the block drawn at its end, of as many steps as end's lowest digit
			if got.Bit(end-1) == 0 {
				continue
			}
			size := end & -end
			if covered != end-size {
				t.Fatalf("the sum of %d steps has a block (%d, %d] after %d", step, end-size, end, covered)
			}
			covered = end
		}
		if covered != step {
			t.Fatalf("the sum of %d steps covers %d", step, covered)
		}
	}
}

// TestTreeSensitivity: no step lies in more than L blocks that end within the stream.
func TestTreeSensitivity(t *testing.T) {
	for steps := 1; steps <= 70; steps++ {
		levels, err := CountingTree{Steps: steps, Sensitivity: big.NewInt(1)}.levels()
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		for step := range steps {
			in := int64(0)
			for size := 1; size <= steps; size *= 2 {
				if (step/size+1)*size <= steps {
					in++
				}
			}
			most = max(most, in)
		}
		if most != levels {
			t.Errorf("%d steps: a step in %d blocks, L = %d", steps, most, levels)
		}
	}
}

// TestTreeNoise: scales are LΔ/ε and LΔ²/(2ρ), and the sums' noise has the variance that is said. The false-alarm
// rate is 1e-6 for each step.
func TestTreeNoise(t *testing.T) {
	m := CountingTree{Steps: 5, Sensitivity: big.NewInt(3)} // L = 3
	one, err := m.Laplace(mechtest.EpsilonRatio(t, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if scale := one.noise.(*treeNoise).dist.(noise.DiscreteLaplace).Scale(); scale.Cmp(big.NewRat(18, 1)) != 0 {
		t.Errorf("scale %s", scale)
	}
	const n = 3000
	for name, begin := range map[string]func() (*Counter, error){
		"Laplace":  func() (*Counter, error) { return m.Laplace(mechtest.EpsilonRatio(t, 1, 2)) },
		"Gaussian": func() (*Counter, error) { return m.Gaussian(mechtest.RhoRatio(t, 1, 8)) }, // σ² = 3·9/(1/4) = 108
	} {
		var squares [6]float64
		var counter *Counter
		for range n {
			if counter, err = begin(); err != nil {
				t.Fatal(err)
			}
			for step := int64(1); step <= 5; step++ {
				s, err := counter.Next(mechtest.Exacts(100 * step)[0])
				if err != nil {
					t.Fatal(err)
				}
				z := float64(s.Int64() - 50*step*(step+1))
				squares[step] += z * z / n
			}
		}
		if _, err := counter.Next(mechanism.Exact{}); !errors.Is(err, ErrEnded) {
			t.Errorf("%s after the end: %v", name, err)
		}
		for step := 1; step <= 5; step++ {
			v := counter.Variance(step)
			base := 108.0
			if name == "Laplace" {
				base = 2 * 18 * 18
			}
			if math.Abs(v-base*float64(bits.OnesCount(uint(step)))) > .01*v {
				t.Errorf("%s: the variance after %d steps is said to be %g", name, step, v)
			}
			if math.Abs(squares[step]-v) > 5*math.Sqrt(5*v*v/n) { // the fourth moment is at most 6v²
				t.Errorf("%s: the variance after %d steps is %g, said to be %g", name, step, squares[step], v)
			}
		}
		if counter.Variance(0) != 0 || counter.Variance(6) != 0 {
			t.Errorf("%s: a variance beyond the stream", name)
		}
	}
}

func TestCountingRefusals(t *testing.T) {
	one := big.NewInt(1)
	for name, c := range map[string]struct {
		steps       int
		sensitivity *big.Int
		epsilon     privacy.Epsilon
		rho         privacy.Rho
	}{
		"no steps":           {0, one, mechtest.EpsilonRatio(t, 1, 1), mechtest.RhoRatio(t, 1, 1)},
		"fewer than none":    {math.MinInt, one, mechtest.EpsilonRatio(t, 1, 1), mechtest.RhoRatio(t, 1, 1)},
		"no sensitivity":     {4, nil, mechtest.EpsilonRatio(t, 1, 1), mechtest.RhoRatio(t, 1, 1)},
		"a sensitivity of 0": {4, new(big.Int), mechtest.EpsilonRatio(t, 1, 1), mechtest.RhoRatio(t, 1, 1)},
		"a negative one":     {4, big.NewInt(-1), mechtest.EpsilonRatio(t, 1, 1), mechtest.RhoRatio(t, 1, 1)},
		"no loss":            {4, one, privacy.Epsilon{}, privacy.Rho{}},
		"more noise than is drawn": {
			4, new(big.Int).Lsh(one, 300), mechtest.EpsilonRatio(t, 1, 1),
			mechtest.RhoRatio(t, 1, 1),
		},
	} {
		tree := CountingTree{c.steps, c.sensitivity}
		if _, err := tree.Laplace(c.epsilon); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("Laplace of %s: %v", name, err)
		}
		if _, err := tree.Gaussian(c.rho); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("Gaussian of %s: %v", name, err)
		}
		if _, err := (CountingFactorization{c.steps, c.sensitivity, c.rho}).Begin(); !errors.Is(err,
			mechanism.ErrParameter) {
			t.Errorf("factorization of %s: %v", name, err)
		}
	}
	if _, err := (CountingFactorization{
		MaxFactorizationSteps + 1, one,
		mechtest.RhoRatio(t, 1, 1),
	}).Begin(); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("too many steps: %v", err)
	}
	if _, err := (CountingTree{math.MaxInt, one}).Laplace(mechtest.EpsilonRatio(t, 1, 1)); err != nil {
		t.Errorf("as many steps as can be: %v", err)
	}
	if _, err := new(Counter).Next(mechanism.Exact{}); !errors.Is(err, ErrEnded) {
		t.Errorf("a stream that was not begun: %v", err)
	}
}

// TestSessionsSayNothing: printing a session tells neither the exact sum nor the noise.
func TestSessionsSayNothing(t *testing.T) {
	counter, err := CountingTree{4, big.NewInt(1)}.Laplace(mechtest.EpsilonRatio(t, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counter.Next(mechtest.Exacts(123456789)[0]); err != nil {
		t.Fatal(err)
	}
	session, err := SparseVector{
		Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 1, 1),
		Positives: 1,
	}.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if got := fmt.Sprintf(verb+" "+verb, counter, session); got != "[session] [session]" {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

func BenchmarkCounting(b *testing.B) {
	for name, begin := range map[string]func(steps int) (*Counter, error){
		"tree": func(steps int) (*Counter, error) {
			return CountingTree{steps, big.NewInt(1)}.Gaussian(mechtest.RhoRatio(b, 1, 2))
		},
		"factorization": func(steps int) (*Counter, error) {
			return CountingFactorization{steps, big.NewInt(1), mechtest.RhoRatio(b, 1, 2)}.Begin()
		},
	} {
		b.Run(name+"/4096 steps", func(b *testing.B) {
			for range b.N {
				c, err := begin(4096)
				if err != nil {
					b.Fatal(err)
				}
				for range 4096 {
					if _, err := c.Next(mechanism.Exact{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
