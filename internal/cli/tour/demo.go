// Package tour contains the command dither demo: a tour on real and made-up data, and a made-up town for
// experiments.
package tour

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"dither/curator"
	"dither/examples/randhie"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// tour lists the demo's questions about the RAND table, in order.
var tour = []struct{ why, sql string }{
	{
		"How large is the experiment?",
		"SELECT COUNT(*) AS person_years FROM visits",
	},
	{
		"Do people see a physician more often when care is free?",
		"SELECT lncoins = 0 AS free_care, COUNT(*) AS person_years, AVG(mdvis) AS visits FROM visits GROUP BY 1",
	},
	{
		"How does the coinsurance rate change the number of visits?",
		"SELECT CASE WHEN lncoins = 0 THEN ' 0 %' WHEN lncoins < 3.5 THEN '25 %' WHEN lncoins < 4.1 THEN '50 %' " +
			"ELSE '95 %' END AS coinsurance,\n" +
			"       AVG(mdvis) AS visits\nFROM visits GROUP BY coinsurance ORDER BY coinsurance",
	},
	{
		"Who uses care? Visits and chronic disease by self-rated health.",
		"SELECT CASE WHEN hlthp = 1 THEN 'poor' WHEN hlthf = 1 THEN 'fair' WHEN hlthg = 1 THEN 'good' ELSE " +
			"'excellent' END AS health,\n" +
			"       AVG(mdvis) AS visits, AVG(disea) AS disease_index\nFROM visits GROUP BY health ORDER BY visits",
	},
	{
		"What share sees no physician at all in a year, with and without an individual deductible?",
		"SELECT idp AS deductible, 100.0 * COUNT(CASE WHEN mdvis = 0 THEN 1 END) / COUNT(*) AS " +
			"percent_without\nFROM visits GROUP BY idp",
	},
	{
		"How are visits distributed? A histogram costs one price, not one for each bar.",
		"SELECT LEAST(mdvis, 10) AS visits, COUNT(*) AS person_years FROM visits GROUP BY 1",
	},
}

// Demo is the command `dither demo`.
var Demo = console.Verb{
	Name:  "demo",
	Args:  "[--keep DIR] | data --rows N [--seed S] [--format csv|parquet] [--out DIR]",
	About: "show a tour with real and made-up data, or make up a town for experiments",
	Run:   runDemo,
}

// runDemo shows the tour on the RAND table and on a made-up town, in a temporary folder unless --keep names one.
// With the argument data, it only creates a town.
func runDemo(s *console.Console, args []string) (err error) {
	if len(args) > 0 && args[0] == "data" {
		return runDemoData(s, args[1:])
	}
	keep := ""
	s.Flag(&keep, "keep", "DIR", "keep the demo's home in DIR, a new folder")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 0 {
		return console.Usage("demo [--keep DIR], or demo data --rows N [--seed S] [--format csv|parquet] [--out DIR]")
	}
	folder, err := os.MkdirTemp("", "dither-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// After an interruption or a closed output, the tour ends as after an error, and removes its folder.
	ctx, stop := console.Interruptible()
	defer stop()
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE) // a closed output then fails the write instead of ending the process
	defer signal.Stop(pipe)
	t := &guide{Console: s, ctx: ctx, home: keep, state: filepath.Join(folder, "state")}
	if t.home == "" {
		t.home = filepath.Join(folder, "home")
	}
	if err := unpack(t.home); err != nil {
		return err
	}
	if err := t.experiment(); err != nil {
		return err
	}
	return t.town(filepath.Join(t.home, defaultTown))
}

// guide is the state of a tour, and runs its steps.
type guide struct {
	*console.Console
	ctx context.Context //nolint:containedctx // lives as long as the tour
	// state is the folder that records sources in use, apart from the user's own: the home of a tour is temporary
	home, state string
}

// step returns an error if the tour must end: its output is lost, or it was interrupted.
func (t *guide) step() error {
	if err := t.Lost(); err != nil {
		return err
	}
	if t.ctx.Err() != nil {
		return &curator.Error{Code: curator.CodeCancelled, Message: "the tour was interrupted"}
	}
	return nil
}

func (t *guide) seal(c *curator.Owner, table string) (*curator.SealReport, error) {
	report, err := c.Seal(t.ctx, table, curator.SealOptions{StateHome: t.state})
	return report, errors.Join(err, t.step())
}

// unpack creates a home with the files of the example randhie.
func unpack(home string) error {
	if err := curator.Init(home); err != nil {
		return err
	}
	return fs.WalkDir(randhie.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := randhie.Files.ReadFile(name)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(home, name), text)
	})
}

// writeNew creates a file, and fails if it exists, so that it never overwrites a folder in use.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// experiment runs the part of the tour on the RAND table.
func (t *guide) experiment() error {
	c, err := curator.Open(t.home)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	t.Print("The owner seals the file: dither reads it once, strictly, and questions never read it again.\n\n")
	report, err := t.seal(c, "visits")
	if err != nil {
		return err
	}
	t.Print("%s\nBefore spending anything, an analyst asks what a question would cost and how accurate it would be.\n",
		report.Text)
	if err := t.show(c, curator.Question{SQL: tour[1].sql}, true); err != nil {
		return err
	}
	t.Print("\nSix questions of a health economist.\n")
	for _, q := range tour {
		t.Print("\n%s\n", q.why)
		if err := t.show(c, curator.Question{SQL: q.sql}, false); err != nil {
			return err
		}
	}
	t.Print("\nThe budget is spent. A new question is refused ...\n")
	err = t.show(c, curator.Question{SQL: "SELECT AVG(physlm) FROM visits"}, false)
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodeExhausted {
		return errors.Join(errors.New("demo: the budget should have been exhausted"), err)
	}
	t.Print("  refused: %s\n", e)
	t.Print("\n... but earlier answers are still free: reworded, rounded, filtered or sorted.\n")
	return t.show(c, curator.Question{
		SQL: "SELECT LEAST(mdvis, 10) AS visits, ROUND(COUNT(*)) AS n FROM visits\n" +
			"GROUP BY 1 HAVING COUNT(*) > 1000 ORDER BY n DESC",
	}, false)
}

// show prints a question as a user would type it, with its answer or its explanation.
func (t *guide) show(c *curator.Owner, q curator.Question, explain bool) error {
	if err := t.step(); err != nil {
		return err
	}
	verb := "query"
	if explain {
		verb = "explain"
	}
	if q.MaxRows != "" {
		verb += " --max-rows " + q.MaxRows
	}
	if q.Truncation != "" {
		verb += " --truncation " + q.Truncation
	}
	t.Print("\n$ dither %s \"%s\"\n", verb, strings.ReplaceAll(q.SQL, "\n", "\n    "))
	if explain {
		e, err := c.Explain(t.ctx, q)
		if err != nil {
			return err
		}
		t.Print("%s", render.ExplanationText(e))
		return nil
	}
	r, err := c.Answer(t.ctx, q)
	if err != nil {
		return err
	}
	t.Print("%s", render.ReleaseTable(r))
	return nil
}
