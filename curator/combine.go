package curator

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/post"
	"dither/internal/query"
	"dither/privacy"
)

// A question may compute with the answers of several measured questions, as a share of a total does. Each measured
// question has a plan, a price, a replay key and a release of its own. They divide the price that the question names
// equally; if it names none, each has the policy's default price. They are measured one after the other: each reserves
// its own price before it reads rows, so no answer is ever uncharged. All are planned, priced and rehearsed before the
// first is charged. docs/design/0008-several.md has the reasons.

// combination is a question that computes with the answers of measured questions.
type combination struct {
	c        *Session
	q        Question
	tree     *query.Select
	apart    bool          // there are several measured questions
	unsealed error         // that a public table is not sealed yet
	share    *privacy.Loss // the price of each; nil for that of the question
	parts    []*combined
	width    int // the number of columns of all parts
	bound    *post.Bound
}

// combined is one of the measured questions, or a public table.
type combined struct {
	reading
	sql     string // its text without the names of its columns; "" for a public table
	table   string // the name of a public table; "" for a measured question
	answer  post.Answer
	alias   *combined // another part that has the same release; nil if there is none
	reused  bool
	release *Release
}

// combination reads a refused question as one that computes with the answers of several measured questions. It returns
// the first refusal if it cannot be read so.
func (c *Session) combination(q Question, refused error) (*combination, error) {
	if refusal := (*plan.Error)(nil); !errors.As(refused, &refusal) || refusal.Price || q.Whole || q.Combine {
		return nil, c.public(refused)
	}
	tree, err := query.ParseIn(q.SQL, c.policy.Clock.Zone)
	if err != nil || tree.Options != nil {
		return nil, c.public(refused)
	}
	for _, of := range tree.Catalogs { // public tables that stand alone have no plan, which would check them
		if of.Name != c.policy.Population.Name {
			return nil, c.public(refused)
		}
	}
	if _, err := parseConfidence(&q.Confidence); err != nil {
		return nil, c.public(err)
	}
	out := &combination{c: c, q: q, tree: tree}
	if err := out.bind(); err != nil {
		refusal := (*plan.Error)(nil)
		priced := errors.As(err, &refusal) && refusal.Price
		measures := slices.ContainsFunc(out.parts, func(p *combined) bool { return p.sql != "" })
		if !priced && !measures && (len(tree.Tables) > 0 || tree.From.None()) {
			err = refused
		}
		return nil, c.public(err)
	}
	if len(out.parts) == 0 && tree.From.None() { // a SELECT without FROM that aggregates, such as SELECT 1 + SUM(1)
		return nil, c.public(refused)
	}
	priced := out.priced()
	if len(priced) < 2 {
		return out, nil
	}
	if err := divisible(q, priced); err != nil {
		return nil, err
	}
	divided := &combination{c: c, q: q, tree: tree, apart: true}
	if q.Epsilon != "" || q.Rho != "" {
		share, err := shareOf(priced[0].asked.plan.Price, len(priced))
		if err != nil {
			return nil, c.public(err)
		}
		divided.share = &share
	}
	if err := divided.bind(); err != nil {
		return nil, c.public(divided.below(err, len(priced)))
	}
	if len(divided.priced()) != len(priced) {
		return nil, c.public(refused)
	}
	return divided, divided.within()
}

// below words the refusal of a share below the policy's minimum.
func (s *combination) below(err error, n int) error {
	if refusal := (*plan.Error)(nil); s.share != nil && errors.As(err, &refusal) && refusal.Price {
		return &Error{
			Code: CodePolicy, cause: ErrPriceLimits,
			Message: fmt.Sprintf("this question measures %d questions, which divide its price equally: %s", n, refusal.Message),
			Hint:    "name a higher price; without a price, each measured question has the policy's default price",
		}
	}
	return err
}

// within refuses a total price above the policy's maximum for one question.
func (s *combination) within() error {
	all, _, err := s.total()
	if err != nil {
		return s.c.public(err)
	}
	if most := s.c.policy.Price.Maximum; !all.Within(most) {
		return &Error{
			Code: CodePolicy, cause: ErrPriceLimits,
			Message: fmt.Sprintf("this question measures %d questions, which cost %v together, more than the policy's maximum of %v "+
				"for one question", len(s.priced()), s.c.loss(all), s.c.loss(most)),
			Hint: "name a price with --epsilon or --rho: the measured questions divide it equally",
		}
	}
	return nil
}

// divisible refuses options that the parts of a price cannot have.
func divisible(q Question, parts []*combined) error {
	no := func(what, hint string) error {
		return &Error{
			Code: CodeUsage, Hint: hint,
			Message: fmt.Sprintf("this question measures %d questions, and %s", len(parts), what),
		}
	}
	if q.Within != "" {
		return no("an accuracy is for one", "state a price with --epsilon or --rho; the questions divide it equally")
	}
	for _, p := range parts {
		if p.asked.plan.OwnEpsilons {
			return no("divides its price equally among them", "leave out the epsilon of single aggregates")
		}
	}
	return nil
}

