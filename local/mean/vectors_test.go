package mean

import (
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"dither/local/internal/coin"
	"dither/local/internal/lawtest"
	"dither/privacy"
)

// vector is a case of clients/testdata/means.json: the reports about some numbers, with injected random words. With
// Coordinates, they are one vector, of this length.
type vector struct {
	Mechanism   Mechanism       `json:"mechanism"`
	Epsilon     privacy.Epsilon `json:"epsilon"`
	Coordinates int             `json:"coordinates,omitempty"`
	lawtest.Words
	Of      []float64 `json:"of"`
	Reports []string  `json:"reports"`          // as in files of reports; for vectors, index and report
	Packed  []string  `json:"packed,omitempty"` // of numbers: the packed forms, in hexadecimal digits
	Bits    int       `json:"bits"`
}

// packed returns the packed forms of reports, which are unpacked to the same.
func packed(t *testing.T, r *Randomizer, reports []string) (out []string) {
	t.Helper()
	for _, text := range reports {
		report, ok := reportOf(text)
		bytes, err := r.Pack(report)
		if err != nil || !ok {
			t.Fatal(text, err)
		}
		if again, err := r.Unpack(bytes); err != nil || again != report {
			t.Fatalf("%s becomes %v: %v", text, again, err)
		}
		out = append(out, hex.EncodeToString(bytes))
	}
	return out
}

// Reports made from given random words do not change: clients in other languages must make the same.
func TestVectors(t *testing.T) {
	var all []vector
	both := func(v vector, f func(coin.Chooser) []string) {
		reports := func(c coin.Chooser) { v.Reports = f(c) }
		v.Words = lawtest.Streamed(fmt.Sprintf("mean %d", len(all)), reports)
		all = append(all, v)
		v.Words = lawtest.Close(uint64(len(all)), reports)
		all = append(all, v)
	}
	numbers := []float64{
		0, -1, 1, .5, -.25, 1.0 / 3, -.1, math.Nextafter(1, 0), math.Nextafter(-1, 0), 1e-300, -5e-324, 1.0 / 1024, math.Copysign(0, -1),
	}
	for _, m := range Mechanisms {
		for _, e := range []string{"0.000001", "0.61", "0.62", "1", "3.25", "40"} {
			r := randomizer(t, m, e)
			both(vector{Mechanism: m, Epsilon: r.params.Epsilon, Of: numbers, Bits: r.Bits()}, func(c coin.Chooser) (out []string) {
				for _, x := range numbers {
					out = append(out, r.randomize(c, x).text())
				}
				return out
			})
			for i := len(all) - 2; i < len(all); i++ {
				all[i].Packed = packed(t, r, all[i].Reports)
			}
		}
		for _, e := range []string{"1", "7.5"} {
			r := randomizer(t, m, e)
			v, err := NewVector(r.params, len(numbers))
			if err != nil {
				t.Fatal(err)
			}
			about := vector{Mechanism: m, Epsilon: r.params.Epsilon, Coordinates: len(numbers), Of: numbers, Bits: v.each.Bits()}
			both(about, func(c coin.Chooser) (out []string) {
				for _, x := range v.randomize(c, numbers) {
					out = append(out, fmt.Sprint(x.Index, " ", x.Report.text()))
				}
				return out
			})
		}
	}
	lawtest.Golden(t, "../../clients/testdata/means.json", all)
}
