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

// MinimumSearch asks for the best of several minima of a logistic risk, by the number of rows that each predicts
// correctly. The candidates differ in their ridge penalty or radius. The search tries a random number of randomly
// drawn candidates, and releases only the best trial.
type MinimumSearch struct {
	Request
	Bound      string // the bound of the predictors' norm, as in Minimisation
	Rows       int64  // the approximate number of rows, as in Minimisation
	Candidates []MinimumCandidate
	Trials     float64 // the average number of trials, from 2 to 1000; 0 is ten for each candidate
	// the share of a trial's price that pays for counting the correctly predicted rows, a decimal below 1; "" is
	// 0.2
	Score string
}

// MinimumCandidate is one setting of the ridge penalty and the radius, which the search may choose.
type MinimumCandidate struct {
	Regularise, Radius string // as in Minimisation
}

// FoundMinimum is the result of SearchMinimum: the candidate that won, and its coefficients.
type FoundMinimum struct {
	ID           string
	Names        []string
	Best         int // the index of the winning candidate
	Coefficients Vector
	// one number: the noisy count of correctly predicted rows. It tends to be too large, because the best of
	// several trials is chosen
	Correct Vector
	Trials  float64 // the average number of trials. The actual number is secret
	// Missed is the probability that a given candidate was never tried.
	Missed           float64
	Trial            Loss    // the pure loss of one trial
	Limits           *Limits // what bounds the release
	Price, Remaining Loss
	Replayed         bool
}

// mostSearched is the largest number of candidates of a search.
const mostSearched = 64

// SearchMinimum runs the search in one access. Its price pays for all trials. Let E be the price under a pure budget;
// under a budget in ρ, E²/2 is the price. Each trial is E/3-differentially private. Releasing the best of a random
// number of trials costs three times the price of one (selection.Repetition has the proof). A trial draws a candidate
// and adds discrete Laplace noise to its minimum (learning.Minimiser). It then counts the rows that this minimum
// predicts correctly, with discrete Laplace noise. The shares of the minimum and of the count add up to E/3. Losing
// trials and the number of trials are neither released nor recorded.
//
// A search that exceeds the time limit fails, and stays charged. Stopping after a number of trials costs no extra
// loss: the proof also covers a truncated number of trials.
//
// The proof needs the number of trials to be secret, but the running time grows with it. So anybody who can time
// answers learns about that number. The remedy is an answer_delay in the policy.
func (c *Session) SearchMinimum(ctx context.Context, q MinimumSearch) (*FoundMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
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

// ExplainSearch states the price of [Session.SearchMinimum] and the noise of its first candidate, at no cost.
func (c *Session) ExplainSearch(_ context.Context, q MinimumSearch) (*FoundMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
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

// minimaOf builds the access from a request, using public information only.
func (c *Session) minimaOf(q MinimumSearch) (*release.Search, error) {
	if len(q.Candidates) < 1 || len(q.Candidates) > mostSearched {
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("a search takes 1 to %d candidates", mostSearched)}
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

// trialPasses is about the least number of times that a trial reads the rows: a few steps of Newton's method, and
// one pass to count.
const trialPasses = 5

// lasting refuses a search that would on average take longer than an answer may take. Such a search would be
// charged and then probably fail. The decision depends on public information only.
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

// foundMinimum returns the public form of a search's result. If s has no numbers, as for an explanation, it leaves
// the values out and describes the first candidate.
func (c *Session) foundMinimum(m *release.Search, s *release.Released) (*FoundMinimum, error) {
	out := &FoundMinimum{
		ID:       s.Name(),
		Names:    m.Names[:m.Predictors()],
		Trials:   m.Again().Mean(),
		Missed:   m.Again().Missed(1 / float64(len(m.Solvers()))),
		Limits:   c.limitsOfRegression(m.Regression),
		Price:    c.loss(m.Cost()),
		Replayed: s.Replayed,
		Trial:    Loss{Epsilon: m.Trial().String(), Delta: "0"},
	}
	var coefficients, correct [][]*big.Int
	if len(s.Numbers) > 0 {
		if n := s.Numbers[0][0]; n.IsInt64() && n.Int64() >= 0 && n.Int64() < int64(len(m.Minima())) {
			out.Best = int(n.Int64())
		} else {
			return nil, fmt.Errorf("%w: it chose none of its candidates", release.ErrUnreadable)
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
