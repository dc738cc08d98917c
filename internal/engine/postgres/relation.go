package postgres

import (
	"context"
	"errors"
	"strings"
)

// identity is what the server knows about a relation, independent of the name that led to it.
type identity struct {
	kind string // the relkind of pg_class: r table, p partitioned table, m materialized view, v view
	// relation is the text cluster/database/number. For a view, a digest of the definitions of all views that it
	// shows follows. Servers reveal the number of their cluster to some roles only. Otherwise "?" stands for it.
	relation string
	// family lists the topmost tables that may hold the relation's rows, as cluster/database/number. For a
	// partition, this includes its parent table, which holds the same rows. For a view, it is the view itself, and
	// shows lists the topmost tables whose rows the view shows.
	family, shows []string
	foreign       bool // some rows are stored on another server
}

// identities is a query about one relation that reads no row. Its columns are: the kind, database and number of the
// relation; whether a relation that it shows is foreign; a digest of the rules of its views; the topmost tables of
// all that it shows; and whether the role may read the cluster's number.
const identities = `WITH RECURSIVE self AS (SELECT oid, relkind FROM pg_class WHERE oid = CAST(RELATION AS regclass)),
 shown(rel, kind) AS (SELECT oid, relkind FROM self UNION SELECT c.oid, c.relkind FROM shown CROSS JOIN LATERAL (
  SELECT refobjid AS next FROM pg_depend JOIN pg_rewrite AS r ON classid = CAST('pg_rewrite' AS regclass) AND objid = r.oid
   WHERE ev_class = rel AND kind IN ('v', 'm') AND refclassid = CAST('pg_class' AS regclass)
  UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = rel) AS n JOIN pg_class AS c ON c.oid = next),
 above(top) AS (SELECT rel FROM shown WHERE kind NOT IN ('v', 'm') UNION SELECT inhparent FROM above JOIN pg_inherits ON inhrelid = top)
SELECT relkind, concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()), ''), oid,
 EXISTS (SELECT FROM shown WHERE kind = 'f'),
 (SELECT left(encode(sha256(convert_to(string_agg(concat_ws(' ', rel, CAST(ev_action AS text)), ' ' ORDER BY rel, r.oid), 'UTF8')), 'hex'), 32)
  FROM shown JOIN pg_rewrite AS r ON ev_class = rel WHERE kind = 'v'),
 (SELECT string_agg(CAST(top AS text), ' ' ORDER BY top) FROM above WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = top)),
 has_function_privilege('pg_control_system()', 'EXECUTE') FROM self`

var errNoTable = errors.New("it is neither a table nor a view of this database")

// identify returns the identity of a relation. It returns an error if the relation is neither a table nor a view,
// or if a table has rows on another server. Exact values of such rows would travel between the servers.
func (s *session) identify(ctx context.Context, relation string) (id identity, err error) {
	var number, database, digest, tops string
	mayKnow := false
	err = s.query(ctx, strings.ReplaceAll(identities, "RELATION", quoted(relation)), func(row [][]byte) error {
		id.kind, database, number, id.foreign = string(row[0]), string(row[1]), string(row[2]), string(row[3]) == "t"
		digest, tops, mayKnow = string(row[4]), string(row[5]), string(row[6]) == "t"
		return nil
	})
	if err != nil {
		return id, err
	}
	cluster := "?"
	if mayKnow {
		err := s.query(ctx, "SELECT system_identifier FROM pg_control_system()",
			func(row [][]byte) error { cluster = string(row[0]); return nil })
		if err != nil {
			return id, err
		}
	}
	in := cluster + "/" + database
	id.relation = in + number
	var families []string
	for top := range strings.FieldsSeq(tops) {
		families = append(families, in+top)
	}
	switch id.kind {
	case "r", "p":
		id.family = families
	case "m", "v":
		id.family, id.shows = []string{id.relation}, families
	default:
		return id, errNoTable
	}
	if id.foreign && id.kind != "v" && id.kind != "m" {
		return id, errors.New("some of its rows are on another server: all partitions must be tables of this database")
	}
	if id.kind == "v" {
		id.relation += "/" + digest
	}
	return id, nil
}

// same reports whether two values of identity.relation describe the same relation. An unknown cluster "?" equals
// any other.
func same(a, b string) bool {
	of, in, _ := strings.Cut(a, "/")
	alsoOf, alsoIn, _ := strings.Cut(b, "/")
	return in == alsoIn && (of == alsoOf || of == "?" || alsoOf == "?")
}
