package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/mechanism/selection"
	"dither/privacy"
)

// MinimumSearch asks for the best of several minima of a logistic risk, by how many rows they predict rightly: of other regularisers, or other balls. A random number of candidates is tried, each drawn
// at random, and the best alone is told.
type MinimumSearch struct {
	Question
	Bound      string // of the predictors' norm, as of Minimisation
	Rows       int64  // about how many there are, as there
	Candidates []MinimumCandidate
	Trials     float64 // how many there are on average, from 2 to 1000; 0 is ten for each candidate
	Score      string  // the part of a trial's price that counts the rows predicted rightly, a decimal below 1; "" is 0.2
}

// MinimumCandidate is what may be chosen.
type MinimumCandidate struct {
	Regularise, Radius string // as of Minimisation
}

// FoundMinimum is the best that was found.
type FoundMinimum struct {
	ID           string
	Names        []string // of the predictors
	Best         int      // of the candidates
	Coefficients Vector
	Correct      Vector  // one number: how many rows were predicted rightly, noisy; being the best of several, it is rather too large
	Trials       float64 // how many there were on average: how many there were is a secret
	// Missed is the probability that a given candidate was never tried.
	Missed           float64
	Trial            Loss // of each, pure
	Price, Remaining Loss
	Replayed         bool
}

// mostSearched bounds the candidates of a search.
const mostSearched = 64

// searchedMinima is a MinimumSearch, decided.
type searchedMinima struct {
	*regression
	again   selection.Repetition
	trial   privacy.Epsilon
	price   privacy.Loss
	solvers []*learning.Minimiser
	minima  []part // of each candidate
	correct part
}

// SearchMinimum runs the search. It is one look: its price, E of a pure budget or E²/2 of one in ρ, is that of all trials together, since each is E/3-differentially private and the best of a random number of
// them costs three times what one does (selection.Repetition, where the proof stands). A trial draws a candidate, adds discrete Laplace noise to its minimum (learning.Minimiser), and counts, with such noise, the
// rows that this predicts rightly; the shares of both add up to E/3. What loses is neither told nor recorded, nor is the number of trials.
//
// A search that runs out of time is charged, and nothing comes of it. That it was given up after so many trials costs no more (the proof holds for a number that is cut off).
//
// The time that the answer takes grows with the number of trials, which the proof needs to be secret: who can time answers learns about how many there were. In that they are like all whose time is not
// the same always.
func (c *Curator) SearchMinimum(ctx context.Context, q MinimumSearch) (*FoundMinimum, error) {
	ctx = c.arrives(ctx)
	m, l, err := c.minimaOf(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) { return c.best(ctx, m, from) })
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

