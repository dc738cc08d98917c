package laboratory

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"dither/audit"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// showAudit prints the result of an audit, as text or as JSON, and draws its picture if one is requested. A refuted
// claim sets the exit code.
func showAudit(s *console.Console, subject string, r *audit.Report, picture string) error {
	if r.Verdict == audit.Refuted {
		s.Exit = console.ExitRefused
	}
	if s.Format == "json" {
		if err := s.JSON(auditReport{r}); err != nil {
			return err
		}
	} else {
		s.Print("%s", render.PrintableLines(auditText(subject, r)))
	}
	return drawAudit(r, picture)
}

// drawAudit draws the result of an audit if a file is given.
func drawAudit(r *audit.Report, picture string) error {
	if picture == "" {
		return nil
	}
	return console.DrawFile(picture, plot.Write, auditChart(r), "")
}

// auditText writes a report as text: the verdict, then its evidence.
func auditText(subject string, r *audit.Report) string {
	var b strings.Builder
	b.WriteString(auditVerdict(subject, r) + "\n")
	if len(r.Findings) > 0 {
		f := r.Findings[0]
		other := f.Likely.Other()
		fmt.Fprintf(&b, "\n%s: %s\n", auditHeading(r), f.Event)
		for _, side := range []audit.Side{f.Likely, other} {
			bound := "at least " + render.Below(f.Low)
			if side == other {
				bound = "at most " + render.Above(math.Min(1, f.High))
			}
			fmt.Fprintf(&b, "  on %-8s  in %s of %s runs: its probability is %s\n", side, render.Thousands(f.Counts[side]),
				render.Thousands(f.Runs), bound)
		}
	}
	if len(r.Findings) > 0 && r.Findings[0].Rare > 0 && r.Findings[0].Rare == r.Findings[0].Epsilon {
		b.WriteString("  (The ε below follows from the runs with the event alone.)\n")
	}
	if len(r.Findings) > 0 && !r.Findings[0].Whole {
		b.WriteString("  (--format json shows the whole event, with its weights.)\n")
	}
	fmt.Fprintf(&b, "\n%s\n", auditBounds(r))
	if len(r.Findings) > 1 {
		g := render.Grid{Right: []bool{false, true, true, true}}
		g.Add("all events tested", "on data", "on neighbor", "ε at least")
		for _, f := range r.Findings {
			g.Add(f.Event, render.Thousands(f.Counts[audit.Data]), render.Thousands(f.Counts[audit.Neighbor]),
				render.Below(f.Epsilon))
		}
		b.WriteString("\n" + g.Text("  "))
	}
	if len(r.Support) > 0 {
		b.WriteString("\nGrids\n")
		for _, line := range r.Support {
			b.WriteString("  " + line + "\n")
		}
	}
	if r.Timing != nil {
		b.WriteString("\nRunning time, which the claim does not cover\n  " + auditTiming(r.Timing) + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString("\nNote: " + n + "\n")
	}
	return b.String()
}

// auditHeading returns the heading above the first event, which is the strongest evidence.
func auditHeading(r *audit.Report) string {
	switch {
	case r.Verdict == audit.Refuted:
		return "Counterexample"
	case r.Epsilon > 0:
		return "The most revealing event"
	}
	return "No event was shown to distinguish the two datasets. The most likely candidate"
}

// promised writes the audited claim, as "(ε, δ)-differentially private".
func promised(r *audit.Report) string {
	refuted := r.Verdict == audit.Refuted
	return fmt.Sprintf("(%s, %s)-differentially private",
		claimed(r.Claim.Epsilon.Rat(), refuted), claimed(r.Claim.Delta.Rat(), refuted))
}

// claimed writes an ε or a δ exactly if that is short. Otherwise it rounds down the number of a refuted claim and
// rounds up any other, so that the text never says more than was shown.
func claimed(r *big.Rat, refuted bool) string {
	x, _ := r.Float64()
	if text := strconv.FormatFloat(x, 'g', -1, 64); len(text) <= 20 {
		if y, ok := new(big.Rat).SetString(text); ok && y.Cmp(r) == 0 {
			return render.ShortPower(text)
		}
	}
	if refuted {
		return render.RoundedTo(6, x, func(written *big.Rat) bool { return written.Cmp(r) > 0 }, -1)
	}
	return render.Given(r)
}

// confident writes a confidence in percent with all its digits, so that a confidence below 1 is never written as
// 100 %.
func confident(x float64) string {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	if !ok {
		return "?"
	}
	digits, _ := r.Mul(r, big.NewRat(100, 1)).FloatPrec()
	return r.FloatString(digits) + " %"
}

func auditVerdict(subject string, r *audit.Report) string {
	switch r.Verdict {
	case audit.Refuted:
		return fmt.Sprintf("refuted: %s is not %s.", subject, promised(r))
	case audit.NotRefuted:
		return fmt.Sprintf(
			"not refuted: no run shows that %s is not %s.\nThis is no proof: an audit can refute a claim, and cannot prove one.",
			subject, promised(r))
	}
	if r.Epsilon > 0 {
		return fmt.Sprintf("%s has an ε of at least %s on these two datasets.", subject, render.Below(r.Epsilon))
	}
	return fmt.Sprintf(
		"no output of %s was found to distinguish the two datasets.\nThis is no proof: an audit can refute a claim, and cannot prove one.",
		subject,
	)
}

func auditBounds(r *audit.Report) string {
	var b strings.Builder
	at := ""
	if r.Claim != nil && !r.Claim.Delta.IsZero() {
		at = " at δ = " + claimed(r.Claim.Delta.Rat(), r.Verdict == audit.Refuted)
	}
	fmt.Fprintf(&b, "ε is at least %s%s. The largest bound that this number of runs can show is %s.\n",
		render.Below(r.Epsilon), at, render.Below(r.Reach))
	if r.Claim != nil {
		fmt.Fprintf(&b, "δ is at least %s at ε = %s.\n", render.Below(r.Delta),
			claimed(r.Claim.Epsilon.Rat(), r.Verdict == audit.Refuted))
		if asked, _ := r.Claim.Epsilon.Rat().Float64(); r.Verdict == audit.NotRefuted && r.Reach <= asked {
			b.WriteString("This number of runs cannot refute an ε this large for any program: raise --runs.\n")
		}
	}
	fmt.Fprintf(&b, "All of this holds with confidence %s if the runs are independent and identically distributed.\n", confident(r.Confidence))
	fmt.Fprintf(&b, "Of %s runs on each dataset, %s chose the events and %s tested them.", render.Thousands(r.Runs),
		render.Thousands(r.Learned), render.Thousands(r.Tested))
	return b.String()
}

// auditTiming describes the measured running times of the audited program.
func auditTiming(t *audit.Timing) string {
	text := fmt.Sprintf("a run took %s on data and %s on neighbor (medians)",
		shortTime(t.Median[0]), shortTime(t.Median[1]))
	text += fmt.Sprintf("; a run on data is slower than one on neighbor with probability %.3f ± %.3f", t.Slower, 2*t.Chance)
	if !math.IsNaN(t.Sizes) {
		text += fmt.Sprintf("; rank correlation of time with the output's size %.2f ± %.2f",
			t.Sizes, 2/math.Sqrt(float64(t.Runs[0]+t.Runs[1])))
	}
	return text
}

func shortTime(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// auditChart returns a histogram, for both sides, of the variable of the most informative event.
func auditChart(r *audit.Report) plot.Chart {
	c := plot.Chart{
		Title: r.Verdict.String(), Key: r.Shown.Of, Groups: r.Shown.Parts, Legend: "on",
		Series: []string{audit.Data.String(), audit.Neighbor.String()},
		Panels: []plot.Panel{{Name: "share of the runs that chose the events"}},
	}
	if r.Claim != nil {
		c.Title += ": " + promised(r)
	}
	if len(r.Findings) > 0 {
		f := r.Findings[0]
		c.Caption = fmt.Sprintf(
			"Tested on other runs: %s, %s times on data and %s times on neighbor in %s runs each. So ε is at least %s, with confidence %s.",
			f.Event,
			render.Thousands(f.Counts[0]),
			render.Thousands(f.Counts[1]),
			render.Thousands(f.Runs),
			render.Below(f.Epsilon),
			confident(r.Confidence),
		)
	}
	for side, counts := range r.Shown.Counts {
		marks := make([]plot.Mark, len(counts))
		for i, n := range counts {
			share := float64(n) / float64(max(1, r.Shown.Runs[side]))
			marks[i] = plot.Mark{
				Value: share, Low: math.NaN(), High: math.NaN(),
				Text: strconv.FormatFloat(share, 'g', 3, 64),
			}
		}
		c.Panels[0].Marks = append(c.Panels[0].Marks, marks)
	}
	return c
}
