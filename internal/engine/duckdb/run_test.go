package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// bench is a sealed folder with an engine that may read it.
type bench struct {
	*Engine
	dir     string
	policy  *policy.Policy
	files   int
	records map[string]engine.Sealed // by file, what sealing would have recorded
}

func newBench(t testing.TB) *bench { t.Helper(); return newBenchIn(t, t.TempDir()) }

func newBenchIn(t testing.TB, dir string) *bench {
	t.Helper()
	sealed, tmp := filepath.Join(dir, "sealed"), filepath.Join(dir, "tmp")
	for _, d := range []string{sealed, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Engine: New(sealed, tmp), dir: dir, policy: p, records: map[string]engine.Sealed{}}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	// Another caller has the first connection, so the statements of a test run on later ones.
	db, err := b.questions.hold()
	if err != nil {
		t.Fatal(err)
	}
	defer b.questions.leave()
	other, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() }) // before the engine closes
	return b
}

// write seals rows of a table as they are, without the checks of sealing: the engine must bear them. Like a sealed
// version, a file is never written twice: DuckDB caches what it read.
func (b *bench) write(t rapid.TB, table string, rows []enginetest.Row) string {
	t.Helper()
	b.files++
	file := filepath.Join(b.sealed, fmt.Sprintf("%s%d.parquet", table, b.files))
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	declared := b.policy.Table(table)
	i := 0
	err := NewSealer(b.tmp).Write(context.Background(), file, declared, func(row []value.Value) error {
		if i == len(rows) {
			return io.EOF
		}
		for j, c := range declared.Columns {
			v, ok := rows[i][c.Name]
			if !ok {
				v = value.NullOf(c.Type)
			}
			row[j] = v
		}
		i++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// sums runs a plan and gathers its exact sums by cell.
func (b *bench) sums(p *plan.Plan, file string) (map[string]string, error) {
	out := map[string]*big.Int{}
	scan, err := sealScan(file)
	if err != nil {
		return nil, err
	}
	db, err := b.questions.hold()
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		return query(context.Background(), c, render(&p.Statement, scan, b.known(file)),
			collect(&p.Statement, gather(out)))
	})
	return nonZero(out), err
}

// known is what sealing would record of a file.
func (b *bench) known(file string) engine.Sealed { return b.records[file] }

// sealedRows reads a table's sealed file back, ranks included, and what sealing would record of it.
func (b *bench) sealedRows(table, file string) (rows []enginetest.Row, known engine.Sealed, err error) {
	declared := b.policy.Table(table)
	known = engine.Sealed{File: file, OneRowEach: true, Complete: map[string]bool{}}
	columns := []string{}
	for _, c := range declared.Columns {
		x := identifier(c.Name)
		if c.Type == value.Date {
			x = "CASE WHEN isfinite(" + x + ") THEN " + x + " - DATE '1970-01-01' END"
		}
		columns = append(columns, x)
		known.Complete[c.Name] = true
	}
	if declared.Unit.Column != "" {
		columns = append(columns, rankColumn)
	}
	scan, err := sealScan(file)
	if err != nil {
		return nil, known, err
	}
	err = b.run(context.Background(), "SELECT "+strings.Join(columns, ", ")+" FROM "+scan,
		func(row []driver.Value) error {
			r := enginetest.Row{}
			for i, c := range declared.Columns {
				switch x := row[i].(type) {
				case nil:
					r[c.Name], known.Complete[c.Name] = value.NullOf(c.Type), false
				case float64:
					r[c.Name] = value.OfReal(x)
					if math.IsNaN(x) || math.IsInf(x, 0) {
						known.Complete[c.Name] = false
					}
				default:
					v, err := scalar(c.Type, x)
					if err != nil {
						return err
					}
					r[c.Name] = v
				}
			}
			if declared.Unit.Column != "" {
				rank, _ := row[len(row)-1].(int64)
				r[enginetest.Rank] = value.OfInt(rank)
				known.OneRowEach = known.OneRowEach && (rank == 1 || r[declared.Unit.Column].Null)
			}
			rows = append(rows, r)
			return nil
		})
	return rows, known, err
}

// gather adds sums up by a text that names cell and measure.
func gather(out map[string]*big.Int) func([]value.Value, []*big.Int) {
	return func(keys []value.Value, sums []*big.Int) {
		for i, s := range sums {
			name := fmt.Sprintf("%s %d", bounded.GroupName(keys), i)
			if out[name] == nil {
				out[name] = new(big.Int)
			}
			if s != nil {
				out[name].Add(out[name], s)
			}
		}
	}
}

func nonZero(sums map[string]*big.Int) map[string]string {
	out := map[string]string{}
	for name, s := range sums {
		if s.Sign() != 0 {
			out[name] = s.String()
		}
	}
	return out
}

// DuckDB gives the reference's exact sums for random questions over hostile rows, and never fails.
func TestAgreesWithReference(t *testing.T) {
	for name, text := range map[string]func(string) []byte{
		"by rows":   enginetest.PolicyText,
		"by groups": enginetest.ByGroups,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var err error
			if b.policy, err = policy.Decode(text("add-remove"), b.dir); err != nil {
				t.Fatal(err)
			}
			b.agrees(t)
		})
	}
}

