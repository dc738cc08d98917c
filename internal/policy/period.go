package policy

import (
	"slices"
	"strings"

	"dither/privacy"
)

// periods lists the periods for which a budget can be granted.
var periods = []string{"day", "week", "month", "quarter", "year"}

// Grant is the amount of the budget that may be spent in each calendar period, in UTC, with weeks from Monday. An
// unspent amount is not carried over to the next period. The budget itself limits all periods together.
type Grant struct {
	Per     string          // "" if the budget has no periods
	Loss    privacy.Loss    // under the budget's accountant, and within the budget
	Epsilon privacy.Epsilon // as declared; zero if ρ is declared
}

// limit returns the largest price of one answer: the grant, or the budget if it has no periods.
func (b Budget) limit() privacy.Loss {
	if b.Grant.Per != "" {
		return b.Grant.Loss
	}
	return b.Loss
}

// granted handles the keys per and lifetime. If per is present, the amount in b becomes the grant of each period,
// and lifetime becomes the budget.
func (r *reader) granted(keys map[string]field, b *Budget) {
	per, life := keys["per"], keys["lifetime"]
	if !per.present() {
		if life.present() {
			life.failKey("budget: {epsilon: 1, per: month, lifetime: 10}", "applies only to a budget per period")
		}
		return
	}
	word, ok := per.text()
	if ok && !slices.Contains(periods, word) {
		per.fail("one of "+strings.Join(periods, ", "), "not a period: %s", quote(word))
		return
	}
	if !life.present() {
		per.failKey("lifetime: the most that all periods may cost together", "a budget per period needs a lifetime")
		return
	}
	if !ok || b.Loss.IsZero() {
		return
	}
	b.Grant = Grant{Per: word, Loss: b.Loss, Epsilon: b.Epsilon}
	_, selection := b.Loss.ZCDP()
	if _, pure := b.Loss.Pure(); pure {
		b.Epsilon, _ = life.epsilon()
		b.Loss = privacy.PureLoss(b.Epsilon)
	} else {
		var rho privacy.Rho
		if b.Epsilon.IsZero() {
			rho, _ = life.rho()
		} else if b.Epsilon, ok = life.epsilon(); ok {
			var err error
			if rho, err = privacy.RhoFor(b.Epsilon, b.Conversion); err != nil {
				life.fail("", "no rho converts to this epsilon at this delta")
			}
		}
		b.Loss = privacy.ZCDPLoss(rho, selection)
	}
	if !b.Loss.IsZero() && !b.Grant.Loss.Within(b.Loss) {
		life.fail("", "the lifetime (%v) is below what one period grants (%v)", b.Loss, b.Grant.Loss)
	}
}
