package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dither/internal/plan"
	"dither/internal/seal"
	"dither/privacy"
)

// before adds accesses that steps of rounds may take. They read the same tables, and are charged to the same parts. Their
// prices are parts of the price of the rounds, but for their δ, which no other step has.
func (l *Look) before(ahead []Primitive) error {
	if len(ahead) == 0 {
		return nil
	}
	keys := []string{l.key}
	for _, p := range ahead {
		of := p.decided()
		if err := l.admitsTable(of); err != nil {
			return err
		}
		l.statements, l.mechanisms = append(l.statements, of.statements...), append(l.mechanisms, of.mechanisms...)
		l.passes += max(of.passes, int64(len(of.statements)))
		l.steps, l.bytes = l.steps+1, l.bytes+of.bytes
		if of.price.Accountant() == privacy.ZCDP {
			_, delta := of.price.ZCDP()
			l.price = l.price.Plus(privacy.ZCDPLoss(privacy.Rho{}, delta))
		}
		keys = append(keys, of.key)
	}
	sum := sha256.Sum256([]byte("rounds ahead\n" + strings.Join(keys, "\n")))
	l.key = hex.EncodeToString(sum[:])
	return nil
}

// admitsTable refuses an access that reads other tables than l, or that is charged to other parts.
func (l *Look) admitsTable(of *Look) error {
	table, parts := l.Confinement()
	other, others := of.Confinement()
	same := func(v seal.Version) bool {
		return slices.ContainsFunc(l.tables, func(w seal.Version) bool { return v.Table == w.Table && v.Number == w.Number })
	}
	if table != "" && (table != other || !slices.Equal(parts, others)) || slices.ContainsFunc(of.tables, func(v seal.Version) bool { return !same(v) }) {
		return &EndedError{
			How: Misused, Message: "a step would read other tables or other parts of the units than the rounds are charged for",
			Hint: "ask about the tables of the rounds, with the same condition on the parts",
		}
	}
	return nil
}

// Ahead returns the accesses that the rounds were planned with.
func (r *Rounds) Ahead() []Primitive { return slices.Clone(r.ahead) }

// Run runs a step that takes the access of one of the primitives that the rounds were planned with.
func (r *Rounds) Run(ctx context.Context, at int) (v Values, replayed bool, err error) {
	if at < 0 || at >= len(r.ahead) {
		return v, false, &EndedError{How: Misused, Message: fmt.Sprintf("there is no access %d ahead of these rounds", at)}
	}
	p := r.ahead[at]
	l := p.decided()
	text, replayed, err := r.step(ctx, &roundStep{
		plan: r.Plan(), about: fmt.Sprintf("%s, for %s", l.question, l.price), canonical: "ahead " + l.key, price: l.price,
		ofRows: func(within context.Context) (json.RawMessage, error) {
			v, err := p.access(within, r.kernel.reader(l))
			if err != nil {
				return nil, err
			}
			return p.encode(v)
		},
	})
	if err != nil {
		return v, false, err
	}
	v, err = p.decode(text)
	return v, replayed, err
}

// Change sets the question of the further steps, which may depend on the outputs of steps before. It charges nothing: the
// price and the largest number of steps stay. It rehearses the question.
func (r *Rounds) Change(ctx context.Context, p *plan.Rounds) error {
	l, versions, err := r.kernel.lookAt(&p.Base, Asker{Analyst: r.look.analyst})
	if err != nil {
		return err
	}
	l.statements = p.Looks()
	l.passes = int64(len(l.statements))
	if err := r.look.admitsTable(l); err != nil {
		return err
	}
	if _, err := r.kernel.DelayOf(l); err != nil { // there is no release instant within the timeout
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return &EndedError{How: Over, Message: "the rounds were closed, or failed", Hint: "ask for them again"}
	case p.Steps != r.first.Steps || p.Price.String() != r.first.Price.String() || !noMoreNoise(p, r.first):
		return &EndedError{How: Misused, Message: "the price and the number of steps of rounds cannot change, and the sensitivity cannot grow"}
	}
	if !r.finished {
		_, done, err := r.kernel.rehearsed(ctx, nil, l, l.statements...)
		if err != nil {
			return afterwards(err)
		}
		done()
	}
	r.plan, r.reads, r.cells, r.asks = p, l, nil, p.Key(versions...)+"\n"
	return nil
}

// instant returns the times of a step: those of the rounds as reserved, or those of a changed question that takes
// longer. Both are functions of questions and of the policy.
func (r *Rounds) instant(arrival time.Time) (*instant, error) {
	at, err := r.kernel.instantOf(r.look, arrival)
	if err != nil || r.reads == r.look || at == nil {
		return at, err
	}
	changed, err := r.kernel.instantOf(r.reads, arrival)
	if err != nil || changed.leaves.Before(at.leaves) {
		return at, err
	}
	return changed, nil
}

// noMoreNoise reports whether the ledger's description of b's noise, its kind and its largest sensitivity, holds for a too.
func noMoreNoise(a, b *plan.Rounds) bool {
	x, err := a.Least()
	y, err2 := b.Least()
	return err == nil && err2 == nil && x.Noise == y.Noise && x.L1.Cmp(y.L1) <= 0 && x.L2Squared.Cmp(y.L2Squared) <= 0
}
