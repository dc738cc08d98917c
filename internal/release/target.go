package release

import (
	"fmt"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/privacy"
)

// targetLook returns the [Look] of an access to a target with one mechanism.
func (k *Kernel) targetLook(t *plan.Target, by Asker, m ledger.Mechanism, rows, columns int) (*Look, error) {
	l, versions, err := k.lookAt(&t.Statement, by)
	if err != nil {
		return nil, err
	}
	l.price, l.mechanisms = t.Price, []ledger.Mechanism{m}
	l.releases(rows, columns)
	l.key = t.Key(versions, fmt.Sprintf("%s scale %s shape %v", m.Name, m.Scale, l.shape))
	return l, nil
}

// pureWithin returns the largest ε that a price pays for. Under zCDP, a mechanism with the pure loss ε costs ρ =
// ε²/2.
func pureWithin(price privacy.Loss) privacy.Epsilon {
	if e, pure := price.Pure(); pure {
		return e
	}
	rho, _ := price.ZCDP()
	return rho.Pure()
}
