package plan

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Mode is the most frequent of a value's known values, chosen in every cell at once. NULL is none of them. A value's score is how many
// rows of the cell have it, and one value is chosen in each cell, by permute and flip, or under zCDP by the exponential mechanism
// (selection.PermuteAndFlip, selection.Exponential), with the probability of each growing as exp(c·score): c = ε/R under add/remove
// and ε/(2R) under change-one, R the rows that count of one unit, in all cells together.
//
// It costs ε for all cells together. Proof: let a unit have c_k rows in cell k, Σ c_k ≤ R. Under add/remove the scores of cell k all move one
// way, by at most c_k. What either mechanism loses is c times the length of an interval that holds all moves of its scores (the proofs there):
// ε·c_k/R. Under change-one r_k rows leave the cell and s_k come, so that interval has a length of at most r_k + s_k, and Σ (r_k + s_k) ≤
// 2R: the cell's loss is ε·(r_k + s_k)/(2R). Choices in several cells are independent given the data, and the losses ε_k add up to ε
// at most. Under zCDP the exponential mechanism's are bounded ranges, of cost Σ ε_k²/8 ≤ (Σ ε_k)²/8 ≤ ε²/8. ∎
type Mode struct {
	Of   bounded.Key // the value, with its known values
	Rows int64       // R
	Loss privacy.Loss

	text string // what String writes: thousands of values perhaps
}

// mode finds or adds a mode, and is the value that it chooses.
func (b *measuring) mode(x query.Expr) (*Post, error) {
	e, err := b.Row(x)
	if err != nil {
		return nil, err
	}
	if bind.IsUntypedNull(e) {
		return nil, bind.Refuse(x.Pos(), "", "an aggregate of NULL says nothing")
	}
	k, err := b.Key(e, x.Pos())
	if err != nil {
		hint := "or choose among steps: MODE() WITHIN GROUP (ORDER BY FLOOR(x / width))"
		if e.Type == value.Text {
			hint = "or group by it, and count: GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1"
		}
		return nil, bind.Refuse(x.Pos(), "the owner can declare the column's values in the policy; "+hint,
			"MODE chooses among values that are known beforehand, and those of this expression are not")
	}
	k.Values = slices.DeleteFunc(k.Values, func(v value.Value) bool { return v.Null })
	if len(k.Values) == 0 {
		return nil, bind.Refuse(x.Pos(), "", "there is no value to choose from")
	}
	m := &unpricedMode{of: k, text: fmt.Sprintf("mode of %s %q", k.Expr, k.Values)}
	for i, a := range b.aggregates {
		if a.mode != nil && a.mode.String() == m.String() {
			b.claim(claim{parts: []part{a.mode}})
			return &Post{Op: PostAggregate, Type: e.Type, Index: i}, nil
		}
	}
	b.modes = append(b.modes, m)
	b.aggregates = append(b.aggregates, unpricedAggregate{of: ModeFunc, mode: m})
	b.claim(claim{parts: []part{m}})
	return &Post{Op: PostAggregate, Type: e.Type, Index: len(b.aggregates) - 1}, nil
}

// String is the mode's canonical text, without its share of the price.
func (m *Mode) String() string { return m.text }

// Epsilon is the ε of the choice in one cell, which is that of all: its loss, or under zCDP √(8ρ), of bounded range.
func (m *Mode) Epsilon() privacy.Epsilon {
	if e, pure := m.Loss.Pure(); pure {
		return e
	}
	rho, _ := m.Loss.ZCDP()
	return rho.Pure().Times(2)
}

// Shortfall bounds how many rows fewer the chosen value has than the most frequent one, in one cell, but with probability alpha:
// (ln n + ln(1/α))/c for n values, rounded up (selection.Exponential.Shortfall).
func (m *Mode) Shortfall(n privacy.Neighbours, alpha float64) float64 {
	reach := m.Rows
	if n == privacy.ChangeOne {
		reach *= 2
	}
	scale := new(big.Rat).Quo(new(big.Rat).SetInt64(reach), m.Epsilon().Rat())
	log := exact.SubUp(exact.LogUp(float64(len(m.Of.Values))), exact.LogDown(alpha))
	return exact.MulUp(log, exact.FloatUp(scale))
}
