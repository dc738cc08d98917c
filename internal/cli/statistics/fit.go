// Package statistics implements the statistical commands: fit, estimate, cluster and test. Packages stats and
// hypothesis compute the results from releases. This package has the flags, and prints the results.
package statistics

import (
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/nearest"
	"dither/internal/plot"
	"dither/stats/formula"
	"dither/stats/regression"
)

// fitModel is a kind of model that `dither fit` fits. run declares the model's own flags, parses the arguments, and
// fits the model.
type fitModel struct {
	name string
	run  func(*console.Console, *fitOptions, []string) error
}

func fitModels() []fitModel {
	return []fitModel{
		{"linear", runFitLinear},
		{"logistic", runFitGLM(regression.Logistic)},
		{"poisson", runFitGLM(regression.Poisson)},
		{"network", runFitNetwork},
	}
}

// fitOptions are the flags that all models share.
type fitOptions struct {
	curator.Request
	Confidence                    string
	table, formula, where, method string
	from                          string // release from which the fit is computed; only for linear models
	explain                       bool
	picture                       console.Picture
}

func (o *fitOptions) declare(s *console.Console) {
	s.FormatFlagFor("table, json, markdown, or csv (the coefficients only)", console.AnyFormat...)
	s.Flag(&o.table, "table", "T", "the table that the model is fitted to")
	s.Flag(&o.formula, "formula", "FORMULA",
		"the model, such as 'y ~ x1 + x2 + g + x1:x2'; a*b means a + b + a:b, - 1 omits the intercept, factor(x) "+
			"treats numbers as categories")
	s.Flag(&o.where, "where", "CONDITION", "use only the rows that satisfy this condition, in SQL")
	s.Flag(&o.method, "method", "NAME",
		"linear: adassp, lecture (the normal equations without a ridge), or theil-sen for one predictor and few rows "+
			"(default adassp); logistic: objective (under ε), newton or minimize (default: the smallest expected error), or gradient for noisy "+
			"gradient steps, without intervals; poisson: minimize (default) or gradient")
	s.PriceFlags(&o.Epsilon, &o.Rho, "the fit")
	s.ConfidenceFlag(&o.Confidence)
	s.AnalystFlag(&o.Analyst)
	s.FreshFlag(&o.Fresh)
	s.Flag(&o.explain, "explain", "", "show the price and the expected noise, free")
	s.Flag(&o.picture.File, "plot", "FILE", "draw the coefficients with their intervals as FILE.svg or FILE.png")
}

// Fit is the command `dither fit`.
var Fit = console.Verb{
	Name:  "fit",
	Args:  "linear | logistic | poisson | network --table T --formula 'y ~ x1 + x2 + g + x1:x2' [--where CONDITION]",
	About: "fit a model to a table, with errors that cover sampling and noise",
	Run:   runFit,
	More:  fitHelp,
}

func runFit(s *console.Console, args []string) error {
	o := &fitOptions{}
	o.declare(s)
	var names []string
	for _, m := range fitModels() {
		names = append(names, m.name)
		if len(args) > 0 && args[0] == m.name {
			return m.run(s, o, args[1:])
		}
	}
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 0 {
		return console.Usage("there is no model %q%s; the models are %s", rest[0],
			console.DidYouMean(nearest.Name(rest[0], names)), strings.Join(names, ", "))
	}
	return console.Usage("name a model after fit: %s", strings.Join(names, ", "))
}

// parsed parses a model's flags, and checks those that all models share. helped reports whether it printed help
// instead.
func (o *fitOptions) parsed(s *console.Console, args []string) (helped bool, err error) {
	rest, helped, err := s.Parse(args)
	switch {
	case err != nil || helped:
		return helped, err
	case len(rest) > 0:
		return false, console.Usage("fit takes only flags after the model, not %q", rest[0])
	case s.Format == "csv" && o.explain:
		return false, console.Usage("fit --explain supports --format table, json and markdown")
	case o.from == "" && (o.table == "" || o.formula == ""):
		return false, console.Usage("fit needs --table and --formula")
	}
	return false, o.picture.Check(s)
}

// fitting explains a fit if o.explain is set, and otherwise fits the model and shows it. show must print the fit
// even if its picture or its calibration failed, because the fit is paid.
func fitting[E, F any](
	s *console.Console, o *fitOptions, explain func(*curator.Session) (E, error), tell func(E) error,
	fit func(*curator.Session) (F, error), show func(F) error,
) error {
	return s.Asking(func(c *curator.Session) error {
		if o.explain {
			e, err := explain(c)
			if err != nil {
				return err
			}
			return tell(e)
		}
		f, err := fit(c)
		if err != nil {
			return err
		}
		return show(f)
	})
}

// fixed writes a number with the given number of decimal places, or the text none if the number is nil.
func fixed(x *float64, places int, none string) string {
	if x == nil {
		return none
	}
	return render.Fixed(*x, places)
}

// fixedInterval writes an interval. A nil end is infinite.
func fixedInterval(low, high *float64, places int) string {
	return "[" + fixed(low, places, "−∞") + ", " + fixed(high, places, "∞") + "]"
}

// closing writes the end of a paid result: its warnings, its price, and its releases.
func closing(b *strings.Builder, warnings []string, p regression.Paid, releases ...string) {
	for _, w := range warnings {
		fmt.Fprintf(b, "warning: %s\n", w)
	}
	b.WriteString(render.BoundsLine(p.Limits))
	fmt.Fprintf(b, "%s, remaining %s (%s)\n", pricePaid(p.Price, p.Replayed), p.Remaining, strings.Join(releases, ", "))
}

// affordability writes the end of an explanation: the price, and whether the remaining budget covers it.
func affordability(b *strings.Builder, q regression.Quoted, replayed bool) {
	switch {
	case replayed:
		b.WriteString("released before: free\n")
	case q.Affordable:
		fmt.Fprintf(b, "price %s, remaining %s\n", q.Price, q.Remaining)
	default:
		fmt.Fprintf(b, "price %s, more than the remaining %s; --epsilon can be at most %s\n",
			q.Price, q.Remaining, q.Largest)
	}
}

// coefficient is a model's coefficient in a picture. A nil number is unknown.
type coefficient struct {
	name                string
	width               float64 // width of the predictor's bounds
	estimate, low, high *float64
}

// coefficientsChart draws the change of the prediction from one end of each predictor's bounds to the other, which
// makes predictors with different units comparable. It leaves out the intercept.
func coefficientsChart(title, caption, panel string, all []coefficient) plot.Chart {
	c := plot.Chart{Title: title, Caption: caption}
	p := plot.Panel{Name: panel, Points: true, Line: new(0.0), Marks: [][]plot.Mark{nil}}
	for _, k := range all {
		if k.name == formula.InterceptName && len(all) > 1 {
			c.Caption += "; without the intercept"
			continue
		}
		m := plot.Mark{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
		if k.estimate != nil {
			m.Value = *k.estimate * k.width
			m.Text = fmt.Sprintf("%.4g", m.Value)
		}
		if k.low != nil {
			m.Low = *k.low * k.width
		}
		if k.high != nil {
			m.High = *k.high * k.width
		}
		c.Groups, p.Marks[0] = append(c.Groups, k.name), append(p.Marks[0], m)
	}
	c.Panels = []plot.Panel{p}
	return c
}

// fitHelp returns the additional help if no model is named.
func fitHelp(s *console.Console) string {
	if s.Flags.Lookup("rows") != nil { // a flag of a model, so a model is named
		return ""
	}
	return "\nAll models have these flags. `dither help fit linear` lists all flags of a linear model; likewise for " +
		"logistic, poisson and network.\n"
}
