package cluster

import "math"

// Limits of k-means on released points, which bound its running time.
const (
	mostBeginnings = 24
	mostRounds     = 60
	mostWork       = 1e8 // approximate limit on the coordinates that the first rounds of all starts read
)

// weightedCentres applies k-means to weighted points: Lloyd's algorithm from several k-means++ starts (Arthur and
// Vassilvitskii, 2007). It returns the centres with the lowest cost. Noisy weights may be negative. They are used
// unchanged, because leaving them out would bias the centres towards empty places, but no centre starts at such a
// point. If fewer than t.k points have a positive weight, it returns fewer than t.k centres.
func weightedCentres(t task, points [][]float64, weights []float64, s *stream) (best [][]float64) {
	var heavy []int
	for i, w := range weights {
		if w > 0 {
			heavy = append(heavy, i)
		}
	}
	k := min(t.k, len(heavy))
	if k == 0 {
		return nil
	}
	lowest := math.Inf(1)
	beginnings := mostWork / float64(len(points)*k*t.d)
	for range int(math.Max(3, math.Min(mostBeginnings, beginnings))) {
		centres := spreadCentres(points, weights, heavy, k, s)
		cost := math.Inf(1)
		for range mostRounds {
			next, now := lloydStep(t, points, weights, centres)
			if now < lowest {
				best, lowest = centres, now
			}
			if now >= cost { // with negative weights, the cost can rise
				break
			}
			centres, cost = next, now
		}
	}
	return best
}

// spreadCentres chooses k of the heavy points. The probability of a point is proportional to its weight times its
// squared distance from the points chosen so far.
func spreadCentres(points [][]float64, weights []float64, heavy []int, k int, s *stream) (centres [][]float64) {
	far := make([]float64, len(heavy))
	for i := range far {
		far[i] = 1
	}
	for range k {
		total := 0.0
		for i, h := range heavy {
			total += weights[h] * far[i]
		}
		at, chosen := s.uniform()*total, -1
		for i, h := range heavy {
			if w := weights[h] * far[i]; w > 0 {
				chosen = i
				if at -= w; at < 0 {
					break
				}
			}
		}
		if chosen < 0 { // every point coincides with a chosen centre
			chosen = len(centres)
		}
		c := points[heavy[chosen]]
		centres = append(centres, append([]float64{}, c...))
		for i, h := range heavy {
			_, d := nearestCentre(points[h], [][]float64{c})
			if len(centres) == 1 || d < far[i] {
				far[i] = d
			}
		}
	}
	return centres
}

// lloydStep makes one iteration: each centre becomes the mean of the points nearest to it, unless their total
// weight is below 1. cost is the cost of the given centres, not of the returned ones.
func lloydStep(t task, points [][]float64, weights []float64, centres [][]float64) (next [][]float64, cost float64) {
	total := make([]float64, len(centres))
	next = make([][]float64, len(centres))
	for j := range next {
		next[j] = make([]float64, t.d)
	}
	for i, p := range points {
		j, d := nearestCentre(p, centres)
		cost += weights[i] * d
		total[j] += weights[i]
		for x, v := range p {
			next[j][x] += weights[i] * v
		}
	}
	for j := range next {
		if total[j] < 1 {
			next[j] = centres[j]
			continue
		}
		next[j] = t.inside(divided(next[j], total[j]))
	}
	return next, cost
}
