package curator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The values of a public table are read once for each sealed version, and then kept beside it: no engine is asked for them again, but where what
// was kept is damaged or of something else.
func TestValuesAreKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", `
version: 1
population: {name: x}
budget: {epsilon: 300}
price: {default: 20}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      region: {type: text, values_from: regions.region}
      code: {type: integer, values_from: regions.code}
      since: {type: date, values_from: regions.since}
      open: {type: boolean, values_from: regions.open}
  regions: {public: true, source: {csv: regions.csv}, columns: {region: {type: text}, code: {type: integer}, since: {type: date}, open: {type: boolean}}}
`)
	write(t, home, "people.csv", "region,code,since,open\nnorth,1,2020-01-01,true\n")
	write(t, home, "regions.csv", "region,code,since,open\n<west & \u2028>,-1,1999-12-31,true\nsouth,3,2020-01-01,false\n\"\",9223372036854775807,2020-01-01,false\n")
	c := openHome(t, home)
	for _, table := range []string{"people", "regions"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	keys := func(c *Owner) (all string, err error) {
		for _, column := range []string{"region", "code", "since", "open"} {
			a, err := c.ask(Question{SQL: "SELECT " + column + ", COUNT(*) FROM people GROUP BY " + column})
			if err != nil {
				return "", err
			}
			for _, v := range a.plan.Keys[0].Values {
				all += column + "=" + v.String() + "|"
			}
			all += a.look.Key() + "|"
		}
		return all, nil
	}
	want, err := keys(c)
	if err != nil {
		t.Fatal(err)
	}
	without := func() *Owner {
		c := openHome(t, home)
		*inside(c).Engine = failing{}
		return c
	}
	if got, err := keys(without()); err != nil || got != want {
		t.Errorf("%v: %q, not %q", err, got, want)
	}
	files, err := filepath.Glob(filepath.Join(home, "sealed", "*", "*.values-*.json"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for i, damage := range []func(string) string{
		func(s string) string { return s[:len(s)/2] },
		func(s string) string { return strings.Replace(s, `"values":[`, `"values":[7,`, 1) },
		func(s string) string { return strings.Replace(s, `"of":"`, `"of":"0`, 1) },
		func(string) string { return "" },
	} {
		text, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[i], []byte(damage(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keys(without()); err == nil {
			t.Errorf("what is damaged was read (%d)", i)
		}
		if got, err := keys(openHome(t, home)); err != nil || got != want { // and is written again
			t.Errorf("%v: %q, not %q", err, got, want)
		}
		if _, err := keys(without()); err != nil {
			t.Error(err)
		}
	}
}

// What is kept is of the column as it was declared: with other bounds the same sealed version has other values.
func TestKeptValuesFollowTheDeclaration(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	declare := func(bounds string) *Owner {
		write(t, home, "policy.yaml", `
version: 1
population: {name: x}
budget: {epsilon: 300}
price: {default: 20}
tables:
  people: {source: {csv: people.csv}, unit: row, columns: {code: {type: integer, values_from: codes.code}}}
  codes: {public: true, source: {csv: codes.csv}, columns: {code: {type: integer`+bounds+`}}}
`)
		return openHome(t, home)
	}
	write(t, home, "people.csv", "code\n15\n")
	write(t, home, "codes.csv", "code\n1\n5\n15\n")
	c := declare(", bounds: [0, 10]")
	for _, table := range []string{"people", "codes"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, as := range [][2]string{{", bounds: [0, 10]", "1 5 10"}, {", bounds: [0, 20]", "1 5 15"}, {", values: [5, 15]", "5 15"}, {"", "1 5 15"}, {", bounds: [0, 10]", "1 5 10"}} {
		a, err := declare(as[0]).ask(Question{SQL: "SELECT code, COUNT(*) FROM people GROUP BY code"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range a.plan.Keys[0].Values {
			got = append(got, v.String())
		}
		if strings.Join(got, " ") != as[1] {
			t.Errorf("declared with %q: %v, not %s", as[0], got, as[1])
		}
	}
}
