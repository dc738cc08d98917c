package postgres

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
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
	memo   enginetest.Memo
	found  map[string]*rows // by what is read
}

var _ enginetest.Sealed = database{}

// sealedAs puts rows into a schema of their own, and seals each table by itself: where it is, or as a copy.
func (b *bench) sealedAs(t *testing.T) func(world int, w enginetest.World, tables enginetest.Tables, name string) (enginetest.Sealed, error) {
	b.exec(t, "CREATE SCHEMA IF NOT EXISTS copies")
	return func(world int, w enginetest.World, tables enginetest.Tables, name string) (enginetest.Sealed, error) {
		copied := inCopies(world)
		b.policy = w.Policy
		b.exec(t, "CREATE SCHEMA "+name+"; SET search_path = "+name)
		out := database{w.Policy, map[string]*Engine{}, nil, map[string]engine.Sealed{}, map[string][]string{}, enginetest.Memo{}, map[string]*rows{}}
		sources := map[string]policy.Source{}
		for _, declared := range w.Policy.Tables {
			as := *declared
			as.Source = source(as.Name)
			as.Source.Schema = name
			b.exec(t, b.create(declared, nil))
			b.write(t, as.Name, tables[as.Name])
			found, err := seal.Found{}, error(nil)
			if copied {
				found, err = Sealer{}.Copy(t.Context(), &as, "copies", name+as.Name)
				out.tables[as.Name] = Known(seal.Version{Table: as.Name, Facts: found.Facts, Copy: found.Copy})
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
		return out, nil
	}
}

func columnNamesOf(t *policy.Table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func (d database) from(b *plan.Bounded) (*Engine, engine.Sealed) {
	if b.Source == nil {
		return d.one[b.Table], d.tables[b.Table]
	}
	return d.all, engine.Sealed{Tables: d.tables}
}

// statement is what b is answered by: of what it reads, which a session finds once.
func (d database) statement(b *plan.Bounded, render func(*plan.Bounded, *rows) string) (string, error) {
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

func (d database) Sums(b *plan.Bounded, add func([]value.Value, []*big.Int)) error {
	sql, err := d.statement(b, render)
	if err != nil {
		return err
	}
	return d.memo.Sums(sql, add, func(add func([]value.Value, []*big.Int)) error {
		e, from := d.from(b)
		return e.sums(context.Background(), b, from, add)
	})
}

func (d database) Order(b *plan.Bounded, add func(cell string, v, n int64)) error {
	sql, err := d.statement(b, render)
	if err != nil {
		return err
	}
	return d.memo.Order(sql, add, func(add func(cell string, v, n int64)) error {
		e, from := d.from(b)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		scan, err := e.scanCells(ctx, b, from)
		if err != nil {
			return err
		}
		return scan(func(cell int, v, n int64) bool { add(strconv.Itoa(cell), v, n); return true })
	})
}

func (d database) Rows(b *plan.Bounded, add func(first bool, row []int64) error) error {
	sql, err := d.statement(b, rowsOf)
	if err != nil {
		return err
	}
	return d.memo.Rows(sql, add, func(add func(first bool, row []int64) error) error {
		e, from := d.from(b)
		return e.eachRow(context.Background(), b, from, add)
	})
}

func (d database) Known(o policy.Origin) (out []value.Value, err error) {
	column := d.policy.Table(o.Table).Column(o.Column)
	if d.tables[o.Table].Copy != nil {
		return d.one[o.Table].Values(context.Background(), plan.PublicColumn(column), d.tables[o.Table], policy.MaxKeys+1)
	}
	texts, noted := d.values[o.Table+"."+o.Column]
	if !noted {
		return nil, fmt.Errorf("no values of %v were noted", o)
	}
	for _, text := range texts {
		v, err := plan.ReadKey(column.Type, text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// inCopies are the worlds that are read from copies; those between are read where they are.
func inCopies(world int) bool { return world%2 == 0 }

// What PostgreSQL gives of two neighbouring databases differs by what is planned at most: of tables that are read where they are, and of copies, sealed each
// by itself.
func TestReplayAudit(t *testing.T) {
	b := emptyBench(t, enginetest.PolicyText("add-remove"))
	audit := enginetest.Audit{Worlds: 12, Questions: 20, First: 1000, Parts: inCopies, Seal: b.sealedAs(t)}
	if os.Getenv("DITHER_LONG") != "" {
		audit.Worlds, audit.Questions, audit.Least = 50, 40, 3
	}
	if !enginetest.Planted(t, audit, func(name string) bool { return strings.Contains(name, "/copy.go") }) {
		audit.Run(t)
	}
}
