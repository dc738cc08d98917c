package laboratory

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/privacy"
)

// interpreted is a privacy promise with its meaning. If job is true, it is the promise of a job of mechanisms.
type interpreted struct {
	interpret.Meaning
	job     bool
	counted bool              // the number of people was given
	typed   map[string]string // numbers as the user typed them
	delta   privacy.Delta     // the requested δ
}

func (i interpreted) changeOne() bool { return i.Scenario.Neighbours == privacy.ChangeOne }

func showInterpreted(s *console.Console, i interpreted) error {
	if s.Format == "json" {
		return s.JSON(i)
	}
	paragraphs, table := func(text string) string { return text + "\n" }, plainTable
	if s.Format == "markdown" {
		paragraphs, table = func(text string) string { return render.MarkdownParagraphs(text) + "\n" }, markdownNumbers
	}
	s.Print("%s\n%s", paragraphs(i.words()), table(i.rows()))
	if after := i.anybody(); after != "" {
		s.Print("\n%s", paragraphs(after))
	}
	s.Print("\n%s", table(i.figures()))
	return nil
}

// plainTable and markdownNumbers write a table whose first column is a name and whose other columns are numbers.
func plainTable(header []string, rows [][]string) string {
	g := render.Grid{Right: numbersAfterNames(header)}
	g.Add(header...)
	for _, row := range rows {
		g.Add(row...)
	}
	return g.Text("  ")
}

func markdownNumbers(header []string, rows [][]string) string {
	return render.MarkdownTable(header, numbersAfterNames(header), rows)
}

func numbersAfterNames(header []string) []bool {
	right := make([]bool, len(header))
	for n := range right {
		right[n] = n > 0
	}
	return right
}

// words returns the explanation above the table.
func (i interpreted) words() string {
	paragraphs := []string{filled(i.verdict())}
	if !i.delta.IsZero() {
		paragraphs = append(paragraphs, filled(i.warning()))
	}
	return strings.Join(append(paragraphs, filled(i.suspicion()+" "+i.test()), filled(i.assumed()),
		filled("Not protected: facts about everybody. An answer can show that smoking harms people, "+
			"which reveals something about her too (see --example smoking).")), "\n\n")
}

// warning explains what a δ permits.
func (i interpreted) warning() string {
	n := i.Named
	about := fmt.Sprintf(
		"with probability up to δ = %s, over the answer's randomness, the promise lets an answer reveal her data entirely.",
		i.typed["delta"],
	)
	if n.Warned {
		limit := downTo(float(new(big.Rat).Quo(big.NewRat(1, 100), new(big.Rat).SetInt64(n.People))))
		about = fmt.Sprintf("Warning: %s By dither's rule of thumb, 1/(100n), δ should be at most %s here.",
			about, limit)
	} else {
		about = strings.ToUpper(about[:1]) + about[1:]
	}
	records := "records"
	if many(i.named()) == "1" {
		records = "record"
	}
	each, assumed := fmt.Sprintf("each of %s", i.people()), ""
	if n.People == 1 {
		each = i.people()
	}
	if !i.counted {
		assumed = " (an assumption: set -n)"
	}
	return fmt.Sprintf(
		"%s The worst mechanism that this permits publishes the record of %s%s with that probability. "+
			"It publishes at least one record with probability %s, and %s %s on average.",
		about,
		each,
		assumed,
		upTo(n.Probability.Upper),
		many(i.named()),
		records,
	)
}

// suspicion explains how far an attacker's belief about one person can rise, as in the table's first row.
func (i interpreted) suspicion() string {
	p := i.Person
	that := "that she is in the data"
	if i.changeOne() {
		that = "that her data are one value and not another"
	}
	switch {
	case !p.Told:
		return ""
	case !i.delta.IsZero() && p.Fails >= 1:
		return fmt.Sprintf("A belief of %s %s may rise, and no bound is known on how often it does.", i.prior(), that)
	case i.unmoved(p):
		return fmt.Sprintf("A belief of %s %s does not change.", i.prior(), that)
	}
	reach, exception := p.Posterior, ""
	if !i.delta.IsZero() {
		reach, exception = p.Far, fmt.Sprintf(", except after answers whose probability is at most %s", upTo(p.Fails))
	}
	to := i.belief(p, reach)
	if to != certainty {
		to = "at most " + to
	}
	return fmt.Sprintf("If an attacker knows everybody else's data, a belief of %s %s rises to %s%s.",
		i.prior(), that, to, exception)
}

// unmoved reports whether nothing can be learned, because ε and δ are 0.
func (i interpreted) unmoved(r interpret.Reading) bool {
	return r.Told && r.Promise.Epsilon.IsZero() && r.Promise.Delta.IsZero()
}

// belief writes the largest belief to which an answer can raise the prior belief.
func (i interpreted) belief(r interpret.Reading, to interpret.Between) string {
	if i.unmoved(r) {
		return i.prior()
	}
	return atMost(to.Upper)
}

// found writes the largest fraction of people that a test at the given level can identify correctly.
func (i interpreted) found(r interpret.Reading) string {
	if i.unmoved(r) {
		return i.accused()
	}
	return found(r.Power, i.Scenario.Alpha)
}

// test describes how many people the attacker's best test can identify.
func (i interpreted) test() string {
	if i.changeOne() {
		return fmt.Sprintf(
			"A test that is wrong about %s people with one value recognises at most %s with the other.",
			i.accused(), i.found(i.Person))
	}
	return fmt.Sprintf("A test that wrongly accuses %s outsiders finds at most %s members.",
		i.accused(), i.found(i.Person))
}

// assumed states the promise's assumptions.
func (i interpreted) assumed() string {
	text := "The bounds hold for everything released under the promise together, if the promise is kept. " +
		"They take a person with all their rows as one unit: if each row is a unit, a person with 4 rows counts as 4 people. "
	if i.changeOne() {
		text += "Neighbouring datasets differ in the values of one person's data (change-one). " +
			"Whether she is in the data is not protected: the number of people counts as public."
	} else {
		text += "Neighbouring datasets differ in whether one person's data are present (add-remove)."
	}
	if i.job {
		text += " The bounds on tests come from the job's own curve δ(ε)."
	}
	return text
}

// anybody states the promise for an attacker with any prior belief. Theorem 1 at interpret.Inference proves it.
func (i interpreted) anybody() string {
	if !i.Person.Told || !i.delta.IsZero() {
		return ""
	}
	other := "without her data"
	if i.changeOne() {
		other = "with a default in place of her data"
	}
	return filled(
		fmt.Sprintf(
			"Whatever an attacker believed before, the odds after an answer are within a factor of e^2ε = %s of the odds %s.",
			times(2*floatUp(i.Person.Promise.Epsilon.Rat())),
			other,
		))
}

func (i interpreted) prior() string { return exactly(i.Scenario.Prior, i.typed["prior"]) }

func (i interpreted) accused() string { return accused(i.Scenario.Alpha, i.typed["alpha"]) }

// named returns the mean number of people whom the δ may expose.
func (i interpreted) named() *big.Rat {
	n := new(big.Rat).SetInt64(i.Named.People)
	return n.Mul(n, i.delta.Rat())
}

// people writes the number of people in the data.
func (i interpreted) people() string {
	if i.Named.People == 1 {
		return "the one person"
	}
	return grouping(i.Named.People) + " people"
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
