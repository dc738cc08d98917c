package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/release"
)

// Selection asks which groups of a question have the greatest score: SELECT region, COUNT(*) FROM people GROUP BY
// region. The score is the question's one count or sum. The scores themselves are not released.
type Selection struct {
	Request
	Confidence string // the confidence of Selected.Shortfall, a decimal between 0 and 1; "" is 0.95
	Best       int    // the number of groups to choose; 0 is 1
	Mechanism  string // "" is PermuteAndFlip for one group under a pure budget, else Exponential
}

// Selected is the result of Select: the chosen groups and the error of the choice.
type Selected struct {
	ID        string
	Keys      []string // the columns that identify a group
	Best      []Chosen // in the order in which they were chosen
	Mechanism string
	// Sensitivity is the largest change of a score by one unit. Shortfall bounds the error of the choice: with
	// probability Confidence, whenever a group was chosen, no group that was still available had a score more than
	// Shortfall above it. Both are in the unit of the scores, and are functions of public parameters.
	Sensitivity, Shortfall float64
	Confidence             string
	Limits                 *Limits // what bounds the release
	Price, Remaining       Loss
	Replayed               bool
}

// Chosen is one chosen group.
type Chosen struct {
	Group []any // the values of Selected.Keys
	// for NoisyMax, a lower bound on the difference between its noisy score and the next one; nil if there is none
	Lead *float64
}

// Select releases the groups with the best scores, where the score has a bounded sensitivity. The policy and the
// question determine all groups in advance. The price is the loss of the named mechanism, at the sensitivity of one
// score that the plan proves.
func (c *Session) Select(ctx context.Context, s Selection) (*Selected, error) {
	if err := c.asks(&s.Analyst); err != nil {
		return nil, err
	}
	c.timed(&s.SQL)
	ctx = c.kernel.Arrives(ctx)
	if s.Best == 0 {
		s.Best = 1
	}
	alpha, err := parseConfidence(&s.Confidence)
	if err != nil {
		return nil, c.public(err)
	}
	request, err := c.request(s.Question())
	if err != nil {
		return nil, c.public(err)
	}
	t, err := plan.BuildScores(c.filled(), request)
	if err != nil {
		return nil, c.public(err)
	}
	name, err := selectorOf(t, s)
	if err != nil {
		return nil, c.public(err)
	}
	m, err := c.kernel.Selection(t, s.asker(), name, s.Best)
	if err != nil {
		return nil, c.public(err)
	}
	shortfall, err := m.Shortfall(alpha)
	if err != nil {
		return nil, unusable(err)
	}
	found, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	unit, _ := t.Measures[0].Unit().Float64()
	sensitivity, _ := t.Measures[0].Units(t.Sensitivity).Float64()
	out := &Selected{
		ID:          found.Name(),
		Mechanism:   m.Mechanism(),
		Sensitivity: sensitivity,
		Shortfall:   exact.MulUp(shortfall, unit),
		Confidence:  s.Confidence,
		Limits:      c.limitsOf(&t.Statement),
		Price:       c.loss(t.Price),
		Replayed:    found.Replayed,
	}
	for i, key := range t.Order {
		if key >= 0 {
			out.Keys = append(out.Keys, t.Names[i])
		}
	}
	for _, row := range found.Numbers {
		chosen, err := chosenOf(t, row, unit)
		if err != nil {
			return nil, c.after(found, err)
		}
		out.Best = append(out.Best, chosen)
	}
	out.Remaining, err = c.remains(found)
	return out, err
}

// chosenOf decodes a row of a release: the index of a group, and its lead or −1.
func chosenOf(t *plan.Target, row []*big.Int, unit float64) (chosen Chosen, err error) {
	if !row[0].IsInt64() || row[0].Sign() < 0 || row[0].Int64() >= int64(t.Cells()) {
		return chosen, fmt.Errorf("%w: it chose group %s", release.ErrUnreadable, row[0])
	}
	keys := t.CellKeys(int(row[0].Int64()))
	for _, key := range t.Order {
		if key >= 0 {
			chosen.Group = append(chosen.Group, keyValue(keys[key]))
		}
	}
	if row[1].Sign() >= 0 {
		lead, _ := new(big.Float).SetInt(row[1]).Float64()
		lead *= unit
		chosen.Lead = &lead
	}
	return chosen, nil
}

// selectorOf returns the mechanism of a selection, or refuses an invalid request.
func selectorOf(t *plan.Target, s Selection) (string, error) {
	switch {
	case t.Cells() < 2:
		return "", &Error{
			Code:    CodePolicy,
			Message: "there is only one group, so nothing to choose from",
			Hint:    "add a GROUP BY with the keys to choose from",
		}
	case s.Best < 1 || s.Best > t.Cells():
		return "", &Error{Code: CodeUsage, Message: fmt.Sprintf("%d cannot be chosen from %d groups", s.Best, t.Cells())}
	}
	_, pure := t.Price.Pure()
	switch name := s.Mechanism; {
	case name == "" && pure && s.Best == 1:
		return PermuteAndFlip, nil
	case name == "":
		return Exponential, nil
	case name == Exponential, name == PermuteAndFlip && s.Best == 1, name == NoisyMax:
		return name, nil
	}
	return "", &Error{
		Code: CodeUsage, Message: fmt.Sprintf("there is no mechanism %q that chooses "+
			"%s", s.Mechanism, plural(s.Best, "group")),
		Hint: fmt.Sprintf("use %q or %q, or %q to choose one group", Exponential, NoisyMax, PermuteAndFlip),
	}
}
