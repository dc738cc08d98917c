package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// A copy is a table that sealing makes on the server, in a schema that the owner names. It holds the declared
// columns as they were read at sealing, in the types that statements compute with. If a column identifies the unit,
// rows without a unit are left out, and the rows of a unit are stored together. Each row then has its rank among
// the unit's rows in rankColumn, and the unit's number of rows in rowsColumn.
//
// Claim: the facts about a copy on which the sensitivity depends are enforced by the server or checked at each
// question. The server enforces the primary key (unit, rank) and the condition 1 ≤ rank ≤ rows. So at most n rows
// of a unit have a rank up to n, whatever else is in the table. When the copy was made, rowsColumn was true in all
// of a unit's rows, and the sealed version records the table and its file (relation, filenode). Since then, only a
// superuser could write to the table, and each question checks that the server counted no later write.
const (
	rankColumn = "__dither_rank"
	rowsColumn = "__dither_rows"
)

// copiedKinds lists the kinds of a copy's columns. A date is stored as the number of its day,
// and a time as its microseconds.
var copiedKinds = map[value.Type][]kind{
	value.Integer: {bigint}, value.Date: {bigint}, value.Real: {real8}, value.Text: {plainText},
	value.Boolean: {boolean}, value.Timestamp: {bigint}, value.Time: {bigint},
}

// Copy implements seal.Server.
func (Sealer) Copy(ctx context.Context, t *policy.Table, schema, table string) (seal.Found, error) {
	return inspect(ctx, t, "READ WRITE", t.Stored(),
		func(ctx context.Context, l *look) error { return l.copy(ctx, schema, table) })
}

func (l *look) copy(ctx context.Context, schema, table string) error {
	name := identifier(schema) + "." + identifier(table)
	// An interrupted sealing may have left a table of this name, which belongs to no version yet.
	statements := append([]string{"DROP TABLE IF EXISTS " + name, "CREATE TABLE " + name + " AS " + l.ranked()},
		l.constraints(name)...)
	statements = append(statements,
		"COMMENT ON TABLE "+name+" IS 'made and read by dither: what it says of units must not change'")
	for _, sql := range statements {
		var raised *pgconn.PgError
		if err := l.run(ctx, sql); errors.As(err, &raised) && strings.HasPrefix(raised.Code, "3F") {
			return fmt.Errorf("the server has no schema %q for the copy: create it", schema)
		} else if err != nil {
			return err
		}
	}
	if err := l.freeze(ctx, name); err != nil {
		return err
	}
	if err := l.run(ctx, "ANALYZE "+name); err != nil {
		return err
	}
	l.found.Facts.Rows -= l.found.Facts.RowsLeftOut
	count := l.found.Facts.Rows - l.found.Facts.NullUnits
	made, err := l.guarded(ctx, name, l.table.Unit.Column, count)
	if err != nil {
		return err
	}
	l.found.Copy = &seal.Copy{Schema: schema, Table: table, Relation: made, Rows: count}
	return l.run(ctx, "COMMIT")
}

func (s *session) run(ctx context.Context, sql string) error { return s.conn.Exec(ctx, sql).Close() }

// ranked returns the SELECT of a copy's rows. A row's rank depends on its unit's rows alone: rows are ordered by a
// hash of their columns, and then by the columns. Rows whose order this leaves open are equal in every column,
// except that −0 and 0 compare equal, and every question cleans −0 to 0. The copy keeps as many rows of a unit as
// the policy allows, l.stored. Which rows these are depends on that unit's rows and the policy alone. So removing
// or replacing a unit changes no other unit's rows in the copy.
func (l *look) ranked() string {
	var read, out, all []string
	unit := ""
	for i, c := range l.table.Columns {
		x := "x" + strconv.Itoa(i)
		read = append(read, readColumn(c, l.of[i])+" AS "+x)
		out = append(out, x+" AS "+identifier(c.Name))
		all = append(all, x)
		if c.Name == l.table.Unit.Column {
			unit = x
		}
	}
	from := " FROM (SELECT " + list(read) + " FROM " + l.scan + " OFFSET 0) AS x"
	if unit == "" {
		return "SELECT " + list(out) + from
	}
	ranked := fmt.Sprintf(
		"SELECT %s, CAST(row_number() OVER w AS integer) AS %s, "+
			"CAST(count(*) OVER (PARTITION BY %[3]s) AS integer) AS %[4]s%[5]s "+
			"WHERE %[3]s IS NOT NULL WINDOW w AS (PARTITION BY %[3]s ORDER BY %[6]s, %[7]s)",
		list(out), rankColumn, unit, rowsColumn, from, hashed(list(all)), list(all))
	return fmt.Sprintf(
		"SELECT * FROM (%s) AS r WHERE %s <= %d ORDER BY %s, %[2]s",
		ranked, rankColumn, l.stored, identifier(l.table.Unit.Column))
}

