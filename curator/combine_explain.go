package curator

import (
	"fmt"
	"slices"
)

// explainCombined explains a refused question if it computes with the answers of measured questions.
func (c *Session) explainCombined(q Question, refused error) (*Explanation, error) {
	s, err := c.combination(q, refused)
	if err != nil {
		return nil, err
	}
	parts := s.priced()
	if len(parts) == 0 {
		state, err := c.ledger.State()
		if err != nil {
			return nil, c.public(err)
		}
		rows := 0
		if len(s.parts) == 0 {
			rows = s.bound.Most()
		}
		for _, p := range s.parts {
			rows = max(rows, p.answer.Rows)
		}
		return c.freeExplanation(s.q, computedFrom(s.bound.Columns(), s.columns(nil)), rows, state.Remaining), nil
	}
	var all []*Explanation
	for _, p := range parts {
		e, err := c.explained(p.asked)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	one := *all[0]
	out := &one
	if len(parts) == 1 {
		out.Measured = &Measured{SQL: parts[0].inner.SQL, Columns: out.Columns}
		out.Notes = append(slices.Clone(out.Notes), computedNote)
	} else if err := s.explainSeveral(out, all); err != nil {
		return nil, c.public(err)
	}
	out.Notes = slices.Concat(out.Notes, s.groupNotes())
	out.SQL, out.Groupings, out.Columns = s.q.SQL, nil, computedFrom(s.bound.Columns(), s.columns(all))
	return out, nil
}

func (s *combination) groupNotes() []string {
	var parts []*asked
	for _, p := range s.parts {
		parts = append(parts, p.asked)
	}
	return append(groupNotes(s.bound, parts...), s.lateNotes()...)
}

// lateNotes states where a ranking limits or divides rows after the bounds on a unit left some out.
func (s *combination) lateNotes() []string {
	for _, i := range s.bound.Late() {
		a := s.parts[i].asked
		if a == nil || !capped(a.plan) {
			continue
		}
		return []string{fmt.Sprintf("The bounds on one %s hold before the conditions on a ranking: all rows of the measured "+
			"question compete for them, so counts and sums may differ from those with a list of the same values. Intervals do not "+
			"cover this.", a.plan.Unit.Name)}
	}
	return nil
}

// columns returns the columns of all parts, as their explanations describe them.
func (s *combination) columns(all []*Explanation) (out []Column) {
	for _, p := range s.parts {
		switch {
		case p.free != nil:
			out = append(out, p.free.release.Columns...)
		case p.alias != nil:
			out = append(out, s.c.columns(p.asked, nil)...)
		default:
			out, all = append(out, all[0].Columns...), all[1:]
		}
	}
	return out
}

// explainSeveral describes what several measured questions have in common.
func (s *combination) explainSeveral(out *Explanation, all []*Explanation) error {
	total, due, err := s.total()
	if err != nil {
		return err
	}
	out.Questions, out.Price = all, s.c.loss(total)
	out.Cells, out.Selection, out.Sensitivity, out.L2, out.RowsBound, out.Truncation = 0, nil, 0, 0, nil, nil
	out.Replayed, out.Affordable, out.Notes = true, true, []string{severalNote(len(all))}
	for i, p := range s.priced() {
		e := all[i]
		out.Replayed = out.Replayed && e.Replayed
		room, err := s.c.kernel.Room(p.asked.look)
		if err != nil {
			return err
		}
		if !e.Replayed && !due.Within(room) {
			out.Affordable = false
		}
	}
	return nil
}

func severalNote(n int) string {
	return fmt.Sprintf("The question measures %d questions, one after the other, and each has a release of its own. A price that "+
		"you name is divided equally among them; without one, each has the policy's default price. Intervals take into account "+
		"that the noise of different releases is independent.", n)
}
