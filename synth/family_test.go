package synth

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/testhome"
	madeup "dither/internal/town"
)

// clinic returns the session of the owner of a home with a made-up town, and its tables.
func clinic(t *testing.T, size int64, budget string) (c *curator.Session, people, visits [][]string) {
	t.Helper()
	made, err := madeup.New(size, 3)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if _, err := made.WritePeople(&a); err != nil {
		t.Fatal(err)
	}
	if _, err := made.WriteVisits(&b); err != nil {
		t.Fatal(err)
	}
	policy := strings.Replace(made.Policy(madeup.CSV), "budget:\n  epsilon: 3\nprice:\n  default: 0.1\n  maximum: 1\n", budget, 1)
	policy = strings.Replace(policy, "rows_per_unit: 30", fmt.Sprint("rows_per_unit: ", mostVisits), 1)
	o, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"people.csv": a.String(), "visits.csv": b.String()}), "people", "visits")
	return o.Session(), parsedCSV(t, a.Bytes()), parsedCSV(t, b.Bytes())
}

func parsedCSV(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// figures are statistics of persons and their visits, in shares of persons or visits.
func figures(people, visits [][]string, most int) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	add := func(name, cell string, by float64) {
		if out[name] == nil {
			out[name] = map[string]float64{}
		}
		out[name][cell] += by
	}
	type stay struct {
		n           int
		first, last string
	}
	of := map[string]*stay{}
	for _, row := range people[1:] {
		of[row[0]] = &stay{}
	}
	ages := map[string]string{}
	for _, row := range people[1:] {
		ages[row[0]] = row[1]
	}
	counted := 0.0
	for _, row := range visits[1:] {
		if s := of[row[0]]; s != nil && s.n < most {
			counted++
		}
		if s := of[row[0]]; s != nil {
			if s.n = min(s.n+1, most); s.first == "" || row[1] < s.first {
				s.first = row[1]
			}
			s.last = max(s.last, row[1])
		}
	}
	decade := func(age string) string {
		n, _ := strconv.Atoi(age)
		return strconv.Itoa(n / 20)
	}
	for _, row := range visits[1:] {
		add("department", row[2], 1/float64(len(visits)-1))
		add("department by age", row[2]+decade(ages[row[0]]), 1/float64(len(visits)-1))
		add("month", row[1][:7], 1/float64(len(visits)-1))
	}
	n := float64(len(people) - 1)
	for id, s := range of {
		add("visits of a person", strconv.Itoa(s.n), 1/n)
		add("visits by age", fmt.Sprint(min(s.n, 3))+decade(ages[id]), 1/n)
		if s.n > 0 {
			add("month of the first visit", s.first[:7], 1/n)
			add("month of the last visit", s.last[:7], 1/n)
		}
	}
	return out
}

// distance returns the total variation distance.
func distance(a, b map[string]float64) (d float64) {
	for k, v := range a {
		d += math.Abs(v-b[k]) / 2
	}
	for k, v := range b {
		if _, both := a[k]; !both {
			d += v / 2
		}
	}
	return d
}

