package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dither/account"
	"dither/privacy"
)

// accountVerb is `dither account`.
var accountVerb = verb{
	name:  "account",
	args:  "--delta D | --epsilon E MECHANISM …",
	about: "what a job that is fixed in advance loses, by every accountant, free",
	run:   runAccount,
	more:  func(*session) string { return mechanismsHelp("account") },
}

// runAccount tells the loss of a job that is fixed in advance, by every accountant. It reads no home: it spends nothing.
func runAccount(s *session, args []string) error {
	var delta, epsilon string
	var picture pictures
	s.formatFlag("table", "json", "markdown")
	s.flag(&delta, "delta", "D", "tell the ε at this δ")
	s.flag(&epsilon, "epsilon", "E", "tell the δ at this ε")
	s.flag(&picture.file, "plot", "FILE", "draw δ against ε, by each accountant, as FILE.svg or FILE.png")
	s.flags.BoolFunc("curve", usageOf("", "draw δ against ε in the terminal; --curve=FILE as --plot FILE too"), func(file string) error {
		picture.chart = true
		if file != "true" {
			picture.file = file
		}
		return nil
	})
	specs, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case (delta == "") == (epsilon == ""):
		return usage("account --delta D tells ε, account --epsilon E tells δ: one of them")
	case len(specs) == 0:
		return usage("account needs a mechanism, as \"gaussian sigma=10 count=100\"; there are %s", strings.Join(account.Mechanisms(), ", "))
	case picture.chart && s.format != "table":
		return usage("--curve goes with --format table")
	}
	if err := picture.check(s); err != nil {
		return err
	}
	job, err := jobOf(specs)
	if err != nil {
		return err
	}
	a := asked{job: job}
	if delta != "" {
		if a.delta, err = deltaFlag(delta); err != nil {
			return err
		}
		a.report, err = job.Epsilon(a.delta)
	} else {
		if a.epsilon, err = epsilonFlag(epsilon); err != nil {
			return err
		}
		a.ofDelta = true
		a.report, err = job.Delta(a.epsilon)
	}
	if err != nil {
		return usage("%s", plainly(err))
	}
	return s.showAccount(a, picture.chart, picture.file)
}

// jobOf reads the specs of a job.
func jobOf(specs []string) (*account.Job, error) {
	if meant := unquoted(specs); meant != "" {
		return nil, usage("quote each mechanism: %s", meant)
	}
	steps := make([]account.Step, len(specs))
	for i, text := range specs {
		step, err := account.ParseStep(text)
		var wrong *account.SpecError
		if errors.As(err, &wrong) {
			if len(specs) > 1 {
				return nil, usage("mechanism %d, %v", i+1, wrong)
			}
			return nil, usage("%v", wrong)
		}
		if err != nil {
			return nil, usage("%v", err)
		}
		steps[i] = step
	}
	job, err := account.NewJob(steps...)
	if err != nil {
		return nil, usage("%s", plainly(err))
	}
	return job, nil
}

// unquoted is how the mechanisms among the arguments would be quoted, where some key=value stands apart from its mechanism. "" is: none does.
func unquoted(specs []string) string {
	var words []string
	apart := false
	for _, spec := range specs {
		name, _, _ := strings.Cut(strings.TrimSpace(spec), " ")
		if len(words) > 0 && !slices.Contains(account.Mechanisms(), name) {
			words[len(words)-1] += " " + spec
			apart = apart || strings.Contains(name, "=")
			continue
		}
		words = append(words, spec)
	}
	if !apart {
		return ""
	}
	return spaced.ReplaceAllString(`"`+strings.Join(words, `" "`)+`"`, "=")
}

var spaced = regexp.MustCompile(`\s*=\s*`)

// plainly is an error of package account without its first words, which are for programs.
func plainly(err error) string {
	return strings.TrimPrefix(err.Error(), account.ErrParameter.Error()+": ")
}

