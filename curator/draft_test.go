package curator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/draft"
	"dither/internal/policy"
)

// A draft has the names and types of its sources, and nothing that differs between tables with other rows: no bounds, no
// values and no counts. The owner adds these, so the draft says where.
func TestDraft(t *testing.T) {
	home := t.TempDir()
	drafted := func(rows string) string {
		t.Helper()
		write(t, home, "people.csv", "id,ward,cost,seen,ill\n"+rows)
		file := filepath.Join(home, "people.csv")
		text, _, err := draft.Policy(t.Context(), home, draft.Options{From: []string{file}, Unit: "id"})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := drafted("1,kestrel,2.5,2025-01-31,true\n2,osprey,7.5,2025-02-01,false\n")
	for _, want := range []string{"people:", "people.csv", "unit: id", "ward:", "type: text", "cost:", "type: real", "type: date", "type: boolean"} {
		if !strings.Contains(text, want) {
			t.Errorf("the draft lacks %q:\n%s", want, text)
		}
	}
	for _, secret := range []string{"kestrel", "osprey", "7.5", "2025-02-01"} {
		if strings.Contains(text, secret) {
			t.Errorf("the draft has %q, which is in a row:\n%s", secret, text)
		}
	}
	if other := drafted("7,east,900.25,2019-12-31,false\n"); other != text {
		t.Errorf("other rows of the same types give another draft:\n%s", other)
	}
	_, _, err := draft.Policy(t.Context(), home, draft.Options{From: []string{filepath.Join(home, "none.csv")}})
	if err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// draft.Expand records the names of the columns that match a pattern, once.
func TestDraftExpandsPatterns(t *testing.T) {
	home := t.TempDir()
	write(t, home, "survey.csv", "id,q1,q2,age\n1,3,4,50\n")
	const text = `version: 1
population: {name: survey}
budget: {epsilon: 1}
tables:
  survey:
    source: {csv: survey.csv}
    unit: row
    columns:
      "q*": {type: integer, bounds: [0, 10]}
      age: {type: integer, bounds: [0, 115]}
`
	write(t, home, policy.FileName, text)
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if draft.PatternHint(p, "survey") == "" || draft.PatternHint(p, "other") != "" {
		t.Errorf("%q, %q", draft.PatternHint(p, "survey"), draft.PatternHint(p, "other"))
	}
	notes, err := draft.Expand(t.Context(), home)
	if err != nil || len(notes) != 1 {
		t.Fatalf("%q, %v", notes, err)
	}
	if p, err = policy.Load(filepath.Join(home, policy.FileName)); err != nil {
		t.Fatal(err)
	}
	s := p.Table("survey")
	if s.Column("q1") == nil || s.Column("q2") == nil || s.Column("id") != nil || draft.PatternHint(p, "survey") != "" {
		t.Errorf("%+v", s.Columns)
	}
	before, err := os.ReadFile(filepath.Join(home, policy.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if notes, err = draft.Expand(t.Context(), home); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "no pattern") {
		t.Errorf("again: %q, %v", notes, err)
	}
	if after, err := os.ReadFile(filepath.Join(home, policy.FileName)); err != nil || string(after) != string(before) {
		t.Errorf("again: %v\n%s", err, after)
	}
	write(t, home, policy.FileName, strings.Replace(text, "q*", "z*", 1))
	var refused *draft.Error
	if _, err := draft.Expand(t.Context(), home); !errors.As(err, &refused) || !strings.Contains(refused.Message, "z*") {
		t.Errorf("a pattern without columns: %v", err)
	}
}

// draft.Doubt names the delimiter of a header that seems to be one field.
func TestDraftDoubtsDelimiters(t *testing.T) {
	home := t.TempDir()
	for header, odd := range map[string]bool{"id;age;ward": true, "id,age,ward": false, "id": false} {
		write(t, home, "people.csv", header+"\n")
		p, err := policy.Decode([]byte(`version: 1
population: {name: town}
budget: {epsilon: 1}
tables: {people: {source: {csv: people.csv}, unit: row, columns: {age: {type: integer, bounds: [0, 115]}}}}
`), home)
		if err != nil {
			t.Fatal(err)
		}
		if text := draft.Doubt(p.Table("people")); (text != "") != odd || odd && !strings.Contains(text, "delimiter") {
			t.Errorf("%s: %q", header, text)
		}
	}
}
