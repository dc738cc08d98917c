package bounds_test

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/bounds"
)

// pinned makes all noise of a test come from a seed, through the reader that the kernel's randomness comes from.
func pinned(t *testing.T, seed byte) {
	t.Helper()
	system := rand.Reader
	rand.Reader = mathrand.NewChaCha8([32]byte{seed})
	t.Cleanup(func() { rand.Reader = system })
}

// sealed makes a home from a policy and CSV files, each for a table of its name, and seals it.
func sealed(t *testing.T, policy string, files map[string]string) (*curator.Owner, string) {
	t.Helper()
	sources := map[string]string{}
	for name, text := range files {
		sources[name+".csv"] = text
	}
	return testhome.Opened(t, testhome.Files(policy, sources), slices.Sorted(maps.Keys(files))...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// examined returns the report of a doctor.
func examined(t *testing.T, owner *curator.Owner, o bounds.Options) (*bounds.Doctor, *bounds.Report) {
	t.Helper()
	d, err := bounds.New(t.Context(), owner, o)
	must(t, err)
	r, err := d.Examine(t.Context())
	must(t, err)
	return d, r
}

const shapesPolicy = `
version: 1
population: {name: shapes}
budget: {%s}
price: {default: %s}
tables:
  shapes:
    source: {csv: shapes.csv}
    unit: row
    columns:
`

// TestErrorsOfAdvisedBounds examines columns of twelve shapes in a sealed home. Under the advised bounds, typical questions
// have at most 1.2 times the least error that any bounds could give. The noise is pinned, so the test cannot fail by
// chance.
func TestErrorsOfAdvisedBounds(t *testing.T) {
	pinned(t, 1)
	const n = 60_000
	shapes := bounds.Shapes()
	r := mathrand.New(mathrand.NewPCG(5, 6))
	values, header := make([][]float64, len(shapes)), make([]string, len(shapes))
	var policy, rows strings.Builder
	fmt.Fprintf(&policy, shapesPolicy, "epsilon: 40", "0.15")
	for i, s := range shapes {
		header[i] = fmt.Sprintf("x%d", i)
		declared := ""
		if i%3 == 1 {
			declared = s.Wide
		}
		fmt.Fprintf(&policy, "      x%d: {type: %s%s}\n", i, s.Type, declared)
		values[i] = make([]float64, n)
		for j := range n {
			values[i][j] = s.Draw(r)
		}
	}
	rows.WriteString(strings.Join(header, ",") + "\n")
	for j := range n {
		for i, s := range shapes {
			if i > 0 {
				rows.WriteByte(',')
			}
			rows.WriteString(s.Text(values[i][j]))
		}
		rows.WriteByte('\n')
	}
	owner, _ := sealed(t, policy.String(), map[string]string{"shapes": rows.String()})
	ratios := make([]float64, len(shapes))
	const runs = 3
	for run := range runs {
		d, report := examined(t, owner, bounds.Options{Epsilon: []string{"2", "1.999", "1.998"}[run]})
		t.Logf("price %s", d.Price)
		for i, s := range shapes {
			k := slices.IndexFunc(report.Advice, func(a bounds.Advice) bool { return a.Column == header[i] })
			if k < 0 || report.Advice[k].Abstains {
				t.Fatalf("%s: no advice", s.Name)
			}
			a := report.Advice[k]
			better := cmp.Or(a.Better, a.Present)
			ratio, best := s.Ratio(values[i], better, math.Sqrt2/0.15)
			t.Logf("%-16s %-28s → %-28s %.3f times the error of %s", s.Name, a.Present, better, ratio, best)
			ratios[i] += ratio / runs
		}
	}
	for i, s := range shapes {
		if !(ratios[i] <= 1.2) {
			t.Errorf("%s: the mean error is %.3f times the least", s.Name, ratios[i])
		}
	}
}

// TestReplaysExamination repeats an examination. It is free and has the same releases, even after the policy has taken
// the advised bounds.
func TestReplaysExamination(t *testing.T) {
	pinned(t, 2)
	policy := fmt.Sprintf(shapesPolicy, "epsilon: 3", "0.15") + "      x: {type: real, bounds: [0, 1000000]} # amounts\n"
	rows := []string{"x"}
	r := mathrand.New(mathrand.NewPCG(7, 8))
	for range 20_000 {
		rows = append(rows, fmt.Sprintf("%.2f", 40*math.Exp(r.NormFloat64())))
	}
	owner, home := sealed(t, policy, map[string]string{"shapes": strings.Join(rows, "\n") + "\n"})
	first, report := examined(t, owner, bounds.Options{})
	if first.Free || first.Price.Epsilon != "0.15" || report.Remaining.Epsilon != "2.85" {
		t.Fatalf("price %s, remaining %s", first.Price, report.Remaining)
	}
	text, lines, err := owner.PolicyWith(report.Changes)
	must(t, err)
	if len(lines) != 1 || !strings.HasSuffix(lines[0].New[0], "# amounts") ||
		!strings.Contains(text, "x: {type: real, bounds: "+report.Advice[0].Better) {
		t.Fatalf("the policy with the advice: %+v", lines)
	}
	same := func(owner *curator.Owner, what string) {
		again, replayed := examined(t, owner, bounds.Options{})
		if !again.Free || again.Price.Epsilon != "0" || replayed.Remaining.Epsilon != "2.85" ||
			!slices.Equal(replayed.Releases, report.Releases) {
			t.Errorf("%s: %t at %s, %v", what, again.Free, again.Price, replayed.Releases)
		}
	}
	same(owner, "again")
	must(t, owner.Close())
	must(t, os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(text), 0o600))
	notes, err := curator.CheckPolicy(home)
	if err != nil {
		t.Fatal(notes, err)
	}
	owner, err = curator.Open(home)
	must(t, err)
	defer owner.Close()
	same(owner, "under the new policy")
	_, kept := examined(t, owner, bounds.Options{})
	if len(kept.Changes) > 0 {
		t.Errorf("the doctor changes its own advice: %+v", kept.Advice)
	}
}

const visitsPolicy = `
version: 1
population: {name: visitors, neighbours: %s}
budget: {%s}
price: {default: %s}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 100
    max_groups: 5
    max_rows_per_group: 50
    columns:
      person: {type: integer}
      cost: {type: real, bounds: [0, 100000]}
      ward: {type: text, values: [a, b, c, d, e, f]}
`

// visits returns the rows of made-up visitors, of whom few come very often, and the number of rows of each.
func visits(people int) (csv string, rows []int, costs []float64) {
	r := mathrand.New(mathrand.NewPCG(9, 10))
	var b strings.Builder
	b.WriteString("person,cost,ward\n")
	for p := range people {
		n := min(int(math.Pow(1-r.Float64(), -1/1.7)), 800)
		rows = append(rows, n)
		for range n {
			cost := 60 * math.Exp(0.9*r.NormFloat64())
			costs = append(costs, cost)
			fmt.Fprintf(&b, "%d,%.2f,%c\n", p, cost, 'a'+rune(r.IntN(1+r.IntN(6))))
		}
	}
	return b.String(), rows, costs
}

// TestRowsAndBoundsTogether checks the advised limit on rows of a unit together with the advised bounds. Counts, sums and
// averages have at most 1.2 times the least mean error, under Laplace and under Gaussian noise.
func TestRowsAndBoundsTogether(t *testing.T) {
	for name, c := range map[string]struct{ neighbours, budget, price string }{
		"epsilon": {"add-remove", "epsilon: 20", "0.2"},
		"rho":     {"change-one", "rho: 20, delta: 1e-9", "{rho: 0.05}"},
	} {
		t.Run(name, func(t *testing.T) {
			pinned(t, 3)
			csv, rows, costs := visits(50_000)
			owner, _ := sealed(t, fmt.Sprintf(visitsPolicy, c.neighbours, c.budget, c.price), map[string]string{"visits": csv})
			e, err := owner.Explain(t.Context(), curator.Question{SQL: "SELECT COUNT(*) FROM visits", MaxRows: "1"})
			must(t, err)
			_, report := examined(t, owner, bounds.Options{})
			got := map[string]string{}
			for _, a := range report.Advice {
				got[a.What] = cmp.Or(a.Better, a.Present)
				t.Logf("%s.%s %s: %s → %s (%s)", a.Table, a.Column, a.What, a.Present, a.Better, a.Reason)
			}
			ratio, best := bounds.RowsRatio(rows, costs, got["rows_per_unit"], got["bounds"], e.Columns[0].Expected.StdDev, name == "rho")
			t.Logf("%s rows and %s: %.3f times the error of %s", got["rows_per_unit"], got["bounds"], ratio, best)
			if !(ratio <= 1.2) {
				t.Error("the advice is too far from the best")
			}
			text, _, err := owner.PolicyWith(report.Changes)
			must(t, err)
			t.Log(text)
		})
	}
}

// TestRefusedExaminations checks that the doctor refuses a price above its share of the budget, and unknown tables.
func TestRefusedExaminations(t *testing.T) {
	policy := fmt.Sprintf(visitsPolicy, "add-remove", "epsilon: 2", "0.1")
	owner, _ := sealed(t, policy, map[string]string{"visits": "person,cost,ward\n1,2,a\n"})
	for _, o := range []bounds.Options{
		{Epsilon: "0.11"}, {Epsilon: "-1"}, {Rho: "0.01"}, {Epsilon: "x"}, {Tables: []string{"none"}},
	} {
		if _, err := bounds.New(t.Context(), owner, o); err == nil {
			t.Errorf("%+v is not refused", o)
		}
	}
	d, report := examined(t, owner, bounds.Options{Tables: []string{"VISITS"}})
	if d.Free || len(report.Changes) > 0 {
		t.Errorf("a home of one row gets advice: %+v", report)
	}
	for _, a := range report.Advice {
		if !a.Abstains || !strings.Contains(a.Reason, "too few units") {
			t.Errorf("%+v", a)
		}
	}
	b, err := owner.Budget()
	must(t, err)
	if b.Answers != 3 {
		t.Errorf("%d answers for the rows, the groups and the values", b.Answers)
	}
}

// TestReferredColumnsAreNotExamined checks that the doctor gives no advice about columns to which others refer, because
// the policy allows no bounds there.
func TestReferredColumnsAreNotExamined(t *testing.T) {
	policy := fmt.Sprintf(visitsPolicy, "add-remove", "epsilon: 2", "0.1") + `      number: {type: integer}
  lines:
    source: {csv: lines.csv}
    through: number
    references: {number: visits.number}
    rows_per_unit: 9
    columns: {number: {type: integer}, pieces: {type: integer}}
`
	owner, _ := sealed(t, policy, map[string]string{
		"visits": "person,cost,ward,number\n1,2,a,7\n", "lines": "number,pieces\n7,3\n",
	})
	_, report := examined(t, owner, bounds.Options{})
	var columns []string
	for _, a := range report.Advice {
		columns = append(columns, a.Table+"."+a.Column)
	}
	if want := []string{"visits.", "visits.cost", "visits.ward", "lines.", "lines.pieces"}; !slices.Equal(columns, want) {
		t.Errorf("examined %v, not %v", columns, want)
	}
}

// TestPricesUnderZCDP checks that under a budget in ε and δ a price may be an ε, which costs ε²/2, and is stated in ε.
func TestPricesUnderZCDP(t *testing.T) {
	policy := fmt.Sprintf(visitsPolicy, "add-remove", "epsilon: 3, delta: 1e-6", "0.1")
	owner, _ := sealed(t, policy, map[string]string{"visits": "person,cost,ward\n1,2,a\n"})
	for _, o := range []bounds.Options{{Epsilon: "1"}, {Epsilon: "0"}, {Epsilon: "-0.1"}, {Rho: "0.1"}, {Epsilon: "0.1", Rho: "0.005"}} {
		if _, err := bounds.New(t.Context(), owner, o); err == nil {
			t.Errorf("%+v is not refused", o)
		}
	}
	in, err := bounds.New(t.Context(), owner, bounds.Options{Epsilon: "0.1"})
	must(t, err)
	same, err := bounds.New(t.Context(), owner, bounds.Options{Rho: "0.005"})
	must(t, err)
	if in.Price != same.Price || in.Price.Rho > "0.005" || !strings.HasPrefix(in.Price.String(), "ε = 0.4") {
		t.Errorf("ε = 0.1 costs %s, and ρ = 0.005 costs %s", in.Price, same.Price)
	}
}

// TestExaminesOddColumns examines columns of zeros, of NULL and of one huge value among few, and names that need quotes.
// The doctor gives advice or abstains, and returns no error.
func TestExaminesOddColumns(t *testing.T) {
	pinned(t, 4)
	policy := fmt.Sprintf(shapesPolicy, "epsilon: 40, delta: 1e-6, selection_delta: 9e-7", "0.15") + `
      zero: {type: real}
      none: {type: integer, nullable: true}
      far: {type: real, bounds: [-1e29, 1e30]}
      "odd */ name": {type: integer, bounds: [5, 5]}
      at: {type: timestamp}
      word: {type: text}
      yes: {type: boolean}
`
	rows := []string{`zero,none,far,odd */ name,at,word,yes`}
	for i := range 20_000 {
		rows = append(rows, fmt.Sprintf("0,,%g,%d,2024-05-%02d 12:%02d:00,%s,t",
			[]float64{1e30, -1e28}[i%2], i%9, 1+i%31, i%60, []string{"tea", "milk, cold", "nut"}[i%3]))
	}
	for i, row := range rows {
		rows[i] = strings.Replace(row, "milk, cold", `"milk, cold"`, 1)
	}
	owner, _ := sealed(t, policy, map[string]string{"shapes": strings.Join(rows, "\n") + "\n"})
	_, report := examined(t, owner, bounds.Options{})
	want := map[string]string{"odd */ name": "[0, 8]", "word": `["milk, cold", nut, tea]`}
	for _, a := range report.Advice {
		t.Logf("%s: %s → %s, %s", a.Column, a.Present, a.Better, a.Reason)
		if better, ok := want[a.Column]; ok && a.Better != better {
			t.Errorf("%s: %s, not %s", a.Column, a.Better, better)
		}
		if a.Column == "none" != a.Abstains {
			t.Errorf("%s: abstains is %t", a.Column, a.Abstains)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Error(err)
		}
	}
	if len(report.Advice) != 6 {
		t.Errorf("advice about %d columns, not 6", len(report.Advice))
	}
	if _, _, err := owner.PolicyWith(report.Changes); err != nil {
		t.Error(err)
	}
}
