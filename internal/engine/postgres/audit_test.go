package postgres

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// database is a schema's tables, or what sealing copied of them.
type database struct {
	policy *policy.Policy
	one    map[string]*Engine
	all    *Engine
	tables map[string]engine.Sealed
	values map[string][]string // of public columns, where tables are read where they are
	found  map[string]*rows    // by what is read
}

var _ enginetest.Reader = database{}

// sealedAs puts rows into a schema of their own, and seals each table by itself: where it is, or as a copy.
func (b *bench) sealedAs(
	t *testing.T,
) func(world int, w enginetest.World, tables enginetest.Tables, name string) (enginetest.Sealed, error) {
	b.exec(t, "CREATE SCHEMA IF NOT EXISTS copies")
	return func(world int, w enginetest.World, tables enginetest.Tables, name string) (enginetest.Sealed, error) {
		copied := inCopies(world)
		b.policy = w.Policy
		b.exec(t, "CREATE SCHEMA "+name+"; SET search_path = "+name)
		out := database{
			w.Policy,
			map[string]*Engine{},
			nil,
			map[string]engine.Sealed{},
			map[string][]string{},
			map[string]*rows{},
		}
		sources := map[string]policy.Source{}
		for _, declared := range w.Policy.Tables {
			as := *declared
			as.Source = source(as.Name)
			as.Source.Schema = name
			b.exec(t, b.create(declared, nil))
			b.write(t, as.Name, tables[as.Name])
			found, err := seal.Found{}, error(nil)
			if copied {
				found, err = Sealer{}.Copy(t.Context(), enginetest.SealedUnder(world, &as), "copies", name+as.Name)
				out.tables[as.Name] = Known(seal.Version{Table: as.Name, Facts: found.Facts, Copy: found.Copy}, &as)
			} else {
				found, err = Sealer{}.Look(t.Context(), &as, columnNamesOf(&as)...)
				out.tables[as.Name] = engine.Sealed{Table: as.Name, Relation: found.Relation}
			}
			if err != nil {
				return nil, err
			}
			for column, texts := range found.Values {
				out.values[as.Name+"."+column] = texts
			}
			sources[as.Name], out.one[as.Name] = as.Source, New(as.Source)
			out.one[as.Name].page = 40
			t.Cleanup(func() { _ = out.one[as.Name].Close() })
		}
		out.all = Over(sources)
		out.all.page = 40
		t.Cleanup(func() { _ = out.all.Close() })
		return enginetest.Replayed(out), nil
	}
}

func columnNamesOf(t *policy.Table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func (d database) from(b *bounded.Statement) (*Engine, engine.Sealed) {
	if b.Source == nil {
		return d.one[b.Table], d.tables[b.Table]
	}
	return d.all, engine.Sealed{Tables: d.tables}
}

// statement is what b is answered by: of what it reads, which a session finds once.
func (d database) statement(b *bounded.Statement, render func(*bounded.Statement, *rows) string) (string, error) {
	e, from := d.from(b)
	reads := b.Table
	for _, c := range b.Columns {
		reads += " " + identifier(c.Name)
	}
	if b.Source != nil {
		reads = b.Source.String()
	}
	if d.found[reads] == nil {
		s, in, err := e.prepare(context.Background(), b, from)
		if err != nil {
			return "", err
		}
		s.end()
		d.found[reads] = in
	}
	return render(b, d.found[reads]), nil
}

func (d database) Statement(b *bounded.Statement) (string, error) { return d.statement(b, render) }

func (d database) RowsStatement(b *bounded.Statement) (string, error) { return d.statement(b, rowsOf) }

func (d database) Add(b *bounded.Statement, add func([]value.Value, []*big.Int)) error {
	e, from := d.from(b)
	return e.sums(context.Background(), b, from, add)
}

// Scan is one pass: what it holds ends with it.
func (d database) Scan(b *bounded.Statement) (func(yield func(cell int, v, n int64) bool) error, error) {
	e, from := d.from(b)
	ctx, cancel := context.WithCancel(context.Background())
	scan, err := e.scanCells(ctx, b, from)
	if err != nil {
		cancel()
		return nil, err
	}
	return func(yield func(cell int, v, n int64) bool) error {
		defer cancel()
		return scan(yield)
	}, nil
}

func (d database) EachRow(b *bounded.Statement, add func(first bool, row []int64) error) error {
	e, from := d.from(b)
	return e.eachRow(context.Background(), b, from, add)
}

// MostRows is 0 if rows are read where they are.
func (d database) MostRows(s *bounded.Source) (most int64, err error) {
	if len(d.tables) == 0 || d.tables[tablesOf(&bounded.Statement{Source: s})[0].name].Copy == nil {
		return 0, nil
	}
	session, in, err := d.all.prepare(context.Background(), &bounded.Statement{Source: s},
		engine.Sealed{Tables: d.tables})
	if err != nil {
		return 0, err
	}
	defer session.end()
	sql := "SELECT coalesce(max(n), 0), 0 FROM (SELECT count(*) AS n FROM (" + node(s, in) + ") AS s GROUP BY u) AS g"
	return most, session.query(context.Background(), sql, func(row [][]byte) (err error) {
		most, _, err = valueAndCount(row)
		return err
	})
}

func (d database) Known(o policy.Origin) (out []value.Value, err error) {
	column := d.policy.Table(o.Table).Column(o.Column)
	if d.tables[o.Table].Copy != nil {
		return d.one[o.Table].Values(context.Background(), bounded.PublicColumn(column), d.tables[o.Table],
			policy.MaxKeys+1)
	}
	texts, noted := d.values[o.Table+"."+o.Column]
	if !noted {
		return nil, fmt.Errorf("no values of %v were noted", o)
	}
	for _, text := range texts {
		v, err := bounded.ReadKey(column.Type, text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// inCopies are the worlds that are read from copies; those between are read where they are.
func inCopies(world int) bool { return world%2 == 0 }

// What PostgreSQL gives of two neighbouring databases differs by what is planned at most: of tables that are read where
// they are, and of copies, sealed each by itself.
func TestReplayAudit(t *testing.T) {
	b := emptyBench(t, enginetest.PolicyText("add-remove"))
	audit := enginetest.Audit{Questions: 20, First: 1000, Ways: 2, Parts: inCopies, Seal: b.sealedAs(t)}
	audit.Test(t, []string{"postgres/copy.go", "postgres/seal.go", "internal/seal/", "rows.go: first"})
}
