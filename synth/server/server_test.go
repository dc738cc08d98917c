package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/testhome"
	"dither/synth"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// made returns a synthetic table with all types, NULL and awkward texts.
func made(t *testing.T) *synth.Result {
	t.Helper()
	policy := `
version: 1
population: {name: p}
budget: {epsilon: 100}
price: {default: 1, maximum: 100}
tables:
  odd "names":
    source: {csv: t.csv}
    unit: row
    columns:
      n: {type: integer, bounds: [0, 9], nullable: true}
      x: {type: real, bounds: [-1, 1]}
      "t, o": {type: text, values: ["it's", 'a "b"', "c\\d", ""], nullable: true}
      b: {type: boolean}
      day: {type: date, bounds: [2025-01-01, 2025-12-31]}
      at: {type: timestamp, bounds: [2025-01-01 00:00:00, 2025-01-02 00:00:00]}
      clock: {type: time, bounds: ["00:00:00", "23:59:59"]}
`
	text := "n,x,\"t, o\",b,day,at,clock\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,0.5,%s,true,2025-03-0%d,2025-01-01 10:00:00,11:30\n", i%10, []string{`it's`, `"a ""b"""`, `c\d`, `""`}[i%4], 1+i%9)
	}
	c, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"t.csv": text}), `odd "names"`)
	r, err := synth.Synthesize(t.Context(), c.Session(), synth.Request{Table: `odd "names"`, Method: synth.Independent, Epsilon: "2", Rows: 3000})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The server has the rows with their types, in a table whose comment says that it is synthetic. A second table of the
// name is refused, and a failure leaves none.
func TestWrite(t *testing.T) {
	s := pgtest.Start(t)
	of := s.URL("owner", s.Database(t))
	r := made(t)
	config, err := pgconn.ParseConfig(of)
	if err != nil {
		t.Fatal(err)
	}
	target := &Target{config: config, names: []string{"public", "made up"}}
	if err := target.Check(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := target.Write(t.Context(), r.Table()); err != nil {
		t.Fatal(err)
	}
	c, err := pgconn.Connect(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	ask := func(sql string) string {
		t.Helper()
		results, err := c.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, row := range results[0].Rows {
			for _, v := range row {
				out += string(v) + "|"
			}
		}
		return out
	}
	var first []string
	nulls := 0
	if err := r.Each(func(row []string, null []bool) error {
		if first == nil && !null[0] && !null[2] {
			first = append(first, row...)
		}
		if null[2] {
			nulls++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := ask(`SELECT count(*), count(*) FILTER (WHERE "t, o" IS NULL) FROM "made up"`); got != fmt.Sprintf("3000|%d|", nulls) {
		t.Errorf("%s rows, with %d NULLs", got, nulls)
	}
	if got := ask(`SELECT count(*) > 0 FROM "made up" WHERE "t, o" = ''`); got != "t|" {
		t.Error("no empty text: ", got)
	}
	same := fmt.Sprintf(`SELECT count(*) > 0 FROM "made up" WHERE n = %s AND x = %s AND "t, o" = '%s' AND day = '%s' AND at = '%s'`,
		first[0], first[1], strings.ReplaceAll(first[2], "'", "''"), first[4], first[5])
	if got := ask(same); got != "t|" {
		t.Errorf("%v is missing", first)
	}
	want := "bigint|double precision|text|boolean|date|timestamp without time zone|time without time zone|"
	if got := ask(`SELECT data_type FROM information_schema.columns WHERE table_name = 'made up' ORDER BY ordinal_position`); got != want {
		t.Error(got)
	}
	if got := ask(`SELECT obj_description('"made up"'::regclass)`); !strings.HasPrefix(got, "synthetic: ") {
		t.Error(got)
	}
	if err := target.Check(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "made up") {
		t.Errorf("a second table: %v", err)
	}
	if err := target.Write(t.Context(), r.Table()); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a second table: %v", err)
	}
	if got := ask(`SELECT count(*) FROM "made up"`); got != "3000|" {
		t.Error("the table changed: ", got)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	other := &Target{config: config}
	if err := other.Write(stopped, r.Table()); err == nil {
		t.Error("a cancelled context writes")
	}
	if got := ask(`SELECT count(*) FROM pg_class WHERE relname = 'odd "names"'`); got != "0|" {
		t.Error("a table is left: ", got)
	}
}

// No message has a part of the URL.
func TestPasswordsStaySecret(t *testing.T) {
	for _, text := range []string{
		"postgres://me:s3cret@127.0.0.1:1/db#t", "postgres://me:s3cret@[::1/db", "postgres://me:s3cret@h:port/db", "postgres://me:s3cret@h/db?sslmode=s3cret",
		"postgres://me:s3cret@h/db#a.b.c", "postgres://me:s3cret@h/db#.", "mysql://me:s3cret@h/db",
	} {
		target, err := Parse(text)
		if err == nil {
			err = target.Check(t.Context(), "t")
			if strings.Contains(target.String()+target.Describe(&synth.Table{Name: "t"}), "s3cret") {
				t.Errorf("%s is described", text)
			}
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
