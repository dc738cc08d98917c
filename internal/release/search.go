package release

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/mechanism/selection"
	"dither/privacy"
)

// Search chooses, among several minima of a logistic risk, the one that predicts the most rows correctly. Its price
// pays for all trials together. Let E be the price under a pure budget; under a budget in ρ, E²/2 is the price. Each
// trial is E/3-differentially private, and releasing the best of a random number of trials costs three times the price
// of one (selection.Repetition has the proof). Losing trials and the number of trials are neither released nor
// recorded.
type Search struct {
	numbersAlone
	*Regression // embedded for its methods; the access uses data
	data        *Regression
	again       selection.Repetition
	trial       privacy.Epsilon
	price       privacy.Loss
	solvers     []*learning.Minimiser
	minima      []Part // the noise of each candidate's coefficients
	correct     Part
}

// Again returns the distribution of the number of trials.
func (m *Search) Again() selection.Repetition { return m.again }

// Trial returns the loss of one trial.
func (m *Search) Trial() privacy.Epsilon { return m.trial }

// Cost returns the price of all trials together.
func (m *Search) Cost() privacy.Loss { return m.price }

// Solvers returns the solver of each candidate.
func (m *Search) Solvers() []*learning.Minimiser { return slices.Clone(m.solvers) }

// Minima returns the noise of each candidate's coefficients.
func (m *Search) Minima() []Part { return slices.Clone(m.minima) }

// Correct returns the noise of the number of correctly predicted rows.
func (m *Search) Correct() Part { return m.correct }

// Search returns the primitive that searches for the best minimum over the rows of a regression. The list `of` has one
// objective for each candidate. The parameter score is the share of a trial's price that pays for counting the
// correctly predicted rows.
func (k *Kernel) Search(
	r *Regression,
	of []learning.Objective,
	again selection.Repetition,
	score Portion,
	by Asker,
) (*Search, error) {
	m := &Search{Regression: r, data: r.copied(), again: again, price: r.Price}
	m.divide(score)
	for _, o := range of {
		solver, err := minimiser(r, o)
		if err != nil {
			return nil, err
		}
		p := Part{
			name: OutputPerturbation, grid: solver.Grid(), cells: r.Predictors(), l1: solver.L1(), l2squared: solver.L2Squared(),
			loss: privacy.PureLoss(m.trial.Minus(m.scored())),
		}
		if err := p.choose(); err != nil {
			return nil, &ParameterError{Err: err, Price: true}
		}
		m.solvers, m.minima = append(m.solvers, solver), append(m.minima, p)
	}
	moves := m.solvers[0].CorrectSensitivity()
	m.correct.l1, m.correct.l2squared = moves, new(big.Int).Mul(moves, moves)
	if err := m.correct.choose(); err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	mechanisms := []ledger.Mechanism{m.minima[0].recorded(), m.correct.recorded()}
	for i := range mechanisms {
		mechanisms[i].Name = fmt.Sprintf(
			"%s, of the best of a random number of trials, %.4g on average",
			mechanisms[i].Name,
			m.again.Mean(),
		)
	}
	l, err := k.regressionLook(r, by, m.price, m.describe(), mechanisms, r.Predictors()+2, 1)
	if err != nil {
		return nil, err
	}
	l.passes = int64(mostTrials*m.again.Mean()) * m.tries()
	m.numbersAlone = numbersAlone{l}
	return m, nil
}

// tries returns the largest number of passes over the rows that one trial can take, whichever candidate it tries. So
// the order of the candidates does not affect the release time of the answer.
func (m *Search) tries() (most int64) {
	for _, s := range m.solvers {
		most = max(most, s.Tries())
	}
	return most
}

// mostTrials is the factor by which the time of an answer allows more trials than the average. The probability of
// needing more is about e⁻¹⁰.
const mostTrials = 10

// divide sets the ε of one trial to a third of the price's ε, and the share of it that pays for the count.
func (m *Search) divide(score Portion) {
	whole, pure := m.price.Pure()
	if !pure {
		rho, _ := m.price.ZCDP()
		whole = rho.Pure()
	}
	m.trial = whole.Share(1, 3)
	m.correct = Part{
		name:  "rows predicted rightly",
		cells: 1,
		loss:  privacy.PureLoss(m.trial.Share(score.Of, score.Parts)),
	}
}

func (m *Search) scored() privacy.Epsilon {
	e, _ := m.correct.loss.Pure()
	return e
}

// describe returns the public parameters that the release depends on, as text for the replay key (a digest that
// identifies the release).
func (m *Search) describe() string {
	text := fmt.Sprintf("the best of about %s trials of %s", m.again.Gamma().RatString(), m.trial)
	for i, s := range m.solvers {
		o, p := s.Objective(), m.minima[i]
		text += fmt.Sprintf(
			"\n%s %s radius=%s regularise=%s rows=%d tolerance=%g passes=%d grid=%d l1=%s %s",
			OutputPerturbation,
			o.Loss,
			exact.FormatRat(o.Radius),
			exact.FormatRat(o.Regularise),
			o.Rows,
			s.Tolerance(),
			s.Passes(),
			p.grid,
			p.l1,
			p.parameter.RatString(),
		)
	}
	return text + fmt.Sprintf("\ncorrect l1=%s %s", m.correct.l1, m.correct.parameter.RatString())
}

// paid checks that the price pays for the mechanisms that ran: three times the two mechanisms of a trial.
func (m *Search) paid(minimum, count privacy.Loss) error {
	a, pure := minimum.Pure()
	b, counted := count.Pure()
	if !pure || !counted {
		return ErrUnplanned
	}
	loss := privacy.PureLoss(m.again.Loss(a.Plus(b)))
	if _, pure := m.price.Pure(); pure {
		if !loss.Within(m.price) {
			return fmt.Errorf("%w: it costs %s, at a price of %s", ErrUnplanned, loss, m.price)
		}
		return nil
	}
	return paidFor(m.price, loss, privacy.Loss{})
}

// access implements [Primitive].
func (m *Search) access(ctx context.Context, from reader) (v Values, err error) {
	rows, err := from.vectors(ctx, m.data)
	if err != nil {
		return v, err
	}
	defer func() { _ = rows.Close() }() // the file has no name, so closing it deletes it
	v.Numbers, err = selection.Best(m.again, func() ([][]*big.Int, *big.Int, error) {
		i, err := selection.Candidate(len(m.solvers))
		if err != nil {
			return nil, nil, err
		}
		x, err := m.solvers[i].Minimum(ctx, rows)
		if err != nil {
			return nil, nil, err
		}
		p := &m.minima[i]
		minimum, err := noisily(p.Measure(), x)
		if err == nil {
			err = measuredAsPlanned(p.Measure(), minimum)
		}
		if err != nil {
			return nil, nil, err
		}
		n, err := m.solvers[i].Correct(ctx, rows, units(minimum.Values, p.grid))
		if err != nil {
			return nil, nil, err
		}
		count, err := noisily(m.correct.Measure(), []mechanism.Exact{n})
		if err == nil {
			err = errors.Join(measuredAsPlanned(m.correct.Measure(), count), m.paid(minimum.Loss, count.Loss))
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
	return v, err
}
