// Package postgres answers questions on the owner's own PostgreSQL server. It turns each bounded statement into one
// read-only SQL statement. Only the result leaves the server: sums and counts, unknown keys, ordered values, or,
// for Rows, the bounded integers of each row. Errors may quote rows, so only the owner may see them.
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

// Engine answers questions about one table or view, or, if [Over] made it, about relations of several tables on one
// server. It is safe for concurrent use, because each statement has its own connection.
type Engine struct {
	source policy.Source
	tables map[string]policy.Source // the tables of relations, by their names in the policy
	page   int                      // the number of distinct values fetched at a time
	hash   func(columns string) string
	idle   idle
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine for one table or view. It connects at the first question.
func New(source policy.Source) *Engine {
	return &Engine{source: source, page: defaultPage, hash: hashed}
}

// Close implements [engine.Engine]. It closes the connections that rehearsals have left open.
func (e *Engine) Close() error {
	e.idle.end()
	return nil
}

// Aggregate implements [engine.Engine].
func (e *Engine) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	cells := engine.NewCells(b)
	if err := e.sums(ctx, b, from, cells.Add); err != nil {
		return nil, err
	}
	return cells.Exact(), nil
}

// Margins implements [engine.Engine].
func (e *Engine) Margins(
	ctx context.Context, b *bounded.Statement, keys [][]int, from engine.Sealed,
) ([][]mechanism.Exact, error) {
	margins := engine.NewMargins(b, keys)
	if err := e.sums(ctx, b, from, margins.Add); err != nil {
		return nil, err
	}
	return margins.Exact(), nil
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

// prepare begins a session with the tables that b reads. It calls Sealed.Changed of each table that has changed
// since sealing.
func (e *Engine) prepare(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*session, *rows, error) {
	if err := refuse(b, from); err != nil { // the rehearsal refused the same statements
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

// changed calls Sealed.Changed for each table whose state on the server differs from its state at sealing.
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

// find locates the rows that b reads: the table, or the copy of its sealed version, or the tables of a relation.
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

// rows describes where a statement's rows come from: one table, a copy of it, or the tables of a relation.
type rows struct {
	name string // the qualified name of the table, view or copy
	scan string // the FROM item: the relation, or rows that stand for it
	of   []kind // the kinds of the columns that are read
	hash func(columns string) string

	// the statement needs a copy's rows in the order of their unit and of their number within the unit (rank)
	inOrder bool

	identity
	now func(context.Context) (relation string, err error) // looks up which relation the name refers to at this moment

	copied   bool // the rows are those of a copy made at sealing
	complete map[string]bool
	where    string // filter on the rows of a copy, or ""

	tables map[string]*rows         // for a relation: its tables by name; nil for one table
	known  map[string]engine.Sealed // the facts recorded at sealing, by table; only those of copies are used
	// for a table of a relation: the columns that are read, whose kinds are in the field `of`
	columns []bounded.Column
}

// keeping limits a copy to the rows of each unit whose rank is at most the number stored. (A rank numbers the rows of
// one unit.) The copy may have been made under a larger limit; a copy made now would have only these rows. If stored is
// 0, all rows stay.
func (in *rows) keeping(stored int64) *rows {
	if in != nil && stored > 0 {
		in.scan = fmt.Sprintf("(SELECT * FROM %s WHERE %s <= %d) AS s", in.scan, rankColumn, stored)
	}
	return in
}

// hashed returns SQL that hashes the listed columns. The order by this hash decides which rows of a unit count.
func hashed(columns string) string { return "hash_record_extended(ROW(" + columns + "), 1)" }

// open locates the source's relation and checks that its columns are as declared. It locks the relation against being
// changed or dropped until the transaction ends. If the parameter `from`, a sealed version, names its relation, open
// returns an error if the name now leads to another relation: the promise covers the units of the sealed relation.
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
			"%s is not the sealed table, or shows other rows (its identity is %s, and was %s): seal it again",
			name, id.relation, from.Relation)
	}
	in := &rows{name: name, scan: name, of: of, hash: e.hash, identity: id}
	in.now = func(ctx context.Context) (string, error) {
		id, err := s.identify(ctx, name)
		return id.relation, err
	}
	if id.kind == "v" { // OFFSET 0 makes the server compute the view's expressions once for each row
		read := make([]string, len(columns))
		for i, c := range columns {
			read[i] = identifier(c.Name)
		}
		in.scan = "(SELECT " + list(read) + " FROM " + name + " OFFSET 0) AS v"
	}
	return in, nil
}

// still returns an error if the relation's name leads to another relation than before. The name can change its
// meaning, because PostgreSQL does not lock the name of a schema.
func (in *rows) still(ctx context.Context) error {
	relation, err := in.now(ctx)
	if err == nil && !same(relation, in.relation) {
		err = fmt.Errorf("while it was read, %s became another table", in.name)
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

// collect returns a function that reads the keys and sums of one result row and passes them to add.
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
			if text == nil { // the sum of no rows
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

// scalar parses the text of a key as a value of type t.
func scalar(t value.Type, text []byte) (value.Value, error) {
	switch {
	case text == nil:
		return value.NullOf(t), nil
	case t == value.Text:
		return value.OfText(string(text)), nil
	case t == value.Boolean && (string(text) == "t" || string(text) == "f"):
		return value.OfBool(text[0] == 't'), nil
	case t.Whole():
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return value.Value{Type: t, Int: n}, nil
		}
	}
	return value.Value{}, fmt.Errorf("postgres: a key of type %s that reads %q", t, text)
}
