package cluster

// byChance bounds the probability that any empty group of a tree counts as clear.
const byChance = 0.001

// clearCount is a noisy count that no empty one of so many cells exceeds, except with a probability of at most byChance
// in all: the noise is symmetric, so that one side of it has half of the tail.
func (c *cellSums) clearCount(cells int) float64 {
	most, _ := c.countNoise.Quantile(2 * byChance / float64(cells)).Float64()
	return max(1, most)
}

// assignGroups clusters a tree's groups. Groups whose counts are clear of noise are points at their noisy means, with
// their noisy counts as weights; a released centre is the mean of the clear groups nearest to it. Every other group
// joins the cluster that is nearest to its kin: the clear groups that are nearest to it in the tree. A cluster has all
// rows of its groups, and its intervals are about these.
//
// An interval by the law of the noise in a cluster's groups holds where that noise has no part in which groups these
// are. A rule that leaves groups of low counts out gives it a part: of the groups that are in, the noise is Z given N +
// Z > c, and for Laplace's of scale b and N < c that has the mean c − N + b. At c = 2√2·b, twice the deviation,
// ½·exp(−2√2) = 3 % of empty groups are in, each with 3.8b rows that do not exist: with 7 of 14 groups empty,
// sizes were too large by 2 rows, and 93.2 % of 95 % intervals held. Of clusters that a group of noise made alone, none
// held.
//
// Here a group that is not clear has the same cluster whatever its noise is, and with a probability of at least 1 −
// byChance all empty groups are so. The noise keeps two parts of a lower order: a group of few rows is clear by chance,
// and then lies at its own mean; and the mean of a clear one moves by the share that noise has in its count. So
// intervals hold about as often as they say: TestKMeansTreeCoverage measures it.
func (r *result) assignGroups(t task, cells *cellSums, tree *treeNode) {
	means, clear := make([][]float64, r.leaves), cells.clearCount(r.leaves)
	var points [][]float64
	var weights []float64
	for i, n := range cells.counts[:r.leaves] {
		if n > clear {
			means[i] = t.inside(divided(cells.sums[i], n))
			points, weights = append(points, means[i]), append(weights, n)
		}
	}
	centres := weightedCentres(t, points, weights, randomStream(t.seed, 3))
	clears := make([]pool, len(centres))
	for i, m := range means {
		if m != nil {
			j, _ := nearestCentre(m, centres)
			clears[j].add(cells, i)
		}
	}
	var taken [][]float64
	var pools []pool
	for j, c := range centres {
		if p := clears[j]; p.times > 0 {
			taken, pools = append(taken, c), append(pools, pool{centre: t.inside(divided(p.sum, p.count))})
		}
	}
	if len(taken) == 0 {
		return
	}
	groups := make([][]int, len(pools))
	tree.places(t, cells, means, nil, func(leaf int, place []float64) {
		j, _ := nearestCentre(place, taken)
		pools[j].add(cells, leaf)
		groups[j] = append(groups[j], leaf)
	})
	laws := noiseLaws{alpha: t.alpha}
	for j := range pools {
		r.clusters, r.groups = append(r.clusters, pools[j].cluster(t, &laws, nil, 1)), append(r.groups, groups[j])
	}
}

// assignAll makes all groups one cluster: what is left to tell where none of them is clear of noise.
//
// That none is clear bounds the noise of every group from above, which makes their sum too small. So the intervals
// leave out half as much as they say: where 5 % may miss, the law of the noise is asked for 97.5 %.
// TestKMeansWholeCoverage measures that this is enough: of 14 kinds of tables, between 1 and 4 % missed. (The first
// look has a count and a sum of all rows too. They are no better: they decide how far groups are divided, and where few
// tables come to this, up to 17 % of intervals of that count missed.)
func (r *result) assignAll(t task, cells *cellSums, middle []float64) {
	var p pool
	groups := make([]int, r.leaves)
	for i := range groups {
		groups[i] = i
		p.add(cells, i)
	}
	laws := noiseLaws{alpha: t.alpha / 2}
	r.clusters, r.groups = append(r.clusters, p.cluster(t, &laws, middle, 1)), append(r.groups, groups)
	r.warnings = append(r.warnings,
		"No group of rows is clear of noise, so all rows are one cluster. A larger price, or more rows, would tell "+
			"them apart.")
}

// places calls tell with each leaf and where its rows are taken to lie: at the leaf's mean, or, without one, at that of
// its kin. Kin is the mean of the clear leaves nearest to this node, outside it. A leaf without a mean has no part in
// its own place.
func (n *treeNode) places(
	t task, cells *cellSums, means [][]float64, kin []float64, tell func(leaf int, place []float64),
) {
	if n.below == nil {
		if m := means[n.leaf]; m != nil {
			kin = m
		}
		tell(n.leaf, kin)
		return
	}
	for _, side := range [][2]*treeNode{{n.below, n.beyond}, {n.beyond, n.below}} {
		near, p := kin, pool{}
		if side[1].clears(cells, means, &p); p.times > 0 {
			near = t.inside(divided(p.sum, p.count))
		}
		side[0].places(t, cells, means, near, tell)
	}
}

// clears adds up the leaves of a node that have means.
func (n *treeNode) clears(cells *cellSums, means [][]float64, p *pool) {
	if n.below != nil {
		n.below.clears(cells, means, p)
		n.beyond.clears(cells, means, p)
	} else if means[n.leaf] != nil {
		p.add(cells, n.leaf)
	}
}
