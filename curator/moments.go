package curator

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/noise"
)

// Vectors asks for sums of rows' vectors: SELECT x1, x2, y FROM t WHERE … GROUP BY region. The SELECT list are coordinates, each with bounds
// that the policy or the expression gives; a row in which one is NULL does not count. The keys of GROUP BY have known values.
type Vectors struct {
	Request
	Blocks []Block // of consecutive coordinates: together all of them
	Sums   []Sum   // what is added up, each one noisy vector with a share of the price
	// Centres gives each row to the cell of the nearest of them to its first block, by the Euclidean distance; of equally near ones to the
	// first. At most 64; none goes with GROUP BY. They are rounded to the block's grid.
	Centres [][]float64
}

// The norms of a Block.
const (
	L1 = "l1"
	L2 = "l2"
)

// Block is consecutive coordinates whose norm is bounded together: the noise on what they are in grows with the bound. A row whose vector
// is longer is scaled down to it.
type Block struct {
	Size  int
	Norm  string // L1 or L2
	Bound string // a decimal; "" is what the coordinates' own ranges give, with which no row is scaled
}

// Sum is one sum over the rows that count. Make one with Count, First or Product.
type Sum struct {
	Kind   string // "count", "first" or "product"
	I, J   int    // blocks, from 0
	Weight string // of its share of the price, a decimal; "" is 1
}

// Count is the number of rows that count.
func Count() Sum { return Sum{Kind: string(bounded.SumOne)} }

// First is Σx of block i.
func First(i int) Sum { return Sum{Kind: string(bounded.SumFirst), I: i} }

// Product is Σ x yᵀ of blocks i and j, row by row; where they are the same its upper triangle, with the diagonal.
func Product(i, j int) Sum { return Sum{Kind: string(bounded.SumProduct), I: i, J: j} }

// Weighing is s with a weight.
func (s Sum) Weighing(weight string) Sum {
	s.Weight = weight
	return s
}

// Moments are released sums of rows' vectors.
type Moments struct {
	ID        string
	Cells     [][]any    // of each cell its keys' values, in the order of GROUP BY; of centres their number, from 0
	Sums      []NoisySum // in the order of Vectors.Sums
	Price     Loss
	Remaining Loss
	Replayed  bool
}

// NoisySum is one noisy vector over all cells.
type NoisySum struct {
	Name   string
	Values [][]*big.Int // by cell, then entry, in Units
	Unit   *big.Rat
	Noise  noise.Distribution // of each value independently, in Units
	// OffDiagonal is that of the entries off the diagonal of a block's product with itself: under ρ their noise has half of
	// the variance, at no cost. Nil for other sums.
	OffDiagonal noise.Distribution
	Loss        Loss // the sum's share of the price
}

// Moments adds up rows' vectors with one sensitivity for all entries of each sum, from the norms of their blocks: less noise than a Measure of
// each coordinate and product would have. It is the first primitive, Measure, for vectors.
//
// Its loss is the price by composition: the sums' shares add up to it, each sum's cells and entries are one vector under one mechanism
// (mechanism.Laplace, mechanism.Gaussian, or mechanism.SymmetricGaussian for a block's product with itself), whose sensitivity the
// plan proves. The norms are enforced on integers, row by row.
func (c *Session) Moments(ctx context.Context, v Vectors) (*Moments, error) {
	if err := c.asks(&v.Analyst); err != nil {
		return nil, err
	}
	ctx = c.kernel.Arrives(ctx)
	of, err := c.moments(v)
	if err != nil {
		return nil, c.public(err)
	}
	m := of.Plan()
	s, err := c.take(ctx, of)
	if err != nil {
		return nil, err
	}
	out := &Moments{ID: s.Name(), Price: c.loss(m.Price), Replayed: s.Replayed}
	for i := range m.Cells() {
		out.Cells = append(out.Cells, keyValues(m.GroupKeys(i)))
	}
	if out.Sums, err = c.sumsOf(m); err != nil {
		return nil, c.after(s, err)
	}
	for _, row := range s.Numbers {
		for i, sum := range m.Sums {
			n := len(m.RowVectors.Terms(&sum.VectorSum))
			out.Sums[i].Values = append(out.Sums[i].Values, row[:n:n])
			row = row[n:]
		}
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// moments plans a question about vectors.
func (c *Session) moments(v Vectors) (*release.Vectors, error) {
	request, err := c.request(v.Question())
	if err != nil {
		return nil, err
	}
	of, err := vectorRequest(v)
	if err != nil {
		return nil, err
	}
	m, err := plan.BuildMoments(c.filled(), request, of)
	if err != nil {
		return nil, err
	}
	by := v.asker()
	var names []string
	for _, s := range m.Sums {
		names = append(names, s.Name())
	}
	by.Question = fmt.Sprintf("sums of vectors (%s): %s", strings.Join(names, ", "), v.SQL)
	return c.kernel.Vectors(m, by)
}

// vectorRequest reads a question's numbers.
func vectorRequest(v Vectors) (out plan.VectorRequest, err error) {
	number := func(text, what string) *big.Rat {
		if text == "" || err != nil {
			return nil
		}
		r, wrong := exact.ParseDecimal(text)
		if wrong != nil {
			err = &Error{Code: CodeUsage, Message: fmt.Sprintf("%q is no %s", text, what), Hint: "write a decimal such as 2.5"}
		}
		return r
	}
	for _, b := range v.Blocks {
		out.Blocks = append(
			out.Blocks,
			plan.BlockRequest{Size: b.Size, Norm: bounded.Norm(b.Norm), Bound: number(b.Bound, "bound")},
		)
	}
	for _, s := range v.Sums {
		out.Sums = append(
			out.Sums,
			plan.SumRequest{Kind: bounded.SumKind(s.Kind), I: s.I, J: s.J, Weight: number(s.Weight, "weight")},
		)
	}
	out.Centres = v.Centres
	return out, err
}

// sumsOf are a plan's sums without their values.
func (c *Session) sumsOf(m *plan.Moments) (out []NoisySum, err error) {
	for _, s := range m.Sums {
		n := NoisySum{Name: s.Name(), Unit: m.RowVectors.Unit(&s.VectorSum), Loss: c.loss(s.Loss)}
		parameter := s.Parameter
		if n.Noise, err = s.Noise.Distribution(parameter); err != nil {
			return nil, err
		}
		if s.Symmetric() {
			if s.Noise == plan.Gaussian {
				parameter = new(big.Rat).Quo(parameter, big.NewRat(2, 1))
			}
			if n.OffDiagonal, err = s.Noise.Distribution(parameter); err != nil {
				return nil, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}
