package cluster

import "math"

// Score says how well so many clusters separate the rows.
type Score struct {
	K int `json:"k"`
	// Silhouette is the mean over rows of 1 − a/b, with a the distance to the nearest centre and b the distance to the
	// next. Rows are those of released groups.
	Silhouette float64 `json:"silhouette"`
	// StdDev is the standard deviation of the noise on the difference to the best silhouette, to first order. The same
	// noise chooses the centres.
	StdDev float64 `json:"stddev"`
}

// looks is for how many clusters rows are looked at.
func (t task) looks() int { return max(t.k, t.most) }

// bestCentres are the centres of released points with noisy weights: of t.k clusters, or of as many from t.least on as
// have the best simplified silhouette (Hruschka, de Castro and Campello, "Evolutionary algorithms for clustering
// gene-expression data", ICDM 2004). It is a function of what was released, so that it costs nothing whatever it tries.
// Where noise could make the difference, by a standard deviation of it, the fewer are taken.
//
// Only cells whose noisy count is three standard deviations above 0 are scored: in the others centres stand where noise
// happens to be, and look well apart. For the same reason a number is taken only where the noisy count of each of its
// clusters is three standard deviations above 0.
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

// silhouettes are the points' own; of cells in which no row can be 0. Within is the variance of rows within a cell,
// which is in both distances: without it a centre on each cell would be best.
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

// allClear tells whether each cluster's noisy count is three standard deviations above 0. The sum over its cells is
// what its size is told as, and has their noise, of one deviation each.
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
