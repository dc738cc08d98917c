// Package strategies has the commands that choose what to measure for many questions.
package strategies

import (
	"dither/internal/cli/console"
	"dither/strategy"
)

// Workload is the command `dither workload`.
var Workload = console.Verb{
	Name: "workload",
	Args: "[SQL] -f FILE | --prefixes N | --ranges N | --windows N:W | --levels FILE | --matrix FILE | " +
		"--cross KIND:N,… | --marginals NAME:SIZE,… --ways K,… … --rho R | --epsilon E",
	About: "compare what could be measured for many questions, free, or measure the best of it",
	Run:   runWorkload,
	More:  func(*console.Console) string { return workloadHelp },
}

// asked has the values of the command's flags.
type asked struct {
	prefixes, ranges, windows, matrices []string
	levels, crosses                     []string
	marginals, ways                     string
	rho, epsilon                        string
	file                                string
	explain, maximum                    bool
	picture                             console.Picture
	measuring                           measuring
}

// runWorkload compares strategies for a workload. Without a question it reads no home and spends nothing. With one it
// measures the best strategy on the question's key.
func runWorkload(s *console.Console, args []string) error {
	var a asked
	s.FormatFlag("table", "json", "markdown")
	s.Flag(&a.prefixes, "prefixes", "N", "the N running totals of a column of N cells; may be repeated, as the next three")
	s.Flag(&a.ranges, "ranges", "N", "all ranges of a column of N cells")
	s.Flag(&a.windows, "windows", "N:W", "all windows of W contiguous cells of a column of N cells")
	s.Flag(&a.matrices, "matrix", "FILE", "the queries in FILE, as CSV: a row for each query, a number for each cell")
	s.Flag(&a.levels, "levels", "FILE", "the sums of all places of a hierarchy in FILE, as CSV: a column for each level, the finest first")
	s.Flag(&a.crosses, "cross", "KIND:N,…", "questions about several columns: total:N, values:N, prefixes:N, ranges:N, windows:N:W, "+
		"levels:FILE or matrix:FILE for each; may be repeated")
	s.Flag(&a.file, "f", "FILE", "the questions in SQL in FILE, separated by semicolons, about a table of the home; free")
	s.Flag(&a.marginals, "marginals", "NAME:SIZE,…", "the attributes of marginals, with --ways; NAME:SIZE:prefixes and NAME:SIZE:ranges too. With a question, its keys "+
		"KEY:prefixes and KEY:ranges")
	s.Flag(&a.ways, "ways", "K,…", "all marginals of K of the attributes, for each K; K*WEIGHT gives them a weight")
	s.Flag(&a.maximum, "maximum", "", "with --ways, choose by the largest error of an answer, and not by the mean")
	s.Flag(&a.rho, "rho", "R", "the price in ρ: measurements have Gaussian noise")
	s.Flag(&a.epsilon, "epsilon", "E", "the price in ε: measurements have Laplace noise")
	s.Flag(&a.explain, "explain", "", "also print the expected error by the length of a query's interval")
	s.Flag(&a.picture.File, "plot", "FILE", "draw the expected errors, or the measured answers, as FILE.svg or FILE.png")
	a.measuring.declare(s)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := a.picture.Check(s); err != nil {
		return err
	}
	a.rho, a.epsilon = decimal(a.rho), decimal(a.epsilon)
	switch {
	case a.maximum && (a.ways == "" || a.beside()):
		return console.Usage("--maximum chooses among strategies for marginals: give it with --ways, without flags about one column")
	case len(rest) > 1:
		return console.Usage("workload takes one question in SQL, in quotes, not %d arguments", len(rest))
	case a.file != "" && len(rest) > 0:
		return console.Usage("workload takes a question or -f FILE, not both")
	case a.measuring.whole && (len(rest) == 0 || a.explain):
		return console.Usage("--whole rounds measured answers; give it with a question, without --explain")
	case a.file != "":
		return compareQuestions(s, a)
	case len(rest) == 1 && a.picture.File != "" && a.ways != "" && !a.explain:
		return console.Usage("--plot draws the expected errors of marginals; give it with --explain")
	case len(rest) == 1 && len(a.crosses) > 0:
		return console.Usage("--cross compares strategies and takes no question; dither query --together measures questions about " +
			"several columns")
	case len(rest) == 1 && a.ways != "":
		return measureMarginals(s, a, rest[0])
	case len(rest) == 1 && a.marginals != "":
		return console.Usage("with a question, its keys are the attributes of the marginals: give --ways K,…, and --marginals KEY:prefixes " +
			"or KEY:ranges for keys whose sums you want")
	case len(rest) == 1:
		return measure(s, a, rest[0])
	}
	p, err := a.price()
	if err != nil {
		return err
	}
	switch marginals := a.marginals != "" || a.ways != ""; {
	case marginals && a.beside():
		return runCrossed(s, a, p)
	case marginals:
		return runMarginals(s, a, p)
	}
	several, err := a.several()
	if err != nil {
		return err
	}
	if several {
		return runCrossed(s, a, p)
	}
	w, err := a.workload()
	if err != nil {
		return err
	}
	c, err := strategy.Choose(w, p.unit)
	if err != nil {
		return console.Usage("%s", words(err))
	}
	return show(s, a, shown{Choice: c, workload: w, price: p})
}

