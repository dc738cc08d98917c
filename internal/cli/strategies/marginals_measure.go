package strategies

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy"
	"dither/strategy/marginal"
	"dither/strategy/together"
)

// measureMarginals chooses a strategy for the marginals of a question's keys, measures it, and prints them.
func measureMarginals(s *console.Console, a asked, sql string) error {
	switch {
	case a.beside():
		return console.Usage("with --ways, the keys of the question are the attributes: leave out the other flags that describe questions")
	case a.marginals != "" && a.measuring.whole:
		return console.Usage("--whole rounds the values of keys; leave out --marginals")
	}
	confidence, err := a.measuring.level()
	if err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error {
		r := curator.Request{
			SQL: sql, Epsilon: a.epsilon, Rho: a.rho, Analyst: a.measuring.analyst, Fresh: a.measuring.fresh,
		}
		of, err := c.Domain(s.Context(), r)
		if err != nil {
			return err
		}
		d, err := marginal.From(c, of, r, of.Keys...)
		if err != nil {
			return console.Usage("%s", plain(err))
		}
		if d, err = ordered(d, a.marginals); err != nil {
			return err
		}
		ways, err := waysOf(a.ways, len(of.Keys))
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
		if n := w.Answers(); n > mostAnswers && !a.explain {
			return console.Usage("the marginals have %s cells, and one command prints at most %d; give fewer ways or keys, or "+
				"use package strategy/marginal in Go", render.Compact(n), mostAnswers)
		}
		p, err := noiseOf(s, c, r)
		if err != nil {
			return err
		}
		compare := counts{Choice: w.ChooseIn(c, p.unit), workload: w, price: p, maximum: a.maximum}
		if compare.crossed, err = compare.measurable(s, c, r, of); err != nil {
			return err
		}
		if a.explain {
			return explainMarginals(s, c, r, of, compare, a)
		}
		out := measuredMarginals{counts: compare, domain: of, confidence: confidence, whole: a.measuring.whole}
		if err := out.measure(s, c, r); err != nil {
			return err
		}
		if err := out.read(w); err != nil {
			return err
		}
		return out.show(s)
	})
}

// measurable returns the plan by products if it is better. Where the policy declares totals, or where the other plan was
// measured before, that one is measured.
func (c counts) measurable(
	s *console.Console, session *curator.Session, r curator.Request, d *curator.Domain,
) (*marginal.Crossed, error) {
	x, err := c.better(session)
	if x == nil || err != nil || len(d.Totals) > 0 {
		return nil, err
	}
	if r.Fresh {
		return x, nil
	}
	before, err := c.Plan.Explain(s.Context(), session, r)
	if err != nil {
		return nil, err
	}
	if before.Replayed {
		return nil, nil //nolint:nilnil // the other plan is free
	}
	return x, nil
}

// noiseOf returns the price of a question, and the noise of one count or sum of all its rows at that price. The kind of
// noise depends on the budget: under a budget in (ε, δ), a price in ε is one in ρ.
func noiseOf(s *console.Console, c *curator.Session, r curator.Request) (price, error) {
	deviation, loss, err := together.CountNoise(s.Context(), c, r)
	if err != nil {
		return price{}, err
	}
	unit := strategy.Epsilon
	if loss.Rho != "" {
		unit = strategy.Rho
	}
	return price{unit, loss.String(), deviation, &loss}, nil
}

// explainMarginals prints the expected errors and the price of a measurement, which it does not make.
func explainMarginals(
	s *console.Console, c *curator.Session, r curator.Request, d *curator.Domain, of counts, a asked,
) error {
	explain, name := of.Plan.Explain, of.Plan.Name
	if of.crossed != nil {
		explain, name = of.crossed.Explain, of.crossed.Plan.Name
	}
	x, err := explain(s.Context(), c, r)
	if err != nil {
		return err
	}
	if err := of.show(s, a); err != nil || s.Format == "json" {
		return err
	}
	state := "The budget has too little left: at most ε = " + x.Largest + "."
	if x.Affordable {
		state = "Remaining: " + x.Remaining.String() + "."
	}
	if len(d.Totals) > 0 {
		s.Print("\n%s\n", totalsWords)
	}
	if d.TotalsNote != "" {
		s.Print("\n%s\n", d.TotalsNote)
	}
	if x.Replayed && !r.Fresh {
		s.Print("\nIt was measured before, so the answers are free. %s\n", state)
		return nil
	}
	s.Print("\nA measurement of %s would cost %s. %s\n", name, x.Price, state)
	return nil
}

// totalsWords qualifies expected errors where the policy declares totals.
const totalsWords = "The policy declares totals, which make the errors smaller. The table and the bound leave them out."

// measuredMarginals are the cells of all marginals of a workload.
type measuredMarginals struct {
	counts
	estimate   *marginal.Estimate        // nil if products were measured
	products   *marginal.CrossedEstimate // nil otherwise
	releases   []*curator.StrategyMeasurement
	domain     *curator.Domain // the keys and their values
	confidence float64
	whole      bool
	tables     []measuredTable
}

// measuredTable is one marginal.
type measuredTable struct {
	Attributes []string       `json:"attributes"`
	Cells      []marginalCell `json:"cells"`
}

