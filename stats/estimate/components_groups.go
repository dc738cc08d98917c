package estimate

import "math"

// componentGroups are the components of a release in groups whose shares may be equal, with what noise does to them.
//
// Noise E on a correlation matrix R moves each eigenvalue by no more than an extreme eigenvalue of E: Weyl's inequality,
// λmin(E) ≤ λk(R+E) − λk(R) ≤ λmax(E), holds for all symmetric matrices, however near the eigenvalues of R are. If some
// eigenvalues are apart from the others, it holds for them with the part of E in their own space, but for terms of E²
// divided by the distance.
//
// So the interval of each share of a group reaches as far as noise moves the outermost shares of the group if all of
// them are equal. That is simulated: noise is added to the release with the shares of each group levelled, which
// includes the terms of E². A component that is a group of its own has an interval that reaches as far as noise moves
// it, to both sides.
type componentGroups struct {
	first, last []int // the first and the last component of the group of each component
	reach       []*spread
	loading     [][]*spread // differences of loadings, of components that are alone
	squares     []float64   // sums of squared differences of shares, of n draws
	n           float64
}

// alone reports whether component k has a share of its own, and so a direction.
func (g *componentGroups) alone(k int) bool { return g.first[k] == g.last[k] }

// share returns the standard error of a share, and how far its interval reaches to both sides.
func (g *componentGroups) share(k int) (deviation, reach float64) {
	if _, _, reach = g.reach[k].interval(); math.IsInf(reach, 0) {
		return math.NaN(), reach
	}
	return math.Sqrt(g.squares[k] / g.n), reach
}

// groups returns the groups of the components of the covariances c. It begins with one group, and splits each where the
// intervals of neighbours do not meet, until they all do. noisy adds fresh noise to covariances, and returns their
// components, or nil.
func (p *principal) groups(
	c [][]float64, alpha float64, noisy func(*simulator, [][]float64) *principal,
) *componentGroups {
	d := len(c)
	g := &componentGroups{first: make([]int, d), last: make([]int, d)}
	for k := range d {
		g.last[k] = d - 1
	}
	for {
		g.simulate(p, c, alpha, noisy)
		if !g.split(p.share) {
			return g
		}
	}
}

// simulate draws the differences that noise makes.
func (g *componentGroups) simulate(
	p *principal, c [][]float64, alpha float64, noisy func(*simulator, [][]float64) *principal,
) {
	d := len(c)
	g.reach, g.squares, g.n = newSpreads(d, alpha), make([]float64, d), 0
	g.loading = make([][]*spread, d)
	for k := range d {
		g.loading[k] = newSpreads(d, alpha)
	}
	at, sim := g.levelled(p, c), newSimulator()
	middle := components(at)
	for draw := range drawsFor(alpha) {
		var of *principal
		if middle != nil {
			of = noisy(sim, at)
		}
		if of == nil {
			for k := range d {
				g.reach[k].add(math.NaN())
				for _, l := range g.loading[k] {
					l.add(math.NaN())
				}
			}
			continue
		}
		for k := range d {
			g.add(k, draw, p, middle, of)
		}
		g.n++
	}
}

// add adds what one draw, the components of, differs from the levelled ones. Every other draw is reflected, because
// intervals reach as far to both sides.
func (g *componentGroups) add(k, draw int, p, middle, of *principal) {
	level := g.mean(middle.share, k)
	if draw%2 == 0 {
		g.reach[k].add(of.share[g.first[k]] - level)
	} else {
		g.reach[k].add(level - of.share[g.last[k]])
	}
	g.squares[k] += (of.share[k] - level) * (of.share[k] - level)
	if !g.alone(k) {
		return
	}
	sign := math.Copysign(1, dot(p.loading[k], of.loading[k]))
	was := math.Copysign(1, dot(p.loading[k], middle.loading[k]))
	for i, x := range of.loading[k] {
		off := sign*x - was*middle.loading[k][i]
		if draw%4 >= 2 { // a loading near 1 can only shrink
			off = -off
		}
		g.loading[k][i].add(off)
	}
}

// mean returns the mean of the shares of the group of component k.
func (g *componentGroups) mean(share []float64, k int) (mean float64) {
	of := share[g.first[k] : g.last[k]+1]
	for _, x := range of {
		mean += x / float64(len(of))
	}
	return mean
}

// split divides groups between neighbours whose intervals do not meet, and reports whether there were any.
func (g *componentGroups) split(share []float64) (any bool) {
	for k := 1; k < len(share); k++ {
		if g.first[k] == k {
			continue // they are in two groups
		}
		_, before := g.share(k - 1)
		_, here := g.share(k)
		if share[k-1]-before > share[k]+here {
			for j, last := k, g.last[k]; j <= last; j++ {
				g.first[j] = k
			}
			for j := k - 1; j >= 0 && g.last[j] >= k; j-- {
				g.last[j] = k - 1
			}
			any = true
		}
	}
	return any
}

// levellings is how often shares are levelled. After each time the matrix gets its variances back, which moves the
// shares apart again, but less.
const levellings = 10

// levelled returns covariances with the variances of c, whose components are p, but with equal shares in each group.
func (g *componentGroups) levelled(p *principal, c [][]float64) [][]float64 {
	d := len(c)
	out := c
	for range levellings {
		if p == nil {
			break
		}
		r := make([][]float64, d)
		for i := range r {
			r[i] = make([]float64, d)
			for j := range d {
				for k, v := range p.loading {
					r[i][j] += g.mean(p.share, k) * v[i] * v[j]
				}
			}
		}
		out = make([][]float64, d)
		for i := range out {
			out[i] = make([]float64, d)
			for j := range d {
				out[i][j] = r[i][j] * math.Sqrt(c[i][i]*c[j][j]/(r[i][i]*r[j][j]))
			}
		}
		p = components(out)
	}
	return out
}

// noComponents returns components that do not exist.
func noComponents(d int) *principal {
	out := &principal{}
	for range d {
		loading := make([]float64, d)
		for i := range loading {
			loading[i] = math.NaN()
		}
		out.share, out.loading = append(out.share, math.NaN()), append(out.loading, loading)
	}
	return out
}