// ExplainSearch tells what SearchMinimum would cost, and its noise, free: everything but what it finds. The noise is that of the first candidate.
func (c *Curator) ExplainSearch(_ context.Context, q MinimumSearch) (*FoundMinimum, error) {
	m, l, err := c.minimaOf(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &seen{}
	if s.replayed, err = c.explicable(l); err != nil {
		return nil, err
	}
	out, err := c.foundMinimum(m, s)
	if err != nil {
		return nil, c.public(err)
	}
	room, err := c.room(l)
	if err != nil {
		return nil, c.public(err)
	}
	out.ID, out.Remaining = "", left(room)
	return out, nil
}

// minimaOf decides all that is public, and the look.
func (c *Curator) minimaOf(q MinimumSearch) (*searchedMinima, *look, error) {
	if len(q.Candidates) < 1 || len(q.Candidates) > mostSearched {
		return nil, nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("a search is among 1 to %d candidates", mostSearched)}
	}
	r, err := c.regress(q.Question, q.Bound)
	if err != nil {
		return nil, nil, err
	}
	m := &searchedMinima{regression: r, price: r.Price}
	trials := q.Trials
	if trials == 0 {
		trials = 10 * float64(len(q.Candidates))
	}
	if m.again, err = selection.NewRepetition(trials); err != nil {
		return nil, nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	if err := m.divide(q.Score); err != nil {
		return nil, nil, err
	}
	for _, candidate := range q.Candidates {
		of, err := c.minimising(Minimisation{Question: q.Question, Loss: LogisticLoss, Bound: q.Bound, Rows: q.Rows, Regularise: candidate.Regularise, Radius: candidate.Radius})
		if err != nil {
			return nil, nil, err
		}
		p := part{name: OutputPerturbation, grid: of.solver.Grid(), cells: r.predictors(), l1: of.solver.L1(), l2squared: of.solver.L2Squared(), loss: privacy.PureLoss(m.trial.Minus(m.scored()))}
		if err := p.choose(); err != nil {
			return nil, nil, unusable(err)
		}
		m.solvers, m.minima = append(m.solvers, of.solver), append(m.minima, p)
	}
	moves := m.solvers[0].CorrectSensitivity()
	m.correct.l1, m.correct.l2squared = moves, new(big.Int).Mul(moves, moves)
	if err := m.correct.choose(); err != nil {
		return nil, nil, unusable(err)
	}
	mechanisms := []ledger.Mechanism{m.minima[0].recorded(), m.correct.recorded()}
	for i := range mechanisms {
		mechanisms[i].Name = fmt.Sprintf("%s, of the best of a random number of trials, %.4g on average", mechanisms[i].Name, m.again.Mean())
	}
	l, err := c.decided(r, q.Question, m.price, m.describe(), mechanisms, [2]int{r.predictors() + 2, 1})
	if err != nil {
		return nil, nil, err
	}
	l.question = fmt.Sprintf("the best of %d minima, %s: %s", len(q.Candidates), LogisticLoss, q.SQL)
	l.passes = int64(mostTrials*m.again.Mean()) * m.tries()
	if _, released, err := c.ledger.Find(l.key); err != nil || released && !l.fresh {
		return m, l, err
	}
	return m, l, c.lasting(m)
}

// tries is how often a trial may read the rows, of whichever candidate: the answer's instant may not rest on their order.
func (m *searchedMinima) tries() (most int64) {
	for _, s := range m.solvers {
		most = max(most, s.Tries())
	}
	return most
}

// mostTrials is how many times as many trials as on average there is time for where the answer leaves at an instant: more are tried with a probability of
// about e⁻¹⁰.
const mostTrials = 10

// trialPasses is about how often a trial reads the rows, at the least: Newton's method some times, and the count once.
const trialPasses = 5

// lasting refuses a search that would on average take longer than an answer may: that would be charged, and told as a failure. What it asks is public.
func (c *Curator) lasting(m *searchedMinima) error {
	timeout := c.timeout()
	rows := m.solvers[0].Objective().Rows
	if m.again.Mean()*trialPasses*float64(rows)*float64(m.predictors()+1) <= numbersPerSecond*timeout.Seconds() {
		return nil
	}
	return &Error{
		Code: CodePolicy, Message: fmt.Sprintf("about %.4g trials over %d rows would take longer than the %s that an answer may take", m.again.Mean(), rows, timeout),
		Hint: "ask for fewer trials on average",
	}
}

// divide gives a trial a third of the ε that the price is worth, and its count a share of that.
func (m *searchedMinima) divide(share string) error {
	if share == "" {
		share = "0.2"
	}
	of, parts, err := shareOf("the share of the count", share)
	if err != nil {
		return err
	}
	whole, pure := m.price.Pure()
	if !pure {
		rho, _ := m.price.ZCDP()
		whole = rho.Pure()
	}
	m.trial = whole.Share(1, 3)
	m.correct = part{name: "rows predicted rightly", cells: 1, loss: privacy.PureLoss(m.trial.Share(of, parts))}
	return nil
}

func (m *searchedMinima) scored() privacy.Epsilon {
	e, _ := m.correct.loss.Pure()
	return e
}

// describe writes what a search depends on, beside its rows.
func (m *searchedMinima) describe() string {
	text := fmt.Sprintf("the best of about %s trials of %s", m.again.Gamma().RatString(), m.trial)
	for i, s := range m.solvers {
		o, p := s.Objective(), m.minima[i]
		text += fmt.Sprintf("\n%s %s radius=%s regularise=%s rows=%d tolerance=%g passes=%d grid=%d l1=%s %s", OutputPerturbation, o.Loss, exact.FormatRat(o.Radius), exact.FormatRat(o.Regularise), o.Rows, s.Tolerance(), s.Passes(), p.grid, p.l1, p.parameter.RatString())
	}
	return text + fmt.Sprintf("\ncorrect l1=%s %s", m.correct.l1, m.correct.parameter.RatString())
}

// paid asks once more, of what is carried out, whether the price pays for it: three times a trial's two mechanisms.
func (m *searchedMinima) paid(minimum, count privacy.Loss) error {
	a, pure := minimum.Pure()
	b, counted := count.Pure()
	if !pure || !counted {
		return errUnplanned
	}
	loss := privacy.PureLoss(m.again.Loss(a.Plus(b)))
	if _, pure := m.price.Pure(); pure {
		if !loss.Within(m.price) {
			return fmt.Errorf("%w: it costs %s, at a price of %s", errUnplanned, loss, m.price)
		}
		return nil
	}
	return paidFor(m.price, loss, privacy.Loss{})
}

// best looks at the rows.
func (c *Curator) best(ctx context.Context, m *searchedMinima, from engine.Sealed) ([][]*big.Int, error) {
	rows, err := c.stream(ctx, m.regression, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // it has no name: nothing is left of it
	return selection.Best(m.again, func() ([][]*big.Int, *big.Int, error) {
		i, err := selection.Candidate(len(m.solvers))
		if err != nil {
			return nil, nil, err
		}
		x, err := m.solvers[i].Minimum(ctx, rows)
		if err != nil {
			return nil, nil, err
		}
		p := &m.minima[i]
		minimum, err := noisily(p.measure(), x)
		if err == nil {
			err = measuredAsPlanned(p.measure(), minimum)
		}
		if err != nil {
			return nil, nil, err
		}
		n, err := m.solvers[i].Correct(ctx, rows, units(minimum.Values, p.grid))
		if err != nil {
			return nil, nil, err
		}
		count, err := noisily(m.correct.measure(), []mechanism.Exact{n})
		if err == nil {
			err = errors.Join(measuredAsPlanned(m.correct.measure(), count), m.paid(minimum.Loss, count.Loss))
		}
		if err != nil {
			return nil, nil, err
		}
		out := [][]*big.Int{{big.NewInt(int64(i))}, count.Values}
		for _, v := range minimum.Values {
			out = append(out, []*big.Int{v})
		}
		return out, count.Values[0], nil
	})
}

// foundMinimum puts numbers, where there are any, beside all that is public of them.
func (c *Curator) foundMinimum(m *searchedMinima, s *seen) (*FoundMinimum, error) {
	out := &FoundMinimum{
		ID: s.name(), Names: m.Names[:m.predictors()], Trials: m.again.Mean(), Missed: m.again.Missed(1 / float64(len(m.solvers))), Price: c.loss(m.price), Replayed: s.replayed, Trial: Loss{Epsilon: m.trial.String(), Delta: "0"},
	}
	var coefficients, correct [][]*big.Int
	if len(s.numbers) > 0 {
		if n := s.numbers[0][0]; n.IsInt64() && n.Int64() >= 0 && n.Int64() < int64(len(m.minima)) {
			out.Best = int(n.Int64())
		} else {
			return nil, fmt.Errorf("%w: it is of none of its candidates", errUnreadable)
		}
		correct, coefficients = s.numbers[1:2], s.numbers[2:]
	}
	for _, x := range []struct {
		of   *part
		rows [][]*big.Int
		to   *Vector
	}{{&m.minima[out.Best], coefficients, &out.Coefficients}, {&m.correct, correct, &out.Correct}} {
		d, err := derive.NoiseOf(x.of.measure())
		if err != nil {
			return nil, err
		}
		*x.to = x.of.vector(d, x.rows)
		x.to.Loss = Loss{Epsilon: privacyOf(x.of.loss), Delta: "0"}
	}
	return out, nil
}

func privacyOf(l privacy.Loss) string {
	e, _ := l.Pure()
	return e.String()
}
