package strategies

import (
	"encoding/csv"
	"math"
	"os"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
)

// mostExamBytes bounds the file of synthetic rows that a test reads.
const mostExamBytes = 1 << 30

// runExam is `dither synth test`.
func runExam(s *console.Console, args []string) error {
	var r synth.ExamRequest
	var target, bins string
	var explain bool
	s.FormatFlag("table", "json")
	s.Flag(&r.Table, "table", "T", "the real table, of which the policy holds units out")
	s.Flag(&target, "target", "C=VALUE", "the column and the value that a classifier predicts, such as smoker=true")
	s.Flag(&explain, "explain", "", "show the price, free")
	s.PriceFlags(&r.Epsilon, &r.Rho, "both questions together (default: the policy's holdout_price)")
	s.Flag(&r.Delta, "delta", "D", "with --epsilon, if the budget is under zCDP: the price is the largest ρ that implies (E, D)")
	s.Flag(&bins, "bins", "N", "the largest number of values or bins of a column of numbers (default 32)")
	s.AnalystFlag(&r.Analyst)
	s.FreshFlag(&r.Fresh)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	var found bool
	if r.Target, r.Positive, found = strings.Cut(target, "="); len(rest) != 1 || !isCSV(rest[0]) || !found || r.Table == "" {
		return console.Usage("synth test takes a CSV file of synthetic rows, their table, and what to predict, such as: " +
			"dither synth test people.csv --table people --target smoker=true --epsilon 0.5")
	}
	if bins != "" {
		if r.Bins, err = whole(bins); err != nil || r.Bins < 2 || r.Bins > synth.MaxBins {
			return console.Usage("--bins: %q is not a whole number from 2 to %d", bins, synth.MaxBins)
		}
	}
	if mayBeReal(s.Home, rest[0]) {
		return console.Usage("%s is named in the policy of a home, so its rows may be real", rest[0])
	}
	if r.Header, r.Rows, err = examRows(rest[0]); err != nil {
		return console.Usage("%s: %v", rest[0], err)
	}
	return s.Asking(func(c *curator.Session) error {
		if explain {
			e, err := synth.ExplainExam(s.Context(), c, r)
			if err != nil {
				return err
			}
			return showExamPlan(s, e)
		}
		e, err := synth.Take(s.Context(), c, r)
		if err != nil {
			return err
		}
		return showExam(s, e, target)
	})
}

// showExamPlan prints what a test would cost.
func showExamPlan(s *console.Console, e *synth.Exam) error {
	if s.Format == "json" {
		return s.JSON(struct {
			Price     curator.Loss `json:"price"`
			Remaining curator.Loss `json:"remaining"`
		}{e.Price, e.Remaining})
	}
	s.Print("price of both questions: %s; %s remain\n", e.Price, e.Remaining)
	s.Print("half of it measures a histogram of the scores of a classifier by class, and half pairs of columns\n")
	return nil
}

func examRows(name string) (header []string, rows [][]string, err error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > mostExamBytes {
		return nil, nil, console.Usage("it has more than %d bytes", mostExamBytes)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	return all[0], all[1:], nil
}

// showExam prints the results.
func showExam(s *console.Console, e *synth.Exam, target string) error {
	if s.Format == "json" {
		type marginal struct {
			Columns  []string `json:"columns"`
			Distance float64  `json:"distance"`
			Noise    float64  `json:"noise"`
		}
		number := func(x float64) *float64 {
			if math.IsNaN(x) {
				return nil
			}
			return &x
		}
		out := struct {
			Releases  []string     `json:"releases"`
			Price     curator.Loss `json:"price"`
			HeldOut   float64      `json:"held_out"`
			AUC       *float64     `json:"auc"`
			AUCMargin *float64     `json:"auc_margin"`
			Own       *float64     `json:"auc_synthetic"`
			Score     float64      `json:"k_marginal_score"`
			Noise     float64      `json:"noise"`
			Marginals []marginal   `json:"marginals"`
		}{e.Releases, e.Price, e.HeldOut, number(e.AUC), number(e.AUCMargin), number(e.Own), e.Score, e.Noise, nil}
		for _, m := range e.Marginals {
			out.Marginals = append(out.Marginals, marginal(m))
		}
		return s.JSON(out)
	}
	s.Print("some %s rows were held out; price of both questions: %s\n", render.Thousands(int(e.HeldOut)), e.Price)
	s.Print("a classifier of %s, trained on the synthetic rows:\n", render.Printable(target))
	area := func(x float64) string {
		if math.IsNaN(x) {
			return "unknown: the noise exceeds one class"
		}
		return render.Number6(x)
	}
	s.Print("  area under the curve for held-out real rows: %s ± %s (95 %%, noise alone)\n", area(e.AUC), area(e.AUCMargin))
	s.Print("  area under the curve for the synthetic rows: %s\n\n", area(e.Own))
	g := render.Grid{Right: []bool{false, true, true}}
	g.Add("pair", "distance", "noise alone")
	for _, m := range e.Marginals {
		g.Add(render.Printable(strings.Join(m.Columns, ", ")), render.TwoDigits(m.Distance), render.TwoDigits(m.Noise))
	}
	s.Print("%s\n", g.Text("  "))
	s.Print("k-marginal score: %s of 1, and noise alone takes %s from it\n", render.TwoDigits(e.Score), render.TwoDigits(e.Noise))
	return nil
}
