package derive_test

import (
	"math"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/value"
)

// The 95 % interval of an answer over a relation covers the exact bounded quantity, computed here from the rows, in at
// least 95 % of releases.
func TestCoverageOfRelations(t *testing.T) {
	rows := people(600)
	each, sum := map[int64]float64{}, map[int64]float64{}
	for k := range rows { // of persons 0 to 199 three rows each; person 200 has a hundred more, in w alone
		person := int64(k % 200)
		rows[k]["person"] = value.OfInt(person)
		each[person]++
		sum[person] += min(float64(rows[k]["i"].Int), 115)
	}
	tables := enginetest.Tables{"v": rows, "w": append(rows[:600:600], many(100)...)}
	heaviest, all := 0.0, 0.0
	for _, s := range sum {
		heaviest += min(s, 4*115)
		all += s * s
	}
	of := spreadOf(rows)
	for _, c := range []struct {
		sql, price string
		truth      float64
	}{
		{"SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM w GROUP BY person) q", "1", (200*3 + 4) / 201.0},
		{"SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM w GROUP BY person) q", "ρ 0.5", 200*3 + 4},
		{"SELECT AVG(s) FROM (SELECT person, SUM(i) AS s FROM v GROUP BY person) q", "2", heaviest / 200},
		{"SELECT COUNT(*) FROM (SELECT person FROM w GROUP BY person HAVING COUNT(*) > 3) q", "0.5", 1},
		{"SELECT COUNT(*) FROM v a JOIN v b ON a.person = b.person", "1", 200 * 9},
		{"SELECT SUM(a.i * b.i) FROM v a JOIN v b ON a.person = b.person", "ρ 1", all},
		// by groups: 4 rows and 2
		{"SELECT COUNT(*) FROM (SELECT person FROM v UNION ALL SELECT person FROM w) q", "1", 600 + 600 + 6},
		// LATERAL, and windows over the rows of one person
		{"SELECT AVG(x.n) FROM v a CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM w b WHERE b.person = a.person) x", "1", 3},
		{
			"SELECT SUM(x.m) FROM v a LEFT JOIN LATERAL (SELECT MAX(b.i) AS m FROM v b WHERE b.person = a.person) x ON TRUE",
			"ρ 1", 3 * of.most,
		},
		{
			"SELECT SUM(x.i) FROM (SELECT person FROM w GROUP BY person) p " +
				"CROSS JOIN LATERAL (SELECT b.i FROM v b WHERE b.person = p.person ORDER BY b.i DESC LIMIT 1) x",
			"1", of.most,
		},
		{
			"SELECT SUM(d) FROM (SELECT i - LAG(i) OVER (PARTITION BY person ORDER BY i) AS d FROM v) q",
			"ρ 0.5", of.most - of.least,
		},
		{"SELECT COUNT(*) FROM (SELECT i, SUM(i) OVER (PARTITION BY person) AS s FROM v) q WHERE 2 * i > s", "1", of.above},
		{"SELECT AVG(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS r FROM v) q", "1", 2},
		{"SELECT AVG(b.n) FROM v a JOIN (SELECT person, COUNT(*) AS n FROM w GROUP BY person) b USING (person)", "1", 3},
	} {
		t.Run(c.sql+" at "+c.price, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.sql, c.price)
			exact, noises := released(t, p, nil)
			enginetest.SumOf(&p.Statement, tables, addTo(exact))
			covers(t, p, exact, noises, c.truth)
			if truth := boundedTruth(p, exact); math.Abs(truth-c.truth) > 1e-9*math.Abs(c.truth) {
				t.Errorf("the bounded answer is %v, want %v", truth, c.truth)
			}
		})
	}
}

// spread has sums over persons with three rows each: of the greatest and of the least i, and the number of rows with
// more than half of a person's sum.
type spread struct{ most, least, above float64 }

func spreadOf(rows []enginetest.Row) (out spread) {
	own := map[int64][]float64{}
	for _, r := range rows {
		own[r["person"].Int] = append(own[r["person"].Int], min(float64(r["i"].Int), 115))
	}
	for _, of := range own {
		out.most, out.least = out.most+max(of[0], of[1], of[2]), out.least+min(of[0], of[1], of[2])
		for _, i := range of {
			if 2*i > of[0]+of[1]+of[2] {
				out.above++
			}
		}
	}
	return out
}

// many are n rows of person 200.
func many(n int) []enginetest.Row {
	out := people(n)
	for k := range out {
		out[k]["person"] = value.OfInt(200)
	}
	return out
}
