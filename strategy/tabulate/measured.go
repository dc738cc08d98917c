package tabulate

import (
	"math/big"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/strategy/table"
)

// maxShared is the largest number of cells of the histogram over all classifications that all parts of a measurement
// read. Larger ones are read once for each set of classifications.
const maxShared = 1 << 18

// part returns the measurement of a margin. Its strategy adds up leaves to nodes of the level, and sums over the
// classifications that the margin lacks. If the histogram over all keys is small, all parts share it, so that the rows
// are read once.
func (g *group) part(m table.Margin) (curator.StrategyPart, error) {
	h := g.space.Hierarchy
	cells := float64(h.Nodes(0))
	for _, c := range g.classes {
		cells *= float64(c.tree.Nodes(0))
	}
	shared := cells <= maxShared
	var out curator.StrategyPart
	var product linear.Product
	offset := 0
	if g.places != nil {
		offset = 1
		switch top := len(h.Levels) - 1; {
		case m.Level == top && h.Nodes(top) == 1 && !shared:
		default:
			f, err := sums(h, m.Level)
			if err != nil {
				return out, err
			}
			product, out.Keys = append(product, f), append(out.Keys, 0)
		}
	}
	for k, c := range g.classes {
		switch l := g.space.LevelOf(m.Keys, k); {
		case l < len(c.depth):
			f, err := sums(c.tree, c.depth[l])
			if err != nil {
				return out, err
			}
			product = append(product, f)
		case shared:
			product = append(product, linear.Total(c.tree.Nodes(0)))
		default:
			continue
		}
		out.Keys = append(out.Keys, k+offset)
	}
	if len(product) == 0 {
		product = linear.Product{linear.Identity(1)}
	}
	var err error
	if out.Queries, err = linear.NewStrategy(product); err != nil {
		return out, misuse("tabulate fewer places or classifications", "%v", err)
	}
	return out, nil
}

// sums returns the matrix that adds up leaves to the nodes of a level.
func sums(h *table.Hierarchy, level int) (linear.Matrix, error) {
	if level == 0 {
		return linear.Identity(h.Nodes(0)), nil
	}
	rows := make([][]linear.Run, h.Nodes(level))
	for leaf, node := range h.Ancestor(level) {
		if n := len(rows[node]); n > 0 && rows[node][n-1].To == leaf {
			rows[node][n-1].To++
			continue
		}
		rows[node] = append(rows[node], linear.Run{From: leaf, To: leaf + 1, Value: 1})
	}
	return linear.NewMatrix(h.Nodes(0), rows)
}

// strategy returns the measurement of the chosen options, with their shares of the price as weights.
func (g *group) strategy() (curator.Strategy, error) {
	out := curator.Strategy{Request: g.request}
	for _, j := range g.measured {
		p, err := g.part(g.options[j].Margin)
		if err != nil {
			return out, err
		}
		share := g.choice.Candidates[g.choice.Chosen].Shares[j] // a multiple of 1/table.Parts
		p.Weight = new(big.Rat).Mul(share, big.NewRat(table.Parts, 1)).Num().Int64()
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}
