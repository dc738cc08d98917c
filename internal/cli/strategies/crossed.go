package strategies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy"
	"dither/strategy/product"
)

// crossed is a comparison of strategies for questions about several columns.
type crossed struct {
	*product.Choice
	workload *product.Workload
	price    price
	notes    []string
}

// runCrossed compares strategies for the terms of --cross, for flags with different numbers of cells, or for marginals beside
// other flags.
func runCrossed(s *console.Console, a asked, p price) error {
	terms := a.terms
	if a.marginals != "" || a.ways != "" {
		terms = a.mixed
	}
	all, err := terms()
	if err != nil {
		return err
	}
	w, err := product.NewWorkload(all...)
	if err != nil {
		return console.Usage("%s", words(err))
	}
	c, err := product.Choose(w, p.unit)
	if err != nil {
		return console.Usage("%s", words(err))
	}
	return crossed{c, w, p, nil}.show(s, a)
}

// terms returns the terms of --cross, or those of flags about one column each: flags with as many cells are about the
// same column, and sum over the other columns.
func (a asked) terms() (out []product.Term, err error) {
	single, err := a.singles()
	if err != nil {
		return nil, err
	}
	if len(a.crosses) == 0 {
		var sizes []int
		for _, w := range single {
			if !slices.Contains(sizes, w.Cells()) {
				sizes = append(sizes, w.Cells())
			}
		}
		for _, w := range single {
			var t product.Term
			for _, n := range sizes {
				if n == w.Cells() {
					t.Factors = append(t.Factors, product.Of(w))
				} else {
					t.Factors = append(t.Factors, product.Total(n))
				}
			}
			out = append(out, t)
		}
		return out, nil
	}
	if len(single) > 0 {
		return nil, console.Usage("--cross names all columns: write the other flags as --cross too, with total:N for each column " +
			"that a question sums over")
	}
	for _, text := range a.crosses {
		t, err := cross(text)
		if err != nil {
			return nil, console.Usage("--cross %s: %s", text, words(err))
		}
		out = append(out, t)
	}
	return out, nil
}

// cross parses KIND:N, KIND:N, …, with a weight after * if need be.
func cross(text string) (t product.Term, err error) {
	text, t.Weight, err = weighted(text)
	if err != nil {
		return t, err
	}
	for _, field := range strings.Split(text, ",") {
		f, err := factor(strings.TrimSpace(field))
		if err != nil {
			return t, fmt.Errorf("%q: %s", field, words(err))
		}
		t.Factors = append(t.Factors, f)
	}
	if len(t.Factors) > product.MaxColumns {
		return t, fmt.Errorf("there may be %d columns", product.MaxColumns)
	}
	return t, nil
}

var errFactor = errors.New("write total:N, values:N, prefixes:N, ranges:N, windows:N:W, levels:FILE or matrix:FILE")

// factor parses the questions about one column.
func factor(text string) (product.Factor, error) {
	kind, rest, found := strings.Cut(text, ":")
	if !found || strings.Contains(rest, "*") {
		return product.Factor{}, errFactor
	}
	var w strategy.Workload
	var err error
	switch kind {
	case "total", "values":
		n, err := strconv.ParseInt(rest, 10, 32)
		if err != nil {
			return product.Factor{}, errCells
		}
		if n < 1 || n > product.MaxValues {
			return product.Factor{}, fmt.Errorf("the number of values must be from 1 to %d", product.MaxValues)
		}
		if kind == "total" {
			return product.Total(int(n)), nil
		}
		return product.Values(int(n)), nil
	case "prefixes":
		w, err = counted(rest, strategy.Prefixes)
	case "ranges":
		w, err = counted(rest, strategy.Ranges)
	case "windows":
		w, err = windows(rest)
	case "levels":
		w, err = levels(rest, false)
	case "matrix":
		w, err = matrix(rest)
	default:
		return product.Factor{}, errFactor
	}
	if err != nil {
		return product.Factor{}, err
	}
	return product.Of(w), nil
}

func (c crossed) show(s *console.Console, a asked) error {
	var rows [][]string
	for _, k := range c.Candidates {
		name := k.Name
		if name == c.Chosen.Name {
			name += " (chosen)"
		}
		rows = append(rows, []string{name, digits(k.RMSE), digits(k.Maximum)})
	}
	rows = append(rows, []string{"lower bound", digits(c.Bound), ""})
	table(s, []string{"measure", "rmse", "maximum"}, rows)
	text := strings.Join(slices.Concat([]string{
		errorWords(c.workload.Queries(), c.price, c.Chosen.RMSE), fmt.Sprintf("The columns have %s cells together.", render.Compact(c.workload.Cells())),
	}, c.notes), "\n")
	switch s.Format {
	case "json":
		if err := s.JSON(c); err != nil {
			return err
		}
	case "markdown":
		s.Print("\n%s\n", render.MarkdownParagraphs(text))
	default:
		s.Print("\n%s\n", text)
	}
	return a.drawn(c.compared().chart(c.price))
}

// MarshalJSON writes the candidates, the chosen one with its errors, and the bound.
func (c crossed) MarshalJSON() ([]byte, error) { return json.Marshal(c.compared().in(c.price)) }

// compared returns the candidates and the chosen one.
func (c crossed) compared() comparison {
	out := comparison{Chosen: c.Chosen.Name, RMSE: c.Chosen.RMSE, Maximum: c.Chosen.Maximum, Bound: c.Bound}
	for _, k := range c.Candidates {
		out.Candidates = append(out.Candidates, candidate{k.Name, k.RMSE, k.Maximum})
	}
	return out
}
