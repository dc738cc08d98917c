package ledger

import (
	"math/big"
	"slices"

	"dither/privacy"
)

// Parting divides the units of a table into parts, for parallel composition. If a question is confined to parts,
// each unit counts in at most Most parts. They are the same parts in every such question.
type Parting struct {
	Term string `json:"term"` // the dividing column with its type and values, as text; another text is another division
	Most int64  `json:"most"` // the most parts that one unit may have, ≥ 1
}

// Confined names the parts of a table to which a reservation is confined: its result depends only on the rows of
// units in these parts. A reservation without a Confined counts for every unit.
type Confined struct {
	Table string   `json:"table"`
	Parts []string `json:"parts"` // sorted, distinct
}

// tally is a sum of losses, kept both as pure ε and as zCDP.
type tally struct {
	pure privacy.Loss // sum of the pure losses
	// sum of all losses, each converted to zCDP: the conversion (Σε)²/2 of the pure sum would exceed Σε²/2
	zcdp privacy.Loss
}

func newTally() *tally { return &tally{zcdp: privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{})} }

func (t *tally) add(l privacy.Loss) {
	t.zcdp = t.zcdp.Plus(l)
	if l.Accountant() == privacy.Pure {
		t.pure = t.pure.Plus(l)
	}
}

func (t *tally) plus(o *tally) { t.pure, t.zcdp = t.pure.Plus(o.pure), t.zcdp.Plus(o.zcdp) }

// group converts every loss to the loss of groups of k units. On an error t does not change.
func (t *tally) group(k int64) error {
	zcdp, err := group(t.zcdp, k)
	if err != nil {
		return err
	}
	t.pure, _ = group(t.pure, k) // no error: a pure loss can be converted for every group
	t.zcdp = zcdp
	return nil
}

func (t *tally) in(a privacy.Accountant) privacy.Loss {
	if a == privacy.ZCDP {
		return t.zcdp
	}
	return t.pure
}

// account computes the total loss of the unit with the largest total.
//
// # Parallel composition
//
// A division is one sealed version of one table under one Parting. A question may be confined to some parts of a
// division. In each such question, the engine keeps of each unit only the rows in the unit's own parts. A unit has
// at most Most own parts. The rule that chooses them reads only this unit's rows in this version, and is the same
// in every question (bounded.Part). So a unit's rows fix its own parts. If a confined question names none of a
// unit's own parts, its exact result does not depend on that unit's rows.
//
// Theorem. If whole + Σ_d W_d is within the budget at every moment, then the loss of all answers together is within
// the budget. This holds however the questions and prices depend on earlier answers. Here whole is the sum of the
// losses of the questions that are not confined. For each division d, L_d(p) is the sum of the losses of the
// questions that name its part p. T_d is the sum of the losses of all questions confined in d, each counted once.
// W_d is the lesser of T_d and the sum of the k_d largest L_d(p). k_d is Most under add/remove and 2·Most under
// change-one.
//
// Proof. Fix two neighbours. For each division d, define a set Q_d of parts. Under add/remove the neighbours differ
// by one unit. Q_d is the set of that unit's own parts in d, so it has at most Most parts. Under change-one the
// neighbours differ by a unit and its replacement. Q_d is the set of the own parts of both, so it has at most
// 2·Most parts. In either case Q_d depends on the units' rows only, so it is fixed before any question is asked.
//
// Consider a question that is confined in d and names no part in Q_d. It finds the same rows in both neighbours. So
// its answer, given the earlier answers, has the same law on both, and its loss between these two is 0. The loss of
// any other question is at most its price. On every path of answers, the losses between these two neighbours
// therefore add up to at most whole + Σ_d min(T_d, Σ_{p∈Q_d} L_d(p)) ≤ whole + Σ_d W_d. The filter keeps this bound
// within the budget. The losses between these two are functions of the earlier answers, so the proof of
// privacy.Filter applies to them. It applies to a pure budget, and to (ρ, δ), where ρ and δ are bounded separately.
// The two neighbours were arbitrary, so the theorem follows. ∎
//
// The W_d of several tables, and of several versions of one table, add up. A unit's part in one table says nothing
// about its part in another. A later version may hold other rows of a unit, and so put the unit into another part.
//
// Adopt with a group of k converts the total whole + Σ_d W_d, and charges the result to every unit from then on.
// Claim: this bounds the loss of k old units together. Proof. Join the two datasets by a chain of k old neighbours.
// A question i has a loss in c_i ≤ k steps of the chain, and the same law on both sides of each other step. So over
// the chain its loss is c_i·ε_i, or c_i²·ρ_i ≤ k·c_i·ρ_i. The losses of one step add up to at most whole + Σ_d W_d.
// Hence Σ c_i·ε_i is at most k times that sum, and Σ c_i²·ρ_i is at most k² times that sum. ∎
type account struct {
	whole *tally
	parts map[division]*divided
}

// division is one table's sealed version under one Parting.
type division struct {
	source  Source
	parting Parting
}

// divided holds the charges to the parts of one division.
type divided struct {
	total *tally // every charge, counted once whatever number of parts it names
	of    map[string]*tally
	known map[reading]bound
}

