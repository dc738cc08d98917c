package postgres

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/engine/postgres/pgtest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// bench is a database with an engine over each of its tables t and p.
type bench struct {
	url    string
	policy *policy.Policy
	writer *pgconn.PgConn
	mu     sync.Mutex
	asked  map[string]*Engine
}

const urlVariable = "DITHER_TEST_POSTGRES"

func newBench(t testing.TB, text []byte) *bench {
	t.Helper()
	b := emptyBench(t, text)
	for _, table := range b.policy.Tables {
		b.exec(t, b.create(table, nil))
	}
	return b
}

// emptyBench has no tables yet.
func emptyBench(t testing.TB, text []byte) *bench {
	t.Helper()
	p, err := policy.Decode(text, ".")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{url: pgtest.Start(t).Database(t), policy: p, asked: map[string]*Engine{}}
	t.Cleanup(func() {
		for _, e := range b.asked {
			_ = e.Close()
		}
	})
	t.Setenv(urlVariable, b.url)
	if b.writer, err = pgconn.Connect(context.Background(), b.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.writer.Close(context.Background()) })
	return b
}

// exec runs statements beside the engine.
func (b *bench) exec(t failer, sql string) {
	t.Helper()
	if err := b.writer.Exec(context.Background(), sql).Close(); err != nil {
		t.Fatal(err)
	}
}

func source(table string) policy.Source {
	return policy.Source{Format: policy.Postgres, URLEnv: urlVariable, Schema: "public", Table: table}
}

// engine is the one over a table.
func (b *bench) engine(table string) *Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked[table] == nil {
		b.asked[table] = New(source(table))
	}
	return b.asked[table]
}

// create is the statement that makes a table as it is declared, and the column __row, which tells rows apart. Types may
// be given.
func (b *bench) create(t *policy.Table, types map[string]string) string {
	usual := map[value.Type]string{
		value.Integer: "bigint", value.Real: "double precision", value.Text: "text", value.Boolean: "boolean",
		value.Date: "date", value.Timestamp: "timestamp", value.Time: "time",
	}
	columns := []string{"__row bigint"}
	for _, c := range t.Columns {
		of := usual[c.Type]
		if types[c.Name] != "" {
			of = types[c.Name]
		}
		columns = append(columns, identifier(c.Name)+" "+of)
	}
	return "CREATE TABLE " + identifier(t.Name) + "(" + strings.Join(columns, ", ") + ")"
}

type failer interface {
	Helper()
	Fatal(args ...any)
}

// write replaces a table's rows; a row's __row is its place, from 1.
func (b *bench) write(t failer, table string, rows []enginetest.Row) {
	t.Helper()
	var sql strings.Builder
	fmt.Fprintf(&sql, "SET standard_conforming_strings = on; DELETE FROM %s", identifier(table))
	declared := b.policy.Table(table)
	last := ""
	for i, r := range rows {
		names, values := []string{"__row"}, []string{fmt.Sprint(i + 1)}
		for _, c := range declared.Columns {
			v, ok := r[c.Name]
			if !ok {
				continue
			}
			names = append(names, identifier(c.Name))
			switch {
			case v.Null:
				values = append(values, "NULL")
			case c.Type == value.Real, c.Type.Whole() && c.Type != value.Integer:
				values = append(values, "'"+v.String()+"'")
			default:
				values = append(values, constant(v))
			}
		}
		into := fmt.Sprintf("; INSERT INTO %s(%s) VALUES ", identifier(table), strings.Join(names, ", "))
		if into == last {
			sql.WriteString(", ")
		} else {
			sql.WriteString(into)
		}
		sql.WriteString("(" + strings.Join(values, ", ") + ")")
		last = into
	}
	b.exec(t, sql.String())
}

