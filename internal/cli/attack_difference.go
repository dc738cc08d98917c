package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/internal/plot"
)

// attackDifference takes counts of nearly the same people from each other; or k-anonymous tables, simulated or published.
func (s *session) attackDifference(o *attackOptions) error {
	switch {
	case o.example || len(o.tables) > 0:
		return s.intersectTables(o)
	case o.k != "":
		return s.anonymized(o)
	}
	if err := o.without("counts: it is about --table FILE", "about", "sensitive"); err != nil {
		return err
	}
	curators, err := o.curators(1, 10)
	if err != nil {
		return err
	}
	type result struct {
		described
		Guessed []float64 `json:"guessed"`
		AtMost  *float64  `json:"at_most"`
	}
	var results []result
	asked := []int{1, 10, 100}
	r := attackReport{
		intro: "How many people have the secret? And how many of all but one? The difference is that person's secret. Both are asked\n" +
			"once or more often, in other words each time, and the attacker takes means. The secret is guessed, in " + plural(o.runs, "run") + ":",
		header: []string{"curator"}, right: []bool{false, true, true, true, true},
	}
	for _, pairs := range asked {
		r.header = append(r.header, "asked "+times(pairs))
	}
	r.header = append(r.header, "at most")
	for _, c := range curators {
		row, one := []string{c.name}, result{described: c.described()}
		for _, pairs := range asked {
			rate, err := attack.Differencing{Pairs: pairs, Runs: o.runs, Seed: o.seed}.Run(c.Curator)
			if err != nil {
				return err
			}
			row, one.Guessed = append(row, share(rate.Mean)), append(one.Guessed, rate.Mean)
		}
		if !c.epsilon.IsZero() {
			most := attack.MostGuessed(c.epsilon)
			row, one.AtMost = append(row, mostShare(most)), &most
		}
		r.rows, results = append(r.rows, row), append(results, one)
	}
	r.words = "A coin guesses 50 %. Fixed noise is averaged away. Ours divides its ε over all the answers, so that asking more often\n" +
		"tells less each time; \"at most\" is what ε leaves to any attack: e^ε/(1+e^ε). The noise of ours is real: its figures\nvary."
	r.value = map[string]any{"attack": "difference", "asked": asked, "runs": o.runs, "seed": o.seed, "curators": results}
	r.picture = func() (plot.Lines, error) {
		l := plot.Lines{
			Title: "A secret from the difference of two counts", X: "how often both are asked", Y: "share of secrets guessed", Linear: true,
			Caption: fmt.Sprintf("%s. A coin guesses 0.5. Ours divides its ε over all the answers.", plural(o.runs, "run")),
		}
		for _, c := range curators {
			line := plot.Line{Name: c.name}
			for _, pairs := range append([]int{1, 2}, steps(100, 25)...) {
				rate, err := attack.Differencing{Pairs: pairs, Runs: o.runs, Seed: o.seed}.Run(c.Curator)
				if err != nil {
					return l, err
				}
				line.Points = append(line.Points, plot.Point{X: float64(pairs), Y: rate.Mean})
			}
			l.Lines = append(l.Lines, line)
		}
		return l, nil
	}
	return s.showAttack(o, r)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// The simulated hospitals.
const (
	hospitalPatients, hospitalBoth, hospitalDiseases = 2000, 400, 20
	mostHospitalRuns                                 = 10
)

// anonymized simulates two hospitals with k-anonymous tables.
func (s *session) anonymized(o *attackOptions) error {
	if err := o.only("-k alone, which simulates two tables", "k", "runs", "seed", "plot"); err != nil {
		return err
	}
	runs := o.runs
	if !o.given["runs"] {
		runs = mostHospitalRuns
	}
	var ks []int
	for text := range strings.SplitSeq(o.k, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || len(ks) == 100 {
			return usage("-k is a list of integers, as 2,5,10, not %q", o.k)
		}
		ks = append(ks, k)
	}
	exposed := func(k int) (attack.Exposed, error) {
		return attack.Anonymized{Patients: hospitalPatients, Both: hospitalBoth, Diseases: hospitalDiseases, K: k, Runs: runs, Seed: o.seed}.Run()
	}
	type result struct {
		K    int     `json:"k"`
		One  float64 `json:"one_table"`
		Both float64 `json:"both_tables"`
	}
	var results []result
	r := attackReport{
		intro: fmt.Sprintf("Two hospitals publish a k-anonymous table each, of %d made-up patients with one of %d diseases. %d patients are\n"+
			"in both. Age and postal code tell the disease for certain of so many of these, on average of %s:",
			hospitalPatients, hospitalDiseases, hospitalBoth, plural(runs, "run")),
		header: []string{"k", "by one table", "by both"}, right: []bool{true, true, true},
		words: "Each table alone keeps its k. k-anonymity says nothing of two tables together; promises of differential privacy add up.",
	}
	for _, k := range ks {
		e, err := exposed(k)
		if err != nil {
			return err
		}
		r.rows = append(r.rows, []string{strconv.Itoa(k), share(e.One.Mean), share(e.Both.Mean)})
		results = append(results, result{k, e.One.Mean, e.Both.Mean})
	}
	r.value = map[string]any{"attack": "intersection", "runs": runs, "seed": o.seed, "exposed": results}
	r.picture = func() (plot.Lines, error) {
		l := plot.Lines{
			Title: "Patients of two hospitals whose disease is told for certain", X: "k of each table", Y: "share of the patients in both", Linear: true,
			Caption: "Each hospital's table is k-anonymous, by Mondrian.", Lines: []plot.Line{{Name: "by one table"}, {Name: "by both"}},
		}
		slices.Sort(ks)
		for _, k := range slices.Compact(ks) {
			e, err := exposed(k)
			if err != nil {
				return l, err
			}
			for i, y := range []float64{e.One.Mean, e.Both.Mean} {
				l.Lines[i].Points = append(l.Lines[i].Points, plot.Point{X: float64(k), Y: y})
			}
		}
		return l, nil
	}
	return s.showAttack(o, r)
}

// intersectTables intersects published tables for one person.
func (s *session) intersectTables(o *attackOptions) error {
	if o.example {
		if err := o.only("--example", "example", "about", "k"); err != nil {
			return err
		}
		o.sensitive = "disease"
		if o.about == "" {
			o.about = "age=34,zip=48213"
		}
	} else if err := o.only("--table", "table", "about", "sensitive", "k"); err != nil {
		return err
	}
	if o.about == "" || o.sensitive == "" {
		return usage("--table goes with --about key=value,… and --sensitive COLUMN")
	}
	known := map[string]string{}
	for pair := range strings.SplitSeq(o.about, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return usage("--about is key=value,…, as age=34,zip=48213, not %q", o.about)
		}
		if _, twice := known[key]; twice {
			return usage("--about says %s twice", key)
		}
		known[key] = strings.TrimSpace(value)
	}
	want := 0
	if o.k != "" {
		k, err := strconv.Atoi(o.k)
		if err != nil || k < 1 {
			return usage("with --table, -k is the k that the tables should keep, not %q", o.k)
		}
		want = k
	}
	var tables []*attack.Table
	var names []string
	read := func(r io.Reader) (*attack.Table, error) { return attack.ReadTable(r, o.sensitive) }
	for _, file := range o.tables {
		t, err := readFile(file, read)
		if err != nil {
			return err
		}
		tables, names = append(tables, t), append(names, filepath.Base(file))
	}
	if o.example {
		eastern, western := attack.Hospitals()
		for i, text := range [][]byte{eastern, western} {
			t, err := read(bytes.NewReader(text))
			if err != nil {
				return err
			}
			tables, names = append(tables, t), append(names, []string{"east.csv", "west.csv"}[i])
		}
	}
	found, err := attack.Intersect(tables, known)
	if err != nil {
		return err
	}
	return s.showAttack(o, intersectionReport(o, names, tables, found, want))
}

