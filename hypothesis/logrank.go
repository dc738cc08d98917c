package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// LogRank tests that the event happens at the same rate in all groups [Mantel 1966].
//
// In period j, let d_gj be the events and n_gj the people at risk of group g, d_j and n_j their sums over groups, and
// h_j = d_j/n_j. The statistic is ZᵀC⁻¹Z without the last group, with Z_g = Σ_j (d_gj − n_gj·h_j). C is the covariance
// of Z under the hypothesis: the hypergeometric one from sampling, plus that of the noise of the counts, to first
// order.
// Without noise, this is the usual statistic. In the limit it is χ² with one degree of freedom less than there are
// groups.
//
// The null distribution is simulated: groups of the estimated sizes, all with the hazards h_j, and each with its own
// estimated shares of people who leave, with noise. The test uses the periods before the first in which fewer than 5
// people are at risk over all groups, or less than five standard deviations of the noise of their number.
//
// It does not reject, and warns, if there is no such period, if the sizes of groups are below 5 or dominated by noise,
// or if
// there are fewer than 5 events as far as the noise shows.
//
// With [Lifetimes.Grouped], n_gj is without half of the people who leave group g in period j, as in [Lifetimes.Curve]. It
// warns if Z would be elsewhere, by more than half a standard deviation, if all of them left before or after the events of
// their period.
func (l Lifetimes) LogRank() (*Test, error) {
	groups, periods, how, err := l.check()
	if err != nil {
		return nil, err
	}
	if groups < 2 {
		return nil, wrong("a log-rank test needs at least two groups")
	}
	if l.Simulations == 0 {
		how.Simulations = min(Simulations, max(999, 2e8/(groups*periods*(20+groups*groups))))
	}
	out := &Test{
		Name: "log-rank", Method: "log-rank with noise", Null: "Monte Carlo", Alternative: "any", P: 1, DF: groups - 1,
		Estimate: math.NaN(),
	}
	r := rates{l.tables(), variance(l.Noise)}
	var sizes []float64
	for _, t := range r.groups {
		sizes = append(sizes, t.n[0])
	}
	if !out.enough(sizes, math.Sqrt(2*r.s2*float64(periods))) {
		return out, nil
	}
	pooled, horizon := r.pooled()
	events := 0.0
	for j := range horizon {
		events += pooled.d[j]
	}
	if !(events >= fewExpected && events >= drowning*math.Sqrt(r.s2*float64(groups*max(1, horizon)))) {
		out.Null = "none"
		out.warn("there are too few events for their noise, so the test does not reject")
		return out, nil
	}
	z, covariance := r.scores()
	out.Statistic = quadratic(covariance, z, groups-1)
	if shift := r.shift(z, covariance); shift > mostShift {
		out.warn("times are known to the period only, and the groups differ in how many people leave within periods: if people "+
			"do not leave evenly over each period, the test may be wrong by up to %s standard deviations; more periods lower "+
			"this", short(shift))
	}
	out.simulated(how.Simulations)
	s, law := newStream(how.Seed), newLaw(l.Noise)
	drawn := rates{make([]lifeTable, groups), r.s2}
	d, c := make([][]float64, groups), make([][]float64, groups)
	for g := range groups {
		d[g], c[g] = make([]float64, periods), make([]float64, periods)
	}
	out.P = simulate(how.Simulations, out.Statistic, func() float64 {
		for g, t := range r.groups {
			left := int64(math.Round(t.n[0]))
			for j := range periods {
				h := 0.0
				if j < horizon {
					h = pooled.hazard(j)
				}
				early := s.binomial(left, shareOf(t.early(j)*l.Censored[g][j], t.n[j], 0))
				events := s.binomial(left-early, h)
				leaving := 1.0
				if j < periods-1 {
					leaving = shareOf((1-t.early(j))*l.Censored[g][j], t.at[j]-max(0, t.d[j]), 1)
				}
				censored := early + s.binomial(left-early-events, leaving)
				left -= events + censored
				d[g][j], c[g][j] = float64(events)+law.draw(s), float64(censored)+law.draw(s)
			}
			drawn.groups[g] = l.table(d[g], c[g])
		}
		return drawn.logRank()
	})
	out.finish()
	return out, nil
}