// asked is a question to the accountants and its answer.
type asked struct {
	job     *account.Job
	ofDelta bool // ε was given and δ is told
	delta   privacy.Delta
	epsilon privacy.Epsilon
	report  account.Report
}

func (s *session) showAccount(a asked, curve bool, picture string) error {
	switch s.format {
	case "json":
		if err := s.json(a); err != nil {
			return err
		}
	case "markdown":
		header, rows := a.rows()
		s.print("%s\n%s\n", markdownTable(header, []bool{1: true}, rows), markdownParagraphs(a.words()))
	default:
		header, rows := a.rows()
		g := grid{right: []bool{false, true}}
		g.add(header...)
		for _, row := range rows {
			g.add(row...)
		}
		s.print("%s\n%s\n", g.text("  "), a.words())
	}
	if curve {
		if err := s.printCurve(a); err != nil {
			return err
		}
	}
	if picture != "" {
		return s.drawCurve(a, picture)
	}
	return nil
}

// markdownParagraphs is a text of paragraphs, whose lines are broken anyhow, in Markdown.
func markdownParagraphs(text string) string {
	parts := strings.Split(text, "\n\n")
	for i, p := range parts {
		parts[i] = markdownText(strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(parts, "\n\n")
}

// accountants are the figures of a report by name, in order.
func accountants(r account.Report) []struct {
	name   string
	figure account.Figure
} {
	return []struct {
		name   string
		figure account.Figure
	}{{"basic", r.Basic}, {"advanced", r.Advanced}, {"zcdp", r.ZCDP}, {"renyi", r.Renyi}, {"pld", r.PLD.Figure}}
}

// rows is the table: each accountant, its figure, and what else there is to say.
func (a asked) rows() (header []string, rows [][]string) {
	header = []string{"accountant", "ε at δ = " + given(a.delta.Rat()), ""}
	if a.ofDelta {
		header[1] = "δ at ε = " + given(a.epsilon.Rat())
	}
	for _, c := range accountants(a.report) {
		row := []string{c.name, "–", c.figure.Why}
		if c.figure.Told() {
			row[1] = above(c.figure.Value)
		}
		if c.name == "pld" && c.figure.Told() {
			row[2] = "at least " + below(a.report.PLD.Lower)
		}
		rows = append(rows, row)
	}
	return header, rows
}

// words says what the least figure means.
func (a asked) words() string {
	least, name := a.report.Least()
	if !least.Told() || a.ofDelta && least.Value >= 1 {
		return a.silence()
	}
	e, d := given(a.epsilon.Rat()), given(a.delta.Rat())
	size, _ := a.epsilon.Rat().Float64()
	if a.ofDelta {
		d = above(least.Value)
	} else {
		e, size = above(least.Value), least.Value
	}
	other := "without it"
	if n, ok := a.job.Relation(); ok && n == privacy.ChangeOne {
		other = "with another's in its place"
	}
	plus := ""
	if d != "0" {
		plus = ", plus " + d
	}
	times, warning := above(math.Exp(size)), " "
	if size > mostTimes {
		times, warning = "e^"+e, " So large an ε protects hardly anybody.\n"
	}
	return fmt.Sprintf("Together (%s, %s)-differentially private, by %s: with a person's data no outcome is more than %s times as\n"+
		"probable as %s%s.%sEach figure is a certified bound for a job that is fixed in advance;\nnone of them rules a budget.",
		e, d, name, times, other, plus, warning)
}

// mostTimes is the ε up to which e^ε is written out.
const mostTimes = 20

// silence says in words that no accountant has a figure, and what may help.
func (a asked) silence() string {
	if a.ofDelta {
		return fmt.Sprintf("At an ε of %s nothing is promised: no accountant has a δ below 1. The job loses more; ask at a larger ε.", given(a.epsilon.Rat()))
	}
	text := fmt.Sprintf("No accountant has an ε for this job at a δ of %s: the table says why. ", given(a.delta.Rat()))
	if a.delta.IsZero() {
		return text + "Some mechanisms, as Gaussian noise,\npromise an ε only with a δ above 0: ask at one, as --delta 1e-6."
	}
	return text + "Ask at a larger δ."
}

// MarshalJSON writes the figures under the names that they have everywhere.
func (a asked) MarshalJSON() ([]byte, error) {
	given, givenValue, told := "delta", rounded(a.delta.Rat()), "epsilon"
	if a.ofDelta {
		given, givenValue, told = "epsilon", rounded(a.epsilon.Rat()), "delta"
	}
	var parts []string
	for _, c := range accountants(a.report) {
		value := "null"
		switch {
		case c.figure.Told() && c.name == "pld":
			value = fmt.Sprintf(`{"lower":%s,"upper":%s}`, number(a.report.PLD.Lower), number(c.figure.Value))
		case c.figure.Told():
			value = number(c.figure.Value)
		}
		parts = append(parts, fmt.Sprintf("%q:%s", c.name, value))
	}
	return fmt.Appendf(nil, `{%q:%s,%q:{%s}}`, given, givenValue, told, strings.Join(parts, ",")), nil
}

func rounded(r *big.Rat) string {
	f, _ := r.Float64()
	return number(f)
}

// number is a float as JSON: the shortest that reads back as it.
func number(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		return "null"
	}
	return string(text)
}

// above writes a number of at least 0 with six digits, rounded up.
func above(x float64) string { return digitsAbove(x, 6) }

func digitsAbove(x float64, digits int) string {
	return roundedTo(digits, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y < x }, 1)
}

