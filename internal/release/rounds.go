package release

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"sync"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/selection"
	"dither/privacy"
)

// Rounds selects and measures marginals of one bounded statement, in steps that the caller decides as it goes. Begin
// reserves the whole price before the first step. The engine reads the marginals once, when the first step is drawn.
// They stay in memory, opaque, until Close.
//
// Claim: all steps together lose at most the price. Proof. Each step has a price. A selection runs the exponential
// mechanism on scores that move by at most the sensitivity of plan.RoundSelection. Under a pure ε, its loss is ε. Under
// ρ it has bounded range ε and loses ε²/8, which is at most the step's price. A measurement adds noise to the cells of
// marginals, and its parts' losses add up to at most the step's price. A step's parameters are functions of the outputs
// of the steps before it, so by adaptive composition the losses add up. A step is drawn only if its price and the
// prices of all recorded steps add up to at most the whole price. The sum is exact. A step that was drawn and not
// recorded was never returned. ∎
//
// A step may also take the access of a primitive that was declared when the rounds were planned (Run), and the caller may
// then change the question (Change): both are steps of the proof, because the primitive's own proof bounds its loss by its
// price, and the question is one more parameter that depends on earlier outputs.
//
// Each step is durable in the ledger before it is returned. If the same rounds are requested again, recorded steps are
// returned again, without a draw, if they are asked for with the same parameters in the same order. Price that no step
// spends stays spent.
type Rounds struct {
	kernel *Kernel
	look   *Look
	plan   *plan.Rounds // of the next step
	first  *plan.Rounds
	ahead  []Primitive

	mu       sync.Mutex
	id       uint64
	payer    string // the analyst who paid, who may differ from the one who continues
	turn     *os.File
	recorded []recordedRound
	finished bool // the ledger has the release that ends the steps
	told     int  // the number of steps returned in this process
	spent    privacy.Loss
	asks     string              // the key of the plan that the caller changed to; "" for the first
	reads    *Look               // the access of the plan
	cells    [][]mechanism.Exact // of each candidate; nil until they are read
	ended    bool
}

// Rounds returns the rounds of a plan, with the accesses that its steps may take ahead. Begin pays for them.
func (k *Kernel) Rounds(p *plan.Rounds, by Asker, ahead ...Primitive) (*Rounds, error) {
	l, versions, err := k.lookAt(&p.Base, by)
	if err != nil {
		return nil, err
	}
	least, err := p.Least()
	if err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	l.statements, l.price, l.key = p.Looks(), p.Price, p.Key(versions...)
	l.passes, l.steps = int64(len(l.statements)), int64(p.Steps)
	l.bytes = bytesOf(1, p.Numbers())
	l.mechanisms = []ledger.Mechanism{{
		Name:        fmt.Sprintf("%s, at most %d", AdaptiveRounds, p.Steps),
		Sensitivity: least.Noise.Calibrated(least.L1, least.L2Squared).String(),
		Scale:       exact.FormatRat(least.Parameter),
		Cells:       p.Numbers(),
	}}
	if err := l.before(ahead); err != nil {
		return nil, err
	}
	return &Rounds{kernel: k, look: l, plan: p, first: p, ahead: ahead, ended: true}, nil
}

// Look returns a copy of the rounds' [Look], which is known before anything is spent.
func (r *Rounds) Look() *Look { return r.look.copied() }

// Plan returns the plan of the next step.
func (r *Rounds) Plan() *plan.Rounds {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan
}

// ID returns the number of the reservation in the ledger. It is set by Begin.
func (r *Rounds) ID() uint64 { return r.id }

// Spent returns the sum of the prices of the steps that this process has returned.
func (r *Rounds) Spent() privacy.Loss {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent
}

// Recorded returns the number of steps in the ledger.
func (r *Rounds) Recorded() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.recorded)
}

