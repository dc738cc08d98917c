package statistics

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/formula"
	"dither/stats/regression"
)

// glmSearchFlags are the flags of a search for a regulariser or for a model.
type glmSearchFlags struct {
	tried, trials, score string
	others               []string
}

func (f *glmSearchFlags) declare(s *console.Console) {
	s.Flag(&f.tried, "try", "LIST",
		"logistic: try these penalties, such as 20,50,200, and keep the penalty that predicts the most rows "+
			"correctly; the number of trials is random, and all trials together cost three times the price of one")
	s.Flag(&f.trials, "trials", "N", "with --try: the mean number of trials (default ten for each penalty)")
	s.Flag(func(formula string) error {
		f.others = append(f.others, formula)
		return nil
	}, "or", "FORMULA",
		"logistic: another candidate model, which costs the price again; the result is the candidate that predicts "+
			"the most rows correctly; may be repeated")
	s.Flag(&f.score, "score-epsilon", "E",
		"with --or: the price of the noisy counts of correctly predicted rows (default: the policy's)")
}

// rowsFlag declares --rows for models whose price or steps depend on the number of rows.
func rowsFlag(s *console.Console, into *int64) {
	s.Flag(into, "rows", "N",
		"the approximate number of rows, if it is public or released (default: the policy's number, or a noisy "+
			"count for a twentieth of the price); for linear only theil-sen uses it")
}

// boundFlag declares --bound for models that limit the norm of a row's predictors.
func boundFlag(s *console.Console, into *string) {
	s.Flag(into, "bound", "R",
		"limit the norm of a row's predictors, which are scaled to between -1 and 1 (default: the norm that the "+
			"declared bounds give)")
}

// termFlags declares the flags of models that normalise numbers or select terms.
func termFlags(s *console.Console, normalise, choose *string) {
	s.Flag(normalise, "normalise", "SHARE",
		"linear, logistic and poisson: the share of the price, such as 0.2, that estimates the mean and spread of "+
			"each numeric column; these scale the column, and clamp it to three spreads about its mean")
	s.Flag(choose, "choose", "K",
		"linear and logistic: choose K terms of the formula, or auto to choose their number too; intervals account "+
			"for the choice")
}

// runFitGLM returns a function that fits a generalized linear model of the given family.
func runFitGLM(family string) func(*console.Console, *fitOptions, []string) error {
	return func(s *console.Console, o *fitOptions, args []string) error {
		q := regression.GLM{Family: family}
		rowsFlag(s, &q.Rows)
		boundFlag(s, &q.Bound)
		s.Flag(&q.Radius, "radius", "R",
			"limit the norm of the scaled predictors' coefficients (default 10, or less if the bounds of the "+
				"response require it)")
		s.Flag(&q.Regularise, "regularise", "L",
			"the ridge penalty of --method minimize: a larger one means less noise, and more bias to correct "+
				"(default: chosen by the expected error)")
		s.Flag(&q.Curvature, "curvature", "SHARE",
			"the share of the price of --method minimize for the sums that correct the bias and give intervals; 0 "+
				"for neither (default: chosen by the expected error)")
		termFlags(s, &q.Normalise, &q.Choose)
		clusterFlag(s, &q.Cluster)
		s.Flag(&q.ChooseShare, "choose-share", "SHARE",
			"logistic: the share of the price that chooses terms (default 0.2)")
		var search glmSearchFlags
		search.declare(s)
		t := gradientFlags(s)
		k := &calibrationFlags{}
		if family == regression.Logistic {
			classFlags(s, &q.Classes)
			k = flagsOfCalibration(s)
		}
		helped, err := o.parsed(s, args)
		if err != nil || helped {
			return err
		}
		q.Request, q.Confidence, q.Table, q.Formula, q.Where = o.Request, o.Confidence, o.table, o.formula, o.where
		if err := k.check(s, o); err != nil {
			return err
		}
		if s.Format == "csv" && (search.tried != "" || len(search.others) > 0) {
			return console.Usage(
				"--format csv contains only the coefficients of one fit; for a search use table, json or markdown")
		}
		if search.tried == "" && search.trials != "" {
			return console.Usage("--trials needs --try, such as --try 20,50,200")
		}
		if len(search.others) == 0 && search.score != "" {
			return console.Usage(
				"--score-epsilon needs --or FORMULA: it is the price of the counts that choose among several models")
		}
		switch q.Method = o.method; o.method {
		case "", regression.MethodMinimize, regression.MethodNewton, regression.MethodObjective:
			if err := noneOf(s, "--method gradient", "clip", "rate", "multiplier", "optimiser",
				"learning", "steps", "delta"); err != nil {
				return err
			}
			if search.tried != "" {
				if q.Method != "" && q.Method != regression.MethodMinimize {
					return console.Usage("--try tries ridge penalties of --method minimize, not of --method %s", q.Method)
				}
				if k.asked {
					return console.Usage(
						"--calibration does not go with --try: fit the chosen penalty with --regularise and " +
							"--calibration")
				}
				if err := noneOf(s, "fits without --try", "or", "score-epsilon", "plot",
					"confidence"); err != nil {
					return err
				}
				return tryGLM(s, o, q, search.tried, search.trials)
			}
			if len(search.others) > 0 {
				if k.asked {
					return console.Usage(
						"--calibration does not go with --or: fit the chosen model again, free, with --calibration")
				}
				return searchGLM(s, o, q, search.others, search.score)
			}
		case "gradient":
			if err := noneOf(s, "--method minimize, newton or objective", "or", "score-epsilon", "radius",
				"regularise", "curvature", "plot", "confidence", "normalise", "choose", "choose-share", "cluster",
				"try", "trials"); err != nil {
				return err
			}
			t.Kind, t.Bound, t.Rows, t.Classes = family, q.Bound, q.Rows, q.Classes
			return fitByGradients(s, o, t, k)
		default:
			return console.Usage("--method of a %s model must be minimize, newton (logistic only), objective (logistic only) or "+
				"gradient, not %q", family, o.method)
		}
		return fitting(s, o,
			func(c *curator.Session) (out glmExplained, err error) {
				if out.GLMExplanation, err = regression.ExplainGLM(context.Background(), c, q); err == nil {
					out.Calibration, err = k.explained(c, o, q.Classes)
				}
				return out, err
			},
			func(e glmExplained) error { return showGLMExplanation(s, e) },
			func(c *curator.Session) (out glmFitted, err error) {
				if k.asked {
					e, err := regression.ExplainGLM(context.Background(), c, q)
					if err != nil {
						return out, err
					}
					if err := k.affordable(c, o, q.Classes, e.Price, e.Replayed); err != nil {
						return out, err
					}
				}
				if out.GLMFit, err = regression.FitGLM(s.Context(), c, q); err == nil && k.asked {
					out.Calibration, out.failed = out.Calibrate(s.Context(), c, k.Calibration)
				}
				return out, err
			},
			func(f glmFitted) error {
				return errors.Join(showGLM(s, f), f.failed, o.picture.Draw(glmChart(f.GLMFit)), k.draw(f.Calibration))
			})
	}
}

