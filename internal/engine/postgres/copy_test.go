package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// copied makes a copy of a table, and gives what is known of it. More columns may be declared.
func (b *bench) copied(t failer, table string, more ...*policy.Column) engine.Sealed {
	t.Helper()
	return b.copiedAs(t, table, "made", more...)
}

func (b *bench) copiedAs(t failer, table, as string, more ...*policy.Column) engine.Sealed {
	t.Helper()
	declared := *b.policy.Table(table)
	declared.Source = source(table)
	declared.Columns = slices.Concat(declared.Columns, more)
	b.exec(t, "CREATE SCHEMA IF NOT EXISTS copies; DROP TABLE IF EXISTS copies."+as)
	found, err := Sealer{}.Copy(context.Background(), &declared, "copies", as)
	if err != nil {
		t.Fatal(err)
	}
	out := engine.Sealed{Copy: (*engine.Copy)(found.Copy), Complete: map[string]bool{}}
	for _, c := range found.Facts.Columns {
		out.Complete[c.Name] = c.Nulls == 0 && c.Special == 0
	}
	return out
}

// ranks gives the rows the ranks that they have in the copy.
func (b *bench) ranks(t failer, rows []enginetest.Row) []enginetest.Row {
	t.Helper()
	out := slices.Clone(rows)
	if err := b.query("SELECT __row, "+rankColumn+" FROM copies.made", func(row [][]byte) error {
		id, place, err := valueAndCount(row)
		if err != nil {
			return err
		}
		out[id-1] = maps.Clone(rows[id-1])
		out[id-1][enginetest.Rank] = value.OfInt(place)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Over a copy the exact sums are the reference's as well, where a cap is a filter and where it is not.
func TestCopyAgreesWithReference(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	byGroups, err := policy.Decode(enginetest.ByGroups("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	policies, capped, filtered := []*policy.Policy{b.policy, byGroups}, 0, 0
	ask := func(t *rapid.T) {
		if rapid.IntRange(0, 1).Draw(t, "skip") > 0 { // a copy takes its time
			return
		}
		b.policy = rapid.SampledFrom(policies).Draw(t, "policy")
		table := rapid.SampledFrom([]string{"t", "p", "p", "p"}).Draw(t, "table")
		request := plan.Request{SQL: enginetest.Question(t, table)}
		if table == "p" {
			request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
		}
		p, err := plan.Build(b.policy, request)
		if err != nil {
			return
		}
		rows := enginetest.Rows(t, b.policy.Table(table), 12)
		b.write(t, table, rows)
		from := b.copied(t, table, &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
		if p.Unit != nil {
			if rows = b.ranks(t, rows); p.Caps.Rows > 0 {
				capped++
				if engine.AllRowsAreLeft(&p.Statement, from.Complete) {
					filtered++
				}
			}
		}
		got, reference := map[string]*big.Int{}, map[string]*big.Int{}
		err = b.engine(table).sums(context.Background(), &p.Statement, from, gather(got))
		if err == nil {
			err = b.engine(table).Rehearse(context.Background(), &p.Statement, from)
		}
		if err != nil {
			t.Fatalf("%s\n%v", request.SQL, err)
		}
		enginetest.Sum(&p.Statement, rows, gather(reference))
		if got, want := nonZero(got), nonZero(reference); !maps.Equal(got, want) {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v", request.SQL, rows, got, want)
		}
	}
	few := func() bool { return filtered < 3 || capped-filtered < 3 }
	for round := 0; round == 0 || round < 60 && few() && !t.Failed(); round++ {
		rapid.Check(t, ask)
	}
	if few() {
		t.Errorf("%d questions with a cap on rows, %d of them by a filter", capped, filtered)
	}
}

// A person with a thousand rows moves no answer over copies by more than is planned.
func TestHeavyPersonInACopy(t *testing.T) {
	for name, text := range ways {
		b := newBench(t, text("add-remove"))
		rows := crowd(1000)
		answers := map[string][]map[string]*big.Int{}
		for _, some := range [][]enginetest.Row{rows, rows[1000:]} {
			b.write(t, "p", some)
			from := b.copied(t, "p")
			for _, question := range slices.Concat(crowdQuestions, confinedQuestions) {
				out := map[string]*big.Int{}
				if err := b.engine("p").sums(t.Context(), &b.plan(t, question).Statement, from,
					gather(out)); err != nil {
					t.Fatal(err)
				}
				answers[question] = append(answers[question], out)
			}
		}
		for question, both := range answers {
			p := b.plan(t, question)
			for i, m := range p.Measures {
				moved := new(big.Int)
				for cell, n := range both[0] {
					if strings.HasSuffix(cell, fmt.Sprintf(" %d", i)) {
						d := new(big.Int).Set(n)
						if o := both[1][cell]; o != nil {
							d.Sub(d, o)
						}
						moved.Add(moved, d.Abs(d))
					}
				}
				if moved.Cmp(m.L1) > 0 || moved.Sign() == 0 && p.Part == nil { // the person may be in other parts
					t.Errorf("%s: %s: %s moves by %s; planned %s", name, question, m, moved, m.L1)
				}
			}
		}
	}
}

// What is not the copy that was made, or may have been written to, is not read.
func TestCopyIsGuarded(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.exec(t, "CREATE ROLE somebody")
	defer b.exec(t, "DROP OWNED BY somebody; DROP ROLE somebody")
	p := b.plan(t, "SELECT COUNT(*), SUM(i) FROM p WHERE x > 0")
	b.write(t, "p", crowd(9))
	for name, change := range map[string]string{
		"nothing":              "SELECT 1",
		"a child":              "CREATE TABLE child() INHERITS (copies.made); INSERT INTO child SELECT * FROM copies.made",
		"a changed source":     "UPDATE p SET i = 9",
		"a change of a row":    "UPDATE copies.made SET __dither_rank = __dither_rank + 0",
		"a deletion":           "DELETE FROM copies.made WHERE person = 1",
		"an insertion":         "INSERT INTO copies.made(person, __dither_rank, __dither_rows) VALUES (1, 100, 100)",
		"a permission":         "GRANT INSERT ON copies.made TO somebody",
		"one for a column":     "GRANT UPDATE (i) ON copies.made TO somebody",
		"no key":               "ALTER TABLE copies.made DROP CONSTRAINT made_pkey",
		"another key":          "ALTER TABLE copies.made DROP CONSTRAINT made_pkey, ADD PRIMARY KEY (person, __dither_rank) DEFERRABLE",
		"no condition":         "ALTER TABLE copies.made DROP CONSTRAINT made_check",
		"a rule":               "CREATE RULE no AS ON INSERT TO copies.made DO INSTEAD NOTHING",
		"emptied":              "TRUNCATE copies.made",
		"another table":        "ALTER TABLE copies.made RENAME TO old; CREATE TABLE copies.made AS SELECT * FROM copies.old",
		"another type":         "ALTER TABLE copies.made ALTER i TYPE numeric",
		"a view of it":         "ALTER TABLE copies.made RENAME TO old; CREATE VIEW copies.made AS SELECT * FROM copies.old",
		"dropped":              "DROP TABLE copies.made",
		"written in its place": "VACUUM FULL copies.made",
	} {
		b.exec(t, "DROP TABLE IF EXISTS child; DROP SCHEMA IF EXISTS copies CASCADE")
		from := b.copied(t, "p")
		ask := func() (map[string]string, error) {
			out := map[string]*big.Int{}
			err := b.engine("p").sums(t.Context(), &p.Statement, from, gather(out))
			return nonZero(out), err
		}
		first, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		b.exec(t, change)
		b.exec(t, "SELECT pg_stat_force_next_flush()")
		again, err := ask()
		rehearsed := b.engine("p").Rehearse(t.Context(), &p.Statement, from)
		if name == "nothing" || name == "a child" || name == "a changed source" {
			if err != nil || rehearsed != nil || len(first) == 0 || !maps.Equal(first, again) {
				t.Errorf("%s: %v, %v", name, err, rehearsed)
			}
		} else if err == nil || !errors.Is(rehearsed, engine.ErrUnavailable) {
			t.Errorf("%s: %v, %v", name, err, rehearsed)
		}
	}
}

// A copy holds what was read: NaN and infinities for what they are, NULL for what is no value, nobody's rows not at
// all; and it is removed.
func TestCopyOfKinds(t *testing.T) {
	b := newKinds(t, serverTypes)
	b.exec(
		t, `CREATE SCHEMA copies; CREATE TABLE j(who text, v int); INSERT INTO j SELECT 'p' || i % 3, i FROM generate_series(1, 9) AS i; INSERT INTO j VALUES (NULL, 1), ('', 7)`)
	as := *b.policy.Table("j")
	as.Source = source("j")
	found, err := Sealer{}.Copy(t.Context(), &as, "copies", `a "copy"`)
	if err != nil {
		t.Fatal(err)
	}
	if found, err = (Sealer{}).Copy(t.Context(), &as, "copies", `a "copy"`); err != nil {
		// the one before was never published
		t.Fatal(err)
	}
	if _, err := (Sealer{}).Copy(t.Context(), &as, "nowhere", "x"); err == nil ||
		!strings.Contains(err.Error(), `no schema "nowhere"`) {
		t.Errorf("%v", err)
	}
	var got []string
	if err := b.query(
		`SELECT who, v, __dither_rank, __dither_rows FROM copies."a ""copy""" WHERE __dither_rank = __dither_rows`,
		func(row [][]byte) error {
			got = append(got, fmt.Sprintf("%s %s", row[0], row[3]))
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(got); fmt.Sprint(got) != "[ 1 p0 3 p1 3 p2 3]" || found.Copy.Rows != 10 {
		t.Errorf("%v %+v", got, found.Copy)
	}
	if err := (Sealer{}).Drop(t.Context(), &as, (*found.Copy)); err != nil {
		t.Error(err)
	}
	if err := b.query(`SELECT 1 FROM copies."a ""copy"""`, func([][]byte) error { return nil }); err == nil {
		t.Error("the copy is still there")
	}
	kinds := *b.policy.Table("k")
	kinds.Source = source("k")
	b.exec(t, `INSERT INTO k(small, single, exact, whole, code, name, domain, day) VALUES
	 (1, 'NaN', 'NaN', 9223372036854775807, 'a', 'a', 5, '2000-01-01'), (NULL, 'Infinity', 1e400, NULL, NULL, 'b', 500, 'infinity'), (-7, '-0', 1e-400, 7, 'c', NULL, NULL, '0044-03-15 BC')`)
	if _, err := (Sealer{}).Copy(t.Context(), &kinds, "copies", "k"); err != nil {
		t.Fatal(err)
	}
	n := math.MaxInt
	if err := b.query(
		"SELECT count(*) FROM copies.k WHERE day = 10957 OR day IS NULL AND (single = 'Infinity' AND exact IS NULL OR exact = 0)", func(row [][]byte) error {
			_, err := fmt.Sscan(string(row[0]), &n)
			return err
		}); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}
