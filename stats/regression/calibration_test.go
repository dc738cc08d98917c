package regression

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/formula"
)

// Intervals of a rate cover it, at noise and numbers of rows small and large; a run of the test fails by mistake with a
// probability below 1e-6.
func TestRateIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	trials, noises, sizes := 1000, []float64{1, 20}, []int{0, 5, 100, 3000}
	if os.Getenv("DITHER_LONG") != "" {
		trials, noises, sizes = 4000, []float64{0.01, 1, 10, 50}, []int{0, 1, 5, 50, 1000, 20_000}
	}
	least, cases := 1.0, 0
	for _, laplace := range []bool{false, true} {
		for _, sd := range noises {
			for _, n := range sizes {
				for _, p := range []float64{0, 0.02, 0.3, 0.5, 0.95} {
					held := 0
					for range trials {
						ones := 0
						for range n {
							if r.Float64() < p {
								ones++
							}
						}
						draw := func() float64 { return sd * r.NormFloat64() }
						if laplace {
							draw = func() float64 {
								return sd / math.Sqrt2 * (r.ExpFloat64() - r.ExpFloat64())
							}
						}
						low, high := rateInterval(float64(ones)+draw(), float64(n-ones)+draw(), sd, laplace, 0.05)
						if !(0 <= low && low <= high && high <= 1) {
							t.Fatalf("[%g, %g]", low, high)
						}
						if low <= p && p <= high {
							held++
						}
					}
					cases++
					share := float64(held) / float64(trials)
					least = min(least, share)
					// Were it covered with .945, so few would have a probability of 1e-9 each: of 240 cases 1e-6.
					if share < 0.945-6*math.Sqrt(0.945*0.055/float64(trials)) {
						t.Errorf("laplace %t, noise %g, %d rows at %g: %g", laplace, sd, n, p, share)
					}
				}
			}
		}
	}
	t.Logf("of %d cases the least covered: %.3f", cases, least)
	for _, of := range [][2]float64{{-1e18, -1e18}, {1e300, -1e300}, {-50, 1000}, {math.MaxFloat64, math.MaxFloat64}} {
		if low, high := rateInterval(of[0], of[1], 1, true, 0.05); !(0 <= low && low <= high && high <= 1) {
			t.Errorf("%v: [%g, %g]", of, low, high)
		}
	}
}

// A model that is fitted to rows of a logistic law is calibrated, on the same rows and on others; one whose
// coefficients are another response's is not. It is one question, at its own price, free beforehand and afterwards.
func TestCalibrate(t *testing.T) {
	for _, budget := range []string{"{epsilon: 1000}", "{rho: 1000, delta: 1e-6}"} {
		c, _ := glmHome(t, budget, "40", 6000)
		q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ age + x + g", Where: "age >= 10"}
		q.Epsilon = "8"
		k := Calibration{Bins: 5}
		k.Epsilon, k.Confidence = "1", "0.999999999"
		told, err := ExplainCalibration(t.Context(), c, q.Table, q.Formula, q.Where, q.Classes, k)
		if err != nil || !told.Affordable || told.Replayed || !(told.StdDev > 0.5 && told.StdDev < 3) ||
			!told.AffordableWith(told.Price) || told.AffordableWith(curator.Loss{Epsilon: "1000", Rho: "1000"}) {
			t.Fatalf("%+v, %v", told, err)
		}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := c.Budget()
		got, err := f.Calibrate(t.Context(), c, k)
		if err != nil {
			t.Fatal(err)
		}
		after, _ := c.Budget()
		if got.Price != told.Price || after.Answers != before.Answers+1 || !got.Same || len(got.Warnings) != 1 ||
			got.Response != "ill" || math.Abs(got.StdDev-told.StdDev) > 1e-9 {
			t.Errorf("%+v: %d answers, then %d; told %+v", got, before.Answers, after.Answers, told)
		}
		rows := 0.0
		for i, b := range got.Bins {
			rows += b.Rows
			if b.Off != 0 {
				t.Errorf("%s: the bin %g to %g: rate in [%g, %g]",
					budget, b.Low, b.High, b.Interval.Low, b.Interval.High)
			}
			if b.Rate == nil && b.Rows > 100 || b.Rate != nil &&
				!(b.Interval.Low <= *b.Rate && *b.Rate <= b.Interval.High) {
				t.Errorf("bin %d: %+v", i, b)
			}
		}
		// Nine tenths of the rows: some 5,400, a standard deviation of sampling of 23.
		if len(got.Bins) < 4 || math.Abs(rows-5400) > 300 {
			t.Errorf("%d bins of %g rows", len(got.Bins), rows)
		}
		if again, err := f.Calibrate(t.Context(), c, k); err != nil || !again.Replayed ||
			*again.Bins[1].Rate != *got.Bins[1].Rate {
			t.Errorf("%+v, %v", again, err)
		}
		k.Where = "age < 10"
		other, err := f.Calibrate(t.Context(), c, k)
		if err != nil || other.Same || len(other.Warnings) != 0 {
			t.Fatalf("%+v, %v", other, err)
		}
		for i := range f.scaled { // of those who are well
			f.scaled[i] = -f.scaled[i]
		}
		k.Where = ""
		wrong, err := f.Calibrate(t.Context(), c, k)
		if err != nil {
			t.Fatal(err)
		}
		first, last := wrong.Bins[0], wrong.Bins[len(wrong.Bins)-1]
		if first.Off != 1 || last.Off != -1 {
			t.Errorf("a wrong model: %+v … %+v", first, last)
		}
	}
}