func (b *bench) agrees(t *testing.T) {
	admitted, capped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p", "p"}).Draw(t, "table")
		request := plan.Request{SQL: enginetest.Question(t, table)}
		if table == "p" {
			request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
		}
		p, err := plan.Build(b.policy, request)
		if err != nil {
			return
		}
		admitted++
		if p.Caps.Groups > 0 {
			capped++
		}
		if len(p.Searches) > 0 { // within any bounds that a search could find
			end := func(label string) []*big.Int {
				n := big.NewInt(rapid.Int64Range(-64, 64).Draw(t, label))
				return slices.Repeat([]*big.Int{n.Lsh(n, uint(rapid.IntRange(0, 60).Draw(t, "scale")))},
					len(p.Measures))
			}
			if p, err = p.Found(end("lower"), end("upper")); err != nil {
				t.Fatal(err)
			}
		}
		b.compared(t, p, table, enginetest.Rows(t, b.policy.Table(table), 12))
	})
	if admitted < 30 || capped < 5 {
		t.Errorf("only %d generated questions were admitted, %d of them with a cap on groups", admitted, capped)
	}
}

// compared checks that the sums of a question about a table with these rows are those of the reference. It returns the
// statement, the sealed rows, the facts about them, and the sums.
func (b *bench) compared(t *rapid.T, p *plan.Plan, table string, drawn []enginetest.Row) (
	statement string, rows []enginetest.Row, known engine.Sealed, got map[string]string,
) {
	file := b.write(t, table, drawn)
	rows, known, err := b.sealedRows(table, file)
	if err != nil {
		t.Fatal(err)
	}
	b.records[file] = known
	statement = render(&p.Statement, "FILE", known)
	if got, err = b.sums(p, file); err != nil {
		t.Fatalf("%s\n%s\n%v", p.Canonical(), statement, err)
	}
	reference := map[string]*big.Int{}
	enginetest.Sum(&p.Statement, rows, gather(reference))
	if want := nonZero(reference); !maps.Equal(got, want) {
		t.Fatalf("%s\n%s\n%v\ngot  %v\nwant %v", p.Canonical(), statement, rows, got, want)
	}
	return statement, rows, known, got
}