func intersectionReport(o *attackOptions, names []string, tables []*attack.Table, found attack.Intersection, want int) attackReport {
	type result struct {
		Table  string         `json:"table"`
		Rows   int            `json:"rows"`
		K      int            `json:"k"`
		Fit    int            `json:"fit"`
		Values map[string]int `json:"values"`
	}
	var results []result
	r := attackReport{
		intro:  fmt.Sprintf("What the tables tell of the %s of a person who is in all of them, of whom is known: %s.", o.sensitive, strings.ReplaceAll(o.about, ",", ", ")),
		header: []string{"table", "rows", "k", "rows that fit", "leaves"}, right: []bool{false, true, true, true, false},
	}
	var short []string
	for i, t := range tables {
		k, f := t.Anonymity(), found.Tables[i]
		if k < want {
			short = append(short, names[i])
		}
		r.rows = append(r.rows, []string{names[i], strconv.Itoa(t.Rows()), strconv.Itoa(k), strconv.Itoa(f.Rows), listed(slices.Sorted(maps.Keys(f.Values)))})
		results = append(results, result{names[i], t.Rows(), k, f.Rows, f.Values})
	}
	r.rows = append(r.rows, []string{"together", "", "", "", listed(found.Left)})
	switch len(found.Left) {
	case 0:
		r.words = "Nothing is left: the person is not in all of the tables, or not as it is known."
	case 1:
		r.words = fmt.Sprintf("One value is left: if the person is in all of the tables, it is %s.", found.Left[0])
	default:
		r.words = fmt.Sprintf("%d values are left.", len(found.Left))
	}
	r.words += "\nk is how many rows at least are alike in all columns but the sensitive one: it says nothing of several tables together."
	if want > 0 {
		r.words += fmt.Sprintf("\n%d-anonymous: ", want)
		if len(short) == 0 {
			r.words += "each of them."
		} else {
			r.words += "not " + strings.Join(short, ", ") + "."
		}
	}
	left := found.Left
	if left == nil {
		left = []string{}
	}
	r.value = map[string]any{"attack": "intersection", "tables": results, "left": left}
	return r
}

// listed is a list of values with their number, the first few written out.
func listed(values []string) string {
	const most = 6
	shown := strings.Join(values[:min(most, len(values))], ", ")
	if len(values) > most {
		shown += ", …"
	}
	if len(values) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", len(values), shown)
}
