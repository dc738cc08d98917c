// Package partition implements private key selection: the choice of the keys of a GROUP BY that a release names, if
// the keys themselves are not public.
package partition

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Parameters holds the price of private key selection and the least number of units of a released key. A partition
// is one key of a GROUP BY whose keys are not public, with its units. A partition without units is never kept, so
// the caller passes only those that exist in the data. Their set and their number are secret. A release names only
// the kept ones.
type Parameters struct {
	// Epsilon and Delta are the loss of selection among all partitions together. Both are above 0, and Delta is
	// below 1.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	// Keys is the most partitions whose number of units may differ between neighbours, each by 1. At least 1. If a
	// unit is added or removed, Keys is the most keys that one unit may have. If a unit is changed, Keys is twice
	// that number, since the unit leaves its old keys and joins new ones.
	Keys int64
	// MinUnits is the least number of units of a partition that may be kept. 0 and 1 have no effect. Selection
	// first subtracts MinUnits − 1 from the number of units, so it never tests an exact number. Partitions with
	// slightly more units than MinUnits are therefore usually dropped too.
	MinUnits int64
}

// perKey returns one key's share of Epsilon and of Delta: each divided by Keys. Invalid parameters are
// ErrParameter.
//
// Claim: if the decision on each single key is private with these shares, the whole selection is (Epsilon,
// Delta)-differentially private. Proof: the decision on one partition does not depend on the others. All but Keys
// partitions have the same distribution under neighbours. So the losses of Keys partitions add up [Dwork,
// Kenthapadi, McSherry, Mironov & Naor 2006].
func (m Parameters) perKey() (epsilon, delta *big.Rat, err error) {
	d := m.Delta.Rat()
	switch {
	case m.Keys < 1:
		return nil, nil, fmt.Errorf("%w: the number of keys of a unit must be at least 1",
			mechanism.ErrParameter)
	case m.MinUnits < 0:
		return nil, nil, fmt.Errorf("%w: the least number of units must not be negative", mechanism.ErrParameter)
	case m.Delta.IsZero() || d.Cmp(big.NewRat(1, 1)) >= 0:
		return nil, nil, fmt.Errorf("%w: selection needs a delta above 0 and below 1", mechanism.ErrParameter)
	case d.Denom().BitLen() > parameter.MaxDeltaBits:
		return nil, nil, fmt.Errorf("%w: delta is too small, or its fraction is too long", mechanism.ErrParameter)
	case m.Epsilon.IsZero():
		return nil, nil, fmt.Errorf("%w: selection needs an epsilon above 0", mechanism.ErrParameter)
	}
	share := m.Epsilon.Share(1, m.Keys)
	if err := parameter.Epsilon(share); err != nil {
		return nil, nil, err
	}
	return share.Rat(), m.Delta.Share(1, m.Keys).Rat(), nil
}

// Loss returns the loss for an accountant of zCDP, (Epsilon²/(2·Keys), Delta), or ErrParameter. Each of Keys
// partitions is (ε, δ)-differentially private with the shares of one key, which costs (ε²/2, δ) in approximate
// zCDP. The sum over Keys partitions is the returned loss. In terms of differential privacy, the whole selection is
// (Epsilon, Delta)-differentially private.
func (m Parameters) Loss() (privacy.Loss, error) {
	if _, _, err := m.perKey(); err != nil {
		return privacy.Loss{}, err
	}
	return privacy.ZCDPLoss(m.Epsilon.Rho().Share(1, m.Keys), m.Delta), nil
}

// beyond returns the partition's number of units minus (MinUnits − 1).
func (m Parameters) beyond(p mechanism.Partition) *big.Int {
	return new(big.Int).Sub(opaque.Open(p.Exact), big.NewInt(max(m.MinUnits, 1)-1))
}

// Selection keeps each partition with the largest probability that is (ε, δ)-differentially private [Desfontaines,
// Voss, Gipson & Mandayam 2022, "Differentially private partition selection"]. Let n be the number of units minus
// (MinUnits − 1), and let ε and δ be the shares of one key. The probability is
//
//	p₀ = 0,  p_n = min(e^ε·p_{n−1} + δ, 1 − e^(−ε)·(1 − p_{n−1} − δ), 1).
//
// Claim: Selection is (Epsilon, Delta)-differentially private. Proof: the answer for one partition is a bit. For
// the numbers of units n and n − 1, p_n ≤ e^ε·p_{n−1} + δ and 1 − p_{n−1} ≤ e^ε·(1 − p_n) + δ hold by construction.
// p_n ≥ p_{n−1} also holds, and the other two inequalities follow from it. By perKey, this bound for one key is
// enough. A partition that exists under only one neighbour has n ≤ 1 there. Under the other neighbour, its absence
// is equivalent to a partition with n ≤ 0. p_n is irrational, and is sampled exactly. ∎
type Selection struct{ Parameters }

