package cluster

import "math"

// Score states how well k clusters separate the rows.
type Score struct {
	K int `json:"k"`
	// Silhouette is the mean over rows of 1 − a/b, where a is the distance to the nearest centre and b the distance
	// to the second nearest. The rows are represented by the released groups.
	Silhouette float64 `json:"silhouette"`
	// StdDev is the standard deviation, to first order, of the noise on the difference to the best silhouette. It
	// ignores that the same noise affected the choice of the centres.
	StdDev float64 `json:"stddev"`
}

// looks returns the number of clusters for which the accesses to the rows are made.
func (t task) looks() int { return max(t.k, t.most) }

// bestCentres returns the centres of released points with noisy weights. Without t.least, it returns t.k centres.
// Otherwise it chooses the number of clusters, from t.least to t.k, with the best simplified silhouette (Hruschka,
// de Castro and Campello, "Evolutionary algorithms for clustering gene-expression data", ICDM 2004). It takes a
// smaller number if the difference is within one standard deviation of the noise. The choice is post-processing, so
// it costs nothing.
//
// Only cells whose noisy count is three standard deviations above 0 are scored. In other cells, centres follow the
// noise and would seem well separated. For the same reason, a number of clusters is eligible only if the noisy
// count of each of its clusters is three standard deviations above 0.
func (r *result) bestCentres(
	t *task, points [][]float64, weights []float64, absent []bool, deviation, within float64, use int,
) [][]float64 {
	if t.least == 0 {
		return weightedCentres(*t, points, weights, randomStream(t.seed, use))
	}
	clear := make([]float64, len(weights))
	total := 0.0
	for i, w := range weights {
		if w > 3*deviation {
			clear[i], total = w, total+w
		}
	}
	var all [][][]float64
	var shares [][]float64
	var clearAll []bool
	best := -1
	for k := t.least; k <= t.k; k++ {
		of := *t
		of.k = k
		centres := weightedCentres(of, points, weights, randomStream(t.seed, use))
		if len(centres) < k {
			if k == t.least {
				all = append(all, centres)
			}
			break
		}
		share := silhouettes(points, absent, within, centres)
		all, shares = append(all, centres), append(shares, share)
		r.scores = append(r.scores, Score{K: k, Silhouette: weightedMean(share, clear)})
		clearAll = append(clearAll, allClear(points, absent, weights, deviation, centres))
		if i := k - t.least; clearAll[i] && (best < 0 || r.scores[i].Silhouette > r.scores[best].Silhouette) {
			best = i
		}
	}
	best = max(best, 0)
	taken := -1
	for i := range r.scores {
		sum := 0.0
		for j, s := range shares[i] {
			if clear[j] == 0 {
				continue
			}
			sum += (s - shares[best][j]) * (s - shares[best][j])
		}
		if r.scores[i].StdDev = deviation * math.Sqrt(sum) / math.Max(total, 1); taken < 0 && clearAll[i] &&
			r.scores[best].Silhouette-r.scores[i].Silhouette <= r.scores[i].StdDev {
			taken = i
		}
	}
	taken = max(taken, 0)
	t.k = t.least + taken
	return all[taken]
}

// silhouettes returns the simplified silhouette of each point: 1 − a/b, where a and b are the distances to the nearest
// and to the second nearest centre. A point stands for the rows of one cell of a grid. within is the variance of these
// rows about the point. It is added to a² and b², because otherwise a centre at every point would get the best score.
// The silhouette of an absent cell, which can contain no row, is 0.
func silhouettes(points [][]float64, absent []bool, within float64, centres [][]float64) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		if absent != nil && absent[i] {
			continue
		}
		first, second := math.Inf(1), math.Inf(1)
		for _, c := range centres {
			_, d := nearestCentre(p, [][]float64{c})
			if d < first {
				first, second = d, first
			} else {
				second = math.Min(second, d)
			}
		}
		if second+within > 0 && !math.IsInf(second, 0) {
			out[i] = 1 - math.Sqrt((first+within)/(second+within))
		}
	}
	return out
}

// allClear reports whether each cluster's noisy count is more than three standard deviations above 0. The count is
// the sum over the cluster's cells. deviation is the standard deviation of the noise of one cell.
func allClear(points [][]float64, absent []bool, weights []float64, deviation float64, centres [][]float64) bool {
	sums, cells := make([]float64, len(centres)), make([]float64, len(centres))
	for i, p := range points {
		if absent == nil || !absent[i] {
			nearest, _ := nearestCentre(p, centres)
			sums[nearest] += weights[i]
			cells[nearest]++
		}
	}
	for c, sum := range sums {
		if sum <= 3*deviation*math.Sqrt(cells[c]) {
			return false
		}
	}
	return true
}

func weightedMean(share, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for i, w := range weights {
		sum, total = sum+w*share[i], total+w
	}
	return sum / math.Max(total, 1)
}
