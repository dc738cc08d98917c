package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/parallel"
	"dither/internal/stattest"
)

// collect returns the tally of reports of people with the given values.
func collect(t testing.TB, o *Oracle, values []uint64) *Tally {
	t.Helper()
	parts := min(8, 1+len(values)/1000)
	tallies := make([]*Tally, parts)
	errs := make([]error, parts)
	parallel.Each(parts, func(i int) {
		tallies[i] = o.NewTally()
		reports, err := o.RandomizeAll(values[i*len(values)/parts : (i+1)*len(values)/parts])
		for _, r := range reports {
			err = errors.Join(err, tallies[i].Add(r))
		}
		errs[i] = err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, other := range tallies[1:] {
		if err := tallies[0].Merge(other); err != nil {
			t.Fatal(err)
		}
	}
	return tallies[0]
}

func estimates(t testing.TB, tally *Tally, values ...uint64) []Estimate {
	t.Helper()
	out, err := tally.Estimate(.95, values...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// published are variances times n at frequency 0 and k = 1024, to the digits of the literature.
var published = map[string][2]string{ // ε = 1, ε = 4
	"krr": {
		"347.07",
		"0.375",
	},
	"sue": {"3.918", "0.181"},
	"oue": {"3.683", "0.0760"},
	"olh": {"3.692", "0.0760"},
	"ss":  {"3.674", "0.0739"},
}

// The variance formula gives the published numbers, and simulated reports have this variance: the mean square of the
// errors of 1,023 values that nobody has, over several surveys. Its relative standard deviation is stated; six of
// them are a false alarm with probability below 1e-8.
func TestPublishedVariances(t *testing.T) {
	for name := range published {
		for i, e := range []string{"1", "4"} {
			o := oracle(t, name, 1024, e)
			digits := 3 - i
			if name == "krr" {
				digits = 2 + i
			} else if i == 1 && name != "sue" {
				digits = 4
			} else if i == 1 {
				digits = 3
			}
			if got := fmt.Sprintf("%.*f", digits, o.Variance(1, 0)); got != published[name][i] {
				t.Errorf("%s at ε = %s: n × variance is %s, published %s", name, e, got, published[name][i])
			}
		}
	}
	n, runs := 1000, 4
	if os.Getenv("DITHER_LONG") != "" {
		n, runs = 10_000, 40
	}
	for _, name := range Mechanisms() {
		if name == "coin" {
			continue
		}
		for _, e := range []string{"1", "4"} {
			k := uint64(1024)
			runs := runs
			if name == "cms" {
				runs = 1 + runs/8
			}
			o := oracle(t, name, k, e)
			square, count := 0.0, 0.0
			for run := range runs {
				p := o.params
				p.Seed = uint64(run) // over the draw of the public functions too
				o, err := New(p)
				if err != nil {
					t.Fatal(err)
				}
				values := make([]uint64, n)
				for i := range values {
					values[i] = uint64(i % 2) // two other values, each of half of the people
				}
				for _, e := range estimates(t, collect(t, o, values))[2:] {
					f := e.Count / float64(n)
					square += f * f
					count++
				}
			}
			want := o.Variance(int64(n), 0) - o.SharedVariance()/2 // Σf² is ½, and not 1
			q := o.other
			sd := math.Sqrt((2 + 1/(float64(n)*q)) / count)
			if o.SharedVariance() > 0 {
				// each run's functions bias all 1,022 values by their own cells, so the square has the tails of a
				// normal variable
				sd *= 1.5
			}
			ratio := square / count / want
			t.Logf(
				"%s at ε = %s: n × variance %.4g, simulated %.4g, relative standard deviation %.2g",
				name,
				e,
				want*float64(n),
				square/count*float64(n),
				sd,
			)
			if math.Abs(ratio-1) > 6*sd {
				t.Errorf("%s at ε = %s: the simulated variance is %.3f of the stated one", name, e, ratio)
			}
		}
	}
}

// The intervals of a common, a rare and an absent value cover the true counts at least as often as promised, over
// fresh reports, and public functions where there are some. Each test's rate of false alarms is 1e-6.
func TestIntervalsCover(t *testing.T) {
	names, epsilons := []string{"krr", "olh", "hr", "ss", "flh"}, []string{"1"}
	if os.Getenv("DITHER_LONG") != "" {
		names, epsilons = Mechanisms(), []string{"0.5", "3"}
	}
	for _, name := range names {
		for _, e := range epsilons {
			k, n := uint64(40), 400
			if name == "coin" {
				k = 2
			}
			if name == "cms" {
				n = 60
			}
			tests := []*stattest.Sequential{}
			for range 3 {
				tests = append(tests, &stattest.Sequential{Promised: .9, Wrong: .8, FalseAlarm: 1e-6, Miss: 1e-6})
			}
			truth := []float64{math.Floor(float64(n) * .6), 0, 0}
			truth[1] = float64(n) - truth[0]
			for run := uint64(0); stattest.AnyOpen(tests); run++ {
				o, err := New(Params{Mechanism: name, Values: k, Epsilon: epsilon(t, e), Seed: run})
				if err != nil {
					t.Fatal(err)
				}
				values := make([]uint64, n)
				for i := range values {
					if i >= int(truth[0]) {
						values[i] = 1
					}
				}
				look := []uint64{0, 1, k - 1}
				got, err := collect(t, o, values).Estimate(.9, look...)
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range got {
					want := truth[i]
					if k == 2 {
						want = truth[g.Value]
					}
					tests[i].Observe(g.Low <= want && want <= g.High)
				}
			}
			for i, s := range tests {
				if err := s.Check(); err != nil {
					t.Errorf("%s at ε = %s, value %d: %v", name, e, i, err)
				}
			}
		}
	}
}

// The cells of two values are independent and uniform over the coefficients of degree 1, by counting all of a small
// field; and mul61 is multiplication modulo 2⁶¹ − 1.
func TestHashesAreIndependent(t *testing.T) {
	for _, ab := range [][2]uint64{{0, 5}, {prime - 1, prime - 1}, {1 << 60, 1 << 60}, {prime - 1, 2}, {123456789123, 987654321987}} {
		want := new(big.Int).Mul(new(big.Int).SetUint64(ab[0]), new(big.Int).SetUint64(ab[1]))
		want.Mod(want, big.NewInt(prime))
		if got := mul61(ab[0], ab[1]); got != want.Uint64() {
			t.Errorf("%d·%d = %d, want %d", ab[0], ab[1], got, want)
		}
	}
	// collisions of three values in 5 cells over public functions; the false-alarm rate of each check is 1e-6
	const trials, g = 40_000, 5
	var pairs, triples [g * g * g]int
	for i := range trials {
		h := publicHash(7, uint64(i))
		at := h.cell(1, g)*g*g + h.cell(2, g)*g + h.cell(1<<59, g)
		triples[at]++
		h.c2 = 0
		pairs[h.cell(3, g)*g+h.cell(1<<60-1, g)]++
	}
	check := func(observed []int) {
		expected := make([]float64, len(observed))
		for i := range expected {
			expected[i] = 1 / float64(len(expected))
		}
		if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}).Check(); err != nil {
			t.Error(err)
		}
	}
	check(triples[:])
	check(pairs[:g*g])
}

// A value is supported by local hashing with the stated probabilities. The false-alarm rate is 1e-6 for each check.
func TestLocalHashingSupports(t *testing.T) {
	for _, name := range []string{"olh", "flh", "cms", "hcms"} {
		o := oracle(t, name, 50, "1.3")
		n := 40_000
		if name == "cms" {
			n = 3000
		}
		values := make([]uint64, n)
		tally := collect(t, o, values)
		p, q := o.Support()
		own, _ := p.Float64()
		if err := (stattest.Proportion{Successes: int(tally.tally.support([]uint64{0})[0]), Of: stattest.Binomial{Trials: n, Probability: own}, FalseAlarm: 1e-6}).Check(); err != nil {
			t.Errorf("%s: the own value: %v", name, err)
		}
		// over the functions, the mean support of other values; five standard deviations and the functions' share
		sum := 0.0
		for _, s := range tally.tally.support([]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})[:] {
			sum += float64(s) / float64(n) / 10
		}
		other, _ := q.Float64()
		if sd := math.Sqrt(o.Variance(int64(n), 0)) / o.Weight(); math.Abs(sum-other) > 5*sd {
			t.Errorf("%s: other values have the support %.4f, want %.4f", name, sum, other)
		}
	}
}

func TestConsistentCountsAddUp(t *testing.T) {
	o := oracle(t, "oue", 30, "0.5")
	values := make([]uint64, 300)
	tally := collect(t, o, values)
	all := estimates(t, tally)
	out, err := tally.Consistent(all)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, e := range out {
		if sum += e.Count; e.Count < 0 || e.Low < 0 || e.High > 300 {
			t.Errorf("%+v", e)
		}
	}
	if math.Abs(sum-300) > 1e-6 {
		t.Errorf("the counts sum up to %v", sum)
	}
	if _, err := tally.Consistent(all[:29]); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}