// The shut engine reads sealed files, and nothing else; it writes nothing.
func TestLockedDown(t *testing.T) {
	b := newBench(t)
	file := b.write(t, "t", nil)
	outside := filepath.Join(b.dir, "outside.csv")
	if err := os.WriteFile(outside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := b.questions.hold()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	try := func(statement string) error {
		return conn.Raw(func(c any) error {
			return query(context.Background(), c, statement,
				collect(&bounded.Statement{}, gather(map[string]*big.Int{})))
		})
	}
	if err := try("SELECT count(*) FROM read_parquet(" + text(file) + ")"); err != nil {
		t.Fatalf("the sealed file cannot be read: %v", err)
	}
	for _, statement := range []string{
		"COPY (SELECT 1) TO " + text(file),
		"COPY (SELECT 1) TO " + text(filepath.Join(b.tmp, "x.csv")),
		"SELECT * FROM read_csv(" + text(outside) + ")",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM glob('/etc/*')",
		"SELECT * FROM read_parquet(" + text(filepath.Join(b.sealed, "..", "outside.csv")) + ")",
		"ATTACH " + text(filepath.Join(b.dir, "other.db")),
		"INSTALL httpfs", "LOAD httpfs",
		"SET enable_external_access = true",
		"SET lock_configuration = false",
		"PRAGMA enable_profiling",
		"CREATE TABLE x AS SELECT 1",
		"SELECT 1; COPY (SELECT 1) TO " + text(file),
		"EXPLAIN ANALYZE SELECT 1",
	} {
		if err := try(statement); err == nil {
			t.Errorf("admitted: %s", statement)
		}
	}
	// Even without the check of the statement's type, a source outside cannot be reached.
	if _, err := db.Exec("COPY (SELECT 1) TO " + text(outside)); err == nil {
		t.Error("COPY wrote outside the sealed folder")
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("the sealed file changed (%v)", err)
	}
}

// A home's path makes no partition and ends no constant. (Homes with a pattern's characters are refused by the
// curator.)
func TestAwkwardPaths(t *testing.T) {
	for _, name := range []string{"with space", "it's", "x=1", "日本", "semi;colon", `quo"te`} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b := newBenchIn(t, dir)
		p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM t"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.sums(p, b.write(t, "t", []enginetest.Row{{}, {}}))
		if err != nil || len(got) != 1 || got[" 0"] != "2" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Names and constants with quotes stay names and constants.
func TestQuoting(t *testing.T) {
	for _, s := range []string{`a"b`, `a'b`, `"; DROP TABLE x; --`, `\`, "日本"} {
		if got := identifier(s); strings.Count(got, `"`)%2 != 0 {
			t.Errorf("identifier(%q) = %s", s, got)
		}
		if got := text(s); strings.Count(got, "'")%2 != 0 {
			t.Errorf("text(%q) = %s", s, got)
		}
	}
}

// Values in order are those of the reference, on hostile rows, in every pass, and a pass may end early.
func TestOrderAgreesWithReference(t *testing.T) {
	b := newBench(t)
	b.page = 3 // so that passes turn pages
	admitted := 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
		sql := enginetest.Values(t, table)
		q, err := plan.BuildOrder(b.policy, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		admitted++
		file := b.write(t, table, enginetest.Rows(t, b.policy.Table(table), 14))
		rows, known, err := b.sealedRows(table, file)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Rehearse(context.Background(), &q.Statement, engine.Sealed{}); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		want := enginetest.Order(&q.Statement, rows)
		for _, from := range []engine.Sealed{known, {File: file}} {
			scan, err := b.scan(context.Background(), &q.Statement, from)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, last := map[int64]int64{}, int64(math.MinInt64)
				err := scan(func(v, n int64) bool {
					if v <= last {
						t.Fatalf("%s: %d comes after %d", sql, v, last)
					}
					got[v], last = n, v
					return true
				})
				if err != nil || !maps.Equal(got, want) {
					t.Fatalf("%s: %v, want %v (%v)", sql, got, want, err)
				}
			}
			passes := 0
			if err := scan(func(int64, int64) bool { passes++; return false }); err != nil ||
				passes != min(1, len(want)) {
				t.Fatalf("%s: a pass that ends early took %d steps: %v", sql, passes, err)
			}
		}
	})
	if admitted < 20 {
		t.Errorf("%d questions were admitted: the test shows nothing", admitted)
	}
}
