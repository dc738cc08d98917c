package regression

import (
	"math"
	"testing"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/testhome"
)

// A server's table, and persons of several rows under change-one: the counts are those of a file, and their noise fits
// the person.
func TestCalibrateLive(t *testing.T) {
	owner := pgtest.Start(t).Database(t)
	// Of x from -1 to 1 in steps of a hundredth the share x/2 + 1/2 is ill, twenty rows each.
	pgtest.Exec(t, owner, `CREATE SCHEMA made; CREATE TABLE made.t AS SELECT
	 i AS person, (i / 20 - 100) / 100.0::float8 AS x, CASE WHEN i % 20 < (i / 20) / 10 THEN 'yes' ELSE 'no' END AS ill FROM generate_series(0, 4019) AS i`)
	t.Setenv("DITHER_TEST_CALIBRATION", owner)
	policy := `
version: 1
population: {name: people, neighbours: change-one}
budget: {epsilon: 100}
price: {default: 1, maximum: 20}
tables:
  t:
    source: {postgres: {url_env: DITHER_TEST_CALIBRATION}, table: made.t}
    unit: person
    rows_per_unit: 2
    columns:
      person: {type: integer}
      x: {type: real, bounds: [-1, 1]}
      ill: {type: text, values: ["no", "yes"]}
`
	c, _ := testhome.Sealed(t, policy, "t", nil)
	q := GLM{Family: Logistic, Table: "t", Formula: "ill ~ x", Rows: 4000}
	q.Epsilon = "20"
	f, err := FitGLM(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	k := Calibration{Bins: 4, Where: "x >= -1"}
	k.Epsilon, k.Confidence = "2", "0.999999999"
	got, err := f.Calibrate(t.Context(), c, k)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0.0
	for _, b := range got.Bins {
		rows += b.Rows
		if middle := (b.Low + b.High) / 2; b.Rate == nil || math.Abs(*b.Rate-middle) > 0.15 {
			t.Errorf("%+v", b)
		}
	}
	// One person moves two rows from cells to others, so that counts have discrete Laplace noise of scale 4/2, of
	// deviation 2.8.
	if len(got.Bins) != 4 || math.Abs(rows-4020) > 150 || got.Noise != "discrete Laplace" ||
		math.Abs(got.StdDev-2*math.Sqrt2) > 0.1 || len(got.Warnings) != 1 {
		t.Errorf("%+v: %g rows", got, rows)
	}
}
