package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dither/internal/policy"
	"dither/internal/value"
)

// Described is a table or a view on a server: names and types, and nothing from rows.
type Described struct {
	Schema, Table string
	Columns       []DescribedColumn
	Skipped       []string // columns whose type cannot be declared, as "name (type)"
}

// DescribedColumn is a column that a policy can declare.
type DescribedColumn struct {
	Name string
	Type value.Type
}

// maxDescribed is the largest number of tables that Describe returns.
const maxDescribed = 100

// Describe lists the tables and views that the role may read, by schema and name, without the server's own and without
// partitions. It reads the catalogue alone. The server is that of the source, or the one at url if that is not "". No
// error contains url, which may hold a password.
func (Sealer) Describe(ctx context.Context, source policy.Source, url string) (tables []Described, err error) {
	if url == "" {
		url = whereabouts(source)
	}
	config, err := configureAt(url, source)
	if err != nil {
		return nil, err
	}
	s, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	defer s.end()
	if err := s.begin(ctx); err != nil {
		return nil, explained(err)
	}
	err = s.query(ctx, `SELECT n.nspname, c.relname, a.attname,
		CASE WHEN coalesce(b.typtype, t.typtype) = 'e' THEN `+strconv.Itoa(int(enum))+` WHEN t.typtype = 'd' THEN t.typbasetype
		ELSE t.oid END, format_type(a.atttypid, NULL)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype
		WHERE c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
		AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
		AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
		ORDER BY n.nspname, c.relname, a.attnum`,
		func(row [][]byte) error {
			schema, table, name := string(row[0]), string(row[1]), string(row[2])
			if n := len(tables); n == 0 || tables[n-1].Schema != schema || tables[n-1].Table != table {
				if n == maxDescribed {
					return fmt.Errorf("postgres: the role may read more than %d tables: name each by --table", maxDescribed)
				}
				tables = append(tables, Described{Schema: schema, Table: table})
			}
			last := &tables[len(tables)-1]
			oid, err := strconv.ParseUint(string(row[3]), 10, 32)
			if t, ok := draftType(kind(oid)); err == nil && ok {
				last.Columns = append(last.Columns, DescribedColumn{name, t})
			} else {
				last.Skipped = append(last.Skipped, fmt.Sprintf("%s (%s)", name, row[4]))
			}
			return nil
		})
	return tables, explained(err)
}

// draftType returns the type that a draft declares for a server's type, or false if there is none.
func draftType(of kind) (value.Type, bool) {
	for _, t := range []value.Type{
		value.Integer, value.Real, value.Boolean, value.Date, value.Timestamp, value.Time, value.Text,
	} {
		if slices.Contains(kinds[t], of) {
			return t, true
		}
	}
	return 0, false
}
