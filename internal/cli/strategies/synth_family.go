package strategies

import (
	"fmt"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
)

// family is the flags of a table of persons with a table of their rows.
type family struct {
	children, out, order string
	people, report       string // reports
	progress             bool
	draws                int
}

// runFamily synthesizes both tables.
func runFamily(s *console.Console, r synth.Request, f *family, people string, explain bool) error {
	switch {
	case f.children == "":
		return console.Usage("--children-out, --children-report and --order need --children T, the table of the persons' rows")
	case f.draws != 0:
		return console.Usage("--children takes no --draws: estimates over draws are about one table, whose rows are persons; leave one of them out")
	case !explain && (f.out == "" || f.out == people):
		return console.Usage("two targets are needed: --out FILE for the persons, and --children-out FILE for their rows")
	}
	q := synth.FamilyRequest{Request: r, Children: f.children, Order: f.order}
	return s.Asking(func(c *curator.Session) error {
		if explain {
			p, err := synth.ExplainFamily(s.Context(), c, q)
			if err != nil {
				return err
			}
			return showFamilyPlan(s, c, p)
		}
		result, err := synthesizedFamily(s, c, q, f.progress)
		if err != nil {
			return err
		}
		above, below := result.Tables()
		if err = writeRows(s, people, above); err == nil {
			err = writeRows(s, f.out, below)
		}
		for _, report := range []struct {
			name string
			of   *synth.Result
		}{{f.people, result.Parents}, {f.report, result.Children}} {
			if err == nil && report.name != "" {
				err = writeSynthReport(report.name, report.of)
			}
		}
		if err != nil {
			return fmt.Errorf("the rows could not be written: %w (%s is recorded: repeat the command, free)", err, result.Parents.Release)
		}
		return showFamily(s, result, described(people, above), described(f.out, below))
	})
}

func synthesizedFamily(s *console.Console, c *curator.Session, q synth.FamilyRequest, progress bool) (*synth.FamilyResult, error) {
	defer watched(s, &q.Request, progress)()
	return synth.SynthesizeFamily(s.Context(), c, q)
}

// showFamilyPlan prints the plans of both tables.
func showFamilyPlan(s *console.Console, c *curator.Session, p *synth.FamilyPlan) error {
	persons, err := p.Parents.Compare(s.Context(), c)
	if err != nil {
		return err
	}
	rows, err := p.Children.Compare(s.Context(), c)
	if err != nil {
		return err
	}
	if s.Format == "json" {
		return s.JSON(struct {
			Parents    synth.Explained `json:"parents"`
			Children   synth.Explained `json:"children"`
			Most       int64           `json:"rows_per_unit"`
			Order      string          `json:"order"`
			Price      curator.Loss    `json:"price"`
			Affordable bool            `json:"affordable"`
		}{synth.Explained{Plan: p.Parents, Direct: persons}, synth.Explained{Plan: p.Children, Direct: rows}, p.Most, p.Order, p.Price, p.Affordable})
	}
	if err := showSynthPlan(s, p.Parents, persons); err != nil {
		return err
	}
	if err := showSynthPlan(s, p.Children, rows); err != nil {
		return err
	}
	price := p.Price.String()
	if !p.Affordable {
		price += ", more than what remains"
	}
	s.Print("price of both: %s. At most %d rows of one person count in %s\n", price, p.Most, render.Printable(p.Children.Table))
	return nil
}

// showFamily prints what was made.
func showFamily(s *console.Console, r *synth.FamilyResult, people, rows string) error {
	if s.Format == "json" {
		return s.JSON(struct {
			Parents  *synth.Result `json:"parents"`
			Children *synth.Result `json:"children"`
			Price    curator.Loss  `json:"price"`
		}{r.Parents, r.Children, r.Plan.Price})
	}
	if err := showSynth(s, r.Parents, people); err != nil {
		return err
	}
	s.Print("\n")
	if err := showSynth(s, r.Children, rows); err != nil {
		return err
	}
	if r.Parents.Plan.Method != synth.Recorded {
		s.Print("price of both tables: %s\n", r.Plan.Price)
	}
	s.Print("the rows of a person in %s are in the order of the column %s\n", render.Printable(rows), render.Printable(r.Plan.Order))
	return nil
}
