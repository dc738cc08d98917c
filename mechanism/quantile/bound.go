package quantile

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// rankError is 2Δ(ln N + ln(1/β))/ε, rounded up.
func rankError(delta *big.Rat, e privacy.Epsilon, in Domain, beta float64) float64 {
	twice := new(big.Rat).Quo(delta, e.Rat())
	log := exact.SubUp(exact.LogUp(math.Nextafter(float64(in.points()), math.Inf(1))), exact.LogDown(beta))
	return exact.MulUp(exact.FloatUp(twice.Add(twice, twice)), log)
}

// RankError bounds d of every output (see Single), except with probability at most beta, ONLY if no two rows have the
// same value after values are clamped to the domain. It is a number of rows, rounded up. The error is ErrParameter.
//
// If values repeat there is no such bound. A value that many rows share is drawn for any of the ranks that it covers,
// and the cut there gives half of its rows to either side, whatever the rank was. The target ranks in the parts are
// then off by up to half of those rows, at any ε. Ages and amounts repeat, and so do the ends of a domain to which
// values are clamped. Independent has a bound for such data.
//
// The bound is the largest D of the tree of cuts, which is public. Let c_s = 2(ln N + ln(k/β))/ε_s. A section s,
// which divides what lies between the cuts at its ends as q′, has
//
//	D(s) = Δ_s·c_s + (1 − q′)·E(low) + q′·E(high), and the cut that is made in it E = D(s) + ½;
//
// the ends of the domain have E = 0. For one rank D is the bound of Single.
//
// Proof: by the bound of Single, each of k draws o has d_s(o) ≤ t = Δ_s·c_s in its own section, but with
// probability at most β together. Let C(cut) be the number of rows before a cut, in shares, and E(cut) bound |C(cut)
// − q·n|, q the rank that was sought there; C is 0 and n at the ends of the domain. The section has C(high) −
// C(low) rows of its own, so what is sought in it is at C(low) + q′(C(high) − C(low)), a mean of C(low) and
// C(high), as q is of q_low and q_high with the same weights. So it is off from q·n by at most the same mean of E(low)
// and E(high). Now B(o) is at most C(low) and what the section has below o, since what else is below o is before the
// section; A(o) is at least C(low) and what the section has at or below o. So d(o) ≤ t + that mean = D(s). The cut at
// o has C(low), what the section has below o, and half of what it has at o, which is one row at most: this is within t
// + ½ of what was sought. ∎
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

// drift bounds an error by draws·c + rows, c that of a draw with all of ε.
type drift struct{ draws, rows *big.Rat }

// plus adds a share of another.
func (d drift) plus(share *big.Rat, e drift) drift {
	part := func(x, y *big.Rat) *big.Rat { p := new(big.Rat).Mul(share, y); return p.Add(p, x) }
	return drift{part(d.draws, e.draws), part(d.rows, e.rows)}
}

// drifts are the D of all sections.
func (m Approximate) drifts(t targets) []drift {
	one, half := big.NewRat(1, 1), drift{new(big.Rat), big.NewRat(1, 2)}
	// E of the cuts by their ranks. A cut at the rank of an end of the domain takes its place: all later sections end
	// there.
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
		// their ranks are the same wherever the cuts are
		level = m.parts(t, level, slices.Repeat([]int64{m.Lower}, len(level)))
	}
	return out
}