// marginalCell is one cell of a marginal.
type marginalCell struct {
	Values    []any   `json:"values"`
	Value     float64 `json:"value"`
	Deviation float64 `json:"deviation"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

// measure measures the best plan.
func (m *measuredMarginals) measure(s *console.Console, c *curator.Session, r curator.Request) (err error) {
	if m.crossed != nil {
		if m.products, err = m.crossed.Measure(s.Context(), c, r); err == nil {
			m.releases = []*curator.StrategyMeasurement{m.products.Release}
		}
		return err
	}
	if m.estimate, err = m.Plan.Measure(s.Context(), c, r); err == nil {
		m.releases = m.estimate.Releases
	}
	return err
}

// release is the last of the releases.
func (m *measuredMarginals) release() *curator.StrategyMeasurement {
	return m.releases[len(m.releases)-1]
}

// read computes all cells of the workload's marginals.
func (m *measuredMarginals) read(w *marginal.Workload) error {
	for _, names := range w.Names() {
		if of := attributesOf(w, names); m.products != nil || asks(of) {
			cells, err := m.readOrdered(of)
			if err != nil {
				return err
			}
			m.tables = append(m.tables, measuredTable{names, cells})
			continue
		}
		t, err := m.estimate.Marginal(names...)
		if err != nil {
			return err
		}
		margins, err := m.estimate.Margins(m.confidence, names...)
		if err != nil {
			return err
		}
		var whole []int64
		if m.whole {
			if whole, err = m.estimate.Whole(names...); err != nil {
				return err
			}
		}
		out := measuredTable{Attributes: t.Attributes}
		for i, v := range t.Values {
			half := margins[i]
			if m.whole {
				v, half = float64(whole[i]), half+float64(len(t.Sizes))/2
			}
			cell := marginalCell{Value: v, Deviation: math.Sqrt(t.Variances[i]), Low: v - half, High: v + half}
			cell.Values = make([]any, len(t.Sizes))
			for k, rest := len(t.Sizes)-1, i; k >= 0; k-- {
				cell.Values[k] = m.domain.Values[slices.Index(m.domain.Keys, t.Attributes[k])][rest%t.Sizes[k]]
				rest /= t.Sizes[k]
			}
			out.Cells = append(out.Cells, cell)
		}
		m.tables = append(m.tables, out)
	}
	return nil
}

// attributesOf returns the attributes of a workload's domain with the given names.
func attributesOf(w *marginal.Workload, names []string) (out []marginal.Attribute) {
	for _, a := range w.Domain().Attributes() {
		if slices.Contains(names, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

func (m *measuredMarginals) show(s *console.Console) error {
	if s.Format == "json" {
		return s.JSON(m)
	}
	for _, t := range m.tables {
		header := append(append([]string{}, t.Attributes...), "count", "± "+render.Percent(strconv.FormatFloat(m.confidence, 'f', -1, 64)))
		right := make([]bool, len(header))
		right[len(header)-2], right[len(header)-1] = true, true
		var rows [][]string
		for _, c := range t.Cells {
			var row []string
			for _, v := range c.Values {
				row = append(row, textOf(v))
			}
			half := (c.High - c.Low) / 2
			places := render.Decimals(half)
			if m.whole {
				places = 0
			}
			rows = append(rows, append(row, render.Fixed(c.Value, places), render.Fixed(half, places)))
		}
		if s.Format == "markdown" {
			s.Print("%s\n", render.MarkdownTable(header, right, rows))
		} else {
			s.Print("%s\n", grid(header, right, rows))
		}
	}
	state := render.BoundsLine(m.release().Limits) + fmt.Sprintf("Measured by %s for %s, in %s. Remaining: %s.",
		m.name(), m.paid(), m.names(), m.release().Remaining)
	if m.replayed() {
		state = render.BoundsLine(m.release().Limits) + fmt.Sprintf("Answered from %s, at no cost.", m.names())
	}
	if s.Format == "markdown" {
		state = render.MarkdownParagraphs(state)
	}
	s.Print("%s\n", state)
	return nil
}

// name returns the name of the measured plan.
func (m *measuredMarginals) name() string {
	if m.crossed != nil {
		return m.crossed.Plan.Name
	}
	return m.Plan.Name
}

// names returns the names of the releases, in words.
func (m *measuredMarginals) names() string {
	var out []string
	for _, r := range m.releases {
		out = append(out, r.ID)
	}
	if len(out) == 1 {
		return "release " + out[0]
	}
	return "releases " + strings.Join(out, ", ")
}

// replayed reports whether nothing was paid.
func (m *measuredMarginals) replayed() bool {
	for _, r := range m.releases {
		if !r.Replayed {
			return false
		}
	}
	return true
}

// paid returns the prices of the releases.
func (m *measuredMarginals) paid() string {
	var out []string
	for _, r := range m.releases {
		out = append(out, r.Price.String())
	}
	return strings.Join(out, " and ")
}

// MarshalJSON writes the releases, the strategy with its expected error, and the marginals.
func (m *measuredMarginals) MarshalJSON() ([]byte, error) {
	var ids []string
	var prices []curator.Loss
	for _, r := range m.releases {
		ids, prices = append(ids, r.ID), append(prices, r.Price)
	}
	rmse := m.Plan.RMSE
	if m.crossed != nil {
		rmse = m.crossed.Plan.RMSE
	}
	return json.Marshal(struct {
		Releases   []string        `json:"releases"`
		Replayed   bool            `json:"replayed"`
		Prices     []curator.Loss  `json:"prices"`
		Remaining  curator.Loss    `json:"remaining"`
		Chosen     string          `json:"chosen"`
		RMSE       float64         `json:"rmse"`
		Bound      float64         `json:"bound"`
		Confidence float64         `json:"confidence"`
		Whole      bool            `json:"whole,omitempty"`
		Marginals  []measuredTable `json:"marginals"`
		Bounds     *curator.Limits `json:"bounds"`
	}{
		ids, m.replayed(), prices, m.release().Remaining, m.name(), rmse, m.compared().Bound, m.confidence, m.whole, m.tables,
		m.release().Limits,
	})
}
