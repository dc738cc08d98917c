package postgres

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/policy"
)

func TestDescribe(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	pgtest.Exec(t, url, `CREATE DOMAIN age AS int; CREATE TYPE feeling AS ENUM ('sad'); CREATE DOMAIN mood AS feeling; CREATE SCHEMA "Clinic";
		CREATE TABLE "Clinic"."All visits"(id bigint, who age, cost numeric(10, 2), place point, at timestamptz, ok boolean);
		CREATE TABLE public.days(day date, dropped int, note varchar(20), id uuid, felt feeling, m mood); ALTER TABLE public.days DROP COLUMN dropped;
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
public.days: day date note text id text felt text m text 
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
	pgtest.Exec(t, url, `CREATE TABLE public.closed(a int); CREATE ROLE nobody LOGIN; CREATE ROLE closed NOLOGIN;
		DROP ROLE IF EXISTS `+pgtest.Locked+`; CREATE ROLE `+pgtest.Locked+` LOGIN PASSWORD 'correct'`)
	noTLS := fake(t, "N", 8) // the answer to a request for TLS
	onlyTLS := fake(t, refusal("28000", `no pg_hba.conf entry for host "127.0.0.1", user "me", no encryption`), 0)
	as := func(role string) string { return strings.Replace(url, "user=owner", "user="+role, 1) }
	for _, test := range []struct{ url, table, want string }{
		{"postgres://me:s3cret@127.0.0.1:1/clinic?sslmode=disable", "t", "the connection was refused"},
		{"postgres://me:s3cret@/clinic?host=/nowhere", "t", "there is no server at this socket"},
		{"postgres://me:s3cret@no-such-host.invalid/clinic?sslmode=verify-full", "t", "the server's host is unknown"},
		{"postgres://me:s3cret@127.0.0.1:notaport/clinic", "t", "the server's settings cannot be read"},
		{"postgres://me:s3cret@192.0.2.1/clinic?sslmode=disable", "t", "exact sums would travel over the network"},
		{server.URL("owner", "no_such_database"), "t", "the server has no such database"},
		{as("closed"), "t", "the server refused the login"},
		{as(pgtest.Locked) + " password=s3cret", "t", "the server refused the password: check ~/.pgpass"},
		{"postgres://me:s3cret@" + noTLS + "/clinic?sslmode=require", "t", "TLS failed: check that the server has ssl = on"},
		{"postgres://me:s3cret@" + onlyTLS + "/clinic?sslmode=disable", "t", "the server demands TLS"},
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

// fake returns the address of a server that answers the first message of each connection, and then closes it. The message
// has n bytes or, for 0, as many as its first four bytes say.
func fake(t *testing.T, answer string, n uint32) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			length := make([]byte, 4)
			if _, err := io.ReadFull(c, length); err == nil {
				rest := n
				if rest == 0 {
					rest = binary.BigEndian.Uint32(length)
				}
				_, _ = io.CopyN(io.Discard, c, int64(rest)-4)
				_, _ = io.WriteString(c, answer)
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// refusal returns the server's message for an error with this code.
func refusal(code, message string) string {
	fields := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
	return "E" + string(binary.BigEndian.AppendUint32(nil, uint32(len(fields)+4))) + fields
}
