package curator

import (
	"errors"
	"fmt"

	"dither/internal/plan"
	"dither/privacy"
)

// GroupSelection describes how an answer selects its unknown keys. It depends on public parameters only, because
// the number of keys is not public.
type GroupSelection struct {
	Strategy string // "gaussian threshold" or "partition selection"
	Share    Loss   // the selection's share of the price, with the whole δ of the answer
	Delta    string // the δ of the selection
	Groups   int64  // the number of groups in which one unit counts
	Changed  int64  // the number of groups that one unit can change: Groups, or twice as many under change-one
	Shares   int64  // each of so many groups has an equal share of Delta
	MinUnits int64  // a group with this many units or fewer is released with probability at most Delta
	Other    bool   // one more group holds all rows whose key was not selected
	// The number of units that a group needs to be released with a probability of 50 %, 95 % and 99.9 %.
	Half, Nearly, Surely int64
}

// groupSelection returns the selection of a plan, or nil if all keys are known.
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
		Changed:  s.Optimal.Keys,
		Shares:   s.Shares(),
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

// knownCells returns the number of cells (groups) of an answer, or 0 if private key selection decides it.
func knownCells(a *asked) int {
	if a.plan.Open() {
		return 0
	}
	return a.derived.Groups()
}

// possibleNotes states how many of the known groups WHERE leaves possible.
func possibleNotes(a *asked) []string {
	known, shown := a.plan.Released(), 0
	if a.plan.Open() {
		return nil
	}
	switch shown = a.derived.Groups(); shown {
	case known:
		return nil
	case 0:
		return []string{"WHERE is true of no possible row in a group, so the answer has no rows. Asking spends the price."}
	}
	return []string{fmt.Sprintf(
		"The answer shows the %d of %d groups that can have rows. This follows from the question and the policy alone.",
		shown, known,
	)}
}

// openNotes describes what an answer with selected keys leaves out.
func openNotes(p *plan.Plan) []string {
	if p.Selection == nil {
		return nil
	}
	notes := []string{
		fmt.Sprintf(
			"The number of groups is not known. Groups of few units are left out. At most %d groups are released, "+
				"those with the largest noisy numbers of units. Whether a group is released depends only on its number of units.",
			p.MaxChosen(),
		),
	}
	if p.Other {
		notes[0] = fmt.Sprintf(
			"The number of groups is not known. Groups of few units, and groups beyond %d, are combined in the "+
				"last row, where %s is true.",
			p.MaxChosen(),
			p.Outputs[len(p.Outputs)-1].Name,
		)
	}
	return notes
}

// parseDelta reads the δ of a question; "" is the zero δ.
func parseDelta(text string) (privacy.Delta, error) {
	if text == "" {
		return privacy.Delta{}, nil
	}
	d, err := privacy.ParseDelta(text)
	if err == nil && d.IsZero() {
		err = errors.New("a delta must be above 0")
	}
	if err != nil {
		return d, &Error{Code: CodeUsage, Message: err.Error(), Hint: "write a delta as a decimal, such as 1e-7", cause: err}
	}
	return d, nil
}
