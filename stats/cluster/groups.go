package cluster

// byChance bounds the probability that some empty group of a tree counts as clear of noise.
const byChance = 0.001

// clearCount returns a noisy count that, with probability at least 1 − byChance, no empty cell among the given
// number exceeds. The noise is symmetric, so one side has half of the tail.
func (c *cellSums) clearCount(cells int) float64 {
	most, _ := c.countNoise.Quantile(2 * byChance / float64(cells)).Float64()
	return max(1, most)
}

// assignGroups clusters the groups of a tree. A group is clear if its noisy count exceeds [cellSums.clearCount].
// The clear groups are points at their noisy means, weighted by their noisy counts. A released centre is the mean
// of the clear groups nearest to it. Every other group joins the cluster that is nearest to its kin, which is the
// mean of the clear groups nearest to it in the tree. A cluster contains all rows of its groups, and its intervals
// are about these rows.
//
// An interval from the distribution of the noise is valid if this noise does not influence which groups form the
// cluster. A rule that leaves out groups with low counts violates this condition. Suppose that a group with N rows
// and noise Z is kept if N + Z > c. The noise of a kept group has the distribution of Z given N + Z > c. For
// Laplace noise of scale b and N < c, the mean of this distribution is c − N + b. Take c = 2√2·b, which is twice
// the standard deviation. Then ½·exp(−2√2) = 3 % of empty groups are kept, each with 3.8b nonexistent rows on
// average. With 7 of 14 groups empty, sizes were too large by 2 rows, and only 93.2 % of the 95 % intervals held.
// If a cluster consisted of one group of noise, its interval never held.
//
// Here, a group that is not clear has the same cluster for every value of its noise. With probability at least 1 −
// byChance, this includes all empty groups. The noise still has two effects of a lower order. A group with few rows
// may be clear by chance, and then lies at its own mean. The mean of a clear group moves by the noise's share of
// its count. Intervals therefore hold about as often as they state; TestKMeansTreeCoverage measures it.
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

// assignAll puts all groups into one cluster. It is used if no group is clear of noise.
//
// The fact that no group is clear bounds the noise of every group from above, which makes the sum of the counts too
// small. The intervals therefore use half of the stated error probability: for 95 % intervals, the 97.5 % quantile
// of the noise. TestKMeansWholeCoverage shows that this is enough: for 14 kinds of tables, between 1 and 4 % of
// intervals missed. The count and the sum of all rows in the first access would not be better. They determine how
// far groups are divided, so they are biased too. For tables that seldom come to this case, up to 17 % of intervals
// from that count missed.
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
		"Noise hides every group of rows, so all rows form one cluster. Use a higher price or more rows to separate "+
			"groups.")
}

// places calls tell for each leaf, with the point where its rows are assumed to lie. The point is the leaf's mean,
// or kin for a leaf without a mean. kin is the mean of the clear leaves that are nearest to this node in the tree
// and outside it. A leaf without a mean does not influence its own point.
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

// clears adds to p the leaves below a node that have means.
func (n *treeNode) clears(cells *cellSums, means [][]float64, p *pool) {
	if n.below != nil {
		n.below.clears(cells, means, p)
		n.beyond.clears(cells, means, p)
	} else if means[n.leaf] != nil {
		p.add(cells, n.leaf)
	}
}
