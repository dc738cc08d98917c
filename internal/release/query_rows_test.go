package release

import (
	"encoding/json"
	"math/big"
	"testing"

	"dither/internal/plan"
)

// A record that no search could have left is none.
func TestRecordedRows(t *testing.T) {
	q := &Query{look: &Look{shape: [2]int{1, 1}}, plan: &plan.Plan{Rows: &plan.RowSearch{Most: 20}}}
	for text, ok := range map[string]bool{
		`{"rows":3,"release":[["5"]]}`: true, `{"rows":0,"release":[["5"]]}`: false, `{"rows":21,"release":[["5"]]}`: false,
		`[["5"]]`: false, `{"rows":3}`: false, `{"rows":3,"release":[["5","6"]]}`: false, `{"rows":"3","release":[["5"]]}`: false,
	} {
		v, err := q.decode(json.RawMessage(text))
		if (err == nil) != ok || ok && (v.Rows != 3 || v.Numbers[0][0].Int64() != 5) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
	written, err := q.encode(Values{Rows: 7, Numbers: [][]*big.Int{{big.NewInt(4)}}})
	if v, err2 := q.decode(written); err != nil || err2 != nil || v.Rows != 7 || v.Numbers[0][0].Int64() != 4 {
		t.Errorf("%s: %v, %v", written, err, err2)
	}
	if p := (&plan.Plan{}); boundedFails(p) {
		t.Error("a plan that waits for no bound is given one")
	}
}

func boundedFails(p *plan.Plan) bool {
	_, err := (&Query{plan: p, usable: func(*plan.Plan) error { return nil }}).boundedRows(1)
	return err == nil
}