// family synthesizes the town, checks the tables' structure and returns the distances of their statistics from the real
// ones.
func family(t *testing.T, c *curator.Session, people, visits [][]string, r FamilyRequest) map[string]float64 {
	t.Helper()
	result, err := SynthesizeFamily(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	above, below := result.Tables()
	if err := errors.Join(above.WriteCSV(&a), below.WriteCSV(&b)); err != nil {
		t.Fatal(err)
	}
	made, stays := parsedCSV(t, a.Bytes()), parsedCSV(t, b.Bytes())
	if int64(len(made)-1) != result.Parents.Rows || int64(len(stays)-1) != result.Children.Rows {
		t.Fatalf("%d persons with %d rows, instead of %d with %d", len(made)-1, len(stays)-1, result.Parents.Rows, result.Children.Rows)
	}
	if len(r.Columns) == 0 && strings.Join(stays[0], ",") != strings.Join(visits[0], ",") {
		t.Errorf("the columns are %v instead of %v", stays[0], visits[0])
	}
	number, before := map[string]int{}, map[string]string{}
	for i, row := range made[1:] {
		if row[0] != strconv.Itoa(i+1) {
			t.Fatalf("person %d has the number %s", i+1, row[0])
		}
		number[row[0]] = 0
	}
	for _, row := range stays[1:] {
		n, known := number[row[0]]
		if number[row[0]]++; !known || n+1 > mostVisits {
			t.Fatalf("row %d of person %q, who exists: %v", n+1, row[0], known)
		}
		if row[1] < before[row[0]] {
			t.Fatalf("the rows of person %s are not in order", row[0])
		}
		before[row[0]] = row[1]
	}
	out, real := map[string]float64{}, figures(people, visits, mostVisits)
	for name, v := range figures(made, stays, mostVisits) {
		out[name] = distance(real[name], v)
	}
	return out
}

const mostVisits = 6

const rich = "budget:\n  rho: 1000\n  delta: 1e-9\nprice:\n  default: 1\n  maximum: 14\n  minimum: 0.001\n"

// Persons keep the distribution of the number of their visits, and of their first and last ones, and visits depend on
// their person. The persons are numbered from 1, and their visits are in order. The figures of 2,000 persons at ρ = 60
// include some 0.02 of rounding, of bins and of the model.
func TestTownWithVisits(t *testing.T) {
	c, people, visits := clinic(t, 2000, rich)
	r := FamilyRequest{
		Request:  Request{Table: "people", Rho: "12", Bins: 12, Columns: []string{"age", "region", "smoker", "day", "department"}},
		Children: "visits",
	}
	for name, d := range family(t, c, people, visits, r) {
		t.Logf("%s: %.4f", name, d)
		if d > 0.09 {
			t.Errorf("%s: the distance is %.3f", name, d)
		}
	}
}

// Tables that do not fit together are refused before anything is spent.
func TestBadFamilies(t *testing.T) {
	c, _, _ := clinic(t, 10, rich)
	for name, of := range map[string]FamilyRequest{
		"no children":   {Request: Request{Table: "people"}},
		"itself":        {Request: Request{Table: "people"}, Children: "people"},
		"a target":      {Request: Request{Table: "people", Target: "age"}, Children: "visits"},
		"the reverse":   {Request: Request{Table: "visits"}, Children: "people"},
		"order":         {Request: Request{Table: "people"}, Children: "visits", Order: "cost"},
		"method":        {Request: Request{Table: "people", Method: MWEM}, Children: "visits"},
		"contradiction": {Request: Request{Table: "people", Columns: []string{"age", "department"}, Constraints: []string{"age > 3", "age < 3"}}, Children: "visits"},
		"of both":       {Request: Request{Table: "people", Columns: []string{"age", "department"}, Constraints: []string{"person_id > 3"}}, Children: "visits"},
		"columns":       {Request: Request{Table: "people", Columns: []string{"age", "nobody"}}, Children: "visits"},
		"no own column": {Request: Request{Table: "people", Columns: []string{"age"}}, Children: "visits"},
	} {
		of.Rho = "1"
		if _, err := SynthesizeFamily(t.Context(), c, of); err == nil {
			t.Errorf("%s is possible", name)
		}
	}
	p, err := Explain(t.Context(), c, Request{Table: "people", Rho: "1"})
	if err != nil || p.Remaining.Rho != "1000" {
		t.Errorf("%+v (%v)", p.Remaining, err)
	}
}

// TestTownFigures prints the figures of the how-to. Their limits are about twice those of one run.
func TestTownFigures(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("it takes a minute: set DITHER_LONG=1")
	}
	for _, size := range []int64{20_000, 100_000} {
		c, people, visits := clinic(t, size, rich)
		start := time.Now()
		r := FamilyRequest{
			Request: Request{
				Table: "people", Epsilon: "1", Delta: "1e-9", Bins: 12, Columns: []string{"age", "region", "smoker", "day", "department"},
			},
			Children: "visits",
		}
		for name, d := range family(t, c, people, visits, r) {
			t.Logf("%d persons, %.0f s: %s: %.4f", size, time.Since(start).Seconds(), name, d)
			if d > 0.15 {
				t.Errorf("%s: the distance is %.3f", name, d)
			}
		}
	}
}
