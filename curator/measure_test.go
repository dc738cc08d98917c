package curator

import "testing"

// Grouped finds the keys of a cell in the question's order, whatever the release's is, of a table and of a relation.
func TestMeasurementsGrouped(t *testing.T) {
	c := shopOf(t, "add-remove", false)
	ids := map[string]string{}
	for _, of := range []struct{ from, text, number string }{
		{"customers", "region", "CASE WHEN age > 35 THEN 1 ELSE 0 END"},
		{"lines", "part", "CASE WHEN price > 3 THEN 1 ELSE 0 END"},
	} {
		for _, by := range []string{of.text + ", " + of.number, of.number + ", " + of.text} {
			m := must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: "SELECT " + by + ", COUNT(*) FROM " + of.from + " GROUP BY " + by}))
			if ids[of.from] == "" {
				ids[of.from] = m.ID
			}
			if len(m.Grouped) != 2 || len(m.Cells) != 4 || m.ID != ids[of.from] {
				t.Fatalf("%s: %v of %d cells, %s", by, m.Grouped, len(m.Cells), m.ID)
			}
			text := 0 // which of the question's keys it is
			if by[:4] == "CASE" {
				text = 1
			}
			for _, keys := range m.Cells {
				if _, ok := keys[m.Grouped[text]].(string); !ok {
					t.Errorf("%s: %v, in the order %v", by, keys, m.Grouped)
				}
				if _, ok := keys[m.Grouped[1-text]].(int64); !ok {
					t.Errorf("%s: %v, in the order %v", by, keys, m.Grouped)
				}
			}
		}
	}
}
