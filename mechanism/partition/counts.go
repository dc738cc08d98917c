package partition

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// Counts selects partitions and releases the number of units of those that it keeps, for the price of one
// [Desfontaines, Voss, Gipson & Mandayam 2022, the truncated geometric noise]: it adds to the number the discrete
// Laplace noise V of scale 1/ε that is conditioned on |V| ≤ k, and keeps the partition if the sum is above k +
// MinUnits − 1.
//
// It is (Epsilon, Delta)-differentially private. Proof: with the shares of one key, and b = e^(−ε), P(V = v) =
// c·b^|v|, c = (1 − b)/(1 + b − 2b^(k+1)). For numbers n and n + 1, P(V = v) ≤ e^ε·P(V = v ± 1) but where the
// latter is 0, at one v of |v| = k, and so the sums are (ε, c·b^k)-differentially private, and what becomes of them
// is post-processing. k is the least integer with c·b^k ≤ δ. A partition of fewer than MinUnits units has a sum of
// at most k + MinUnits − 1 and is never kept, so one that is not there is as good as there. By perKey that is enough.
// V is sampled exactly. ∎
//
// A released count is always within k of the exact one. Given that it is kept, it is biased, and the more so the fewer
// units there are.
type Counts struct{ Parameters }

// CountSelection is the release of Counts.
type CountSelection struct {
	Kept  []Kept   // in byte order of the keys
	Reach *big.Int // no count is further than this from the exact one
	Loss  privacy.Loss
}

// Reach is k; or ErrParameter. c·b^k ≤ δ if and only if b^k ≤ δ(1 + b)/(1 − b + 2δb), so that k is
// sample.Crossing.
func (m Counts) Reach() (*big.Int, error) {
	epsilon, delta, err := m.perKey()
	if err != nil {
		return nil, err
	}
	return sample.Crossing(epsilon, delta), nil
}

// Select returns the keys and noisy numbers of units of the partitions that it keeps, given all existing partitions
// with their exact numbers. The error is ErrParameter, which depends on the parameters alone, or ErrKeys.
func (m Counts) Select(units []mechanism.Partition) (CountSelection, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, units)
}

func (m Counts) choose(src *entropy.Source, units []mechanism.Partition) (CountSelection, error) {
	epsilon, _, err := m.perKey()
	if err != nil {
		return CountSelection{}, err
	}
	reach, err := m.Reach()
	if err != nil {
		return CountSelection{}, err
	}
	loss, err := m.Loss()
	if err != nil {
		return CountSelection{}, err
	}
	sorted, err := byKey(units)
	if err != nil {
		return CountSelection{}, err
	}
	noisy := sample.NewTruncated(epsilon, reach)
	out := CountSelection{Reach: reach, Loss: loss}
	shift := big.NewInt(max(m.MinUnits, 1) - 1)
	for _, p := range sorted {
		z := noisy.Draw(src, new(big.Int))
		if z.Add(z, m.beyond(p)).Cmp(reach) > 0 {
			out.Kept = append(out.Kept, Kept{opaque.Key(p), z.Add(z, shift)})
		}
	}
	return out, nil
}
