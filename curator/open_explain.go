package curator

import (
	"errors"
	"fmt"

	"dither/internal/plan"
	"dither/privacy"
)

// GroupSelection says how the groups of an answer are selected, where they are not known beforehand: from public
// parameters alone, since how many there are is not known.
type GroupSelection struct {
	Strategy string // by name: "gaussian threshold" or "partition selection"
	Share    Loss   // of the price, with the δ that the whole answer costs
	Delta    string // that δ
	Groups   int64  // in how many of them one unit counts, at most
	MinUnits int64  // a group of so many units or fewer is released with a probability of at most Delta
	Other    bool   // one group more, of all rows whose group was not selected
	// Of how many units a group is to be released with a probability of 50 %, 95 % and 99.9 %.
	Half, Nearly, Surely int64
}

// groupSelection tells a plan's; nil where its groups are known.
func (c *Session) groupSelection(p *plan.Plan) (*GroupSelection, error) {
	s := p.Selection
	if s == nil {
		return nil, nil
	}
	_, delta := s.Loss.ZCDP()
	out := &GroupSelection{
		Strategy: string(
			s.Strategy,
		),
		Share:    c.loss(s.Loss),
		Delta:    delta.String(),
		Groups:   s.Groups,
		MinUnits: s.MinUnits,
		Other:    p.Other,
	}
	for probability, units := range map[float64]*int64{0.5: &out.Half, 0.95: &out.Nearly, 0.999: &out.Surely} {
		n, err := s.Units(probability)
		if err != nil {
			return nil, unusable(err)
		}
		*units = n
	}
	return out, nil
}

// knownCells is how many cells an answer has, or 0 where that is not known.
func knownCells(p *plan.Plan) int {
	if p.Open() {
		return 0
	}
	return p.Released()
}

// openNotes says what a table of selected groups leaves out.
func openNotes(p *plan.Plan) []string {
	if p.Selection == nil {
		return nil
	}
	notes := []string{
		fmt.Sprintf(
			"How many groups there are is not known: those of few units are left out, and no more than %d are released, those of the greatest noisy numbers. "+
				"Whether a group is released depends on the number of its units alone.",
			p.MaxChosen(),
		),
	}
	if p.Other {
		notes[0] = fmt.Sprintf(
			"How many groups there are is not known: those of few units, and those beyond %d, are together in the last row, where %s is true.",
			p.MaxChosen(),
			p.Outputs[len(p.Outputs)-1].Name,
		)
	}
	return notes
}

// parseDelta reads the δ of a question.
func parseDelta(text string) (privacy.Delta, error) {
	if text == "" {
		return privacy.Delta{}, nil
	}
	d, err := privacy.ParseDelta(text)
	if err == nil && d.IsZero() {
		err = errors.New("a delta is above 0")
	}
	if err != nil {
		return d, &Error{Code: CodeUsage, Message: err.Error(), Hint: "a delta is a decimal such as 1e-7", cause: err}
	}
	return d, nil
}
