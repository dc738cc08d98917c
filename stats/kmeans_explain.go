package stats

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
)

// ClusteringExplanation is what clusters would cost, and how noisy what they are found from would be. It spends nothing, and is computed from the question, the
// policy and the ledger: never from rows.
type ClusteringExplanation struct {
	Method     string
	Columns    []string
	Looks      []ClusteringLook
	Buckets    []int        // of grid, for each column; nil where their number follows from a noisy count
	Price      curator.Loss // of all looks together
	Unpaid     curator.Loss // of those that have not been released before
	Remaining  curator.Loss
	Affordable bool
	Largest    string // the largest ε that one question can be asked at now
	Replayed   bool   // all of it has been released before, and would be given again at no cost
	Unit       curator.Unit
	Notes      []string
}

// ClusteringLook is one access to the rows, or several that are alike.
type ClusteringLook struct {
	What  string
	Times int
	Price string // of each: an ε or ρ, as the budget's is
	// Count is the standard deviation of the noise in each cell's count; Sums are those in its sums of the columns, in their own units about
	// the middle of their bounds. Nil where there are none.
	Count float64
	Sums  []float64
}

// ExplainKMeans says before spending what KMeans would cost.
func ExplainKMeans(ctx context.Context, c *curator.Curator, of Clustering) (*ClusteringExplanation, error) {
	s, err := newKMCurator(ctx, c, of)
	if err != nil {
		return nil, err
	}
	done, unpaid, err := s.rehearse(ctx)
	if err != nil {
		return nil, err
	}
	if done != nil {
		unpaid = len(s.parts) - 1 // whose price is not asked for: what remains is
	}
	room, err := s.roomFor(ctx, unpaid)
	if err != nil {
		return nil, err
	}
	out := &ClusteringExplanation{
		Method: s.task.method, Price: s.price, Unpaid: room.Price, Remaining: room.Remaining, Affordable: room.Affordable || done != nil,
		Largest: room.Largest, Replayed: done != nil, Unit: room.Unit, Notes: s.notes(),
	}
	if out.Replayed {
		out.Unpaid = curator.Loss{}
	}
	for _, c := range s.columns {
		out.Columns = append(out.Columns, c.Name)
	}
	if err := s.explainLooks(ctx, out); err != nil {
		return nil, err
	}
	for _, n := range room.Notes {
		if !strings.Contains(n, "block 1") { // the radius, of which there is a note in other words
			out.Notes = append(out.Notes, n)
		}
	}
	return out, nil
}

// explainLooks lists the looks with their noise.
func (s *kmCurator) explainLooks(ctx context.Context, out *ClusteringExplanation) error {
	two := [][]float64{make([]float64, s.task.d), make([]float64, s.task.d)} // any two cells: noise is the same in all
	two = two[:min(2, s.task.k)]
	halves := &kmNode{below: &kmNode{}, beyond: &kmNode{leaf: 1}}
	total := kmLook{kind: kmTotal, sums: true}
	var looks []kmLook
	var names []string
	switch s.task.method {
	case KMeansLloyd:
		looks, names = []kmLook{{kind: kmCentres, centres: two, sums: true}}, []string{"rows nearest to each centre"}
	case KMeansGrid:
		if s.task.rows <= 0 {
			looks, names = append(looks, kmLook{kind: kmTotal}), append(names, "all rows")
		}
		looks, names = append(looks, kmLook{kind: kmBuckets, buckets: s.task.kmTwos()}), append(names, "rows in each cell of a grid")
	default:
		planes := kmPlanes(s.task, make([]float64, s.task.d))
		looks = []kmLook{total, {kind: kmSides, planes: planes}, {kind: kmLeaves, planes: planes, tree: halves, leaves: 2, sums: true}}
		names = []string{"all rows", fmt.Sprintf("rows on each side of %d planes", len(planes)), "rows in each group"}
	}
	for i, l := range looks {
		count, sum, err := s.deviation(ctx, i, l)
		if err != nil {
			return err
		}
		look := ClusteringLook{What: names[i], Times: 1, Count: count}
		price := s.shares[i]
		if look.Price = price.Epsilon; price.Rho != "" {
			look.Price = price.Rho
		}
		if r, err := exact.ParseDecimal(look.Price); err == nil && r.Cmp(new(big.Rat)) > 0 {
			look.Price = exact.FormatRat(exact.CeilDigits(r, 6))
		}
		if s.task.method == KMeansLloyd {
			look.Times = s.task.iterations
		}
		if l.sums {
			for _, c := range s.columns {
				look.Sums = append(look.Sums, sum*c.Half)
			}
		}
		if l.kind == kmBuckets && s.task.rows > 0 {
			out.Buckets = kmGridBuckets(s.task, s.task.rows, count)
		}
		out.Looks = append(out.Looks, look)
	}
	return nil
}