// ranked gives the rows with the places that the engine's order gives them among all of their unit's rows.
func (b *bench) ranked(t failer, p *bounded.Statement, table string, rows []enginetest.Row) []enginetest.Row {
	t.Helper()
	if p.Unit == nil {
		return rows
	}
	e := b.engine(table)
	s, err := e.begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.open(context.Background(), s, columnsOf(p), engine.Sealed{})
	if err != nil {
		t.Fatal(err)
	}
	b.giveBack(e, s)
	in.of = append(in.of, bigint)
	with := *p // the same columns, and __row among them, which plays no part in the order
	with.Columns = append(append([]bounded.Column{}, p.Columns...), bounded.Column{
		Column: &policy.Column{Name: "__row", Type: value.Integer},
		Range:  bounded.Range{IntLo: math.MinInt64, IntHi: math.MaxInt64},
	})
	n := len(p.Columns)
	own := list(placing(p))
	order := in.hash(own) + ", " + own
	if p.Caps.Rows == 0 && len(p.Keys) > 0 && !p.Ordered && !p.Other { // cells are put in order, and no rows
		var keys []string
		for _, k := range p.Keys {
			keys = append(keys, expression(k.Expr))
		}
		order = list([]string{in.hash(list([]string{column(unitOf(p))}, keys))}, keys) + ", " + own
	}
	sql := fmt.Sprintf("SELECT c%d, row_number() OVER (PARTITION BY %s ORDER BY %s) FROM (%s) AS c", n, column(unitOf(p)), order, cleaned(&with, in))
	out := make([]enginetest.Row, len(rows))
	if err := b.query(sql, func(row [][]byte) error {
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

func (b *bench) query(sql string, each func([][]byte) error) error {
	e := b.engine("t")
	s, err := e.begin(context.Background())
	if err != nil {
		return err
	}
	if err := s.query(context.Background(), sql, each); err != nil {
		s.end()
		return err
	}
	b.giveBack(e, s)
	return nil
}

// giveBack keeps a connection for what is asked next: tests would else make thousands.
func (b *bench) giveBack(e *Engine, s *session) {
	if s.leave(context.Background()) != nil {
		s.end()
		return
	}
	e.idle.put(whereabouts(e.source), s)
}

// sums runs a plan and gathers its exact sums by cell.
func (b *bench) sums(p *plan.Plan) (map[string]string, error) {
	out := map[string]*big.Int{}
	err := b.engine(p.Table).sums(context.Background(), &p.Statement, engine.Sealed{}, gather(out))
	return nonZero(out), err
}

// gather adds sums up by a text that names cell and measure.
func gather(out map[string]*big.Int) func([]value.Value, []*big.Int) {
	return func(keys []value.Value, sums []*big.Int) {
		for i, s := range sums {
			name := fmt.Sprintf("%q %d", keys, i)
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

var ways = map[string]func(string) []byte{"by rows": enginetest.PolicyText, "by groups": enginetest.ByGroups}

// PostgreSQL gives the reference's exact sums for random questions over hostile rows, and never fails; nor do
// rehearsals.
func TestAgreesWithReference(t *testing.T) {
	for name, text := range ways {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, text("add-remove"))
			if name == "by groups" { // the same numbers, as numerics, and texts in another order
				collation := "und-x-icu"
				if !pgtest.Start(t).ICU() {
					collation = "POSIX"
				}
				for _, table := range []string{"t", "p"} {
					b.exec(
						t, "ALTER TABLE "+table+` ALTER x TYPE numeric, ALTER y TYPE numeric, ALTER z TYPE numeric, ALTER s TYPE varchar(99), ALTER w TYPE text COLLATE `+identifier(collation))
				}
			}
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
				if p.Part != nil { // of a table that is read where it is
					b.isRefused(t, &p.Statement, engine.Sealed{})
					return
				}
				admitted++
				if p.Caps.Groups > 0 {
					capped++
				}
				rows := enginetest.Rows(t, b.policy.Table(table), 12)
				b.write(t, table, rows)
				rows = b.ranked(t, &p.Statement, table, rows)
				got, err := b.sums(p)
				if err == nil {
					err = b.engine(table).Rehearse(context.Background(), &p.Statement, engine.Sealed{})
				}
				if err != nil {
					t.Fatalf("%s\n%v", request.SQL, err)
				}
				reference := map[string]*big.Int{}
				enginetest.Sum(&p.Statement, rows, gather(reference))
				if want := nonZero(reference); !maps.Equal(got, want) {
					t.Fatalf("%s\n%v\ngot  %v\nwant %v", request.SQL, rows, got, want)
				}
			})
			if admitted < 30 || capped < 5 {
				t.Errorf("only %d generated questions were admitted, %d of them with a cap on groups", admitted, capped)
			}
		})
	}
}

// Values in order are those of the reference, on hostile rows, in every pass, and a pass may end early.
func TestOrderAgreesWithReference(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	admitted := 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
		sql := enginetest.Values(t, table)
		q, err := plan.BuildOrder(b.policy, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		if q.Part != nil {
			b.isRefused(t, &q.Statement, engine.Sealed{})
			return
		}
		admitted++
		e := b.engine(table)
		e.page = 3 // so that passes turn pages
		rows := enginetest.Rows(t, b.policy.Table(table), 14)
		b.write(t, table, rows)
		want := enginetest.Order(&q.Statement, b.ranked(t, &q.Statement, table, rows))
		if err := e.Rehearse(context.Background(), &q.Statement, engine.Sealed{}); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		scan, err := e.scan(ctx, &q.Statement, engine.Sealed{})
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
		if err := scan(func(int64, int64) bool { passes++; return false }); err != nil || passes != min(1, len(want)) {
			t.Fatalf("%s: a pass that ends early took %d steps: %v", sql, passes, err)
		}
	})
	if admitted < 20 {
		t.Errorf("%d questions were admitted: the test shows nothing", admitted)
	}
}
