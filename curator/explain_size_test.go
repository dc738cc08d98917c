package curator

import (
	"fmt"
	"runtime"
	"testing"
)

// askedFor is what an explanation asks for: bytes, and in how many pieces.
func askedFor(t *testing.T, c *Owner, q Question) (bytes, pieces uint64) {
	t.Helper()
	if _, err := c.Explain(t.Context(), q); err != nil { // once for what is kept
		t.Error(err)
		return 0, 0
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Explain(t.Context(), q); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// What an explanation takes is bounded for questions as large as the limits allow: in memory that is asked for, all together, and in how many pieces,
// which is what its time goes by. (BenchmarkExplain has the times.) Those that would take longest if what their parts have in common were computed for each
// part (the first of them 840,000 pieces) have bounds of their own, at half as much again as they take.
func TestExplainIsSmall(t *testing.T) {
	const most, pieces = 24 << 20, 300_000
	own := map[string]uint64{
		"cube, many sums": 75_000, "moments": 110_000, "256 columns of sums": 115_000, "cube of six": 60_000, "36 sets, of pairs": 25_000,
		"within, cube": 60_000, "moments, averages": 40_000, "having, other sums": 60_000, "whole numbers, cube": 50_000,
		"within, 255 sums": 450_000, "within, cube of sums": 315_000,
	}
	c := openHome(t, wideHome(t))
	for name, q := range wideQuestions() {
		least := own[name]
		if least == 0 {
			least = pieces
		}
		bytes, n := askedFor(t, c, q)
		t.Logf("%s: %d bytes in %d pieces", name, bytes, n)
		if bytes > most || n > least {
			t.Errorf("%s: %d bytes in %d pieces, at most %d", name, bytes, n, least)
		}
	}
}

// And where many earlier answers tell something of a question: of those that are looked at, no table is put together to say what their errors are.
func TestExplainAfterIsSmall(t *testing.T) {
	c := openHome(t, wideHome(t))
	released(t, c, 12, func(i int) Question {
		return Question{SQL: "SELECT a, b, g, h, COUNT(*), SUM(age) FROM people GROUP BY a, b, g, h", Rho: fmt.Sprintf("0.00%04d", 1000+i)}
	})
	for _, q := range []Question{
		{SQL: "SELECT g, h, COUNT(*), SUM(age) FROM people GROUP BY g, h"},
		{SQL: "SELECT a, b, g, h, COUNT(*), SUM(age) FROM people GROUP BY CUBE(a, b, g, h)", Combine: true},
	} {
		const most, pieces = 12 << 20, 240_000
		bytes, n := askedFor(t, c, q)
		t.Logf("%s: %d bytes in %d pieces", q.SQL, bytes, n)
		if bytes > most || n > pieces {
			t.Errorf("%s: %d bytes in %d pieces", q.SQL, bytes, n)
		}
	}
}
