package postgres

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/policy"
)

func TestDescribe(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	pgtest.Exec(t, url, `CREATE DOMAIN age AS int; CREATE SCHEMA "Clinic";
		CREATE TABLE "Clinic"."All visits"(id bigint, who age, cost numeric(10, 2), place point, at timestamptz, ok boolean);
		CREATE TABLE public.days(day date, dropped int, note varchar(20)); ALTER TABLE public.days DROP COLUMN dropped;
		CREATE TABLE public.whole(n int) PARTITION BY RANGE (n);
		CREATE TABLE public.part PARTITION OF public.whole FOR VALUES FROM (0) TO (9);
		CREATE VIEW public.seen AS SELECT day FROM public.days`)
	tables, err := Sealer{}.Describe(t.Context(), policy.Source{}, url)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, table := range tables {
		line := table.Schema + "." + table.Table + ":"
		for _, c := range table.Columns {
			line += fmt.Sprintf(" %s %s", c.Name, c.Type)
		}
		lines = append(lines, line+" "+strings.Join(table.Skipped, ","))
	}
	const want = `Clinic.All visits: id integer who integer cost real at timestamp ok boolean place (point)
public.days: day date note text 
public.seen: day date 
public.whole: n integer `
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s", got)
	}
}

// TestTroubleIsNamed checks that the owner learns which failure it is, and never sees the password.
func TestTroubleIsNamed(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	pgtest.Exec(t, url, `CREATE TABLE public.closed(a int); CREATE ROLE nobody LOGIN; CREATE ROLE closed NOLOGIN`)
	as := func(role string) string { return strings.Replace(url, "user=owner", "user="+role, 1) }
	for _, test := range []struct{ url, table, want string }{
		{"postgres://me:s3cret@127.0.0.1:1/clinic?sslmode=disable", "t", "the connection was refused"},
		{"postgres://me:s3cret@/clinic?host=/nowhere", "t", "there is no server at this socket"},
		{"postgres://me:s3cret@no-such-host.invalid/clinic?sslmode=verify-full", "t", "the server's host is unknown"},
		{"postgres://me:s3cret@127.0.0.1:notaport/clinic", "t", "the server's settings cannot be read"},
		{"postgres://me:s3cret@192.0.2.1/clinic?sslmode=disable", "t", "exact sums would travel over the network"},
		{server.URL("owner", "no_such_database"), "t", "the server has no such database"},
		{as("closed"), "t", "the server refused the login"},
		{url, "missing", "the database has no such table"},
		{as("nobody"), "closed", "permission denied for table closed: GRANT"},
	} {
		t.Setenv("DITHER_TROUBLE", test.url)
		source := policy.Source{Format: policy.Postgres, URLEnv: "DITHER_TROUBLE", Schema: "public", Table: test.table}
		_, err := Sealer{}.Look(t.Context(), &policy.Table{
			Name: "t", Source: source, Unit: policy.Unit{}, Columns: []*policy.Column{{Name: "a", Type: 1}},
		})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v; want %q", test.table, err, test.want)
		}
	}
}
