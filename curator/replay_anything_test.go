package curator

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/audit"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// Random questions of any kind, on twins with random rows: whatever is asked, both are refused in the same words, or both answered, and charged and recorded
// alike. Where noise is added to sums of known groups, the same bytes are read on both sides, and every vector moves by at most what its own noise is
// made for. (Groups that are not known, bounds that are found, quantiles and modes are chosen by what rows say: what they look at is compared in package
// plan, by the same questions.)
func TestReplayAnything(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	which, questions := []int{0, 4, 9}, 20 // of single tables and relations, of either kind of neighbours, of units bounded in either way
	if os.Getenv("DITHER_LONG") != "" {
		which, questions = nil, 60
		for i := range 2 * len(worlds) {
			which = append(which, i)
		}
	}
	met, exact, moved := enginetest.Met{}, 0, 0
	for _, seed := range which {
		w := worlds[seed%len(worlds)]
		pair := twinsOf(t, w, seed)
		last := seed == which[len(which)-1]
		for i := 0; i < questions || last && i < 8*questions && (exact < 10 || moved < 3); i++ {
			q := rapid.Custom(func(t *rapid.T) Question {
				request, _, _ := w.Anything(t)
				return Question{SQL: request.SQL, MaxGroups: request.MaxGroups, MinUnits: request.Unknown.MinUnits, Other: request.Unknown.Other, Fresh: true, AllowSelection: true}
			}).Example(1000*seed + i)
			a, err := pair[audit.Data].ask(q)
			if _, other := pair[audit.Neighbor].ask(q); fmt.Sprint(err) != fmt.Sprint(other) {
				t.Errorf("%s: %v, and of the neighbour %v", q.SQL, err, other)
			}
			if err != nil || a.plan.OneUnit != nil { // the answer is refused
				continue
			}
			met.Add(a.plan, q.SQL)
			if chosen := a.plan.Open() || len(a.plan.Searches)+len(a.plan.Quantiles)+len(a.plan.Modes) > 0; chosen {
				pair.answered(t, byte(i), q)
				continue
			}
			exact++
			if pair.summed(t, byte(i), q, a.plan) {
				moved++
			}
		}
	}
	t.Logf("%d questions for sums, of which %d moved; %d constructs: %v", exact, moved, len(met), met)
	if exact < 10 || moved < 3 || len(met) < 40 {
		t.Error("the audit shows little")
	}
}

// answered checks that a question is answered on both sides, and charged alike.
func (w twins) answered(t *testing.T, seed byte, q Question) {
	t.Helper()
	r := w.replay(t, seed, func(c *Owner) ([]*big.Int, error) {
		_, err := c.Answer(t.Context(), q)
		return nil, err
	})
	of := func(steps []string) (out []string) { // what is charged in full, and of the rest the kinds
		for _, s := range steps {
			if kind, _, _ := strings.Cut(s, " "); kind != "reserve" {
				s = kind
			}
			out = append(out, s)
		}
		return out
	}
	if one, other := of(r.Data.Steps), of(r.Neighbor.Steps); !slices.Equal(one, other) || len(one) != 2 {
		t.Errorf("%s: ledgers differ:\n%s\n%s", q.SQL, strings.Join(one, "\n"), strings.Join(other, "\n"))
	}
}

// summed checks how far apart the vectors of sums are, and says whether they are at all.
func (w twins) summed(t *testing.T, seed byte, q Question, p *plan.Plan) (moved bool) {
	t.Helper()
	var vectors []Vector
	r := w.replay(t, seed, func(c *Owner) (numbers []*big.Int, err error) {
		m, err := c.Measure(t.Context(), q)
		if err != nil {
			return nil, err
		}
		vectors = m.Vectors
		for _, v := range m.Vectors {
			numbers = append(numbers, v.Values...)
		}
		return numbers, nil
	})
	sameFlow(t, q.SQL, r, "reserve", "release")
	if len(r.Data.Output) == 0 || len(r.Data.Output) != len(r.Neighbor.Output) {
		t.Errorf("%s: %d numbers, and %d", q.SQL, len(r.Data.Output), len(r.Neighbor.Output))
		return false
	}
	first := 0
	for j, m := range p.Vectors() {
		n := len(vectors[j].Values)
		d, err := audit.Distance(r.Data.Output[first:first+n], r.Neighbor.Output[first:first+n])
		if err != nil {
			t.Fatal(err)
		}
		first += n
		if err := d.Within(audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}); err != nil {
			t.Errorf("%s: vector %d, %s: %v", q.SQL, j, m, err)
		}
		moved = moved || d.L1.Sign() > 0
	}
	return moved
}

