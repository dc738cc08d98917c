// Package strategies has the commands that choose what to measure for many questions.
package strategies

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/privacy"
	"dither/strategy"
	"dither/strategy/product"
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
	explain                             bool
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
	s.Flag(&a.marginals, "marginals", "NAME:SIZE,…", "the attributes of marginals, with --ways; NAME:SIZE:prefixes and NAME:SIZE:ranges too")
	s.Flag(&a.ways, "ways", "K,…", "all marginals of K of the attributes, for each K; K*WEIGHT gives them a weight")
	s.Flag(&a.rho, "rho", "R", "the price in ρ: measurements have Gaussian noise")
	s.Flag(&a.epsilon, "epsilon", "E", "the price in ε: measurements have Laplace noise")
	s.Flag(&a.explain, "explain", "", "also print the expected error by the length of a query's interval")
	s.Flag(&a.picture.File, "plot", "FILE", "draw the expected error by length as FILE.svg or FILE.png")
	a.measuring.declare(s)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := a.picture.Check(s); err != nil {
		return err
	}
	switch {
	case len(rest) > 1:
		return console.Usage("workload takes one question in SQL, in quotes, not %d arguments", len(rest))
	case a.file != "" && len(rest) > 0:
		return console.Usage("workload takes a question or -f FILE, not both")
	case a.measuring.whole && (len(rest) == 0 || a.explain):
		return console.Usage("--whole rounds measured answers; give it with a question, without --explain")
	case a.file != "":
		return compareQuestions(s, a)
	case len(rest) == 1 && a.picture.File != "" && !a.explain:
		return console.Usage("--plot draws expected errors; give it with --explain")
	case len(rest) == 1 && len(a.crosses) > 0:
		return console.Usage("--cross compares strategies and takes no question; dither query --together measures questions about " +
			"several columns")
	case len(rest) == 1 && (a.marginals != "" || a.ways != ""):
		return console.Usage("--marginals compares strategies and takes no question; package strategy/marginal measures them")
	case len(rest) == 1:
		return measure(s, a, rest[0])
	}
	p, err := a.price()
	if err != nil {
		return err
	}
	if a.marginals != "" || a.ways != "" {
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

// price is the price of all measurements together.
type price struct {
	unit      strategy.Unit
	text      string  // such as "ρ = 1/2"
	deviation float64 // the standard deviation of one count's noise
}

func (a asked) price() (price, error) {
	switch {
	case a.rho == "" && a.epsilon == "":
		return price{}, console.Usage("workload needs a price: --rho R for Gaussian noise, or --epsilon E for Laplace noise")
	case a.rho != "" && a.epsilon != "":
		return price{}, console.Usage("workload takes --rho or --epsilon, not both")
	case a.epsilon != "":
		e, err := console.EpsilonFlag(a.epsilon)
		if err != nil {
			return price{}, err
		}
		f, _ := e.Rat().Float64()
		return price{strategy.Epsilon, "ε = " + render.Given(e.Rat()), math.Sqrt2 / f}, nil
	}
	r, err := console.NumberFlag("rho", a.rho)
	if err != nil {
		return price{}, err
	}
	if most := int64(privacy.MaxRho); r.Sign() <= 0 || r.Cmp(big.NewRat(most, 1)) > 0 {
		return price{}, console.Usage("--rho must be above 0 and at most %d", most)
	}
	f, _ := r.Float64()
	return price{strategy.Rho, "ρ = " + render.Given(r), 1 / math.Sqrt(2*f)}, nil
}

// several reports whether the flags are about several columns.
func (a asked) several() (bool, error) {
	all, err := a.singles()
	if err != nil || len(a.crosses) > 0 {
		return true, err
	}
	for _, w := range all {
		if w.Cells() != all[0].Cells() {
			return true, nil
		}
	}
	return false, nil
}

// workload returns the union of the workloads of all flags.
func (a asked) workload() (strategy.Workload, error) {
	all, err := a.singles()
	if err != nil {
		return strategy.Workload{}, err
	}
	if len(all) == 0 {
		return strategy.Workload{}, console.Usage(
			"workload needs the questions: --prefixes N, --ranges N, --windows N:W, --levels FILE or --matrix FILE, " +
				"--cross KIND:N,…, --marginals NAME:SIZE,… with --ways K,…")
	}
	w, err := strategy.Union(all...)
	if err != nil {
		return w, console.Usage("%s", words(err))
	}
	return w, nil
}

// levelsAlone reports whether one --levels is all that is asked.
func (a asked) levelsAlone() bool {
	return len(a.levels) == 1 && len(a.prefixes)+len(a.ranges)+len(a.windows)+len(a.matrices)+len(a.crosses) == 0
}

// singles returns the workloads of the flags about one column each.
func (a asked) singles() ([]strategy.Workload, error) {
	var all []strategy.Workload
	for _, f := range []struct {
		name  string
		texts []string
		parse func(text string) (strategy.Workload, error)
	}{
		{"prefixes", a.prefixes, func(text string) (strategy.Workload, error) { return counted(text, strategy.Prefixes) }},
		{"ranges", a.ranges, func(text string) (strategy.Workload, error) { return counted(text, strategy.Ranges) }},
		{"windows", a.windows, windows},
		{"levels", a.levels, func(text string) (strategy.Workload, error) { return levels(text, a.levelsAlone()) }},
		{"matrix", a.matrices, matrix},
	} {
		for _, text := range f.texts {
			w, err := f.parse(text)
			if err != nil {
				return nil, console.Usage("--%s %s: %s", f.name, text, words(err))
			}
			all = append(all, w)
		}
	}
	return all, nil
}

// words returns the text of an error of package strategy without its prefix, which is meant for programs.
func words(err error) string {
	text := err.Error()
	for _, e := range []error{product.ErrWorkload, strategy.ErrWorkload, strategy.ErrStrategy} {
		text = strings.TrimPrefix(text, e.Error()+": ")
	}
	return text
}

var errCells = errors.New("the number of cells must be an integer, such as 365")

// whole parses an integer inside the value of a flag.
func whole(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errCells
	}
	return int(n), nil
}

