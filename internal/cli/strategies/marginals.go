package strategies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy"
	"dither/strategy/marginal"
)

// counts is a comparison of strategies for marginals.
type counts struct {
	*marginal.Choice
	workload *marginal.Workload
	price    price
	maximum  bool              // the largest error decides
	crossed  *marginal.Crossed // what is measured instead, if it has less noise; else nil
}

// runMarginals compares strategies for the marginals of --marginals and --ways.
func runMarginals(s *console.Console, a asked, p price) error {
	d, ways, err := a.marginalsOf()
	if err != nil {
		return err
	}
	w, err := d.WeightedWays(ways...)
	if err != nil {
		return console.Usage("--ways %s: %s", a.ways, plain(err))
	}
	if a.maximum {
		w = w.ByMaximum()
	}
	of := counts{Choice: w.Choose(p.unit), workload: w, price: p, maximum: a.maximum}
	if of.crossed, err = of.better(nil); err != nil {
		return err
	}
	return of.show(s, a)
}

// better returns the plan by products, if it has less noise than the other plans for marginals. That happens only for a price
// in ε and sums over a key's values.
func (c counts) better(s *curator.Session) (*marginal.Crossed, error) {
	if c.price.unit != strategy.Epsilon || c.Plan == nil || !asks(c.workload.Domain().Attributes()) {
		return nil, nil //nolint:nilnil // there is none
	}
	x, err := c.workload.Crossed(s, c.price.unit)
	if errors.Is(err, marginal.ErrCrossed) || err == nil && !(c.decides(x.Plan.RMSE, x.Plan.Maximum) < c.decides(c.Plan.RMSE, c.Plan.Maximum)) {
		return nil, nil //nolint:nilnil // there is none
	}
	return x, err
}

// decides returns the error that decides.
func (c counts) decides(rmse, maximum float64) float64 {
	if c.maximum {
		return maximum
	}
	return rmse
}

// plain returns the text of an error without its package, which is meant for programs.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "marginal: ") }

// domain parses NAME:SIZE or NAME:SIZE:QUERIES, separated by commas.
func domain(text string) (*marginal.Domain, error) {
	var attributes []marginal.Attribute
	for _, field := range strings.Split(text, ",") {
		parts := strings.Split(strings.TrimSpace(field), ":")
		if len(parts) < 2 || len(parts) > 3 || parts[0] == "" {
			return nil, console.Usage("--marginals: %q is not NAME:SIZE or NAME:SIZE:QUERIES, such as age:10 or age:10:ranges", field)
		}
		size, err := whole(parts[1])
		if err != nil {
			return nil, console.Usage("--marginals: the size of attribute %q must be a whole number below 2³¹, not %q", parts[0], parts[1])
		}
		a := marginal.Attribute{Name: parts[0], Size: size}
		if len(parts) == 3 {
			if a.Queries, err = marginal.ParseQueries(parts[2]); err != nil {
				return nil, console.Usage("--marginals: %s", plain(err))
			}
		}
		attributes = append(attributes, a)
	}
	d, err := marginal.NewDomain(attributes...)
	if err != nil {
		return nil, console.Usage("--marginals: %s", plain(err))
	}
	return d, nil
}

// waysOf parses K or K*WEIGHT, separated by commas: numbers of attributes, with the weights of their marginals.
func waysOf(text string, most int) (out []marginal.Way, err error) {
	for _, field := range strings.Split(text, ",") {
		number, weight, err := weighted(strings.TrimSpace(field))
		if err != nil {
			return nil, console.Usage("--ways: %q: %s", field, err)
		}
		k, err := whole(number)
		if err != nil || k < 1 || k > most {
			return nil, console.Usage(
				"--ways: %q is not a whole number from 1 to %d, the number of attributes; the total follows from any marginal",
				field, most)
		}
		if slices.ContainsFunc(out, func(w marginal.Way) bool { return w.Attributes == k }) {
			return nil, console.Usage("--ways names %d twice", k)
		}
		out = append(out, marginal.Way{Attributes: k, Weight: weight})
	}
	return out, nil
}

