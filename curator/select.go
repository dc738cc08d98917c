package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/selection"
	"dither/privacy"
)

// Mechanisms that a Selection may name.
const (
	Exponential    = "exponential mechanism" // under zCDP it costs a quarter of the others
	PermuteAndFlip = "permute and flip"      // under a pure ε never worse; for one group alone
	NoisyMax       = "report noisy max"      // and by how much, at no further cost
)

// Selection asks which groups of a question have the greatest score: SELECT region, COUNT(*) FROM people GROUP BY region. The
// question has one count or sum; the scores themselves are not released. Confidence is of the Shortfall; MaxGroups is left out.
type Selection struct {
	Question
	Best      int    // how many groups; 0 is 1
	Mechanism string // "" is PermuteAndFlip for one group under a pure budget, else Exponential
}

// Selected is what a Selection releases.
type Selected struct {
	ID        string
	Keys      []string // the columns that name a group
	Best      []Chosen // the first one first
	Mechanism string
	// Sensitivity is how far one unit moves a score. With probability Confidence no group's score was more than Shortfall above
	// that of any group chosen in its place. Both are in the scores' unit, and functions of public parameters.
	Sensitivity, Shortfall float64
	Confidence             string
	Price, Remaining       Loss
	Replayed               bool
}

// Chosen is one group.
type Chosen struct {
	Group []any    // the values of Keys
	Lead  *float64 // of NoisyMax: by how much, at least, its noisy score was ahead of the next one's; nil where there is none
}

// Select is the kernel's second primitive: the best of the groups of a question, by a score of bounded sensitivity. The groups
// are known before (from the policy and the question); the loss is that of the mechanism it names, with the plan's
// sensitivity of one score, and is the price.
func (c *Curator) Select(ctx context.Context, s Selection) (*Selected, error) {
	ctx = c.arrives(ctx)
	if s.Best == 0 {
		s.Best = 1
	}
	alpha, err := parseConfidence(&s.Confidence)
	if err != nil {
		return nil, c.public(err)
	}
	request, err := c.request(s.Question)
	if err != nil {
		return nil, c.public(err)
	}
	t, err := plan.BuildScores(c.filled(), request)
	if err != nil {
		return nil, c.public(err)
	}
	m, err := selector(t, s)
	if err != nil {
		return nil, c.public(err)
	}
	l, err := c.lookAt(t, s.Question, m.parameters(t), [2]int{s.Best, 2})
	if err != nil {
		return nil, c.public(err)
	}
	shortfall, err := m.shortfall(t.Cells(), alpha)
	if err != nil {
		return nil, unusable(err)
	}
	found, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		cells, err := c.engine.Aggregate(ctx, l.bounded, from)
		if err != nil {
			return nil, err
		}
		return m.chooseAsPlanned(t, column(cells, 0))
	})
	if err != nil {
		return nil, err
	}
	unit, _ := t.Measures[0].Unit().Float64()
	sensitivity, _ := t.Measures[0].Units(t.Sensitivity).Float64()
	out := &Selected{
		ID: found.name(), Mechanism: m.name, Sensitivity: sensitivity, Shortfall: exact.MulUp(shortfall, unit), Confidence: s.Confidence,
		Price: c.loss(t.Price), Replayed: found.replayed,
	}
	for i, key := range t.Order {
		if key >= 0 {
			out.Keys = append(out.Keys, t.Names[i])
		}
	}
	for _, row := range found.numbers {
		chosen, err := chosenOf(t, row, unit)
		if err != nil {
			return nil, c.after(found, err)
		}
		out.Best = append(out.Best, chosen)
	}
	out.Remaining, err = c.remains(found)
	return out, err
}

