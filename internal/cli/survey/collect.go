package survey

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/collector"
	declared "dither/local/survey"
)

// Collect is the command `dither collect`.
var Collect = console.Verb{
	Name:  "collect",
	Args:  "check|serve|send|results SURVEY.yaml",
	About: "run a survey whose participants randomize their answers, and estimate from their reports",
	Run:   runCollect,
	More:  func(*console.Console) string { return collectHelp },
	Words: func() []string { return []string{"check", "serve", "send", "results"} },
}

const collectHelp = `
check validates a survey and states its ε. serve receives reports over HTTPS and keeps them in a SQLite file. send
randomizes the answers of a CSV file, whose columns are the questions, saves the reports, and sends them. If it runs
again, it sends the saved reports, which are counted once. results estimates the number of senders with each value, and
the means of numbers.

  dither collect serve survey.yaml --addr 127.0.0.1:8484 --store reports.db
  dither collect send survey.yaml --to http://127.0.0.1:8484 --in answers.csv
  dither collect results survey.yaml --store reports.db
`

// collectOptions are the values of the flags.
type collectOptions struct {
	survey *declared.Survey

	addr, store, cert, key, submit, read, rate, address string // serve
	plain                                               bool
	to, in, reports, batch                              string // send
	confidence, malicious                               string // results
	picture                                             console.Picture
}

// collectTask is a subcommand with its flags besides --format.
type collectTask struct {
	name    string
	formats []string
	flags   []string
	run     func(*console.Console, *collectOptions) error
}

func collectTasks() []collectTask {
	return []collectTask{
		{"check", []string{"table", "json"}, nil, collectCheck},
		{
			"serve", nil,
			[]string{"addr", "store", "cert", "key", "plain", "submit-token", "read-token", "rate", "per-address"},
			collectServe,
		},
		{"send", []string{"table", "json"}, []string{"to", "in", "reports", "batch", "submit-token"}, collectSend},
		{"results", console.AnyFormat, []string{"store", "confidence", "malicious", "plot"}, collectResults},
	}
}

func (o *collectOptions) declare(s *console.Console, formats, names []string) {
	if formats != nil {
		s.FormatFlag(formats...)
	}
	for _, f := range []struct {
		into               any
		name, value, about string
	}{
		{&o.addr, "addr", "HOST:PORT", "the address to listen at (default 127.0.0.1:8484)"},
		{&o.store, "store", "FILE", "the SQLite file of the reports"},
		{&o.cert, "cert", "FILE", "the TLS certificate, in PEM; with --key"},
		{&o.key, "key", "FILE", "the key of the certificate, in PEM"},
		{&o.plain, "plain", "", "serve HTTP without TLS at an address that other machines reach, such as behind a proxy"},
		{&o.submit, "submit-token", "FILE", "the file with the token of those who send reports (default: everybody may)"},
		{&o.read, "read-token", "FILE", "the file with the token of those who read results (default: everybody may)"},
		{&o.rate, "rate", "R", "the most requests with reports in a second (default: any)"},
		{&o.address, "per-address", "C", "the most connections of one address, or 0 for any (default 256)"},
		{&o.to, "to", "URL", "the address of the collector, such as https://survey.example.org"},
		{&o.in, "in", "FILE", "the CSV file of answers: the first line names the questions"},
		{&o.reports, "reports", "FILE", "the file that keeps the reports, so that they are drawn once (default: that of --in with .reports)"},
		{&o.batch, "batch", "B", "the number of reports in a request (default 1000)"},
		{&o.malicious, "malicious", "M", "the number of malicious reports to assume (default: 1 % of all)"},
		{&o.picture.File, "plot", "FILE", "draw the estimates of the first eight questions as FILE.svg or FILE.png"},
	} {
		if slices.Contains(names, f.name) {
			s.Flag(f.into, f.name, f.value, f.about)
		}
	}
	if slices.Contains(names, "confidence") {
		s.ConfidenceFlag(&o.confidence)
	}
}

