package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rows of public tables are exact, free and of the newest version, alone and beside an answer. Rows of persons are refused.
func TestPublicRowsAreExactAndFree(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "ferry")
	c := sealedHomeAt(t, "ferry", home)
	shown := func(sql string) string {
		t.Helper()
		before := must[*Budget](t)(c.Budget())
		explained := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql}))
		found := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		after := must[*Budget](t)(c.Budget())
		if !found.Free || !explained.Free || found.ID != "" || before.Remaining != after.Remaining {
			t.Errorf("%s is not free: %+v", sql, found)
		}
		var rows []string
		for _, row := range found.Rows {
			var cells []string
			for _, cell := range row {
				cells = append(cells, fmt.Sprint(cell.Key))
			}
			rows = append(rows, strings.Join(cells, ","))
		}
		return strings.Join(rows, ";")
	}
	for sql, want := range map[string]string{
		"SELECT * FROM routes": "Alder Sound,Inner Quay,12;Birch Point,Inner Quay,40;Cove Line,Outer Pier,95;Dune Express,Outer Pier,180",
		"SELECT harbour, SUM(km), COUNT(*) FROM routes r WHERE km > 12 GROUP BY harbour ORDER BY 1":                                              "Inner Quay,40,1;Outer Pier,275,2",
		"SELECT r.route, s.km - r.km FROM routes r JOIN routes s ON s.harbour = r.harbour AND s.km > r.km ORDER BY 1":                            "Alder Sound,28;Cove Line,85",
		"SELECT label, km FROM routes JOIN (VALUES ('Alder Sound', 'A'), ('Cove Line', 'C')) v (route, label) USING (route)":                     "A,12;C,95",
		"SELECT * FROM (SELECT route, km FROM routes UNION ALL SELECT harbour, -km FROM routes ORDER BY km DESC LIMIT 3) q":                      "Dune Express,180;Cove Line,95;Birch Point,40",
		"(SELECT route FROM routes UNION ALL SELECT harbour FROM routes ORDER BY route DESC LIMIT 1) UNION ALL SELECT route FROM routes LIMIT 2": "Outer Pier;Alder Sound",
	} {
		if got := shown(sql); got != want {
			t.Errorf("%s\nwant %s\ngot  %s", sql, want, got)
		}
	}
	const joined = "SELECT q.route, q.n, r.km FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q JOIN routes r USING (route) WHERE r.km > 50"
	found := must[*Release](t)(c.Answer(t.Context(), Question{SQL: joined}))
	if len(found.Rows) != 2 || found.Free || found.Rows[0][1].Estimate.Low == nil || found.Rows[1][2].Key != int64(180) {
		t.Errorf("%+v", found)
	}
	alone := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT route, COUNT(*) AS n FROM trips GROUP BY route"}))
	if !alone.Replayed || alone.ID != found.ID {
		t.Errorf("the measured question has another release: %s and %s", alone.ID, found.ID)
	}
	for _, sql := range []string{
		"SELECT * FROM trips", "SELECT * FROM routes r JOIN trips t USING (route)", "SELECT t.* FROM trips t LIMIT 3",
		"SELECT r.km FROM routes r, passengers p", "SELECT * FROM (SELECT * FROM passengers) q",
		"SELECT r.km, q.fare FROM routes r JOIN (SELECT route, fare FROM trips) q USING (route)",
		"SELECT c, t.fare FROM generate_series(1, 3) c LEFT JOIN trips t ON t.luggage = c",
		"SELECT km FROM routes WHERE route IN (SELECT route FROM trips)",
		"SELECT (SELECT fare FROM trips LIMIT 1) FROM routes",
		"SELECT km FROM routes UNION ALL SELECT luggage FROM trips",
	} {
		if _, err := c.Answer(t.Context(), Question{SQL: sql}); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
	if _, err := c.kernel.PublicRows("trips"); err == nil || !strings.Contains(err.Error(), "defect") {
		t.Errorf("rows of persons are read: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "routes.csv"), []byte("route,harbour,km\nAlder Sound,Outer Pier,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := must[*Owner](t)(Open(home)).Seal(t.Context(), "routes", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := shown("SELECT * FROM routes"); got != "Alder Sound,Outer Pier,7" {
		t.Errorf("the rows are not those of the newest version: %s", got)
	}
}