func (l *look) constraints(name string) []string {
	if l.table.Unit.Column == "" {
		return nil
	}
	return []string{fmt.Sprintf(
		"ALTER TABLE %s ADD PRIMARY KEY (%s, %s), ADD CHECK (%[3]s BETWEEN 1 AND %[4]s), ALTER %[4]s SET NOT NULL",
		name, identifier(l.table.Unit.Column), rankColumn, rowsColumn)}
}

// freeze revokes all permissions to write to a copy, including those of its owner.
func (l *look) freeze(ctx context.Context, name string) error {
	grantees := []string{"PUBLIC", "CURRENT_USER"}
	err := l.query(
		ctx,
		"SELECT DISTINCT rolname FROM pg_class, aclexplode(relacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee "+
			"WHERE pg_class.oid = CAST("+quoted(name)+" AS regclass)",
		func(row [][]byte) error { grantees = append(grantees, identifier(string(row[0]))); return nil },
	)
	if err != nil {
		return err
	}
	return l.run(
		ctx, "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON "+name+" FROM "+strings.Join(grantees,
			", "))
}

// guards is a query that describes a copy. Its columns are: the table's file; whether it is a plain table without
// rules; whether anybody may write to it; whether its primary key is valid; whether its condition is valid; and
// whether no row was updated, deleted or added since it was made. REGCLASS, UNIT, RANK and ROWS are placeholders.
const guards = `SELECT pg_relation_filenode(c.oid), relkind = 'r' AND NOT relhasrules,
 EXISTS (SELECT FROM aclexplode(coalesce(relacl, acldefault('r', relowner))) WHERE privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'))
  OR EXISTS (SELECT FROM pg_attribute AS a, aclexplode(attacl) WHERE attrelid = c.oid AND privilege_type IN ('INSERT', 'UPDATE')),
 EXISTS (SELECT FROM pg_constraint AS k JOIN pg_index AS i ON i.indexrelid = k.conindid WHERE conrelid = c.oid AND contype = 'p' AND NOT condeferrable
  AND indisvalid AND indisunique AND indimmediate AND (SELECT array_agg(CAST(attname AS text) ORDER BY n) FROM unnest(conkey) WITH ORDINALITY AS u(attnum, n)
   JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = u.attnum) = ARRAY[UNIT, RANK]),
 EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'c' AND convalidated),
 pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid) = 0 AND pg_stat_get_tuples_inserted(c.oid) <= ROWS
 FROM pg_class AS c WHERE c.oid = CAST(REGCLASS AS regclass)`

// guarded returns a copy's identity. It returns an error if the copy is no longer as it was made.
func (s *session) guarded(ctx context.Context, name, unit string, rows int64) (relation string, err error) {
	id, err := s.identify(ctx, name)
	if err != nil {
		return "", err
	}
	wrong := ""
	sql := strings.NewReplacer("REGCLASS", quoted(name), "UNIT", quoted(unit), "RANK", quoted(rankColumn), "ROWS",
		strconv.FormatInt(rows, 10)).Replace(guards)
	err = s.query(ctx, sql, func(row [][]byte) error {
		relation = id.relation + "/" + string(row[0])
		is := func(i int) bool { return string(row[i]) == "t" }
		switch {
		case !is(1):
			wrong = "it is not a plain table"
		case is(2):
			wrong = "some role may write to it"
		case unit != "" && (!is(3) || !is(4)):
			wrong = "its primary key or check is missing"
		case !is(5):
			wrong = "its rows were changed"
		}
		return nil
	})
	if err == nil && wrong != "" {
		err = fmt.Errorf("the sealed copy %s has changed since it was made: %s: seal the table again", name, wrong)
	}
	return relation, err
}

// openCopy is like open, for the copy of a sealed version. unit is the name of the unit's column, or "".
func (e *Engine) openCopy(
	ctx context.Context, s *session, columns []*policy.Column, from *engine.Copy, unit string,
) (*rows, error) {
	name := identifier(from.Schema) + "." + identifier(from.Table)
	in := &rows{name: name, scan: "ONLY " + name, copied: true, hash: e.hash}
	in.now = func(ctx context.Context) (string, error) { return s.guarded(ctx, name, unit, from.Rows) }
	var err error
	if in.of, err = s.columns(ctx, name, columns, copiedKinds); err != nil {
		return nil, err
	}
	if in.relation, err = in.now(ctx); err != nil {
		return nil, err
	}
	if !same(in.relation, from.Relation) {
		return nil, fmt.Errorf("%s is not the sealed copy (its identity is %s, and was %s): seal the table again",
			name, in.relation, from.Relation)
	}
	return in, nil
}

// Drop implements seal.Server.
func (Sealer) Drop(ctx context.Context, t *policy.Table, c seal.Copy) error {
	config, err := configure(t.Source)
	if err != nil {
		return err
	}
	s, err := connect(ctx, config)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.transaction(ctx, "READ WRITE"); err != nil {
		return err
	}
	name := identifier(c.Schema) + "." + identifier(c.Table)
	return s.run(ctx, "SET LOCAL lock_timeout = '10s'; DROP TABLE IF EXISTS "+name+"; COMMIT")
}