// glmFitted is a fit with its calibration, if one is requested. failed is the error of a calibration that failed.
type glmFitted struct {
	*regression.GLMFit
	Calibration *regression.Calibrated `json:"calibration,omitempty"`
	failed      error
}

// glmExplained is the explanation of a fit with that of its calibration, if one is requested.
type glmExplained struct {
	*regression.GLMExplanation
	Calibration *regression.CalibrationExplanation `json:"calibration,omitempty"`
}

// noneOf returns an error if one of the named flags is given. The text `only` states the condition under which these
// flags are valid.
func noneOf(s *console.Console, only string, names ...string) (err error) {
	s.Flags.Visit(func(f *flag.Flag) {
		if slices.Contains(names, f.Name) {
			err = console.Usage("--%s is only for %s", f.Name, only)
		}
	})
	return err
}

func showGLM(s *console.Console, f glmFitted) error {
	switch s.Format {
	case "json":
		return s.JSON(f)
	case "csv":
		return glmCSV(s, f.GLMFit)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", f.Formula, f.Table, f.Model))
	factor := map[string]string{regression.Logistic: "odds ratio", regression.Poisson: "rate ratio"}[f.Model]
	var rows [][]string
	for _, c := range f.Coefficients {
		places := placesOf(c.Estimate)
		if c.StdError != nil {
			places = render.Decimals(*c.StdError)
		}
		row := []string{
			c.Name, fixed(c.Estimate, places, "?"), fixed(c.StdError, places, "?"), "?", "?",
			fixedInterval(c.Low, c.High, places), "?", "",
		}
		if c.Z != nil {
			row[3], row[4] = render.Fixed(*c.Z, 2), pValue(*c.P)
		}
		if c.StdError != nil && *c.StdError > 0 {
			row[6] = render.Fixed(100*square(*c.Privacy / *c.StdError), 0) + " %"
		}
		if c.Estimate != nil && c.Name != formula.InterceptName {
			if ratio := math.Exp(*c.Estimate); ratio < 1e6 {
				row[7] = ratioText(ratio)
			}
		}
		rows = append(rows, row)
	}
	lay(s, []string{
		"", "estimate", "std. error", "z", "p", render.Percent(string(f.Confidence)) + " interval",
		"noise share of the variance", factor,
	}, rows, 1)
	paragraphs(s, glmWords(f.GLMFit))
	if f.Calibration != nil {
		showCalibration(s, f.Calibration)
	}
	return nil
}

func square(x float64) float64 { return x * x }

// placesOf returns how many decimal places a coefficient without an error has: four, or as many as show four digits of a
// smaller one.
func placesOf(x *float64) int {
	if x == nil || *x == 0 {
		return 4
	}
	return max(4, render.Decimals(math.Abs(*x)/100))
}

// ratioText writes a ratio with four digits, or one near 1 with as many as show three digits of the difference.
func ratioText(ratio float64) string {
	if off := math.Abs(ratio - 1); off > 0 && off < .01 {
		return render.Fixed(ratio, min(15, render.Decimals(off)+1))
	}
	return strconv.FormatFloat(ratio, 'g', 4, 64)
}

func glmWords(f *regression.GLMFit) string {
	var b strings.Builder
	by := "as declared"
	if f.Counted {
		by = "by a noisy count"
	}
	fmt.Fprintf(&b, "about %s rows, %s; scaled predictors limited to norm %s; ",
		render.Compact(math.Round(f.Rows)), by, render.Compact(f.Bound))
	switch f.Method {
	case regression.MethodNewton:
		b.WriteString("noisy Newton steps\n")
	case regression.MethodObjective:
		fmt.Fprintf(&b, "noise inside the objective; ridge penalty %s; %s of the price pays for the curvature that intervals need\n",
			render.Compact(f.Regularise), render.Percent(strconv.FormatFloat(f.Curvature, 'f', -1, 64)))
	default:
		fmt.Fprintf(&b, "ridge penalty %s; %s of the price pays for bias correction and intervals\n",
			render.Compact(f.Regularise), render.Percent(strconv.FormatFloat(f.Curvature, 'f', -1, 64)))
	}
	b.WriteString(foundWords(f.Bounds))
	b.WriteString(clusterWords(f.Clustered))
	b.WriteString("intervals are for the population that the rows are sampled from: they cover sampling and noise\n")
	b.WriteString(allowanceWords(f))
	levelWords(&b, f.Response, f.Levels)
	closing(&b, f.Warnings, f.Paid, f.IDs...)
	return b.String()
}

// allowanceWords says why intervals are wider than their standard errors imply, if there are intervals.
func allowanceWords(f *regression.GLMFit) string {
	if !slices.ContainsFunc(f.Coefficients, func(c regression.GLMCoefficient) bool { return c.StdError != nil && c.Low != nil }) {
		return ""
	}
	allowed := "for what the correction of the ridge penalty's bias may leave"
	if f.Method == regression.MethodNewton {
		allowed = "for the higher orders that the last step leaves out, and for the assumption about the coefficients, which shrinks them"
	}
	return "they also allow " + allowed + ", so they may be several standard errors wide; z is the estimate less this allowance, in " +
		"standard errors\n"
}

func showGLMExplanation(s *console.Console, e glmExplained) error {
	if s.Format == "json" {
		return s.JSON(e)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", e.Formula, e.Table, e.Model))
	of, penalty := "a minimum of", render.Compact(e.Regularise)
	switch e.Method {
	case regression.MethodNewton:
		of, penalty = "the last gradient of", "-"
	case regression.MethodObjective:
		of = "the gradient of"
	}
	lay(s, []string{of, "noise", "std. dev.", "sensitivity", "ridge penalty", "radius", "norm"},
		[][]string{{
			strconv.Itoa(len(e.Columns)) + " coefficients", e.Noise, render.Compact(e.StdDev),
			render.Compact(e.Sensitivity), penalty, render.Compact(e.Radius),
			render.Compact(e.Bound),
		}}, 2)
	if len(e.Scores) > 0 {
		s.Print("\n")
		layMeasured(s, e.Scores)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "predictors, scaled by their bounds to between -1 and 1: %s\n", strings.Join(e.Columns, ", "))
	if e.Expected != nil {
		fmt.Fprintf(
			&b, "by --method %s, with about %s rows of typical spread, noise adds about %s to the error of a scaled "+
				"predictor's coefficient\n", e.Method, render.Compact(e.Rows), render.Compact(*e.Expected))
	}
	for _, m := range e.Methods {
		if m.Method != e.Method && m.Expected != nil {
			fmt.Fprintf(&b, "by --method %s it would be about %s\n", m.Method, render.Compact(*m.Expected))
		}
	}
	if e.Count != nil {
		fmt.Fprintf(
			&b, "the number of rows is not declared: a noisy count of them costs %s of the price, which --rows N "+
				"avoids; these figures assume %s rows\n", *e.Count, render.Compact(e.Rows))
	}
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	levelWords(&b, e.Response, e.Levels)
	calibrationWords(&b, e.Calibration)
	affordability(&b, e.Quoted, e.Replayed)
	paragraphs(s, b.String())
	return nil
}

// glmChart draws coefficients on the scale of the linear predictor.
func glmChart(f *regression.GLMFit) plot.Chart {
	caption := render.BoundedCaption(f.Limits, pricePaid(f.Price, f.Replayed)+"; "+
		render.Percent(string(f.Confidence))+" intervals cover sampling and noise"+dependentCaption(f.Clustered))
	var all []coefficient
	for _, k := range f.Coefficients {
		all = append(all, coefficient{k.Name, k.Width, k.Estimate, k.Low, k.High})
	}
	return coefficientsChart(f.Formula, caption, "change of the linear predictor over a column's range", all)
}
