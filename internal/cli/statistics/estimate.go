package statistics

import (
	"context"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/estimate"
)

// estimateKind is a statistic that can be estimated.
type estimateKind struct {
	name, about, usage string
	flags              []string // besides those of all statistics
	example            string   // of its flags
	run                func(*console.Console, *estimateFlags) error
}

// estimateKinds lists the statistics that can be estimated.
func estimateKinds() []estimateKind {
	const columns = "--table T --column X[,Y…]"
	moments := []string{"column", "population"}
	coinpress := append([]string{"method", "deviation", "rounds"}, moments...)
	return []estimateKind{
		{
			"mean", "the mean of each column", columns, coinpress,
			"--table visits --column cost --by city --epsilon 0.5", estimateColumns("mean"),
		},
		{
			"variance", "the variance of each column", columns, moments,
			"--table visits --column cost --by city", estimateColumns("variance"),
		},
		{
			"quantile", "quantiles of one column, at the ranks of --at", "--table T --column X [--at P,…]",
			append([]string{"method", "at", "no-intervals"}, moments...),
			"--table visits --column cost --at 0.1,0.5,0.9", estimateColumns("quantile"),
		},
		{
			"covariance", "the means, the covariance matrix and the correlations of several columns", columns, coinpress,
			"--table visits --column age,cost --population --explain", estimateColumns("covariance"),
		},
		{
			"components", "the principal components of several columns: their shares of the variance, and their loadings", columns,
			moments, "--table visits --column age,cost --plot components.svg", estimateColumns("components"),
		},
		{
			"survival", "the share of people to whom an event has not happened yet, over time (Kaplan–Meier)",
			"--table T --time X --event CONDITION [--by G]",
			[]string{"time", "event", "periods"},
			"--table trial --time months --event died --by arm --plot curves.svg", estimateSurvival,
		},
		{
			"rate", "the rate of an event, standardised for the strata of a column",
			"--table T --event CONDITION --standardise X [--by G]",
			[]string{"event", "standardise", "weights", "rates", "bins"},
			"--table people --event ill --standardise age --by region", estimateRates,
		},
	}
}

type estimateFlags struct {
	estimate.Sample
	columns, by, deviations, ranks string
	explain                        bool
	picture                        console.Picture
	survival                       survivalFlags
	rate                           rateFlags
}

// estimateMethods describes --method by statistic.
var estimateMethods = map[string]string{
	"mean":       "bounded, automatic or coinpress",
	"covariance": "bounded or coinpress",
	"quantile":   "independent, ladder, recursive, joint or smooth",
}

// declare declares the flags of the given statistics.
func (o *estimateFlags) declare(s *console.Console, kinds ...estimateKind) {
	flag := func(into any, name, value, about string) {
		if slices.ContainsFunc(kinds, func(k estimateKind) bool { return slices.Contains(k.flags, name) }) {
			if of, rest, found := strings.Cut(about, ": "); found && len(kinds) == 1 && strings.Contains(of, kinds[0].name) {
				about = rest // it is known for which statistic the flag is
			}
			s.Flag(into, name, value, about)
		}
	}
	method := "bounded, automatic or coinpress; for quantiles " + estimateMethods["quantile"]
	by, columns := "LIST", "estimate separately for each group of these keys"
	if len(kinds) == 1 {
		method = estimateMethods[kinds[0].name]
		if slices.Contains(kinds[0].flags, "event") {
			by, columns = "COLUMN", "estimate separately for each value of this column"
		}
	}
	s.FormatFlag(console.AnyFormat...)
	s.Flag(&o.Table, "table", "TABLE", "the table, or a relation that FROM accepts")
	flag(&o.columns, "column", "LIST", "the columns, or expressions, such as age,cost")
	s.Flag(&o.by, "by", by, columns)
	s.Flag(&o.Where, "where", "CONDITION", "use only the rows that satisfy this condition, in SQL")
	flag(&o.Method, "method", "NAME", method+" (default: the method with the least expected error)")
	flag(&o.deviations, "deviation", "LIST",
		"for coinpress: the approximate standard deviation of each column, known without access to the rows")
	flag(&o.Rounds, "rounds", "N", "the number of rounds of coinpress (default 2 for means, 3 for covariances)")
	flag(&o.Population, "population", "",
		"give intervals for the population that the rows are sampled from: they cover sampling and noise")
	flag(&o.WithoutIntervals, "no-intervals", "",
		"for quantile: spend the whole price on the values, without intervals")
	flag(&o.ranks, "at", "LIST", "for quantile: the ranks, such as 0.25,0.5,0.75 (default 0.5)")
	o.survival.declare(flag)
	o.rate.declare(flag)
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
	Args:  "mean | variance | quantile | covariance | components | survival | rate",
	About: "estimate means, variances, quantiles, covariances, components, survival curves or rates of a table, with intervals",
	Run:   runEstimate,
	More:  func(*console.Console) string { return estimateHelp() },
}

