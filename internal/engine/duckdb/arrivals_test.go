package duckdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/stream"
	"dither/privacy"
)

// TestArrivalsCountNewRows seals random histories of versions, with one unit and without it, and advances a stream
// through both with the engine's own rows. The exact counts are compared with those of a plain count by hand of the
// unit's new rows: they differ by the rows of that unit that count, at most as many as the stream allows, and no other
// unit's rows count differently. Without limits, the counts are those of all new rows.
func TestArrivalsCountNewRows(t *testing.T) {
	b := newBench(t)
	b.rowPage = 3 // several pages
	text := `
version: 1
population: {name: p}
budget: {rho: 1, delta: 1e-6}
tables:
  t: {source: {csv: t.csv}, unit: u, rows_per_unit: 9, columns: {u: {type: text, nullable: true}, r: {type: real, bounds: [0, 9], nullable: true}, g: {type: text, values: [a, b]}}}
`
	var err error
	if b.policy, err = policy.Decode([]byte(text), b.dir); err != nil {
		t.Fatal(err)
	}
	rho, err := privacy.ParseRho("0.5")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	units := []string{"", "1", "12", "1:2", "x;", "é"}
	rounds := 3
	if os.Getenv("DITHER_LONG") == "1" {
		rounds = 24
	}
	for round := range rounds {
		sql := []string{
			"SELECT g, COUNT(*) FROM t GROUP BY g", "SELECT g, COUNT(r) FROM t WHERE r < 5 OR r IS NULL GROUP BY g",
		}[round%2]
		target, err := plan.BuildScores(b.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		var history [3][][2]string // by version: unit, and its r and g
		for v := range history {
			for range random.IntN(14) {
				history[v] = append(history[v], [2]string{
					units[random.IntN(len(units))],
					fmt.Sprintf("%v %s", []any{"NULL", 1.5, 7, 3}[random.IntN(4)], []string{"a", "b", "c"}[random.IntN(3)]),
				})
			}
		}
		rows := []int64{100, 1, 2}[round%3]
		m := stream.Continual{Periods: 3, Cells: 2, Rows: rows, Neighbours: privacy.AddRemove, Rho: rho}
		counts := func(without string) (out [3][2]int64) {
			var state strings.Builder
			h := stream.Header{Format: stream.HeaderFormat, Stream: "s", State: "s", Salt: "0123"}
			if err := m.Begin(h, mechanism.Arrivals{}, &state); err != nil {
				t.Fatal(err)
			}
			for v, version := range history {
				var kept []enginetest.Row
				for _, row := range version {
					if row[0] == without {
						continue
					}
					r, g, _ := strings.Cut(row[1], " ")
					made := enginetest.Row{"u": value.OfText(row[0]), "g": value.OfText(g), "r": value.NullOf(value.Real)}
					if row[0] == "" {
						made["u"] = value.NullOf(value.Text)
					}
					if r != "NULL" {
						var x float64
						_, _ = fmt.Sscan(r, &x)
						made["r"] = value.OfReal(x)
					}
					kept = append(kept, made)
				}
				file := b.write(t, "t", kept)
				arrived, err := b.Arrivals(t.Context(), &target.Statement, []string{"r", "g"}, h.Salt, engine.Sealed{File: file})
				if err != nil {
					t.Fatal(err)
				}
				h.Previous, h.State = h.State, fmt.Sprint(v)
				var next strings.Builder
				if _, _, err := m.Advance(strings.NewReader(state.String()), h, arrived, v+1, v+1, &next); err != nil {
					t.Fatal(err)
				}
				state = strings.Builder{}
				state.WriteString(next.String())
			}
			_, rest, _ := strings.Cut(state.String(), `{"exact":[`)
			_, err := fmt.Sscanf(strings.NewReplacer("[", "", "]", "", `"`, "", ",", " ").Replace(rest), "%d %d %d %d %d %d",
				&out[0][0], &out[0][1], &out[1][0], &out[1][1], &out[2][0], &out[2][1])
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		// expected counts by hand, if the limit does not matter
		byHand := func(unit string) (out [3][2]int64) {
			seen := map[string]int{}
			for v, version := range history {
				now := map[string]int{}
				for _, row := range version {
					if row[0] == unit {
						now[row[1]]++
					}
				}
				for identity, n := range now {
					r, g, _ := strings.Cut(identity, " ")
					cell, known := map[string]int{"a": 0, "b": 1}[g]
					if known && n > seen[identity] && (round%2 == 0 || r == "1.5" || r == "3") {
						out[v][cell] += int64(n - seen[identity])
					}
					seen[identity] = max(seen[identity], n)
				}
			}
			return out
		}
		with := counts("nobody")
		for _, unit := range units[1:] {
			without, hand, total := counts(unit), byHand(unit), int64(0)
			for v := range with {
				for g := range 2 {
					d := with[v][g] - without[v][g]
					if total += d; d < 0 || rows == 100 && d != hand[v][g] || d > hand[v][g] {
						t.Fatalf("%s of %d rows, version %d of unit %s: %d, and %d by hand", sql, rows, v+1, unit, d, hand[v][g])
					}
				}
			}
			if total > rows {
				t.Fatalf("unit %s counts %d times, of %d", unit, total, rows)
			}
		}
	}
}
