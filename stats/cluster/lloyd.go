package cluster

import (
	"context"
	"fmt"

	"dither/noise"
)

// runLloyd is Lloyd's algorithm on noisy counts and sums. In each of T iterations, it counts and adds up the rows
// that are nearest to each centre. Each of these two measurements costs ε′ = ε/2T. The new centre is the noisy sum
// divided by the noisy count. A centre whose noisy count is below 1 restarts at a uniformly random point of the
// space. Other centres are moved into the space that contains the rows.
//
// Suppose that a row's L₁ norm is at most 1 and that neighbours differ by a change of one row. Then counts and sums
// both change by at most 2, and their Laplace noise has the scale 2/ε′. The kernel's general sensitivities, which
// package plan proves, come to these values.
//
// The released clusters add up the counts and sums of the last iterations, or of those after a cluster's last
// restart. If rows keep their clusters, the noise of the mean of m iterations is that of one iteration divided by
// √m.
func runLloyd(ctx context.Context, t task, s source) (*result, error) {
	centres := make([][]float64, t.k)
	start := randomStream(t.seed, 0)
	for j := range centres {
		centres[j] = start.point(t)
	}
	out := &result{trace: [][][]float64{centres}}
	pooled := make([]pool, t.k)
	for step := range t.iterations {
		cells, err := out.take(ctx, s, step,
			access{
				kind: byCentre, centres: centres, sums: true,
				about: fmt.Sprintf("iteration %d of %d", step+1, t.iterations),
			})
		if err != nil {
			return nil, err
		}
		centres = make([][]float64, t.k)
		for j := range centres {
			if step >= t.iterations-t.average {
				pooled[j].add(cells, j)
			}
			if cells.counts[j] < 1 {
				if step < t.iterations-1 { // the sums so far belong to the centre's old place
					pooled[j] = pool{}
				}
				centres[j] = randomStream(t.seed, 1, step, j).point(t)
				out.restarts++
				continue
			}
			centres[j] = t.inside(divided(cells.sums[j], cells.counts[j]))
		}
		out.trace = append(out.trace, centres)
	}
	laws := noiseLaws{alpha: t.alpha}
	for j := range pooled {
		looks := pooled[j].times
		out.clusters, out.pooled = append(out.clusters, pooled[j].cluster(t, &laws, centres[j], looks)),
			append(out.pooled, looks)
		if pooled[j].count < float64(looks) {
			out.warnings = append(out.warnings,
				"The noisy count of a cluster is below 1: its centre is a random point.")
		}
	}
	return out, nil
}

// divided returns the vector x divided by a number.
func divided(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / by
	}
	return out
}

// pool adds up noisy counts and sums of several cells.
type pool struct {
	count             float64
	sum               []float64
	times             int
	countNoise, noise noise.Distribution
	unit              float64   // unit of the sums' noise
	centre            []float64 // released centre, if it is not sum/count
}

func (p *pool) add(c *cellSums, cell int) {
	if p.sum == nil {
		p.sum = make([]float64, len(c.sums[cell]))
	}
	p.count += c.counts[cell]
	for i, v := range c.sums[cell] {
		p.sum[i] += v
	}
	p.times++
	p.countNoise, p.noise, p.unit = c.countNoise, c.sumNoise, c.sumUnit
}