// shareOf returns x/n within [0, 1], or the given value if n is not positive.
func shareOf(x, n, otherwise float64) float64 {
	if n > 0 {
		return min(1, max(0, x/n))
	}
	return otherwise
}

// rates are the life tables of several groups.
type rates struct {
	groups []lifeTable
	s2     float64 // variance of the noise of a count
}

// tables returns the life tables of all groups.
func (l Lifetimes) tables() (out []lifeTable) {
	for g := range l.Events {
		out = append(out, l.table(l.Events[g], l.Censored[g]))
	}
	return out
}

// pooled adds up the life tables of all groups.
func (r rates) pooled() (t lifeTable, horizon int) {
	periods := len(r.groups[0].n)
	t = lifeTable{make([]float64, periods), make([]float64, periods), make([]float64, periods), r.groups[0].grouped}
	for _, g := range r.groups {
		for j := range periods {
			t.d[j] += g.d[j]
			t.n[j] += g.n[j]
			t.at[j] += g.at[j]
		}
	}
	return t, t.horizon(r.s2, len(r.groups))
}

// mostShift is the largest shift without a warning. With it, a test of two groups at level .05 rejects equal groups in 7.9 %
// of samples.
const mostShift = 0.5

// shift returns how far Z moves, in standard deviations, if all who leave in a period leave before its events or after.
func (r rates) shift(z []float64, c *mat.SymDense) (most float64) {
	for _, before := range []bool{true, false} {
		other := rates{s2: r.s2}
		for _, t := range r.groups {
			other.groups = append(other.groups, t.uneven(before))
		}
		moved, _ := other.scores()
		for g := range moved {
			moved[g] -= z[g]
		}
		most = max(most, math.Sqrt(quadratic(c, moved, len(z)-1)))
	}
	return most
}

// logRank returns the statistic of [Lifetimes.LogRank].
func (r rates) logRank() float64 {
	z, c := r.scores()
	return quadratic(c, z, len(z)-1)
}

// scores returns Z and its covariance C (see [Lifetimes.LogRank]).
func (r rates) scores() ([]float64, *mat.SymDense) {
	pooled, horizon := r.pooled()
	k, periods := len(r.groups), len(pooled.n)
	z, c := make([]float64, k), mat.NewSymDense(k, nil)
	// By the noise of one count of group h in period l, Z_g changes by δ_gh − p_gl − late if it is an event, and by −late
	// otherwise. Here late = Σ_{j ≤ l} hazard_j·(δ_gh − p_gj), without the early part of its last term if it is no event.
	late, gone := make([]float64, k*k), make([]float64, k*k)
	share := make([]float64, k)
	for j := range periods {
		hazard, sampling := 0.0, 0.0
		if j < horizon {
			hazard = pooled.hazard(j)
			sampling = pooled.at[j] * hazard * (1 - hazard) * pooled.at[j] / max(1, pooled.at[j]-1)
		}
		for g, t := range r.groups {
			share[g] = 0
			if j < horizon {
				share[g] = shareOf(t.at[j], pooled.at[j], 0)
				z[g] += t.d[j] - t.at[j]*pooled.d[j]/max(pooled.at[j], 0.5)
			}
		}
		for g := range k {
			for h := range k {
				by := hazard * (same(g, h) - share[g])
				late[g*k+h] += by
				gone[g*k+h] = late[g*k+h] - pooled.early(j)*by
			}
		}
		for a := range k {
			for b := a; b < k; b++ {
				v := sampling * share[a] * (same(a, b) - share[b])
				for h := range k {
					direct := 0.0
					if j < horizon {
						direct = 1
					}
					x, y := direct*(same(a, h)-share[a])-late[a*k+h], direct*(same(b, h)-share[b])-late[b*k+h]
					v += r.s2 * (gone[a*k+h]*gone[b*k+h] + x*y)
				}
				c.SetSym(a, b, c.At(a, b)+v)
			}
		}
	}
	return z, c
}

func same(a, b int) float64 {
	if a == b {
		return 1
	}
	return 0
}
