package release

import (
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/plan"
)

// What encode writes is taken apart as package json reads it; of any other text nothing is made up.
func TestAsEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(0, 3).Draw(t, "rows"), rapid.IntRange(0, 3).Draw(t, "columns")
		numbers := make([][]*big.Int, rows)
		for i := range numbers {
			for range columns {
				n := big.NewInt(rapid.Int64().Draw(t, "number"))
				numbers[i] = append(numbers[i], n.Lsh(n, uint(rapid.SampledFrom([]int{0, 0, 0, 70}).Draw(t, "shift"))))
			}
		}
		text := encode(numbers)
		out, ok := asEncoded(text, [2]int{rows, columns})
		if !ok {
			t.Fatalf("%s is not taken", text)
		}
		for i := range numbers {
			for j := range numbers[i] {
				if out[i][j].Cmp(numbers[i][j]) != 0 {
					t.Fatalf("%s is read as %v", text, out)
				}
			}
		}
		changed := []byte(text)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			changed[rapid.IntRange(0, len(changed)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`[]",-+0 9e.`)).Draw(t, "sign")
		}
		if out, ok := asEncoded(changed, [2]int{rows, columns}); ok {
			var texts [][]string
			if err := json.Unmarshal(changed, &texts); err != nil || len(texts) != rows {
				t.Fatalf("%s is read as %v, and is no such text", changed, out)
			}
			for i := range texts {
				for j, text := range texts[i] {
					if n, ok := new(big.Int).SetString(text, 10); !ok || n.Cmp(out[i][j]) != 0 {
						t.Fatalf("%s is read as %v", changed, out)
					}
				}
			}
		}
	})
}

// An estimate that the plan does not have is not recorded, because the plan could not read it again.
func TestEstimatesArePlanned(t *testing.T) {
	one := []*big.Int{big.NewInt(1)}
	if text, err := (&Query{plan: &plan.Plan{}}).encode(Values{Truncation: one}); err == nil {
		t.Errorf("%s is recorded without a plan", text)
	}
	two := &plan.Plan{Truncation: &plan.Truncation{Measures: make([]*plan.Measure, 2)}}
	for n := range 4 {
		if _, err := (&Query{plan: two}).encode(Values{Truncation: slices.Repeat(one, n)}); (err == nil) != (n == 2) {
			t.Errorf("%d numbers of 2: %v", n, err)
		}
	}
}
