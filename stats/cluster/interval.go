package cluster

import (
	"math"

	"dither/noise"
)

// noiseLaws computes quantiles of the noise in sums of counts and coordinates, and caches them.
type noiseLaws struct {
	alpha  float64
	limits map[noiseLaw]float64
}

type noiseLaw struct {
	count, sum noise.Distribution
	unit       float64
	times      int
	size       float64
}

// limit returns a number that |Z_a − r·Z_n| exceeds with probability at most alpha, for all |r| ≤ size. Z_a and Z_n
// are the noise of the pool's sum of coordinates and of its sum of counts. The bound at |r| = size suffices,
// because the quantile grows with |r|. The reason is that both noises are symmetric and unimodal (Birnbaum, "On
// random variables with comparable peakedness", 1948).
func (l *noiseLaws) limit(p *pool, size float64) float64 {
	key := noiseLaw{p.countNoise, p.noise, p.unit, p.times, size}
	if q, ok := l.limits[key]; ok {
		return q
	}
	var c noise.Combination
	if p.noise != nil {
		c.Add(p.unit, p.noise, float64(p.times))
	}
	c.Add(size, p.countNoise, float64(p.times))
	if l.limits == nil {
		l.limits = map[noiseLaw]float64{}
	}
	q := c.Quantile(l.alpha)
	l.limits[key] = q
	return q
}

// limitSizes are the values of |r| at which limit is computed. Between two values, the limit of the larger one
// applies.
var limitSizes = []float64{0, 0.125, 0.25, 0.5, 0.75, 1}

// mean returns an interval for A/N, the mean of one coordinate over the N rows of a pool. The released numbers are
// a = A + Z_a and n = N + Z_n. The interval consists of all r in [−1, 1] with |a − rn| ≤ limit(|r|). It contains
// A/N with probability at least 1 − alpha, because a − rn equals Z_a − rZ_n at r = A/N. The probability assumes
// that the noise did not influence the choice of the cells.
func (l *noiseLaws) mean(p *pool, a float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := 1; i < len(limitSizes); i++ {
		q := l.limit(p, limitSizes[i])
		from, to := math.Inf(-1), math.Inf(1)
		switch {
		case p.count != 0:
			from, to = (a-q)/p.count, (a+q)/p.count
			from, to = math.Min(from, to), math.Max(from, to)
		case math.Abs(a) > q:
			continue
		}
		for _, piece := range [][2]float64{{-limitSizes[i], -limitSizes[i-1]}, {limitSizes[i-1], limitSizes[i]}} {
			if start, end := math.Max(from, piece[0]), math.Min(to, piece[1]); start <= end {
				low, high = math.Min(low, start), math.Max(high, end)
			}
		}
	}
	if low > high { // the noise excludes every r, so nothing is known of r
		return -1, 1
	}
	return low, high
}

// cluster returns the size and the centre of a pool's cluster. looks is the number of accesses that the pool adds
// up. The centre is fallback if the pool has less than one row for each access.
func (p *pool) cluster(t task, l *noiseLaws, fallback []float64, looks int) scaledCluster {
	times := float64(max(p.times, 1))
	var c noise.Combination
	c.Add(1, p.countNoise, times)
	off := c.Quantile(l.alpha) / float64(looks)
	size := p.count / float64(looks)
	out := scaledCluster{size: Number{size, math.Max(0, size-off), math.Max(0, size+off)}}
	centre := fallback
	if p.centre != nil {
		centre = p.centre
	} else if p.count >= float64(looks) {
		centre = t.inside(divided(p.sum, p.count))
	}
	for i, x := range centre {
		low, high := l.mean(p, p.sum[i])
		out.centre = append(out.centre, Number{x, math.Min(low, x), math.Max(high, x)})
	}
	return out
}
