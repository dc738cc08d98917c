package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/internal/policy"
)

// spelled returns the text of a policy with keys of a CSV source, and with keys of its unit column.
func spelled(source, column string) []byte {
	return fmt.Appendf(nil, `version: 1
population: {name: p}
budget: {epsilon: 1}
tables:
  t:
    source: {csv: t.csv%s}
    unit: id
    rows_per_unit: 2
    columns: {id: {type: text%s}, d: {type: date, nullable: true}}
`, source, column)
}

func TestSpellingIsDecoded(t *testing.T) {
	p, err := policy.Decode(spelled(`, null: ["", NA, "-", NA], encoding: Windows-1252, decimal: ",", thousands: space,
      dates: [YYYYMMDD, D.M.YYYY], booleans: {true: [Ja, "1"], false: nein}`, ", trim: true, case: lower"), ".")
	if err != nil {
		t.Fatal(err)
	}
	d := p.Tables[0].Source.Dialect
	want := &policy.Spelling{
		Encoding: policy.Windows1252, Nulls: []string{"-", "NA"}, Decimal: ",", Thousands: " ",
		Dates: []string{"D.M.YYYY", "YYYYMMDD"}, True: []string{"1", "ja"}, False: []string{"nein"},
	}
	if diff := cmp.Diff(want, d.Spelling); diff != "" || d.Null != "" {
		t.Error(diff, d.Null)
	}
	if c := p.Tables[0].Columns[0]; !c.Trim || c.Case != policy.Lower || c.Tidy("\tA B ") != "a b" {
		t.Errorf("%+v", c)
	}
	for _, usual := range []string{``, `, null: ""`, `, null: [""], encoding: UTF-8, decimal: "."`} {
		p, err := policy.Decode(spelled(usual, ", trim: false"), ".")
		if err != nil || p.Tables[0].Source.Dialect != policy.DefaultDialect("t.csv") {
			t.Errorf("%s: %v, %v", usual, p, err)
		}
	}
}

func TestSpellingRefusals(t *testing.T) {
	for _, c := range []struct{ source, column, want string }{
		{`, decimal: "'"`, "", "the decimal mark is . or ,"},
		{`, thousands: "."`, "", "the character between thousands is also the decimal mark"},
		{`, thousands: ",", decimal: ","`, "", "the character between thousands is also the decimal mark"},
		{`, thousands: "1"`, "", "the character between thousands is . , ' ’ or space"},
		{`, encoding: latin1`, "", "write windows-1252"},
		{`, encoding: ebcdic`, "", "one of utf-8, utf-16, windows-1252"},
		{`, timestamps: DD.MM.YYYY`, "", "hour hh or h, and minute mm"},
		{`, timestamps: "DD.MM.YYYY hh:mm:mm"`, "", "must have one year YYYY"},
		{`, timestamps: "DD.MM.YYYY HH:MM"`, "", "consists of YYYY"},
		{`, timestamps: "DD.MM.YYYYh:mm"`, "", "needs a separator beside M, D and h"},
		{`, timestamps: ["M/D/YYYY hh:mm", "D/M/YYYY hh:mm"]`, "", "one text could be two days"},
		{`, dates: "DD.MM.YYYY hh:mm"`, "", "consists of YYYY"},
		{`, dates: DD.MM.YY`, "", "consists of YYYY"},
		{`, dates: DD.MM`, "", "must have one year YYYY"},
		{`, dates: DD.MM.YYYY.DD`, "", "must have one year YYYY"},
		{`, dates: ""`, "", "must have one year YYYY"},
		{`, dates: YYYYMD`, "", "needs a separator beside M and D"},
		{`, dates: YYYYMMD`, "", "needs a separator beside M and D"},
		{`, dates: DD1MM1YYYY`, "", "consists of YYYY"},
		{`, dates: [DD/MM/YYYY, MM/DD/YYYY]`, "", "one text could be two days"},
		{`, dates: [YYYYMMDD, DDMMYYYY]`, "", "one text could be two days"},
		{`, booleans: {true: "0"}`, "", `"0" already means false`},
		{`, booleans: {true: ja, false: JA}`, "", `"ja" already means true`},
		{`, booleans: [ja, nein]`, "", "expected keys and values"},
		{`, null: []`, "", "expected 1 to 100 texts"},
		{`, null: ["", "a,b"]`, "", "no unquoted field can have the text"},
		{"", ", case: title", "must be lower or upper"},
		{"", ", case: Lower", "did you mean lower?"},
		{"", ", trim: yes", "expected true or false"},
	} {
		_, err := policy.Decode(spelled(c.source, c.column), ".")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want … %s …", c.source, c.column, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`source: {jsonl: t.jsonl, decimal: ","}, unit: row, columns: {a: {type: text}}`, "applies only to csv and xlsx sources"},
		{`source: {parquet: t.parquet}, unit: row, columns: {a: {type: text, trim: true}}`, "only to columns of csv, jsonl and xlsx"},
		{`source: {csv: t.csv}, unit: row, columns: {a: {type: integer, case: lower}}`, "a column of type integer has no case"},
		{`source: {csv: t.csv}, unit: row, columns: {a: {type: text, case: lower, values: [North]}}`, `write it as "north"`},
		{`source: {csv: t.csv}, unit: row, columns: {a: {type: text, trim: true, values: [" x"]}}`, `write it as "x"`},
	} {
		_, err := policy.Decode([]byte("version: 1\npopulation: {name: p}\nbudget: {epsilon: 1}\ntables: {t: {"+c.text+"}}\n"), ".")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want … %s …", c.text, err, c.want)
		}
	}
}

