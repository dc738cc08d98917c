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
	r := rates{lifetimesOf(l.Events, l.Censored), variance(l.Noise)}
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
	out.Statistic = r.logRank()
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
				h, leaving := 0.0, 1.0
				if j < horizon {
					h = pooled.hazard(j)
				}
				if stay := t.n[j] - max(0, t.d[j]); j < periods-1 && stay > 0 {
					leaving = min(1, max(0, l.Censored[g][j]/stay))
				}
				events := s.binomial(left, h)
				censored := s.binomial(left-events, leaving)
				left -= events + censored
				d[g][j], c[g][j] = float64(events)+law.draw(s), float64(censored)+law.draw(s)
			}
			drawn.groups[g] = lifeTableOf(d[g], c[g])
		}
		return drawn.logRank()
	})
	out.finish()
	return out, nil
}

// rates are the life tables of several groups.
type rates struct {
	groups []lifeTable
	s2     float64 // variance of the noise of a count
}

func lifetimesOf(events, censored [][]float64) (out []lifeTable) {
	for g := range events {
		out = append(out, lifeTableOf(events[g], censored[g]))
	}
	return out
}

// pooled adds up the life tables of all groups.
func (r rates) pooled() (t lifeTable, horizon int) {
	periods := len(r.groups[0].n)
	t = lifeTable{make([]float64, periods), make([]float64, periods)}
	for _, g := range r.groups {
		for j := range periods {
			t.d[j] += g.d[j]
			t.n[j] += g.n[j]
		}
	}
	return t, t.horizon(r.s2, len(r.groups))
}

// logRank returns the statistic of [Lifetimes.LogRank].
func (r rates) logRank() float64 {
	pooled, horizon := r.pooled()
	k, periods := len(r.groups), len(pooled.n)
	z, c := make([]float64, k), mat.NewSymDense(k, nil)
	// by the noise of one count of group h in period l, Z_g changes by δ_gh − p_gl − late if it is an event, and by
	// −late
	// otherwise, with late = Σ_{j ≤ l} hazard_j·(δ_gh − p_gj)
	late := make([]float64, k*k)
	share := make([]float64, k)
	for j := range periods {
		hazard, sampling := 0.0, 0.0
		if j < horizon {
			hazard = pooled.hazard(j)
			sampling = pooled.n[j] * hazard * (1 - hazard) * pooled.n[j] / max(1, pooled.n[j]-1)
		}
		for g, t := range r.groups {
			share[g] = 0
			if j < horizon {
				share[g] = min(1, max(0, t.n[j]/pooled.n[j]))
				z[g] += t.d[j] - t.n[j]*pooled.d[j]/pooled.n[j]
			}
		}
		for g := range k {
			for h := range k {
				late[g*k+h] += hazard * (same(g, h) - share[g])
			}
		}
		for a := range k {
			for b := a; b < k; b++ {
				v := sampling * share[a] * (same(a, b) - share[b])
				for h := range k {
					x, y := late[a*k+h], late[b*k+h]
					direct := 0.0
					if j < horizon {
						direct = 1
					}
					v += r.s2 * (x*y + (direct*(same(a, h)-share[a])-x)*(direct*(same(b, h)-share[b])-y))
				}
				c.SetSym(a, b, c.At(a, b)+v)
			}
		}
	}
	return quadratic(c, z, k-1)
}

func same(a, b int) float64 {
	if a == b {
		return 1
	}
	return 0
}