// below writes it rounded down.
func below(x float64) string {
	return roundedTo(6, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

// given writes an ε or a δ that was asked about with six digits, rounded up: what holds at it holds at what is written.
func given(r *big.Rat) string {
	x, _ := r.Float64()
	return roundedTo(6, x, func(written *big.Rat) bool { return written.Cmp(r) < 0 }, 1)
}

// roundedTo writes a number with so many digits, the last moved in a direction if what is written is wrong without.
func roundedTo(places int, x float64, wrong func(*big.Rat) bool, direction int) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.Replace(strconv.FormatFloat(x, 'g', places, 64), "+Inf", "∞", 1)
	}
	text := strconv.FormatFloat(x, 'e', places-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1)) // of FormatFloat's own making
	power, _ := strconv.Atoi(exponent)
	if y, ok := new(big.Rat).SetString(text); ok && wrong(y) {
		digits += direction
		if fewer := fmt.Sprint(digits); len(fewer) < places { // below a power of ten there is room for one digit more
			digits, power = 10*(digits-direction)+direction, power-1
		}
	}
	// With six digits of which the last was moved, 1000000e−5 is 1e1, and 99999e−5 is itself.
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, power-places+1), 64)
	return shortPower(strconv.FormatFloat(y, 'g', places, 64))
}

// shortPower writes a power of ten without the padding that Go gives it: 1e-06 is 1e-6, and 1e+06 is 1e6.
func shortPower(text string) string {
	mantissa, exponent, ok := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	if !ok || err != nil {
		return text
	}
	return fmt.Sprintf("%se%d", mantissa, power)
}

// mechanismsHelp lists the mechanisms of a job with their keys, and shows one.
func mechanismsHelp(verb string) string {
	var g grid
	for _, name := range account.Mechanisms() {
		needed, optional := account.Keys(name)
		for _, key := range optional {
			if key == "sensitivity" {
				needed = append(needed, "["+key+"=…]")
			}
		}
		for i, key := range needed {
			if !strings.HasPrefix(key, "[") {
				needed[i] = key + "=…"
			}
		}
		g.add("  "+name, strings.Join(needed, " "))
	}
	return "\nEach MECHANISM is one argument in quotes, a name and its keys:\n\n" + g.text("   ") +
		"\nand each takes [count=N] [sampling=Q [scheme=fixed]]. Numbers are decimals or fractions.\n" +
		"\n  dither " + verb + " --delta 1e-6 \"gaussian sigma=10 count=20\" \"discrete-laplace scale=20\"\n"
}
