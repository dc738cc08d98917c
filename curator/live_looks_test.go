package curator

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
)

const liveLooksPolicy = `
version: 1
population: {name: test}
budget: {rho: 4000, delta: 1e-6, selection_delta: 5e-7}
price: {default: 10, maximum: 30}
tables:
  visits:
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.visits}
    unit: person
    rows_per_unit: 3
    part: {column: ward}
    columns:
      person: {type: integer}
      cost: {type: integer, bounds: [0, 10], nullable: true}
      ward: {type: text, values: [v, w]}
      note: {type: text, nullable: true}
      region: {type: text, values_from: regions.name, nullable: true}
  bills:
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.bills}
    unit: person
    rows_per_unit: 1
    columns: {person: {type: integer}, euros: {type: integer, bounds: [0, 10]}}
  regions:
    public: true
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.regions}
    columns: {name: {type: text}}
`

// liveLooks is a home over three tables on a server, and the owner's URL: 200 persons in two wards and two regions, some of them in both.
func liveLooks(t *testing.T) (c *Owner) {
	t.Helper()
	home, owner := liveHome(t)
	role := os.Getenv("DITHER_TEST_CLINIC")
	role = strings.Fields(role[strings.Index(role, "user=")+5:])[0]
	pgtest.Exec(t, owner, `DROP TABLE clinic.visits; CREATE TABLE clinic.visits(person int, cost smallint, ward text, note text, region text);
	 INSERT INTO clinic.visits SELECT i % 200, i % 10, CASE WHEN i % 2 = 0 THEN 'v' ELSE 'w' END, CASE WHEN i % 3 = 0 THEN 'secret-of-few' ELSE 'common' END, CASE WHEN i % 4 < 2 THEN 'north' ELSE 'south' END
	  FROM generate_series(0, 301) AS i;
	 CREATE TABLE clinic.bills AS SELECT i AS person, i % 10 AS euros FROM generate_series(0, 199) AS i; CREATE TABLE clinic.regions(name text); INSERT INTO clinic.regions VALUES ('south'), ('north');
	 GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO `+role+`; CREATE SCHEMA copies; GRANT USAGE, CREATE ON SCHEMA copies TO `+role)
	write(t, home, "policy.yaml", liveLooksPolicy)
	c = openHome(t, home)
	for _, table := range []string{"visits", "bills", "regions"} {
		sealLive(t, c, table)
	}
	return c
}

// What is asked of a server's table: quantiles and modes in groups, groups that are not known, distinct counts, bounds per group, bounds that
// are found, grouping sets, relations, values of a public table. Of a copy, parts too.
func TestLiveLooks(t *testing.T) {
	c := liveLooks(t)
	answered := []Question{
		{SQL: "SELECT ward, COUNT(*), MEDIAN(cost), MODE(ward) FROM visits GROUP BY ward"},
		{SQL: "SELECT note, COUNT(*), SUM(cost) FROM visits GROUP BY note"},
		{SQL: "SELECT note, COUNT(*) FROM visits GROUP BY note", Other: true},
		{SQL: "SELECT COUNT(DISTINCT note) FROM visits"},
		{SQL: "SELECT SUM(cost, contribution_bounds_per_group => (0, 5)) FROM visits"},
		{SQL: "SELECT SUM(cost, bounds => auto) FROM visits"},
		{SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP(ward)"},
		{SQL: "SELECT euros, COUNT(*) FROM bills GROUP BY euros"},
		{SQL: "SELECT region, COUNT(*) FROM visits GROUP BY region"},
		{SQL: "SELECT COUNT(*) FROM visits JOIN bills USING (person)"},
		{SQL: "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM bills GROUP BY person) AS x"},
		{SQL: "SELECT COUNT(*) FROM (SELECT cost FROM visits UNION ALL SELECT euros AS cost FROM bills) AS x"},
	}
	ofParts := []Question{
		{SQL: "SELECT COUNT(*), SUM(cost) FROM visits WHERE ward = 'v'"},
		{SQL: "SELECT MEDIAN(cost) FROM visits WHERE ward = 'w'"},
	}
	check := func(copied bool) {
		t.Helper()
		for _, q := range answered {
			a, err := c.Answer(t.Context(), q)
			if err != nil || len(a.Rows) == 0 {
				t.Errorf("copied %v: %s: %v", copied, q.SQL, err)
			}
		}
		for i, q := range ofParts { // of what may change, they are charged to everybody, and no row is left out
			before, e := spent(t, c), must[*Explanation](t)(c.Explain(t.Context(), q))
			if told := strings.Contains(strings.Join(e.Notes, "\n"), "Charged to everybody. "); copied == told || copied == (e.Charged == nil) {
				t.Errorf("copied %v: explain %s: %q %v", copied, q.SQL, e.Charged, e.Notes)
			}
			if _, err := c.Answer(t.Context(), q); err != nil {
				t.Errorf("copied %v: %s: %v", copied, q.SQL, err)
			}
			if more := spent(t, c) != before; i > 0 && more == copied { // the first was about another part, and as dear
				t.Errorf("copied %v: %s: spent %v, and before %v", copied, q.SQL, spent(t, c), before)
			}
		}
	}
	check(false)
	for _, table := range []string{"visits", "bills", "regions"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{Copy: "copies"}); err != nil {
			t.Fatal(err)
		}
	}
	check(true)
	if _, err := c.Seal(t.Context(), "bills", SealOptions{}); err != nil { // what is refused when it is asked for is not explained
		t.Fatal(err)
	}
	q := Question{SQL: "SELECT COUNT(*) FROM visits JOIN bills USING (person)"}
	_, asked := c.Answer(t.Context(), q)
	if _, err := c.Explain(t.Context(), q); err == nil || !strings.Contains(err.Error(), "their rows may be from different times") || fmt.Sprint(asked) != err.Error() {
		t.Errorf("%v, and when it is asked for %v", err, asked)
	}
}

// A question takes few connections, however many values it puts in order: one that found none once it is paid for would be lost.
func TestLiveConnections(t *testing.T) {
	c := liveLooks(t)
	role := os.Getenv("DITHER_TEST_CLINIC")
	role = strings.Fields(role[strings.Index(role, "user=")+5:])[0]
	pgtest.Exec(t, strings.Replace(os.Getenv("DITHER_TEST_CLINIC"), "user="+role, "user=owner", 1), "ALTER ROLE "+role+" CONNECTION LIMIT 10")
	var items []string
	for i := range 14 {
		items = append(items, fmt.Sprintf("MEDIAN(euros + %d)", i))
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT " + strings.Join(items, ", ") + " FROM bills"}); err != nil {
		t.Error(err)
	}
}
