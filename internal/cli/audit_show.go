package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"dither/audit"
	"dither/internal/plot"
)

// showAudit shows what an audit found, in words or as JSON, and draws it. Where the claim is refuted the program's exit code says so.
func (s *session) showAudit(subject string, r *audit.Report, picture string) error {
	if r.Verdict == audit.Refuted {
		s.exit = exitRefused
	}
	if s.format == "json" {
		if err := s.json(auditReport{r}); err != nil {
			return err
		}
	} else {
		s.print("%s", printableLines(auditText(subject, r)))
	}
	return s.drawAudit(r, picture)
}

// drawAudit draws what an audit found, if that was asked for.
func (s *session) drawAudit(r *audit.Report, picture string) error {
	if picture == "" {
		return nil
	}
	format, _ := plotFormat(picture)
	if err := replaceFile(picture, func(w io.Writer) error { return plot.Write(w, format, auditChart(r)) }); err != nil {
		return fmt.Errorf("the picture could not be written: %w", err)
	}
	return nil
}

// auditText is a report for a person: the verdict first, then what it rests on.
func auditText(subject string, r *audit.Report) string {
	var b strings.Builder
	b.WriteString(auditVerdict(subject, r) + "\n")
	if len(r.Findings) > 0 {
		f := r.Findings[0]
		other := f.Likely.Other()
		fmt.Fprintf(&b, "\n%s: %s\n", map[bool]string{true: "Counterexample", false: "What tells most"}[r.Verdict == audit.Refuted], f.Event)
		for _, side := range []audit.Side{f.Likely, other} {
			bound := "at least " + below(f.Low)
			if side == other {
				bound = "at most " + above(math.Min(1, f.High))
			}
			fmt.Fprintf(&b, "  on %-8s  %s of %s runs: its probability is %s\n", side, thousands(f.Counts[side]), thousands(f.Runs), bound)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", auditBounds(r))
	if len(r.Findings) > 1 {
		g := grid{right: []bool{false, true, true, true}}
		g.add("all events tested", "on data", "on neighbor", "ε at least")
		for _, f := range r.Findings {
			g.add(f.Event, thousands(f.Counts[audit.Data]), thousands(f.Counts[audit.Neighbor]), below(f.Epsilon))
		}
		b.WriteString("\n" + g.text("  "))
	}
	if len(r.Support) > 0 {
		b.WriteString("\nGrids\n")
		for _, line := range r.Support {
			b.WriteString("  " + line + "\n")
		}
	}
	if r.Timing != nil {
		b.WriteString("\nTime, which nobody promises anything of\n  " + auditTiming(r.Timing) + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString("\nNote: " + n + "\n")
	}
	return b.String()
}

// promised writes a claim.
func promised(c *audit.Claim) string {
	return fmt.Sprintf("(%s, %s)-differentially private", given(c.Epsilon.Rat()), given(c.Delta.Rat()))
}

func auditVerdict(subject string, r *audit.Report) string {
	switch r.Verdict {
	case audit.Refuted:
		return fmt.Sprintf("refuted: %s is not %s.", subject, promised(r.Claim))
	case audit.NotRefuted:
		return fmt.Sprintf("not refuted: nothing here shows that %s is not %s.\nAn audit that finds nothing has proved nothing.", subject, promised(r.Claim))
	}
	if r.Epsilon > 0 {
		return fmt.Sprintf("%s has an ε of at least %s on these two data sets.", subject, below(r.Epsilon))
	}
	return fmt.Sprintf("nothing was found that tells the two data sets apart by what %s gives.\nAn audit that finds nothing has proved nothing.", subject)
}

func auditBounds(r *audit.Report) string {
	var b strings.Builder
	at := ""
	if r.Claim != nil && !r.Claim.Delta.IsZero() {
		at = " at δ = " + given(r.Claim.Delta.Rat())
	}
	fmt.Fprintf(&b, "ε is at least %s%s; the largest bound that so many runs can show is %s.\n", below(r.Epsilon), at, below(r.Reach))
	if r.Claim != nil {
		fmt.Fprintf(&b, "δ is at least %s at ε = %s.\n", below(r.Delta), given(r.Claim.Epsilon.Rat()))
		if claimed, _ := r.Claim.Epsilon.Rat().Float64(); r.Verdict == audit.NotRefuted && r.Reach <= claimed {
			b.WriteString("So few runs cannot refute so large an ε, whatever it is that runs: ask for more.\n")
		}
	}
	fmt.Fprintf(&b, "All this holds with confidence %s, of %s runs on each side of which %s tested.",
		percent(strconv.FormatFloat(r.Confidence, 'g', -1, 64)), thousands(r.Learned+r.Tested), thousands(r.Tested))
	return b.String()
}

// auditTiming tells what was timed, in words.
func auditTiming(t *audit.Timing) string {
	text := fmt.Sprintf("a run took %s on data and %s on neighbor (medians)", shortTime(t.Median[0]), shortTime(t.Median[1]))
	text += fmt.Sprintf("; of two runs, that on data is the slower with probability %.3f ± %.3f", t.Slower, 2*t.Chance)
	if !math.IsNaN(t.Sizes) {
		text += fmt.Sprintf("; rank correlation of time with the output's size %.2f ± %.2f", t.Sizes, 2/math.Sqrt(float64(t.Runs[0]+t.Runs[1])))
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

// thousands writes an integer with its digits in groups.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// auditReport is a report as JSON.
type auditReport struct{ r *audit.Report }

// MarshalJSON writes everything that was found.
func (a auditReport) MarshalJSON() ([]byte, error) {
	r := a.r
	type claim struct {
		Epsilon json.Number `json:"epsilon"`
		Delta   json.Number `json:"delta"`
	}
	type counts struct {
		Data     int `json:"data"`
		Neighbor int `json:"neighbor"`
	}
	type finding struct {
		Event   string     `json:"event"`
		Likely  audit.Side `json:"likely"`
		Counts  counts     `json:"counts"`
		Low     float64    `json:"low"`
		High    float64    `json:"high"`
		Epsilon float64    `json:"epsilon"`
		Delta   *float64   `json:"delta"`
	}
	type part struct {
		Part string `json:"part"`
		counts
	}
	type timing struct {
		Median      map[string]float64 `json:"median_seconds"`
		Slower      float64            `json:"data_slower"`
		Chance      float64            `json:"chance"`
		Correlation *float64           `json:"size_correlation"`
	}
	out := struct {
		Verdict    audit.Verdict `json:"verdict"`
		Claim      *claim        `json:"claim"`
		Confidence float64       `json:"confidence"`
		Learned    int           `json:"learned_runs"`
		Tested     int           `json:"tested_runs"`
		Epsilon    float64       `json:"epsilon_at_least"`
		Delta      *float64      `json:"delta_at_least"`
		Reach      float64       `json:"largest_showable_epsilon"`
		Events     []finding     `json:"events"`
		Histogram  struct {
			Of    string `json:"of"`
			Runs  counts `json:"runs"`
			Parts []part `json:"parts"`
		} `json:"histogram"`
		Grids  []string `json:"grids"`
		Timing *timing  `json:"timing"`
		Notes  []string `json:"notes"`
	}{
		Verdict: r.Verdict, Confidence: r.Confidence, Learned: r.Learned, Tested: r.Tested, Epsilon: r.Epsilon, Reach: r.Reach,
		Events: []finding{}, Grids: append([]string{}, r.Support...), Notes: append([]string{}, r.Notes...),
	}
	if r.Claim != nil {
		out.Claim = &claim{json.Number(rounded(r.Claim.Epsilon.Rat())), json.Number(rounded(r.Claim.Delta.Rat()))}
		out.Delta = &r.Delta
	}
	for _, f := range r.Findings {
		g := finding{Event: f.Event, Likely: f.Likely, Counts: counts{f.Counts[0], f.Counts[1]}, Low: f.Low, High: math.Min(1, f.High), Epsilon: f.Epsilon}
		if r.Claim != nil {
			g.Delta = &f.Delta
		}
		out.Events = append(out.Events, g)
	}
	out.Histogram.Of, out.Histogram.Runs, out.Histogram.Parts = r.Shown.Of, counts{r.Shown.Runs[0], r.Shown.Runs[1]}, []part{}
	for i, p := range r.Shown.Parts {
		out.Histogram.Parts = append(out.Histogram.Parts, part{p, counts{r.Shown.Counts[0][i], r.Shown.Counts[1][i]}})
	}
	if t := r.Timing; t != nil {
		out.Timing = &timing{Median: map[string]float64{"data": t.Median[0].Seconds(), "neighbor": t.Median[1].Seconds()}, Slower: t.Slower, Chance: t.Chance}
		if !math.IsNaN(t.Sizes) {
			out.Timing.Correlation = &t.Sizes
		}
	}
	return json.Marshal(out)
}

// auditChart is the histogram of what the most telling event is about, on both sides.
func auditChart(r *audit.Report) plot.Chart {
	c := plot.Chart{
		Title: r.Verdict.String(), Key: r.Shown.Of, Groups: r.Shown.Parts, Legend: "on", Series: []string{audit.Data.String(), audit.Neighbor.String()},
		Panels: []plot.Panel{{Name: "share of the runs that events were learned from"}},
	}
	if r.Claim != nil {
		c.Title += ", as a claim: " + promised(r.Claim)
	}
	if len(r.Findings) > 0 {
		f := r.Findings[0]
		c.Caption = fmt.Sprintf("Tested on further runs: %s, %s times on data and %s on neighbor, of %s. So ε is at least %s, with confidence %s.", f.Event,
			thousands(f.Counts[0]), thousands(f.Counts[1]), thousands(f.Runs), below(f.Epsilon), percent(strconv.FormatFloat(r.Confidence, 'g', -1, 64)))
	}
	for side, counts := range r.Shown.Counts {
		marks := make([]plot.Mark, len(counts))
		for i, n := range counts {
			share := float64(n) / float64(max(1, r.Shown.Runs[side]))
			marks[i] = plot.Mark{Value: share, Low: math.NaN(), High: math.NaN(), Text: strconv.FormatFloat(share, 'g', 3, 64)}
		}
		c.Panels[0].Marks = append(c.Panels[0].Marks, marks)
	}
	return c
}