const workloadHelp = `
A column has N cells in a fixed order, such as days or bins. A workload is a set of questions about sums of cells.
workload compares strategies: what could be measured, so that all answers follow from the measurements. Each error is in
units of the noise of one count at the same price. bound is a certified lower bound for every strategy.

  dither workload --prefixes 1024 --rho 1/2
  dither workload --ranges 365 --windows 365:7*10 --epsilon 1

With a question of one key, such as "SELECT COUNT(*) FROM visits GROUP BY hour", the best strategy is measured on the
key's values in the home, and all answers of the workload are printed with their intervals. --explain prints the
expected errors and the price instead, free.

  dither -C home workload "SELECT COUNT(*) FROM visits GROUP BY hour" --ranges 24 --epsilon 0.5

Flags with the same number of cells are about one column, and flags with different numbers about different columns. A
weight after * multiplies the variances of a flag's questions in the mean.

With --cross, questions are about several columns at once: one for each combination of a question about each column. This
is each running total of 365 days in each of 50 regions, and each region in all days:

  dither workload --cross prefixes:365,values:50 --cross total:365,values:50*10 --rho 1/2

With -f FILE, the questions are in SQL, about a table of the home: counts or sums with conditions and GROUP BY of known keys.
Nothing is spent. dither query -f FILE --together then measures them.

  dither -C home workload -f questions.sql --rho 0.1

A marginal has the counts by some of several attributes, all others summed out. An attribute may have :prefixes or
:ranges after its size; its marginals then have these sums in place of its values.

  dither workload --marginals age:10,sex:2,region:17 --ways 1,2 --rho 1/2
  dither workload --marginals age:100:ranges,sex:2 --ways 2 --rho 1/2 --explain
  dither workload --marginals age:10,sex:2,region:17 --ways 1*10,2 --rho 1/2
  dither workload --marginals age:10,sex:2,region:17 --ways 1,2 --rho 1/2 --maximum

With a question of several keys, --ways measures the marginals of its keys, and prints all their cells with intervals.
With --marginals KEY:prefixes or KEY:ranges, it asks for sums over the values of a key in place of its values:

  dither -C home workload "SELECT COUNT(*) FROM people GROUP BY region, smoker, age" --ways 1,2 --rho 0.1
  dither -C home workload "SELECT COUNT(*) FROM people GROUP BY region, age" --marginals age:ranges --ways 2 --rho 0.1

Beside --marginals, flags about one column are about a further column. These are the marginals of age and sex, and each
running total of 365 days:

  dither workload --marginals age:10,sex:2 --ways 1,2 --prefixes 365 --rho 1/2
`
