package regression

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dither/curator"
)

// A line by Theil and Sen's method through the curator is told for the columns as they are: near the true one, by its
// own intervals at a price where draws are all but exact (what is within them but with a probability of 5 % is a normal
// approximation; the rows are the same at every run, and well within). It is paid once.
func TestFitTheilSen(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c := newHome(t, budget, 1200)
		for formula, of := range map[string]struct {
			where                    string
			intercept, slope, height float64
		}{
			"y ~ x":    {"g <> 'b'", 2, 3, 5},
			"y ~ flag": {"g <> 'b'", 3.5, 3, 5}, // x is about 0.5 where it is at most 1, and else 1.5
			// the other way round, about: residuals of y draw the median of slopes towards 0
			"x ~ y": {"g = 'a'", -0.59, 0.319, 0.21},
		} {
			q := Linear{
				Table: "points", Formula: formula, Where: of.where, Method: TheilSen, Rows: 800,
				Request: curator.Request{Epsilon: "40"},
			}
			told, err := ExplainLinear(t.Context(), c, q)
			if err != nil || told.Line == nil || !(told.Line.SlopeNoise > 0) || told.Line.Height.Estimate != nil ||
				len(told.Line.Draws) != 4 || told.Replayed {
				t.Fatalf("%s: %+v, %v", formula, told, err)
			}
			f, err := FitLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			check := func(k Coefficient, want, off float64) {
				if k.Estimate == nil || math.Abs(*k.Estimate-want) > off || k.Low == nil || k.High == nil ||
					*k.Low > want || *k.High < want || k.StdError != nil {
					t.Errorf("%s, %s: %s, want %g", budget, formula, shown(k), want)
				}
			}
			check(f.Coefficients[0], of.intercept, 0.3)
			check(f.Coefficients[1], of.slope, 0.3)
			check(f.Line.Height, of.height, 0.3)
			if f.Price != told.Price || f.Line.At != told.Line.At || f.Line.Draws[2] != told.Line.Draws[2] ||
				!f.Line.Intervals {
				t.Errorf("%s: %+v, explained as %+v", formula, f.Line, told.Line)
			}
			again, err := FitLinear(t.Context(), c, q)
			if err != nil || !again.Replayed || shown(again.Coefficients[1]) != shown(f.Coefficients[1]) {
				t.Errorf("again: %+v, %v", again, err)
			}
			// The line of intercept and slope is the one of the height.
			if line := *f.Coefficients[0].Estimate +
				f.Line.At**f.Coefficients[1].Estimate; math.Abs(line-*f.Line.Height.Estimate) > 1e-9 {
				t.Errorf("%s: %g and %g at %g", formula, line, *f.Line.Height.Estimate, f.Line.At)
			}
		}
	}
}

// Rows that say nothing, and prices that pay for nothing, give finite numbers, with warnings; what the method is not
// for is refused.
func TestTheilSenBadInput(t *testing.T) {
	c := newHome(t, pureBudget, 3)
	for _, q := range []Linear{
		{Formula: "y ~ x", Where: "x < 0"},
		{Formula: "y ~ none"},
		{Formula: "y ~ same"},
		{Formula: "flag ~ same", WithoutIntervals: true},
		{Formula: "g ~ x", Where: "none > 0", Rows: 1 << 40},
		{Formula: "y ~ x", Rows: 1},
	} {
		q.Table, q.Method, q.Epsilon = "points", TheilSen, "1"
		if q.Formula == "g ~ x" {
			q.Formula = "flag ~ x"
		}
		if q.Rows == 0 {
			q.Rows = 500
		}
		f, err := FitLinear(t.Context(), c, q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		for _, k := range append(f.Coefficients, f.Line.Height) {
			for _, x := range []*float64{k.Estimate, k.Low, k.High} {
				if x != nil && !finite(*x) {
					t.Errorf("%+v: %s", q, shown(k))
				}
			}
			if k.Estimate == nil || (k.Low == nil || k.High == nil) && f.Line.Intervals && len(f.Warnings) == 0 {
				t.Errorf("%+v: %s", q, shown(k))
			}
		}
	}
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	for q, says := range map[Linear]string{
		{Formula: "y ~ x + same"}:                                   "one predictor",
		{Formula: "y ~ x - 1"}:                                      "one predictor",
		{Formula: "y ~ 1"}:                                          "one predictor",
		{Formula: "y ~ g"}:                                          "one predictor",
		{Formula: "y ~ x", FindBounds: "0.2"}:                       "finding bounds",
		{Formula: "y ~ x", Confidence: "0.9"}:                       "0.95",
		{Formula: "y ~ x", Confidence: "x"}:                         "confidence",
		{Formula: "y ~ x", Rows: -5}:                                "number of rows",
		{Formula: "y ~ x", Rows: math.MaxInt64}:                     "number of rows",
		{Formula: "y ~ x", Where: "x > 1) GROUP BY (g"}:             "brackets of the condition",
		{Formula: "y ~ x", Request: curator.Request{Epsilon: "41"}}: "maximum",
	} {
		q.Table, q.Method = "points", TheilSen
		if q.Rows == 0 {
			q.Rows = 10
		}
		var e *curator.Error
		if _, err := FitLinear(t.Context(), c, q); !errors.As(err, &e) || !strings.Contains(e.Error(), says) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if after, err := c.Budget(); err != nil || after.Spent.Epsilon != before.Spent.Epsilon {
		t.Errorf("refusals spent %v − %v, %v", after.Spent, before.Spent, err)
	}
}