// Each part of a spelling is part of the digest, and an unset one is not.
func TestSpellingIsInTheDigest(t *testing.T) {
	digests := map[string]string{}
	for _, c := range [][2]string{
		{"", ""},
		{`, null: [NA]`, ""},
		{`, null: [NA, ""]`, ""},
		{`, decimal: ","`, ""},
		{`, thousands: ","`, ""},
		{`, dates: DD.MM.YYYY`, ""},
		{`, timestamps: "DD.MM.YYYY hh:mm"`, ""},
		{`, booleans: {true: ja}`, ""},
		{`, booleans: {false: ja}`, ""},
		{`, encoding: utf-16`, ""},
		{"", ", trim: true"},
		{"", ", case: lower"},
		{"", ", case: upper"},
	} {
		p, err := policy.Decode(spelled(c[0], c[1]), ".")
		if err != nil {
			t.Fatal(err)
		}
		if other, again := digests[p.Digest()]; again {
			t.Errorf("%q has the digest of %q", c, other)
		}
		digests[p.Digest()] = fmt.Sprint(c)
	}
	a, _ := policy.Decode(spelled(`, null: [NA, "-"], dates: [YYYYMMDD, DD.MM.YYYY]`, ""), ".")
	b, _ := policy.Decode(spelled(`, null: ["-", NA, NA], dates: [DD.MM.YYYY, YYYYMMDD]`, ""), ".")
	if a.Digest() != b.Digest() {
		t.Error("the digest depends on the order of a spelling's texts")
	}
}

// Trimming a unit column, or folding its case, merges units. So it cannot change once something was released.
func TestTidyUnitsCannotChange(t *testing.T) {
	old, err := policy.Decode(spelled("", ""), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{", trim: true", ", case: lower", ", trim: true, case: upper"} {
		tidy, err := policy.Decode(spelled("", column), ".")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := policy.Reread(tidy.Terms(), tidy.Terms()); err != nil {
			t.Errorf("%s: %v", column, err)
		}
		if _, _, err := policy.Reread(old.Terms(), tidy.Terms()); err == nil {
			t.Errorf("%s: the change is accepted", column)
		}
		if _, _, err := policy.Reread(tidy.Terms(), old.Terms()); err == nil {
			t.Errorf("%s: the change back is accepted", column)
		}
		// Which texts are equal without blanks and case depends on the encoding.
		latin, err := policy.Decode(spelled(", encoding: windows-1252", column), ".")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := policy.Reread(tidy.Terms(), latin.Terms()); err == nil {
			t.Errorf("%s: a change of the encoding is accepted", column)
		}
		if _, _, err := policy.Reread(latin.Terms(), latin.Terms()); err != nil {
			t.Errorf("%s: %v", column, err)
		}
	}
}
