package cluster

import (
	"math"
	"testing"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/testhome"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const livePolicy = `
version: 1
population: {name: people, neighbours: add-remove}
budget: {epsilon: 100}
price: {default: 1}
tables:
  t:
    source: {postgres: {url_env: DITHER_TEST_KMEANS}, table: made.t}
    unit: row
    columns:
      x: {type: real, bounds: [-1, 1], nullable: true}
      n: {type: integer, bounds: [0, 100]}
`

// A server's table is clustered by each method as a file is.
func TestKMeansLive(t *testing.T) {
	owner := pgtest.Start(t).Database(t)
	pgtest.Exec(t, owner, `CREATE SCHEMA made; CREATE TABLE made.t AS SELECT
	 CASE WHEN i % 100 = 99 THEN NULL ELSE (i % 2)::float8 - 0.5 + (i % 7 - 3) / 50.0 END AS x, 20 + 60 * (i % 2)::int + (i % 5)::int AS n FROM generate_series(0, 2999) AS i`)
	t.Setenv("DITHER_TEST_KMEANS", owner)
	c, _ := testhome.Sealed(t, livePolicy, "t", nil)
	for _, method := range []string{MethodLloyd, MethodGrid, MethodTree} {
		got, err := KMeans(t.Context(), c,
			Request{Table: "t", Columns: []string{"x", "n"}, K: 2, Method: method, Epsilon: "20", Where: "n >= 0"})
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		if math.Abs(got.Rows-2970) > 100 || len(got.Clusters) != 2 {
			t.Errorf("%s: %+v", method, got)
			continue
		}
		for _, k := range got.Clusters {
			at := [2]float64{-0.5, 22}
			if k.Centre[0].Value > 0 {
				at = [2]float64{0.5, 82}
			}
			if math.Abs(k.Centre[0].Value-at[0]) > 0.1 || math.Abs(k.Centre[1].Value-at[1]) > 5 {
				t.Errorf("%s: %+v", method, k)
			}
		}
	}
}
