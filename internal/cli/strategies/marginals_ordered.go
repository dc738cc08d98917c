package strategies

import (
	"math"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/marginal"
)

// ordered returns the domain of a question whose keys have the kinds of questions that --marginals names, as in
// age:ranges,day:prefixes.
func ordered(d *marginal.Domain, text string) (*marginal.Domain, error) {
	if text == "" {
		return d, nil
	}
	var seen []string
	for _, field := range strings.Split(text, ",") {
		at := strings.LastIndex(field, ":")
		if at < 0 {
			return nil, console.Usage("--marginals: with a question, give its keys as KEY:prefixes or KEY:ranges, not %q", field)
		}
		name := strings.TrimSpace(field[:at])
		kind, err := marginal.ParseQueries(strings.TrimSpace(field[at+1:]))
		if err != nil {
			return nil, console.Usage("--marginals: with a question, a key has no size: %s", plain(err))
		}
		if slices.Contains(seen, name) {
			return nil, console.Usage("--marginals names %q twice", name)
		}
		seen = append(seen, name)
		if d, err = d.Ask(name, kind); err != nil {
			return nil, console.Usage("--marginals: %s", plain(err))
		}
	}
	return d, nil
}

// span is the values of a prefix or a range: from the first to the last.
type span struct {
	From any `json:"from"`
	To   any `json:"to"`
}

// text returns a value, or the first and the last value of a span.
func textOf(value any) string {
	s, is := value.(span)
	if !is {
		return render.KeyText(value)
	}
	from, to := render.KeyText(s.From), render.KeyText(s.To)
	if from == to {
		return from
	}
	return from + " … " + to
}

// asks reports whether some attribute has prefixes or ranges.
func asks(attributes []marginal.Attribute) bool {
	return slices.ContainsFunc(attributes, func(a marginal.Attribute) bool { return a.Queries != marginal.Values })
}

// cell returns the answer to a query.
func (m *measuredMarginals) cell(q marginal.Query) (c marginalCell, err error) {
	if m.products != nil {
		c.Value, c.Deviation, c.Low, c.High, err = m.products.Answer(q, m.confidence)
		return c, err
	}
	value, variance, err := m.estimate.Answer(q)
	if err != nil {
		return c, err
	}
	c.Value, c.Deviation = value, math.Sqrt(max(variance, 0))
	c.Low, c.High, err = m.estimate.Interval(q, m.confidence)
	return c, err
}

// readOrdered computes the answers to all questions of a marginal: one for each combination of a value, a prefix or a range of
// each attribute.
func (m *measuredMarginals) readOrdered(attributes []marginal.Attribute) (out []marginalCell, err error) {
	query := marginal.Query{}
	var values []any
	var each func(rest []marginal.Attribute) error
	each = func(rest []marginal.Attribute) error {
		if len(rest) == 0 {
			cell, err := m.cell(query)
			cell.Values = slices.Clone(values)
			out = append(out, cell)
			return err
		}
		a := rest[0]
		of := m.domain.Values[slices.Index(m.domain.Keys, a.Name)]
		for from := range a.Size {
			for to := from + 1; to <= a.Size; to++ {
				if a.Queries == marginal.Values && to > from+1 || a.Queries == marginal.Prefixes && from > 0 {
					break
				}
				query[a.Name] = make([]float64, a.Size)
				for i := from; i < to; i++ {
					query[a.Name][i] = 1
				}
				var label any = span{of[from], of[to-1]}
				if a.Queries == marginal.Values {
					label = of[from]
				}
				values = append(values, label)
				if err := each(rest[1:]); err != nil {
					return err
				}
				values = values[:len(values)-1]
			}
		}
		delete(query, a.Name)
		return nil
	}
	err = each(attributes)
	return out, err
}
