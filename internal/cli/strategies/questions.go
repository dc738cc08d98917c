package strategies

import (
	"fmt"
	"io"
	"os"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/together"
)

// maxSQL is the largest number of bytes of a file of questions. The parser's own limit of a question is far below it.
const maxSQL = 1 << 22

// compareQuestions compares what could be measured for the questions in a file. It reads the policy and the budget, and
// spends nothing.
func compareQuestions(s *console.Console, a asked) error {
	switch {
	case len(a.prefixes)+len(a.ranges)+len(a.windows)+len(a.levels)+len(a.matrices)+len(a.crosses) > 0 || a.marginals != "" || a.ways != "":
		return console.Usage("-f has the questions: leave out the other flags that describe questions")
	case a.measuring.confidence != "" || a.measuring.fresh:
		return console.Usage("workload -f compares strategies; dither query -f FILE --together measures")
	}
	f, err := os.Open(a.file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	text, err := io.ReadAll(io.LimitReader(f, maxSQL))
	if err != nil {
		return err
	}
	questions, err := curator.Statements(string(text))
	if err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error {
		of, err := together.Compare(s.Context(), c, together.Batch{
			Questions: questions,
			Request:   curator.Request{Epsilon: a.epsilon, Rho: a.rho, Analyst: a.measuring.analyst},
		})
		if err != nil {
			return err
		}
		return crossed{
			of.Choice, of.Workload,
			price{of.Unit, of.Grid.Price.String(), of.Deviation, &of.Grid.Price},
			[]string{keysLine(of), measurable(of)},
		}.show(s, a)
	})
}

// keysLine names the columns of the histogram.
func keysLine(of *together.Comparison) string {
	var keys []string
	for i, k := range of.Grid.Keys {
		keys = append(keys, fmt.Sprintf("%s (%s)", render.Printable(k), render.Plural(len(of.Grid.Values[i]), "value")))
	}
	if len(keys) == 0 {
		return "The questions name no column."
	}
	return "Their columns: " + strings.Join(keys, ", ") + "."
}

// measurable says how the questions are measured.
func measurable(of *together.Comparison) string {
	switch {
	case of.Measurable == nil:
		return "No candidate fits into one measurement: ask questions about other columns in a file of their own."
	case of.Measurable.Name != of.Chosen.Name:
		return fmt.Sprintf("One measurement is too small for %s: dither query -f FILE --together measures %s.", of.Chosen.Name, of.Measurable.Name)
	}
	return "dither query -f FILE --together measures the questions."
}
