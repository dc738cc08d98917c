package synth

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"
)

const stays = `
version: 1
population: {name: stays}
budget: {rho: 1000, delta: 1e-6}
price: {default: 1, maximum: 14}
tables:
  stays:
    source: {csv: stays.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 99]}
      married: {type: boolean, nullable: true}
      job: {type: text, values: [child, nurse, tailor]}
      start: {type: date, bounds: [2020-01-01, 2026-12-31]}
      end: {type: date, bounds: [2020-01-01, 2026-12-31], nullable: true}
      paid: {type: real, bounds: [0, 1000]}
      owed: {type: real, bounds: [0, 1000]}
`

// hospital returns the session of an owner of a home with stays, of which some break the constraints of the tests.
func hospital(t *testing.T, rows int) *curator.Session {
	t.Helper()
	words := splitmix.At(5)
	text := "age,married,job,start,end,paid,owed\n"
	day := func(n int) string { return time.Unix(18262*86400+int64(n)*86400, 0).UTC().Format("2006-01-02") }
	for range rows {
		age, from := words.Below(100), words.Below(2500)
		job := []string{"nurse", "tailor"}[words.Below(2)]
		if age < 20 {
			job = "child"
		}
		end := day(from + words.Below(57) - 1)
		if words.Below(10) == 0 {
			end = ""
		}
		owed := words.Below(1000)
		text += fmt.Sprintf("%d,%v,%s,%s,%s,%d,%d\n", age, words.Below(100) < age, job, day(from), end, words.Below(owed+9), owed)
	}
	c, _ := testhome.Opened(t, testhome.Files(stays, map[string]string{"stays.csv": text}), "stays")
	return c.Session()
}

var hospitalRules = []string{
	"age < 18 => NOT married", "age <= 12 => job = 'child'", "\"end\" >= start", "paid <= owed", "start <> '2024-02-29'", "age <> 33",
}

// breaks says which of the rules a row breaks. It is computed without package constraint.
func breaks(row []string) string {
	age, _ := strconv.Atoi(row[0])
	paid, _ := strconv.ParseFloat(row[5], 64)
	owed, _ := strconv.ParseFloat(row[6], 64)
	switch {
	case age < 18 && row[0] != "" && row[1] == "true":
		return "married"
	case age <= 12 && row[2] != "child":
		return "job"
	case row[4] != "" && row[4] < row[3]:
		return "end"
	case paid > owed:
		return "paid"
	case row[3] == "2024-02-29" || age == 33:
		return "<>"
	}
	return ""
}

// Every row of every method satisfies the constraints, whether the model has their tables or has no room for them.
// Tables of draws too.
func TestConstraintsHoldInEveryRow(t *testing.T) {
	c := hospital(t, 2000)
	for _, of := range []struct {
		request  Request
		modelled bool
	}{
		{Request{Method: AIM, Rho: "5", Bins: 8}, true},
		{Request{Method: MST, Rho: "5"}, true},
		{Request{Method: Independent, Rho: "0.1", Rows: 5000}, true},
		{Request{Method: MWEM, Rho: "1", Columns: []string{"age", "married", "start", "end"}, Bins: 5, Ways: []int{2}}, true},
		{Request{Cliques: [][]string{{"age", "job"}}, Rho: "1", Bins: 12, ModelBytes: 5000}, false},
	} {
		r := of.request
		r.Table, r.Constraints = "stays", hospitalRules
		if r.Method == MWEM {
			r.Constraints = []string{hospitalRules[0], hospitalRules[2], hospitalRules[4], hospitalRules[5]}
		}
		result, err := Synthesize(t.Context(), c, r)
		if err != nil {
			t.Fatal(r.Method, err)
		}
		all := true
		for _, one := range result.Plan.Constraints() {
			all = all && one.Modelled
		}
		if all != of.modelled {
			t.Errorf("%s: modelled: %v", result.Plan.Method, all)
		}
		wrong := map[string]int{}
		ages := map[string]bool{}
		for _, row := range drawn(t, result) {
			ages[row[0]] = true
			if r.Method == MWEM {
				row = append(row[:2:2], "child", row[2], row[3], "0", "0")
			}
			if why := breaks(row); why != "" {
				wrong[why]++
			}
		}
		if len(wrong) > 0 || !ages["34"] && result.Rows > 1000 {
			t.Errorf("%s: rows break %v", result.Plan.Method, wrong)
		}
		if r.Method != Independent {
			continue
		}
		draws, err := result.Draw(t.Context(), 2)
		if err != nil || draws.Inference() == "" {
			t.Fatal(err)
		}
		for _, row := range drawn(t, draws.Results[1]) {
			if why := breaks(row); why != "" {
				t.Fatalf("a row of a draw breaks %s: %v", why, row)
			}
		}
	}
}

// Constraints that no row satisfies, or that fit no column, are refused before anything is spent.
func TestBadConstraintsSpendNothing(t *testing.T) {
	c := hospital(t, 100)
	for want, all := range map[string][]string{
		"no row satisfies":   {"age < 18", "age > 20"},
		"none of 100000":     {"age > 20 => married", "paid > owed + 1000 or paid < 0 or age < 5 and job = 'child' and age > 6"},
		"there is no column": {"cost > 3"},
		"no value":           {"start < 'yesterday'"},
		"has no order":       {"job < 'nurse'"},
		"parenthesis":        {"(age > 3"},
		"at most 1000":       make([]string, 1001),
	} {
		_, err := Synthesize(t.Context(), c, Request{Table: "stays", Rho: "1", Bins: 20, Cliques: [][]string{{"age"}}, ModelBytes: 3000, Constraints: all})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", all, err)
		}
	}
	p, err := Explain(t.Context(), c, Request{Table: "stays", Rho: "1"})
	if err != nil || p.Remaining.Rho != "1000" {
		t.Errorf("%+v (%v)", p.Remaining, err)
	}
}
