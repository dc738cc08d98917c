package policy

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"dither/internal/exact"
	"dither/privacy"
)

// Budget is the most that all answers about the population may cost together.
//
// A policy declares it as a pure ε; as (ε, δ); or as ρ of zCDP, with a δ for stating losses as an ε. The latter two
// are enforced as approximate zCDP. An (ε, δ) budget becomes a fixed (ρ, δ_sel) when it is declared. Here δ =
// δ_conv + δ_sel, and ρ is the largest that converts to ε at δ_conv [Canonne, Kamath & Steinke 2020]. δ_sel is
// reserved for private key selection. Answers within (ρ, δ_sel) are together (ε, δ)-differentially private, because
// the two δ add up.
type Budget struct {
	Loss       privacy.Loss
	Epsilon    privacy.Epsilon // as declared; zero if ρ is declared
	Delta      privacy.Delta   // as declared; zero for a pure budget
	Conversion privacy.Delta   // δ_conv; zero for a pure budget
	Grant      Grant           // the grant of each period; zero unless the budget has periods
}

// Price holds the default, the least and the greatest price of an answer, under the budget's accountant. The
// default applies if the question names no price. Only an answer with unknown keys also has a δ, for private key
// selection. It is Delta unless the question names another, and at most the δ of Maximum. The least price bounds
// the number of questions that the budget can pay for. So it also bounds what analysts can learn from failures of
// questions.
type Price struct {
	Default, Minimum, Maximum privacy.Loss
	Delta                     privacy.Delta
	// the share of each price that pays for an estimate of what the bounds cut; nil for no estimate
	Truncation *big.Rat
}

// By default an answer costs 1/defaultShare of the budget, and at least 1/minimumShare of it. If the budget has
// periods, these are shares of the grant. A policy can change both. A question can name its own price.
const (
	defaultShare = 20
	minimumShare = 10_000
)

// Price returns the price of a question at ε under the budget's accountant: ε, or ρ = ε²/2.
func (b Budget) Price(e privacy.Epsilon) privacy.Loss {
	if b.Loss.Accountant() == privacy.Pure {
		return privacy.PureLoss(e)
	}
	return privacy.ZCDPLoss(e.Rho(), privacy.Delta{})
}

// Asked returns a price as a question names it. Under a budget in ε and δ that is --epsilon E, which costs ρ = E²/2 and is
// not the ε that the answer satisfies. If up is true, a question at that --epsilon costs at least the price, and at most the
// price otherwise.
func (b Budget) Asked(price privacy.Loss, up bool) string {
	text := price.Short(up)
	if _, pure := price.Pure(); pure || b.Epsilon.IsZero() {
		return text
	}
	e := price.Price()
	if up && !price.Within(b.Price(e)) {
		rho, _ := price.ZCDP()
		e, _ = privacy.EpsilonOf(exact.CeilDigits(rho.Pure().Rat(), 6)) // no error: not negative
	}
	return fmt.Sprintf("--epsilon %s (%s)", e, text)
}

// declared returns a price as the policy declares it, exactly, and the ρ that it costs under a budget in ε and δ.
func (b Budget) declared(price privacy.Loss) string {
	if _, pure := price.Pure(); pure || b.Epsilon.IsZero() {
		return price.String()
	}
	return fmt.Sprintf("ε = %s, %s", price.Price(), price)
}

// share returns a part of the budget's ε or ρ. With periods, it is a part of the grant instead.
func (b Budget) share(part *big.Rat) privacy.Loss {
	if e, pure := b.limit().Pure(); pure {
		e, _ = privacy.EpsilonOf(part.Mul(part, e.Rat())) // no error: not negative
		return privacy.PureLoss(e)
	}
	rho, _ := b.limit().ZCDP()
	rho, _ = privacy.RhoOf(part.Mul(part, rho.Rat()))
	return privacy.ZCDPLoss(rho, privacy.Delta{})
}

