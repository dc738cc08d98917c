package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
)

// Explanation states the price of clusters, and the noise on the numbers from which they are computed. It depends
// on the request, the policy and the ledger, never on rows. Obtaining it is free.
type Explanation struct {
	Method   string   `json:"method"`
	Columns  []string `json:"columns"`
	Accesses []Access `json:"looks"`
	// Buckets holds the number of buckets of each column in the grid method. It is nil if these numbers depend on a
	// noisy count.
	Buckets    []int         `json:"buckets,omitempty"`
	Price      curator.Loss  `json:"price"`  // price of all accesses together
	Unpaid     *curator.Loss `json:"unpaid"` // price of the accesses without an earlier release; nil if there are none
	Remaining  curator.Loss  `json:"remaining"`
	Affordable bool          `json:"affordable"`
	Largest    string        `json:"largest_epsilon"` // largest ε that one question can cost now
	Replayed   bool          `json:"replayed"`        // all accesses are replays, so they cost nothing now
	Unit       curator.Unit  `json:"-"`
	Notes      []string      `json:"notes"`
}

// Access is one access to the rows, or several accesses of the same kind.
type Access struct {
	What  string      `json:"what"`
	Times int         `json:"times"`
	Price json.Number `json:"price"` // price of each access, in the budget's ε or ρ
	// Count is the standard deviation of the noise on each cell's count. Sums are the standard deviations of the
	// noise on a cell's sums of the columns. The sums are relative to the middle of each column's bounds, in the
	// column's own units. Sums is nil if the access measures only counts.
	Count float64   `json:"stddev_count"`
	Sums  []float64 `json:"stddev_sums,omitempty"`
}

// ExplainKMeans states what KMeans would cost. It spends nothing.
func ExplainKMeans(ctx context.Context, c *curator.Session, of Request) (*Explanation, error) {
	s, err := newKernelSource(ctx, c, of)
	if err != nil {
		return nil, err
	}
	done, unpaid, err := s.rehearse(ctx)
	if err != nil {
		return nil, err
	}
	if done != nil {
		unpaid = len(s.parts) - 1 // any step will do, because its price is not reported: only the remaining budget is
	}
	room, err := s.roomFor(ctx, unpaid)
	if err != nil {
		return nil, err
	}
	out := &Explanation{
		Method: s.task.method, Price: s.price, Unpaid: &room.Price, Remaining: room.Remaining,
		Affordable: room.Affordable || done != nil,
		Largest:    room.Largest, Replayed: done != nil, Unit: room.Unit, Notes: s.notes(),
	}
	if out.Replayed {
		out.Unpaid = nil
	}
	for _, c := range s.columns {
		out.Columns = append(out.Columns, c.Name)
	}
	if err := s.explainLooks(ctx, out); err != nil {
		return nil, err
	}
	for _, n := range room.Notes {
		if !strings.Contains(n, "block 1") { // the note on the radius, which s.notes words differently
			out.Notes = append(out.Notes, n)
		}
	}
	return out, nil
}

// explainLooks adds the accesses and their noise to an explanation.
func (s *kernelSource) explainLooks(ctx context.Context, out *Explanation) error {
	// two arbitrary cells, because the noise is the same in all cells
	two := [][]float64{make([]float64, s.task.d), make([]float64, s.task.d)}
	two = two[:min(2, s.task.k)]
	halves := &treeNode{below: &treeNode{}, beyond: &treeNode{leaf: 1}}
	total := access{kind: allRows, sums: true}
	var looks []access
	var names []string
	switch s.task.method {
	case MethodLloyd:
		looks, names = []access{{kind: byCentre, centres: two, sums: true}}, []string{"rows nearest to each centre"}
	case MethodGrid:
		if s.task.rows <= 0 {
			looks, names = append(looks, access{kind: allRows}), append(names, "all rows")
		}
		looks, names = append(looks, access{kind: byBucket, buckets: s.task.twos()}),
			append(names, "rows in each cell of a grid")
	default:
		planes := randomPlanes(s.task, make([]float64, s.task.d))
		looks = []access{
			total,
			{kind: bySide, planes: planes},
			{kind: byLeaf, planes: planes, tree: halves, leaves: 2, sums: true},
		}
		names = []string{"all rows", fmt.Sprintf("rows on each side of %d planes", len(planes)), "rows in each group"}
	}
	for i, l := range looks {
		count, sum, err := s.deviation(ctx, i, l)
		if err != nil {
			return err
		}
		price := s.shares[i].Epsilon
		if s.shares[i].Rho != "" {
			price = s.shares[i].Rho
		}
		if r, err := exact.ParseDecimal(price); err == nil && r.Cmp(new(big.Rat)) > 0 {
			price = exact.FormatRat(exact.CeilDigits(r, 6))
		}
		look := Access{What: names[i], Times: 1, Count: count, Price: json.Number(price)}
		if s.task.method == MethodLloyd {
			look.Times = s.task.iterations
		}
		if l.sums {
			for _, c := range s.columns {
				look.Sums = append(look.Sums, sum*c.Half)
			}
		}
		if l.kind == byBucket && s.task.rows > 0 {
			out.Buckets = gridBuckets(s.task, s.task.rows, count)
		}
		out.Accesses = append(out.Accesses, look)
	}
	return nil
}
