package partition

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// Counts selects keys and also releases the number of units of each key that it keeps, for the price of the
// selection alone [Desfontaines, Voss, Gipson & Mandayam 2022, the truncated geometric noise]. Let ε and δ be the
// shares of one key. Counts adds noise V to the number of units. V is discrete Laplace noise of scale 1/ε,
// conditioned on |V| ≤ k for a k that depends on ε and δ. Counts keeps the key if the sum is above k + MinUnits −
// 1.
//
// Claim: Counts is (Epsilon, Delta)-differentially private. Proof: let b = e^(−ε). Then P(V = v) = c·b^|v|, where c
// = (1 − b)/(1 + b − 2b^(k+1)). For the numbers of units n and n + 1, P(V = v) ≤ e^ε·P(V = v ± 1), except if P(V =
// v ± 1) is 0. That happens at a single v, with |v| = k. So the sums are (ε, c·b^k)-differentially private, and the
// rest is post-processing. k is the least integer with c·b^k ≤ δ. A key with fewer than MinUnits units has a sum of
// at most k + MinUnits − 1 and is never kept. So a key that is absent from the data has the same release as a key
// with no units. By perKey, this bound for one key is enough. V is sampled exactly. ∎
//
// A released count always differs from the exact one by at most k. Given that the key is kept, the count is biased
// upwards, most of all for keys with few units.
type Counts struct{ Parameters }

// CountSelection is the release of [Counts.Select].
type CountSelection struct {
	Kept  []Kept   // the kept keys and their noisy counts, in byte order of the keys
	Reach *big.Int // k, the largest possible difference between a released count and the exact one
	Loss  privacy.Loss
}

// Reach returns k, the largest possible difference between a released count and the exact one, or ErrParameter.
// With b, c, ε and δ of [Counts], c·b^k ≤ δ if and only if b^k ≤ δ(1 + b)/(1 − b + 2δb), so k is sample.Crossing.
func (m Counts) Reach() (*big.Int, error) {
	epsilon, delta, err := m.perKey()
	if err != nil {
		return nil, err
	}
	return sample.Crossing(epsilon, delta), nil
}

// Select returns the keys that it keeps and their noisy numbers of units. units lists every key in the data with
// its exact number of units. The error is ErrParameter, which depends on the parameters alone, or ErrKeys.
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