// chosenOf reads a row of a release: a group's index, and its lead, which is −1 where there is none.
func chosenOf(t *plan.Target, row []*big.Int, unit float64) (chosen Chosen, err error) {
	if !row[0].IsInt64() || row[0].Sign() < 0 || row[0].Int64() >= int64(t.Cells()) {
		return chosen, fmt.Errorf("%w: it chose group %s", errUnreadable, row[0])
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

// selecting is one of the mechanisms, with its parameters.
type selecting struct {
	name    string
	epsilon privacy.Epsilon
	best    int
	// choose gives a row for each that is chosen, and what the mechanism says of itself; shortfall bounds how far each is below what
	// it was preferred to, with probability 1 − beta, among n.
	choose    func([]mechanism.Exact) ([][]*big.Int, told, error)
	shortfall func(n int, beta float64) (float64, error)
}

// told is what a mechanism says of itself, having run.
type told struct {
	loss  privacy.Loss
	least privacy.Loss // under zCDP, where that is less than a pure loss of as much
	scale *big.Rat     // of its noise; nil where it adds none
}

// chooseAsPlanned is choose, of the mechanism that was planned and recorded.
func (m *selecting) chooseAsPlanned(t *plan.Target, scores []mechanism.Exact) ([][]*big.Int, error) {
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

// parameters are a mechanism's, for the ledger: the scale is what scores are divided by in an exponent.
func (m *selecting) parameters(t *plan.Target) ledger.Mechanism {
	return ledger.Mechanism{Name: m.name, Sensitivity: t.Sensitivity.String(), Scale: exact.FormatRat(m.scale(t)), Cells: m.best}
}

func (m *selecting) scale(t *plan.Target) *big.Rat {
	reach := new(big.Int).Set(t.Sensitivity)
	if !t.Monotonic {
		reach.Lsh(reach, 1)
	}
	scale := new(big.Rat).SetInt(reach.Mul(reach, big.NewInt(int64(m.best))))
	return scale.Quo(scale, m.epsilon.Rat())
}

// selector is the mechanism of a selection, at the largest ε that the price pays for.
func selector(t *plan.Target, s Selection) (*selecting, error) {
	switch {
	case t.Cells() < 2:
		return nil, &Error{Code: CodePolicy, Message: "there is one group, and nothing to choose", Hint: "GROUP BY what is to be chosen"}
	case s.Best < 1 || s.Best > t.Cells():
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("%d cannot be chosen from %d groups", s.Best, t.Cells())}
	}
	_, pure := t.Price.Pure()
	name := s.Mechanism
	switch {
	case name == "" && pure && s.Best == 1:
		name = PermuteAndFlip
	case name == "":
		name = Exponential
	}
	epsilon := pureWithin(t.Price)
	switch {
	case name == Exponential:
		if rho, _ := t.Price.ZCDP(); !pure { // K choices at ε/K each cost K·(ε/K)²/8: at ε = √(8Kρ), ρ
			epsilon = rho.Times(int64(s.Best)).Pure().Times(2)
		}
		return exponential(t, epsilon, s.Best), nil
	case name == PermuteAndFlip && s.Best == 1:
		return permuteAndFlip(t, epsilon), nil
	case name == NoisyMax:
		return noisyMax(t, epsilon, s.Best), nil
	}
	return nil, &Error{
		Code: CodeUsage, Message: fmt.Sprintf("no mechanism %q chooses %s", name, plural(s.Best, "group")),
		Hint: fmt.Sprintf("use %q, %q, or for one group %q", Exponential, NoisyMax, PermuteAndFlip),
	}
}

var noLead = big.NewInt(-1)

func exponential(t *plan.Target, e privacy.Epsilon, best int) *selecting {
	m := selection.TopExponential{Sensitivity: t.Sensitivity, Monotonic: t.Monotonic, Epsilon: e, K: best}
	return &selecting{
		name: Exponential, epsilon: e, best: best,
		choose: func(scores []mechanism.Exact) (rows [][]*big.Int, _ told, err error) {
			ranking, err := m.Select(scores)
			for _, i := range ranking.Indices {
				rows = append(rows, []*big.Int{big.NewInt(int64(i)), noLead})
			}
			return rows, told{loss: ranking.Loss, least: m.ZCDP()}, err
		},
		shortfall: func(n int, beta float64) (float64, error) { return m.Shortfall(big.NewInt(int64(n)), beta) },
	}
}

func permuteAndFlip(t *plan.Target, e privacy.Epsilon) *selecting {
	m := selection.PermuteAndFlip{Sensitivity: t.Sensitivity, Monotonic: t.Monotonic, Epsilon: e}
	return &selecting{
		name: PermuteAndFlip, epsilon: e, best: 1,
		choose: func(scores []mechanism.Exact) ([][]*big.Int, told, error) {
			s, err := m.Select(scores)
			return [][]*big.Int{{big.NewInt(int64(s.Index)), noLead}}, told{loss: s.Loss}, err
		},
		shortfall: func(n int, beta float64) (float64, error) { return m.Shortfall(big.NewInt(int64(n)), beta) },
	}
}

func noisyMax(t *plan.Target, e privacy.Epsilon, best int) *selecting {
	m := selection.NoisyTop{Sensitivity: t.Sensitivity, Monotonic: t.Monotonic, Epsilon: e, K: best}
	return &selecting{
		name: NoisyMax, epsilon: e, best: best,
		choose: func(scores []mechanism.Exact) (rows [][]*big.Int, _ told, err error) {
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
		},
		shortfall: func(n int, beta float64) (float64, error) {
			a, err := m.Shortfall(n, beta)
			if err != nil {
				return 0, err
			}
			return exact.FloatUp(new(big.Rat).SetInt(a)), nil
		},
	}
}