func (r *reader) budget(f, whole field) (b Budget) {
	f.need(whole, "")
	keys, ok := f.keys("epsilon", "rho", "delta", "selection_delta", "per", "lifetime")
	if !ok {
		return b
	}
	defer func() { r.granted(keys, &b) }()
	if keys["rho"].present() && keys["epsilon"].present() {
		keys["rho"].failKey("budget: {epsilon: 3}, {epsilon: 1, delta: 1e-6} or {rho: 0.1, delta: 1e-6}",
			"declare a budget as epsilon or as rho, not both")
		return b
	}
	if !keys["rho"].present() {
		keys["epsilon"].need(f, "write, for example, epsilon: 3, the most that all answers may cost together")
	}
	b.Epsilon, _ = keys["epsilon"].epsilon()
	rho, _ := keys["rho"].rho()
	var given bool
	if b.Delta, given = keys["delta"].delta(); !given {
		if keys["rho"].present() && !keys["delta"].present() {
			keys["rho"].failKey("write, for example, delta: 1e-6, which must be far below 1 divided by the number of people",
				"a budget in rho needs the delta at which losses are stated as an epsilon")
		}
		if keys["selection_delta"].present() && !keys["delta"].present() {
			keys["selection_delta"].failKey("", "is a part of delta, which is missing")
		}
		b.Loss = privacy.PureLoss(b.Epsilon)
		return b
	}
	selection, _ := keys["selection_delta"].delta()
	if selection.Cmp(b.Delta) >= 0 {
		keys["selection_delta"].fail("", "must be below delta: the rest converts rho to an epsilon")
		return b
	}
	b.Conversion = b.Delta.Minus(selection)
	if !b.Epsilon.IsZero() {
		var err error
		if rho, err = privacy.RhoFor(b.Epsilon, b.Conversion); err != nil || rho.IsZero() {
			keys["epsilon"].fail("", "no rho converts to this epsilon at this delta")
		}
	}
	b.Loss = privacy.ZCDPLoss(rho, selection)
	return b
}

func (r *reader) price(f field, budget Budget) Price {
	keys, _ := f.keys("default", "minimum", "maximum", "delta", "maximum_delta", "truncation")
	if budget.Loss.IsZero() { // r.budget has already reported the error
		return Price{}
	}
	def, given := keys["default"].price(budget)
	least, floored := keys["minimum"].price(budget)
	most, capped := keys["maximum"].price(budget)
	if !capped {
		most = budget.share(big.NewRat(1, 1))
	}
	if !given {
		def = privacy.Min(budget.share(big.NewRat(1, defaultShare)), most)
		if floored && !least.Within(def) {
			def = least
		}
	}
	if !floored {
		least = privacy.Min(budget.share(big.NewRat(1, minimumShare)), def)
	}
	switch {
	case !most.Within(budget.limit()):
		keys["maximum"].fail("at most ε = "+budget.limit().Price().String()+" fits",
			"the maximum price (%s) is above the budget (%s)", budget.declared(most), budget.limit().Short(false))
	case !least.Within(most):
		keys["minimum"].fail("", "the minimum price (%s) is above the maximum price (%s)", budget.declared(least), budget.declared(most))
	case !def.Within(most):
		keys["default"].fail("", "the default price (%s) is above the maximum price (%s)", budget.declared(def), budget.declared(most))
	case !least.Within(def):
		keys["default"].fail("", "the default price (%s) is below the minimum price (%s)", budget.declared(def), budget.declared(least))
	}
	delta, mostDelta := r.selectionPrice(keys, budget)
	rho, _ := most.ZCDP()
	if !mostDelta.IsZero() {
		most = privacy.ZCDPLoss(rho, mostDelta)
	}
	return Price{Default: def, Minimum: least, Maximum: most, Delta: delta, Truncation: keys["truncation"].truncation()}
}