// twinsOf are two homes of a world with random rows, of which one unit is missing in the second, or is another.
func twinsOf(t *testing.T, w enginetest.World, seed int) (out twins) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	rows := rapid.Custom(func(t *rapid.T) [2]enginetest.Tables {
		before := enginetest.Tables{}
		for name, all := range enginetest.RelationRows(t, w.Policy, 40) {
			for _, r := range all {
				if p, ok := r["person"]; ok && p.Int == 2 { // who goes
					r["person"] = value.OfInt(int64(rapid.IntRange(2, 3).Draw(t, "person")))
				}
			}
			before[name] = all
		}
		if w.Relation {
			return [2]enginetest.Tables{before, enginetest.RelationNeighbour(t, w.Policy, before, rapid.Bool().Draw(t, "of rows"), w.Change)}
		}
		return [2]enginetest.Tables{before, withoutOne(t, w, before)}
	}).Example(seed)
	for side, tables := range rows {
		home := filepath.Join(t.TempDir(), "home")
		if err := Init(home); err != nil {
			t.Fatal(err)
		}
		write(t, home, "policy.yaml", string(w.Text))
		for _, table := range w.Policy.Tables {
			write(t, home, table.Name+".csv", csvOf(t, table, tables[table.Name]))
		}
		out[side] = openHome(t, home)
		for _, table := range w.Policy.Tables {
			if _, err := out[side].Seal(t.Context(), table.Name, SealOptions{Shared: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// withoutOne removes a row of t and a person of p, who are units of one population, or puts others in their places.
func withoutOne(t *rapid.T, w enginetest.World, before enginetest.Tables) enginetest.Tables {
	after := enginetest.Tables{"t": before["t"], "p": before["p"]}
	if rapid.Bool().Draw(t, "a row") {
		after["t"] = slices.Delete(slices.Clone(before["t"]), 0, min(1, len(before["t"])))
		if w.Change && len(before["t"]) > 0 {
			after["t"] = append(after["t"], enginetest.RowsOf(t, w.Policy.Table("t"), 1)...)
		}
		return after
	}
	after["p"] = slices.DeleteFunc(slices.Clone(before["p"]), func(r enginetest.Row) bool { return !r["person"].Null && r["person"].Int == 3 })
	if w.Change {
		for _, r := range enginetest.RowsOf(t, w.Policy.Table("p"), 6) {
			r["person"] = value.OfInt(1000)
			after["p"] = append(after["p"], r)
		}
	}
	return after
}

// csvOf is a table's file.
func csvOf(t *testing.T, table *policy.Table, rows []enginetest.Row) string {
	t.Helper()
	var out bytes.Buffer
	file := csv.NewWriter(&out)
	line := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		line[i] = c.Name
	}
	_ = file.Write(line)
	for _, r := range rows {
		for i, c := range table.Columns {
			v := r[c.Name]
			switch of := c.Values; {
			case v.Type == value.Real && (math.IsNaN(v.Real) || math.IsInf(v.Real, 0)), v.Type == value.Date && (v.Int < 0 || v.Int > 40_000), v.Type == value.Text && (v.Text == "" || strings.ContainsAny(v.Text, "\x00\x01")):
				v.Null = true
			case len(of) > 0 && !slices.ContainsFunc(of, func(o value.Value) bool { return value.Compare(o, v) == 0 }):
				v.Null = true
			}
			switch {
			case !v.Null:
				line[i] = v.String()
			case c.Nullable:
				line[i] = ""
			case len(c.Values) > 0: // sealing refuses what is not declared, and the rest is as hostile as a file may be
				line[i] = c.Values[0].String()
			default:
				line[i] = map[value.Type]string{value.Integer: "1", value.Real: "1", value.Text: "a", value.Boolean: "true", value.Date: "2000-01-01", value.Timestamp: "2000-01-01 00:00:00", value.Time: "00:00:00"}[c.Type]
			}
		}
		_ = file.Write(line)
	}
	if file.Flush(); file.Error() != nil {
		t.Fatal(file.Error())
	}
	return out.String()
}
