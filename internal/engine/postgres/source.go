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
// connects with the first question.
func Over(tables map[string]policy.Source) *Engine {
	e := &Engine{tables: tables, page: defaultPage, hash: hashed}
	for _, s := range tables { // where the server is, any of them tells
		e.source = policy.Source{Format: s.Format, Service: s.Service, URLEnv: s.URLEnv, Local: s.Local}
	}
	return e
}

// findAll finds the tables of b's Source, each as find does one, and reads all of them in the state of one moment: that
// of the transaction.
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
		if err := s.run(ctx, anyJoins); err != nil { // for the catalogue, which the planner knows
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

// hashJoins makes the planner join tables in the order of the statement, and by tables of hashes: then a join costs
// what its inputs and its result have, and a unit's part in these is bounded (plan.CostOf). Every join has an equality,
// by which rows are looked up. The planner knows nothing of how many rows come through a fence. Where it expects one
// row, and a unit has a thousand, it compares each of them with every row of the other table; or it first joins two
// tables that have nothing in common but the unit, and puts a million pairs of a thousand rows beside each other.
const hashJoins = "SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; " +
	"SET LOCAL join_collapse_limit = 1; SET LOCAL from_collapse_limit = 1"

// anyJoins leaves the planner free again.
const anyJoins = "RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin; RESET join_collapse_limit; RESET from_collapse_limit"

// tableRead is a table that a Source reads.
type tableRead struct {
	name, unit string
	columns    []bounded.Column
}

func (t tableRead) declared() []*policy.Column { return declared(t.columns) }

// tablesOf are the tables of b's Source, in the order of their names, each with all of its columns that some scan
// reads.
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

// readable writes what is read of a column, which in a copy was read already.
func (in *rows) readable(c bounded.Column) string {
	if in.copied {
		return identifier(c.Name)
	}
	return read(c, in.kindOf(c.Name))
}

// madeUpAll writes rows of every table, which are the fewer the more tables meet: as they are on the server, or of
// copies.
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

// leastMadeUp is how many rows are made up of a table at least.
const leastMadeUp = 40
