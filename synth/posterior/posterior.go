package posterior

import (
	"context"
	"errors"
	"math"
	"sort"

	"dither/synth/model"
)

// MaxDraws is the largest number of draws.
const MaxDraws = 1000

// ErrStuck says that the Markov chain does not move.
var ErrStuck = errors.New("posterior: the Markov chain accepts too few steps: measure fewer cells, or give a larger price")

// Problem is noisy marginals with a model of the table.
type Problem struct {
	// Model was fitted to the measurements. The chain starts at its counts, and its cliques are those of the posterior.
	Model    *model.Model
	Measured []model.Measurement // of cells, without matrices
	Laplace  bool                // the noise has a Laplace distribution instead of a Gaussian one
}

// Draw is a distribution of rows.
type Draw struct {
	sizes []int
	tree  []*clique
	total float64
	share [][]float64 // by clique and cell: of its block, in running sums
}

// Diagnosis says how the chain did.
type Diagnosis struct {
	Acceptance float64 // the mean probability of acceptance
	// Apart is the largest z-score of the difference between the mean of the first and of the last half of the draws, of the
	// logarithms of the density and of the number of rows. Far above 3 means that the chain has not converged.
	Apart float64
}

// Sample returns draws from the posterior distribution. The same words give the same draws.
func Sample(ctx context.Context, p Problem, draws int, words model.Words) ([]*Draw, *Diagnosis, error) {
	if draws < 1 || draws > MaxDraws {
		return nil, nil, errors.New("posterior: there are 1 to 1000 draws")
	}
	sizes := p.Model.Domain().Sizes()
	tree, cells, err := newTree(sizes, p.Model.Cliques())
	if err != nil {
		return nil, nil, err
	}
	t := &target{tree: tree, scale: p.Model.Total()}
	if t.evidence, err = newEvidence(sizes, tree, p.Measured, p.Laplace); err != nil {
		return nil, nil, err
	}
	fitted, err := fittedCounts(p.Model, sizes, tree)
	if err != nil {
		return nil, nil, err
	}
	r := &random{words: words}
	c := newChain(t, r, cells+1, func(k *clique, cell int) float64 { return fitted[k][cell] })
	if err := c.warm(ctx); err != nil {
		return nil, nil, err
	}
	var out []*Draw
	var values, totals []float64
	for range draws {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for range between {
			c.move()
		}
		t.counts(c.at)
		d := &Draw{sizes: sizes, tree: tree, total: tree[0].size[0]}
		for _, k := range tree {
			share := make([]float64, len(k.count))
			for b := range k.size {
				part := share[b*k.block:][:k.block]
				r.dirichlet(part, k.count[b*k.block:][:k.block])
				for i := 1; i < len(part); i++ {
					part[i] += part[i-1]
				}
			}
			d.share = append(d.share, share)
		}
		out = append(out, d)
		values, totals = append(values, c.value), append(totals, d.total)
	}
	done := &Diagnosis{Acceptance: c.accepted / float64(c.moved), Apart: max(apart(values), apart(totals))}
	if done.Acceptance < 0.1 {
		return nil, done, ErrStuck
	}
	return out, done, nil
}

// fittedCounts returns the model's counts in the order of the cells of each clique.
func fittedCounts(m *model.Model, sizes []int, tree []*clique) (map[*clique][]float64, error) {
	out := map[*clique][]float64{}
	for _, k := range tree {
		sorted := append([]int{}, k.members...)
		sort.Ints(sorted)
		table, err := m.Marginal(sorted...)
		if err != nil {
			return nil, err
		}
		counts := make([]float64, len(table))
		for i, at := range walk(sizes, k.members, sorted) {
			counts[i] = table[at]
		}
		out[k] = counts
	}
	return out, nil
}

// apart returns the z-score of the difference between the means of two halves.
func apart(values []float64) float64 {
	half := len(values) / 2
	if half < 4 {
		return 0
	}
	moments := func(v []float64) (mean, variance float64) {
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			variance += (x - mean) * (x - mean) / float64(len(v)-1) / float64(len(v))
		}
		return mean, variance
	}
	a, va := moments(values[:half])
	b, vb := moments(values[len(values)-half:])
	if va+vb == 0 {
		return 0
	}
	return math.Abs(a-b) / math.Sqrt(va+vb)
}

// Total returns the number of real rows in this draw.
func (d *Draw) Total() float64 { return d.total }

// Sample draws rows, as model.Model.Sample does. Each row is drawn for itself, because the rules that combine estimates
// rely on the variance of independent rows: the way of drawing has no effect.
func (d *Draw) Sample(rows int64, _ model.Drawing, source model.Words, yield func(columns [][]int32) error) error {
	n := int(min(rows, model.Batch))
	columns := make([][]int32, len(d.sizes))
	for a := range columns {
		columns[a] = make([]int32, n)
	}
	r := &random{words: source}
	for ; rows > 0; rows -= int64(n) {
		n = int(min(rows, model.Batch))
		for a := range columns {
			columns[a] = columns[a][:n]
		}
		for i := range n {
			for k, c := range d.tree {
				block := 0
				for _, a := range c.members[:c.shared] {
					block = block*d.sizes[a] + int(columns[a][i])
				}
				part := d.share[k][block*c.block:][:c.block]
				u := r.uniform() * part[len(part)-1]
				cell := sort.Search(len(part)-1, func(j int) bool { return part[j] > u })
				for j := len(c.members) - 1; j >= c.shared; j-- {
					a := c.members[j]
					columns[a][i], cell = int32(cell%d.sizes[a]), cell/d.sizes[a]
				}
			}
		}
		if err := yield(columns); err != nil {
			return err
		}
	}
	return nil
}