func (c counts) show(s *console.Console, a asked) error {
	var rows [][]string
	all := c.compared()
	for _, k := range all.Candidates {
		name := k.Name
		if name == all.Chosen {
			name += " (chosen)"
		}
		rows = append(rows, []string{name, digits(k.RMSE), digits(k.Maximum)})
	}
	least := ""
	if c.Least > 0 {
		least = digits(c.Least)
	}
	rows = append(rows, []string{"lower bound", digits(all.Bound), least})
	table(s, []string{"measure", "rmse", "maximum"}, rows)
	switch s.Format {
	case "json":
		return errors.Join(s.JSON(c), a.drawn(c.chart()))
	case "markdown":
		s.Print("\n%s\n", render.MarkdownParagraphs(c.words()))
	default:
		s.Print("\n%s\n", c.words())
	}
	if a.explain && c.crossed == nil {
		s.Print("\n")
		c.explain(s)
	}
	return a.drawn(c.chart())
}

// table prints a table, except in JSON. All columns but the first are numbers.
func table(s *console.Console, header []string, rows [][]string) {
	right := make([]bool, len(header))
	for i := range right {
		right[i] = i > 0
	}
	switch s.Format {
	case "json":
	case "markdown":
		s.Print("%s", render.MarkdownTable(header, right, rows))
	default:
		s.Print("%s", grid(header, right, rows))
	}
}

// words explains the units of the table.
func (c counts) words() string {
	text := errorWords(c.workload.Answers(), c.price, c.compared().RMSE)
	if c.crossed != nil {
		for _, k := range c.crossed.Candidates {
			if k.RMSE < c.crossed.Plan.RMSE {
				text += fmt.Sprintf("\n%s measures each marginal by itself, so that marginals would not agree: it is not chosen.", k.Name)
			}
		}
	}
	if c.Least > 0 {
		text += " No residual planner has a maximum below its bound."
	}
	return text
}

// mostExplained is the number of marginals that --explain lists.
const mostExplained = 50

// explain prints the expected errors of each marginal.
func (c counts) explain(s *console.Console) {
	var rows [][]string
	all := c.Chosen.Errors()
	for _, e := range all[:min(len(all), mostExplained)] {
		rows = append(rows, []string{marginalName(e), render.Compact(e.Queries), digits(e.RMSE), digits(e.Maximum)})
	}
	table(s, []string{"marginal", "answers", "rmse", "maximum"}, rows)
	if len(all) > mostExplained {
		s.Print("\nThe table has the first %d of %d kinds of marginals.\n", mostExplained, len(all))
	}
}

// marginalName returns the attributes of a marginal, and the number of further ones with the same errors.
func marginalName(e marginal.Errors) string {
	name := strings.Join(e.Attributes, ", ")
	if e.Count > 1 {
		name += fmt.Sprintf(" (and %s alike)", render.Compact(e.Count-1))
	}
	return name
}

// MarshalJSON writes the candidates, the chosen one with its errors, and the bound.
func (c counts) MarshalJSON() ([]byte, error) { return json.Marshal(c.compared().in(c.price)) }

// compared returns the candidates and the chosen one.
func (c counts) compared() comparison {
	out := comparison{Chosen: c.Chosen.Name, RMSE: c.Chosen.RMSE, Maximum: c.Chosen.Maximum, Bound: c.Bound}
	for _, k := range c.Candidates {
		out.Candidates = append(out.Candidates, candidate{k.Name, k.RMSE, k.Maximum})
	}
	if c.crossed == nil {
		return out
	}
	for _, k := range c.crossed.Candidates {
		if !slices.ContainsFunc(out.Candidates, func(o candidate) bool { return o.Name == k.Name }) {
			out.Candidates = append(out.Candidates, candidate{k.Name, k.RMSE, k.Maximum})
		}
	}
	of := c.crossed.Plan
	out.Chosen, out.RMSE, out.Maximum, out.Bound = of.Name, of.RMSE, of.Maximum, max(c.Bound, min(c.crossed.Bound, of.RMSE))
	return out
}
