package attack

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct{ published, yes, no string }{
		{"28", "28 28.0", "29 x"},
		{"*", "28 anything", ""},
		{"130**", "13053 13000", "1305 130533 13153 130"},
		{"1305*", "13053", "13063 1305"},
		{"20-29", "20 29 24.5", "19 30 29.01 -20 x"},
		{"-5--1", "-5 -3 -1", "0 5 -6"},
		{"20–29", "20 29", "30"},
		{"20..29", "20 29", "30"},
		{"[20,30)", "20 29.9", "30 19"},
		{"(20; 30]", "20.1 30", "20 31"},
		{"<30", "29 -1", "30 31"},
		{">=40", "40 41", "39"},
		{"≤3", "3 2", "4"},
		{">3", "4", "3"},
		{"{flu, cold}", "flu cold", "gout {flu"},
		{"flu|20-29", "flu 25", "gout 30"},
		{"Asian", "Asian", "asian"},
	} {
		for _, known := range strings.Fields(c.yes) {
			if !covers(c.published, known) {
				t.Errorf("%s is not in %s", known, c.published)
			}
		}
		for _, known := range strings.Fields(c.no) {
			if covers(c.published, known) {
				t.Errorf("%s is in %s", known, c.published)
			}
		}
	}
}

// Each of the example's tables keeps its k and leaves several diseases; together they leave one.
func TestHospitals(t *testing.T) {
	eastern, western := Hospitals()
	var tables []*Table
	for i, text := range [][]byte{eastern, western} {
		table, err := ReadTable(bytes.NewReader(text), "disease")
		if err != nil {
			t.Fatal(err)
		}
		if k := table.Anonymity(); k != 4+i {
			t.Errorf("table %d is %d-anonymous", i, k)
		}
		tables = append(tables, table)
	}
	found, err := Intersect(tables, map[string]string{"age": "34", "zip": "48213"})
	if err != nil || !slices.Equal(found.Left, []string{"hepatitis"}) || len(found.Tables[0].Values) != 4 || found.Tables[1].Rows != 5 {
		t.Errorf("%+v (%v)", found, err)
	}
	found, err = Intersect(tables, map[string]string{"age": "34", "zip": "99999"})
	if err != nil || len(found.Left) != 0 || found.Tables[0].Rows != 0 {
		t.Errorf("%+v (%v)", found, err)
	}
	for _, known := range []map[string]string{nil, {"name": "ann"}, {"disease": "flu"}} {
		if _, err := Intersect(tables, known); !errors.Is(err, ErrParameter) {
			t.Errorf("%v: %v", known, err)
		}
	}
	if _, err := Intersect(nil, map[string]string{"age": "1"}); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "no rows",
		"age,disease\n":           "no rows",
		"age,zip\n1,2\n":          "line 1: there is no column \"disease\"; there are age, zip",
		"disease\nflu\n":          "no column but",
		"age,age,disease\n1,2,3":  "a name of its own, not \"age\"",
		"age,,disease\n1,2,3":     "a name of its own, not \"\"",
		"age,disease\n1,flu\n1\n": "line 3 has 1 fields, the first has 2",
		strings.Repeat("a,", 300): "a name of its own",
	} {
		if _, err := ReadTable(strings.NewReader(text), "disease"); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Two tables expose many whom neither exposes alone, the more the smaller k is; each part of a table has k rows, and parts do not
// overlap.
func TestAnonymized(t *testing.T) {
	last := 1.0
	for _, k := range []int{2, 5, 20} {
		got, err := Anonymized{Patients: 2000, Both: 400, Diseases: 20, K: k, Runs: 3, Seed: 1}.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("k = %d: %.3f, together %.3f", k, got.One.Mean, got.Both.Mean)
		if got.Both.Mean < got.One.Mean || got.Both.Mean > last || k == 5 && (got.One.Mean > 0.01 || got.Both.Mean < 0.05) {
			t.Errorf("k = %d: %+v", k, got)
		}
		last = got.Both.Mean
	}
	s := newStream(7)
	people := make([]patient, 1000)
	for i := range people {
		people[i] = patient{[2]int{youngest + s.below(ages), s.below(codes)}, i % 64}
	}
	parts := map[uint64]int{}
	for i, told := range anonymize(people, 7) {
		if parts[told]++; told>>people[i].disease&1 == 0 {
			t.Errorf("%d: its own disease is not told", i)
		}
	}
	for told, size := range parts {
		if size < 7 {
			t.Errorf("a part %x of %d", told, size)
		}
	}
	good := Anonymized{Patients: 10, Both: 5, Diseases: 3, K: 2, Runs: 1}
	for _, change := range []func(*Anonymized){
		func(a *Anonymized) { a.Patients = 0 }, func(a *Anonymized) { a.Both = 0 }, func(a *Anonymized) { a.Both = 11 },
		func(a *Anonymized) { a.K = 0 }, func(a *Anonymized) { a.K = 11 }, func(a *Anonymized) { a.Diseases = 65 }, func(a *Anonymized) { a.Runs = 0 },
	} {
		bad := good
		change(&bad)
		if _, err := bad.Run(); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func FuzzCovers(f *testing.F) {
	f.Add("20-29", "25")
	f.Add("{a,b|c}", "c")
	f.Fuzz(func(t *testing.T, published, known string) {
		if !covers("*", known) || !covers(known, known) {
			t.Errorf("%q is not in itself", known)
		}
		covers(published, known)
	})
}
