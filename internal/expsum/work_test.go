package expsum_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"dither/internal/expsum"
)

// added writes n summands.
func added(format string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i+1)
	}
	return "(" + strings.Join(all, "+") + ")"
}

// Short texts can stand for numbers that take hours. They are refused, and soon: how soon is bounded by what Work counts, and is not
// tested in seconds, which depend on the machine.
func TestHostile(t *testing.T) {
	units := int64(1 << 18)
	if os.Getenv("DITHER_LONG") != "" {
		units = math.MaxInt64
	}
	for name, text := range map[string]string{
		"digits that cancel":          "((1-exp(1e-70))^16)^16",
		"and above 0":                 "((exp(1e-70)-1)^16)^16",
		"products of sums":            added("exp(%d)", 481) + "*" + added("exp(%d/7)", 481) + "*" + added("exp(%d/11)", 481),
		"denominators":                added("1/(%d+exp(1))", 2900),
		"powers":                      "((1+exp(1/2))^32)^31",
		"denominators of many digits": "1/" + added("1/(%[1]d*1e900+1)*exp(%[1]d)", 200),
	} {
		start := time.Now()
		work := expsum.NewWork(units)
		memory := expsum.NewMemory(work)
		x, err := memory.Parse(text)
		if err == nil {
			_, _, err = work.Part().Log(x)
		}
		if !errors.Is(err, expsum.ErrSize) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %v", name, time.Since(start))
	}
}

// A text takes from what all of a memory's texts have together.
func TestWork(t *testing.T) {
	memory := expsum.NewMemory(expsum.NewWork(1000))
	for i := range 1000 {
		if _, err := memory.Parse(fmt.Sprintf("exp(%d)/3", i)); err != nil {
			if !errors.Is(err, expsum.ErrSize) || i < 2 {
				t.Fatalf("%d texts: %v", i, err)
			}
			return
		}
	}
	t.Error("a thousand texts took nothing")
}

// Floats are next to each other, or are not told, however many digits cancel.
func TestFloatsAdjacent(t *testing.T) {
	for text, near := range map[string]float64{
		"1e10*(exp(1e-10)-1)":       1,
		"1e77*(exp(1e-77)-1)":       1,
		"(1e7*(exp(1e-7)-1))^24/2":  .5,
		"(1e20*(exp(1e-20)-1))^6/2": .5,
		"exp(-800)":                 0,
		"exp(800)":                  math.MaxFloat64,
	} {
		x := must(t, text)
		lower, upper, err := expsum.NewWork(1 << 24).Floats(x)
		if err != nil || upper != math.Nextafter(lower, math.Inf(1)) || math.Abs(lower-near) > 1e-5*near {
			t.Errorf("%s is in [%v, %v], %v", text, lower, upper, err)
		}
		y, err := x.Interval(100)
		if err != nil || y.Lo().Sign() <= 0 || y.Width().MantExp(nil) > y.Lo().MantExp(nil)-100 {
			t.Errorf("%s is in [%v, %v], %v", text, y.Lo(), y.Hi(), err)
		}
	}
	x := must(t, "0.5*(1e77*(exp(1e-77)-1))^24")
	if lower, upper, err := expsum.NewWork(1 << 20).Floats(x); !errors.Is(err, expsum.ErrSize) {
		t.Errorf("[%v, %v], %v", lower, upper, err)
	}
	if lower, upper := x.Floats(); lower > .5 || upper < .5 {
		t.Errorf("[%v, %v]", lower, upper)
	}
}
