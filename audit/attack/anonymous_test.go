package attack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Of each published value, what it may be, what it cannot, and what is not understood of it and so kept.
func TestCovers(t *testing.T) {
	for _, c := range []struct{ published, yes, no, unsure string }{
		{"28", "28 28.0 +28", "29", "x"},
		{"*", "28 anything", "", ""},
		{"", "28 anything", "", ""},
		{"?", "28 anything", "", ""},
		{"NA", "28 anything", "", ""},
		{"n/a", "28 anything", "", ""},
		{"130**", "13053 13000", "1405", "1305 130533 130"},
		{"1305*", "13053", "13063", "1305 130533"},
		{"ab*", "abc", "bcd", "ABC abcd"},
		{"20-29", "20 29 24.5", "19 30 29.01 -20", "x"},
		{"-5--1", "-5 -3 -1", "0 5 -6", ""},
		{"20–29", "20 29", "30", ""},
		{"20..29", "20 29", "30", ""},
		{"20to29", "20 29", "30", ""},
		{"[20,30)", "20 29.9", "30 19", ""},
		{"(20; 30]", "20.1 30", "20 31", ""},
		{"[90,)", "90 1000", "89", ""},
		{"(-inf,20]", "20 -1000", "21", ""},
		{"(90,∞)", "91", "90", ""},
		{"<30", "29 -1", "30 31", ""},
		{">=40", "40 41", "39", ""},
		{"90+", "90 104", "89", ""},
		{"90 +", "90", "89", ""},
		{"≤3", "3 2", "4", ""},
		{">3", "4", "3", ""},
		{"{flu, cold}", "flu cold", "gout {flu", "Flu 5"},
		{"{[20,30),40}", "20 29 40", "30 39 41", ""},
		{"{{1,2},3}", "1 2 3", "4", ""},
		{"flu|20-29", "flu 25", "", "gout 30"},
		{"[20,30)|40", "25 40", "30", ""},
		{"{{{{{1}}}}}", "", "", "1 2"},
		{"{}", "", "", "5 x"},
		{"Asian", "Asian", "european", "asian 5"},
		{"90 and over", "", "x", "90 5"},
		{"29-20", "", "x", "25"},
		{"2020-05", "2020-05", "2020-06", "2020"},
		{"~30", "", "", "30 50 x"},
		{"[30,20)", "", "", "25"},
		{"1*5", "", "", "115"},
	} {
		for v, list := range map[verdict]string{yes: c.yes, no: c.no, unsure: c.unsure} {
			for _, known := range strings.Fields(list) {
				if got := covers(c.published, known); got != v {
					t.Errorf("%q of %q: %d, want %d", c.published, known, got, v)
				}
			}
		}
	}
}

// What the sensitive values of two tables leave together, whichever comes first.
func TestSensitiveSets(t *testing.T) {
	table := func(values ...string) *Table {
		text := "age,disease\n"
		for _, v := range values {
			text += "30,\"" + v + "\"\n"
		}
		out, err := ReadTable(strings.NewReader(text), "disease")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		one, other string
		left       string // in either order
		certain    bool
		unread     string
	}{
		{"flu;cold", "{flu,gout}", "flu", true, ""},
		{"{flu,cold}", "{cold,gout}", "cold", true, ""},
		{"{flu,cold}", "*", "cold;flu", false, ""},
		{"*", "flu", "flu", true, ""},
		{"*", "*", "*", false, ""},
		{"", "?", "*", false, ""},
		{"*;flu", "gout", "gout", true, ""},
		{"flu", "gout", "", false, ""},
		{"20-29", "25-35", "20-29 and 25-35 or 25-35 and 20-29", false, ""},
		{"20-29", "29-35", "29", true, ""},
		{"2-2.5", "2.5-3", "2.5", true, ""},
		{"20-29", "30-35", "", false, ""},
		{"20-29", "27", "27", true, ""},
		{"[20,30)", "30", "", false, ""},
		{"<30", "[20,50]", "<30 and [20,50] or [20,50] and <30", false, ""},
		{"<30", "[20,25]", "[20,25]", false, ""},
		{"28", "28.0", "28 or 28.0", true, ""},
		{"j1*", "j12", "j12", true, ""},
		{"j1*", "j2*", "", false, ""},
		{"j1**", "j12*", "j12*", false, ""},
		{"flu", "Flu", "Flu or flu", true, "Flu;flu"},
		{"5", "five", "five or 5", true, "5;five"},
		{"~30", "30;x", "30;x", false, "30;x;~30"},
	} {
		tables := []*Table{table(strings.Split(c.one, ";")...), table(strings.Split(c.other, ";")...)}
		for range 2 {
			found, err := Intersect(tables, map[string]string{"age": "30"})
			got, unread := strings.Join(found.Left, ";"), strings.Join(found.Unread, ";")
			if err != nil || !slices.Contains(strings.Split(c.left, " or "), got) || found.Certain != c.certain ||
				unread != c.unread {
				t.Errorf("%s and %s: %q, certain %v, not understood %q (%v)",
					c.one, c.other, got, found.Certain, unread, err)
			}
			slices.Reverse(tables)
		}
	}
}

