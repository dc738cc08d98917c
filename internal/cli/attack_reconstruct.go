package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/internal/plot"
)

// attackReconstruct reconstructs secrets from counts: published ones, or those of simulated curators.
func (s *session) attackReconstruct(o *attackOptions) error {
	fit, err := attack.ParseFit(o.fit)
	if err != nil {
		return usage("--fit is sum or max, not %q", o.fit)
	}
	if len(o.tables) > 0 {
		return s.reconstructTable(o, fit)
	}
	if err := o.without("made-up people: it is what --table FILE is compared with", "truth"); err != nil {
		return err
	}
	root := math.Sqrt(float64(max(o.people, 1)))
	curators, err := o.curators(root/4, root/2, root)
	if err != nil {
		return err
	}
	simulation := attack.Reconstruction{People: o.people, Questions: o.questions, Runs: o.runs, Fit: fit, Seed: o.seed}
	type result struct {
		described
		Recovered float64  `json:"recovered"`
		StdDev    float64  `json:"stddev"`
		AtMost    *float64 `json:"at_most"`
	}
	var results []result
	r := attackReport{
		intro: fmt.Sprintf("Each of %d made-up people has a secret bit. %s of random groups among them are published, and a linear\n"+
			"program seeks the bits that explain the answers. How many of the bits it recovers, on average of %s:",
			o.people, plural(o.questions, "count"), plural(o.runs, "run")),
		header: []string{"curator", "recovered", "± in one run", "at most"}, right: []bool{false, true, true, true},
	}
	for _, c := range curators {
		rate, err := simulation.Run(c.Curator)
		if err != nil {
			return err
		}
		row, one := []string{c.name, share(rate.Mean), share(rate.StdDev), ""}, result{c.described(), rate.Mean, rate.StdDev, nil}
		if !c.epsilon.IsZero() {
			most := attack.MostGuessed(c.epsilon)
			row[3], one.AtMost = mostShare(most), &most
		}
		r.rows, results = append(r.rows, row), append(results, one)
	}
	r.words = "A coin recovers 50 %. \"At most\" is what ε leaves to any attack, on average: e^ε/(1+e^ε). The noise of ours is real: its\n" +
		"figures vary. The others, which promise nothing, are functions of the seed."
	r.value = map[string]any{
		"attack": "reconstruct", "people": o.people, "questions": o.questions, "fit": fit.String(), "runs": o.runs, "seed": o.seed, "curators": results,
	}
	r.picture = func() (plot.Lines, error) { return reconstructionLines(simulation, curators) }
	return s.showAttack(o, r)
}

// reconstructionSteps is how many numbers of questions are drawn.
const reconstructionSteps = 16

// reconstructionLines draws what is recovered against the number of questions.
func reconstructionLines(r attack.Reconstruction, curators []simulated) (plot.Lines, error) {
	l := plot.Lines{
		Title: fmt.Sprintf("Reconstruction of %d secret bits from counts", r.People), X: "counts published", Y: "share of the bits recovered", Linear: true,
		Caption: fmt.Sprintf("Average of %s. A coin recovers 0.5. Ours divides its ε over all the counts.", plural(r.Runs, "run")),
	}
	for _, c := range curators {
		line := plot.Line{Name: c.name}
		for _, questions := range steps(r.Questions, reconstructionSteps) {
			at := r
			at.Questions = questions
			rate, err := at.Run(c.Curator)
			if err != nil {
				return l, err
			}
			line.Points = append(line.Points, plot.Point{X: float64(questions), Y: rate.Mean})
		}
		l.Lines = append(l.Lines, line)
	}
	return l, nil
}

// steps are at most n different numbers from about end/n to end, evenly spaced.
func steps(end, n int) []int {
	var out []int
	for i := 1; i <= n; i++ {
		out = append(out, max(1, end*i/n))
	}
	return slices.Compact(out)
}

// reconstructTable reconstructs from counts that somebody has published.
func (s *session) reconstructTable(o *attackOptions, fit attack.Fit) error {
	if err := o.only("--table", "table", "truth", "fit"); err != nil {
		return err
	}
	if len(o.tables) > 1 {
		return usage("attack reconstruct takes one --table")
	}
	counts, err := readFile(o.tables[0], attack.ReadCounts)
	if err != nil {
		return err
	}
	found, err := counts.Reconstruct(fit)
	if err != nil {
		return err
	}
	var right *float64
	if o.truth != "" {
		truth, err := readFile(o.truth, attack.ReadBits)
		if err != nil {
			return err
		}
		share, err := found.Recovered(truth)
		if err != nil {
			return err
		}
		right = &share
	}
	bits := make([]int, len(found.Bits))
	for i, b := range found.Bits {
		if b {
			bits[i] = 1
		}
	}
	r := attackReport{
		intro:  fmt.Sprintf("%s about %s.", plural(counts.Questions(), "published answer"), persons(counts.People())),
		header: []string{"people", "their bits, as the answers are explained best"},
		value: map[string]any{
			"attack": "reconstruct", "people": counts.People(), "questions": counts.Questions(), "fit": fit.String(), "residual": found.Residual,
			"at_least": found.AtLeast, "bits": bits, "fractions": found.Fractions, "recovered": right,
		},
	}
	const line = 50
	for from := 0; from < len(bits); from += line {
		to := min(from+line, len(bits))
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(bits[from:to]), " ", ""), "[]")
		r.rows = append(r.rows, []string{fmt.Sprintf("%d–%d", from+1, to), text})
	}
	off, each := found.Residual/float64(counts.Questions()), "on average"
	if fit == attack.LeastMax {
		off, each = found.Residual, "at most"
	}
	r.words = fmt.Sprintf("Before they are rounded to bits, fractions explain each answer but for %s %s; none explain them better\n"+
		"(certified to one part in a million). Whether the bits are right, only the truth tells.", shortPower(strconv.FormatFloat(off, 'g', 4, 64)), each)
	if right != nil {
		r.words += fmt.Sprintf(" Right are %s of them.", share(*right))
	}
	return s.showAttack(o, r)
}
