package release

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// giftsPlan plans the histogram of costs by gifts: 11 values and 2.
func giftsPlan(t testing.TB) *plan.Linear {
	t.Helper()
	p, err := policy.Decode(fmt.Appendf(nil, openShop, "add-remove", "1", ""), ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.BuildHistogram(p, plan.Request{SQL: "SELECT COUNT(*) FROM orders GROUP BY cost, gift"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// giftsStep is a step that measured the gifts, and the number of rows.
func giftsStep(p *plan.Linear) string {
	return `{"sha256":"ab","numbers":[["3","-4","5"]],"counted":"` + p.Counted() + `","parts":[` +
		`{"keys":[1],"rows":2,"noise":"discrete gaussian","scale":"2"},{"keys":[],"rows":1,"noise":"discrete laplace","scale":"1/3"}]}`
}

// Whatever the ledger's file says, a step gives the marginals of the plan, or none.
func TestRecordedMarginalsAreChecked(t *testing.T) {
	p := giftsPlan(t)
	step := giftsStep(p)
	got, fits, err := marginalsOf(p, json.RawMessage(step))
	if err != nil || !fits || len(got) != 2 || fmt.Sprint(got[0].Values, got[1].Values) != "[3 -4] [5]" || got[0].Noise.Variance() < 1.9 {
		t.Fatalf("%+v, %v, %v", got, fits, err)
	}
	for from, to := range map[string]string{
		`"keys":[1],"rows":2`:           `"keys":[1],"rows":3`,
		`"keys":[1]`:                    `"keys":[0]`,
		`"keys":[],"rows":1`:            `"keys":[],"rows":-1`,
		`{"keys":[1]`:                   `{"keys":[-1]`,
		`{"keys":[1],`:                  `{"keys":[2],`,
		`{"keys":[1],"rows":2`:          `{"keys":[1,1],"rows":4`,
		`"3","-4","5"`:                  `"3","-4"`,
		`"3",`:                          `"x",`,
		`"scale":"2"`:                   `"scale":"0"`,
		`"scale":"1/3"`:                 `"scale":"1/0"`,
		`"noise":"discrete laplace"`:    `"noise":"discrete uniform"`,
		`"numbers":[["3","-4","5"]]`:    `"numbers":"1:AAAA!"`,
		`"counted":"` + p.Counted()[:4]: `"counted":"` + strings.Repeat("z", 4),
		`"counted":"` + p.Counted():     `"counted":"`,
		`"sha256":"ab"`:                 `"sha256":7`,
	} {
		text := strings.Replace(step, from, to, 1)
		if text == step {
			t.Fatalf("%s is not in %s", from, step)
		}
		if got, fits, err := marginalsOf(p, json.RawMessage(text)); err == nil && fits || len(got) > 0 {
			t.Errorf("%s gives %+v", text, got)
		}
	}
}

// FuzzRecordedMarginals: no text of a step causes a panic, and marginals have as many numbers as cells.
func FuzzRecordedMarginals(f *testing.F) {
	p := giftsPlan(f)
	f.Add(giftsStep(p))
	f.Add(`{}`)
	f.Add(strings.Replace(giftsStep(p), "[1]", "[0,1,1,1,1,1,1,1]", 1))
	f.Fuzz(func(t *testing.T, text string) {
		all, fits, err := marginalsOf(p, json.RawMessage(text))
		for _, m := range all {
			cells := 1
			for _, k := range m.Keys {
				cells *= len(p.KeyValues()[k])
			}
			if err != nil || !fits || len(m.Values) != cells || m.Noise == nil || slices.Contains(m.Values, nil) {
				t.Errorf("%s gives %+v, %v, %v", text, m, fits, err)
			}
		}
	})
}
