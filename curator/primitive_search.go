package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/mechanism/selection"
	"dither/privacy"
)

// searchAccess is the best of several minima of a logistic risk, by how many rows they predict rightly. Its price, E of a pure budget or E²/2 of one in ρ, is
// that of all trials together, since each is E/3-differentially private and the best of a random number of them costs three times what one does
// (selection.Repetition, where the proof stands). What loses is neither told nor recorded, nor is the number of trials.
type searchAccess struct {
	numbers
	*regression
	again   selection.Repetition
	trial   privacy.Epsilon
	price   privacy.Loss
	solvers []*learning.Minimiser
	minima  []part // of each candidate
	correct part
}

// Search is the primitive that looks for the best of the minima of several objectives over the rows of a regression. Score is the part of a trial's price that counts the
// rows predicted rightly.
func (k *kernel) Search(r *regression, of []learning.Objective, again selection.Repetition, score portion, by asker) (*searchAccess, error) {
	m := &searchAccess{regression: r, again: again, price: r.Price}
	m.divide(score)
	for _, o := range of {
		solver, err := minimiser(r, o)
		if err != nil {
			return nil, err
		}
		p := part{
			name: OutputPerturbation, grid: solver.Grid(), cells: r.predictors(), l1: solver.L1(), l2squared: solver.L2Squared(),
			loss: privacy.PureLoss(m.trial.Minus(m.scored())),
		}
		if err := p.choose(); err != nil {
			return nil, &parameterError{Err: err, Price: true}
		}
		m.solvers, m.minima = append(m.solvers, solver), append(m.minima, p)
	}
	moves := m.solvers[0].CorrectSensitivity()
	m.correct.l1, m.correct.l2squared = moves, new(big.Int).Mul(moves, moves)
	if err := m.correct.choose(); err != nil {
		return nil, &parameterError{Err: err, Price: true}
	}
	mechanisms := []ledger.Mechanism{m.minima[0].recorded(), m.correct.recorded()}
	for i := range mechanisms {
		mechanisms[i].Name = fmt.Sprintf("%s, of the best of a random number of trials, %.4g on average", mechanisms[i].Name, m.again.Mean())
	}
	l, err := k.regressionLook(r, by, m.price, m.describe(), mechanisms, r.predictors()+2, 1)
	if err != nil {
		return nil, err
	}
	l.passes = int64(mostTrials*m.again.Mean()) * m.tries()
	m.numbers = numbers{l}
	return m, nil
}

// tries is how often a trial may read the rows, of whichever candidate: the answer's instant may not rest on their order.
func (m *searchAccess) tries() (most int64) {
	for _, s := range m.solvers {
		most = max(most, s.Tries())
	}
	return most
}

// mostTrials is how many times as many trials as on average there is time for where the answer leaves at an instant: more are tried with a probability of
// about e⁻¹⁰.
const mostTrials = 10

// divide gives a trial a third of the ε that the price is worth, and its count a share of that.
func (m *searchAccess) divide(score portion) {
	whole, pure := m.price.Pure()
	if !pure {
		rho, _ := m.price.ZCDP()
		whole = rho.Pure()
	}
	m.trial = whole.Share(1, 3)
	m.correct = part{name: "rows predicted rightly", cells: 1, loss: privacy.PureLoss(m.trial.Share(score.Of, score.Parts))}
}

func (m *searchAccess) scored() privacy.Epsilon {
	e, _ := m.correct.loss.Pure()
	return e
}

// describe writes what a search depends on, beside its rows.
func (m *searchAccess) describe() string {
	text := fmt.Sprintf("the best of about %s trials of %s", m.again.Gamma().RatString(), m.trial)
	for i, s := range m.solvers {
		o, p := s.Objective(), m.minima[i]
		text += fmt.Sprintf("\n%s %s radius=%s regularise=%s rows=%d tolerance=%g passes=%d grid=%d l1=%s %s", OutputPerturbation, o.Loss, exact.FormatRat(o.Radius), exact.FormatRat(o.Regularise), o.Rows, s.Tolerance(), s.Passes(), p.grid, p.l1, p.parameter.RatString())
	}
	return text + fmt.Sprintf("\ncorrect l1=%s %s", m.correct.l1, m.correct.parameter.RatString())
}

// paid asks once more, of what is carried out, whether the price pays for it: three times a trial's two mechanisms.
func (m *searchAccess) paid(minimum, count privacy.Loss) error {
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

// access implements primitive.
func (m *searchAccess) access(ctx context.Context, from reader) (v values, err error) {
	rows, err := from.vectors(ctx, m.regression)
	if err != nil {
		return v, err
	}
	defer func() { _ = rows.Close() }() // it has no name: nothing is left of it
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
	return v, err
}
