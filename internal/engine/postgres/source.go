package postgres

import (
	"context"
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
)

// Over makes an engine over relations of tables of one server, by their names in the policy, and over nothing else. It
// connects at the first question.
func Over(tables map[string]policy.Source) *Engine {
	e := &Engine{tables: tables, page: defaultPage, hash: hashed}
	for _, s := range tables { // any of them names the server
		e.source = policy.Source{Format: s.Format, Service: s.Service, URLEnv: s.URLEnv, Local: s.Local}
	}
	return e
}

// findAll finds the tables of b's Source, each as find does, and reads all of them at one moment: that of the
// transaction.
func (e *Engine) findAll(ctx context.Context, s *session, b *bounded.Statement, from engine.Sealed) (*rows, error) {
	all := &rows{hash: e.hash, tables: map[string]*rows{}, known: from.Tables}
	for _, read := range tablesOf(b) {
		source, declared := e.tables[read.name]
		known, sealed := from.Tables[read.name]
		if !declared || !sealed {
			return nil, fmt.Errorf("postgres: no sealed table %q of this server was given", read.name)
		}
		one := &Engine{source: source, hash: e.hash}
		var in *rows
		var err error
		if known.Copy == nil {
			in, err = one.open(ctx, s, read.declared(), known)
		} else {
			in, err = one.openCopy(ctx, s, read.declared(), known.Copy, read.unit)
			in = in.keeping(known.Stored)
		}
		if err != nil {
			return nil, err
		}
		in.columns = read.columns
		all.tables[read.name] = in
	}
	all.now = func(ctx context.Context) (string, error) {
		if err := s.run(ctx, anyJoins); err != nil { // for the catalogue, which the planner can estimate
			return "", err
		}
		for _, in := range all.tables {
			if err := in.still(ctx); err != nil {
				return "", err
			}
		}
		return all.relation, nil
	}
	return all, s.run(ctx, hashJoins)
}

// hashJoins makes the planner join tables in the order of the statement, and by hash tables. Then the cost of a join is
// that of its inputs and its result, and a unit's part in these is bounded (cost.Of). Every join has an equality
// for the lookup. The planner cannot estimate how many rows come through a fence. If it expects one row and a unit has
// a thousand, it may compare each of them with every row of the other table; or it may first join two tables that share
// nothing but the unit, and form a million pairs of a thousand rows.
const hashJoins = "SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; " +
	"SET LOCAL join_collapse_limit = 1; SET LOCAL from_collapse_limit = 1"

// anyJoins lifts these restrictions again.
const anyJoins = "RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin; RESET join_collapse_limit; RESET from_collapse_limit"

// tableRead is a table that a Source reads.
type tableRead struct {
	name, unit string
	columns    []bounded.Column
}

func (t tableRead) declared() []*policy.Column { return declared(t.columns) }

// tablesOf are the tables of b's Source, in the order of their names, each with all columns that some scan reads.
func tablesOf(b *bounded.Statement) (out []tableRead) {
	for _, name := range b.Tables() {
		t := tableRead{name: name}
		b.Source.Walk(func(s *bounded.Source) {
			if s.Op != bounded.Scan || s.Table != name {
				return
			}
			for _, c := range s.Columns {
				t.add(c)
			}
			if s.Unit != nil {
				t.unit = s.Unit.Name
				t.add(bounded.Column{Column: s.Unit})
			}
		})
		out = append(out, t)
	}
	return out
}

func (t *tableRead) add(c bounded.Column) {
	if !slices.ContainsFunc(t.columns, func(o bounded.Column) bool { return o.Name == c.Name }) {
		t.columns = append(t.columns, c)
	}
}

// kindOf is the kind of a column that is read.
func (in *rows) kindOf(name string) kind {
	return in.of[slices.IndexFunc(in.columns, func(c bounded.Column) bool { return c.Name == name })]
}

// readable writes the reading of a column, which in a copy was read already.
func (in *rows) readable(c bounded.Column) string {
	if in.copied {
		return identifier(c.Name)
	}
	return read(c, in.kindOf(c.Name))
}

// madeUpAll writes rows of every table, as on the server or as in copies: fewer rows for more tables.
func (e *Engine) madeUpAll(b *bounded.Statement, real kind, copied bool) *rows {
	all := &rows{hash: e.hash, tables: map[string]*rows{}}
	scans := 0
	b.Source.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			scans++
		}
	})
	for _, read := range tablesOf(b) {
		n := max(engine.RehearsalRows/scans, leastMadeUp)
		in := madeUpOf(b, read.columns, real, n)
		if copied {
			in = &rows{copied: true, scan: mixed(copiedCorners(b, read.columns), namesOf(read.columns), n)}
		}
		in.columns = read.columns
		all.tables[read.name] = in
	}
	return all
}

// leastMadeUp is the least number of made-up rows of a table.
const leastMadeUp = 40
