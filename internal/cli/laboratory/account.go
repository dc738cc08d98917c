package laboratory

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"dither/account"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/privacy"
)

// Account is the command `dither account`.
var Account = console.Verb{
	Name:  "account",
	Args:  "--delta D | --epsilon E MECHANISM …",
	About: "compute the privacy loss of a job that is fixed in advance, by every accountant, free",
	Run:   runAccount,
	More:  func(*console.Console) string { return mechanismsHelp("account") },
}

// runAccount prints the loss of a job that is fixed in advance, by every accountant. It reads no home and spends
// nothing.
func runAccount(s *console.Console, args []string) error {
	var delta, epsilon string
	var picture console.Picture
	s.FormatFlag("table", "json", "markdown")
	s.Flag(&delta, "delta", "D", "report the ε at this δ")
	s.Flag(&epsilon, "epsilon", "E", "report the δ at this ε")
	s.Flag(&picture.File, "plot", "FILE", "draw δ against ε, by each accountant, as FILE.svg or FILE.png")
	s.Flags.BoolFunc("curve",
		console.UsageOf("", "draw δ against ε in the terminal; --curve=FILE also draws it as FILE, as --plot does"),
		func(file string) error {
			picture.Chart = true
			if file != "true" {
				picture.File = file
			}
			return nil
		})
	specs, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case (delta == "") == (epsilon == ""):
		return console.Usage("account needs either --delta D, to report ε, or --epsilon E, to report δ")
	case len(specs) == 0:
		return console.Usage("account needs a mechanism, such as \"gaussian sigma=10 count=100\"; there are %s",
			strings.Join(account.Mechanisms(), ", "))
	case picture.Chart && s.Format != "table":
		return console.Usage("--curve needs --format table")
	}
	if err := picture.Check(s); err != nil {
		return err
	}
	job, err := jobOf(specs)
	if err != nil {
		return err
	}
	a := asked{job: job}
	if delta != "" {
		if a.delta, err = console.DeltaFlag(delta); err != nil {
			return err
		}
		a.report, err = job.Epsilon(a.delta)
	} else {
		if a.epsilon, err = console.EpsilonFlag(epsilon); err != nil {
			return err
		}
		a.ofDelta = true
		a.report, err = job.Delta(a.epsilon)
	}
	if err != nil {
		return console.Usage("%s", console.AccountWords(err))
	}
	return showAccount(s, a, picture.Chart, picture.File)
}

// jobOf parses the specifications of a job.
func jobOf(specs []string) (*account.Job, error) {
	if meant := unquoted(specs); meant != "" {
		return nil, console.Usage("quote each mechanism: %s", meant)
	}
	steps := make([]account.Step, len(specs))
	for i, text := range specs {
		step, err := account.ParseStep(text)
		var wrong *account.SpecError
		if errors.As(err, &wrong) {
			if len(specs) > 1 {
				return nil, console.Usage("mechanism %d, %v", i+1, wrong)
			}
			return nil, console.Usage("%v", wrong)
		}
		if err != nil {
			return nil, console.Usage("%v", err)
		}
		steps[i] = step
	}
	job, err := account.NewJob(steps...)
	if err != nil {
		return nil, console.Usage("%s", console.AccountWords(err))
	}
	return job, nil
}

// unquoted returns the arguments with quotes around each mechanism, if some key=value is a separate argument.
// Otherwise it returns "".
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

// asked is a question to the accountants, with its answer.
type asked struct {
	job     *account.Job
	ofDelta bool // ε was given, and the answer is a δ
	delta   privacy.Delta
	epsilon privacy.Epsilon
	report  account.Report
}

func showAccount(s *console.Console, a asked, curve bool, picture string) error {
	switch s.Format {
	case "json":
		if err := s.JSON(a); err != nil {
			return err
		}
	case "markdown":
		header, rows := a.rows()
		s.Print("%s\n%s\n", render.MarkdownTable(header, []bool{1: true}, rows), render.MarkdownParagraphs(a.words()))
	default:
		header, rows := a.rows()
		g := render.Grid{Right: []bool{false, true}}
		g.Add(header...)
		for _, row := range rows {
			g.Add(row...)
		}
		s.Print("%s\n%s\n", g.Text("  "), a.words())
	}
	if curve {
		if err := printCurve(s, a); err != nil {
			return err
		}
	}
	if picture != "" {
		return drawCurve(a, picture)
	}
	return nil
}

// accountants returns the figures of a report with the accountants' names, in order.
func accountants(r account.Report) []struct {
	name   string
	figure account.Figure
} {
	return []struct {
		name   string
		figure account.Figure
	}{{"basic", r.Basic}, {"advanced", r.Advanced}, {"zcdp", r.ZCDP}, {"renyi", r.Renyi}, {"pld", r.PLD.Figure}}
}

// rows returns a table with each accountant's figure and remarks.
func (a asked) rows() (header []string, rows [][]string) {
	header = []string{"accountant", "ε at δ = " + render.Given(a.delta.Rat()), ""}
	if a.ofDelta {
		header[1] = "δ at ε = " + render.Given(a.epsilon.Rat())
	}
	for _, c := range accountants(a.report) {
		row := []string{c.name, "–", c.figure.Why}
		if c.figure.Told() {
			row[1] = render.Above(c.figure.Value)
		}
		if c.name == "pld" && c.figure.Told() {
			row[2] = "at least " + render.Below(a.report.PLD.Lower)
		}
		rows = append(rows, row)
	}
	return header, rows
}

