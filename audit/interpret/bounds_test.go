package interpret_test

import (
	"math"
	"math/big"
	"testing"

	"dither/account"
	"dither/audit/interpret"
	"dither/privacy"
)

// e^ε/(1+e^ε) and its like with δ, (e^ε + δ)/(1 + e^ε).
func TestMostGuessed(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		want           float64
	}{
		{"1", "0", 0.7310585786300049},
		{"0.1", "0", 0.52497918747894},
		{"1e-9", "0", 0.50000000025},
		{"0", "0", 0.5},
		{"0", "0.25", 0.625},
		{"1000", "0", 1},
	} {
		if got := interpret.MostGuessed(promise(t, c.epsilon, c.delta)); got < c.want-1e-15 || got > c.want+1e-14 {
			t.Errorf("ε = %s: %.17g, want %.17g", c.epsilon, got, c.want)
		}
	}
	if interpret.MostGuessed(account.Approximate{Delta: privacyDelta(t, "1")}) != 1 {
		t.Error("a δ of 1 keeps nobody from knowing")
	}
}

// The complement of account.TradeOff, which is computed otherwise.
func TestMostFound(t *testing.T) {
	for _, e := range []string{"0", "0.01", "1", "7", "600"} {
		for _, alpha := range []int64{0, 1, 5, 27, 50, 73, 100} {
			p := promise(t, e, "1e-3")
			got := interpret.MostFound(p, big.NewRat(alpha, 100))
			want := 1 - account.TradeOff(p.Epsilon, p.Delta, float64(alpha)/100)
			if math.Abs(got-want) > 1e-13 {
				t.Errorf("ε = %s, α = %d %%: %.17g, want %.17g", e, alpha, got, want)
			}
		}
	}
	for _, alpha := range []*big.Rat{nil, big.NewRat(-1, 2), big.NewRat(3, 2)} {
		if interpret.MostFound(promise(t, "1", "0"), alpha) != 1 {
			t.Errorf("%v is no rate", alpha)
		}
	}
}

func TestShamed(t *testing.T) {
	for _, c := range []struct {
		delta  string
		people int64
		want   float64
	}{{"1e-4", 10_000, 0.6321389535670295}, {"1e-6", 10_000, 0.009950171201084403}, {"0.5", 1, 0.5}, {"0", 10, 0}, {"1", 10, 1}, {"0.5", 0, 0}, {"0.5", -3, 0}, {"1", 0, 0}} { // 1 − (1−δ)ⁿ
		got := interpret.Shamed(privacyDelta(t, c.delta), c.people)
		if got.Lower > c.want+1e-13 || got.Upper < c.want-1e-13 || got.Upper-got.Lower > 1e-13 {
			t.Errorf("δ = %s, %d people: %v, want %g", c.delta, c.people, got, c.want)
		}
	}
}

func privacyDelta(t *testing.T, text string) privacy.Delta {
	t.Helper()
	if text == "1" { // which sums come to
		nearly := privacyDelta(t, "0.9")
		return nearly.Plus(nearly)
	}
	d, err := privacy.ParseDelta(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
