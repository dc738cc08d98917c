package cli

import (
	"fmt"
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
		r.header = append(r.header, "asked "+timesOver(pairs))
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

func timesOver(n int) string {
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