// words explains what the smallest figure of the accountants promises.
func (a asked) words() string {
	least, name := a.report.Least()
	if !least.Told() || a.ofDelta && least.Value >= 1 {
		return a.silence()
	}
	e, d := render.Given(a.epsilon.Rat()), render.Given(a.delta.Rat())
	size, _ := a.epsilon.Rat().Float64()
	if a.ofDelta {
		d = render.Above(least.Value)
	} else {
		e, size = render.Above(least.Value), least.Value
	}
	other := "without them"
	if n, ok := a.job.Relation(); ok && n == privacy.ChangeOne {
		other = "with another person's data in their place"
	}
	plus := ""
	if d != "0" {
		plus = ", plus " + d
	}
	times, warning := render.Above(math.Exp(size)), " "
	if size > mostTimes {
		times, warning = "e^"+e, " An ε this large protects hardly anybody.\n"
	}
	scores := ""
	if f := a.report.Fixed; f.Told() {
		of := "ε"
		if a.ofDelta {
			of = "δ"
		}
		scores = fmt.Sprintf("\nIf all scores are fixed before the first output, %s is %s, and at least %s. If a score depends on\n"+
			"an earlier output, as in MWEM and AIM, only the figures of the table hold.", of, render.Above(f.Value), render.Below(f.Lower))
	}
	return fmt.Sprintf(
		"The whole job is (%s, %s)-differentially private, by %s: with one person's data,\n"+
			"no outcome is more than %s times as probable as %s%s.%sEach figure is a certified bound\n"+
			"for a job that is fixed in advance. Budgets are charged by another rule.%s",
		e, d, name, times, other, plus, warning, scores)
}

// mostTimes is the largest ε for which e^ε is written as a number.
const mostTimes = 20

// silence explains that no accountant has a figure, and suggests another question.
func (a asked) silence() string {
	if a.ofDelta {
		return fmt.Sprintf(
			"At ε = %s the job promises nothing: no accountant finds a δ below 1. Ask at a larger ε.",
			render.Given(a.epsilon.Rat()))
	}
	text := fmt.Sprintf("No accountant finds an ε for this job at δ = %s: the table says why. ",
		render.Given(a.delta.Rat()))
	if a.delta.IsZero() {
		return text + "Some mechanisms, such as Gaussian\nnoise, promise an ε only with a δ above 0: ask with --delta 1e-6, for example."
	}
	return text + "Ask at a larger δ."
}

// The JSON form of a report, which docs/reference/json.md documents. A figure that an accountant cannot compute is
// null.
type (
	accountOfEpsilonJSON struct { // with --epsilon
		Epsilon json.RawMessage `json:"epsilon"`
		Delta   figuresJSON     `json:"delta"`
	}
	accountOfDeltaJSON struct { // with --delta
		Delta   json.RawMessage `json:"delta"`
		Epsilon figuresJSON     `json:"epsilon"`
	}
	figuresJSON struct {
		Basic    json.RawMessage `json:"basic"`
		Advanced json.RawMessage `json:"advanced"`
		ZCDP     json.RawMessage `json:"zcdp"`
		Renyi    json.RawMessage `json:"renyi"`
		PLD      *betweenJSON    `json:"pld"`
		Fixed    *betweenJSON    `json:"fixed_scores,omitempty"`
	}
)

// MarshalJSON implements json.Marshaler.
func (a asked) MarshalJSON() ([]byte, error) {
	of := func(f account.Figure) json.RawMessage {
		if !f.Told() {
			return nil
		}
		return number(f.Value)
	}
	r := a.report
	figures := figuresJSON{Basic: of(r.Basic), Advanced: of(r.Advanced), ZCDP: of(r.ZCDP), Renyi: of(r.Renyi)}
	if r.PLD.Told() {
		figures.PLD = &betweenJSON{number(r.PLD.Lower), number(r.PLD.Value)}
	}
	if r.Fixed.Told() {
		figures.Fixed = &betweenJSON{number(r.Fixed.Lower), number(r.Fixed.Value)}
	}
	if a.ofDelta {
		return json.Marshal(accountOfEpsilonJSON{json.RawMessage(render.JSONRat(a.epsilon.Rat())), figures})
	}
	return json.Marshal(accountOfDeltaJSON{json.RawMessage(render.JSONRat(a.delta.Rat())), figures})
}

// mechanismsHelp lists the mechanisms of a job with their keys, and shows an example.
func mechanismsHelp(verb string) string {
	var g render.Grid
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
		g.Add("  "+name, strings.Join(needed, " "))
	}
	return "\nEach MECHANISM is one argument in quotes, a name and its keys:\n\n" + g.Text("   ") +
		"\nand each takes [count=N] [sampling=Q [scheme=fixed]]. Numbers are decimals or fractions.\n" +
		"\n  dither " + verb + " --delta 1e-6 \"gaussian sigma=10 count=20\" \"discrete-laplace scale=20\"\n"
}
