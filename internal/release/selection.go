package release

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/selection"
	"dither/privacy"
)

// Selection chooses the groups with the greatest scores. The policy and the question determine all groups in
// advance. The price is the loss of the named mechanism, at the sensitivity of one score that the plan proves.
type Selection struct {
	numbersAlone
	target  *plan.Target
	name    string
	epsilon privacy.Epsilon
	best    int
	// choose returns a row for each chosen group, and what the mechanism reports about itself. within returns a
	// bound on the shortfall of a choice among n groups, which holds with probability 1 − beta.
	choose func([]mechanism.Exact) ([][]*big.Int, told, error)
	within func(n int, beta float64) (float64, error)
}

// Mechanism returns the name of the mechanism.
func (m *Selection) Mechanism() string { return m.name }

// Epsilon returns the ε at which the mechanism runs.
func (m *Selection) Epsilon() privacy.Epsilon { return m.epsilon }

// Selection returns the primitive that chooses the best groups of a target by the mechanism called name. The
// mechanism runs at the largest ε that the price pays for.
func (k *Kernel) Selection(t *plan.Target, by Asker, name string, best int) (*Selection, error) {
	s, err := selecting(t, name, best)
	if err != nil {
		return nil, err
	}
	l, err := k.targetLook(t, by, s.parameters(t), best, 2)
	s.numbersAlone = numbersAlone{l}
	return s, err
}

// selecting returns a Selection without its [Look].
func selecting(t *plan.Target, name string, best int) (*Selection, error) {
	s := &Selection{target: t, name: name, epsilon: pureWithin(t.Price), best: best}
	switch _, pure := t.Price.Pure(); {
	case name == Exponential:
		if rho, _ := t.Price.ZCDP(); !pure { // K choices at ε/K each cost K·(ε/K)²/8 together. That is ρ for ε = √(8Kρ)
			s.epsilon = rho.Times(int64(best)).Pure().Times(2)
		}
		s.exponential()
	case name == PermuteAndFlip && best == 1:
		s.permuteAndFlip()
	case name == NoisyMax:
		s.noisyMax()
	default:
		return nil, fmt.Errorf("%w: %q chooses %d groups", ErrUnplanned, name, best)
	}
	return s, nil
}

// access implements [Primitive].
func (m *Selection) access(ctx context.Context, rows reader) (v Values, err error) {
	cells, err := rows.engine.Aggregate(ctx, &m.target.Statement, rows.sealed)
	if err == nil {
		v.Numbers, err = m.chooseAsPlanned(m.target, column(cells, 0))
	}
	return v, err
}

// Shortfall returns a bound on the error of the choice, in grid units. With probability 1 − beta, whenever a group
// was chosen, no group that was still available had a score more than this bound above it.
func (m *Selection) Shortfall(beta float64) (float64, error) {
	return m.within(m.target.Cells(), beta)
}

// told is what a mechanism reports about itself after it ran: its loss and its noise scale.
type told struct {
	loss  privacy.Loss
	least privacy.Loss // the loss under zCDP, if that is less than the ρ that the pure loss implies; else zero
	scale *big.Rat     // the scale of its noise; nil if it adds none
}

// chooseAsPlanned calls choose, and checks that the mechanism is the one that was planned and recorded.
func (m *Selection) chooseAsPlanned(t *plan.Target, scores []mechanism.Exact) ([][]*big.Int, error) {
	rows, told, err := m.choose(scores)
	if err == nil && told.scale != nil {
		err = scaledAsPlanned(told.scale, m.scale(t))
	}
	if err == nil {
		err = costsAsPlanned(told.loss, privacy.PureLoss(m.epsilon))
	}
	if err == nil {
		err = paidFor(t.Price, told.loss, told.least)
	}
	return rows, err
}

// parameters describes the mechanism for the ledger. The recorded scale is the divisor of a score in the exponent
// of a probability, or the noise scale.
func (m *Selection) parameters(t *plan.Target) ledger.Mechanism {
	return ledger.Mechanism{
		Name:        m.name,
		Sensitivity: t.Sensitivity.String(),
		Scale:       exact.FormatRat(m.scale(t)),
		Cells:       m.best,
	}
}

func (m *Selection) scale(t *plan.Target) *big.Rat {
	reach := new(big.Int).Set(t.Sensitivity)
	if !t.Monotonic {
		reach.Lsh(reach, 1)
	}
	scale := new(big.Rat).SetInt(reach.Mul(reach, big.NewInt(int64(m.best))))
	return scale.Quo(scale, m.epsilon.Rat())
}

var noLead = big.NewInt(-1)

func (s *Selection) exponential() {
	m := selection.TopExponential{
		Sensitivity: s.target.Sensitivity,
		Monotonic:   s.target.Monotonic,
		Epsilon:     s.epsilon,
		K:           s.best,
	}
	s.choose = func(scores []mechanism.Exact) (rows [][]*big.Int, _ told, err error) {
		ranking, err := m.Select(scores)
		for _, i := range ranking.Indices {
			rows = append(rows, []*big.Int{big.NewInt(int64(i)), noLead})
		}
		return rows, told{loss: ranking.Loss, least: m.ZCDP()}, err
	}
	s.within = func(n int, beta float64) (float64, error) { return m.Shortfall(big.NewInt(int64(n)), beta) }
}

func (s *Selection) permuteAndFlip() {
	m := selection.PermuteAndFlip{Sensitivity: s.target.Sensitivity, Monotonic: s.target.Monotonic, Epsilon: s.epsilon}
	s.choose = func(scores []mechanism.Exact) ([][]*big.Int, told, error) {
		chosen, err := m.Select(scores)
		return [][]*big.Int{{big.NewInt(int64(chosen.Index)), noLead}}, told{loss: chosen.Loss}, err
	}
	s.within = func(n int, beta float64) (float64, error) { return m.Shortfall(big.NewInt(int64(n)), beta) }
}

func (s *Selection) noisyMax() {
	m := selection.NoisyTop{
		Sensitivity: s.target.Sensitivity,
		Monotonic:   s.target.Monotonic,
		Epsilon:     s.epsilon,
		K:           s.best,
	}
	s.choose = func(scores []mechanism.Exact) (rows [][]*big.Int, _ told, err error) {
		ranking, err := m.Select(scores)
		if err != nil {
			return nil, told{}, err
		}
		for r, i := range ranking.Indices {
			lead := noLead
			if r < len(ranking.Gaps) {
				lead = ranking.Gaps[r]
			}
			rows = append(rows, []*big.Int{big.NewInt(int64(i)), lead})
		}
		return rows, told{loss: ranking.Loss, scale: ranking.Noise.Scale()}, nil
	}
	s.within = func(n int, beta float64) (float64, error) {
		a, err := m.Shortfall(n, beta)
		if err != nil {
			return 0, err
		}
		return exact.FloatUp(new(big.Rat).SetInt(a)), nil
	}
}
