package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dither/internal/post"
	"dither/internal/release"
	"dither/privacy"
)

// total returns the price of all parts, and of those that are not replayed.
func (s *combination) total() (all, due privacy.Loss, err error) {
	for i, p := range s.priced() {
		price := p.asked.plan.Price
		replayed, err := s.c.kernel.ReleasedBefore(p.asked.look)
		switch {
		case err != nil:
			return all, due, err
		case i == 0:
			all, due = price, price.Minus(price)
		default:
			all = all.Plus(price)
		}
		if !replayed {
			due = due.Plus(price)
		}
	}
	return all, due, nil
}

// ready refuses the question, before anything is charged, unless every part can be measured and paid for.
func (s *combination) ready(ctx context.Context) error {
	parts := s.priced()
	if len(parts) < 2 {
		return nil
	}
	_, due, err := s.total()
	if err != nil {
		return err
	}
	for _, p := range parts {
		replayed, err := s.c.kernel.ReleasedBefore(p.asked.look)
		if replayed || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		room, err := s.c.kernel.Room(p.asked.look)
		if err != nil {
			return err
		}
		if !due.Within(room) {
			return &Error{
				Code: CodeExhausted,
				Message: fmt.Sprintf("the price of the measured questions without a release, %v together, is more than what remains, %v",
					s.c.loss(due), left(room)),
				Hint: s.affordable(due, room) + againFree,
			}
		}
	}
	for _, p := range parts {
		if err := s.c.kernel.Ready(ctx, p.asked.query); err != nil {
			return err
		}
	}
	return nil
}

// affordable returns the hint that names a price within what remains. If the δ of unknown keys is
// too large, it names the option for δ.
func (s *combination) affordable(due, room privacy.Loss) string {
	_, asked := due.ZCDP()
	if _, remains := room.ZCDP(); asked.Cmp(remains) > 0 {
		return "name a smaller δ for unknown keys with --delta: each measured question pays it; "
	}
	return "ask with --epsilon " + s.c.largest(room) + " or less; "
}

// combine answers a refused question if it computes with the answers of measured questions.
func (c *Session) combine(ctx context.Context, q Question, refused error) (*Release, error) {
	s, err := c.combination(q, refused)
	if err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		return nil, c.public(err)
	}
	answers, paid, alpha := make([][][]post.Cell, len(s.parts)), false, 0.05
	for i, p := range s.parts {
		if p.free != nil {
			p.release, answers[i] = p.free.release, p.free.rows
			continue
		}
		var found *release.Released
		if found, err = c.reused(p.asked); err != nil {
			return nil, already(c.public(err), paid)
		}
		if p.reused = found != nil; !p.reused {
			if len(s.priced()) > 1 { // the rehearsals of all, and the measured questions before this one, took their time
				ctx = c.kernel.Departs(ctx)
			}
			if found, err = c.measured(ctx, p.asked); err != nil {
				return nil, already(err, paid)
			}
		}
		paid = paid || !found.Replayed
		if p.release, err = c.release(p.asked, found); err != nil {
			return nil, already(err, paid)
		}
		alpha = p.asked.alpha
		answers[i] = rowsOf(p.asked, found, i)
	}
	if slices.ContainsFunc(s.parts, func(p *combined) bool { return p.reused }) {
		if err := s.rebind(); err != nil {
			return nil, c.public(err)
		}
	}
	return s.answer(ctx, answers, alpha)
}

// rebind binds the question to answers that are computed from earlier releases.
func (s *combination) rebind() error {
	for _, p := range s.parts {
		if p.reused {
			p.answer.Columns = columnsOf(p.asked, true)
		}
	}
	return s.bind()
}

// already marks an error that came after an earlier part was charged.
func already(err error, paid bool) error {
	var known *Error
	if !paid || !errors.As(err, &known) {
		return err
	}
	out := *known
	out.Charged = true
	out.Hint = "the answers of the other measured questions are recorded, and are replayed free; " + out.Hint
	return &out
}

// answer computes the rows of the question from those of its parts.
func (s *combination) answer(ctx context.Context, answers [][][]post.Cell, alpha float64) (*Release, error) {
	var out *Release
	var columns []Column
	for _, p := range s.parts {
		columns = append(columns, p.release.Columns...)
		if out == nil || out.Free && !p.release.Free {
			one := *p.release
			out = &one
		}
	}
	if out == nil { // constants alone, such as a calendar
		state, err := s.c.ledger.State()
		if err != nil {
			return nil, s.c.public(err)
		}
		out = s.c.freeRelease(s.q, nil, state.Remaining)
	}
	if parts := s.priced(); len(parts) == 1 {
		out.Measured = &Measured{SQL: parts[0].inner.SQL, Columns: parts[0].release.Columns}
	} else if len(parts) > 1 {
		if err := s.several(out, parts); err != nil {
			return nil, s.c.public(err)
		}
	}
	charged := !out.Replayed && !out.Free
	found, err := s.bound.Run(ctx, alpha, answers...)
	if err != nil {
		return nil, unshown(s.c.public(err), charged)
	}
	if found.Excess {
		return nil, &Error{
			Code: CodeSQL, Charged: charged, Message: "the joins of this question pair too many rows of its answers",
			Hint: "join by an equality of keys: ON a.x = b.x; the measured answers are recorded, and are replayed free",
		}
	}
	out.SQL, out.Groupings, out.Columns = s.q.SQL, nil, columns
	out.Notes = slices.Concat(out.Notes, s.groupNotes())
	out.show(found)
	return out, nil
}

// several describes what several measured questions have in common.
func (s *combination) several(out *Release, parts []*combined) error {
	all, _, err := s.total()
	if err != nil {
		return err
	}
	out.Price, out.Replayed, out.Notes, out.Truncation, out.RowsBound = s.c.loss(all), true, nil, nil, nil
	for _, p := range parts {
		r := p.release
		out.Questions = append(out.Questions, &Measured{
			SQL: p.inner.SQL, Columns: r.Columns, ID: r.ID, Price: r.Price, Replayed: r.Replayed, Limits: r.Limits,
			Truncation: r.Truncation,
		})
		out.Replayed, out.Remaining = out.Replayed && r.Replayed, r.Remaining
		for _, note := range r.Notes {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
	}
	out.Limits = limitsTogether(out.Questions)
	out.Paid = s.paid(parts)
	return nil
}

// paid returns the price of the measured questions that were not replayed, or nil if all or none were.
func (s *combination) paid(parts []*combined) *Loss {
	var sum *privacy.Loss
	n := 0
	for _, p := range parts {
		if p.release.Replayed {
			continue
		}
		price := p.asked.plan.Price
		if n++; sum != nil {
			price = sum.Plus(price)
		}
		sum = &price
	}
	if n == 0 || n == len(parts) {
		return nil
	}
	out := s.c.loss(*sum)
	return &out
}

// limitsTogether returns what bounds several measured questions. If it is not the same for all of them, the words name the
// releases, and the other fields have only what is the same for all.
func limitsTogether(all []*Measured) *Limits {
	first := *all[0].Limits
	var texts []string
	by := map[string][]string{} // the releases, by the words
	for _, m := range all {
		text := m.Limits.Text
		if by[text] == nil {
			texts = append(texts, text)
		}
		by[text] = append(by[text], m.ID)
	}
	if len(texts) == 1 {
		return &first
	}
	for i, text := range texts {
		texts[i] = "n " + strings.Join(by[text], ", ") + ": " + text
	}
	return &Limits{Text: "i" + strings.Join(texts, ". I"), Unit: first.Unit}
}
