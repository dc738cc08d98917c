package learning

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

func exactSum(t testing.TB, m NoisyGradient, rows *mechanism.Rows, theta []float64) []int64 {
	t.Helper()
	src := entropy.System()
	defer src.Wipe()
	in, err := opaque.OpenRows(rows, m.Model.Features)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.sum(t.Context(), src, in, theta)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func trained(features int) []Model {
	return []Model{
		{Kind: "linear", Features: features},
		{Kind: "logistic", Features: features},
		{Kind: "poisson", Features: features},
		{Kind: "softmax", Features: features, Classes: 3},
		{Kind: "network", Features: features, Classes: 2, Hidden: 4, Activation: "relu"},
		{Kind: "network", Features: features, Classes: 1, Hidden: 4},
	}
}

// With every unit taken, adding one changes the sum by integers of a norm within the clip, whatever its rows, θ and
// the others: rows far beyond the bounds, parameters that make doubles overflow. What it adds is the same beside others
// as alone.
func TestUnitsAddWithinClip(t *testing.T) {
	r := rand.New(rand.NewPCG(101, 102))
	const d, most = 3, 3
	longest := 0.0
	for _, model := range trained(d) {
		m := NoisyGradient{Model: model, Clip: ratOf(1.5), Rate: big.NewRat(1, 1), Multiplier: big.NewRat(11, 10)}
		_, c, err := m.Grid()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range kinds(r, d, 30, most) {
			name := p.name
			for _, size := range []float64{0, 0.3, 1e3, 1e200} {
				theta := make([]float64, model.Parameters())
				for i := range theta {
					theta[i] = size * r.NormFloat64()
				}
				base := exactSum(t, m, p.rows(t, 2, most), theta)
				more := problem{d: d, units: slices.Clone(p.units)}
				own := p.neighbour(r, privacy.AddRemove, most)
				hard := own.units[max(len(own.units)-1, 0):]
				if len(hard) == 0 {
					continue
				}
				more.units = slices.Insert(more.units, r.IntN(len(more.units)+1), hard[0])
				with := exactSum(t, m, more.rows(t, 2, most), theta)
				alone := exactSum(t, m, problem{d: d, units: hard[:1]}.rows(t, 2, most), theta)
				square := new(big.Int)
				for i := range base {
					if with[i]-base[i] != alone[i] {
						t.Fatalf("%s, %s: it adds %d to the %d-th sum, and alone %d", model.Kind, name, with[i]-base[i],
							i, alone[i])
					}
					z := big.NewInt(alone[i])
					square.Add(square, z.Mul(z, z))
				}
				if limit := new(big.Int).Mul(big.NewInt(c), big.NewInt(c)); square.Cmp(limit) > 0 {
					t.Errorf("%s, %s: a squared norm of %s, and the clip's is %s", model.Kind, name, square, limit)
				}
				f, _ := new(big.Float).SetInt(square).Float64()
				longest = max(longest, math.Sqrt(f)/float64(c))
			}
		}
	}
	if longest < 0.999 {
		t.Errorf("the longest was %g of the clip: the test shows nothing", longest)
	}
}

// ones is a table of units whose linear gradient at 0 is one unit of the clip each.
func ones(t testing.TB, n int) *mechanism.Rows {
	p := problem{d: 1}
	for range n {
		p.units = append(p.units, [][]float64{{1, -1}})
	}
	return p.rows(t, 1, 1)
}

// A sample takes each unit with exactly the rate's probability: of 50 samples of 4,000 units the number taken is
// binomial. (False-alarm rate 1e-7.)
func TestSampleIsPoisson(t *testing.T) {
	rows := ones(t, 4000)
	for _, q := range []*big.Rat{big.NewRat(256, 60000), big.NewRat(1, 3), big.NewRat(9, 10)} {
		m := NoisyGradient{Model: Model{Kind: "linear", Features: 1}, Clip: ratOf(1), Rate: q, Multiplier: ratOf(1)}
		_, c, err := m.Grid()
		if err != nil {
			t.Fatal(err)
		}
		taken := int64(0)
		for range 50 {
			taken += exactSum(t, m, rows, []float64{0})[0] / c
		}
		f, _ := q.Float64()
		if err := (stattest.Proportion{
			Successes: int(taken), Of: stattest.Binomial{Trials: 50 * 4000, Probability: f},
			FalseAlarm: 1e-7,
		}).Check(); err != nil {
			t.Error(err)
		}
	}
}

// A step is the sum of the sample with noise of σ = Multiplier·c on each coordinate, exactly that of the recorded
// randomness.
func TestStepReplays(t *testing.T) {
	r := rand.New(rand.NewPCG(105, 106))
	p := kinds(r, 3, 50, 2)[0]
	rows := p.rows(t, 2, 2)
	m := NoisyGradient{
		Model: Model{Kind: "logistic", Features: 3}, Clip: ratOf(1), Rate: big.NewRat(1, 2),
		Multiplier: ratOf(2),
	}
	recording := make([]byte, 1<<14)
	for i := range recording {
		recording[i] = byte(r.Uint32())
	}
	run := func() string {
		out, err := m.step(t.Context(), entropy.Recorded(recording), rows, []float64{1, 0, -1})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(out.Values)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s, and then %s", a, b)
	}
	got, err := m.Step(t.Context(), rows, []float64{1, 0, -1})
	if err != nil || len(got.Values) != 3 {
		t.Fatal(err)
	}
	d, err := m.Noise()
	if _, c, _ := m.Grid(); err != nil || d.Sigma2().Cmp(new(big.Rat).SetInt64(4*c*c)) != 0 {
		t.Errorf("σ² = %s of c = %d", d.Sigma2(), c)
	}
}

// What makes no sense is refused; tables without rows are none of it.
func TestNoisyGradientRefuses(t *testing.T) {
	good := NoisyGradient{
		Model: Model{Kind: "linear", Features: 1}, Clip: ratOf(1), Rate: big.NewRat(1, 2),
		Multiplier: ratOf(1),
	}
	for name, change := range map[string]func(m *NoisyGradient){
		"no model":        func(m *NoisyGradient) { m.Model = Model{} },
		"no clip":         func(m *NoisyGradient) { m.Clip = nil },
		"negative clip":   func(m *NoisyGradient) { m.Clip = ratOf(-1) },
		"no noise":        func(m *NoisyGradient) { m.Multiplier = new(big.Rat) },
		"no rate":         func(m *NoisyGradient) { m.Rate = nil },
		"rate of 0":       func(m *NoisyGradient) { m.Rate = new(big.Rat) },
		"rate above 1":    func(m *NoisyGradient) { m.Rate = big.NewRat(3, 2) },
		"rate too fine":   func(m *NoisyGradient) { m.Rate = ratOf(0x1p-70) },
		"an endless clip": func(m *NoisyGradient) { m.Clip = ratOf(0x1p80) },
	} {
		m := good
		change(&m)
		if _, err := m.Step(t.Context(), ones(t, 1), []float64{0}); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, theta := range [][]float64{nil, {0, 0}, {math.NaN()}, {math.Inf(1)}} {
		if _, err := good.Step(t.Context(), ones(t, 1), theta); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("θ = %v: %v", theta, err)
		}
	}
	if _, err := good.Step(t.Context(), problem{d: 2}.rows(t, 1, 1), []float64{0}); !errors.Is(err, mechanism.ErrRows) {
		t.Errorf("rows of another shape: %v", err)
	}
	if out, err := good.Step(t.Context(), ones(t, 0), []float64{0}); err != nil || len(out.Values) != 1 {
		t.Errorf("no rows: %v", err)
	}
}

// bigRows are n rows of ten features, in a file where they do not fit into memory.
func bigRows(b *testing.B, n int) *mechanism.Rows {
	r := rand.New(rand.NewPCG(107, 108))
	rows, err := mechanism.NewRows(mechanism.RowShape{
		Grids: slices.Repeat([]int{-20}, 11), Bound: ratOf(3), Most: 1,
		Dir: b.TempDir(),
	})
	if err != nil {
		b.Fatal(err)
	}
	row := make([]int64, 11)
	for range n {
		for i := range row {
			row[i] = r.Int64N(1<<21) - 1<<20
		}
		row[10] = r.Int64N(2) << 20
		if err := rows.Add(true, row); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Seal(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = rows.Close() })
	return rows
}

// BenchmarkNoisyGradient: logistic regression of ten features, in memory and from a file.
func BenchmarkNoisyGradient(b *testing.B) {
	for _, n := range []int{100_000, 4_000_000} {
		rows := bigRows(b, n)
		for _, q := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 100)} {
			m := NoisyGradient{
				Model: Model{Kind: "logistic", Features: 10}, Clip: ratOf(1), Rate: q,
				Multiplier: ratOf(1),
			}
			b.Run(fmt.Sprintf("rows=%d/rate=%s", n, q.RatString()), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Step(b.Context(), rows, make([]float64, 10)); err != nil {
						b.Fatal(err)
					}
				}
				f, _ := q.Float64()
				b.ReportMetric(f*float64(n)*float64(b.N)/b.Elapsed().Seconds(), "gradients/s")
			})
		}
	}
}

// BenchmarkMinimum: logistic regression of ten features.
func BenchmarkMinimum(b *testing.B) {
	const n = 1_000_000
	rows := bigRows(b, n)
	o := Objective{Loss: LogisticLoss, Radius: ratOf(5), Regularise: ratOf(200), Rows: n}
	m, err := NewMinimiser(o, 10, ratOf(3), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Minimum(b.Context(), rows); err != nil {
			b.Fatal(err)
		}
	}
}
