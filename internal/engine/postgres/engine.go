// Package postgres answers questions on the owner's own PostgreSQL server. A question becomes one read-only statement,
// which this package writes for a bounded statement. Only its result leaves the server: sums and counts, unknown keys,
// ordered values, and for Rows each row's bounded integers. Errors may quote rows, so they are for the owner alone.
package postgres

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine answers questions about one table or view, or about relations of several on one server (Over). Several
// goroutines may use it: each statement has a connection of its own.
type Engine struct {
	source policy.Source
	tables map[string]policy.Source // the tables of relations
	page   int                      // how many distinct values are fetched at a time
	hash   func(columns string) string
	idle   idle
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine over a source. It connects at the first question.
func New(source policy.Source) *Engine {
	return &Engine{source: source, page: defaultPage, hash: hashed}
}

// Close implements engine.Engine. Between questions only waiting connections are held.
func (e *Engine) Close() error {
	e.idle.end()
	return nil
}

// Aggregate implements engine.Engine.
func (e *Engine) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	cells := engine.NewCells(b)
	if err := e.sums(ctx, b, from, cells.Add); err != nil {
		return nil, err
	}
	return cells.Exact(), nil
}

func (e *Engine) sums(
	ctx context.Context, b *bounded.Statement, from engine.Sealed, add func([]value.Value, []*big.Int),
) error {
	s, in, err := e.prepare(ctx, b, from)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.query(ctx, render(b, in), collect(b, add)); err != nil {
		return err
	}
	return in.still(ctx)
}

// prepare begins a session for the tables that b reads, and reports changes.
func (e *Engine) prepare(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*session, *rows, error) {
	if err := refuse(b, from); err != nil { // as the rehearsal did
		return nil, nil, err
	}
	s, err := e.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	in, err := e.find(ctx, s, b, from)
	if err == nil {
		err = s.changed(ctx, in, from)
	}
	if err != nil {
		s.end()
		return nil, nil, err
	}
	return s, in, nil
}

// changed reports each table that seems to have changed since it was sealed.
func (s *session) changed(ctx context.Context, in *rows, from engine.Sealed) error {
	for name, one := range in.tables {
		if err := s.changed(ctx, one, from.Tables[name]); err != nil {
			return err
		}
	}
	if in.tables != nil || from.State == "" || from.Changed == nil {
		return nil
	}
	state, err := s.state(ctx, in.name)
	if err == nil && state != from.State {
		from.Changed(state)
	}
	return err
}

// find finds what to read for b: the table, the sealed version's copy of it, or several tables.
func (e *Engine) find(ctx context.Context, s *session, b *bounded.Statement, from engine.Sealed) (*rows, error) {
	if b.Source != nil {
		return e.findAll(ctx, s, b, from)
	}
	if from.Copy == nil {
		return e.open(ctx, s, columnsOf(b), from)
	}
	unit := ""
	if b.Unit != nil {
		unit = b.Unit.Name
	}
	in, err := e.openCopy(ctx, s, columnsOf(b), from.Copy, unit)
	if err == nil {
		in.complete = from.Complete
	}
	return in.keeping(from.Stored), err
}

// rows describe the source of a statement's rows.
type rows struct {
	name string // the relation's
	scan string // the FROM item: the relation, or rows that stand for it
	of   []kind // of the columns that are read
	hash func(columns string) string

	inOrder bool // a copy's rows are ordered by unit and rank

	identity
	now func(context.Context) (relation string, err error) // the relation that the name leads to now

	copied   bool // whether it is a copy made at sealing
	complete map[string]bool
	where    string // the filter on a copy's rows

	tables  map[string]*rows         // of a relation: the source of the rows
	known   map[string]engine.Sealed // their recorded facts, if they are copies
	columns []bounded.Column         // of a relation's table: the columns that are read, with kinds in of
}

