package golden

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // makes sources of its own format, and Parquet
)

const clinicPolicy = `
version: 1
population: {name: clinic, neighbours: NEIGHBOURS}
budget: {BUDGET}
price: {PRICE}
ANALYSTS
tables:
  visits:
    description: one row a visit
    source: {csv: source.visits.csv, delimiter: ";", null: NA}
    unit: person
    rows_per_unit: 4
    max_groups: 2
    max_rows_per_group: 2
    expected_rows: 400
    part: {column: party, per_unit: 2}
    columns:
      person: {type: integer}
      city: {type: text, values: [Arnhem, Breda, Delft]}
      ward: {type: text, values_from: wards.ward}
      party: {type: text, values: [D, I, R], nullable: true}
      product: {type: text}
      cost: {type: real, bounds: [0, 5000], nullable: true}
      raw: {type: real, nullable: true}
      age: {type: integer, bounds: [0, 115]}
      day: {type: date, bounds: [2024-01-01, 2026-12-31]}
      cancelled: {type: boolean}
      married: {type: boolean, nullable: true}
  people:
    source: {csv: source.people.csv}
    unit: row
    person_rows: 2
    expected_rows: 300
    part: {column: party}
    columns:
      region: {type: text, values: [north, south], nullable: true}
      smoker: {type: boolean}
      party: {type: text, values: [D, I, R]}
      name: {type: text}
      age: {type: integer, bounds: [0, 115], nullable: true, invalid: null}
      income: {type: real, bounds: [0, 200000]}
      height: {type: real, bounds: [50, 250], nullable: true}
      born: {type: date, bounds: [1900-01-01, 2026-12-31]}
  patients:
    source: {jsonl: source.patients.jsonl}
    unit: person
    rows_per_unit: 1
    columns:
      person: {type: integer}
      smoker: {type: boolean, nullable: true}
      score: {type: integer, bounds: [-10, 10]}
  orders:
    source: {duckdb: source.shop.duckdb, table: orders}
    unit: customer
    rows_per_unit: 3
    columns: {number: {type: integer}, customer: {type: integer}, nation: {type: integer}, total: {type: real, bounds: [0, 1000]}}
    references: {number: notes.number}
  lines:
    source: {parquet: source.lines.parquet}
    through: number
    references: {number: notes.number}
    rows_per_unit: 6
    columns: {number: {type: integer}, price: {type: real, bounds: [0, 100]}, quantity: {type: integer, bounds: [0, 9]}}
  notes:
    source: {csv: source.notes.csv, header: false}
    unit: customer
    rows_per_unit: 3
    columns: {number: {type: integer}, customer: {type: integer}, stars: {type: integer, bounds: [1, 5]}}
  nations:
    public: true
    source: {csv: source.nations.csv}
    rows_per_value: {id: 1, region: 3}
    columns: {id: {type: integer}, region: {type: text, values: [Africa, America, Asia, Europe]}, inhabitants: {type: integer, bounds: [0, 1000]}}
  wards:
    public: true
    source: {csv: source.wards.csv}
    rows_per_value: {ward: 1}
    columns: {ward: {type: text}, beds: {type: integer, bounds: [0, 50]}}
`

