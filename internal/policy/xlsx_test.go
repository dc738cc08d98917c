package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/policy"
)

// bookText is a policy with one table for each source.
func bookText(sources ...string) []byte {
	var b strings.Builder
	b.WriteString("version: 1\npopulation: {name: p}\nbudget: {epsilon: 1}\ntables:\n")
	for i, s := range sources {
		fmt.Fprintf(&b, "  t%d:\n    source: %s\n    unit: a\n    rows_per_unit: 2\n    columns: {a: {type: integer}, b: {type: real}}\n", i, s)
	}
	return []byte(b.String())
}

func TestWorkbookSources(t *testing.T) {
	p, err := policy.Decode(bookText(`{xlsx: b.xlsx, sheet: "Data, 2025", null: [NA, ""], decimal: ","}`, `{xlsx: b.xlsx, sheet: Other}`), ".")
	if err != nil {
		t.Fatal(err)
	}
	s := p.Tables[0].Source
	if s.Format != policy.XLSX || s.Table != "Data, 2025" || !s.Dialect.Header || s.Dialect.Spelling.Decimal != "," || s.Dialect.Gzip {
		t.Errorf("%+v", s)
	}
	terms := p.Terms()
	if terms.Sources["t0"] != `xlsx:b.xlsx#"Data, 2025"` || terms.Sources["t1"] != `xlsx:b.xlsx#"Other"` {
		t.Errorf("%v", terms.Sources)
	}
	// Without a header a column is its place, so the places are terms of the promise and parts of the digest.
	placed, err := policy.Decode(bookText(`{xlsx: b.xlsx, header: false}`), ".")
	if err != nil || placed.Terms().Units["t0"] != "a integer@1≤2" {
		t.Errorf("%v, %v", placed.Terms().Units, err)
	}
	named, err := policy.Decode(bookText(`{xlsx: b.xlsx}`), ".")
	if err != nil || named.Terms().Units["t0"] != "a integer≤2" || named.Digest() == placed.Digest() {
		t.Errorf("%v, %v", named.Terms().Units, err)
	}
	sheet, err := policy.Decode(bookText(`{xlsx: b.xlsx, sheet: Other}`), ".")
	if err != nil || sheet.Digest() == named.Digest() {
		t.Errorf("the sheet is not in the digest: %v", err)
	}
}

func TestWorkbookRefusals(t *testing.T) {
	for _, c := range []struct {
		sources []string
		want    string
	}{
		{[]string{`{csv: a.csv, sheet: x}`}, "sheet: applies only to xlsx sources"},
		{[]string{`{xlsx: a.xlsx, sheet: ""}`}, "not the name of a sheet"},
		{[]string{`{xlsx: a.xlsx, delimiter: ";"}`}, "delimiter: applies only to csv sources"},
		{[]string{`{xlsx: a.xlsx, encoding: utf-16}`}, "encoding: applies only to csv sources"},
		{[]string{`{xlsx: a.xlsx, gzip: true}`}, "gzip: applies only to csv and jsonl sources"},
		{[]string{`{xlsx: a.xlsx, table: x}`}, "table: applies only to duckdb and postgres sources"},
		{[]string{`{xlsx: a.xlsx, csv: a.csv}`}, "a source is one of csv, jsonl, xlsx"},
		{[]string{`{xlsx: a.xlsx}`, `{xlsx: a.xlsx, sheet: x}`}, `tables "t0" and "t1" have the same workbook`},
		{[]string{`{xlsx: a.xlsx, sheet: x}`, `{xlsx: ./a.xlsx}`}, `tables "t0" and "t1" have the same workbook`},
		{[]string{`{xlsx: a.xlsx, sheet: x}`, `{xlsx: ./a.xlsx, sheet: x}`}, "two tables have one source"},
		{[]string{`{xlsx: a.xlsx}`, `{xlsx: a.xlsx}`}, "two tables have one source"},
	} {
		if _, err := policy.Decode(bookText(c.sources...), "."); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.sources, err, c.want)
		}
	}
}

// TestDraftsProposeByNames checks that proposals follow from names and types, and stay comments.
func TestDraftsProposeByNames(t *testing.T) {
	text, err := policy.Draft(
		policy.Sketch{Table: "patients", Source: policy.Source{Format: policy.CSV, Path: "p.csv"}, Columns: []policy.SketchColumn{
			{Name: "id", Type: 1}, {Name: "paid", Type: 2}, {Name: "zip", Type: 3},
		}},
		policy.Sketch{Table: "stays", Source: policy.Source{Format: policy.XLSX, Path: "s.xlsx", Table: "Stays"}, Columns: []policy.SketchColumn{
			{Name: "stay_no", Type: 1}, {Name: "patient_id", Type: 1}, {Name: "ward_id", Type: 3},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"by their names: id\n", "by their names: patient_id, stay_no, ward_id\n", `# references: {patient_id: "patients.id"}`,
		"# through: patient_id", "sheet: Stays\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if p := decode(t, string(text)); p.Tables[0].Unit.Column != "" || len(p.Tables[1].References) > 0 || p.Tables[1].Unit.Through != "" {
		t.Errorf("a proposal is in force: %+v", p.Tables)
	}
}