// Select returns the keys that it keeps, in byte order. units lists every key in the data with its exact number of
// units. The error is ErrParameter, which depends on the parameters alone, or ErrKeys.
//
// Time and memory grow with the number of partitions. They also grow with the number of distinct numbers of units,
// since each needs its own coin, which takes about 50 µs. A partition that is certain to be kept needs no coin.
// With the shares of one key, that is the case from 2·ln(1/δ)/ε + 3 units beyond MinUnits − 1 on.
func (m Selection) Select(units []mechanism.Partition) ([]string, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, units)
}

func (m Selection) choose(src *entropy.Source, units []mechanism.Partition) ([]string, error) {
	law, err := m.law()
	if err != nil {
		return nil, err
	}
	sorted, err := byKey(units)
	if err != nil {
		return nil, err
	}
	coins := map[string]*sample.Bernoulli{} // one coin for each distinct number of units
	keep := func(n *big.Int) bool {
		switch {
		case n.Sign() <= 0:
			return false
		case law.certain(n):
			return true
		}
		digits := string(n.Bytes())
		if coins[digits] == nil {
			coins[digits] = sample.NewBernoulli(law.keep(n))
		}
		return coins[digits].Draw(src)
	}
	var kept []string
	for _, p := range sorted {
		if keep(m.beyond(p)) {
			kept = append(kept, opaque.Key(p))
		}
	}
	return kept, nil
}

// Probability returns the probability of keeping a partition with the given number of units, as a float near the
// exact value, or ErrParameter.
func (m Selection) Probability(units int64) (float64, error) {
	law, err := m.law()
	if err != nil {
		return 0, err
	}
	n := m.beyond(mechanism.Partition{Exact: mechanism.NewExact(big.NewInt(units))})
	switch {
	case n.Sign() <= 0:
		return 0, nil
	case law.certain(n):
		return 1, nil
	}
	p, _ := law.keep(n)(128).Lo().Float64()
	return min(max(p, 0), 1), nil
}

// keepLaw evaluates p_n, the probability of [Selection], in closed form. Let E(n) = (e^(nε) − 1)/(e^ε − 1). Up to
// an integer k, the crossing, p_n = δ·E(n). After k, until the value reaches 1,
//
//	p_{k+m} = 1 − e^(−mε)·(1 − p_k − δ·E(m)).
//
// Proof: each formula solves its recursion. The first term of the minimum is at most the second if and only if
// p_{n−1} ≤ (1 − δ)/(e^ε + 1), and k is the least n with δ·E(n) above (1 − δ)/(e^ε + 1).
type keepLaw struct {
	epsilon, delta *big.Rat
	crossing       *big.Int // the crossing k: up to it, p_n = δ·E(n)
	last           *big.Int // p_n is 1 for every n ≥ k + last
}

// law returns the closed form of m's probabilities, or ErrParameter.
func (m Selection) law() (keepLaw, error) {
	epsilon, delta, err := m.perKey()
	if err != nil {
		return keepLaw{}, err
	}
	// δ·E(m) ≥ δ·e^((m−1)ε), which is at least 1 if (m − 1)ε ≥ ln 1/δ.
	odds := new(big.Rat).Sub(big.NewRat(1, 1), delta)
	log, _ := exact.IntervalOf(odds.Quo(odds, delta), 128).Log1p().Hi().Rat(nil)
	last := exact.CeilRat(log.Quo(log, epsilon))
	return keepLaw{epsilon, delta, sample.Crossing(epsilon, delta), last.Add(last, big.NewInt(1))}, nil
}

// certain reports whether n is so large that p_n is known to be 1. It reports false for some smaller n with p_n =
// 1, which keep handles.
func (l keepLaw) certain(n *big.Int) bool {
	beyond := new(big.Int).Sub(n, l.crossing)
	return beyond.Cmp(l.last) >= 0
}

// keep returns the closed form of p_n, to any precision, for n ≥ 1 that are not certain. The closed form is above 1
// if p_n is 1.
func (l keepLaw) keep(n *big.Int) sample.Real {
	return func(bits uint) exact.Interval {
		grown := func(n *big.Int) exact.Interval { // returns δ·E(n)
			if n.Sign() == 0 {
				return exact.IntervalOf(new(big.Rat), bits)
			}
			power := new(big.Rat).SetInt(n)
			e := sample.Expm1(power.Mul(power, l.epsilon), bits).Quo(sample.Expm1(l.epsilon, bits))
			return exact.IntervalOf(l.delta, bits).Mul(e)
		}
		if n.Cmp(l.crossing) <= 0 {
			return grown(n)
		}
		m := new(big.Int).Sub(n, l.crossing)
		steps := new(big.Rat).SetInt(m)
		steps.Neg(steps.Mul(steps, l.epsilon))
		one := exact.IntervalOf(big.NewRat(1, 1), bits)
		rest := one.Sub(grown(l.crossing)).Sub(grown(m))
		return one.Sub(exact.IntervalOf(steps, bits).Exp().Mul(rest))
	}
}
