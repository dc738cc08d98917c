package cluster

import (
	"context"
	"fmt"

	"dither/noise"
)

// runLloyd is Lloyd's algorithm on noisy counts and sums: with ε′ = ε/2T, in each of T iterations the rows that are
// nearest to each centre are counted and added up, each at ε′, and a centre becomes the noisy sum over the noisy
// count; one whose noisy count is below 1 begins anew, uniformly in the space.
//
// Where a row's L1 norm is at most 1 and a neighbour changes one row, counts and sums both move by at most 2, and their
// noise is Laplace's of scale 2/ε′. In general the kernel's sensitivities hold (plan's proof), which come to these.
// Centres are moved into the space that rows are in.
//
// The counts and sums of the last iterations are added up, from where a cluster began anew if it did, and the centres
// are of these: where rows keep their clusters, the noise of m iterations is that of one over √m.
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
				if step < t.iterations-1 { // what was added up is of another place
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
				"A cluster has less than one row, by its noisy count: its centre is a random point.")
		}
	}
	return out, nil
}

// divided is a vector over a number.
func divided(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / by
	}
	return out
}

// pool adds up noisy counts and sums of cells.
type pool struct {
	count             float64
	sum               []float64
	times             int
	countNoise, noise noise.Distribution
	unit              float64   // of sums' noise
	centre            []float64 // the released centre, where it is not sum over count
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