// selectionPrice returns the default and the greatest δ of one answer with unknown keys. If they are not declared,
// these are 1/defaultShare of the budget's selection_delta, and all of it.
func (r *reader) selectionPrice(keys map[string]field, budget Budget) (delta, most privacy.Delta) {
	_, selection := budget.Loss.ZCDP()
	delta, given := keys["delta"].delta()
	most, capped := keys["maximum_delta"].delta()
	if selection.IsZero() {
		for _, k := range []string{"delta", "maximum_delta"} {
			if keys[k].present() {
				keys[k].failKey("write, for example, budget: {epsilon: 1, delta: 1e-6, selection_delta: 5e-7}",
					"pays for the selection of unknown keys, but the budget declares no selection_delta")
			}
		}
		return privacy.Delta{}, privacy.Delta{}
	}
	if !capped {
		most = selection
	}
	if !given {
		delta = selection.Share(1, defaultShare)
		if delta.Cmp(most) > 0 {
			delta = most
		}
	}
	switch {
	case most.Cmp(selection) > 0:
		keys["maximum_delta"].fail("", "the maximum delta (%v) is above the budget's selection_delta (%v)",
			most, selection)
	case delta.Cmp(most) > 0:
		keys["delta"].fail("", "the default delta (%v) is above the maximum delta (%v)", delta, most)
	}
	return delta, most
}

// price reads a price: an ε, a share of the budget such as 2%, or a mapping {rho: …}.
func (f field) price(budget Budget) (privacy.Loss, bool) {
	if f.present() && f.node.Kind == yaml.MappingNode {
		keys, ok := f.keys("rho")
		if ok && budget.Loss.Accountant() == privacy.Pure {
			keys["rho"].failKey("write an epsilon, such as 0.1", "a pure budget has no rho")
			return privacy.Loss{}, false
		}
		keys["rho"].need(f, "write, for example, {rho: 0.001}")
		rho, ok := keys["rho"].rho()
		return privacy.ZCDPLoss(rho, privacy.Delta{}), ok
	}
	s, ok := f.text()
	if !ok {
		return privacy.Loss{}, false
	}
	if !strings.HasSuffix(s, "%") {
		e, ok := f.epsilon()
		return budget.Price(e), ok
	}
	part, err := percentage(s)
	if err != nil {
		f.fail("write, for example, 2%", "not a share of the budget: %s: %v", quote(s), err)
		return privacy.Loss{}, false
	}
	return budget.share(part), true
}

// percentage parses a percentage: for "2%" it returns 1/50.
func percentage(s string) (*big.Rat, error) {
	part, err := exact.ParseDecimal(strings.TrimSpace(strings.TrimSuffix(s, "%")))
	if err != nil {
		return nil, err
	}
	if part.Sign() <= 0 || part.Cmp(big.NewRat(100, 1)) > 0 {
		return nil, errors.New("it must be above 0% and at most 100%")
	}
	return part.Quo(part, big.NewRat(100, 1)), nil
}

// epsilon reads a positive ε, exactly.
func (f field) epsilon() (privacy.Epsilon, bool) {
	return parsed(f, "an ε", "write a decimal above 0, such as 0.5", privacy.ErrEpsilon, privacy.ParseEpsilon)
}

// rho reads a positive ρ, exactly.
func (f field) rho() (privacy.Rho, bool) {
	return parsed(f, "a ρ", "write a decimal above 0, such as 0.02", privacy.ErrRho, privacy.ParseRho)
}

// delta reads a δ between 0 and 1, exactly.
func (f field) delta() (privacy.Delta, bool) {
	d, ok := parsed(f, "a δ", "write a decimal between 0 and 1, such as 1e-6", privacy.ErrDelta, privacy.ParseDelta)
	if ok && d.IsZero() {
		f.fail("leave it out for a pure budget", "a δ must be above 0")
		return d, false
	}
	return d, ok
}

func parsed[T any](f field, what, hint string, named error, parse func(string) (T, error)) (zero T, ok bool) {
	s, ok := f.text()
	if !ok {
		return zero, false
	}
	x, err := parse(s)
	if err != nil {
		f.fail(hint, "not %s: %s: %s", what, quote(s), strings.TrimPrefix(err.Error(), named.Error()+": "))
		return zero, false
	}
	return x, true
}
