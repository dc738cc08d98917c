package statistics

import (
	"context"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/nearest"
	"dither/internal/plot"
	"dither/stats/estimate"
)

// estimateKinds lists the statistics that can be estimated.
var estimateKinds = []string{"mean", "variance", "quantile", "covariance", "components", "survival", "rate"}

type estimateFlags struct {
	estimate.Sample
	columns, by, deviations, ranks string
	explain                        bool
	picture                        console.Picture
	survival                       survivalFlags
	rate                           rateFlags
}

func (o *estimateFlags) declare(s *console.Console) {
	s.FormatFlag(console.AnyFormat...)
	s.Flag(&o.Table, "table", "TABLE", "the table, or a relation that FROM accepts")
	s.Flag(&o.columns, "column", "LIST", "the columns, or expressions, such as age,cost")
	s.Flag(&o.by, "by", "LIST", "estimate separately for each group of these keys")
	s.Flag(&o.Where, "where", "CONDITION", "use only the rows that satisfy this condition, in SQL")
	s.Flag(&o.Method, "method", "NAME",
		"bounded, automatic or coinpress; for quantiles independent, ladder, recursive, joint or smooth (default: "+
			"the method with the least expected error)")
	s.Flag(&o.deviations, "deviation", "LIST",
		"for coinpress: the approximate standard deviation of each column, known without access to the rows")
	s.Flag(&o.Rounds, "rounds", "N", "the number of rounds of coinpress (default 2 for means, 3 for covariances)")
	s.Flag(&o.Population, "population", "",
		"give intervals for the population that the rows are sampled from: they cover sampling and noise")
	s.Flag(&o.WithoutIntervals, "no-intervals", "",
		"for quantile: spend the whole price on the values, without intervals")
	s.Flag(&o.ranks, "at", "LIST", "for quantile: the ranks, such as 0.25,0.5,0.75 (default 0.5)")
	o.survival.declare(s)
	o.rate.declare(s)
	s.PriceFlags(&o.Epsilon, &o.Rho, "the question")
	s.ConfidenceFlag(&o.Confidence)
	s.AnalystFlag(&o.Analyst)
	s.FreshFlag(&o.Fresh)
	s.Flag(&o.explain, "explain", "", "show the question and its price, free")
	s.Flag(&o.picture.File, "plot", "FILE", "draw the estimates as FILE.svg or FILE.png")
}

// Estimate is the command `dither estimate`.
var Estimate = console.Verb{
	Name:  "estimate",
	Args:  "mean | variance | quantile | covariance | components | survival | rate --table T --column X[,Y…]",
	About: "estimate means, variances, quantiles, covariances, components, survival curves or rates of a table, with intervals",
	Run:   runEstimate,
	More:  func(*console.Console) string { return estimateHelp },
}

func runEstimate(s *console.Console, args []string) error {
	o := &estimateFlags{}
	o.declare(s)
	rest, helped, err := s.Parse(args)
	switch {
	case err != nil || helped:
		return err
	case len(rest) != 1:
		return console.Usage("name a statistic after estimate: one of %s", strings.Join(estimateKinds, ", "))
	case rest[0] == "survival":
		return estimateSurvival(s, o)
	case rest[0] == "rate":
		return estimateRates(s, o)
	case o.survival != survivalFlags{}:
		return console.Usage("--time, --event and --periods are only for estimate survival and rate")
	case o.rate != rateFlags{}:
		return console.Usage("--standardise, --weights, --rates and --bins are only for estimate rate")
	case o.Table == "" || o.columns == "":
		return console.Usage("estimate needs --table and --column")
	case o.ranks != "" && rest[0] != "quantile":
		return console.Usage("--at is only for estimate quantile")
	}
	o.Columns, o.By, o.Deviations = commaList(o.columns), commaList(o.by), commaList(o.deviations)
	if err := o.picture.Check(s); err != nil {
		return err
	}
	plan, err := o.planner(rest[0])
	if err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error { return estimated(s, c, o, plan) })
}

type estimatePlanner func(context.Context, *curator.Session) (*estimate.Plan, error)

func (o *estimateFlags) planner(kind string) (estimatePlanner, error) {
	of := map[string]func(context.Context, *curator.Session, estimate.Sample) (*estimate.Plan, error){
		"mean": estimate.PlanMean, "variance": estimate.PlanVariance, "covariance": estimate.PlanCovariance,
		"components": estimate.PlanComponents,
		"quantile": func(ctx context.Context, c *curator.Session, s estimate.Sample) (*estimate.Plan, error) {
			ranks := commaList(o.ranks)
			if len(ranks) == 0 {
				ranks = []string{"0.5"}
			}
			return estimate.PlanQuantile(ctx, c, s, ranks...)
		},
	}[kind]
	if of == nil {
		return nil, console.Usage("estimate has no statistic %q%s; it has %s", kind,
			console.DidYouMean(nearest.Name(kind, estimateKinds)), strings.Join(estimateKinds, ", "))
	}
	return func(ctx context.Context, c *curator.Session) (*estimate.Plan, error) {
		return of(ctx, c, o.Sample)
	}, nil
}

// commaList splits a list at its commas, except commas within brackets or quotes.
func commaList(text string) (out []string) {
	depth, quote, from := 0, rune(0), 0
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out, from = append(out, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

func estimated(s *console.Console, c *curator.Session, o *estimateFlags, plan estimatePlanner) error {
	ctx := s.Context()
	p, err := plan(ctx, c)
	if err != nil {
		return err
	}
	if o.explain {
		return showEstimatePlan(s, p)
	}
	e, err := p.Run(ctx)
	if err != nil {
		return err
	}
	if err := showEstimates(s, e); err != nil || o.picture.File == "" {
		return err
	}
	if e.Kind == "components" {
		return console.DrawFile(o.picture.File, plot.Write, componentsChart(e, o.Table, o.Columns), "the estimates are")
	}
	chart := estimatesChart(e, o.Table)
	return console.DrawFile(o.picture.File, plot.Write, chart, "the estimates are")
}

const estimateHelp = `
Statistics that can be estimated, each with an interval:

  mean         of each column
  variance     of each column
  quantile     of one column, at the ranks of --at
  covariance   the means, the covariance matrix and the correlations of several columns
  components   the principal components of several columns: their shares of the variance, and their loadings
  survival     the share of people to whom an event has not happened yet, over time (Kaplan–Meier)
  rate         the rate of an event, standardised for the strata of a column

  dither estimate mean --table visits --column cost --by city --epsilon 0.5
  dither estimate quantile --table visits --column cost --at 0.1,0.5,0.9
  dither estimate covariance --table visits --column age,cost --population --explain
  dither estimate survival --table trial --time months --event died --by arm --plot curves.svg
  dither estimate rate --table people --event ill --standardise age --by region
`
