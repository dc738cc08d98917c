package ledger

import (
	"math/big"
	"slices"

	"dither/privacy"
)

// Parting divides a table's rows for parallel composition. In questions that are confined to parts, each unit counts in
// at most Most parts, the same ones in every such question.
type Parting struct {
	Term string `json:"term"` // of the column, as the policy writes it: another term is another division
	Most int64  `json:"most"` // the most parts of one unit, ≥ 1
}

// Confined names the parts of a table that a reservation covers: its result depends only on the rows of units in these
// parts. A reservation without parts covers everybody.
type Confined struct {
	Table string   `json:"table"`
	Parts []string `json:"parts"` // sorted, distinct
}

// tally is a sum of losses, in both forms.
type tally struct {
	pure privacy.Loss // the losses that are pure
	zcdp privacy.Loss // all losses as zCDP, each by itself: (Σε)²/2 would be more than Σε²/2
}

func newTally() *tally { return &tally{zcdp: privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{})} }

func (t *tally) add(l privacy.Loss) {
	t.zcdp = t.zcdp.Plus(l)
	if l.Accountant() == privacy.Pure {
		t.pure = t.pure.Plus(l)
	}
}

func (t *tally) plus(o *tally) { t.pure, t.zcdp = t.pure.Plus(o.pure), t.zcdp.Plus(o.zcdp) }

// group converts every loss to its guarantee for groups of k units. On an error nothing changes.
func (t *tally) group(k int64) error {
	zcdp, err := group(t.zcdp, k)
	if err != nil {
		return err
	}
	t.pure, _ = group(t.pure, k) // a pure loss has one for every group
	t.zcdp = zcdp
	return nil
}

func (t *tally) in(a privacy.Accountant) privacy.Loss {
	if a == privacy.ZCDP {
		return t.zcdp
	}
	return t.pure
}

// account computes the total loss of the unit that loses most.
//
// # Parallel composition
//
// A division is of one sealed version of one table, under one Parting. In every question that is confined to some of
// its parts, the engine leaves of each unit only the rows in its own parts: at most Most of them, found by a rule that
// reads this unit's rows in this version alone and is the same in every question (plan.Part). So a unit's own parts are
// fixed with its rows, and what a confined question finds does not depend on the rows of a unit none of whose own parts
// it names.
//
// Theorem. Let whole be the sum of the losses of the questions that are confined to none, and for each division d let
// L_d(p) be the sum of the losses of those that name p, T_d the sum of all its confined ones, each once. Let W_d =
// min(T_d, the sum of the k_d largest L_d(p)), k_d = Most under add/remove and 2·Most under change-one. If at every
// moment whole + Σ_d W_d is within the budget, then all answers together are, however questions and prices were chosen
// from earlier answers.
//
// Proof. Fix two neighbours. Under add/remove they differ by one unit; let Q_d be its own parts in d, a function of its
// rows, so at most Most, and known before any question is asked. Under change-one they differ by a unit and the one in
// its place; let Q_d be both's own parts, at most 2·Most. A question that is confined in d to parts of which none is
// in Q_d finds the same rows in both, so its answer, given the earlier ones, has the same law on both: its loss between
// these two is 0. Any other's is at most its price. Hence the losses between these two add up, on every path of
// answers, to at most whole + Σ_d min(T_d, Σ_{p∈Q_d} L_d(p)) ≤ whole + Σ_d W_d, which the filter keeps within
// the budget: and privacy.Filter's proof holds for these two with these losses, which are functions of the earlier
// answers too. That is so for a pure budget, and for (ρ, δ), whose two parts are bounded each by itself. As the two
// neighbours were any, the theorem follows. ∎
//
// The divisions of several tables, and of several versions of one table, add up: nothing says that a unit's part in one
// is its part in another. A later version may hold other rows of a unit, and so have it in another part.
//
// Re-reading as a group of k (Ledger.Adopt) takes whole + Σ_d W_d, and counts it as everybody's from then on. In a
// chain of k old neighbours a question i has a loss in c_i ≤ k of the steps, and the same law on both sides of the
// others: over the chain it loses c_i·ε_i, or c_i²·ρ_i ≤ k·c_i·ρ_i. The losses of one step add up to at most
// whole + Σ_d W_d, so Σ c_i·ε_i is at most k times that, and Σ c_i²·ρ_i at most k² times.
type account struct {
	whole *tally
	parts map[division]*divided
}

// division is one table's sealed version under one Parting.
type division struct {
	source  Source
	parting Parting
}

