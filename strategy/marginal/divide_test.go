package marginal_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/curator"
	"dither/strategy"
)

// TestLargePlansTakeSeveralReleases divides a plan among releases of at most 14 numbers. Their prices add up to at most
// the price, and to 1 − 10⁻¹⁵ of it. Estimates are unbiased with the variances of the undivided plan. A second
// measurement is free.
func TestLargePlansTakeSeveralReleases(t *testing.T) {
	s, exact, d := open(t)
	p := must(d.Ways(1, 2))(t).Sum(strategy.Rho)
	r := curator.Request{SQL: question, Rho: "3"}
	small := p.Small(14)
	x := must(small.Explain(t.Context(), s, r))(t)
	price, _ := new(big.Rat).SetString(x.Price.Rho)
	if low := big.NewRat(3e15-3, 1e15); price.Cmp(low) < 0 || price.Cmp(big.NewRat(3, 1)) > 0 {
		t.Errorf("the releases cost %s, and the plan 3", x.Price.Rho)
	}
	if len(x.Parts) != 7 || x.Replayed || !x.Affordable {
		t.Fatalf("explained: %+v", x)
	}
	e := must(small.Measure(t.Context(), s, r))(t)
	if len(e.Releases) != 3 {
		t.Errorf("%d releases, want 3", len(e.Releases))
	}
	remained := e.Releases[len(e.Releases)-1].Remaining.Rho
	whole := must(p.Measure(t.Context(), s, r))(t)
	a, b := must(e.Marginal("region", "age"))(t), must(whole.Marginal("region", "age"))(t)
	for i := range a.Values {
		truth := exact[[3]int{i / 4, 0, i % 4}] + exact[[3]int{i / 4, 1, i % 4}]
		if math.Abs(a.Values[i]-truth) > 8*math.Sqrt(a.Variances[i]) {
			t.Errorf("cell %d is %v, and the exact count is %v", i, a.Values[i], truth)
		}
		if math.Abs(a.Variances[i]/b.Variances[i]-1) > 1e-9 {
			t.Errorf("cell %d has the variance %v in several releases and %v in one", i, a.Variances[i], b.Variances[i])
		}
	}
	again := must(small.Measure(t.Context(), s, r))(t)
	for i, m := range again.Releases {
		if !m.Replayed || m.ID != e.Releases[i].ID {
			t.Errorf("release %d was not replayed", i+1)
		}
	}
	if x := must(small.Explain(t.Context(), s, r))(t); !x.Replayed {
		t.Errorf("explained after the measurement: %+v", x)
	}
	if want := new(big.Rat).Sub(big.NewRat(1000, 1), price).RatString(); must(rat(remained))(t).RatString() != want {
		t.Errorf("%s remains, want %s", remained, want)
	}
}

// TestNothingIsSpentOnPartOfAPlan asks for a plan whose first releases are affordable, and all of them not.
func TestNothingIsSpentOnPartOfAPlan(t *testing.T) {
	s, _, d := open(t)
	p := must(d.Ways(1, 2))(t).Sum(strategy.Rho).Small(14)
	spend := curator.Strategy{Request: curator.Request{SQL: question, Rho: "600"}}
	part := must(d.Ways(1))(t).Sum(strategy.Rho)
	must(part.Measure(t.Context(), s, spend.Request))(t)
	before := must(s.Budget())(t).Remaining.Rho
	var known *curator.Error
	_, err := p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "500"})
	if !errors.As(err, &known) || known.Code != curator.CodeExhausted || !strings.Contains(err.Error(), "3 more releases") {
		t.Errorf("a plan that is too dear: %v", err)
	}
	if after := must(s.Budget())(t).Remaining.Rho; after != before {
		t.Errorf("%s remained before, and %s after", before, after)
	}
}

// rat parses a decimal.
func rat(text string) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return r, nil
}
