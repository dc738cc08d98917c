package laboratory

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dither/audit/attack"
	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// attackReconstruct reconstructs secret bits from counts, which are published or come from simulated curators.
func attackReconstruct(s *console.Console, o *attackOptions) error {
	fit, err := attack.ParseFit(o.fit)
	if err != nil {
		return console.Usage("--fit must be sum or max, not %q", o.fit)
	}
	if len(o.tables) > 0 {
		return reconstructTable(s, o, fit)
	}
	if err := o.without("needs --table FILE", "truth"); err != nil {
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
		StdDev    *float64 `json:"stddev"`
	}
	r := attackReport{
		intro: fmt.Sprintf(
			"Each of %d made-up people has a secret bit. A curator publishes %s of random groups among them. A linear\n"+
				"program finds the bits that fit the answers best. The share of bits that it recovers, on average over %s:",
			o.people, render.Plural(o.questions, "count"), render.Plural(o.runs, "run")),
		header: []string{"curator", "recovered", "± in one run", "at most"}, right: []bool{false, true, true, true},
		value: map[string]any{
			"attack": "reconstruct", "people": o.people, "questions": o.questions, "fit": fit.String(), "runs": o.runs,
			"seed": o.seed,
		},
		words: "A coin recovers 50 %. " + mostGuessedWords +
			"\nThe figures of the others, which promise nothing, are functions of the seed.",
	}
	measured := map[string]float64{} // reused by the picture for the end of each line
	if err := r.compare(curators, interpret.MostGuessed, func(c simulated, d described) ([]string, any, error) {
		rate, err := simulation.Run(c.Curator)
		measured[c.name] = rate.Mean
		one := result{d, rate.Mean, nil}
		if rate.Runs > 1 {
			one.StdDev = &rate.StdDev
		}
		return []string{share(rate.Mean), spread(rate)}, one, err
	}); err != nil {
		return err
	}
	r.picture = func() (plot.Lines, error) { return reconstructionLines(simulation, curators, measured) }
	return showAttack(s, o, r)
}

// mostGuessedWords states the bound on guessing a bit, and the ε to which it applies.
const mostGuessedWords = "\"At most\" bounds the average of every attack: e^ε/(1+e^ε).\n" +
	"This ε is for changing one person's bit. dither's releases promise ε for adding or removing one person by default: then 2ε\n" +
	"takes its place here (see dither interpret). The noise of ours is fresh in each run, so its figures vary."

// reconstructionSteps is the number of points of each line in the picture.
const reconstructionSteps = 16

// reconstructionLines draws the fraction of recovered bits against the number of questions. measured holds the
// results for the largest number of questions.
func reconstructionLines(
	r attack.Reconstruction, curators []simulated, measured map[string]float64,
) (plot.Lines, error) {
	l := plot.Lines{
		Title: fmt.Sprintf("Reconstruction of %d secret bits from counts", r.People), X: "counts published",
		Y: "share of the bits recovered", Linear: true,
		Caption: fmt.Sprintf("Average of %s. A coin recovers 0.5. Ours divides its ε over all the counts.",
			render.Plural(r.Runs, "run")),
	}
	var failed error
	asked := steps(r.Questions, reconstructionSteps)
	l.Lines = drawn(curators, interpret.MostGuessed, float64(asked[0]), float64(r.Questions),
		func(c simulated) (points []plot.Point) {
			for _, questions := range asked {
				y := measured[c.name]
				if questions < r.Questions {
					at := r
					at.Questions = questions
					rate, err := at.Run(c.Curator)
					failed, y = errors.Join(failed, err), rate.Mean
				}
				points = append(points, plot.Point{X: float64(questions), Y: y})
			}
			return points
		})
	return l, failed
}

// steps returns at most n different integers, evenly spaced from about end/n to end.
func steps(end, n int) []int {
	var out []int
	for i := 1; i <= n; i++ {
		out = append(out, max(1, end*i/n))
	}
	return slices.Compact(out)
}

// reconstructTable reconstructs secret bits from published counts.
func reconstructTable(s *console.Console, o *attackOptions, fit attack.Fit) error {
	if err := o.only("cannot be used with --table", "table", "truth", "fit"); err != nil {
		return err
	}
	if len(o.tables) > 1 {
		return console.Usage("attack reconstruct takes only one --table")
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
	bits, text := make([]*int, len(found.Bits)), make([]byte, len(found.Bits))
	undecided := 0
	for i, b := range found.Bits {
		if text[i] = "01?"[b]; b == attack.Undecided {
			undecided++
			continue
		}
		bit := int(b)
		bits[i] = &bit
	}
	r := attackReport{
		intro: fmt.Sprintf("%s about %s.",
			render.Plural(counts.Questions(), "published answer"), persons(counts.People())),
		header: []string{"people", "the bits that fit the answers best"},
		value: map[string]any{
			"attack": "reconstruct", "people": counts.People(), "questions": counts.Questions(), "fit": fit.String(),
			"residual": found.Residual,
			"at_least": found.AtLeast, "drawn_in": counts.DrawnIn(), "bits": bits, "fractions": found.Fractions,
			"recovered": right,
		},
	}
	const line = 50
	for from := 0; from < len(bits); from += line {
		to := min(from+line, len(bits))
		r.rows = append(r.rows, []string{fmt.Sprintf("%d–%d", from+1, to), string(text[from:to])})
	}
	questions, each := float64(counts.Questions()), "on average"
	if fit == attack.LeastMax {
		questions, each = 1, "at most"
	}
	off, better := found.Residual/questions, math.Max(0, found.Residual-found.AtLeast)/questions
	r.words = fmt.Sprintf(
		"Before they are rounded to bits, the fractions differ from each answer by %s %s. No other fractions are closer by\n"+
			"more than %s: this is certified, up to rounding. Others may be as close. Only --truth can show whether the bits are right.",
		render.ShortPower(strconv.FormatFloat(off, 'g', 4, 64)), each, render.DigitsAbove(better, 1))
	if n := counts.DrawnIn(); n > 0 {
		r.words += fmt.Sprintf("\n%s below −%d or above %d, and replaced by that bound: no count is near.",
			was(n, "answer"), counts.People(), 2*counts.People())
	}
	if undecided > 0 {
		r.words += fmt.Sprintf("\n%s undecided (?): the fraction is ½.", was(undecided, "bit"))
	}
	if right != nil {
		r.words += fmt.Sprintf("\n%s of the bits are right", share(*right))
		if undecided > 0 {
			r.words += "; an undecided bit counts half"
		}
		r.words += "."
	}
	return showAttack(s, o, r)
}

// was writes a number of things with the verb "was" or "were".
func was(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return render.Plural(n, thing) + " were"
}
