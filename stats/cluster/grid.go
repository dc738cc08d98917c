package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dither/noise"
)

// runGrid is the method EUGkM: it releases noisy counts of the cells of a grid, and applies k-means to the
// midpoints of the cells with these counts as weights.
//
// Let there be N rows in d dimensions, and let σ be the standard deviation of the noise on a count. The number M of
// cells balances two errors. Consider a part of the space that contains a share r of the cells. The noise of its
// count has a standard deviation of √(rM)·σ. About M^(1−1/d) cells lie on its border, and the N/M rows of each may
// lie on the wrong side. This error is proportional to N·M^(−1/d). The two errors balance if M^(1/2 + 1/d) is
// proportional to N/σ, which gives M = (Nε/10)^(2d/(2+d)) with σ = √2/ε. This is the formula of the paper, whose
// authors found the 10 by experiment. Here, ε stands for √2/σ with every kind of noise.
func runGrid(ctx context.Context, t task, s source) (*result, error) {
	out := &result{}
	rows, step := t.rows, 0
	if rows <= 0 {
		cells, err := out.take(ctx, s, step, access{kind: allRows, about: "rows"})
		if err != nil {
			return nil, err
		}
		rows, step = cells.counts[0], 1
		if rows < 1 {
			out.warnings = append(out.warnings,
				"The noisy count of rows is below 1: the clusters are only noise.")
		}
	}
	deviation, _, err := s.deviation(ctx, step, access{kind: byBucket, buckets: t.twos()})
	if err != nil {
		return nil, err
	}
	out.buckets = gridBuckets(t, rows, deviation)
	cells, err := out.take(ctx, s, step,
		access{kind: byBucket, buckets: out.buckets, about: fmt.Sprintf("a grid of %v buckets", out.buckets)})
	if err != nil {
		return nil, err
	}
	middles := t.middles(out.buckets)
	within := 0.0 // variance of rows that are spread evenly over a cell
	for i, n := range out.buckets {
		within += t.halfBucket(i, n) * t.halfBucket(i, n) / 3
	}
	centres := out.bestCentres(&t, middles, cells.counts, cells.absent, cells.countNoise.StdDev(), within, 2)
	out.assignCells(t, middles, cells, centres)
	return out, nil
}

// mostCells is the largest number of cells of a grid, and mostBuckets the largest number of buckets of a column.
const (
	mostCells   = 50_000
	mostBuckets = 5_000
)

// twos returns the coarsest grid, which has two buckets for each column.
func (t task) twos() []int { return slices.Repeat([]int{2}, t.d) }

