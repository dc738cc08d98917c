package account_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"dither/account"
)

func job(t testing.TB, specs ...string) *account.Job {
	t.Helper()
	var steps []account.Step
	for _, s := range specs {
		step, err := account.ParseStep(s)
		if err != nil {
			t.Fatal(s, err)
		}
		steps = append(steps, step)
	}
	j, err := account.NewJob(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func epsilonReport(t testing.TB, delta string, specs ...string) account.Report {
	t.Helper()
	r, err := job(t, specs...).Epsilon(promise(t, "0", delta).Delta)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func deltaReport(t testing.TB, epsilon string, specs ...string) account.Report {
	t.Helper()
	r, err := job(t, specs...).Delta(promise(t, epsilon, "0").Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// figures are a report's upper bounds, by name.
func figures(r account.Report) map[string]account.Figure {
	return map[string]account.Figure{
		"basic": r.Basic, "advanced": r.Advanced, "zcdp": r.ZCDP, "renyi": r.Renyi,
		"pld": r.PLD.Figure,
	}
}

func near(got, want, last float64) bool { return got >= want-last && got <= want+last }

// Figures of the literature, and of the formulas by mpmath.
func TestReportFigures(t *testing.T) {
	hundred := epsilonReport(t, "1e-6", "pure epsilon=.1 count=100")
	if hundred.Basic.Value != 10 || !near(hundred.Advanced.Value, 6.308230950513, 1e-12) {
		t.Errorf("100 × 0.1: %+v", hundred)
	}
	// The bounded range of the exponential mechanism is worth more than half of ε; at ρ = ε²/8 it is
	// 2.4190931768671951.
	exponential := epsilonReport(t, "1e-6", "exponential epsilon=.1 count=100")
	if !near(exponential.ZCDP.Value, 2.4190931768671951, 1e-15) || exponential.Renyi.Value > exponential.ZCDP.Value ||
		exponential.Advanced != hundred.Advanced {
		t.Errorf("100 exponential mechanisms of 0.1: %+v", exponential)
	}
	// Conversions [Canonne, Kamath & Steinke 2020]: ρ = 0.1 at 1e-6, ρ = 0.5 at 1e-5.
	for spec, want := range map[string]float64{"zcdp rho=.1": 2.141938928385} {
		if r := epsilonReport(t, "1e-6", spec); !near(r.ZCDP.Value, want, 1e-12) || r.Renyi.Value > r.ZCDP.Value ||
			r.Renyi.Value < r.ZCDP.Value*(1-1e-9) {
			t.Errorf("%s: %+v", spec, r)
		}
	}
	for _, spec := range []string{
		"zcdp rho=.5", "gaussian sigma=1", "gdp mu=1",
		"discrete-gaussian sigma=3 sensitivity=3", "gaussian sigma=2 sensitivity=.2 count=100",
	} {
		if r := epsilonReport(t, "1e-5", spec); !near(r.ZCDP.Value, 4.728386984943, 1e-12) {
			t.Errorf("%s: %+v", spec, r)
		}
	}
	// A constant Rényi loss up to the order 32, whose best order is 32.
	if r := epsilonReport(t, "1e-5", "renyi order=32 epsilon=1.1"); !near(r.Renyi.Value, 1.32783806176, 1e-11) {
		t.Errorf("Rényi 1.1: %+v", r)
	}
	// By loss distributions: KOV's optimum, Gaussians by their own curve, 3 × σ = √3 as one of σ = 1.
	if !near(hundred.PLD.Value, 4.774567588108, 1e-12) || !near(hundred.PLD.Lower, 4.774567588108, 1e-12) {
		t.Errorf("100 × 0.1: %+v", hundred.PLD)
	}
	if exponential.PLD.Value > 2.4190931768671955 || exponential.PLD.Lower < 2.2 {
		t.Errorf("100 exponential mechanisms of 0.1: %+v", exponential.PLD)
	}
	if r := deltaReport(t, "22", "pure epsilon=1 count=30"); !near(r.PLD.Value, 0.020276245549846, 1e-15) {
		t.Errorf("30 × 1: %+v", r.PLD)
	}
	if r := deltaReport(t, "1", "gaussian sigma=1.5 sensitivity=1.5"); !near(r.PLD.Value, 0.12693673750664395, 1e-16) ||
		!near(r.PLD.Lower, r.PLD.Value, 1e-16) {
		t.Errorf("Gaussian σ = 1: %+v", r.PLD)
	}
	if r := epsilonReport(t, "1e-5", "gdp mu=.6",
		"gaussian sigma=1.25 count=1"); !near(r.PLD.Value, 4.3771780956812246, 1e-14) {
		t.Errorf("Gaussians that make μ = 1: %+v", r.PLD)
	}
	// The discrete Gaussian's own curve at σ² = 1 [Canonne, Kamath & Steinke 2020].
	if r := deltaReport(t, "1", "discrete-gaussian sigma=1"); !near(r.PLD.Value, 0.14135133940562, 1e-14) {
		t.Errorf("discrete Gaussian: %+v", r.PLD)
	}
	// One Laplace answer: δ(ε) = 1 − e^((ε−1/b)/2).
	if r := deltaReport(t, "0.5", "laplace scale=1"); !near(r.PLD.Value, -math.Expm1(-0.25), 1e-6) ||
		!near(r.PLD.Lower, -math.Expm1(-0.25), 1e-6) {
		t.Errorf("Laplace: %+v", r.PLD)
	}
	// DP-SGD on MNIST, as dp_accounting tells it: by Rényi 2.59655587 with its orders, by loss distributions 2.38168600
	// on its grid.
	if !long {
		return
	}
	mnist := epsilonReport(t, "1e-5", "gaussian sigma=1.1 sampling=256/60000 count=14062")
	if mnist.Renyi.Value > 2.59655588 || mnist.Renyi.Value < 2.5965 || mnist.PLD.Value > 2.381686 ||
		mnist.PLD.Lower < 2.3814 {
		t.Errorf("MNIST: %+v", mnist)
	}
}

// everySpec is each mechanism, alone and sampled in each way that there is.
var everySpec = []string{
	"gaussian sigma=3", "gaussian sigma=1.1 sampling=1/100", "gaussian sigma=4 sampling=.1 scheme=fixed",
	"discrete-gaussian sigma=3",
	"discrete-gaussian sigma=10 sensitivity=5", "discrete-gaussian sigma=3 sampling=.1",
	"laplace scale=5", "laplace scale=1 sampling=.02", "laplace scale=1 sampling=.02 scheme=fixed",
	"discrete-laplace scale=4 sensitivity=2", "discrete-laplace scale=2 sampling=.1",
	"exponential epsilon=.3", "exponential epsilon=1 sampling=.1", "randomized-response k=10 epsilon=.5",
	"randomized-response k=2 epsilon=.5 sampling=.3 scheme=fixed",
	"pure epsilon=.25", "pure epsilon=2 sampling=.01", "approx epsilon=.25 delta=1e-8",
	"approx epsilon=.5 delta=1e-7 sampling=.1", "approx epsilon=0 delta=1e-8",
	"zcdp rho=.02", "zcdp rho=.1 sampling=.1", "renyi order=16 epsilon=.1", "renyi order=16 epsilon=.1 sampling=.2",
	"gdp mu=.3", "gdp mu=1 sampling=.05",
}

// long reports that the slow forms are asked for.
var long = os.Getenv("DITHER_LONG") != ""

// some leaves, where there is no time, every so manieth of some specs.
func some(every int, specs []string) []string {
	if long {
		return specs
	}
	var out []string
	for i := 0; i < len(specs); i += every {
		out = append(out, specs[i])
	}
	return out
}

// slow are specs whose Rényi divergence takes long: where there is no time, some laws are checked on the others alone.
func slow(spec string) bool { return strings.Contains(spec, "sampling") && !long }

// ordered checks the laws within one report: brackets are brackets, and PLD ≤ Rényi ≤ basic.
func ordered(t *testing.T, what string, r account.Report) {
	t.Helper()
	for name, f := range figures(r) {
		if f.Told() != !math.IsNaN(f.Value) || f.Told() && (f.Value < 0 || math.IsInf(f.Value, 0)) || !f.Told() &&
			f.Why == "" {
			t.Errorf("%s: %s is %+v", what, name, f)
		}
	}
	least, _ := r.Least()
	if r.PLD.Told() && (!(r.PLD.Lower <= r.PLD.Value) || r.PLD.Value > least.Value) || r.Basic.Told() &&
		r.Renyi.Value > r.Basic.Value {
		t.Errorf("%s: out of order: %+v", what, r)
	}
	for name, f := range figures(r) {
		if f.Told() && r.PLD.Told() && f.Value < r.PLD.Lower {
			t.Errorf("%s: %s says %g, which is below the lower bound %g", what, name, f.Value, r.PLD.Lower)
		}
	}
}

// TestReportCounts: n times is a loop of n, for every accountant and mechanism: in one job n equal steps are one of
// count n; so the loop varies each step by less than any figure shows.
func TestReportCounts(t *testing.T) {
	for i, spec := range everySpec {
		if slow(spec) && !strings.HasPrefix(spec, "approx") {
			continue
		}
		once := epsilonReport(t, "1e-5", spec+" count=7")
		steps := make([]string, 7)
		for i := range steps {
			steps[i] = spec
		}
		loop := epsilonReport(t, "1e-5", steps...)
		ordered(t, spec, once)
		for name, f := range figures(once) {
			if g := figures(loop)[name]; f != g && (f.Told() || g.Told()) {
				t.Errorf("%s: %s says %+v of seven at once, %+v of a loop", spec, name, f, g)
			}
		}
		// Seven that differ in the 17th digit.
		if slow(spec) || !long && i%5 != 0 {
			continue
		}
		for i := range steps {
			steps[i] = nudged(spec, i)
		}
		loop = epsilonReport(t, "1e-5", steps...)
		ordered(t, spec, loop)
		for name, f := range figures(once) {
			g := figures(loop)[name]
			if f.Told() != g.Told() || f.Told() && name != "pld" && math.Abs(f.Value-g.Value) > 1e-9*f.Value {
				t.Errorf("%s: %s says %+v of seven at once, %+v of nearly equal ones", spec, name, f, g)
			}
		}
		if once.PLD.Told() && (once.PLD.Lower > loop.PLD.Value*(1+1e-12) || loop.PLD.Lower > once.PLD.Value*(1+1e-12)) {
			t.Errorf("%s: seven at once %+v, nearly equal ones %+v", spec, once.PLD, loop.PLD)
		}
	}
}

// nudged is a spec whose last value but count has a digit behind it, where it is no integer that must stay one.
func nudged(spec string, i int) string {
	if i == 0 {
		return spec
	}
	for _, key := range []string{"sigma", "scale", "epsilon", "rho", "mu"} {
		var name string
		var rest, value string
		if n, _ := fmt.Sscanf(after(spec, key+"="), "%s", &value); n == 1 {
			name, rest = before(spec, key+"="), after(spec, key+"="+value)
			if value == "0" {
				return spec
			}
			dot := "."
			if before(value, ".") != value {
				dot = ""
			}
			return name + key + "=" + value + dot + "0000000000000000" + fmt.Sprint(i) + rest
		}
	}
	return spec
}

func before(s, cut string) string {
	for i := range s {
		if len(s[i:]) >= len(cut) && s[i:i+len(cut)] == cut {
			return s[:i]
		}
	}
	return s
}

func after(s, cut string) string {
	if b := before(s, cut); b != s {
		return s[len(b)+len(cut):]
	}
	return ""
}

// TestReportFalls: δ falls in ε and ε in δ, for every accountant of every mechanism.
func TestReportFalls(t *testing.T) {
	for _, spec := range some(4, everySpec) {
		if slow(spec) && !strings.HasPrefix(spec, "pure") {
			continue
		}
		last := account.Report{}
		epsilons, deltas := []string{"1e-6", "0.1", "0.5", "1", "2", "5", "20"},
			[]string{"1e-12", "1e-7", "1e-4", "0.01", "0.5"}
		switch {
		case slow(spec):
			epsilons, deltas = []string{"0.5"}, nil
		case !long:
			epsilons, deltas = []string{"0.1", "1", "5"}, []string{"1e-12", "0.01"}
		}
		for i, e := range epsilons {
			r := deltaReport(t, e, spec+" count=5")
			ordered(t, spec+" at "+e, r)
			for name, f := range figures(r) {
				if g := figures(last)[name]; i > 0 && g.Told() && (!f.Told() || f.Value > g.Value*(1+1e-12)) {
					t.Errorf("%s: δ by %s rises to %+v from %+v at ε = %s", spec, name, f, g, e)
				}
			}
			last = r
		}
		for i, d := range deltas {
			r := epsilonReport(t, d, spec+" count=5")
			ordered(t, spec+" at δ = "+d, r)
			for name, f := range figures(r) {
				if g := figures(last)[name]; i > 0 && g.Told() && (!f.Told() || f.Value > g.Value*(1+1e-12)) {
					t.Errorf("%s: ε by %s rises to %+v from %+v at δ = %s", spec, name, f, g, d)
				}
			}
			last = r
		}
	}
}

// TestReportMonotone: less noise, more sampling, more steps or a larger promise never lose less.
func TestReportMonotone(t *testing.T) {
	for _, pair := range [][2]string{ // the first loses no more than the second
		{"gaussian sigma=3", "gaussian sigma=2.9"},
		{"gaussian sigma=3", "gaussian sigma=3 sensitivity=1.1"},
		{"gaussian sigma=1 sampling=.01 count=100", "gaussian sigma=1 sampling=.011 count=100"},
		{"gaussian sigma=1 sampling=.01 count=100", "gaussian sigma=.98 sampling=.01 count=100"},
		{"gaussian sigma=1 sampling=.01 count=100", "gaussian sigma=1 sampling=.01 count=110"},
		{"gaussian sigma=1 sampling=.5", "gaussian sigma=1"},
		{"laplace scale=3", "laplace scale=2.9"},
		{"laplace scale=3 sampling=.1 count=20", "laplace scale=3 sampling=.2 count=20"},
		{"laplace scale=3 sampling=.1 count=20", "laplace scale=3 count=20"},
		{"discrete-laplace scale=3", "discrete-laplace scale=3 sensitivity=2"},
		{"discrete-gaussian sigma=3", "discrete-gaussian sigma=2.9"},
		{"exponential epsilon=.3 count=50", "pure epsilon=.3 count=50"},
		{"randomized-response k=5 epsilon=1 count=10", "pure epsilon=1 count=10"},
		{"approx epsilon=.1 delta=1e-9 count=10", "approx epsilon=.1 delta=1e-8 count=10"},
		{"zcdp rho=.1", "zcdp rho=.11"},
		{"gdp mu=.9", "gdp mu=1"},
	} {
		if slow(pair[0]) && pair[0] != "gdp mu=1 sampling=.5" {
			continue
		}
		less, more := epsilonReport(t, "1e-6", pair[0]), epsilonReport(t, "1e-6", pair[1])
		for name, f := range figures(less) {
			if g := figures(more)[name]; g.Told() && f.Told() && f.Value > g.Value*(1+1e-9) && name != "pld" {
				t.Errorf("%s says %g of %q, %g of %q", name, f.Value, pair[0], g.Value, pair[1])
			}
		}
		if less.PLD.Told() && more.PLD.Told() && less.PLD.Lower > more.PLD.Value {
			t.Errorf("%q loses at least %g, %q at most %g", pair[0], less.PLD.Lower, pair[1], more.PLD.Value)
		}
	}
}

// TestReportExtremes: whatever a spec allows is told or not, soon and without an infinity.
func TestReportExtremes(t *testing.T) {
	for _, spec := range some(11, []string{
		"pure epsilon=1000 count=1e12", "pure epsilon=1e-30 count=1e12",
		"gaussian sigma=1e-18 sensitivity=1e18 count=1e12", "gaussian sigma=1e18 sensitivity=1e-18",
		"laplace scale=1e-18 sensitivity=1e18", "laplace scale=1e18 sensitivity=1e-18 count=1e12",
		"approx epsilon=1000 delta=0.999999 count=1e12", "approx epsilon=1e-30 delta=1e-60",
		"renyi order=1000001/1000000 epsilon=1000", "renyi order=1e6 epsilon=1e-30", "zcdp rho=1e6 count=1e12",
		"zcdp rho=1e-30", "gdp mu=1e18", "gdp mu=1e-18",
		"gaussian sigma=1e-3 sampling=1e-18", "gaussian sigma=1e-18 sampling=.999999", "gaussian sigma=0.02",
		"gaussian sigma=1e6 sampling=.5 count=1e12", "exponential epsilon=1000 sampling=.5 count=1e12",
		"randomized-response k=1e9 epsilon=1000", "randomized-response k=1e9 epsilon=1e-30",
		"discrete-gaussian sigma=1e-18", "discrete-gaussian sigma=1e18 sensitivity=1e18",
		"discrete-laplace scale=1e-18",
		"discrete-laplace scale=1e18", "laplace scale=1e-18 sensitivity=1e18 sampling=.5", "zcdp rho=1e6 sampling=.5",
		"gaussian sigma=1e-18 sampling=.5 scheme=fixed",
	}) {
		deltas, epsilons := []string{"0", "1e-60", "1e-6", "0.999999"}, []string{"0", "1e-30", "1", "1000"}
		switch {
		case slow(spec):
			deltas, epsilons = []string{"1e-6"}, nil
		case !long:
			deltas, epsilons = []string{"1e-60"}, []string{"1"}
		}
		for _, d := range deltas {
			ordered(t, spec+" at δ = "+d, epsilonReport(t, d, spec))
		}
		for _, e := range epsilons {
			ordered(t, spec+" at ε = "+e, deltaReport(t, e, spec))
		}
	}
}

func TestReportRefuses(t *testing.T) {
	j := job(t, "pure epsilon=1")
	if _, err := j.Epsilon(promise(t, "0", "1").Delta); !errors.Is(err, account.ErrParameter) {
		t.Errorf("a δ of 1: %v", err)
	}
	if _, err := j.Delta(promise(t, "1e13", "0").Epsilon); !errors.Is(err, account.ErrParameter) {
		t.Errorf("an ε of 1e13: %v", err)
	}
	// Why there is no figure.
	for spec, want := range map[string]account.Report{
		"gaussian sigma=1":                          {Basic: account.Figure{Why: "gaussian has no ε of its own"}},
		"approx epsilon=1 delta=1e-3":               {Basic: account.Figure{Why: "the δs of the steps alone sum to more"}},
		"gaussian sigma=1 sampling=.1 scheme=fixed": {ZCDP: account.Figure{Why: "sampled gaussian has no zCDP loss"}},
		"renyi order=2 epsilon=1 count=3":           {ZCDP: account.Figure{Why: "renyi has no zCDP loss"}},
	} {
		r := epsilonReport(t, "1e-6", spec)
		for name, f := range figures(want) {
			if f.Why != "" && figures(r)[name].Why != f.Why {
				t.Errorf("%s: %s says %q, want %q", spec, name, figures(r)[name].Why, f.Why)
			}
		}
	}
}

// different are n Gaussian steps on samples, no two alike.
func different(n int, scheme string) []string {
	specs := make([]string, n)
	for i := range specs {
		specs[i] = fmt.Sprintf("gaussian sigma=%d.%03d sampling=.01 scheme=%s", 1+i/1000, i%1000, scheme)
	}
	return specs
}

// TestReportManyDifferent: beyond 16 different sampled steps the order is looked for among integers, which costs
// little.
func TestReportManyDifferent(t *testing.T) {
	scheme := "fixed" // of which no loss distribution is composed
	if long {
		scheme = "poisson"
	}
	last := 0.0
	for _, n := range []int{16, 17, 40} {
		r, err := job(t, different(n, scheme)...).Epsilon(promise(t, "0", "1e-5").Delta)
		if err != nil {
			t.Fatal(err)
		}
		ordered(t, fmt.Sprint(n), r)
		if !r.Renyi.Told() || r.Renyi.Value < last || n == 17 && r.Renyi.Value > last*1.05 {
			t.Errorf("%d different steps: %+v, %g of fewer", n, r.Renyi, last)
		}
		last = r.Renyi.Value
	}
}

// TestReportTooManyDifferent: beyond 500 different sampled steps, or 2,000 of any kind, Rényi's divergences are not
// told, and why is.
func TestReportTooManyDifferent(t *testing.T) {
	pure := []string{"renyi order=2 epsilon=1"}
	for i := range 2001 {
		pure = append(pure, fmt.Sprintf("pure epsilon=1.%04d", i))
	}
	for what, specs := range map[string][]string{
		"600 sampled steps":                different(600, "fixed"),
		"2,001 pure steps and a Rényi one": pure,
	} {
		r := deltaReport(t, "1", specs...)
		ordered(t, what, r)
		if least, name := r.Least(); least.Told() || name != "" ||
			r.Renyi.Why != "the job has too many different steps" {
			t.Errorf("%s: %s tells %+v, and Rényi %+v", what, name, least, r.Renyi)
		}
	}
}

// TestLeastDelta: it is the least of the report's figures, but for a hundredth.
func TestLeastDelta(t *testing.T) {
	for _, spec := range some(5, everySpec) {
		if slow(spec) && !strings.HasPrefix(spec, "pure") {
			continue
		}
		j := job(t, spec)
		for _, e := range []string{"0", "0.1", "1", "1000000000"} {
			f, name, err := j.LeastDelta(promise(t, e, "0").Epsilon)
			want, _ := deltaReport(t, e, spec).Least()
			if err != nil || f.Told() != want.Told() || f.Told() &&
				(f.Value > want.Value/0.99 || f.Value < want.Value || name == "") {
				t.Errorf("%s at %s: %+v by %q, %v; the least is %+v", spec, e, f, name, err, want)
			}
		}
	}
	if _, _, err := job(t, "pure epsilon=1").LeastDelta(promise(t, "1e13", "0").Epsilon); !errors.Is(err,
		account.ErrParameter) {
		t.Errorf("an ε of 1e13: %v", err)
	}
}