// clinicFiles writes the clinic's sources: persons with one row to six, more of them than count.
func clinicFiles(t *testing.T, home string) {
	t.Helper()
	var visits, people, patients, notes strings.Builder
	visits.WriteString("person;city;ward;party;product;cost;raw;age;day;cancelled;married\n")
	people.WriteString("region,smoker,party,name,age,income,height,born\n")
	or := func(null bool, text, other string) string {
		if null {
			return other
		}
		return text
	}
	for i := range 300 {
		city, ward, party := []string{"Arnhem", "Breda", "Delft"}[i%3], []string{"east", "north", "west", "attic"}[i*i%4],
			[]string{"D", "R", "I", "D"}[i%4]
		for j := range i*i%6 + 1 {
			k := i*7 + j*j*11
			fmt.Fprintf(&visits, "%d;%s;%s;%s;%s;%s;%s;%d;2025-%02d-%02d;%v;%s\n", i%120, city, ward, or(k%11 == 0, party,
				"NA"), []string{"pill", "patch", "syrup"}[k%7%3]+or(k%50 > 0, fmt.Sprint(k), ""),
				or(k%13 == 0, fmt.Sprintf("%d.%d", k%600*10, k%10), "NA"), or(k%17 == 0, fmt.Sprint(k*3-900), "NA"), 20+k%70,
				k%12+1, k%28+1, k%5 == 0, or(k%9 == 0, fmt.Sprint(k%2 == 0), "NA"))
		}
		fmt.Fprintf(&people, "%s,%v,%s,%s,%s,%d,%s,19%02d-%02d-11\n", or(i%10 == 0, []string{"north", "south"}[i%2], ""),
			i%4 == 0, party, []string{"Kim", "Sam", "Jo"}[i%5%3], or(i%23 == 0, fmt.Sprint(18+i%80), "old"), 9000+i*i%150000,
			or(i%8 == 0, fmt.Sprintf("%d.5", 150+i%50), ""), i%90+10, i%12+1)
		if i < 150 {
			fmt.Fprintf(&patients, "{\"person\": %d, \"smoker\": %s, \"score\": %d}\n", i, or(i%6 == 0, fmt.Sprint(i%3 == 0),
				"null"), i%24-12)
			fmt.Fprintf(&notes, "%d,%d,%d\n", i, i/4, i%5+1)
		}
	}
	for name, text := range map[string]string{
		"visits.csv": visits.String(), "people.csv": people.String(), "patients.jsonl": patients.String(),
		"notes.csv":   notes.String(),
		"nations.csv": "id,region,inhabitants\n1,Africa,20\n2,Africa,40\n3,America,300\n4,Asia,900\n5,Europe,80\n",
		"wards.csv":   "ward,beds\neast,10\nnorth,20\nsouth,5\nwest,50\n",
	} {
		writeFile(t, home, "source."+name, text)
	}
	db, err := sql.Open("duckdb", filepath.Join(home, "source.shop.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE orders AS SELECT i AS number, i // 4 AS customer, i % 6 + 1 AS nation, (i * 37 % 1100)::DOUBLE AS total FROM range(150) r(i)",
		"COPY (SELECT i // 3 AS number, (i * 13 % 105)::DOUBLE AS price, i % 11 AS quantity FROM range(480) r(i)) TO '" + filepath.Join(home, "source.lines.parquet") + "' (FORMAT parquet)",
		"CHECKPOINT",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, home, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func clinicHome(name, neighbours, budget, price, analysts string, asks []ask) maker {
	text := strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "PRICE", price, "ANALYSTS",
		analysts).Replace(clinicPolicy)
	return maker{name: name, policy: text, files: clinicFiles, asks: asks}
}

// written are the homes whose questions are written by hand.
func written() []maker {
	periods := "epsilon: 450, per: month, lifetime: 1000"
	old := clinicHome("scarred", "add-remove", "epsilon: 800", "default: 0.5, maximum: 10", "", clinicAsks("", "0.8",
		""))
	old.before = scarred
	return []maker{
		old,
		clinicHome("clinic-epsilon", "add-remove", "epsilon: 1000", "default: 0.5, maximum: 10", "", clinicAsks("", "0.8",
			"")),
		clinicHome("clinic-periods", "change-one", periods, "default: 0.4, maximum: 10",
			"analysts: {ann: 90%, ben: {epsilon: 20}}", clinicAsks("ann", "0.6", "")),
		clinicHome("clinic-rho", "add-remove", "rho: 300, delta: 1e-5, selection_delta: 9e-6",
			"default: {rho: 0.2}, maximum: {rho: 20}, delta: 4e-9", "", append(clinicAsks("", "0.8", "0.3"),
				trainingAsks()...)),
		clinicHome("clinic-delta", "change-one",
			"epsilon: 60, delta: 1e-4, selection_delta: 9e-5, per: year, lifetime: 90",
			"default: 0.2, maximum: 5, delta: 4e-8", "analysts: {ann: 95%, ben: {share: 5%}}", clinicAsks("ann", "0.3",
				"0.05")),
		clinicHome("clinic-truncation", "change-one", "rho: 300, delta: 1e-5, selection_delta: 9e-6",
			"default: {rho: 0.2}, maximum: {rho: 20}, delta: 4e-9, truncation: 5%", "", truncationAsks()),
		clinicHome("clinic-forms", "add-remove", "epsilon: 1000", "default: 0.5, maximum: 10", "", formAsks()),
		clinicHome("clinic-times", "change-one", "epsilon: 1000", "default: 0.5, maximum: 10", "", timeAsks()),
		clinicHome("clinic-nested", "add-remove", "epsilon: 1000", "default: 0.5, maximum: 10", "", nestedAsks()),
		clinicHome("clinic-texts", "add-remove", "epsilon: 1000", "default: 0.5, maximum: 10", "", textAsks()),
		clinicHome("clinic-firsts", "change-one", "epsilon: 1000", "default: 0.5, maximum: 10", "", firstAsks()),
		clinicHome("clinic-medians", "change-one", "epsilon: 1000", "default: 0.5, maximum: 10", "", medianAsks()),
		clinicHome("clinic-windows", "add-remove", "epsilon: 1000", "default: 0.5, maximum: 10", "", windowAsks()),
	}
}

// medianAsks are questions with medians and percentiles within one person.
func medianAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT AVG(typical) FROM (SELECT person, MEDIAN(cost) AS typical FROM visits GROUP BY person) q",
		"SELECT AVG(m), MEDIAN(m) FROM (SELECT person, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS m FROM visits WHERE cost > 10 GROUP BY person) q",
		"SELECT late, COUNT(*) FROM (SELECT person, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY day) >= '2025-09-01' AS late FROM visits GROUP BY person) q GROUP BY late",
		"SELECT city, COUNT(*), AVG(m) FROM (SELECT person, city, MEDIAN(age) FILTER (WHERE NOT cancelled) AS m FROM visits GROUP BY person, city) q GROUP BY city",
		"SELECT COUNT(*) FROM patients p WHERE (SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY v.cost DESC) FROM visits v WHERE v.person = p.person) > 300",
		"SELECT first, COUNT(*) FROM (SELECT person, PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY city) AS first FROM visits GROUP BY person) q GROUP BY first",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// windowAsks are questions with windows over the rows of one person.
func windowAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT COUNT(gap), SUM(gap) FROM (SELECT day - LAG(day) OVER (PARTITION BY person ORDER BY day) AS gap FROM visits) q WHERE gap < 60",
		"SELECT n, COUNT(*), SUM(cost) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day, cost DESC NULLS LAST) AS n FROM visits) q GROUP BY n",
		"SELECT city, COUNT(*) FROM (SELECT city, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM visits) q WHERE n <= 2 GROUP BY city",
		"SELECT SUM(cost) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY person, cancelled ORDER BY day DESC) AS n FROM visits WHERE cost > 1) q WHERE n = 1",
		"SELECT before, COUNT(*) FROM (SELECT LAG(city, 1, 'none') OVER (PARTITION BY person ORDER BY day) AS before FROM visits) q GROUP BY before",
		"SELECT COUNT(*) FROM (SELECT cost, FIRST_VALUE(cost) OVER w AS f, LEAD(cost, 2) OVER w AS l, MAX(cost) OVER (PARTITION BY person) AS m FROM visits WINDOW w AS (PARTITION BY person ORDER BY day)) q WHERE cost > f AND l < m",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// firstAsks are questions about the first rows of each person, and with arrays of quantiles.
func firstAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT cancelled, COUNT(*) FROM (SELECT cancelled, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM visits) q WHERE n = 1 GROUP BY cancelled",
		"SELECT AVG(cost) AS last FROM (SELECT DISTINCT ON (person) person, cost FROM visits ORDER BY person, day DESC) q",
		"SELECT city, SUM(cost) FROM (SELECT *, RANK() OVER (PARTITION BY person ORDER BY cost DESC, city) AS r FROM visits) q WHERE r = 1 GROUP BY city",
		"WITH q AS (SELECT person, city, DENSE_RANK() OVER (PARTITION BY person ORDER BY cancelled DESC NULLS LAST, day) AS r FROM visits WHERE cost > 1) SELECT city, COUNT(*) FROM q WHERE r < 2 GROUP BY city",
		"SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT person, cost, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM visits) v ON p.person = v.person AND v.n = 1 WHERE v.cost > 3",
		"SELECT PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY cost) AS q, COUNT(*) FROM visits",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// textAsks are questions with functions of texts, and with groups of reals.
func textAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT UPPER(city) AS c, LENGTH(city) AS n, COUNT(*) FROM visits GROUP BY 1, 2",
		"SELECT LEFT(city, 1) || '-' || party AS which, COUNT(*) FROM visits GROUP BY 1",
		"SELECT CONCAT(LOWER(party), '/', married) AS which, COUNT(*) FROM visits GROUP BY 1",
		"SELECT CONCAT_WS(' ', INITCAP(region), REVERSE(party)) AS which, COUNT(*) FROM people GROUP BY 1",
		"SELECT RPAD(SUBSTRING(TRIM(city), 2), 5, '*') AS c, SUM(cost) FROM visits GROUP BY 1",
		"SELECT SPLIT_PART(TRANSLATE(REPLACE(city, 'e', '-'), 'dA', 'Da'), '-', 1) AS c, COUNT(*) FROM visits GROUP BY 1",
		"SELECT REGEXP_REPLACE(city, '[aeiou]+', '.', 'g') AS c, COUNT(*) FROM visits GROUP BY 1",
		"SELECT COUNT(*) FILTER (WHERE city ILIKE 'b%'), COUNT(*) FILTER (WHERE city ~ 'e.*a$'), COUNT(*) FILTER (WHERE city SIMILAR TO '%(ft|em)') FROM visits",
		"SELECT COUNT(*) FILTER (WHERE product ILIKE '%A%'), COUNT(*) FILTER (WHERE LOWER(product) = 'a'), COUNT(*) FILTER (WHERE STARTS_WITH(product, 'a')) FROM visits",
		"SELECT COUNT(*) FROM visits WHERE party IS DISTINCT FROM 'D' AND party <> '' AND age BETWEEN SYMMETRIC 80 AND 20",
		"SELECT FLOOR(cost / 250.0) * 250.0 AS cost, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1 DESC",
		"SELECT ROUND(height, -1) / 10 AS decimetres, COUNT(*), AVG(income) FROM people GROUP BY ROUND(height, -1)",
		"SELECT age::text AS age, COUNT(*) FROM people WHERE age = ANY ('{30,31,32}') GROUP BY 1",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// formAsks are questions in forms of SQL that dither has answered since the other homes were written.
func formAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT SUM(age / 10), SUM((age - 50) / 10), SUM(age / 10.0), SUM(DIV(age, 7)), SUM(MOD(age, 7)) FROM people",
		"SELECT SUM(TRUNC(cost)), SUM(ROUND(cost, 1)), SUM(TRUNC(cost, -1)), SUM(ROUND(age, -1)) FROM visits",
		"SELECT SUM(POWER(age, 2)), SUM(POWER(cost + 1, 0.3)), SUM(LOG(cost + 1)), SUM(LOG(2, age + 1)) FROM visits",
		"SELECT MOD(age, 10), COUNT(*) FROM people GROUP BY MOD(age, 10)",
		"SELECT (age - 50) / 10, COUNT(*) FROM people GROUP BY 1",
		"SELECT COUNT(DISTINCT person), COUNT(DISTINCT person) FILTER (WHERE cost > 100) FROM visits",
		"SELECT city, COUNT(DISTINCT CASE WHEN cost > 100 THEN person END) AS n, COUNT(*) FROM visits GROUP BY city",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// timeAsks are questions that compute with dates and times.
func timeAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT COUNT(*) FROM visits WHERE day >= DATE '2025-06-30' - INTERVAL '1 month' AND day < TIMESTAMP '2025-06-30 12:00:00'",
		"SELECT CAST((CAST(DATE_TRUNC('week', CAST((day + INTERVAL '1 day') AS date)) AS date) + INTERVAL '-1 day') AS date) AS day, COUNT(*) FROM visits GROUP BY 1",
		"SELECT SUM(day - DATE '2025-01-01'), AVG(EXTRACT(week FROM day)), SUM(EXTRACT(hour FROM day::timestamp - TIMESTAMP '2025-01-01 06:30')) FROM visits",
		"SELECT EXTRACT(year FROM AGE(day, DATE '2000-02-29')) AS years, COUNT(*) FROM visits GROUP BY 1",
		"SELECT to_char(day, 'YYYY-MM') AS month, SUM(cost) FROM visits WHERE day < '2025-05-01T00:00:00Z' GROUP BY to_char(day, 'YYYY-MM')",
		"SELECT to_char(day, 'FMDay') AS day, COUNT(*) FROM visits GROUP BY 1",
		"SELECT date_bin('72 hours', day, TIMESTAMP '2025-01-01 12:00') AS bin, COUNT(*) FROM visits WHERE day < '2025-03-01' GROUP BY 1",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// nestedAsks are questions with subqueries in expressions, and with sums of distinct values.
func nestedAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT COUNT(*) FROM patients WHERE person IN (SELECT person FROM visits WHERE cost > 100)",
		"SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person AND v.cancelled)",
		"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.person = p.person) >= 2",
		"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = v.person AND w.age > v.age AND w.city <> v.city)",
		"SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = v.person AND (w.city <> v.city OR w.age > COALESCE(v.age, 3)))",
		"SELECT city, COUNT(*), SUM(age) FROM visits WHERE ward IN (SELECT ward FROM wards) GROUP BY city",
		"SELECT COUNT(*) FROM visits v WHERE ward NOT IN (SELECT ward FROM wards) OR v.age > (SELECT MIN(w.age) FROM visits w WHERE w.person = v.person)",
		"SELECT SUM(DISTINCT age), SUM(age), COUNT(DISTINCT age) FROM people",
		"SELECT city, SUM(DISTINCT age), SUM(DISTINCT age, bounds => (20, 50)) FROM visits GROUP BY city",
		"SELECT city, SUM(DISTINCT age) FROM visits GROUP BY ROLLUP (city)",
		"SELECT SUM(DISTINCT age - 50) FILTER (WHERE NOT cancelled) FROM visits",
		"SELECT COUNT(*) FROM (SELECT DISTINCT person, city FROM visits WHERE cost > 5) v",
		"SELECT COUNT(*) FROM visits WHERE city ~ '^D' OR party SIMILAR TO '(I|R)%'",
		"SELECT city || '-' || party AS place, COUNT(*) FROM visits WHERE party IS DISTINCT FROM 'D' GROUP BY 1",
	} {
		out = append(out, ask{SQL: sql})
	}
	return out
}

