package curator

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// The least price is found, wherever it is and whatever the error does between prices, in a few looks where it is about in proportion to 1/ε.
func TestLeastPrice(t *testing.T) {
	var prices []privacy.Epsilon
	for _, exponent := range []string{"e-3", "e-2", "e-1"} {
		for digits := '1'; digits <= '9'; digits++ {
			for second := '0'; second <= '9'; second++ {
				e, err := privacy.ParseEpsilon(string(digits) + "." + string(second) + exponent)
				if err != nil {
					t.Fatal(err)
				}
				prices = append(prices, e)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(prices)).Draw(t, "prices")
		least := rapid.IntRange(0, n).Draw(t, "least")
		kind := rapid.SampledFrom([]string{"inverse", "inverse, and some", "infinite", "erratic"}).Draw(t, "kind")
		looks := 0
		found, err := leastPrice(prices[:n], rapid.IntRange(-1, len(prices)).Draw(t, "guess"), func(e privacy.Epsilon) (float64, error) {
			looks++
			at, _ := e.Rat().Float64()
			edge := math.Inf(1)
			if least < n {
				edge, _ = prices[least].Rat().Float64()
			}
			fine := at >= edge
			of := 0.0
			switch kind {
			case "inverse":
				of = math.Min(edge, 1) / at
			case "inverse, and some":
				of = 0.97*math.Min(edge, 1)/at + 0.01
			case "infinite":
				of = math.Inf(1)
			default:
				of = rapid.Float64Range(0, 10).Draw(t, "excess")
			}
			if fine {
				return math.Min(of, 1), nil
			}
			return math.Max(of, math.Nextafter(1, 2)), nil
		})
		if err != nil || found != least {
			t.Fatalf("of %d prices, from %d on, %s: %d, %v", n, least, kind, found, err)
		}
		if most := map[string]int{"inverse": 5, "inverse, and some": 7}[kind]; most > 0 && least < n && looks > most || looks > 16 {
			t.Fatalf("of %d prices, from %d on, %s: %d looks", n, least, kind, looks)
		}
	})
}
