package statistics

import (
	"errors"
	"fmt"
	"math"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/regression"
)

// searchGLM fits several models, and shows the one that predicts the most rows correctly.
func searchGLM(s *console.Console, o *fitOptions, q regression.GLM, others []string, epsilon string) error {
	search := regression.GLMSearch{Score: curator.Request{Epsilon: epsilon, Analyst: o.Analyst, Fresh: o.Fresh}}
	for _, formula := range append([]string{o.formula}, others...) {
		q.Formula = formula
		search.Candidates = append(search.Candidates, q)
	}
	return s.Asking(func(c *curator.Session) error {
		if o.explain {
			return console.Usage(
				"--explain supports one model at a time; a search costs the price of each model, and " +
					"--score-epsilon for the counts")
		}
		r, err := regression.SearchGLM(s.Context(), c, search)
		if err != nil {
			return err
		}
		best := r.Model
		if s.Format == "json" {
			return errors.Join(s.JSON(r), o.picture.Draw(glmChart(best)))
		}
		var rows [][]string
		for i, k := range r.Candidates {
			mark := ""
			if i == r.Best {
				mark = "chosen"
			}
			rows = append(rows, []string{
				k.Formula, render.Compact(math.Round(k.Correct)),
				render.Compact(k.StdDev), mark,
			})
		}
		lay(s, []string{"model", "rows predicted correctly", "std. dev. of the noise", ""}, rows, 1)
		unit := "ε"
		if r.Unit == "rho" {
			unit = "ρ"
		}
		paragraphs(s, fmt.Sprintf("all models and counts together: price %s = %s, remaining %s (%s)\nthe model was "+
			"chosen by its predictions on these rows; its intervals do not account for the choice\n\n", unit,
			r.Price, r.Remaining, r.ID))
		return errors.Join(showGLM(s, glmFitted{GLMFit: best}), o.picture.Draw(glmChart(best)))
	})
}
