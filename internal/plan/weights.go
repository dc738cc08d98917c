package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// terms are an aggregate's request for its share of the price: a weight, or an ε of its own.
type terms struct {
	at      query.Pos
	weight  int64 // in thousandths; 0 if none is given, which means a weight of 1
	epsilon privacy.Epsilon
}

const (
	weightUnit = 1000 // weights have three decimal places
	maxWeights = 1000
)

// price reads weight => 2 or epsilon => 0.3.
func (t *terms) price(p *policy.Policy, a *query.Argument) (err error) {
	if t.weight > 0 || !t.epsilon.IsZero() {
		return bind.Refuse(a.At, "leave one out", "an aggregate has a weight or an epsilon of its own, not both")
	}
	t.at = a.At
	if len(a.Values) != 1 {
		return bind.Refuse(a.At, "write "+a.Name+" => 2", "%s is one number", a.Name)
	}
	if a.Name == "epsilon" {
		t.epsilon, err = epsilonOf(p, a.Values[0])
		return err
	}
	n := bind.NumberLiteral(a.Values[0])
	if n != nil {
		n.Mul(n, big.NewRat(weightUnit, 1))
	}
	if n == nil || n.Sign() <= 0 || !n.IsInt() || n.Cmp(big.NewRat(maxWeights*weightUnit, 1)) > 0 {
		return bind.Refuse(
			a.At,
			"write weight => 2 for twice the share",
			"a weight is a number above 0 and at most %d, with at most three decimals",
			maxWeights,
		)
	}
	t.weight = n.Num().Int64()
	return nil
}

// or returns t, or o if t is empty. It refuses terms that differ, for an aggregate that the question has twice.
func (t terms) or(o terms) (terms, error) {
	switch {
	case t.weight == 0 && t.epsilon.IsZero():
		return o, nil
	case o.weight == 0 && o.epsilon.IsZero(), t.weight == o.weight && t.epsilon.Cmp(o.epsilon) == 0:
		return t, nil
	}
	return t, bind.Refuse(o.at, "give it once", "the same aggregate has two weights")
}

func (t terms) share() int64 {
	if t.weight == 0 {
		return weightUnit
	}
	return t.weight
}

// divide sets the shares of the price. Claims with an ε of their own come first, and the others divide the rest in
// proportion to their weights. If every claim has an ε of its own, the price is the sum of these.
func (b *sharing) divide() error {
	var own privacy.Loss
	weights, named := int64(0), (*claim)(nil)
	for i := range b.claims {
		c := &b.claims[i]
		if c.terms.epsilon.IsZero() {
			weights += c.terms.share()
			continue
		}
		b.ownEpsilons = true
		own, named = own.Plus(b.policy.Budget.Price(c.terms.epsilon)), c
	}
	if named != nil && !own.Within(b.whole) && (weights > 0 || !b.request.Price.IsZero()) {
		return bind.Refuse(
			named.terms.at,
			"ask at a higher price, or lower these epsilons",
			"the aggregates' own epsilons cost %s, more than the question's price, %s",
			own,
			b.whole,
		)
	}
	if named != nil && weights == 0 {
		price, err := priceOf(b.policy, own, b.request.Step)
		if err != nil {
			return err
		}
		b.whole = price
	}
	rest := b.whole
	if b.rows != nil { // then no claim has an ε of its own
		b.rowsShare = b.whole.Share(1, rowsShare)
		rest = rest.Minus(b.rowsShare)
	}
	if t := b.truncation; t != nil { // then no claim has an ε of its own
		b.truncationShare = b.whole.Share(t.share.Num().Int64(), t.share.Denom().Int64())
		rest = rest.Minus(b.truncationShare)
	}
	if named != nil {
		rest = rest.Minus(own)
	}
	if weights > 0 && rest.IsZero() {
		return bind.Refuse(
			named.terms.at,
			"ask at a higher price, or lower this epsilon",
			"no part of the price is left for the other aggregates",
		)
	}
	known := shares{}
	for _, c := range b.claims {
		if c.terms.epsilon.IsZero() {
			b.pay(known, c, rest, c.terms.share(), weights)
		} else {
			b.pay(known, c, b.policy.Budget.Price(c.terms.epsilon), 1, 1)
		}
	}
	return nil
}

// shares keeps computed shares of the price, because a question may have hundreds of aggregates, most of them with
// equal shares.
type shares map[shareOf]privacy.Loss

type shareOf struct {
	of       privacy.Loss
	num, den int64
}

func (s shares) share(of privacy.Loss, num, den int64) privacy.Loss {
	key := shareOf{of, num, den}
	out, ok := s[key]
	if !ok {
		out = of.Share(num, den)
		s[key] = out
	}
	return out
}

// pay divides the part num/den of a loss equally among the parts of a claim, except that a search for bounds gets
// half of it.
func (b *sharing) pay(known shares, c claim, of privacy.Loss, num, den int64) {
	others := int64(len(c.parts))
	for _, x := range c.parts {
		if _, ok := x.(*unpricedSearch); ok {
			others--
		}
	}
	if others < int64(len(c.parts)) {
		den *= 2
	}
	for _, x := range c.parts {
		own := x.share(&b.shares)
		if _, ok := x.(*unpricedSearch); ok {
			*own = own.Plus(known.share(of, num, den))
		} else {
			*own = own.Plus(known.share(of, num, den*others))
		}
	}
}