// truncationAsks are questions under a policy that asks for an estimate of what the bounds cut.
func truncationAsks() (out []ask) {
	for _, sql := range []string{
		"SELECT COUNT(*), SUM(cost) FROM visits",
		"SELECT AVG(cost) FROM visits WHERE cost > 10",
		"SELECT city, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY city",
		"SELECT city, AVG(cost) FROM visits GROUP BY ROLLUP (city)",
		"SELECT MEDIAN(cost) FROM visits",
		"SELECT COUNT(DISTINCT person) FROM visits",
		"SELECT COUNT(*) FROM people",
		"SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) v",
	} {
		for _, share := range []string{"", "0", "12.5%"} {
			out = append(out, ask{SQL: sql, Truncation: share})
		}
	}
	return append(out,
		ask{SQL: "SELECT AVG(cost) FROM visits", Truncation: "5%", LostRows: 40},
		ask{SQL: "SELECT AVG(cost), COUNT(*) FROM visits", Truncation: "5%", LostRows: 40, MaxRows: "auto"},
		ask{SQL: "SELECT COUNT(*) FROM visits", Truncation: "5%", LostRows: 40, MaxRows: "1"},
		ask{SQL: "SELECT COUNT(*) FROM visits", Truncation: "5%", LostRows: 2},
		ask{SQL: "SELECT SUM(cost, bounds => (0, 100)), AVG(cost, bounds => (10, 6000)) FROM visits", Truncation: "5%"},
		ask{SQL: "SELECT city, AVG(cost, bounds => (10, 90)) FROM visits GROUP BY city", Truncation: "5%", LostRows: 10},
	)
}