// runCollect runs a subcommand. It reads no home and spends nothing.
func runCollect(s *console.Console, args []string) error {
	var names []string
	for _, t := range collectTasks() {
		names = append(names, t.name)
	}
	o := &collectOptions{addr: "127.0.0.1:8484", address: "256", batch: "1000", confidence: "0.95"}
	declare := func(kind int) {
		if kind >= 0 {
			o.declare(s, collectTasks()[kind].formats, collectTasks()[kind].flags)
			return
		}
		var all []string
		for _, t := range collectTasks() {
			all = append(all, t.flags...)
		}
		o.declare(s, console.AnyFormat, all)
	}
	kind := -1
	if len(args) > 0 {
		kind = slices.Index(names, args[0])
	}
	if kind < 0 { // help, or an error
		return s.Kinds("collect", names, args, declare, func(int) error { return nil })
	}
	declare(kind)
	rest, helped, err := s.Parse(args[1:])
	if err != nil || helped {
		return err
	}
	if len(rest) != 1 {
		return console.Usage("collect %s takes one file, the survey: dither collect %s SURVEY.yaml", args[0], args[0])
	}
	if o.survey, err = surveyOf(rest[0]); err != nil {
		return err
	}
	return collectError(collectTasks()[kind].run(s, o))
}

// surveyOf reads a survey.
func surveyOf(file string) (*declared.Survey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, console.Usage("%v", err)
	}
	s, err := declared.Parse(text)
	if err != nil {
		return nil, console.Usage("%s: %s", file, strings.TrimPrefix(err.Error(), declared.ErrSurvey.Error()+": "))
	}
	return s, nil
}

// collectError turns a changed survey into an error of usage.
func collectError(err error) error {
	if errors.Is(err, collector.ErrChanged) {
		return console.Usage("%v", err)
	}
	return localError(err)
}

// storeFlag returns an error if --store is missing.
func (o *collectOptions) storeFlag() error {
	if o.store == "" {
		return console.Usage("--store is missing: the SQLite file of the reports")
	}
	return nil
}

// retention states the age at which reports become counts, and the analyses that are lost then.
func retention(v *declared.Survey) string {
	if v.Fold == 0 {
		return ""
	}
	age := render.Plural(int(v.Fold/time.Second), "second")
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if v.Fold%unit.of == 0 {
			age = render.Plural(int(v.Fold/unit.of), unit.name)
			break
		}
	}
	return fmt.Sprintf("Reports become counts %s after they arrive, and are deleted. The estimates stay the same. "+
		"These analyses are\n"+
		"lost then: tables of two questions, counts by time, estimates for a part of the reports, and the removal of\n"+
		"one sender's reports.\n", age)
}

// collectCheck states what a survey promises.
func collectCheck(s *console.Console, o *collectOptions) error {
	v := o.survey
	if s.Format == "json" {
		return s.JSON(v)
	}
	g := render.Grid{Right: []bool{false, true, false, true, true}}
	g.Add("question", "values", "mechanism", "ε", "bits")
	for i := range v.Questions {
		q := &v.Questions[i]
		values := q.Low + " to " + q.High
		if q.Oracle != nil {
			values = render.ShortInt(int64(q.Oracle.Params().Values))
		}
		g.Add(q.Name, values, q.Mechanism(), render.Given(q.Epsilon().Rat()), render.ShortInt(int64(q.Bits())))
	}
	s.Print("%s\n", g.Text("  "))
	s.Print("A report has ε = %s.", render.Given(v.Epsilon().Rat()))
	if v.Reports > 1 {
		s.Print(" The %d reports of a device have ε = %s together.", v.Reports, render.Given(v.Lifetime().Rat()))
	}
	s.Print("\n%s", retention(v))
	s.Print("The digest of version %d is %s.\n", v.Version, v.DigestText())
	return nil
}
