package account

import (
	"math"
	"testing"

	"dither/privacy"
)

func rangesOf(t *testing.T, k int64, epsilon string) *OptimalRange {
	t.Helper()
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOptimalRange(k, e)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The published optimum of 100 exponential mechanisms [Dong, Durfee & Rogers 2020].
func TestOptimumOfExponentialMechanisms(t *testing.T) {
	d, err := privacy.ParseDelta("1e-6")
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := rangesOf(t, 100, "0.1").Epsilon(d)
	if !(lower >= 2.24602 && lower <= upper && upper <= 2.24603) {
		t.Errorf("ε from %v to %v, not 2.246026", lower, upper)
	}
	step, err := ParseStep("exponential epsilon=.1 count=100")
	if err != nil {
		t.Fatal(err)
	}
	job, err := NewJob(step)
	if err != nil {
		t.Fatal(err)
	}
	report, err := job.Epsilon(d)
	if err != nil || report.Fixed.Value != upper || report.Fixed.Lower != lower || report.PLD.Value < 2.4 {
		t.Errorf("the report has %v, beside %v, %v", report.Fixed, report.PLD, err)
	}
}

// The curve is at least that of any shifts, equal or not, and at most that of the pair that dominates adaptive choices
// too. One mechanism reaches the pair's curve.
func TestNoShiftsAreWorse(t *testing.T) {
	curve := func(shifts []float64, epsilon, e float64) (delta float64) {
		for outcome := range 1 << len(shifts) {
			mass, loss := 1.0, 0.0
			for i, t := range shifts {
				p := (math.Exp(-t) - math.Exp(-epsilon)) / -math.Expm1(-epsilon)
				if outcome>>i&1 == 0 {
					mass, loss = mass*p, loss+t
				} else {
					mass, loss = mass*(1-p), loss+t-epsilon
				}
			}
			delta += max(0, mass*(math.Exp(loss)-math.Exp(e)))
		}
		return delta
	}
	const steps = 60
	for _, epsilon := range []string{"0.1", "1", "3"} {
		ee, _ := privacy.ParseEpsilon(epsilon)
		width, _ := ee.Rat().Float64()
		for _, share := range []float64{0, 0.3, 0.8, 1.5, 2.4} {
			e := share * width
			largest := 0.0
			for i := range steps + 1 {
				for j := range i + 1 {
					for l := range j + 1 {
						s := []float64{float64(i) * width / steps, float64(j) * width / steps, float64(l) * width / steps}
						largest = max(largest, curve(s, width, e))
					}
				}
			}
			lower, upper := rangesOf(t, 3, epsilon).Delta(floatEpsilon(e))
			if !(lower <= upper && upper-lower <= 1e-12 && largest <= upper*(1+1e-9)+1e-15) {
				t.Errorf("ε = %s at %v: from %v to %v, and some shifts have %v", epsilon, e, lower, upper, largest)
			}
			if largest < lower*0.98-1e-12 {
				t.Errorf("ε = %s at %v: at least %v, but the best shifts have %v", epsilon, e, lower, largest)
			}
			one, _ := rangesOf(t, 1, epsilon).Delta(floatEpsilon(min(e, width)))
			pair := math.Pow(math.Exp(width/2)-math.Exp(min(e, width)/2), 2) / math.Expm1(width)
			if math.Abs(one-pair) > 1e-9 {
				t.Errorf("one mechanism of ε = %s at %v has %v, not %v", epsilon, e, one, pair)
			}
		}
	}
}

func TestOptimalRangeRefuses(t *testing.T) {
	one, _ := privacy.ParseEpsilon("1")
	large, _ := privacy.ParseEpsilon("101")
	for _, c := range []struct {
		k int64
		e privacy.Epsilon
	}{{0, one}, {-1, one}, {MostRanges + 1, one}, {1, privacy.Epsilon{}}, {1, large}} {
		if _, err := NewOptimalRange(c.k, c.e); err == nil {
			t.Errorf("%d mechanisms of ε = %v are accepted", c.k, c.e)
		}
	}
}

// The composition does not hold for scores that depend on earlier outputs: two mechanisms of range 1, of which the second
// depends on the output of the first, have a larger δ at ε = .3. So reports state it beside the figures that hold for them.
func TestOptimalRangeNeedsFixedScores(t *testing.T) {
	o := rangesOf(t, 2, "1")
	at, err := privacy.ParseEpsilon(".3")
	if err != nil {
		t.Fatal(err)
	}
	// the worst mechanism with losses t and t − 1: the sum of Q(o)·max(0, e^loss − e^.3) over its outputs
	first := func(t float64) float64 { return (math.Exp(-t) - math.Exp(-1)) / (1 - math.Exp(-1)) }
	above := func(loss float64) float64 { return max(0, math.Exp(loss)-math.Exp(.3)) }
	second := func(before float64) (most float64) {
		for i := range 101 {
			t := float64(i) / 100
			most = max(most, first(t)*above(before+t)+(1-first(t))*above(before+t-1))
		}
		return most
	}
	adaptive := first(.5)*second(.5) + (1-first(.5))*second(-.5)
	if _, upper := o.Delta(at); adaptive < upper+.003 {
		t.Errorf("δ is %v for dependent scores, and %v for fixed ones", adaptive, upper)
	}
	for spec, want := range map[string]bool{
		"exponential epsilon=1 count=2": true, "exponential epsilon=1": false, "pure epsilon=1 count=2": false,
	} {
		step, err := ParseStep(spec)
		if err != nil {
			t.Fatal(err)
		}
		job, err := NewJob(step)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := job.Delta(at); err != nil || r.Fixed.Told() != want || want && r.PLD.Value < adaptive {
			t.Errorf("%s: the optimum for fixed scores is %v, beside %v", spec, r.Fixed, r.PLD)
		}
	}
}
