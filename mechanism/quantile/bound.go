package quantile

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// rankError returns 2Δ(ln N + ln(1/beta))/ε, rounded up, where Δ is delta, ε is e, and N is the number of integers
// of the domain.
func rankError(delta *big.Rat, e privacy.Epsilon, in Domain, beta float64) float64 {
	twice := new(big.Rat).Quo(delta, e.Rat())
	log := exact.SubUp(exact.LogUp(math.Nextafter(float64(in.points()), math.Inf(1))), exact.LogDown(beta))
	return exact.MulUp(exact.FloatUp(twice.Add(twice, twice)), log)
}

// RankError returns a bound on d of every output (see Single), in rows, rounded up. The bound holds with
// probability at least 1 − beta, but ONLY if no two rows have the same value after clamping to the domain. The
// error is ErrParameter.
//
// If values repeat, there is no such bound. A value that many rows share is drawn for any of the ranks that it
// covers. The cut at that value gives half of its rows to each side, whatever the rank was. The target ranks in the
// parts may then be off by up to half of those rows, at any ε. Ages and amounts often repeat, and clamping makes
// values repeat at the ends of the domain. Independent has a bound for such data.
//
// The bound is the largest D(s) over the sections s of the tree of cuts, which is public. N is the number of
// integers of the domain, k the number of ranks, n the number of rows, and β = beta. For A, B and d see Single. Let
// c_s = 2(ln N + ln(k/β))/ε_s. For a section s whose rank q′ divides it between the cuts at its ends, low and high,
//
//	D(s) = Δ_s·c_s + (1 − q′)·E(low) + q′·E(high), and the cut that is made in s has E = D(s) + ½.
//
// The ends of the domain have E = 0. For a single rank, D is the bound of Single.
//
// Proof: by the bound of Single, each of the k draws o has d_s(o) ≤ t = Δ_s·c_s in its own section. This fails with
// probability at most β for all draws together. Let C(cut) be the number of rows before a cut, in shares. C is 0
// and n at the ends of the domain. Let E(cut) be a bound on |C(cut) − q·n|, where q is the rank that was sought at
// the cut. The section has C(high) − C(low) rows of its own. So its target is at C(low) + q′(C(high) − C(low)),
// which is a weighted mean of C(low) and C(high). q is the mean of q_low and q_high with the same weights. So the
// target differs from q·n by at most the mean of E(low) and E(high) with those weights. B(o) is at most C(low) plus
// the section's rows below o, since all other rows below o are before the section. A(o) is at least C(low) plus the
// section's rows at or below o. So d(o) ≤ t plus that mean = D(s). The cut at o has before it C(low), the section's
// rows below o, and half of the section's rows at o, which are at most one row. So C of the cut is within t + ½ of
// the target. ∎
func (m Approximate) RankError(beta float64) (float64, error) {
	target, err := m.check()
	if err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	worst, each := 0.0, exact.DivDown(beta, float64(len(m.Ranks)))
	for _, d := range m.drifts(target) {
		worst = max(worst, exact.AddUp(rankError(d.draws, m.Epsilon, m.Domain, each), exact.FloatUp(d.rows)))
	}
	return worst, nil
}

// drift is an error bound draws·c + rows, in rows. c = 2(ln N + ln(k/β))/ε belongs to a draw with all of ε: see
// [Approximate.RankError].
type drift struct{ draws, rows *big.Rat }

// plus returns d plus share·e.
func (d drift) plus(share *big.Rat, e drift) drift {
	part := func(x, y *big.Rat) *big.Rat { p := new(big.Rat).Mul(share, y); return p.Add(p, x) }
	return drift{part(d.draws, e.draws), part(d.rows, e.rows)}
}

// drifts returns the bound D(s) of every section s: see [Approximate.RankError].
func (m Approximate) drifts(t targets) []drift {
	one, half := big.NewRat(1, 1), drift{new(big.Rat), big.NewRat(1, 2)}
	// E of each cut, by its rank. A cut at rank 0 or 1 replaces that end of the domain: all later sections end at
	// it.
	cuts := map[int64]drift{0: {new(big.Rat), new(big.Rat)}, t.den: {new(big.Rat), new(big.Rat)}}
	var out []drift
	for level := []section{m.root(t)}; len(level) > 0; {
		for _, s := range level {
			share := big.NewRat(s.at-s.from, s.to-s.from)
			d := drift{delta(m.Unit, s), new(big.Rat)}
			d.draws.Mul(d.draws, big.NewRat(s.cut.of, s.cut.share))
			d = d.plus(new(big.Rat).Sub(one, share), cuts[s.from]).plus(share, cuts[s.to])
			out = append(out, d)
			cuts[s.at] = d.plus(one, half)
		}
		// The ranks of the parts do not depend on where the cuts are, so any value will do.
		level = m.parts(t, level, slices.Repeat([]int64{m.Lower}, len(level)))
	}
	return out
}