// counted parses N or N*WEIGHT.
func counted(text string, make func(int) (strategy.Workload, error)) (strategy.Workload, error) {
	text, weight, err := weighted(text)
	if err != nil {
		return strategy.Workload{}, err
	}
	n, err := whole(text)
	if err != nil {
		return strategy.Workload{}, err
	}
	w, err := make(n)
	if err != nil {
		return w, err
	}
	return w.Weighted(weight)
}

// weighted splits off a weight, which is 1 if there is none.
func weighted(text string) (rest string, weight float64, err error) {
	rest, factor, found := strings.Cut(text, "*")
	if !found {
		return rest, 1, nil
	}
	weight, err = strconv.ParseFloat(factor, 64)
	if err != nil || !(weight > 0) {
		return "", 0, errors.New("the weight after * must be a number above 0")
	}
	return rest, weight, nil
}

// windows parses N:W or N:W*WEIGHT.
func windows(text string) (strategy.Workload, error) {
	cells, width, found := strings.Cut(text, ":")
	if !found {
		return strategy.Workload{}, errors.New("give the number of cells and the width, such as 365:7")
	}
	return counted(width, func(w int) (strategy.Workload, error) {
		n, err := whole(cells)
		if err != nil {
			return strategy.Workload{}, err
		}
		return strategy.Windows(n, w)
	})
}

// matrix reads a matrix from a file of CSV without a header.
func matrix(name string) (strategy.Workload, error) {
	f, err := os.Open(name)
	if err != nil {
		return strategy.Workload{}, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	return matrixOf(f)
}

// matrixOf reads a matrix from CSV without a header.
func matrixOf(in io.Reader) (strategy.Workload, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var rows [][]float64
	entries := 0
	for {
		record, err := r.Read()
		if err != nil {
			if len(record) == 0 && errors.Is(err, io.EOF) {
				return strategy.Explicit(rows)
			}
			return strategy.Workload{}, err
		}
		row := make([]float64, len(record))
		for j, text := range record {
			if row[j], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				line, _ := r.FieldPos(j)
				return strategy.Workload{}, fmt.Errorf("line %d: %q is not a number", line, text)
			}
		}
		rows = append(rows, row)
		if entries += len(row); entries > strategy.MaxEntries {
			return strategy.Workload{}, fmt.Errorf("a matrix may have %d entries", strategy.MaxEntries)
		}
	}
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
`
