package query

import (
	"errors"
	"strings"
	"testing"
)

// A name with the schema means the same as the name alone, wherever tools write it.
func TestSchemasAreDropped(t *testing.T) {
	for qualified, plain := range map[string]string{
		`SELECT "public"."v"."r" AS "r", COUNT(*) FROM "public"."v" WHERE "public"."v"."d" > 1 GROUP BY "public"."v"."r" ORDER BY "public"."v"."r"`: `SELECT v.r AS r, COUNT(*) FROM v WHERE v.d > 1 GROUP BY v.r ORDER BY v.r`,
		`SELECT c.public.v.r, COUNT(*) FROM c.public.v GROUP BY 1`:                                                                                  `SELECT v.r, COUNT(*) FROM v GROUP BY 1`,
		`SELECT COUNT(*) FROM PUBLIC.v AS w WHERE w.x = 1`:                                                                                          `SELECT COUNT(*) FROM v AS w WHERE w.x = 1`,
		`SELECT SUM(public.v.x) FILTER (WHERE public.v.y) FROM public.v HAVING SUM(public.v.x) > 2`:                                                 `SELECT SUM(v.x) FILTER (WHERE v.y) FROM v HAVING SUM(v.x) > 2`,
		`SELECT p.h, COUNT(*) FROM public.v LEFT JOIN public.p AS p ON public.v.i = p.i GROUP BY p.h`:                                               `SELECT p.h, COUNT(*) FROM v LEFT JOIN p AS p ON v.i = p.i GROUP BY p.h`,
		`SELECT COUNT(*) FROM public.v, public.p WHERE public.v.i = public.p.i`:                                                                     `SELECT COUNT(*) FROM v, p WHERE v.i = p.i`,
		`SELECT s.x, COUNT(*) FROM (SELECT public.v.x AS x FROM public.v WHERE public.v.y = 1) AS s GROUP BY s.x`:                                   `SELECT s.x, COUNT(*) FROM (SELECT v.x AS x FROM v WHERE v.y = 1) AS s GROUP BY s.x`,
		`SELECT COUNT(*) FROM (SELECT public.v.* FROM public.v) AS s`:                                                                               `SELECT COUNT(*) FROM (SELECT v.* FROM v) AS s`,
		`WITH v AS (SELECT * FROM p) SELECT COUNT(*) FROM public.v`:                                                                                 `SELECT COUNT(*) FROM v`,
		`WITH q AS (SELECT public.v.x FROM public.v) SELECT q.x, COUNT(*) FROM q GROUP BY q.x`:                                                      `WITH q AS (SELECT v.x FROM v) SELECT q.x, COUNT(*) FROM q GROUP BY q.x`,
		`SELECT pg_catalog.count(*), pg_catalog.avg(public.v.x) FROM public.v`:                                                                      `SELECT count(*), avg(v.x) FROM v`,
		`SELECT "no. 1"."x", COUNT(*) FROM "public"."no. 1" GROUP BY "public"."no. 1"."x"`:                                                          `SELECT "no. 1".x, COUNT(*) FROM "no. 1" GROUP BY "no. 1".x`,
	} {
		got, err := Parse(qualified)
		if err != nil {
			t.Errorf("%s: %v", qualified, err)
			continue
		}
		want, err := Parse(plain)
		if err != nil {
			t.Fatal(plain, err)
		}
		if diff := sameTree(want, got); diff != "" {
			t.Errorf("%s: %s", qualified, diff)
		}
	}
}

// A column with a schema means a table of FROM by its own name: never an alias or a subquery of the same name.
func TestSchemasAreChecked(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM information_schema.tables":                            `1:22: there is no schema "information_schema"`,
		"SELECT SUM(s.u.x) FROM t":                                                  `1:12: s.u is not in FROM under its own name`,
		"SELECT SUM(a.b.public.t.x) FROM t":                                         `1:12: a column's name has at most four parts`,
		"SELECT SUM(public.t.x) FROM public.t AS u":                                 `1:12: public.t is not in FROM under its own name`,
		"SELECT SUM(public.u.x) FROM public.t AS u":                                 `1:12: public.u is not in FROM under its own name`,
		"SELECT SUM(public.t.x) FROM (SELECT x FROM u) AS t":                        `1:12: public.t is not in FROM under its own name`,
		"SELECT SUM(public.t.x) FROM u":                                             `1:12: public.t is not in FROM under its own name`,
		"SELECT SUM(public.t.x) FROM public.t JOIN u AS t ON public.t.i = t.i":      `1:12: public.t is not in FROM under its own name`,
		"WITH t AS (SELECT x FROM u) SELECT SUM(public.t.x) FROM t":                 `1:40: public.t is not in FROM under its own name`,
		"SELECT COUNT(*) FROM (SELECT public.t.* FROM u) q":                         `1:30: public.t is not in FROM under its own name`,
		"SELECT COUNT(*) FROM (SELECT public.t.x FROM (SELECT x FROM u) AS t) q, t": `1:30: public.t is not in FROM under its own name`,
		"WITH q AS (SELECT public.t.x FROM u) SELECT COUNT(*) FROM q":               `1:19: public.t is not in FROM under its own name`,
		"SELECT my.count(*) FROM t":                                                 `1:8: a function's name cannot have a schema here`,
	} {
		_, err := Parse(sql)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), want) {
			t.Errorf("%s: got %v, want %s", sql, err, want)
		}
	}
}

// The tree reports all tables that the text names, wherever they stand.
func TestTablesAreReported(t *testing.T) {
	s, err := Parse(`WITH w AS (SELECT x FROM a UNION ALL SELECT x FROM b) SELECT COUNT(*) FROM w JOIN c ON w.x = c.x
		JOIN (SELECT x FROM public.d) q ON q.x = c.x WHERE c.x IN (SELECT x FROM e) AND c.x > (SELECT MAX(x) FROM "F")`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Tables, " "); got != "a b c d e F" {
		t.Error(got)
	}
}

// The tree reports the catalogs, with their places, because Parse does not know the right one.
func TestCatalogsAreReported(t *testing.T) {
	s, err := Parse("SELECT SUM(a.public.t.x) FROM b.public.t")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM s.t":        "1:22 s t",
		"SELECT SUM(s.t.x) FROM t":        "1:12 s t.x",
		`SELECT COUNT(*) FROM "PUBLIC".t`: "1:22 PUBLIC t",
		"SELECT COUNT(*) FROM (SELECT x FROM public.t UNION ALL SELECT x FROM s.t) AS q": "1:70 s t",
	} {
		s, err := Parse(sql)
		if err != nil || len(s.Catalogs) != 1 {
			t.Fatal(sql, s, err)
		}
		if c := s.Catalogs[0]; c.At.String()+" "+c.Name+" "+c.Of != want {
			t.Errorf("%s: %+v", sql, c)
		}
	}
	if len(s.Catalogs) != 2 || s.Catalogs[0] != (Catalog{Pos{1, 12}, "a", ""}) || s.Catalogs[1] != (Catalog{Pos{1, 31}, "b", ""}) {
		t.Errorf("%+v", s.Catalogs)
	}
}