// Select runs a step that selects one of the options, and returns its index in the options.
func (r *Rounds) Select(ctx context.Context, options []plan.RoundOption, price privacy.Loss) (int, bool, error) {
	p := r.Plan()
	s, err := p.Selection(options, price)
	if err != nil {
		return 0, false, err
	}
	m := selection.Exponential{Sensitivity: s.Sensitivity, Epsilon: pureWithin(price)}
	if rho, _ := price.ZCDP(); price.Accountant() == privacy.ZCDP { // ε²/8 = ρ
		m.Epsilon = rho.Pure().Times(2)
	}
	// a price that is too small is refused here, before anything is drawn
	if _, err := m.Shortfall(big.NewInt(int64(len(options))), 0.05); err != nil {
		return 0, false, &ParameterError{Err: err, Price: true}
	}
	text, replayed, err := r.step(ctx, &roundStep{
		plan: p, about: fmt.Sprintf("select one of %d candidates, for %s", len(s.Options), price), canonical: s.Canonical(), price: price,
		ofCells: func(cells [][]mechanism.Exact) ([]*big.Int, error) {
			scores := make([]mechanism.Exact, len(s.Options))
			for i, o := range s.Options {
				var err error
				if scores[i], err = o.Score.Of(cells[o.Candidate], p.Parts[o.Candidate].Reach()); err != nil {
					return nil, err
				}
			}
			choice, err := m.Select(scores)
			if err == nil {
				err = paidFor(price, choice.Loss, m.ZCDP())
			}
			return []*big.Int{big.NewInt(int64(choice.Index))}, err
		},
	})
	if err != nil {
		return 0, false, err
	}
	numbers, err := decodeStep(text, [2]int{1, 1})
	if err != nil {
		return 0, false, err
	}
	at := numbers[0][0]
	if !at.IsInt64() || at.Int64() < 0 || at.Int64() >= int64(len(options)) {
		return 0, false, ErrUnreadable
	}
	return int(at.Int64()), replayed, nil
}

// Measure runs a step that measures candidates, and returns the noisy cells of each.
func (r *Rounds) Measure(
	ctx context.Context,
	candidates []int,
	price privacy.Loss,
) (s *plan.RoundMeasurement, values [][]*big.Int, replayed bool, err error) {
	p := r.Plan()
	if s, err = p.Measurement(candidates, price); err != nil {
		return nil, nil, false, err
	}
	total, all := privacy.Loss{}, 0
	for _, part := range s.Parts {
		total = total.Plus(part.Answers.Loss)
		all += p.Parts[part.Candidate].Strategy.Rows()
	}
	if !total.Within(price) {
		return nil, nil, false, fmt.Errorf("%w: its parts cost %s together, and its price is %s", ErrUnplanned, total, price)
	}
	text, replayed, err := r.step(ctx, &roundStep{
		plan: p, about: fmt.Sprintf("measure candidates %v, for %s", candidates[:min(len(candidates), mostNamed)], price),
		canonical: s.Canonical(), price: price, parts: described(p, s),
		ofCells: func(cells [][]mechanism.Exact) ([]*big.Int, error) {
			row := make([]*big.Int, 0, all)
			for _, part := range s.Parts {
				noisy, err := noisily(&part.Answers, cells[part.Candidate])
				if err == nil {
					err = measuredAsPlanned(&part.Answers, noisy)
				}
				if err != nil {
					return nil, err
				}
				row = append(row, noisy.Values...)
			}
			return row, nil
		},
	})
	if err != nil {
		return nil, nil, false, err
	}
	numbers, err := decodeStep(text, [2]int{1, all})
	if err != nil {
		return nil, nil, false, err
	}
	row := numbers[0]
	for _, part := range s.Parts {
		n := p.Parts[part.Candidate].Strategy.Rows()
		values, row = append(values, row[:n:n]), row[n:]
	}
	return s, values, replayed, nil
}

// mostNamed is the largest number of candidates that a step's text lists.
const mostNamed = 100
