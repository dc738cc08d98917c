package marginal_test

import (
	"fmt"
	"math"
	"testing"

	"dither/strategy"
	"dither/strategy/marginal"
)

// adult is the domain of the Adult data set as published comparisons use it: 14 attributes.
func adult(t testing.TB) *marginal.Domain {
	t.Helper()
	var attributes []marginal.Attribute
	for i, size := range []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2} {
		attributes = append(attributes, marginal.Attribute{Name: fmt.Sprint("a", i), Size: size})
	}
	return must(marginal.NewDomain(attributes...))(t)
}

// must returns a value, or fails the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// TestPublishedErrors compares with the published errors of ResidualPlanner on Adult, to four digits.
func TestPublishedErrors(t *testing.T) {
	d := adult(t)
	for _, c := range []struct {
		ways []int
		want float64
	}{{[]int{1}, 3.0468}, {[]int{2}, 6.3587}, {[]int{3}, 10.5153}, {[]int{0, 1, 2, 3}, 10.6650}} {
		w := must(d.Ways(c.ways...))(t)
		if got := w.Sum(strategy.Rho).RMSE; math.Abs(got-c.want) > .00005 {
			t.Errorf("%v-way marginals: RMSE %.6f, published %.4f", c.ways, got, c.want)
		}
	}
}

// TestExampleOfThePaper checks the domain (2, 2, 3) with the marginal of the first and last attribute: the sum of the
// variances of its six cells is 6.
func TestExampleOfThePaper(t *testing.T) {
	d := must(marginal.NewDomain(
		marginal.Attribute{Name: "a", Size: 2}, marginal.Attribute{Name: "b", Size: 2}, marginal.Attribute{Name: "c", Size: 3},
	))(t)
	w := must(d.Marginals(marginal.Marginal{Attributes: []string{"a", "c"}}))(t)
	if got := w.Sum(strategy.Rho).RMSE; math.Abs(6*got*got-6) > 1e-9 {
		t.Errorf("the variances add up to %v, want 6", 6*got*got)
	}
}
