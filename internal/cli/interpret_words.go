package cli

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"dither/audit/interpret"
	"dither/privacy"
)

// interpreted is a promise, or a job, and what it means.
type interpreted struct {
	interpret.Meaning
	job   bool
	delta privacy.Delta // as it was asked about
}

func (s *session) showInterpreted(i interpreted) error {
	header, rows := i.rows()
	switch s.format {
	case "json":
		return s.json(i)
	case "markdown":
		s.print("%s\n%s\n", markdownTable(header, []bool{1: true, 2: true, 4: true, 5: true}, rows), markdownParagraphs(i.words()))
	default:
		g := grid{right: []bool{1: true, 2: true, 4: true, 5: true}}
		g.add(header...)
		for _, row := range rows {
			g.add(row...)
		}
		s.print("%s\n%s\n", g.text("  "), i.words())
	}
	return nil
}

// rows is the table: of each pair of hypotheses the promise, what becomes of a belief, and what a test can tell.
func (i interpreted) rows() (header []string, rows [][]string) {
	header = []string{"what is to be told apart", "ε", "δ", "a belief of " + short(i.Scenario.Prior) + " becomes", "advantage", "power at " + short(i.Scenario.Alpha)}
	for _, r := range i.readings() {
		row := []string{r.name, "–", "–", "–", upTo(r.Advantage), upTo(r.Power)}
		if r.Told {
			row[1], row[2] = upTo(float(r.Promise.Epsilon.Rat())), upTo(float(r.Promise.Delta.Rat()))
			row[3] = fmt.Sprintf("%s to %s", downTo(r.Posterior.Lower), upTo(r.Posterior.Upper))
		}
		rows = append(rows, row)
	}
	return header, rows
}

type namedReading struct {
	key, name string
	interpret.Reading
}

func (i interpreted) readings() []namedReading {
	together := fmt.Sprintf("a group of %d: in or out", i.Scenario.Group)
	return []namedReading{
		{"person", "one person: in or out", i.Person}, {"values", "one person: this value or that", i.Values}, {"group", together, i.Group},
	}
}

// words says what the table means.
func (i interpreted) words() string {
	p := i.Person
	var paragraphs []string
	say := func(format string, args ...any) {
		paragraphs = append(paragraphs, filled(fmt.Sprintf(format, args...)))
	}
	prior := short(i.Scenario.Prior)
	switch {
	case !p.Told:
		say("At a δ of %s the job promises no ε, and no bound holds of a belief after every answer: ask at a δ, as --delta 1e-6.", given(i.delta.Rat()))
	case i.delta.IsZero():
		say("Who knows everything but whether one person is in the data, and believes that she is with probability %s, believes it with %s to %s "+
			"after any answer. And whatever anybody believes of her, on whatever grounds: its odds after an answer with her data are within a factor "+
			"of e^2ε = %s of those without (second row).", prior, downTo(p.Posterior.Lower), upTo(p.Posterior.Upper), times(2*float(p.Promise.Epsilon.Rat())))
	default:
		say("Who knows everything but whether one person is in the data, and believes that she is with probability %s, believes it with %s to %s "+
			"after an answer, with exceptions that are small or rare: it is outside by %s at most on average, as they themselves expect, and with probability "+
			"%s at most it leaves %s to %s.", prior, downTo(p.Posterior.Lower), upTo(p.Posterior.Upper), upTo(p.Excess), upTo(p.Fails), downTo(p.Far.Lower), upTo(p.Far.Upper))
	}
	curve := ""
	if i.job {
		curve = " Both are by the job's own curve δ(ε)."
	}
	say("A test that wrongly accuses %s of those who are out finds %s of those who are in, at most: its power. The share it finds less the share "+
		"it wrongly accuses, its advantage, is at most %s for any test.%s", short(i.Scenario.Alpha), upTo(p.Power), upTo(p.Advantage), curve)
	say("Rows are for neighbours by add/remove. By change-one, two values of one person are neighbours: the first row.")
	if n := i.Named; n.Expected > 0 {
		warning := ""
		if n.Warned {
			warning = fmt.Sprintf(" Warning: δ must be far below 1/n, here at most %s.", downTo(1/(100*float64(n.People))))
		}
		say("A mechanism that publishes each of %s records with probability %s keeps that δ too. It publishes somebody's with probability %s, and %s "+
			"of them on average.%s", grouping(n.People), given(i.delta.Rat()), upTo(n.Probability.Upper), upTo(n.Expected), warning)
	}
	return strings.Join(paragraphs, "\n\n")
}

// filled breaks a paragraph into lines.
func filled(text string) string {
	const columns = 92
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// times is e^ε in words.
func times(e float64) string {
	switch {
	case e == 0:
		return "1"
	case e > mostTimes:
		return "e^" + upTo(e)
	}
	return upTo(math.Exp(e) * (1 + 1e-14)) // math.Exp errs by less
}

// upTo writes a bound with four digits, rounded up, and downTo rounded down.
func upTo(x float64) string { return digitsAbove(x, 4) }

func downTo(x float64) string {
	return roundedTo(4, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

// short writes a number that was given.
func short(r *big.Rat) string { return shortPower(fmt.Sprintf("%.6g", float(r))) }

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// grouping writes an integer with commas.
func grouping(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// MarshalJSON writes all that is known, as docs/json.md says.
func (i interpreted) MarshalJSON() ([]byte, error) {
	parts := []string{
		fmt.Sprintf(`"prior":%s,"alpha":%s`, rounded(i.Scenario.Prior), rounded(i.Scenario.Alpha)),
	}
	for _, r := range i.readings() {
		told := `"epsilon":null,"delta":null,"posterior":null,"excess":null,"far":null,"fails":null`
		if r.Told {
			told = fmt.Sprintf(`"epsilon":%s,"delta":%s,"posterior":%s,"excess":%s,"far":%s,"fails":%s`, rounded(r.Promise.Epsilon.Rat()),
				rounded(r.Promise.Delta.Rat()), between(r.Posterior), number(r.Excess), between(r.Far), number(r.Fails))
		}
		parts = append(parts, fmt.Sprintf(`%q:{"steps":%d,%s,"advantage":%s,"power":%s}`, r.key, r.Steps, told, number(r.Advantage), number(r.Power)))
	}
	parts = append(parts, fmt.Sprintf(`"named":{"people":%d,"probability":%s,"expected":%s,"warned":%v}`,
		i.Named.People, between(i.Named.Probability), number(i.Named.Expected), i.Named.Warned))
	return fmt.Appendf(nil, "{%s}", strings.Join(parts, ",")), nil
}

// between writes two bounds; what is no number is null.
func between(b interpret.Between) string {
	return fmt.Sprintf(`{"lower":%s,"upper":%s}`, number(b.Lower), number(b.Upper))
}
