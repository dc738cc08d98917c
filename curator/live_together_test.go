package curator

import (
	"encoding/json"
	"fmt"
	"testing"
)

// What goes together with a relation, bounds on rows that are found, sums of vectors, quantiles, groups that are not known, gives of a server's rows what
// it gives of the same rows in files, with the same randomness; of copies too, whose ranks a relation does not read.
func TestLiveRelationsTogether(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	files := shopOf(t, "add-remove", true)
	live, _ := shopOnServer(t)
	const joined = "lines l JOIN orders o ON l.number = o.number JOIN customers c ON o.customer = c.id"
	asked := map[string]func(c *Owner) (any, error){}
	for _, sql := range []string{
		"SELECT COUNT(*) FROM lines", "SELECT metal, SUM(price), COUNT(*) FROM lines JOIN parts USING (part) GROUP BY metal",
		"SELECT region, MEDIAN(price) FROM " + joined + " GROUP BY region", "SELECT MODE(region), AVG(price, bounds => auto) FROM " + joined,
		"SELECT COUNT(DISTINCT price) FROM " + joined + " WHERE age > 20",
	} {
		asked["rows found: "+sql] = func(c *Owner) (any, error) {
			r, err := c.Answer(t.Context(), Question{SQL: sql, MaxRows: "auto", Fresh: true, Epsilon: "9"})
			if err != nil {
				return nil, err
			}
			return []any{r.RowsBound, r.Rows}, nil
		}
	}
	for sql, centres := range map[string][][]float64{
		"SELECT price, age FROM " + joined: nil, "SELECT price, weight / 3 FROM lines JOIN parts USING (part)": nil, "SELECT n, s FROM (SELECT customer, COUNT(*) AS n, SUM(total) AS s FROM orders GROUP BY customer) q": nil,
		"SELECT price, age FROM " + joined + " GROUP BY region": nil, "SELECT age, price FROM customers c LEFT JOIN orders o ON c.id = o.customer LEFT JOIN lines l ON l.number = o.number": {{10, 2}, {30, 5}},
	} {
		v := Vectors{Request: Request{SQL: sql, Fresh: true, Epsilon: "9"}, Blocks: []Block{{2, L2, ""}}, Sums: []Sum{Count(), First(0), Product(0, 0)}, Centres: centres}
		asked["vectors: "+sql] = func(c *Owner) (any, error) {
			m, err := c.Moments(t.Context(), v)
			if err != nil {
				return nil, err
			}
			var out []any
			for _, s := range m.Sums {
				out = append(out, s.Values)
			}
			return out, nil
		}
	}
	check := func(what string) {
		t.Helper()
		for name, ask := range asked {
			var got [2]string
			for i, c := range []*Owner{files, live} {
				got[i] = drawnFrom(3, func() string {
					answer, err := ask(c)
					if err != nil {
						return fmt.Sprintf("fails: %+v", err)
					}
					return string(must[[]byte](t)(json.Marshal(answer)))
				})
			}
			if got[0] != got[1] || len(got[0]) > 5 && got[0][:5] == "fails" {
				t.Errorf("%s: %s:\n%s of files\n%s of a server", what, name, got[0], got[1])
			}
		}
	}
	check("read in place")
	for _, table := range shopTables {
		if _, err := live.Seal(t.Context(), table, SealOptions{Copy: "copies", Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	check("copies")
}