// divided has the charges to the parts of one division.
type divided struct {
	total *tally // of every charge once
	of    map[string]*tally
	known map[reading]bound
}

// bound is an upper bound of W_d.
type bound struct {
	loss  privacy.Loss
	exact bool
}

// reading has the parameters of W_d beside the charges.
type reading struct {
	n  privacy.Neighbours
	by privacy.Accountant
}

func newAccount() *account { return &account{whole: newTally(), parts: map[division]*divided{}} }

// charge adds a loss: to everybody, or to the parts of d.
func (a *account) charge(l privacy.Loss, d division, parts []string) {
	if len(parts) == 0 {
		a.whole.add(l)
		return
	}
	in := a.parts[d]
	if in == nil {
		in = &divided{total: newTally(), of: map[string]*tally{}, known: map[reading]bound{}}
		a.parts[d] = in
	}
	in.total.add(l)
	for r, b := range in.known { // at most so many of the largest receive the charge
		if x, err := l.In(r.by); err == nil {
			in.known[r] = bound{loss: b.loss.Plus(times(x, d, r.n, parts))}
		}
	}
	for _, p := range parts {
		if in.of[p] == nil {
			in.of[p] = newTally()
		}
		in.of[p].add(l)
	}
}

// plus is a with one more loss charged to everybody. The two share the charges to parts.
func (a *account) plus(l privacy.Loss) *account {
	whole := *a.whole
	whole.add(l)
	return &account{whole: &whole, parts: a.parts}
}

// fold converts all charges into one charge to everybody, of their total between the neighbours n.
func (a *account) fold(n privacy.Neighbours) {
	for d, in := range a.parts {
		a.whole.plus(&tally{pure: in.worst(d, n, privacy.Pure), zcdp: in.worst(d, n, privacy.ZCDP)})
	}
	a.parts = map[division]*divided{}
}

// spent is the total loss of all charges under the neighbouring relation n.
func (a *account) spent(n privacy.Neighbours, by privacy.Accountant) privacy.Loss {
	sum := a.whole.in(by)
	for d, in := range a.parts {
		sum = sum.Plus(in.worst(d, n, by))
	}
	return sum
}

// times is the most that a charge to parts adds to W_d.
func times(l privacy.Loss, d division, n privacy.Neighbours, parts []string) privacy.Loss {
	if len(parts) == 0 {
		return l
	}
	return l.Share(min(d.parting.most(n), int64(len(parts))), 1)
}

// fits reports whether a price is within room, from bounds that need not visit every part. It may return false although
// the price is within room.
func (a *account) fits(price, budget privacy.Loss, n privacy.Neighbours, d division, parts []string) bool {
	by := budget.Accountant()
	x, err := price.In(by)
	if err != nil {
		return false
	}
	sum := a.whole.in(by).Plus(times(x, d, n, parts))
	for e, in := range a.parts {
		b, known := in.known[reading{n, by}]
		if !known {
			b.loss = in.worst(e, n, by)
		}
		sum = sum.Plus(b.loss)
	}
	return sum.Within(budget)
}

// room is the largest loss that can be charged to everybody, or to the parts of d, within the budget. It is zero once
// any component of the budget is exceeded.
//
// Charging x to the set S of parts keeps W_d within t if one of two conditions holds: T_d + x ≤ t; or, for every j,
// the j largest of S, each with x more, and the Most − j largest of the others add up to at most t. So x is the
// larger of t − T_d and the least (t − a_j)/j, where a_j is that sum without x; the second applies only if a_0 ≤
// t. Each of ρ and δ is solved separately.
func (a *account) room(budget privacy.Loss, n privacy.Neighbours, d division, parts []string) privacy.Loss {
	by := budget.Accountant()
	if len(parts) == 0 {
		f := privacy.NewFilter(budget)
		f.Record(a.spent(n, by))
		return f.Remaining()
	}
	rest := a.whole.in(by)
	for e, in := range a.parts {
		if e != d {
			rest = rest.Plus(in.worst(e, n, by))
		}
	}
	in := a.parts[d]
	if in == nil {
		in = &divided{total: newTally()}
	}
	var room []*big.Rat
	for axis, t := range amounts(budget) {
		x := in.room(axis, t.Sub(t, amounts(rest)[axis]), by, d.parting.most(n), parts)
		if x == nil {
			return lossOf(by, nil)
		}
		room = append(room, x)
	}
	return lossOf(by, room)
}

