package laboratory

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// attackDifference infers a secret from the difference of two counts whose people differ by one. With tables or
// with -k, it intersects k-anonymous tables instead.
func attackDifference(s *console.Console, o *attackOptions) error {
	switch {
	case o.example || len(o.tables) > 0:
		return intersectTables(s, o)
	case o.k != "":
		return anonymized(s, o)
	}
	if err := o.without("needs --table FILE", "about", "sensitive"); err != nil {
		return err
	}
	curators, err := o.curators(1, 10)
	if err != nil {
		return err
	}
	type result struct {
		described
		Guessed []float64 `json:"guessed"`
	}
	asked := []int{1, 10, 100}
	r := attackReport{
		intro: "One count covers everybody, another covers everybody but one person. Their difference is that person's secret bit. The\n" +
			"attacker asks for both counts once or more often, worded differently each time, averages the answers, and guesses\n" +
			"the bit. The share of right guesses in " + render.Plural(o.runs, "run") + ":",
		header: []string{"curator"},
		right:  []bool{false, true, true, true, true},
		words: "A coin is right in 50 % of the runs. Averaging removes fixed noise. Our curator divides its ε over all the answers, so\n" +
			"each of many answers reveals less. " + mostGuessedWords,
		value: map[string]any{"attack": "difference", "asked": asked, "runs": o.runs, "seed": o.seed},
	}
	for _, pairs := range asked {
		r.header = append(r.header, "asked "+timesOver(pairs))
	}
	r.header = append(r.header, "at most")
	type key struct {
		curator string
		pairs   int
	}
	measured := map[key]float64{} // reused by the picture, so that it agrees with the table
	guessed := func(c simulated, pairs int) (float64, error) {
		if y, ok := measured[key{c.name, pairs}]; ok {
			return y, nil
		}
		rate, err := attack.Differencing{Pairs: pairs, Runs: o.runs, Seed: o.seed}.Run(c.Curator)
		measured[key{c.name, pairs}] = rate.Mean
		return rate.Mean, err
	}
	if err := r.compare(curators, interpret.MostGuessed,
		func(c simulated, d described) (cells []string, _ any, err error) {
			one := result{described: d}
			for _, pairs := range asked {
				y, wrong := guessed(c, pairs)
				cells, one.Guessed, err = append(cells, share(y)), append(one.Guessed, y), errors.Join(err, wrong)
			}
			return cells, one, err
		}); err != nil {
		return err
	}
	r.picture = func() (plot.Lines, error) {
		var failed error
		return plot.Lines{
			Title: "A secret from the difference of two counts", X: "how often both are asked",
			Y: "share of secrets guessed", Linear: true,
			Caption: fmt.Sprintf("%s. A coin is right half of the time. Ours divides its ε over all the answers.",
				render.Plural(o.runs, "run")),
			Lines: drawn(curators, interpret.MostGuessed, 1, 100, func(c simulated) (points []plot.Point) {
				for _, pairs := range append([]int{1, 2, 5}, steps(100, 10)...) {
					y, err := guessed(c, pairs)
					failed = errors.Join(failed, err)
					points = append(points, plot.Point{X: float64(pairs), Y: y})
				}
				return points
			}),
		}, failed
	}
	return showAttack(s, o, r)
}

func timesOver(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// Sizes of the simulated hospitals.
const (
	hospitalPatients, hospitalBoth, hospitalDiseases = 2000, 400, 20
	hospitalRuns                                     = 10
	mostKs, mostKRuns                                = 40, 4000
)

// anonymized simulates two hospitals that publish k-anonymous tables.
func anonymized(s *console.Console, o *attackOptions) error {
	if err := o.only("cannot be used with -k, which simulates two tables", "k", "runs", "seed", "plot"); err != nil {
		return err
	}
	runs := o.runs
	if !o.given["runs"] {
		runs = hospitalRuns
	}
	var ks []int
	for text := range strings.SplitSeq(o.k, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || len(ks) == mostKs {
			return console.Usage("-k must be a list of at most %d integers, such as 2,5,10, not %q", mostKs, o.k)
		}
		ks = append(ks, k)
	}
	if runs > mostKRuns/len(ks) {
		return console.Usage("the number of values of -k times --runs must be at most %d", mostKRuns)
	}
	simulated := map[int]attack.Exposed{} // reused by the picture, so that it agrees with the table
	exposed := func(k int) (attack.Exposed, error) {
		if e, ok := simulated[k]; ok {
			return e, nil
		}
		e, err := attack.Anonymized{
			Patients: hospitalPatients, Both: hospitalBoth, Diseases: hospitalDiseases, K: k,
			Runs: runs, Seed: o.seed,
		}.Run()
		simulated[k] = e
		return e, err
	}
	type result struct {
		K    int     `json:"k"`
		One  float64 `json:"one_table"`
		Both float64 `json:"both_tables"`
	}
	var results []result
	r := attackReport{
		intro: fmt.Sprintf(
			"Two hospitals each publish a k-anonymous table of %d made-up patients with one of %d diseases. %d patients are in\n"+
				"both. The share of these whose age and postal code determine their disease, on average over %s:",
			hospitalPatients, hospitalDiseases, hospitalBoth, render.Plural(runs, "run")),
		header: []string{"k", "by one table", "by both"},
		right:  []bool{true, true, true},
		words:  "Each table alone is k-anonymous. k-anonymity promises nothing about two tables together. Promises of differential\nprivacy add up.",
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
			Title: "Patients of two hospitals whose disease is certain", X: "k of each table",
			Y: "share of the patients in both", Linear: true,
			Caption: "Each hospital's table is k-anonymous, by Mondrian.",
			Lines:   []plot.Line{{Name: "by one table"}, {Name: "by both"}},
		}
		for _, k := range drawnKs(ks) {
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
	return showAttack(s, o, r)
}

// drawnKs returns the values of k in the picture: the requested ones and those between, from 2. If there are too
// many, those between are evenly spaced.
func drawnKs(ks []int) []int {
	low, high := min(2, slices.Min(ks)), max(slices.Max(ks), 3)
	out := slices.Clone(ks)
	for i := range mostKs {
		out = append(out, low+(high-low)*i/(mostKs-1))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
