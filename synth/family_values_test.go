package synth

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

// lessons is a home of pupils with lessons. Towns and teachers have no declared values.
func lessons(t *testing.T) *curator.Session {
	t.Helper()
	policy := strings.Replace(pupils, "HELD", "town: {type: text}", 1)
	policy = strings.Replace(policy, "passed: {type: boolean}", "passed: {type: boolean}\n      teacher: {type: text, nullable: true}", 1)
	above, below := "pupil,born,weight,town\n", "pupil,day,mark,passed,teacher\n"
	for i := range 2000 {
		above += fmt.Sprintf("%d,%d,%d.5,%s\n", i, 1990+i%20, 30+i%50, []string{"Oslo", "Rome", "Bergen", "Lund"}[i%4])
		for k := range i % 5 { // a teacher of each town, and none for some
			below += fmt.Sprintf("%d,2024-%02d-01,%d,%t,%s\n", i, 1+(i+k)%12, (i*7+k*31)%1000, k%2 == 0, []string{"Ann", "Bo", "", "Cy"}[i%4])
		}
	}
	o, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"pupils.csv": above, "tests.csv": below}), "pupils", "tests")
	return o.Session()
}

func lessonsRequest() FamilyRequest {
	return FamilyRequest{Children: "tests", Request: Request{
		Table: "pupils", Rho: "60", Bins: 4, Columns: []string{"town", "teacher", "born", "mark"},
		Values:   map[string][]string{"town": {"Oslo", "Rome"}, "teacher": {"Ann", "Bo"}},
		Workload: questionsOf("SELECT COUNT(*) FROM pupils WHERE born < 2000 AND town = 'Oslo'", "SELECT SUM(mark) FROM tests WHERE teacher = 'Ann'"),
	}}
}