// gridBuckets returns the number of buckets of each column, at least two, so that the grid has about M cells, with
// the M of [runGrid]. There are enough cells for k clusters, and at most as many as the kernel answers at once. A
// column with fewer integers within its bounds has one bucket for each, which leaves more buckets to the other
// columns.
func gridBuckets(t task, rows, deviation float64) []int {
	d := float64(t.d)
	epsilon := math.Sqrt2 / math.Max(deviation, 1e-300)
	cells := math.Pow(math.Max(rows, 0)*epsilon/10, 2*d/(2+d))
	cells = math.Min(mostCells, math.Max(cells, float64(t.looks())))
	out, open := make([]int, t.d), t.d
	for again := true; again; {
		again = false
		each := math.Pow(cells, 1/math.Max(1, float64(open)))
		for i, v := range t.values {
			if v > 0 && out[i] == 0 && float64(v) <= each {
				out[i], again = max(2, v), true
				cells, open = math.Max(1, cells/float64(out[i])), open-1
				break
			}
		}
	}
	each := math.Pow(cells, 1/math.Max(1, float64(open)))
	total := 1.0
	for i := range out {
		if out[i] == 0 {
			out[i] = max(2, int(math.Round(math.Min(each, mostBuckets))))
		}
		total *= float64(out[i])
	}
	for total > mostCells { // possible because bucket numbers are rounded up
		widest := slices.Index(out, slices.Max(out))
		total *= float64(out[widest]-1) / float64(out[widest])
		out[widest]--
	}
	for total < float64(t.looks()) { // possible because bucket numbers are rounded down
		least := -1
		for i, n := range out {
			if (t.values == nil || t.values[i] == 0 || n < t.values[i]) && (least < 0 || n < out[least]) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		total *= float64(out[least]+1) / float64(out[least])
		out[least]++
	}
	return out
}

// ends returns the half-width of the range that a column's buckets divide. It is 1, or slightly more for a column
// of integers, so that each integer is in the middle of its bucket.
func (t task) ends(column int) float64 {
	if t.values == nil || t.values[column] < 2 {
		return 1
	}
	return 1 + 1/float64(t.values[column]-1)
}

// halfBucket returns the largest distance of a value from the middle of its bucket.
func (t task) halfBucket(column, buckets int) float64 {
	if t.values != nil && t.values[column] == buckets {
		return 0
	}
	return t.ends(column) / float64(buckets)
}

// middles returns the midpoints of a grid's cells in the cube [−1, 1]^d, for d columns. The last coordinate varies
// fastest.
func (t task) middles(buckets []int) [][]float64 {
	out := [][]float64{nil}
	for i, n := range buckets {
		var next [][]float64
		for _, p := range out {
			for b := range n {
				next = append(next, append(slices.Clone(p), t.ends(i)*(float64(2*b+1)/float64(n)-1)))
			}
		}
		out = next
	}
	return out
}

// assignCells assigns each cell of a grid to the nearest centre. It computes the size of each cluster, and the mean
// of its cells' midpoints.
//
// Let a cluster have cells with midpoints m_i and noisy counts n_i + Z_i. The mean r of its rows' midpoints solves
// Σ(n_i + Z_i)(m_i − r) = ΣZ_i(m_i − r). The interval consists of the r for which the left side is within the
// quantile of the right side. The quantile is computed at the released mean, so the interval is accurate to first
// order. It ignores that the same noise decided which cells form the cluster. A row is within half a bucket of its
// cell's midpoint, so the mean of rows is within half a bucket of the mean of midpoints. The interval is extended
// by this amount at each end.
func (r *result) assignCells(t task, middles [][]float64, cells *cellSums, centres [][]float64) {
	of := make([][]int, len(centres))
	for i, p := range middles {
		if len(centres) > 0 && !cells.absent[i] {
			j, _ := nearestCentre(p, centres)
			of[j] = append(of[j], i)
		}
	}
	for j, c := range centres {
		pool := &pool{sum: make([]float64, t.d), times: len(of[j]), countNoise: cells.countNoise}
		for _, i := range of[j] {
			pool.count += cells.counts[i]
			for x, v := range middles[i] {
				pool.sum[x] += cells.counts[i] * v
			}
		}
		centre := c
		if pool.count >= 1 {
			centre = t.inside(divided(pool.sum, pool.count))
		} else {
			r.warnings = append(r.warnings, "The noisy count of a cluster is below 1.")
		}
		var all noise.Combination
		all.Add(1, cells.countNoise, float64(len(of[j])))
		off := all.Quantile(t.alpha)
		cluster := scaledCluster{size: Number{pool.count, math.Max(0, pool.count-off), math.Max(0, pool.count+off)}}
		for x, v := range centre {
			number := Number{v, -1, 1}
			if pool.count > 0 {
				away := map[float64]float64{} // number of the cluster's cells by their distance from its mean
				for _, i := range of[j] {
					away[math.Abs(middles[i][x]-v)]++
				}
				var law noise.Combination
				for _, at := range sortedKeys(away) {
					law.Add(at, cells.countNoise, away[at])
				}
				off := law.Quantile(t.alpha)/pool.count + t.halfBucket(x, r.buckets[x])
				number.Low, number.High = math.Max(-1, v-off), math.Min(1, v+off)
			}
			cluster.centre = append(cluster.centre, number)
		}
		r.clusters, r.groups = append(r.clusters, cluster), append(r.groups, of[j])
	}
	if len(centres) < t.k {
		r.warnings = append(r.warnings,
			fmt.Sprintf("Rows were found in too few places for %d clusters: the result has %d.", t.k, len(centres)))
	}
}
