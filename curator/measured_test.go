package curator

import (
	"encoding/json"
	"fmt"
	"testing"
)

// What an earlier release measured is had by its name: the same numbers, noise and bounds, at no cost; and of nothing that its question does not tell.
func TestMeasured(t *testing.T) {
	c := openHome(t, newHome(t))
	asked := []Question{
		{SQL: "SELECT region, COUNT(*) FROM people GROUP BY region", Epsilon: "0.1"},
		{SQL: "SELECT AVG(age), VAR_SAMP(height) FROM people", Epsilon: "0.2"},
		{SQL: "SELECT region, COUNT(*), SUM(age) FROM people GROUP BY ROLLUP (region)", Epsilon: "0.1"},
		{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "0.1", MaxRows: "2"},
	}
	for _, q := range asked {
		first := must[*Measurements](t)(c.Measure(t.Context(), q))
		before := spent(t, c)
		again := must[*Measurements](t)(c.Measured(first.ID, ""))
		if !again.Replayed || spent(t, c) != before {
			t.Errorf("%s: replayed %t, spent %s, before %s", q.SQL, again.Replayed, spent(t, c), before)
		}
		again.Replayed, again.Remaining = first.Replayed, first.Remaining
		if a, b := text(t, first), text(t, again); a != b {
			t.Errorf("%s: %s, at first %s", q.SQL, b, a)
		}
		for _, v := range again.Vectors {
			if v.Bounds[0].Cmp(v.Bounds[1]) >= 0 || v.Bounds[0].Cmp(v.Centre) > 0 || v.Bounds[1].Cmp(v.Centre) < 0 {
				t.Errorf("%s: %s of %q from %s to %s about %s", q.SQL, v.Name, v.Of, v.Bounds[0], v.Bounds[1], v.Centre)
			}
		}
	}
	median := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(age) FROM people", Epsilon: "0.1"}))
	found := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT AVG(age, bounds => auto) FROM people", Epsilon: "0.1"}))
	before := spent(t, c)
	for _, id := range []string{"", "r", "7", "r-1", "r99999", "r18446744073709551615", "r18446744073709551616", "r1 ", median.ID, found.ID} {
		if m, err := c.Measured(id, ""); codeOf(err) != CodeUsage {
			t.Errorf("%q: %+v, %v", id, m, err)
		}
	}
	if spent(t, c) != before {
		t.Errorf("spent %s, before %s", spent(t, c), before)
	}
}

func text(t *testing.T, m *Measurements) string {
	t.Helper()
	b, err := json.Marshal(m.Cells)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprint(m.ID, m.Keys, string(b), m.Price)
	for _, v := range m.Vectors {
		out += fmt.Sprintln(v.Name, v.Of, v.Values, v.First, v.Unit, v.Centre, v.Bounds, v.Noise.Variance(), v.Loss)
	}
	return out
}