// Known values are those of the model of their table, and of the persons' columns in the model of the rows. All other texts are
// "other", and NULL stays NULL. Each question of the workload is measured in the model of its table.
func TestFamilyHasValuesAndAWorkload(t *testing.T) {
	c := lessons(t)
	result, err := SynthesizeFamily(t.Context(), c, lessonsRequest())
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[*Result][]string{result.Parents: {"born", "town"}, result.Children: {"mark", "teacher"}} {
		if !slices.ContainsFunc(of.Measured, func(m Measured) bool {
			columns := slices.Sorted(slices.Values(m.Columns))
			return slices.Equal(columns, want)
		}) {
			t.Errorf("%v was not measured: %+v", want, of.Measured)
		}
	}
	above, below := familyCSV(t, result)
	town := map[string]string{}
	for _, row := range parsedCSV(t, above)[1:] {
		if town[row[0]] = row[2]; row[2] != "Oslo" && row[2] != "Rome" && row[2] != Other {
			t.Errorf("a pupil lives in %q", row[2])
		}
	}
	share, all := map[string]int{}, parsedCSV(t, below)[1:]
	for _, row := range all {
		share[row[2]]++
	}
	for _, teacher := range []string{"Ann", "Bo", "", Other} { // a quarter each, with noise of a thousandth
		if s := float64(share[teacher]) / float64(len(all)); s < 0.2 || s > 0.3 {
			t.Errorf("teacher %q has %.2f of the tests: %v", teacher, s, share)
		}
	}
	for name, change := range map[string]func(r *FamilyRequest){
		"other table": func(r *FamilyRequest) {
			r.Workload = questionsOf("SELECT COUNT(*) FROM pupils, tests WHERE pupils.pupil = tests.pupil")
		},
		"unknown column": func(r *FamilyRequest) { r.Values = map[string][]string{"nobody": {"a"}} },
		"number":         func(r *FamilyRequest) { r.Values["born"] = []string{"1990"} },
		"twice":          func(r *FamilyRequest) { r.Values["town"] = []string{"Oslo", "Oslo"} },
		"unit":           func(r *FamilyRequest) { r.Values["pupil"] = []string{"1"} },
		"omitted":        func(r *FamilyRequest) { r.Workload = questionsOf("SELECT COUNT(*) FROM tests WHERE passed") },
		"private edges":  func(r *FamilyRequest) { r.PrivateEdges = []string{"mark"} },
	} {
		r := lessonsRequest()
		if change(&r); name == "omitted" {
			r.Columns = []string{"born", "mark"}
			r.Values = nil
		}
		if _, err := SynthesizeFamily(t.Context(), c, r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What two tables have measured makes rows, free, and the same marginals and shapes. What an interrupted synthesis has measured
// of the persons alone makes none, and neither do releases of other columns, limits or values.
func TestFamilyFromReleases(t *testing.T) {
	c := lessons(t)
	r := lessonsRequest()
	r.Workload, r.Method, r.Columns = nil, MST, append(r.Columns, "weight")
	ctx, cancel := context.WithCancel(t.Context())
	r.Watch = func(p Progress) {
		if p.Share >= 0.2 {
			cancel()
		}
	}
	_, err := SynthesizeFamily(ctx, c, r)
	if err == nil {
		t.Fatal("not cancelled")
	}
	release := regexp.MustCompile(`r[0-9]+`).FindString(err.Error())
	from := func(release string, change func(r *FamilyRequest)) (*FamilyResult, error) {
		q := r
		q.Watch, q.Method, q.Rho, q.From = nil, "", "", []string{release}
		if change != nil {
			change(&q)
		}
		return SynthesizeFamily(t.Context(), c, q)
	}
	if _, err := from(release, nil); err == nil {
		t.Error("rows of persons alone were made")
	}
	r.Watch, r.Resume = nil, true
	result, err := SynthesizeFamily(t.Context(), c, r)
	if err != nil || result.Parents.Release != release {
		t.Fatalf("%+v, %v, and not %s", result, err, release)
	}
	r.Resume = false
	again, err := from(release, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][2]*Result{{result.Parents, again.Parents}, {result.Children, again.Children}} {
		var measured [2][]string
		for i, one := range of {
			for _, m := range one.Measured {
				measured[i] = append(measured[i], fmt.Sprintf("%q %d %.6g %v", m.Columns, m.Cells, m.StdDev, m.Shape))
			}
			slices.Sort(measured[i])
		}
		if !slices.Equal(measured[0], measured[1]) || of[1].Plan.Method != Recorded {
			t.Errorf("measured were %q, and recorded are %q", measured[0], measured[1])
		}
	}
	above, below := familyCSV(t, again)
	if n := len(parsedCSV(t, above)); n < 1900 || n > 2100 || len(parsedCSV(t, below)) < 3500 {
		t.Errorf("%d persons", n)
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "60" {
		t.Errorf("%v is spent, %v", b.Spent, err)
	}
	for name, change := range map[string]func(r *FamilyRequest){
		"bins":    func(r *FamilyRequest) { r.Bins = 6 },
		"values":  func(r *FamilyRequest) { r.Values = map[string][]string{"town": {"Rome"}, "teacher": {"Ann", "Bo"}} },
		"columns": func(r *FamilyRequest) { r.Columns = []string{"town", "teacher", "born"} },
		"price":   func(r *FamilyRequest) { r.Rho = "1" },
		"method":  func(r *FamilyRequest) { r.Method = MST },
		"private": func(r *FamilyRequest) { r.PrivateEdges = []string{"mark"} },
		"other":   func(r *FamilyRequest) { r.From = []string{"r1"} },
	} {
		if _, err := from(release, change); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func familyCSV(t *testing.T, r *FamilyResult) (above, below []byte) {
	t.Helper()
	var a, b bytes.Buffer
	persons, rows := r.Tables()
	if err := persons.WriteCSV(&a); err != nil {
		t.Fatal(err)
	}
	if err := rows.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes()
}
