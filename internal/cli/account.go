package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dither/account"
	"dither/privacy"
)

// runAccount tells the loss of a job that is fixed in advance, by every accountant. It reads no home: it spends nothing.
func runAccount(s *session, args []string) error {
	s.formatFlag()
	delta := s.flags.String("delta", "", "")
	epsilon := s.flags.String("epsilon", "", "")
	picture, curve := s.flags.String("plot", "", ""), false
	s.flags.BoolFunc("curve", "", func(file string) error { // --curve=FILE draws into FILE as well
		curve = true
		if file != "true" {
			*picture = file
		}
		return nil
	})
	specs, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case s.format == "csv":
		return usage("account --format is table, json or markdown")
	case (*delta == "") == (*epsilon == ""):
		return usage("account --delta D tells ε, account --epsilon E tells δ: one of them")
	case len(specs) == 0:
		return usage("account needs a mechanism, as \"gaussian sigma=10 count=100\"; there are %s", strings.Join(account.Mechanisms(), ", "))
	case curve && s.format != "table":
		return usage("--curve goes with --format table")
	}
	if err := (&pictures{file: *picture}).check(s); err != nil {
		return err
	}
	job, err := jobOf(specs)
	if err != nil {
		return err
	}
	a := asked{job: job}
	if *delta != "" {
		if a.delta, err = privacy.ParseDelta(*delta); err != nil {
			return usage("--delta: %v", err)
		}
		a.report, err = job.Epsilon(a.delta)
	} else {
		if a.epsilon, err = privacy.ParseEpsilon(*epsilon); err != nil {
			return usage("--epsilon: %v", err)
		}
		a.ofDelta = true
		a.report, err = job.Delta(a.epsilon)
	}
	if err != nil {
		return usage("%v", err)
	}
	return s.showAccount(a, curve, *picture)
}

// jobOf reads the specs of a job.
func jobOf(specs []string) (*account.Job, error) {
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
		s.print("%s\n%s\n", markdownTable(header, []bool{1: true}, rows), markdownText(a.words()))
	default:
		header, rows := a.rows()
		g := grid{right: []bool{false, true}}
		g.add(header...)
		for _, row := range rows {
			g.add(row...)
		}
		s.print("%s\n%s\n", g.text("  "), a.words())
	}
	if !curve && picture == "" {
		return nil
	}
	points, err := curveOf(a.job, picture != "")
	if err != nil {
		return err
	}
	if curve {
		s.print("\n%s", curveTable(points, max(chartWidth(s.stdout)-30, 20)).text("  "))
	}
	if picture != "" {
		return drawCurve(points, picture)
	}
	return nil
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
	header = []string{"accountant", "ε at δ = " + a.delta.String(), ""}
	if a.ofDelta {
		header[1] = "δ at ε = " + a.epsilon.String()
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
	if !least.Told() {
		return "No accountant tells it: " + least.Why + "."
	}
	e, _ := a.epsilon.Rat().Float64()
	d, _ := a.delta.Rat().Float64()
	if a.ofDelta {
		d = least.Value
	} else {
		e = least.Value
	}
	other := "without it"
	if n, ok := a.job.Relation(); ok && n == privacy.ChangeOne {
		other = "with another's in its place"
	}
	plus := ""
	if d > 0 {
		plus = ", plus " + above(d)
	}
	return fmt.Sprintf("Together (%s, %s)-differentially private, by %s: with a person's data no outcome is more than %s times as\n"+
		"probable as %s%s. Each figure is a certified bound for a job that is fixed in advance;\nnone of them rules a budget.",
		above(e), above(d), name, above(math.Exp(e)), other, plus)
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
func above(x float64) string { return sixDigits(x, 1) }

// below writes it rounded down.
func below(x float64) string { return sixDigits(x, -1) }

func sixDigits(x, direction float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.Replace(strconv.FormatFloat(x, 'g', 6, 64), "+Inf", "∞", 1)
	}
	text := strconv.FormatFloat(x, 'e', 5, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1)) // of FormatFloat's own making
	power, _ := strconv.Atoi(exponent)
	if y, err := strconv.ParseFloat(text, 64); err == nil && (y-x)*direction < 0 {
		digits += int(direction)
	}
	// Six digits of which the last was moved: 1000000e−5 is 1e1, and 99999e−5 is itself.
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, power-5), 64)
	return strconv.FormatFloat(y, 'g', 6, 64)
}
