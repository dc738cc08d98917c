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

// Vectors asks for sums of the rows' vectors: SELECT x1, x2, y FROM t WHERE … GROUP BY region. Each item of the
// SELECT list is a coordinate, with bounds from the policy or the expression. A row with a NULL coordinate does not
// count. The keys of GROUP BY must be known.
type Vectors struct {
	Request
	Blocks []Block // consecutive coordinates; together the blocks contain all coordinates
	Sums   []Sum   // the sums to release. Each is one noisy vector with a share of the price
	// Centres makes one cell per centre instead of GROUP BY. Each row belongs to the cell of the centre nearest to
	// its first block, by Euclidean distance; the first centre wins a tie. At most 64. The centres are rounded to
	// the block's grid.
	Centres [][]float64
}

// The norms of a Block.
const (
	L1 = "l1"
	L2 = "l2"
)

// Block is a run of consecutive coordinates with one bound on their norm. The noise of a sum over the block grows
// with the bound. A row with a longer vector is scaled down to the bound.
type Block struct {
	Size  int
	Norm  string // L1 or L2
	Bound string // the bound, a decimal. "" is the norm that the coordinates' own ranges imply; then no row is scaled
}

// Sum is one sum over the rows that count. Make one with [Count], [First] or [Product].
type Sum struct {
	Kind   string // "count", "first" or "product"
	I, J   int    // indices of blocks, from 0
	Weight string // the weight of its share of the price, a decimal; "" is 1
}

// Count returns the sum that counts the rows.
func Count() Sum { return Sum{Kind: string(bounded.SumOne)} }

// First returns the sum Σx over the vectors x of block i.
func First(i int) Sum { return Sum{Kind: string(bounded.SumFirst), I: i} }

// Product returns the sum Σ x yᵀ over the vectors x of block i and y of block j, row by row. If i equals j, it is
// the upper triangle with the diagonal.
func Product(i, j int) Sum { return Sum{Kind: string(bounded.SumProduct), I: i, J: j} }

// Weighing returns s with a weight for its share of the price.
func (s Sum) Weighing(weight string) Sum {
	s.Weight = weight
	return s
}

// Moments are released sums of the rows' vectors.
type Moments struct {
	ID string
	// for each cell, the values of its keys in the order of GROUP BY; with Centres, the index of the centre, from 0
	Cells    [][]any
	Possible Possible
	Sums     []NoisySum // in the order of Vectors.Sums
	// the number of rows that count, if it is a declared constant of the policy; else 0. It has no noise and no price
	DeclaredUnits int64
	Limits        *Limits // what bounds the release
	Price         Loss
	Remaining     Loss
	Replayed      bool
}

// NoisySum is one noisy vector over all cells (groups).
type NoisySum struct {
	Name   string
	Values [][]*big.Int // by cell, then by entry, in units of Unit
	Unit   *big.Rat
	Noise  noise.Distribution // the noise, independent for each value, in units of Unit
	// OffDiagonal is the noise of the off-diagonal entries of a block's product with itself. Under ρ its variance
	// is half of that of Noise, at no cost. nil for other sums.
	OffDiagonal noise.Distribution
	Loss        Loss // the sum's share of the price
}

// Reals returns the values of a cell in the sum's own unit.
func (s NoisySum) Reals(cell int) (out []float64) {
	for _, v := range s.Values[cell] {
		x, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v), s.Unit).Float64()
		out = append(out, x)
	}
	return out
}

// Moments releases sums of the rows' vectors. Each sum has one sensitivity for all its entries, derived from the
// norms of the blocks. This needs less noise than a [Session.Measure] of each coordinate and product.
//
// Where the policy declares the number of rows ([Moments.DeclaredUnits]), a question without [Count] divides its whole price
// among the other sums. [Session.ExplainMoments] says so before anything is spent.
//
// By composition, the loss is the price: the sums' shares add up to it. The cells and entries of a sum form one
// vector under one mechanism, and the plan proves its sensitivity. The mechanism is mechanism.Laplace or
// mechanism.Gaussian, or mechanism.SymmetricGaussian for a block's product with itself. The norms are enforced on
// integers, row by row.
func (c *Session) Moments(ctx context.Context, v Vectors) (*Moments, error) {
	if err := c.asks(&v.Analyst); err != nil {
		return nil, err
	}
	c.timed(&v.SQL)
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
	out := &Moments{
		ID: s.Name(), Possible: m.Reachable(), DeclaredUnits: m.Declared, Limits: c.limitsOf(&m.Statement), Price: c.loss(m.Price), Replayed: s.Replayed,
	}
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

// vectorRequest parses the blocks' bounds and the sums' weights.
func vectorRequest(v Vectors) (out plan.VectorRequest, err error) {
	number := func(text, what string) *big.Rat {
		if text == "" || err != nil {
			return nil
		}
		r, wrong := exact.ParseDecimal(text)
		if wrong != nil {
			err = &Error{
				Code: CodeUsage, Message: fmt.Sprintf("%q is not a valid %s", text, what), Hint: "write a decimal, such as 2.5",
			}
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

// sumsOf returns the sums of a plan, without values.
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
