package laboratory

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/audit"
	"dither/curator"
	"dither/internal/cli/render"
	"dither/internal/timing"
)

// shown reports whether a class is shown to be safe. The upper bound on the shift must permit as many repetitions
// as the budget pays for.
func (t timed) shown(c timing.Class) bool { return c.AtMost*math.Sqrt(t.ratio) <= audit.MostTold }

// exceeded reports whether a class is shown to be unsafe: even the lower bound on the shift forbids as many
// repetitions as the budget pays for.
func (t timed) exceeded(c timing.Class) bool { return c.AtLeast*math.Sqrt(t.ratio) > audit.MostTold }

// timingText writes one measurement as text.
func timingText(t timed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s rows; load %s before, %s after\n",
		t.Engine, curator.Thousands(t.Rows), orUnknown(t.Load[0]), orUnknown(t.Load[1]))
	g := render.Grid{Right: []bool{false, false, true, true, true, true, true, true, true, true, false, true}}
	g.Add("question", "door", "Msteps", "pairs", "ms without", "shift", "σ", "d", "d ≤",
		"d·√ratio ≤", "", "ε ≥")
	for _, c := range t.Classes {
		verdict := "not shown"
		switch {
		case t.shown(c):
			verdict = "shown: at most this"
		case t.exceeded(c):
			verdict = fmt.Sprintf("exceeded: at least %.2g", c.AtLeast*math.Sqrt(t.ratio))
		}
		g.Add(c.Name, string(c.Door), fmt.Sprintf("%.3g", float64(c.Steps)/1e6), render.Thousands(c.Pairs),
			milliseconds(c.Median[0]), milliseconds(c.Shift), milliseconds(c.Sigma),
			infinite(c.D), infinite(c.AtMost), infinite(c.AtMost*math.Sqrt(t.ratio)), verdict,
			fmt.Sprintf("%.2g", c.Epsilon))
	}
	b.WriteString(g.Text("  ") + "\n")
	return b.String()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func infinite(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.2g", x)
}

// timingWords explains the tables and states the conclusions.
func timingWords(all []timed) string {
	var b strings.Builder
	fmt.Fprintf(
		&b, "Each pair asks two made-up homes the same question, in random order. One home lacks a unit. The other has the unit\n"+
			"that makes the question take longest. %q compares two identical homes. Times are in milliseconds.\n"+
			"d is the larger of |shift|/σ and the shift that the ranks show. \"d ≤\" is its 99.9 %% upper bound. An analyst may\n"+
			"repeat a question as often as the budget allows, so d·√ratio must be at most %g. The ratio is\n"+
			"budget / price.minimum: %g here (--ratio). \"Exceeded\" means that a 99.9 %% lower bound is larger.\n"+
			"\"ε ≥\" is a 95 %% lower bound on the ε that a threshold on one time reveals. The answer itself is charged\n"+
			"ε = %s.\n",
		timing.Control, audit.MostTold, all[0].ratio, timing.Price)
	pairs := all[0].Classes[0].Pairs
	fmt.Fprintf(&b, "%s pairs can show d·√ratio ≤ %g for a ratio of at most %.0f, and 10,000 pairs for one of at most %.0f.\n",
		render.Thousands(pairs), audit.MostTold, math.Floor(audit.ReachableRepeats(pairs)),
		math.Floor(audit.ReachableRepeats(10_000)))
	charged, _ := strconv.ParseFloat(timing.Price, 64) // cannot fail: the price is a constant
	var mandatory, tells, noisy []string
	for _, t := range all {
		for _, c := range t.Classes {
			name := fmt.Sprintf("%s (%s, %s rows)", c.Name, c.Door, curator.Thousands(t.Rows))
			switch {
			case c.Name == timing.Control && !t.shown(c):
				noisy = append(noisy, name)
			case c.Name == timing.Control:
			case !t.shown(c):
				mandatory = append(mandatory, name)
			}
			if c.Epsilon > charged && c.Name != timing.Control {
				tells = append(tells, name)
			}
		}
	}
	if len(tells) > 0 {
		fmt.Fprintf(&b, "\nThe time reveals more than the answer is charged for: %s.\n"+
			"(Each of these is wrong with probability at most 0.05.)\n", strings.Join(tells, ", "))
	}
	if len(noisy) > 0 {
		b.WriteString(
			"\nEven two identical homes were not shown to be alike: the runs are too few for this ratio, or the machine is\n" +
				"too busy.\n")
	}
	if len(mandatory) > 0 {
		fmt.Fprintf(&b, "\nNot shown to be within the bound, so a policy with analysts must set answer_delay: %s.\n"+
			"`dither audit timing --calibrate` prints the line for this machine.\n", strings.Join(mandatory, ", "))
	}
	b.WriteString(
		"\nThese results hold for these questions, these rows, this machine and this load. No measurement can show that\n" +
			"the time reveals nothing. A quiet machine shows the most.\n")
	return b.String()
}

// timingCalibrationText writes the measurements of a calibration, and the line for the policy.
func timingCalibrationText(c *timing.Calibration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; load %s before, %s after\n", c.Engine, orUnknown(c.Load[0]), orUnknown(c.Load[1]))
	g := render.Grid{Right: []bool{false, true, true, true, true, true, true}}
	g.Add("question", "rows", "runs", "Msteps", "ms at most", "overhead", "ns a step")
	for _, q := range c.Quotients {
		steps, _ := q.Cost.Float64()
		g.Add(q.Name, curator.Thousands(q.Rows), render.Thousands(q.Runs), fmt.Sprintf("%.4g", steps/1e6),
			milliseconds(q.Took), milliseconds(q.Overhead), fmt.Sprintf("%.2g", q.Nanoseconds()))
	}
	fmt.Fprintf(
		&b,
		"%s\nEach time is the longest from a question's arrival to its answer, over made-up rows and one unit that makes the question\n"+
			"take longest. Its cost, in steps, is for all rows and one unit. Its overhead is its shortest time over 100 rows without\n"+
			"that unit. The factor is %d times the largest (time − overhead) / cost among questions of a billion steps or more\n"+
			"(%s). The floor is %d times the longest time that the factor does not cover.\n"+
			"A question that misses its release instant fails and stays charged. So measure a machine under its usual load, with as\n"+
			"many questions at once as it will have. rows stands for tables that declare no expected_rows: write your own number.\n\n%s\n",
		g.Text("  "),
		timing.Margin,
		c.Heaviest.Name,
		timing.Margin,
		c.Line(),
	)
	return b.String()
}
