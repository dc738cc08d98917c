package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// crowd is that of 200 other people.
func crowd(heavy int) []enginetest.Row {
	r := rand.New(rand.NewPCG(1, 3))
	return enginetest.Crowd(heavy, 200, r.Int64N, r.NormFloat64)
}

var crowdQuestions = append(slices.Clone(enginetest.CrowdQuestions),
	"SELECT SUM(i - 3) FROM p WHERE k = 5",
)

// benches are the two ways in which units are bounded.
func benches(t *testing.T) map[string]*bench {
	t.Helper()
	out := map[string]*bench{}
	for name, text := range map[string]func(string) []byte{
		"by rows":   enginetest.PolicyText,
		"by groups": enginetest.ByGroups,
	} {
		b := newBench(t)
		var err error
		if b.policy, err = policy.Decode(text("add-remove"), b.dir); err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// A person with 10,000 rows moves no answer by more than the planned sensitivities, on the engine itself.
func TestHeavyPerson(t *testing.T) {
	for name, b := range benches(t) {
		rows := crowd(10_000)
		with, without := b.write(t, "p", rows), b.write(t, "p", rows[10_000:])
		for _, question := range crowdQuestions {
			p, err := plan.Build(b.policy, plan.Request{SQL: question})
			if err != nil {
				t.Fatal(err)
			}
			l1, l2 := b.moved(t, p, with, without)
			for i, m := range p.Measures {
				if l1[i].Cmp(m.L1) > 0 || l2[i].Cmp(m.L2Squared) > 0 {
					t.Errorf("%s: %s: %s moves by %s, squared L2 %s; planned %s, %s", name, question, m, l1[i], l2[i], m.L1, m.L2Squared)
				}
				if l1[i].Sign() == 0 {
					t.Errorf("%s: %s: %s does not move at all", name, question, m)
				}
			}
		}
	}
}

// moved are each measure's distances between two files.
func (b *bench) moved(t *testing.T, p *plan.Plan, files ...string) (l1, l2squared []*big.Int) {
	t.Helper()
	cells := map[string][]*big.Int{}
	for sign, file := range files {
		add := func(keys []value.Value, sums []*big.Int) {
			cell := fmt.Sprintf("%q", keys)
			if cells[cell] == nil {
				cells[cell] = make([]*big.Int, len(sums))
				for i := range sums {
					cells[cell][i] = new(big.Int)
				}
			}
			for i, s := range sums {
				if s != nil {
					cells[cell][i].Add(cells[cell][i], new(big.Int).Mul(s, big.NewInt(int64(1-2*sign))))
				}
			}
		}
		scan, err := sealScan(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.run(context.Background(), render(&p.Statement, scan, b.known(file)),
			collect(&p.Statement, add)); err != nil {
			t.Fatal(err)
		}
	}
	l1, l2squared = make([]*big.Int, len(p.Measures)), make([]*big.Int, len(p.Measures))
	for i := range p.Measures {
		l1[i], l2squared[i] = new(big.Int), new(big.Int)
		for _, c := range cells {
			l1[i].Add(l1[i], new(big.Int).Abs(c[i]))
			l2squared[i].Add(l2squared[i], new(big.Int).Mul(c[i], c[i]))
		}
	}
	return l1, l2squared
}

// An average is over rows, however units are bounded: where all of a unit's rows say 6, it is 6. And counting units
// beside rows takes nothing from the rows.
func TestCapsMoveNoAverage(t *testing.T) {
	for name, b := range benches(t) {
		var rows []enginetest.Row
		for person := range 100 {
			for k := range 3 {
				rows = append(rows, enginetest.Row{
					"person": value.OfInt(int64(person)), "i": value.OfInt(6), "k": value.OfInt([]int64{-3, 0, 5}[k]),
				})
			}
		}
		file := b.write(t, "p", rows)
		p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT AVG(i) FROM p"})
		if err != nil {
			t.Fatal(err)
		}
		sums, err := b.sums(p, file)
		if err != nil || sums[" 0"] != "1500" || sums[" 1"] != "300" { // (6 − 1) · 300, centred about 1
			t.Errorf("%s: the sum and count of an average of 6: %v, %v", name, sums, err)
		}
		if p, err = plan.Build(b.policy,
			plan.Request{SQL: "SELECT k, COUNT(*), COUNT(DISTINCT person), AVG(i) FROM p GROUP BY k"}); err != nil {
			t.Fatal(err)
		}
		if sums, err = b.sums(p, file); err != nil {
			t.Fatal(err)
		}
		rowsCounted, unitsCounted := 0, 0
		for i, m := range p.Measures {
			for _, k := range []int64{-3, 0, 5} {
				n := 0
				if _, err := fmt.Sscan(sums[fmt.Sprintf("%s %d", bounded.GroupName([]value.Value{value.OfInt(k)}), i)],
					&n); err != nil {
					t.Fatal(err)
				}
				switch m.Kind {
				case bounded.CountRows:
					rowsCounted += n
				case bounded.CountUnits:
					unitsCounted += n
				case bounded.CountValue, bounded.Sum:
				}
			}
		}
		if rowsCounted != 300 || unitsCounted != 200 { // of three groups each person counts in two
			t.Errorf("%s: %d rows and %d times a person", name, rowsCounted, unitsCounted)
		}
	}
}

// The order of the source's rows and the number of threads change no bit of an answer; nor does what was recorded at
// sealing.
func TestOrderAndThreadsDoNotMatter(t *testing.T) {
	for name, b := range benches(t) {
		rows := crowd(3000)
		file := b.write(t, "p", rows)
		r := rand.New(rand.NewPCG(3, 4))
		shuffled := slices.Clone(rows)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		other := b.write(t, "p", shuffled)
		_, recorded, err := b.sealedRows("p", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, question := range crowdQuestions {
			p, err := plan.Build(b.policy, plan.Request{SQL: question})
			if err != nil {
				t.Fatal(err)
			}
			want, err := b.sums(p, file)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := b.sums(p, other); err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: %s: the order of rows matters (%v)", name, question, err)
			}
			b.records[file] = recorded
			if got, err := b.sums(p, file); err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: %s: what was recorded changes the answer (%v)", name, question, err)
			}
			for _, threads := range []int{1, 3, 8} {
				if got := b.sumsOn(t, p, file, threads); !maps.Equal(got, want) {
					t.Errorf("%s: %s: %d threads give another answer", name, question, threads)
				}
			}
			delete(b.records, file)
		}
	}
}

// sumsOn runs a plan on a DuckDB of its own with so many threads.
func (b *bench) sumsOn(t *testing.T, p *plan.Plan, file string, threads int) map[string]string {
	t.Helper()
	out := map[string]*big.Int{}
	scan, err := sealScan(file)
	if err != nil {
		t.Fatal(err)
	}
	err = NewSealer(b.tmp).with(context.Background(), func(conn *sql.Conn) error {
		if err := sealRun(context.Background(), conn, "SET ieee_floating_point_ops = false",
			fmt.Sprintf("SET threads = %d", threads)); err != nil {
			return err
		}
		return conn.Raw(func(c any) error {
			return query(context.Background(), c, render(&p.Statement, scan, b.known(file)),
				collect(&p.Statement, gather(out)))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return nonZero(out)
}

// A row's rank depends on its own unit's rows alone, whatever their order, and each unit's ranks are 1, 2, ….
func TestRanksAreEachUnitsOwn(t *testing.T) {
	b := newBench(t)
	rows := crowd(50)
	ranks := func(rows []enginetest.Row) map[string][]int64 {
		out := map[string][]int64{}
		file := b.write(t, "p", rows)
		read, _, err := b.sealedRows("p", file)
		if err != nil {
			t.Fatal(err)
		}
		last, count := int64(0), int64(0)
		for _, r := range read { // clustered: a unit's rows stand together, in the order of their rank
			rank := r[enginetest.Rank].Int
			if rank != 1 && rank != last+1 {
				t.Fatalf("rank %d after %d", rank, last)
			}
			last, count = rank, count+1
			delete(r, enginetest.Rank)
			out[fmt.Sprint(r)] = append(out[fmt.Sprint(r)], rank)
		}
		if int(count) != len(rows) {
			t.Fatalf("%d of %d rows", count, len(rows))
		}
		return out
	}
	all := ranks(rows)
	slices.Reverse(rows)
	if reversed := ranks(rows); !maps.EqualFunc(all, reversed, slices.Equal) {
		t.Error("the order of rows changes ranks")
	}
	var others []enginetest.Row
	for _, r := range rows {
		if r["person"].Null || r["person"].Int%3 != 0 {
			others = append(others, r)
		}
	}
	for row, rank := range ranks(others) {
		if !slices.Equal(all[row], rank) {
			t.Errorf("without other units, the rank of %s is %v, and was %v", row, rank, all[row])
		}
	}
	var rowsOfOne int64
	err := b.run(context.Background(), "SELECT max("+rowsColumn+") FROM "+must(sealScan(b.write(t, "p", rows))), func(r []driver.Value) error {
		rowsOfOne, _ = r[0].(int64)
		return nil
	})
	if err != nil || rowsOfOne != 50 {
		t.Errorf("the number of a unit's rows: %d, %v", rowsOfOne, err)
	}
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}
