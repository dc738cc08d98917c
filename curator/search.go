package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/derive"
	"dither/internal/release"
	"dither/mechanism/learning"
	"dither/mechanism/selection"
	"dither/privacy"
)

// MinimumSearch asks for the best of several minima of a logistic risk, by how many rows they predict rightly: of other regularisers, or other balls. A random number of candidates is tried, each drawn
// at random, and the best alone is told.
type MinimumSearch struct {
	Request
	Bound      string // of the predictors' norm, as of Minimisation
	Rows       int64  // about how many there are, as there
	Candidates []MinimumCandidate
	Trials     float64 // how many there are on average, from 2 to 1000; 0 is ten for each candidate
	Score      string  // the part of a trial's price that counts the rows predicted rightly, a decimal below 1; "" is 0.2
}

// MinimumCandidate is one setting of the ridge penalty and the radius, which the search may choose.
type MinimumCandidate struct {
	Regularise, Radius string // as of Minimisation
}

// FoundMinimum is the result of SearchMinimum: the candidate that won, and its coefficients.
type FoundMinimum struct {
	ID           string
	Names        []string // of the predictors
	Best         int      // of the candidates
	Coefficients Vector
	// one number: how many rows were predicted rightly, noisy; being the best of several, it is rather too large
	Correct Vector
	Trials  float64 // how many there were on average: how many there were is a secret
	// Missed is the probability that a given candidate was never tried.
	Missed           float64
	Trial            Loss // of each, pure
	Price, Remaining Loss
	Replayed         bool
}

// mostSearched bounds the candidates of a search.
const mostSearched = 64

// SearchMinimum runs the search. It is one access: its price, E of a pure budget or E²/2 of one in ρ, pays for all trials together, since each is E/3-differentially private and the best of a random number of
// them costs three times what one does (selection.Repetition, where the proof stands). A trial draws a candidate, adds discrete Laplace noise to its minimum (learning.Minimiser), and counts, with such noise, the
// rows that this predicts rightly; the shares of both add up to E/3. What loses is neither told nor recorded, nor is the number of trials.
//
// A search that runs out of time is charged, and nothing comes of it. That it was given up after so many trials costs no more (the proof holds for a number that is cut off).
//
// The time that the answer takes grows with the number of trials, which the proof needs to be secret: who can time answers learns about how many there were. In that they are like all whose time is not
// the same always.
func (c *Session) SearchMinimum(ctx context.Context, q MinimumSearch) (*FoundMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	ctx = c.kernel.Arrives(ctx)
	m, err := c.minimaOf(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	out, err := c.foundMinimum(m, s)
	if err != nil {
		return nil, c.after(s, err)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// ExplainSearch states the price of SearchMinimum and the noise of its first candidate, at no cost.
func (c *Session) ExplainSearch(_ context.Context, q MinimumSearch) (*FoundMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	m, err := c.minimaOf(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &release.Released{}
	if s.Replayed, err = c.kernel.Explicable(m.Look()); err != nil {
		return nil, c.public(err)
	}
	out, err := c.foundMinimum(m, s)
	if err != nil {
		return nil, c.public(err)
	}
	room, err := c.kernel.Room(m.Look())
	if err != nil {
		return nil, c.public(err)
	}
	out.ID, out.Remaining = "", left(room)
	return out, nil
}

// minimaOf decides all that is public.
func (c *Session) minimaOf(q MinimumSearch) (*release.Search, error) {
	if len(q.Candidates) < 1 || len(q.Candidates) > mostSearched {
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("a search is among 1 to %d candidates", mostSearched)}
	}
	r, err := c.regress(q.Request, q.Bound)
	if err != nil {
		return nil, err
	}
	trials := q.Trials
	if trials == 0 {
		trials = 10 * float64(len(q.Candidates))
	}
	again, err := selection.NewRepetition(trials)
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	if q.Score == "" {
		q.Score = "0.2"
	}
	score, err := portionOf("the share of the count", q.Score)
	if err != nil {
		return nil, err
	}
	var objectives []learning.Objective
	for _, candidate := range q.Candidates {
		o, err := c.objective(
			r,
			Minimisation{Loss: LogisticLoss, Rows: q.Rows, Regularise: candidate.Regularise, Radius: candidate.Radius},
		)
		if err != nil {
			return nil, err
		}
		objectives = append(objectives, o)
	}
	by := q.asker()
	by.Question = fmt.Sprintf("the best of %d minima, %s: %s", len(q.Candidates), LogisticLoss, q.SQL)
	m, err := c.kernel.Search(r, objectives, again, score, by)
	if err != nil {
		return nil, err
	}
	if before, err := c.kernel.ReleasedBefore(m.Look()); err != nil || before {
		return m, err
	}
	return m, c.lasting(m)
}

// trialPasses is about how often a trial reads the rows, at the least: Newton's method some times, and the count once.
const trialPasses = 5

// lasting refuses a search that would on average take longer than an answer may: that would be charged, and told as a failure. What it asks is public.
func (c *Session) lasting(m *release.Search) error {
	timeout := c.kernel.Timeout()
	rows := m.Solvers()[0].Objective().Rows
	if m.Again().Mean()*trialPasses*float64(rows)*float64(m.Predictors()+1) <= numbersPerSecond*timeout.Seconds() {
		return nil
	}
	return &Error{
		Code: CodePolicy,
		Message: fmt.Sprintf(
			"about %.4g trials over %d rows would take longer than the %s that an answer may take",
			m.Again().Mean(),
			rows,
			timeout,
		),
		Hint: "ask for fewer trials on average",
	}
}

// foundMinimum puts numbers, where there are any, beside all that is public of them.
func (c *Session) foundMinimum(m *release.Search, s *release.Released) (*FoundMinimum, error) {
	out := &FoundMinimum{
		ID:       s.Name(),
		Names:    m.Names[:m.Predictors()],
		Trials:   m.Again().Mean(),
		Missed:   m.Again().Missed(1 / float64(len(m.Solvers()))),
		Price:    c.loss(m.Cost()),
		Replayed: s.Replayed,
		Trial:    Loss{Epsilon: m.Trial().String(), Delta: "0"},
	}
	var coefficients, correct [][]*big.Int
	if len(s.Numbers) > 0 {
		if n := s.Numbers[0][0]; n.IsInt64() && n.Int64() >= 0 && n.Int64() < int64(len(m.Minima())) {
			out.Best = int(n.Int64())
		} else {
			return nil, fmt.Errorf("%w: it is of none of its candidates", release.ErrUnreadable)
		}
		correct, coefficients = s.Numbers[1:2], s.Numbers[2:]
	}
	minimum, count := m.Minima()[out.Best], m.Correct()
	for _, x := range []struct {
		of   *release.Part
		rows [][]*big.Int
		to   *Vector
	}{{&minimum, coefficients, &out.Coefficients}, {&count, correct, &out.Correct}} {
		d, err := derive.NoiseOf(x.of.Measure())
		if err != nil {
			return nil, err
		}
		*x.to = vectorOf(x.of, d, x.rows)
		x.to.Loss = Loss{Epsilon: privacyOf(x.of.Loss()), Delta: "0"}
	}
	return out, nil
}

func privacyOf(l privacy.Loss) string {
	e, _ := l.Pure()
	return e.String()
}