func runEstimate(s *console.Console, args []string) error {
	kinds := estimateKinds()
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	if err := foreignFlag(kinds, args); err != nil {
		return err
	}
	o := &estimateFlags{}
	return s.Kinds("estimate", names, args,
		func(kind int) {
			if kind < 0 {
				o.declare(s, kinds...)
				return
			}
			k := kinds[kind]
			o.declare(s, k)
			s.HelpOf(k.name, "estimate "+k.about+", with intervals", k.usage,
				"\nFor example:\n\n  dither estimate "+k.name+" "+k.example+"\n")
		},
		func(kind int) error { return kinds[kind].run(s, o) })
}

// foreignFlag returns an error for a flag that only other statistics have.
func foreignFlag(kinds []estimateKind, args []string) error {
	if len(args) == 0 {
		return nil
	}
	at := slices.IndexFunc(kinds, func(k estimateKind) bool { return k.name == args[0] })
	if at < 0 {
		return nil
	}
	for _, a := range args[1:] {
		name, dashed := strings.CutPrefix(a, "--")
		name, _, _ = strings.Cut(name, "=")
		if !dashed || slices.Contains(kinds[at].flags, name) {
			continue
		}
		var of []string
		for _, k := range kinds {
			if slices.Contains(k.flags, name) {
				of = append(of, k.name)
			}
		}
		if len(of) > 0 {
			return console.Usage("estimate %s has no flag --%s, which is for estimate %s", args[0], name, strings.Join(of, ", "))
		}
	}
	return nil
}

// estimateColumns estimates a statistic of columns.
func estimateColumns(kind string) func(*console.Console, *estimateFlags) error {
	return func(s *console.Console, o *estimateFlags) error {
		if o.Table == "" || o.columns == "" {
			return console.Usage("estimate needs --table and --column")
		}
		o.Columns, o.By, o.Deviations = commaList(o.columns), commaList(o.by), commaList(o.deviations)
		if err := o.picture.Check(s); err != nil {
			return err
		}
		plan := o.planner(kind)
		return s.Asking(func(c *curator.Session) error { return estimated(s, c, o, plan) })
	}
}

type estimatePlanner func(context.Context, *curator.Session) (*estimate.Plan, error)

func (o *estimateFlags) planner(kind string) estimatePlanner {
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
	return func(ctx context.Context, c *curator.Session) (*estimate.Plan, error) {
		return of(ctx, c, o.Sample)
	}
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

// estimateHelp lists the statistics, with an example of each.
func estimateHelp() string {
	var list render.Grid
	var b strings.Builder
	for _, k := range estimateKinds() {
		list.Add("  "+k.name, k.about)
		b.WriteString("  dither estimate " + k.name + " " + k.example + "\n")
	}
	return "\nStatistics that can be estimated, each with an interval. `dither help estimate survival` shows the flags of one:\n\n" +
		list.Text("   ") + "\n" + b.String()
}