// shareOf returns the price of each of n measured questions: the share of ε or of ρ, rounded down to 6 digits so that
// an analyst can name it.
func shareOf(price privacy.Loss, n int) (privacy.Loss, error) {
	part := func(r *big.Rat) *big.Rat { return exact.FloorDigits(r.Quo(r, big.NewRat(int64(n), 1)), 6) }
	if e, pure := price.Pure(); pure {
		e, err := privacy.EpsilonOf(part(e.Rat()))
		return privacy.PureLoss(e), err
	}
	rho, _ := price.ZCDP()
	rho, err := privacy.RhoOf(part(rho.Rat()))
	return privacy.ZCDPLoss(rho, privacy.Delta{}), err
}

// bind binds the question to the columns of the answers that its parts will have.
func (s *combination) bind() error {
	filled := s.c.filled()
	s.width = 0
	var err error
	s.bound, err = post.Several(s.tree, post.Parts{
		Has: func(of *query.Select, name string) bool { return plan.HasColumn(filled, of, name) }, Measure: s.part, Whole: s.whole,
		Public: s.public,
	})
	if err != nil {
		return err
	}
	rows := make([]int, len(s.parts))
	for i, p := range s.parts {
		if p.asked != nil {
			rows[i] = knownCells(p.asked) // with unknown keys, Run decides
		} else {
			rows[i] = len(p.free.rows)
		}
	}
	return s.bound.Fits(rows...)
}

// part plans a measured question, unless the question has it already.
func (s *combination) part(p *post.Program) (post.Answer, error) {
	text := unnamed(p.Measured)
	for _, known := range s.parts {
		if known.sql == text {
			return known.answer, nil
		}
	}
	q := s.measured(p.Measured)
	out := &combined{reading: reading{inner: q, program: p}, sql: text}
	a, err := s.c.answerable(q)
	if err == nil && a.plan.OneUnit != nil {
		err = a.plan.OneUnit
	}
	if err == nil {
		out.asked = a
		out.answer.Columns, out.answer.Rows = columnsOf(a, false), mostRows(a)
		out.answer.Open = a.plan.Selection != nil
		for _, other := range s.parts {
			if other.asked != nil && other.asked.look.Key() == a.look.Key() {
				out.alias = other
			}
		}
		if out.alias != nil && q.Fresh { // it replays the fresh release of the other part
			q.Fresh = false
			if out.asked, err = s.c.answerable(q); err != nil {
				return post.Answer{}, err
			}
		}
	} else {
		if out.free, err = s.c.freeTable(q, p, err); err != nil {
			return post.Answer{}, err
		}
		out.answer.Columns, out.answer.Rows = out.free.columns, len(out.free.rows)
	}
	if out.alias != nil {
		for i, c := range out.answer.Columns {
			if c.Noisy && c.Why == "" {
				out.answer.Columns[i].Why = whySameRelease
			}
		}
	}
	out.answer.Index, out.answer.Same, out.answer.From = len(s.parts), len(s.parts), s.width
	if out.alias != nil {
		out.answer.Same = out.alias.answer.Index
	}
	s.width += len(out.answer.Columns)
	s.parts = append(s.parts, out)
	return out.answer, nil
}

// measured returns the question for a part.
func (s *combination) measured(of *query.Select) Question {
	q := s.q
	q.measured, q.SQL, q.apart, q.share = of, of.String(), s.apart, s.share
	return q
}

// whole reports whether GROUP BY of a key leaves out no row that a SELECT reads.
func (s *combination) whole(of *query.Select, key query.Expr) bool {
	count := &query.Call{At: key.Pos(), Name: "count", Star: true}
	a, err := s.c.answerable(s.measured(&query.Select{
		At: of.At, Items: []query.Item{{Expr: count}}, From: of.From, Where: of.Where, GroupBy: []query.Expr{key},
		Catalogs: s.tree.Catalogs,
	}))
	return err == nil && a.plan.Whole(0)
}

const whySameRelease = "another column has the same release under another text, so their errors are not independent"

// unnamed returns the text of a measured question without the names of its columns, which do not change its release.
func unnamed(q *query.Select) string {
	out := *q
	out.Items = slices.Clone(q.Items)
	for i := range out.Items {
		out.Items[i].Alias = ""
	}
	return out.String()
}

// mostRows returns the largest number of rows of an answer.
func mostRows(a *asked) int {
	if a.plan.Selection != nil {
		return a.plan.MaxChosen() + 1 // with the row of the keys that are not chosen
	}
	return knownCells(a)
}

// priced returns the parts that have a release of their own.
func (s *combination) priced() (out []*combined) {
	for _, p := range s.parts {
		if p.asked != nil && p.alias == nil {
			out = append(out, p)
		}
	}
	return out
}
