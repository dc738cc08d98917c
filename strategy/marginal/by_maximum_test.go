package marginal_test

import (
	"math"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// By the maximum, the plan whose largest error is the least is measured, and its cells have the stated variances. Neither
// choice changes the other one, and each is replayed.
func TestByMaximum(t *testing.T) {
	files, _ := survey()
	session, done := testhome.Example(files, "people")
	defer done()
	request := curator.Request{SQL: question, Rho: "1"}
	domain := must(marginal.DomainOf(t.Context(), session, request, "region", "smokes", "age"))(t)
	mean := must(domain.Ways(1, 2))(t)
	largest := mean.ByMaximum()
	seen := map[string]bool{}
	for _, again := range []bool{false, true} {
		for _, w := range []*marginal.Workload{mean, largest} {
			c := w.ChooseIn(session, strategy.Rho)
			name := "residual planner (sum)"
			if w == largest {
				name = "residual planner (maximum)"
				if !(c.Plan.Maximum <= c.Least*(1+1e-3)) {
					t.Errorf("the largest error is %g, and the bound %g", c.Plan.Maximum, c.Least)
				}
			}
			if c.Chosen.Name != name || c.Plan.Name != name {
				t.Errorf("%s is chosen and %s measured, not %s", c.Chosen.Name, c.Plan.Name, name)
			}
			for _, k := range c.Candidates {
				if w == largest && k.Plan != nil && k.Maximum < c.Plan.Maximum*(1-1e-9) {
					t.Errorf("%s has the maximum %g, and %s %g", k.Name, k.Maximum, name, c.Plan.Maximum)
				}
			}
			e := must(c.Plan.Measure(t.Context(), session, request))(t)
			release := e.Releases[0]
			if release.Replayed != again || seen[release.ID] != again {
				t.Errorf("%s: release %s is replayed: %v, not %v", name, release.ID, release.Replayed, again)
			}
			seen[release.ID] = true
			most := 0.0
			for _, names := range w.Names() {
				for _, v := range must(e.Marginal(names...))(t).Variances {
					most = max(most, v)
				}
			}
			// one count at ρ = 1 has the variance 1/2, and its noise is discrete
			if got := math.Sqrt(2 * most); math.Abs(got/c.Plan.Maximum-1) > 1e-3 {
				t.Errorf("%s: the largest deviation is %g, and %g is stated", name, got, c.Plan.Maximum)
			}
		}
	}
}