// What is not understood of a person excludes nothing, and is told.
func TestUnreadIsKept(t *testing.T) {
	one, err := ReadTable(strings.NewReader("age,zip,disease\nabout 30,1*,flu\n30-39,1*,gout\nabout 50,2*,cold\n"),
		"disease")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Intersect([]*Table{one}, map[string]string{"age": "34", "zip": "12"})
	if err != nil || !slices.Equal(found.Left, []string{"flu", "gout"}) ||
		!slices.Equal(found.Unread, []string{"about 30"}) || found.Certain || found.Tables[0].Rows != 2 {
		t.Errorf("%+v (%v)", found, err)
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
	if err != nil || !slices.Equal(found.Left, []string{"hepatitis"}) || len(found.Tables[0].Values) != 4 ||
		found.Tables[1].Rows != 5 {
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
	for _, tables := range [][]*Table{nil, {nil}, {{}}, {tables[0], nil}, slices.Repeat(tables, MostTables)} {
		if _, err := Intersect(tables, map[string]string{"age": "1"}); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
	if (*Table)(nil).Anonymity() != 0 || (&Table{}).Anonymity() != 0 {
		t.Error("no rows are alike")
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "no rows",
		"age,disease\n":           "no rows",
		"age,zip\n1,2\n":          "line 1: there is no column \"disease\"; the columns are age, zip",
		"disease\nflu\n":          "only the sensitive column",
		"age,age,disease\n1,2,3":  "a unique name that is not empty, unlike \"age\"",
		"age,,disease\n1,2,3":     "a unique name that is not empty, unlike \"\"",
		"age,disease\n1,flu\n1\n": "line 3 has 1 fields, but the first line has 2",
		strings.Repeat("a,", 300): "a unique name",
	} {
		if _, err := ReadTable(strings.NewReader(text), "disease"); !errors.Is(err, ErrTable) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Two tables expose many whom neither exposes alone, the more the smaller k is; each part of a table has k rows, and
// parts do not overlap.
func TestAnonymized(t *testing.T) {
	last := 1.0
	for _, k := range []int{2, 5, 20} {
		got, err := Anonymized{Patients: 2000, Both: 400, Diseases: 20, K: k, Runs: 3, Seed: 1}.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("k = %d: %.3f, together %.3f", k, got.One.Mean, got.Both.Mean)
		if got.Both.Mean < got.One.Mean || got.Both.Mean > last || k == 5 &&
			(got.One.Mean > 0.01 || got.Both.Mean < 0.05) {
			t.Errorf("k = %d: %+v", k, got)
		}
		last = got.Both.Mean
	}
	s := newStream(7)
	people := make([]patient, 1000)
	for i := range people {
		people[i] = patient{[2]int{youngest + s.Below(ages), s.Below(codes)}, i % 64}
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
		func(a *Anonymized) { a.K = 0 }, func(a *Anonymized) { a.K = 11 }, func(a *Anonymized) { a.Diseases = 65 },
		func(a *Anonymized) { a.Runs = 0 },
	} {
		bad := good
		change(&bad)
		if _, err := bad.Run(); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Forms that are made of numbers mean what they were made to: yes and no are right, whatever the numbers are. What is
// not understood is never a no.
func FuzzCovers(f *testing.F) {
	f.Add(20, 29, 25, "flu")
	f.Add(-5, -1, 0, "{a,b|c}")
	f.Add(0, 0, 0, "~30")
	f.Fuzz(func(t *testing.T, a, b, x int, text string) {
		low, high := min(a, b), max(a, b)
		for published, want := range map[string]bool{
			fmt.Sprintf("%d", a):                       x == a,
			fmt.Sprintf("%d-%d", low, high):            low <= x && x <= high,
			fmt.Sprintf("%d .. %d", low, high):         low <= x && x <= high,
			fmt.Sprintf("[%d,%d]", low, high):          low <= x && x <= high,
			fmt.Sprintf("[%d,)", a):                    x >= a,
			fmt.Sprintf("(,%d)", a):                    x < a,
			fmt.Sprintf("<%d", a):                      x < a,
			fmt.Sprintf("≥%d", a):                      x >= a,
			fmt.Sprintf("%d+", a):                      x >= a,
			fmt.Sprintf("{%d,>%d}", a, b):              x == a || x > b,
			fmt.Sprintf("%d|(%d,inf)", a, b):           x == a || x > b,
			fmt.Sprintf("{[%d,%d],<%d}", low, high, a): low <= x && x <= high || x < a,
		} {
			if got := covers(published, fmt.Sprint(x)); got != no && got != yes || (got == yes) != want {
				t.Errorf("%d in %s: %d, want %v", x, published, got, want)
			}
		}
		if low < high {
			if got := covers(fmt.Sprintf("[%d,%d)", low, high), fmt.Sprint(x)); (got == yes) != (low <= x && x < high) {
				t.Errorf("%d in [%d,%d): %d", x, low, high, got)
			}
		}
		if digits := strconv.Itoa(max(0, x)); covers(digits[:len(digits)-1]+"*", digits) != yes {
			t.Errorf("%s is not in its pattern", digits)
		}
		// Any text: it is in itself and in anything, and is excluded by a number only as a number, a span, a pattern or
		// a set.
		if covers("*", text) != yes || covers(text, text) != yes ||
			covers("{"+text+"}", strings.TrimSpace(text)) == no && !strings.ContainsAny(text, "()[]{},|") {
			t.Errorf("%q is not in itself", text)
		}
		if v := covers(text, fmt.Sprint(x)); v == no && !strings.ContainsAny(text, "0123456789*") {
			t.Errorf("%q excludes %d", text, x)
		}
	})
}
