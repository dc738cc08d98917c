package statistics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/regression"
)

// searchGLM fits several models, and shows the one that predicts best.
func searchGLM(s *console.Console, o *fitOptions, q regression.GLM, others []string, epsilon string) error {
	search := regression.GLMSearch{Score: curator.Question{Epsilon: epsilon, Analyst: o.Analyst, Fresh: o.Fresh}}
	for _, formula := range append([]string{o.formula}, others...) {
		q.Formula = formula
		search.Candidates = append(search.Candidates, q)
	}
	return s.Sealing(func(c *curator.Curator) error {
		if o.explain {
			return console.Usage("--explain is of one model: a search costs what each of them does, and the counts' --score-epsilon")
		}
		r, err := regression.SearchGLM(s.Context(), c, search)
		if err != nil {
			return err
		}
		best := r.Fits[r.Best]
		if s.Format == "json" {
			return errors.Join(s.JSON(searchedJSON{r}), o.picture.Draw(glmChart(best)))
		}
		var rows [][]string
		for i, f := range r.Fits {
			mark := ""
			if i == r.Best {
				mark = "chosen"
			}
			rows = append(rows, []string{f.Formula, render.Compact(math.Round(r.Correct[i])), render.Compact(r.StdDev[i]), mark})
		}
		lay(s, []string{"model", "rows predicted rightly", "std. dev. of the noise", ""}, rows, 1)
		unit := "ε"
		if r.Rho {
			unit = "ρ"
		}
		paragraphs(s, fmt.Sprintf("all models and counts together: price %s = %s, remaining %s (%s)\n"+
			"the model was chosen by what these rows say: its intervals are as if it had been the only one\n\n", unit, r.Price, r.Remaining, r.ID))
		return errors.Join(showGLM(s, glmFitted{GLMFit: best}), o.picture.Draw(glmChart(best)))
	})
}

// searchedJSON is a search in JSON.
type searchedJSON struct{ *regression.GLMSearched }

// MarshalJSON writes the search and the chosen model.
func (r searchedJSON) MarshalJSON() ([]byte, error) {
	type candidate struct {
		Formula string  `json:"formula"`
		Correct float64 `json:"correct"`
		StdDev  float64 `json:"stddev"`
	}
	out := struct {
		ID         string       `json:"id"`
		Candidates []candidate  `json:"candidates"`
		Best       int          `json:"best"`
		Model      glmJSON      `json:"model"`
		Price      string       `json:"price"`
		Unit       string       `json:"unit"`
		Remaining  curator.Loss `json:"remaining"`
		Replayed   bool         `json:"replayed"`
	}{ID: r.ID, Best: r.Best, Model: glmJSON{glmFitted{GLMFit: r.Fits[r.Best]}}, Price: r.Price, Unit: "epsilon", Remaining: r.Remaining, Replayed: r.Replayed}
	if r.Rho {
		out.Unit = "rho"
	}
	for i, f := range r.Fits {
		out.Candidates = append(out.Candidates, candidate{f.Formula, r.Correct[i], r.StdDev[i]})
	}
	return json.Marshal(out)
}
