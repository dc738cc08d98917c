package statistics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// tested is a test with the texts that are printed beside it.
type tested struct {
	*hypothesis.Test
	about     string // one sentence that states the hypothesis
	header    []string
	rows      [][]string // table of counts
	estimated string     // name of the estimated quantity
	release   *released
}

// intervalJSON is the JSON form of an interval. An infinite end is null.
type intervalJSON struct {
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence float64  `json:"confidence"`
}

type testJSON struct {
	Test        string        `json:"test"`
	Statistic   *float64      `json:"statistic"`
	DF          *int          `json:"df"`
	Denominator *float64      `json:"df_denominator,omitempty"`
	PValue      float64       `json:"p_value"`
	Method      string        `json:"method"`
	Null        string        `json:"null_distribution"`
	Simulations int           `json:"simulations,omitempty"`
	Alternative string        `json:"alternative"`
	N           *float64      `json:"n"`
	NKnown      bool          `json:"n_known"`
	Estimate    *float64      `json:"estimate"`
	Interval    *intervalJSON `json:"interval"`
	Warnings    []string      `json:"warnings"`
	// what bounds the rows that the test is about
	Limits     *curator.Limits     `json:"bounds,omitempty"`
	Truncation *curator.Truncation `json:"truncation,omitempty"`
	Release    *releaseJSON        `json:"release,omitempty"`
}

type releaseJSON struct {
	ID        string `json:"id"`
	Price     string `json:"price"`
	Remaining string `json:"remaining"`
	Replayed  bool   `json:"replayed"`
}

func intervalOf(i hypothesis.Interval) *intervalJSON {
	if i.Confidence == 0 {
		return nil
	}
	return &intervalJSON{render.NumberOrNull(i.Low), render.NumberOrNull(i.High), i.Confidence}
}

// MarshalJSON writes the test in the form that docs/reference/json.md documents.
func (t tested) MarshalJSON() ([]byte, error) {
	out := testJSON{
		Test: t.Name, Statistic: render.NumberOrNull(t.Statistic), PValue: t.P, Method: string(t.Method), Null: t.Null,
		Simulations: t.Simulations, Alternative: t.Alternative,
		N: render.NumberOrNull(t.N), NKnown: t.Known, Estimate: render.NumberOrNull(t.Estimate),
		Interval: intervalOf(t.Interval), Warnings: t.warned(),
	}
	if t.DF > 0 {
		out.DF = &t.DF
	}
	if t.Denominator > 0 {
		out.Denominator = &t.Denominator
	}
	if r := t.release; r != nil {
		out.Limits, out.Truncation = r.Limits, r.Truncation
		out.Release = &releaseJSON{r.ID, r.Price.String(), r.Remaining.String(), r.Replayed}
	}
	return json.Marshal(out)
}

// warned returns the warnings of the test and of its release.
func (t tested) warned() []string {
	out := append([]string{}, t.Warnings...)
	if t.release != nil {
		out = append(out, t.release.warnings()...)
	}
	return out
}

func showTest(s *console.Console, t tested) error {
	switch s.Format {
	case "json":
		return s.JSON(t)
	case "markdown":
		s.Print("%s\n\n", render.MarkdownText(t.about))
		if len(t.rows) > 0 {
			s.Print("%s\n", render.MarkdownTable(t.header, numbersAfter(t.header), t.rows))
		}
		s.Print("%s\n%s", render.MarkdownTable([]string{"", ""}, []bool{false, true}, t.summary()),
			render.MarkdownParagraphs(strings.Join(t.words(), "\n\n")))
		s.Print("\n")
		return nil
	}
	s.Print("%s\n\n", render.Printable(t.about))
	if len(t.rows) > 0 {
		g := render.Grid{Right: numbersAfter(t.header)}
		g.Add(t.header...)
		for _, r := range t.rows {
			g.Add(r...)
		}
		s.Print("%s\n", g.Text("   "))
	}
	var g render.Grid
	for _, r := range t.summary() {
		g.Add(r...)
	}
	s.Print("%s", g.Text("   "))
	for _, w := range t.words() {
		s.Print("\n%s\n", render.Printable(w))
	}
	return nil
}

// numbersAfter returns the alignment of a table's columns: all but the first to the right.
func numbersAfter(header []string) []bool {
	out := make([]bool, len(header))
	for i := range out {
		out[i] = i > 0
	}
	return out
}

// summary returns the rows of the result: statistic, p-value, method, estimate and interval.
func (t tested) summary() (rows [][]string) {
	add := func(name, value string) { rows = append(rows, []string{name, value}) }
	switch {
	case t.Null == "none":
	case t.DF > 0:
		add(t.statisticName(), render.Number6(t.Statistic))
		df := strconv.Itoa(t.DF)
		if t.Denominator > 0 {
			df += " and " + render.Number6(t.Denominator)
		}
		add("degrees of freedom", df)
	default:
		add("statistic", render.Number6(t.Statistic))
	}
	add("p-value", t.pValue())
	if t.Alternative != "any" {
		add("alternative", t.Alternative)
	}
	method := string(t.Method)
	if t.Null != "none" {
		method += ", null distribution " +
			map[string]string{"χ²": "χ²", "F": "F", "Monte Carlo": "by Monte Carlo", "exact": "exact", "normal": "normal"}[t.Null]
	}
	add("method", method)
	if t.N > 0 {
		n := strconv.FormatFloat(math.Round(t.N), 'f', -1, 64)
		if !t.Known {
			n += ", estimated from the noisy counts"
		}
		add("n", n)
	}
	if !math.IsNaN(t.Estimate) {
		name := t.estimated
		if name == "" {
			name = "estimate"
		}
		add(name, render.Number6(t.Estimate))
	}
	if c := t.Interval; c.Confidence > 0 {
		add(render.Number6(100*c.Confidence)+" % interval", "["+render.Number6(c.Low)+", "+render.Number6(c.High)+"]")
	}
	return rows
}

// statisticName returns the usual letter for a statistic with degrees of freedom.
func (t tested) statisticName() string {
	switch t.Name {
	case hypothesis.AnalysisOfVariance:
		return "F"
	case hypothesis.KruskalWallis:
		return "H"
	}
	return "χ²"
}

// words returns the lines below the result: the warnings, and what was paid.
func (t tested) words() (lines []string) {
	for _, w := range t.warned() {
		lines = append(lines, "warning: "+w)
	}
	if t.release != nil {
		lines = append(lines, t.release.footer()...)
	}
	return lines
}

// pValue writes the p-value. If no simulation is as extreme as the statistic, it writes a bound.
func (t tested) pValue() string {
	if t.Simulations > 0 && t.P <= t.Least {
		return fmt.Sprintf("< %s (no simulation of %d is as extreme)", pValue(t.P), t.Simulations)
	}
	return pValue(t.P)
}

// pValue writes a p-value with four digits, or "below 2e-16".
func pValue(p float64) string {
	if p < 2e-16 {
		return "below 2e-16"
	}
	return render.ShortPower(strconv.FormatFloat(p, 'g', 4, 64))
}