// keeping reads of a copy at most stored rows of each unit, those of the lowest ranks, which are all that a new copy
// has; 0 for all.
func (in *rows) keeping(stored int64) *rows {
	if in != nil && stored > 0 {
		in.scan = fmt.Sprintf("(SELECT * FROM %s WHERE %s <= %d) AS s", in.scan, rankColumn, stored)
	}
	return in
}

// hashed is the hash that spreads which rows a unit keeps.
func hashed(columns string) string { return "hash_record_extended(ROW(" + columns + "), 1)" }

// open finds the source's relation, whose columns must be as declared, and keeps it from being changed or dropped until
// the transaction ends. If a sealed version names its relation, no other relation may have taken its name, because the
// promise is to the units of that one.
func (e *Engine) open(ctx context.Context, s *session, columns []*policy.Column, from engine.Sealed) (*rows, error) {
	name := relationOf(e.source)
	of, err := s.columns(ctx, name, columns, kinds)
	if err != nil {
		return nil, err
	}
	id, err := s.identify(ctx, name)
	if err != nil {
		return nil, err
	}
	if from.Relation != "" && !same(id.relation, from.Relation) {
		return nil, fmt.Errorf(
			"%s is another table, or shows other rows, than the one that was sealed (%s, and was %s): seal it again",
			name, id.relation, from.Relation)
	}
	in := &rows{name: name, scan: name, of: of, hash: e.hash, identity: id}
	in.now = func(ctx context.Context) (string, error) {
		id, err := s.identify(ctx, name)
		return id.relation, err
	}
	if id.kind == "v" { // a fence: the view's expressions are computed once per row
		read := make([]string, len(columns))
		for i, c := range columns {
			read[i] = identifier(c.Name)
		}
		in.scan = "(SELECT " + list(read) + " FROM " + name + " OFFSET 0) AS v"
	}
	return in, nil
}

// still fails if the name leads to another relation than before. Unlike a table's name, nothing locks a schema's name.
func (in *rows) still(ctx context.Context) error {
	relation, err := in.now(ctx)
	if err == nil && !same(relation, in.relation) {
		err = fmt.Errorf("%s became another table while it was read", in.name)
	}
	return err
}

func columnsOf(b *bounded.Statement) []*policy.Column { return declared(b.Columns) }

func declared(columns []bounded.Column) []*policy.Column {
	out := make([]*policy.Column, len(columns))
	for i, c := range columns {
		out[i] = c.Column
	}
	return out
}

func relationOf(s policy.Source) string { return identifier(s.Schema) + "." + identifier(s.Table) }

// collect reads one result row and adds it to its cell.
func collect(b *bounded.Statement, add func([]value.Value, []*big.Int)) func([][]byte) error {
	types := b.KeyTypes()
	return func(row [][]byte) error {
		if len(types)+b.Width() == 0 {
			return nil
		}
		keys, err := engine.Keys(types, row, scalar)
		if err != nil {
			return err
		}
		sums := make([]*big.Int, b.Width())
		for i := range sums {
			text := row[len(keys)+i]
			if text == nil { // over no rows
				continue
			}
			n, ok := new(big.Int).SetString(string(text), 10)
			if !ok {
				return fmt.Errorf("postgres: a sum that reads %q", text)
			}
			sums[i] = n
		}
		add(keys, sums)
		return nil
	}
}

// scalar reads a key from its text.
func scalar(t value.Type, text []byte) (value.Value, error) {
	switch {
	case text == nil:
		return value.NullOf(t), nil
	case t == value.Text:
		return value.OfText(string(text)), nil
	case t == value.Boolean && (string(text) == "t" || string(text) == "f"):
		return value.OfBool(text[0] == 't'), nil
	case t == value.Integer || t == value.Date:
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return value.Value{Type: t, Int: n}, nil
		}
	}
	return value.Value{}, fmt.Errorf("postgres: a key of type %s that reads %q", t, text)
}