// bound is an upper bound of W_d, the amount that account defines. exact means that it equals W_d.
type bound struct {
	loss  privacy.Loss
	exact bool
}

// reading holds the parameters on which W_d (see account) depends, apart from the charges: the neighbouring relation
// and the accountant.
type reading struct {
	n  privacy.Neighbours
	by privacy.Accountant
}

func newAccount() *account { return &account{whole: newTally(), parts: map[division]*divided{}} }

// charge adds a loss to the charges that count for every unit. If the list parts is not empty, it adds the loss to the
// charges of these parts of the division d instead.
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
	for r, b := range in.known { // raise each known bound by the most that this charge can add to W_d
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

// plus returns a copy of a with one more loss charged to every unit. The copy shares the charges to parts with a.
func (a *account) plus(l privacy.Loss) *account {
	whole := *a.whole
	whole.add(l)
	return &account{whole: &whole, parts: a.parts}
}

// fold replaces all charges to parts by one charge to every unit: their total under the neighbouring relation n.
func (a *account) fold(n privacy.Neighbours) {
	for d, in := range a.parts {
		a.whole.plus(&tally{pure: in.worst(d, n, privacy.Pure), zcdp: in.worst(d, n, privacy.ZCDP)})
	}
	a.parts = map[division]*divided{}
}

// spent returns the total loss of all charges, under the neighbouring relation n and an accountant.
func (a *account) spent(n privacy.Neighbours, by privacy.Accountant) privacy.Loss {
	sum := a.whole.in(by)
	for d, in := range a.parts {
		sum = sum.Plus(in.worst(d, n, by))
	}
	return sum
}

// times returns the most that a charge of l to parts can add to one unit's loss (to W_d, in the terms of account). That
// is l times the number of these parts, or times the number of parts in which two neighbours can differ, if that is
// less. Without parts it returns l.
func times(l privacy.Loss, d division, n privacy.Neighbours, parts []string) privacy.Loss {
	if len(parts) == 0 {
		return l
	}
	return l.Share(min(d.parting.most(n), int64(len(parts))), 1)
}

// fits reports whether a price is within room. It uses upper bounds that need not visit every part, so it may
// return false although the price is within room.
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

// room returns the largest loss that can be charged within the budget: to every unit or, if the list parts is not
// empty, to these parts of the division d. It is zero if any component of the budget is exceeded.
//
// Let t be the budget minus all charges outside division d, and k the number of parts in which two neighbours can
// differ. Charging x to the set S of parts keeps W_d within t if one of two conditions holds. First: T_d + x ≤ t.
// Second: for every j from 0 to k, the j largest L_d(p) in S, each with x added, and the k − j largest L_d(p)
// outside S add up to at most t. Let a_j be that sum without x. The first condition holds for x ≤ t − T_d. The
// second holds for x ≤ (t − a_j)/j for every j ≥ 1, provided that a_0 ≤ t. The result is the larger of the two
// bounds on x. room solves ρ and δ separately.
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

// most returns the largest number of parts in which two neighbours can differ.
func (p Parting) most(n privacy.Neighbours) int64 {
	if n == privacy.ChangeOne {
		return 2 * p.Most
	}
	return p.Most
}

// worst returns W_d: the most that the charges to parts of the division d can cost one unit, as account defines it.
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

// room computes account.room for one component of the budget, ε, ρ or δ. The parameter t is the amount left for this
// division, and most is the largest number of parts in which neighbours can differ. If the charges already exceed t,
// room returns nil.
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

// leastRoom returns the least (t − a_j)/j over j ≥ 1, as account.room defines it with k = most, or nil if some a_j
// exceeds t. The list `inside` has the charges to the parts of S, and the list outside those to the other parts.
func leastRoom(inside, outside []*big.Rat, t *big.Rat, most int64) (least *big.Rat) {
	descending(inside)
	descending(outside)
	others := []*big.Rat{new(big.Rat)} // others[i] is the sum of the i largest elements of outside
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

// top returns the sum of the k largest values. It may sort values.
func top(values []*big.Rat, k int64) *big.Rat {
	sum := new(big.Rat)
	if k == 1 { // the usual case needs no sorting
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

// amounts returns copies of a loss's ε, or of its ρ and δ.
func amounts(l privacy.Loss) []*big.Rat {
	if e, pure := l.Pure(); pure {
		return []*big.Rat{e.Rat()}
	}
	rho, delta := l.ZCDP()
	return []*big.Rat{rho.Rat(), delta.Rat()}
}

// lossOf returns the loss with these amounts: ε, or ρ and δ. Missing amounts are zero.
func lossOf(by privacy.Accountant, amounts []*big.Rat) privacy.Loss {
	for len(amounts) < 2 {
		amounts = append(amounts, new(big.Rat))
	}
	if by == privacy.Pure {
		e, _ := privacy.EpsilonOf(amounts[0]) // error ignored: the amount is not negative
		return privacy.PureLoss(e)
	}
	if one := big.NewRat(1, 1); amounts[1].Cmp(one) > 0 { // a sum of δ may exceed 1; δ = 1 promises nothing either
		amounts[1] = one
	}
	rho, _ := privacy.RhoOf(amounts[0])
	delta, _ := privacy.DeltaOf(amounts[1])
	return privacy.ZCDPLoss(rho, delta)
}
