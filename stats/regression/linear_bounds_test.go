package regression

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// A fit within bounds that were found is told again, free, also when nothing is left of the budget; its explanation
// says so, and its result names every release.
func TestFoundBoundsAgain(t *testing.T) {
	c := newHome(t, "{epsilon: 40}", 400)
	if _, err := c.Answer(t.Context(),
		curator.Question{SQL: "SELECT COUNT(*) FROM points", Epsilon: "38"}); err != nil {
		t.Fatal(err)
	}
	q := Linear{Table: "points", Formula: "y ~ x", FindBounds: "0.2", Request: curator.Request{Epsilon: "1.5"}}
	if e, err := ExplainLinear(t.Context(), c, q); err != nil || e.Replayed || !e.Affordable ||
		e.Price.Epsilon != "1.5" {
		t.Fatalf("%+v, %v", e, err)
	}
	f, err := FitLinear(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Releases) != 3 || f.Releases[2] != f.ID || f.Replayed {
		t.Errorf("%+v", f)
	}
	half := big.NewRat(1, 2)
	if left := statstest.Remaining(t, c); left.Cmp(half) != 0 {
		t.Fatalf("%s remain", left)
	}
	e, err := ExplainLinear(t.Context(), c, q)
	if err != nil || !e.Replayed || !e.Affordable || e.Price.Epsilon != "1.5" {
		t.Errorf("%+v, %v", e, err)
	}
	again, err := FitLinear(t.Context(), c, q)
	if err != nil || !again.Replayed || *again.Coefficients[1].Estimate != *f.Coefficients[1].Estimate {
		t.Errorf("%+v, %v", again, err)
	}
	// Other bounds are a new look, and nothing of it is begun.
	q.FindBounds = "0.3"
	var exhausted *curator.Error
	if _, err := FitLinear(t.Context(), c, q); !errors.As(err, &exhausted) || exhausted.Code != curator.CodeExhausted ||
		strings.Contains(exhausted.Hint, "stays paid") {
		t.Error(err)
	}
	if e, err := ExplainLinear(t.Context(), c, q); err != nil || e.Replayed || e.Affordable {
		t.Errorf("%+v, %v", e, err)
	}
	// What is left must be a price that the policy takes, before the bounds are paid.
	q.FindBounds, q.Epsilon = "0.999999", "0.5"
	if _, err := FitLinear(t.Context(), c, q); err == nil || statstest.Remaining(t, c).Cmp(half) != 0 {
		t.Errorf("%v, and %s remain", err, statstest.Remaining(t, c))
	}
	// Of a fit whose looks for bounds were taken before it was interrupted, the rest alone must be affordable.
	q = Linear{Table: "points", Formula: "y ~ 1", FindBounds: "0.5", Request: curator.Request{Epsilon: "0.5"}}
	look := curator.Quantiles{
		Request: curator.Request{SQL: "SELECT y FROM points", Epsilon: "0.25"},
		At:      []string{"0.01", "0.99"},
	}
	if _, err := c.Rank(t.Context(), look); err != nil {
		t.Fatal(err)
	}
	if f, err := FitLinear(t.Context(), c, q); err != nil || f.Replayed || len(f.Releases) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	if left := statstest.Remaining(t, c); left.Sign() != 0 {
		t.Errorf("%s remain", left)
	}
}

// Bounds so narrow that no question can be asked within them are not used, and those that are declared stand; a
// predictor beyond 64 bits is one as any other. (Quantiles that lie beyond all rows, where bounds would do, come with a
// probability below 1e-10.)
func TestBoundsOfExtremeColumns(t *testing.T) {
	c := statstest.People(t, "epsilon: 100", `      tiny: {type: real, bounds: [0, 1e-17]}
      huge: {type: real, bounds: [0, 1e+30]}
      y: {type: real, bounds: [0, 1]}
`, "tiny,huge,y", func(i int) string { return fmt.Sprintf("%de-21,%de27,0.%03d", i%1000, i%1000, i%1000) }, 1000)
	q := Linear{Table: "people", Formula: "tiny ~ y", FindBounds: "0.9", Request: curator.Request{Epsilon: "30"}}
	f, err := FitLinear(t.Context(), c, q)
	if err != nil || len(f.Bounds) != 0 || !strings.Contains(strings.Join(f.Warnings, " "), "No usable narrower bounds") {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = FitLinear(t.Context(), c,
		Linear{Table: "people", Formula: "y ~ huge", Request: curator.Request{Epsilon: "20"}, Confidence: "0.999999"})
	if err != nil {
		t.Fatal(err)
	}
	if k := f.Coefficients[1]; k.Low == nil || k.High == nil || !(*k.Low < 1e-30 && *k.High > 1e-30) ||
		*k.High-*k.Low > 1e-30 {
		t.Errorf("%s", shown(k))
	}
}
