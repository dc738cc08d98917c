package cli

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"dither/hypothesis"
	"dither/internal/exact"
)

// tested is a test with what is shown beside it.
type tested struct {
	*hypothesis.Test
	about     string // what is tested, in a sentence
	header    []string
	rows      [][]string // of the counts
	estimated string     // what the estimate and the interval are of
	release   *released
}

// intervalJSON is an interval as JSON; an end that is not there is null.
type intervalJSON struct {
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence float64  `json:"confidence"`
}

type testJSON struct {
	Test        string        `json:"test"`
	Statistic   *float64      `json:"statistic"`
	DF          *int          `json:"df"`
	PValue      float64       `json:"p_value"`
	Method      string        `json:"method"`
	Null        string        `json:"null_distribution"`
	Alternative string        `json:"alternative"`
	N           *float64      `json:"n"`
	NKnown      bool          `json:"n_known"`
	Estimate    *float64      `json:"estimate"`
	Interval    *intervalJSON `json:"interval"`
	Warnings    []string      `json:"warnings"`
	Release     *releaseJSON  `json:"release,omitempty"`
}

type releaseJSON struct {
	ID        string `json:"id"`
	Price     string `json:"price"`
	Remaining string `json:"remaining"`
	Replayed  bool   `json:"replayed"`
}

// orNone is a number, or nil where it is none.
func orNone(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func intervalOf(i hypothesis.Interval) *intervalJSON {
	if i.Confidence == 0 {
		return nil
	}
	return &intervalJSON{orNone(i.Low), orNone(i.High), i.Confidence}
}

// MarshalJSON writes the test.
func (t tested) MarshalJSON() ([]byte, error) {
	out := testJSON{
		Test: t.Name, Statistic: orNone(t.Statistic), PValue: t.P, Method: string(t.Method), Null: t.Null, Alternative: t.Alternative,
		N: orNone(t.N), NKnown: t.Known, Estimate: orNone(t.Estimate), Interval: intervalOf(t.Interval), Warnings: t.warned(),
	}
	if t.DF > 0 {
		out.DF = &t.DF
	}
	if r := t.release; r != nil {
		out.Release = &releaseJSON{r.ID, r.Price.String(), r.Remaining.String(), r.Replayed}
	}
	return json.Marshal(out)
}

// warned are all warnings.
func (t tested) warned() []string {
	out := append([]string{}, t.Warnings...)
	if t.release != nil {
		out = append(out, t.release.warnings()...)
	}
	return out
}

// show writes a test in the format that is asked for.
func (s *session) showTest(t tested) error {
	switch s.format {
	case "json":
		return s.json(t)
	case "markdown":
		s.print("%s\n\n", markdownText(t.about))
		if len(t.rows) > 0 {
			s.print("%s\n", markdownTable(t.header, numbersAfter(t.header), t.rows))
		}
		s.print("%s\n%s", markdownTable([]string{"", ""}, []bool{false, true}, t.summary()), markdownParagraphs(strings.Join(t.words(), "\n\n")))
		s.print("\n")
		return nil
	}
	s.print("%s\n\n", printable(t.about))
	if len(t.rows) > 0 {
		g := grid{right: numbersAfter(t.header)}
		g.add(t.header...)
		for _, r := range t.rows {
			g.add(r...)
		}
		s.print("%s\n", g.text("   "))
	}
	var g grid
	for _, r := range t.summary() {
		g.add(r...)
	}
	s.print("%s", g.text("   "))
	for _, w := range t.words() {
		s.print("\n%s\n", printable(w))
	}
	return nil
}

// numbersAfter aligns all columns but the first to the right.
func numbersAfter(header []string) []bool {
	out := make([]bool, len(header))
	for i := range out {
		out[i] = i > 0
	}
	return out
}

// summary are the lines that a statistician looks for.
func (t tested) summary() (rows [][]string) {
	add := func(name, value string) { rows = append(rows, []string{name, value}) }
	switch {
	case t.Null == "none":
	case t.DF > 0:
		add("χ²", number6(t.Statistic))
		add("degrees of freedom", strconv.Itoa(t.DF))
	default:
		add("statistic", number6(t.Statistic))
	}
	add("p-value", pValue(t.P))
	if t.Alternative != "any" {
		add("alternative", t.Alternative)
	}
	method := string(t.Method)
	if t.Null != "none" {
		method += ", null distribution " + map[string]string{"χ²": "χ²", "Monte Carlo": "by Monte Carlo", "exact": "exact", "normal": "normal"}[t.Null]
	}
	add("method", method)
	if t.N > 0 {
		n := strconv.FormatFloat(math.Round(t.N), 'f', -1, 64)
		if !t.Known {
			n += ", as noisy counts tell"
		}
		add("n", n)
	}
	if !math.IsNaN(t.Estimate) {
		name := t.estimated
		if name == "" {
			name = "estimate"
		}
		add(name, number6(t.Estimate))
	}
	if c := t.Interval; c.Confidence > 0 {
		add(number6(100*c.Confidence)+" % interval", "["+number6(c.Low)+", "+number6(c.High)+"]")
	}
	return rows
}

// words are the warnings, and what was paid.
func (t tested) words() (lines []string) {
	for _, w := range t.warned() {
		lines = append(lines, "warning: "+w)
	}
	if t.release != nil {
		lines = append(lines, t.release.footer()...)
	}
	return lines
}

func number6(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	return shortPower(exact.FormatFloat(x, 'g', 6))
}

// pValue writes a p-value as statisticians do.
func pValue(p float64) string {
	if p < 2e-16 {
		return "below 2e-16"
	}
	return shortPower(strconv.FormatFloat(p, 'g', 4, 64))
}
