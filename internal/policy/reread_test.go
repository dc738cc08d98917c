package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

func TestTermsOfAPolicy(t *testing.T) {
	got := decode(t, string(mustRead(t, "testdata/all.yaml"))).Terms()
	want := policy.Terms{
		Population: "rand-hie", Neighbours: privacy.ChangeOne, Budget: pure(t, "3"), Maximum: pure(t, "1"),
		Units: map[string]string{
			"Visits": "person id text@3?≤5", "years": "row", "regions": "public",
			"towns": "public",
		},
		Sources: map[string]string{
			"Visits": "csv:data/randhie.csv.gz", "years": "parquet:/data/years.parquet",
			"regions": `duckdb:house.duckdb#"main_regions"`, "towns": `duckdb:house.duckdb#"towns"`,
		},
		Held: map[string]string{
			"csv:data/randhie.csv.gz": "Visits", "parquet:/data/years.parquet": "years",
			`duckdb:house.duckdb#"main_regions"`: "regions", `duckdb:house.duckdb#"towns"`: "towns",
		},
	}
	if diff := cmp.Diff(want, got, exactly); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back policy.Terms
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, back, exactly); diff != "" {
		t.Error("the ledger's copy differs:", diff)
	}
}

// terms of an add-remove population, from lines of "table unit".
func terms(t *testing.T, tables ...string) policy.Terms {
	t.Helper()
	out := policy.Terms{
		Population: "p", Neighbours: privacy.AddRemove, Budget: pure(t, "3"), Maximum: pure(t, "1"),
		Units: map[string]string{}, Sources: map[string]string{}, Held: map[string]string{},
	}
	for _, line := range tables {
		name, unit, _ := strings.Cut(line, " ")
		out.Units[name], out.Sources[name] = unit, "csv:"+name
		out.Held["csv:"+name] = name
	}
	return out
}

