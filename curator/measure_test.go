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

// Possible says which cells the answer of the same question shows. The cells are measured alike, with a WHERE that
// leaves them rows or not.
func TestMeasurementsPossible(t *testing.T) {
	c := shopOf(t, "add-remove", false)
	for _, sql := range []string{
		"SELECT region, COUNT(*) FROM customers GROUP BY region",
		"SELECT region, COUNT(*) FROM customers WHERE region = 'north' GROUP BY region",
		"SELECT region, COUNT(*) FROM customers WHERE age > 40 AND region IN ('south') GROUP BY region",
		"SELECT region, age > 35, COUNT(*), AVG(age) FROM customers WHERE age < 30 OR region = 'north' GROUP BY region, age > 35",
		"SELECT region, age > 35, COUNT(*) FROM customers WHERE region <> 'north' GROUP BY ROLLUP (region, age > 35)",
		"SELECT region, COUNT(*) FROM customers WHERE age > 40 AND age < 30 GROUP BY region",
		"SELECT COUNT(*) FROM customers WHERE region = 'north'",
	} {
		m := must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: sql}))
		shown := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		if m.Possible != nil && len(m.Possible) != len(m.Cells) {
			t.Fatalf("%s: %v of %d cells", sql, m.Possible, len(m.Cells))
		}
		if n := possible(len(m.Cells), m.Possible); n != len(shown.Rows) {
			t.Errorf("%s: %d cells are possible, and the answer has %d rows", sql, n, len(shown.Rows))
		}
		for i, keys := range m.Cells {
			if len(keys) != 1 || !m.Possible.Has(i) {
				continue
			}
			found := false
			for _, row := range shown.Rows {
				found = found || row[0].Key == keys[0]
			}
			if !found {
				t.Errorf("%s: no row of the answer has the key %v", sql, keys[0])
			}
		}
	}
	for _, of := range []struct {
		where string
		cells int
	}{{"TRUE", 2}, {"region = 'south'", 1}, {"age >= 30 AND region IN ('north', 'south')", 2}} {
		v := Vectors{Blocks: []Block{{Size: 1, Norm: L2}}, Sums: []Sum{First(0), Count()}}
		v.SQL = "SELECT age FROM customers WHERE " + of.where + " GROUP BY region"
		m := must[*Moments](t)(c.Moments(t.Context(), v))
		e := must[*MomentsExplanation](t)(c.ExplainMoments(t.Context(), v))
		n := possible(len(m.Cells), m.Possible)
		if n != of.cells || possible(len(e.Cells), e.Possible) != n || len(m.Cells) != 2 {
			t.Errorf("%s: %v and %v of %d cells", of.where, m.Possible, e.Possible, len(m.Cells))
		}
	}
}

// possible returns how many of some cells are possible.
func possible(cells int, of Possible) (n int) {
	for i := range cells {
		if of.Has(i) {
			n++
		}
	}
	return n
}
