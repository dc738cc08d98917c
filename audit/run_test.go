package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/internal/stattest"

	"pgregory.net/rapid"
)

// geometric is two-sided geometric noise: k with a probability proportional to exp(−|k|/scale).
func geometric(r *rand.Rand, scale float64) int {
	g := func() int { return int(math.Floor(-scale * math.Log(1-r.Float64()))) }
	up, down := g(), g()
	return up - down
}

// wellMade keep their promises, and no more: their claims are tight.
var wellMade = []member{
	{"geometric noise", "1", "0", 20_000, func(r *rand.Rand, side Side) string {
		return strconv.Itoa(10 + int(side) + geometric(r, 1))
	}, false},
	{"randomized response", "1.0986122886681099", "0", 20_000, func(r *rand.Rand, side Side) string {
		// ln 3, rounded up
		if r.IntN(2) == 0 {
			return pick(side, "yes", "no")
		}
		return []string{"yes", "no"}[r.IntN(2)]
	}, false},
	{"the exponential mechanism", "1", "0", 20_000, func(r *rand.Rand, side Side) string {
		scores := pick(side, []float64{0, 1, 0, 0}, []float64{1, 0, 1, 1})
		sum := 0.0
		for _, s := range scores {
			sum += math.Exp(s / 2)
		}
		u := r.Float64() * sum
		for i, s := range scores {
			if u -= math.Exp(s / 2); u < 0 {
				return []string{"ann", "bob", "cat", "dan"}[i]
			}
		}
		return "dan"
	}, false},
	{"sparse vector, Algorithm 1", "1", "0", 20_000, func(r *rand.Rand, side Side) string { // ε₁ = ε₂ = ½, c = 2
		q := append(repeat(pick(side, 0.0, 1.0), 6), repeat(pick(side, 1.0, 0.0), 6)...)
		return sparse(r, q, 2, 8, 2, top)
	}, false},
	{"a histogram of ten counts", "1", "0", 5_000, func(r *rand.Rand, side Side) string {
		out := make([]string, 10)
		for i := range out {
			out[i] = strconv.Itoa(5 + geometric(r, 1))
		}
		out[3] = strconv.Itoa(5 + int(side) + geometric(r, 1))
		return "[" + strings.Join(out, ",") + "]"
	}, false},
}

// What keeps its promise is not refuted, with false alarms of at most 1e-6 for all of them together.
func TestWellMadeAreNotRefuted(t *testing.T) {
	t.Parallel()
	for i, m := range wellMade {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Runs: m.runs, Claim: claim(t, m.epsilon, m.delta), Confidence: 1 - 1e-6/float64(len(wellMade))}
			r, err := Run(context.Background(), m.mechanism(uint64(i)), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: ε ≥ %.4g: %s %v", r.Verdict, r.Epsilon, r.Findings[0].Event, r.Findings[0].Counts)
			if r.Verdict != NotRefuted || r.Epsilon <= 0 {
				t.Errorf("%s, ε ≥ %g", r.Verdict, r.Epsilon)
			}
		})
	}
}

// Of many audits of true and tight claims at confidence 0.8, at most one in five refutes. The events' counts are small,
// where the bounds' discreteness helps least. False alarms of this test: 1e-6.
func TestConfidence(t *testing.T) {
	t.Parallel()
	const audits, confidence = 100, 0.8
	refuted, off := 0, 0
	for i := range audits {
		m := wellMade[i%2]
		r, err := Run(context.Background(), m.mechanism(uint64(1000+i)),
			Options{Runs: 1000, Claim: claim(t, m.epsilon, "0"), Confidence: confidence})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Refuted {
			refuted++
		}
		if f, _ := r.Claim.Epsilon.Rat().Float64(); r.Epsilon > f {
			off++
		}
	}
	t.Logf("%d of %d refuted", refuted, audits)
	if off != refuted {
		t.Errorf("%d bounds above the truth, %d refutations", off, refuted)
	}
	if tail := (stattest.Binomial{Trials: audits, Probability: 1 - confidence}).AtLeast(refuted); tail < 1e-6 {
		t.Errorf("%d of %d true claims were refuted at confidence %g", refuted, audits, confidence)
	}
}

