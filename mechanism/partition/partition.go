// Package partition holds private selection of groups: which groups a release names, where the groups themselves are not
// public.
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

// Parameters are the price and the least number of units of private key selection (partitions are the keys of a GROUP
// BY that are not public). Selection looks at the number of units of a partition. A partition without units is never
// kept, so it suffices to pass the existing ones. Their set and number are secret: a release names only those that are
// kept.
type Parameters struct {
	// Epsilon and Delta are the loss of selection from all partitions together: both above 0, Delta below 1.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	// Keys is the most partitions whose number of units may differ between neighbours, each by one: the keys of a unit
	// if one is added or removed, and twice that if one is changed, which leaves some keys and takes others. At least
	// 1.
	Keys int64
	// MinUnits is the least number of units of a partition that may be kept; 0 and 1 add nothing to selection. The
	// number of units is lowered by MinUnits − 1 before anything else, so no exact number is ever tested, and
	// partitions with slightly more units are usually dropped too.
	MinUnits int64
}

// perKey is the ε and the δ of each of Keys partitions; or ErrParameter.
//
// Whether a partition is kept does not depend on the others, and all but Keys of them have the same law under
// neighbours. So their losses add up [Dwork, Kenthapadi, McSherry, Mironov & Naor 2006].
func (m Parameters) perKey() (epsilon, delta *big.Rat, err error) {
	d := m.Delta.Rat()
	switch {
	case m.Keys < 1:
		return nil, nil, fmt.Errorf("%w: selection needs the number of keys that differ, at least 1",
			mechanism.ErrParameter)
	case m.MinUnits < 0:
		return nil, nil, fmt.Errorf("%w: a least number of units below 0", mechanism.ErrParameter)
	case m.Delta.IsZero() || d.Cmp(big.NewRat(1, 1)) >= 0:
		return nil, nil, fmt.Errorf("%w: selection needs a delta above 0 and below 1", mechanism.ErrParameter)
	case d.Denom().BitLen() > parameter.MaxDeltaBits:
		return nil, nil, fmt.Errorf("%w: delta is too small, or too long a fraction", mechanism.ErrParameter)
	case m.Epsilon.IsZero():
		return nil, nil, fmt.Errorf("%w: selection needs an epsilon above 0", mechanism.ErrParameter)
	}
	share := m.Epsilon.Share(1, m.Keys)
	if err := parameter.Epsilon(share); err != nil {
		return nil, nil, err
	}
	return share.Rat(), m.Delta.Share(1, m.Keys).Rat(), nil
}

// Loss is the loss as an accountant of zCDP counts it, or ErrParameter. Each of Keys partitions is (ε,
// δ)-differentially private with the shares of one key, and so costs (ε²/2, δ) of approximate zCDP; together that
// is (Epsilon²/(2·Keys), Delta). By itself the whole is (Epsilon, Delta)-differentially private.
func (m Parameters) Loss() (privacy.Loss, error) {
	if _, _, err := m.perKey(); err != nil {
		return privacy.Loss{}, err
	}
	return privacy.ZCDPLoss(m.Epsilon.Rho().Share(1, m.Keys), m.Delta), nil
}

// beyond is the number of units minus (MinUnits − 1).
func (m Parameters) beyond(p mechanism.Partition) *big.Int {
	return new(big.Int).Sub(opaque.Open(p.Exact), big.NewInt(max(m.MinUnits, 1)-1))
}

// Selection keeps each partition with the largest possible probability [Desfontaines, Voss, Gipson & Mandayam 2022,
// "Differentially private partition selection"]. With n the number of units beyond MinUnits − 1, and ε and δ the
// shares of one key, that probability is
//
//	p₀ = 0,  p_n = min(e^ε·p_{n−1} + δ, 1 − e^(−ε)·(1 − p_{n−1} − δ), 1).
//
// It is (Epsilon, Delta)-differentially private. Proof: one partition's answer is a bit. For numbers n and n − 1 of
// units, p_n ≤ e^ε·p_{n−1} + δ and 1 − p_{n−1} ≤ e^ε·(1 − p_n) + δ hold by construction, as does p_n
// ≥ p_{n−1}, of which the other two inequalities follow. By perKey that is enough. A partition that is there under
// one neighbour only has n ≤ 1 there, and is as good as there with n ≤ 0 under the other. p_n is no rational, and
// is sampled exactly. ∎
type Selection struct{ Parameters }

// Select returns the keys of the partitions that it keeps, in byte order, given all existing partitions with their
// exact numbers of units. The error is ErrParameter, which depends on the parameters alone, or ErrKeys.
//
// Time and memory grow with the number of partitions, and with the number of distinct numbers of units among them: each
// of these needs a coin, which takes about 50 µs. Numbers at which a partition is certainly kept need none; with the
// shares of one key these are at least 2·ln(1/δ)/ε + 3 beyond MinUnits − 1.
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
	coins := map[string]*sample.Bernoulli{} // one coin for each number of units
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

// Probability is the probability of keeping a partition with n units, near the real value; or ErrParameter.
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

// keepLaw is the closed form of p_n: with E(n) = (e^(nε) − 1)/(e^ε − 1) and k the crossing, p_n = δ·E(n) up to
// k, and
//
//	p_{k+m} = 1 − e^(−mε)·(1 − p_k − δ·E(m)),
//
// from there on, until it is 1. Proof: both solve their recursion. The first term of the minimum is at most the second
// if and only if p_{n−1} ≤ (1 − δ)/(e^ε + 1), and k is the least n with δ·E(n) above that.
type keepLaw struct {
	epsilon, delta *big.Rat
	crossing       *big.Int // k
	last           *big.Int // from k + last on, p_n is 1
}

// law prepares the closed form.
func (m Selection) law() (keepLaw, error) {
	epsilon, delta, err := m.perKey()
	if err != nil {
		return keepLaw{}, err
	}
	// δ·E(m) ≥ δ·e^((m−1)ε) is at least 1 if (m − 1)ε ≥ ln 1/δ.
	odds := new(big.Rat).Sub(big.NewRat(1, 1), delta)
	log, _ := exact.IntervalOf(odds.Quo(odds, delta), 128).Log1p().Hi().Rat(nil)
	last := exact.CeilRat(log.Quo(log, epsilon))
	return keepLaw{epsilon, delta, sample.Crossing(epsilon, delta), last.Add(last, big.NewInt(1))}, nil
}

// certain holds for n so large that p_n is 1 without a look at more digits.
func (l keepLaw) certain(n *big.Int) bool {
	beyond := new(big.Int).Sub(n, l.crossing)
	return beyond.Cmp(l.last) >= 0
}

// keep is the closed form for n ≥ 1 that are not certain; above 1 if p_n is 1.
func (l keepLaw) keep(n *big.Int) sample.Real {
	return func(bits uint) exact.Interval {
		grown := func(n *big.Int) exact.Interval { // δ·E(n)
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
