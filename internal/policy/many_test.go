package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dither/internal/policy"
)

// survey returns the text of a policy with the given entries of columns.
func survey(entries string) []byte {
	return []byte("version: 1\npopulation: {name: p}\nbudget: {epsilon: 1}\ntables:\n  t:\n    source: {csv: t.csv}\n" +
		"    unit: row\n    columns:\n" + entries)
}

func columnNames(p *policy.Policy) (names []string) {
	for _, c := range p.Tables[0].Columns {
		names = append(names, c.Name)
	}
	return names
}

// A pattern with names means what its columns mean when they are written out.
func TestPatternsAreWrittenOut(t *testing.T) {
	var out strings.Builder
	for i := 1; i <= 300; i++ {
		fmt.Fprintf(&out, "      q%d: {type: integer, bounds: [0, 10], nullable: true}\n", i)
	}
	out.WriteString("      a08: {type: text, trim: true}\n      a09: {type: text, trim: true}\n      a10: {type: text, trim: true}\n")
	out.WriteString("      a_x: {type: text, trim: true}\n      q: {type: date}\n")
	long, err := policy.Decode(survey(out.String()), ".")
	if err != nil {
		t.Fatal(err)
	}
	short, err := policy.Decode(survey(`      "q*": {names: q1..q300, type: integer, bounds: [0, 10], nullable: true}
      "a*":
        names: [a08..a10, a_x]
        type: text
        trim: true
      q: {type: date}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	if short.Digest() != long.Digest() || !slices.Equal(columnNames(short), columnNames(long)) {
		t.Errorf("%q, want %q", columnNames(short), columnNames(long))
	}
}

func TestPatternRefusals(t *testing.T) {
	for _, c := range []struct{ entries, want string }{
		{`"q*": {names: q1..q9, type: integer}, q3: {type: text}`, "differs only in case"},
		{`q3: {type: text}, "q*": {names: [q1..q9], type: integer}`, "is declared twice"},
		{`"q*": {names: [q1, q1], type: integer}`, "is declared twice"},
		{`"Q*": {names: [Q1, QQ, Qq], type: integer}`, "is declared twice"},
		{`q: {names: [q1], type: integer}`, "names needs a pattern with *"},
		{`"q*": {names: [q1, x], type: integer}`, `"x" does not match the pattern "q*"`},
		{`"q*": {names: q9..q1, type: integer}`, "ends before it begins"},
		{`"q*": {names: q08..q123, type: integer}`, "numbers of different widths"},
		{`"q*": {names: q8..q0123, type: integer}`, "numbers of different widths"},
		{`"q*": {names: q1..q999999999, type: integer}`, "stands for more than 10000 names"},
		{`"q*": {names: [q1..q9999, q10001..q20000], type: integer}`, "at most 10000 names"},
		{`"q*": {names: {a: b}, type: integer}`, "expected one value"},
		{`"q*": {names: [q1, [q2]], type: integer}`, "expected one value"},
		{`"*": {names: "", type: integer}`, "a name must not be empty"},
		{`"q*": {names: q1..q3, type: int}`, "did you mean integer"},
		{`"q*": {names: q1..q3, values_from: no.x, type: integer}`, "there is no table"},
	} {
		_, err := policy.Decode(survey("      {"+c.entries+"}\n"), ".")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want … %s …", c.entries, err, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"q*", "q1", true},
		{"q*", "q", true},
		{"q*", "xq1", false},
		{"*_q", "a_q", true},
		{"a*b", "ab", true},
		{"a*a", "a", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "aXc", false},
		{"*a*b*", "xbxaxb", true},
		{"q", "q", true},
		{"q", "q1", false},
		{"[a]*", "[a]x", true},
		{"[a]*", "ax", false},
		{"a?*", "ab", false},
	} {
		if got := policy.Matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q matches %q: %t", c.pattern, c.name, got)
		}
	}
}

// Recording changes nothing but the entry of the pattern.
func TestRecord(t *testing.T) {
	for _, c := range []struct{ entries, want string }{
		{
			"      \"é*\": {type: integer} # comment\n",
			"      \"é*\": {names: [\"é1..é3\", \"éx\"], type: integer} # comment\n",
		},
		{
			"      \"é*\":  # comment\n        type: integer\n        bounds: [0, 10]\n",
			"      \"é*\":  # comment\n        names: [\"é1..é3\", \"éx\"]\n        type: integer\n        bounds: [0, 10]\n",
		},
		{
			"      {id: {type: integer}, \"é*\": {\n  type: integer}}\n",
			"      {id: {type: integer}, \"é*\": {names: [\"é1..é3\", \"éx\"], \n  type: integer}}\n",
		},
	} {
		at := policy.Pattern{Table: "t", Pattern: "é*"}
		got, err := policy.Record(survey(c.entries), ".", at, []string{"é1", "é2", "é3", "éx"})
		if err != nil || string(got) != string(survey(c.want)) {
			t.Errorf("%v\n%s\nwant\n%s", err, got, survey(c.want))
		}
		if _, err := policy.Record(survey(c.entries), ".", at, []string{"x1"}); err == nil {
			t.Error("names that do not match are recorded")
		}
		if _, err := policy.Record(survey(c.entries), ".", policy.Pattern{Table: "t", Pattern: "no*"}, nil); err == nil {
			t.Error("a pattern that is not there is recorded")
		}
	}
	p, err := policy.Decode(survey("      \"q*\": {type: integer}\n      a: {type: text}\n"), ".")
	if err != nil || !slices.Equal(p.Patterns(), []policy.Pattern{{Table: "t", Pattern: "q*"}}) {
		t.Errorf("%v, %v", p.Patterns(), err)
	}
}