func TestReread(t *testing.T) {
	changeOne := func(t policy.Terms) policy.Terms { t.Neighbours = privacy.ChangeOne; return t }
	from := func(t policy.Terms, table, source string) policy.Terms {
		if t.Held[t.Sources[table]] == table {
			delete(t.Held, t.Sources[table])
		}
		t.Sources[table], t.Held[source] = source, table
		return t
	}
	know := func(table string, of value.Type, rows int64) policy.Check {
		return policy.Check{Table: table, Column: "id", Type: of, Rows: rows}
	}
	base := terms(t, "a row", "b row", "c id integer≤5", "d public")
	renamed := terms(t, "a row")
	renamed.Population, renamed.Budget, renamed.Maximum = "q", pure(t, "4"), pure(t, "0.5")
	cases := []struct {
		name      string
		old, next policy.Terms
		checked   []policy.Check
		factor    int64
		changes   string
		err       string
	}{
		{name: "nothing", old: base, next: base, factor: 1},
		{
			name: "names and prices", old: terms(t, "a row"), next: renamed, factor: 1,
			changes: "population: p → q\nbudget: ε = 3 → ε = 4\nmaximum price: ε = 1 → ε = 0.5",
		},
		{
			name: "add-remove to change-one", old: base, next: changeOne(base), factor: 2,
			changes: "neighbours: add-remove → change-one (past losses ×2)",
		},
		{
			name: "change-one to add-remove", old: changeOne(base), next: base,
			err: "cannot change neighbours from change-one to add-remove: past answers promised nothing about the number of units",
		},
		{
			name: "row to person, unknown", old: terms(t, "a row"), next: terms(t, "a id integer≤12"),
			err: "cannot change the unit of table a from row to id integer≤12: " +
				"a person may have more than 12 rows in it, and past answers counted all of them",
		},
		{
			name: "row to person, known too weakly", old: terms(t, "a row"), next: terms(t, "a id integer≤12"),
			checked: []policy.Check{
				know("a", value.Integer, 13), know("b", value.Integer, 12), know("a", value.Text, 12),
				{Table: "a", Column: "ID", Type: value.Integer, Rows: 12},
			},
			err: "cannot change the unit of table a from row to id integer≤12: " +
				"a person may have more than 12 rows in it, and past answers counted all of them",
		},
		{
			name: "row to person", old: terms(t, "a row"), next: terms(t, "a id integer≤12"),
			checked: []policy.Check{know("a", value.Integer, 11)}, factor: 12,
			changes: "table a: unit row → id integer≤12 (past losses ×12)",
		},
		{
			name: "row to person beside persons and rows", old: terms(t, "a row", "b id text≤1", "c row"),
			next:    terms(t, "a id text≤3", "b id text≤1", "c row"),
			checked: []policy.Check{know("a", value.Text, 3)}, factor: 4,
			changes: "table a: unit row → id text≤3 (past losses ×3)",
		},
		{
			name: "two tables from row to person", old: terms(t, "a row", "b row"),
			next:    terms(t, "a id text≤3", "b id text≤4"),
			checked: []policy.Check{know("a", value.Text, 3), know("b", value.Text, 4)}, factor: 7,
			changes: "table a: unit row → id text≤3 (past losses ×3)\ntable b: unit row → id text≤4 (past losses ×4)",
		},
		{
			name: "row to person, and change-one", old: terms(t, "a row"), next: changeOne(terms(t, "a id text≤3")),
			checked: []policy.Check{know("a", value.Text, 3)}, factor: 6,
			changes: "neighbours: add-remove → change-one (past losses ×2)\ntable a: unit row → id text≤3 (past losses ×3)",
		},
		{
			name: "row to person without a header", old: terms(t, "a row"), next: terms(t, "a id text@2≤3"),
			checked: []policy.Check{know("a", value.Text, 3)},
			err: "cannot change the unit of table a from row to id text@2≤3: " +
				"without a header, nothing shows that the column is the one that was sealed under its name",
		},
		{
			name: "person to row", old: terms(t, "a id text≤3"), next: terms(t, "a row"), factor: 2,
			changes: "table a: unit id text≤3 → row (past losses ×2)",
		},
		{
			name: "a larger and a smaller cap", old: terms(t, "a id text≤3", "b id text≤3"),
			next: terms(t, "a id text≤9", "b id text≤1"), factor: 1,
			changes: "table a: unit id text≤3 → id text≤9\ntable b: unit id text≤3 → id text≤1",
		},
		{
			name: "another column", old: terms(t, "a id text≤3"), next: terms(t, "a house text≤3"),
			err: "cannot change the unit of table a from id text≤3 to house text≤3: " +
				"it is not known how many old units one new unit contains",
		},
		{
			name: "another type", old: terms(t, "a id text≤3"), next: terms(t, "a id integer≤3"),
			err: "cannot change the unit of table a from id text≤3 to id integer≤3: " +
				"it is not known how many old units one new unit contains",
		},
		{
			name: "published", old: terms(t, "a row"), next: terms(t, "a public"),
			err: "cannot change the unit of table a from row to public: " +
				"its rows were promised privacy, and questions about them would be free",
		},
		{
			name: "no longer public", old: terms(t, "a public"), next: terms(t, "a id text≤3"),
			err: "cannot change the unit of table a from public to id text≤3: questions about its rows were free",
		},
		{
			name: "added and removed", old: terms(t, "a row", "b public"),
			next: terms(t, "c id text≤3", "b public"), factor: 1,
			changes: "table c: added, unit id text≤3\ntable a: removed, its charges stay",
		},
		{
			name: "another source", old: terms(t, "a row"), next: from(terms(t, "a row"), "a", "csv:b"), factor: 1,
			changes: "table a: source csv:a → csv:b",
		},
		{
			name: "renamed", old: terms(t, "a row"), next: from(terms(t, "z row"), "z", "csv:a"), factor: 1,
			changes: "table z: continues a\ntable a: removed, its charges stay",
		},
		{
			name: "a new name hides no new unit", old: terms(t, "a row"),
			next:    from(terms(t, "z id text≤3"), "z", "csv:a"),
			checked: []policy.Check{know("z", value.Text, 3)},
			err: "cannot change the unit of table z from row to id text≤3: " +
				"a person may have more than 3 rows in it, and past answers counted all of them",
		},
		{
			name: "a source that moves to another table", old: terms(t, "a row"),
			next: from(from(terms(t, "a row", "b id text≤3"), "a", "csv:new"), "b", "csv:a"),
			err: "cannot change the unit of table b from row to id text≤3: " +
				"a person may have more than 3 rows in it, and past answers counted all of them",
		},
		{
			name: "a source that moves to another table, and is known", old: terms(t, "a row"),
			next:    from(from(terms(t, "a row", "b id text≤3"), "a", "csv:new"), "b", "csv:a"),
			checked: []policy.Check{know("a", value.Text, 3)}, factor: 3,
			changes: "table a: source csv:a → csv:new\ntable b: unit row → id text≤3 (past losses ×3)\ntable b: continues a",
		},
		{
			name: "a source that was given up earlier",
			old:  from(terms(t, "a row"), "a", "csv:new").After(terms(t, "a row")),
			next: from(from(terms(t, "a row", "b public"), "a", "csv:new"), "b", "csv:a"),
			err: "cannot change the unit of table b from row to public: " +
				"its rows were promised privacy, and questions about them would be free",
		},
		{
			name: "two tables exchange their sources", old: terms(t, "a row", "b public"),
			next: from(from(terms(t, "a row", "b public"), "a", "csv:b"), "b", "csv:a"),
			err:  "cannot change the unit of table a from public to row: questions about its rows were free",
		},
		{
			name: "a source that moved is the new table's", factor: 1,
			old:  from(from(terms(t, "a row", "b id text≤3"), "a", "csv:new"), "b", "csv:a").After(terms(t, "a row")),
			next: from(from(terms(t, "a row", "b id text≤3"), "a", "csv:new"), "b", "csv:a"),
		},
		{
			name: "back with another unit", old: terms(t, "b row").After(terms(t, "a row")),
			next:    terms(t, "a id text≤3", "b row"),
			checked: []policy.Check{know("a", value.Text, 3)}, factor: 3,
			changes: "table a: unit row → id text≤3 (past losses ×3)\ntable a: added again",
		},
		{
			name: "units under change-one", old: changeOne(terms(t, "a row")), next: changeOne(terms(t, "a id text≤1")),
			checked: []policy.Check{know("a", value.Text, 1)},
			err:     "cannot change the unit of table a from row to id text≤1: change-one promises nothing about adding or removing a unit",
		},
		{
			name: "more persons under change-one", old: changeOne(terms(t, "a id text≤3")),
			next: changeOne(terms(t, "a id text≤3", "b id text≤3")),
			err: "cannot change the tables of a change-one population: " +
				"with another table of persons, replacing one person could change the number of persons in the old tables",
		},
		{name: "not a term", old: terms(t, "a rows"), next: terms(t, "a row"), err: `not the term of a unit: "rows"`},
		{name: "not a number", old: terms(t, "a row"), next: terms(t, "a id text≤0"), err: `not the term of a unit: "id text≤0"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			factor, changes, err := policy.Reread(c.old, c.next, c.checked...)
			if c.err != "" {
				if err == nil || err.Error() != c.err || factor != 0 {
					t.Fatalf("got %v, %v", factor, err)
				}
				return
			}
			if err != nil || factor != c.factor || strings.Join(changes, "\n") != c.changes {
				t.Fatalf("got ×%v, %v\n%s", factor, err, strings.Join(changes, "\n"))
			}
		})
	}
}

// What is missing can be looked up, and then the change goes through.
func TestRereadAfterTheCheck(t *testing.T) {
	old, next := terms(t, "a row", "b row"), terms(t, "a id text≤3", "b id text≤4")
	var checked []policy.Check
	for range 2 {
		_, _, err := policy.Reread(old, next, checked...)
		var refused *policy.ChangeError
		if !errors.As(err, &refused) || refused.Missing == nil {
			t.Fatal(err)
		}
		checked = append(checked, *refused.Missing)
	}
	if factor, _, err := policy.Reread(old, next, checked...); err != nil || factor != 7 {
		t.Error(factor, err)
	}
}

func TestAfterRemembersWhatWasRemoved(t *testing.T) {
	first := terms(t, "a row", "b row")
	second := terms(t, "b row").After(first)
	third := terms(t, "c row").After(second)
	if diff := cmp.Diff([]string{"a", "b"}, third.Removed); diff != "" || third.Units["a"] != "row" ||
		third.Sources["a"] != "csv:a" {
		t.Error(diff, third)
	}
	if first.Removed != nil || len(first.Units) != 2 {
		t.Error("After changed its arguments")
	}
	if back := terms(t, "a row", "c row").After(third); cmp.Diff([]string{"b"}, back.Removed) != "" {
		t.Error(back)
	}
	if factor, changes, err := policy.Reread(third, terms(t, "c row")); err != nil || factor != 1 || changes != nil {
		t.Error("what was removed before is no news:", factor, changes, err)
	}
}
