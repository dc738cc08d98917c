package cluster

import "math"

// Bounds of k-means of released points.
const (
	mostBeginnings = 24
	mostRounds     = 60
	mostWork       = 1e8 // coordinates that the first rounds of all beginnings look at, about
)

// weightedCentres is k-means of points with weights, by Lloyd's algorithm from several beginnings, each chosen as
// k-means++ does (Arthur and Vassilvitskii, 2007); the best by its cost. Noisy weights may be negative: they count as
// they are, since what is left out would bias the centres towards empty places, but no centre begins there. It gives
// fewer than k centres where fewer points have weight above 0.
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
			if now >= cost { // with negative weights it can rise
				break
			}
			centres, cost = next, now
		}
	}
	return best
}

// spreadCentres chooses k of the heavy points, each with a probability in proportion to its weight times the squared
// distance to those that were chosen.
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
		if chosen < 0 { // all points stand where a centre is
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

// lloydStep is one iteration: each centre becomes the mean of what is nearest to it, where that has weight. The cost is
// that of the centres which it is given.
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
