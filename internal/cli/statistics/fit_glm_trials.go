package statistics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/regression"
)

// tryGLM searches for the best regulariser of a logistic model.
func tryGLM(s *console.Console, o *fitOptions, q regression.GLM, tried, trials string) error {
	search := regression.GLMTrials{GLM: q, Regularisers: strings.Split(tried, ",")}
	if trials != "" {
		n, err := strconv.ParseFloat(trials, 64)
		if err != nil || !(n > 0) || math.IsInf(n, 0) {
			return console.Usage("--trials must be the mean number of trials, a number above 0, not %q", trials)
		}
		search.Trials = n
	}
	return s.Asking(func(c *curator.Session) error {
		run, ctx := regression.TryGLM, s.Context()
		if o.explain {
			run = regression.ExplainTrials
		}
		r, err := run(ctx, c, search)
		if err != nil {
			return err
		}
		if s.Format == "json" {
			return s.JSON(r)
		}
		heading(s, fmt.Sprintf("%s (%s, logistic)", r.Formula, r.Table))
		var rows [][]string
		for _, k := range r.Coefficients {
			estimate, places := "?", render.Decimals(k.Noise)
			if k.Estimate != nil {
				estimate = render.Fixed(*k.Estimate, places)
			}
			rows = append(rows, []string{k.Name, estimate, render.Fixed(k.Noise, places)})
		}
		lay(s, []string{"", "estimate", "std. dev. of the noise"}, rows, 1)
		paragraphs(s, triedWords(r))
		return nil
	})
}

func triedWords(r *regression.GLMTried) string {
	var b strings.Builder
	if r.Correct != nil {
		fmt.Fprintf(
			&b, "ridge penalty %s, the best that was tried: about %s rows predicted correctly, by a count with "+
				"noise of standard deviation %s\n", r.Regularise, render.Compact(math.Round(*r.Correct)),
			render.Compact(*r.CorrectError))
		b.WriteString(
			"there are no intervals: the penalty shrinks coefficients towards 0, and it was chosen by these rows\n")
	}
	fmt.Fprintf(
		&b, "a random number of trials, %s on average, each at price %s; a given penalty is not tried with "+
			"probability %.2g\n", render.Compact(r.Trials), r.Trial, r.Missed)
	if r.ID == "" {
		q := regression.Quoted{Price: r.Price, Remaining: r.Remaining, Affordable: r.Affordable, Largest: r.Largest}
		affordability(&b, q, r.Replayed)
		return b.String()
	}
	closing(&b, nil, r.Paid, r.ID)
	return b.String()
}