func TestOptions(t *testing.T) {
	m := Func(func(Side) string { return "" })
	for _, o := range []Options{
		{Runs: -1}, {Runs: 99}, {Runs: 2e9}, {Confidence: -1}, {Confidence: 0.4}, {Confidence: 1}, {Confidence: math.NaN()}, {Confidence: math.Inf(1)},
	} {
		if _, err := Run(context.Background(), m, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := Run(context.Background(), nil, Options{}); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
	if _, err := Run(context.Background(), Program{}, Options{}); !errors.Is(err, ErrCommand) {
		t.Error(err)
	}
}

// odd is a mechanism that does what it likes.
type odd func(n int, yield func([]byte) error) error

func (o odd) Run(_ context.Context, _ Side, n int, yield func([]byte) error) error {
	return o(n, yield)
}

func TestOddMechanisms(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	for _, c := range []struct {
		what string
		m    Mechanism
		want string
	}{
		{"fails", odd(func(int, func([]byte) error) error { return failure }), "failure"},
		{"too few", odd(func(n int, yield func([]byte) error) error { return yield([]byte("1")) }), "the mechanism gave 1 outputs in"},
		{"too many", odd(func(n int, yield func([]byte) error) error {
			for range n + 1 {
				if err := yield([]byte("1")); err != nil {
					return err
				}
			}
			return nil
		}), "more outputs than runs"},
		{"a constant seed", odd(func(n int, yield func([]byte) error) error {
			r := rand.New(rand.NewPCG(1, 1))
			for range n {
				if err := yield(fmt.Append(nil, r.Float64())); err != nil {
					return err
				}
			}
			return nil
		}), "neither constant"},
		{"nothing to compare", Func(func(Side) string { return fmt.Sprintf("x%016xz", rand.Uint64()) }), "nothing to compare: of 500 outputs, 500 are distinct"},
		{"nothing to compare in a row", Func(func(Side) string { return fmt.Sprintf("x%016x, y%016x", rand.Uint64(), rand.Uint64()) }), "nothing to compare"},
	} {
		if _, err := Run(context.Background(), c.m, Options{Runs: 1000}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	slow := Func(func(Side) string { time.Sleep(time.Millisecond); return "1" })
	if _, err := Run(ctx, slow, Options{Runs: 1e9}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A slow side, and a time that depends on the output, show.
func TestTiming(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	report, err := Run(context.Background(), Func(func(s Side) string {
		x := r.IntN(100)
		for begun := time.Now(); time.Since(begun) < time.Duration(x)*time.Microsecond+time.Duration(
			s)*20*time.Microsecond; {
		}
		return strconv.Itoa(x)
	}), Options{Runs: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if tm := report.Timing; tm == nil || tm.Sizes < 0.7 || tm.Slower > 0.45 || tm.Median[1] < 40*time.Microsecond {
		t.Errorf("%+v", tm)
	}
}

func TestSupport(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	report, err := Run(context.Background(),
		Func(func(s Side) string { return fmt.Sprint(float64(s) + laplace(r, 1)) }), Options{Runs: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(report.Support, "\n")
	t.Log(text)
	if !strings.Contains(text, "numbers of data lie off the grid of neighbor's numbers of the same size.") ||
		strings.Contains(text, "numbers of neighbor lie off") {
		t.Error(text)
	}
}

func BenchmarkRun(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 7))
	for b.Loop() {
		m := Func(func(s Side) string { return strconv.Itoa(int(s) + geometric(r, 1)) })
		if _, err := Run(context.Background(), m, Options{Runs: 1_000_000, Claim: claim(b, "1", "0")}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProgram(b *testing.B) {
	data, neighbor := sides(b, "0", "1")
	const command = `sh -c 'awk -v n=$0 -v s="$(od -An -N4 -tu4 /dev/urandom)" "{ srand(s / 2); for (i = 0; i < n; i++) print \$1 + int(10 * rand()) }"' {runs}`
	for b.Loop() {
		p := Program{Command: command, Input: data, Neighbor: neighbor}
		if _, err := Run(context.Background(), p, Options{Runs: 1_000_000, Claim: claim(b, "1", "0")}); err != nil {
			b.Fatal(err)
		}
	}
}

// The number with few digits that stands for a cut is above what is below, and no more than what is above.
func TestShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		if math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) || a == b {
			return
		}
		low, high := min(a, b), max(a, b)
		if x := shortest(low, high); !(x > low && x <= high) {
			t.Errorf("%g is not between %g and %g", x, low, high)
		}
	})
}

// Whatever a mechanism prints, an audit ends, and does not refute what the data have no part in.
func FuzzRun(f *testing.F) {
	for _, text := range []string{
		"1\n2\n3", "a,b\n[1, 2]\n", "NaN\n-0\n5e-324\n1e308\n-1e308", "⊥ ⊥ 1.5\n⊥ 2\n⊤",
		"0x1p-3\n1_000\n+.5e-7\n\xff",
	} {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		lines := strings.Split(text, "\n")
		r := rand.New(rand.NewPCG(seed, 1))
		m := Func(func(Side) string { return lines[r.IntN(len(lines))] })
		report, err := Run(context.Background(), m,
			Options{Runs: 200, Claim: claim(t, "0.001", "0"), Confidence: 1 - 1e-12})
		if err != nil && !errors.Is(err, ErrIncomparable) || err == nil && report.Verdict != NotRefuted {
			t.Fatalf("%+v, %v", report, err)
		}
	})
}
