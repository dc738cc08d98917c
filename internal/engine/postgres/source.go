package postgres

import (
	"context"
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
)

// Over returns an engine for relations of tables on one server. tables holds them by their names in the policy, and
// the engine reads no other table. It connects at the first question.
func Over(tables map[string]policy.Source) *Engine {
	e := &Engine{tables: tables, page: defaultPage, hash: hashed}
	for _, s := range tables { // all tables name the same server
		e.source = policy.Source{Format: s.Format, Service: s.Service, URLEnv: s.URLEnv, Local: s.Local}
	}
	return e
}

// findAll locates the tables of b's Source, each as find does. All of them are read in one transaction, at one
// moment.
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
		// restores the planner's choice for queries of the catalogue, which it can estimate
		if err := s.run(ctx, anyJoins); err != nil {
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

// hashJoins makes the planner join tables in the order of the statement, and by hash tables only. The cost of a
// join is then that of its inputs and its result, and the share of one unit in these is bounded (cost.Of). Every
// join has an equality, which a hash table needs. Otherwise the planner could choose badly, because it cannot
// estimate how many rows pass a fence. If it expects one row where a unit has a thousand, it may compare each of
// them with every row of the other table. Or it may first join two tables that have only the unit in common, and
// form a million pairs of a unit's rows.
const hashJoins = "SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = off; " +
	"SET LOCAL enable_mergejoin = off; " +
	"SET LOCAL join_collapse_limit = 1; SET LOCAL from_collapse_limit = 1"

// anyJoins undoes the settings of hashJoins.
const anyJoins = "RESET enable_hashjoin; RESET enable_nestloop; RESET enable_mergejoin; " +
	"RESET join_collapse_limit; RESET from_collapse_limit"

// tableRead is a table that a Source reads: its name, the name of its unit's column or "", and the columns that are
// read.
type tableRead struct {
	name, unit string
	columns    []bounded.Column
}

func (t tableRead) declared() []*policy.Column { return declared(t.columns) }

// tablesOf returns the tables of b's Source, sorted by name, each with all columns that some Scan reads.
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

// kindOf returns the kind of the column with this name.
func (in *rows) kindOf(name string) kind {
	return in.of[slices.IndexFunc(in.columns, func(c bounded.Column) bool { return c.Name == name })]
}

// readable returns the SQL that reads a column. A column of a copy was read when the copy was made.
func (in *rows) readable(c bounded.Column) string {
	if in.copied {
		return identifier(c.Name)
	}
	return read(c, in.kindOf(c.Name))
}

// madeUpAll returns made-up rows for every table of a Source, as tables on the server or as copies. It makes fewer
// rows for each table if there are more tables, because joins multiply them.
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

// leastMadeUp is the smallest number of made-up rows of a table.
const leastMadeUp = 40