// most is the number of parts in which two neighbours can differ.
func (p Parting) most(n privacy.Neighbours) int64 {
	if n == privacy.ChangeOne {
		return 2 * p.Most
	}
	return p.Most
}

// worst is W_d.
func (in *divided) worst(d division, n privacy.Neighbours, by privacy.Accountant) privacy.Loss {
	if b := in.known[reading{n, by}]; b.exact {
		return b.loss
	}
	var out []*big.Rat
	for axis, total := range amounts(in.total.in(by)) {
		values := make([]*big.Rat, 0, len(in.of))
		for _, t := range in.of {
			values = append(values, amounts(t.in(by))[axis])
		}
		sum := top(values, d.parting.most(n))
		if total.Cmp(sum) < 0 {
			sum = total
		}
		out = append(out, sum)
	}
	w := lossOf(by, out)
	in.known[reading{n, by}] = bound{w, true}
	return w
}

// room solves one component; nil if the budget is exceeded.
func (in *divided) room(axis int, t *big.Rat, by privacy.Accountant, most int64, parts []string) *big.Rat {
	var inside, outside []*big.Rat
	for p, charged := range in.of {
		x := amounts(charged.in(by))[axis]
		if _, found := slices.BinarySearch(parts, p); found {
			inside = append(inside, x)
		} else {
			outside = append(outside, x)
		}
	}
	for len(inside) < len(parts) {
		inside = append(inside, new(big.Rat))
	}
	if t.Sign() < 0 {
		return nil
	}
	once := new(big.Rat).Sub(t, amounts(in.total.in(by))[axis])
	if each := leastRoom(inside, outside, t, most); each != nil && each.Cmp(once) > 0 {
		return each
	}
	if once.Sign() < 0 {
		return nil
	}
	return once
}

// leastRoom is the least (t − a_j)/j over j from 1, or nil if some a_j is above t.
func leastRoom(inside, outside []*big.Rat, t *big.Rat, most int64) (least *big.Rat) {
	descending(inside)
	descending(outside)
	others := []*big.Rat{new(big.Rat)} // the sums of the largest 0, 1, … of the others
	for i := 0; i < len(outside) && int64(i) < most; i++ {
		others = append(others, new(big.Rat).Add(others[i], outside[i]))
	}
	sum := new(big.Rat)
	for j := int64(0); j <= most && j <= int64(len(inside)); j++ {
		if j > 0 {
			sum.Add(sum, inside[j-1])
		}
		left := new(big.Rat).Sub(t, sum)
		left.Sub(left, others[min(most-j, int64(len(others)-1))])
		if left.Sign() < 0 {
			return nil
		}
		if j > 0 {
			if left.Quo(left, new(big.Rat).SetInt64(j)); least == nil || left.Cmp(least) < 0 {
				least = left
			}
		}
	}
	return least
}

// top is the sum of the k largest.
func top(values []*big.Rat, k int64) *big.Rat {
	sum := new(big.Rat)
	if k == 1 { // the usual case, without sorting
		for _, x := range values {
			if x.Cmp(sum) > 0 {
				sum = x
			}
		}
		return sum
	}
	descending(values)
	for i := 0; i < len(values) && int64(i) < k; i++ {
		sum.Add(sum, values[i])
	}
	return sum
}

func descending(values []*big.Rat) {
	slices.SortFunc(values, func(x, y *big.Rat) int { return y.Cmp(x) })
}

// amounts copies a loss's ε, or its ρ and δ.
func amounts(l privacy.Loss) []*big.Rat {
	if e, pure := l.Pure(); pure {
		return []*big.Rat{e.Rat()}
	}
	rho, delta := l.ZCDP()
	return []*big.Rat{rho.Rat(), delta.Rat()}
}

// lossOf is the loss with these amounts; without amounts, the zero loss.
func lossOf(by privacy.Accountant, amounts []*big.Rat) privacy.Loss {
	for len(amounts) < 2 {
		amounts = append(amounts, new(big.Rat))
	}
	if by == privacy.Pure {
		e, _ := privacy.EpsilonOf(amounts[0]) // not negative
		return privacy.PureLoss(e)
	}
	if one := big.NewRat(1, 1); amounts[1].Cmp(one) > 0 { // a sum of δ can be: it promises nothing
		amounts[1] = one
	}
	rho, _ := privacy.RhoOf(amounts[0])
	delta, _ := privacy.DeltaOf(amounts[1])
	return privacy.ZCDPLoss(rho, delta)
}
