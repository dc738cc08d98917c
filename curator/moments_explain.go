package curator

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// MomentsExplanation states the price and the noise of sums of vectors. It spends nothing. It is computed from the
// question, the policy and the ledger, never from rows.
type MomentsExplanation struct {
	SQL           string
	Cells         [][]any // as in Moments
	Possible      Possible
	Sums          []NoisySum    // without values
	Sensitivities []Sensitivity // one per sum, in the sum's own unit
	Bounds        []BlockBound  // one per block
	DeclaredUnits int64         // as in Moments
	Price         Loss
	Remaining     Loss
	Affordable    bool   // the price is within what remains
	Largest       string // the largest ε that one question can be asked at now
	Replayed      bool   // the answer has been released before, and would be replayed at no cost
	Unit          Unit
	Charged       []string // the parts that the question is charged to; nil if it is charged to everybody
	Notes         []string
}

// Sensitivity is the largest change of a sum by one unit, over all its cells and entries. For a block's product
// with itself under Gaussian noise, L2 counts the off-diagonal entries twice.
type Sensitivity struct{ L1, L2 float64 }

// BlockBound bounds the L1 and L2 norms of a row's vector in a block, after scaling and rounding.
type BlockBound struct {
	L1, L2 float64
	Scaled bool     // longer rows are scaled down, because the coordinates' ranges alone do not imply the bound
	Unit   *big.Rat // the spacing of the grid that coordinates are rounded to
}

// ExplainMoments states the price and the noise of [Session.Moments], at no cost.
func (c *Session) ExplainMoments(_ context.Context, v Vectors) (*MomentsExplanation, error) {
	if err := c.asks(&v.Analyst); err != nil {
		return nil, err
	}
	c.timed(&v.SQL)
	of, err := c.moments(v)
	if err != nil {
		return nil, c.public(err)
	}
	m, l := of.Plan(), of.Look()
	out := &MomentsExplanation{
		SQL: v.SQL, Possible: m.Reachable(), DeclaredUnits: m.Declared, Price: c.loss(m.Price), Charged: charged(l),
	}
	if out.Replayed, err = c.kernel.Explicable(l); err != nil {
		return nil, c.public(err)
	}
	room, err := c.kernel.Room(l)
	if err != nil {
		return nil, c.public(err)
	}
	out.Remaining, out.Largest, out.Affordable = left(room), c.largest(room), out.Replayed || m.Price.Within(room)
	if out.Sums, err = c.sumsOf(m); err != nil {
		return nil, c.public(err)
	}
	for i := range m.Cells() {
		out.Cells = append(out.Cells, keyValues(m.GroupKeys(i)))
	}
	for i, s := range m.Sums {
		unit, _ := out.Sums[i].Unit.Float64()
		out.Sensitivities = append(out.Sensitivities, Sensitivity{unit * float(s.L1), unit * math.Sqrt(float(s.L2Squared))})
	}
	for _, k := range m.RowVectors.Blocks {
		l1, l2squared := m.Norms(k)
		of := bounded.GridUnit(k.Grid)
		unit, _ := of.Float64()
		out.Bounds = append(out.Bounds, BlockBound{unit * float(l1), unit * math.Sqrt(float(l2squared)), k.Scale > 0, of})
	}
	p := &plan.Plan{Statement: m.Statement, Neighbours: m.Neighbours, Price: m.Price}
	out.Unit = c.unit(&asked{Question: v.Question(), plan: p})
	out.Notes = momentsNotes(p, out)
	return out, nil
}

func float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func momentsNotes(p *plan.Plan, of *MomentsExplanation) (notes []string) {
	if p.Unit != nil {
		notes = append(notes, truncation(p))
	}
	for i, b := range of.Bounds {
		if b.Scaled {
			notes = append(
				notes,
				fmt.Sprintf(
					"Rows whose block %d is longer than its bound are scaled down to the bound. The sums are over the scaled rows.",
					i+1,
				),
			)
		}
	}
	if p.Source != nil {
		notes = append(notes, relationNotes(p)...)
	}
	if p.Part != nil {
		notes = append(notes, confinedTo(p))
	}
	return notes
}