// The counts are those of the rows by what the released coefficients say of them: with next to no noise they are the
// file's, but for rows within a millionth or so of a bin's end.
func TestCalibrateCounts(t *testing.T) {
	c, home := glmHome(t, "{rho: 10000, delta: 1e-6}", "100", 3000)
	q := GLM{Family: Logistic, Table: "people", Formula: "ill ~ age*x + g", Rows: 3000}
	q.Epsilon = "8"
	f, err := FitGLM(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(home, "people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var want [8][2]float64 // by bin and response
	for _, row := range rows[1:] {
		age, _ := strconv.ParseFloat(row[0], 64)
		x, _ := strconv.ParseFloat(row[1], 64)
		z := 0.0
		for _, k := range f.Coefficients {
			is := map[string]float64{formula.InterceptName: 1, "age": age, "x": x, "age:x": age * x}
			is["g["+row[2]+"]"] = 1
			z += *k.Estimate * is[k.Name]
		}
		y := 0
		if row[5] == "true" {
			y = 1
		}
		want[int(8/(1+math.Exp(-z)))][y]++
	}
	k := Calibration{Bins: 8}
	k.Epsilon = "60" // σ = 1/60
	got, err := f.Calibrate(t.Context(), c, k)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Bins {
		w := want[int(b.Low*8)]
		if n := w[0] + w[1]; math.Abs(b.Rows-n) > 2 || n > 50 && (b.Rate == nil || math.Abs(*b.Rate*n-w[1]) > 2) {
			t.Errorf("%+v, and there are %g of %g", b, w[1], n)
		}
	}
}

// A row with a NULL among the predictors is in no bin, however large coefficients are; whatever is asked, numbers are
// finite.
func TestCalibrateOddly(t *testing.T) {
	c, _ := glmHome(t, "{rho: 200, delta: 1e-6}", "15", 500)
	for _, formula := range []string{"ill ~ none", "ill ~ x", "ill ~ 1"} {
		q := GLM{Family: Logistic, Table: "people", Formula: formula, Curvature: "0"}
		f, err := FitGLM(t.Context(), c, q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.scaled {
			f.scaled[i] = 1e9
		}
		k := Calibration{}
		k.Epsilon = "5"
		got, err := f.Calibrate(t.Context(), c, k)
		if err != nil {
			t.Fatal(formula, err)
		}
		rows := 0.0
		for _, b := range got.Bins {
			rows += b.Rows
			if math.IsNaN(b.Interval.Low+b.Interval.High) || b.Rate != nil && math.IsNaN(*b.Rate) {
				t.Errorf("%+v", b)
			}
		}
		if want := map[string]float64{"ill ~ none": 0}[formula]; formula == "ill ~ none" && math.Abs(rows-want) > 30 ||
			formula != "ill ~ none" && math.Abs(rows-500) > 30 {
			t.Errorf("%s: %g rows", formula, rows)
		}
	}
	if e, err := ExplainCalibration(t.Context(), c, "people", "ill ~ factor(visits)*g*x + age", "", formula.Classes{},
		Calibration{}); err != nil || !e.Affordable {
		// 67 predictors
		t.Errorf("%+v, %v", e, err)
	}
	f := &GLMFit{Spec: Spec{Model: Poisson}}
	for says, do := range map[string]func() error{
		"model has none": func() error { _, err := f.Calibrate(t.Context(), c, Calibration{}); return err },
		"2 to 50 bins": func() error {
			_, err := ExplainCalibration(t.Context(), c, "people", "ill ~ x", "", formula.Classes{},
				Calibration{Bins: 51})
			return err
		},
		"of two values": func() error {
			_, err := ExplainCalibration(t.Context(), c, "people", "none ~ x", "", formula.Classes{}, Calibration{})
			return err
		},
		"no column": func() error {
			_, err := ExplainCalibration(t.Context(), c, "people", "ill ~ y", "", formula.Classes{}, Calibration{})
			return err
		},
		"not a softmax model": func() error {
			_, err := (&Trained{Spec: Spec{Model: curator.SoftmaxModel}}).Calibrate(t.Context(), c, Calibration{})
			return err
		},
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
