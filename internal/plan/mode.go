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

// Mode is the most frequent of a value's known values, chosen in every cell. NULL is not a candidate. A candidate's
// score is the number of the cell's rows that have it. One candidate is chosen in each cell, by permute and flip,
// or under zCDP by the exponential mechanism (selection.PermuteAndFlip, selection.Exponential). Both use the weight
// exp(c·score), where c = ε/R under add/remove and c = ε/(2R) under change-one. R is the number of rows of one unit
// that count, over all cells.
//
// Claim: the choices in all cells together cost ε. Proof. Let a unit have c_k rows in cell k, so Σ c_k ≤ R. Under
// add/remove, the scores of cell k all move in one direction, by at most c_k. Either mechanism loses c times the
// length of an interval that contains all moves of its scores (see the proofs there), which is ε·c_k/R. Under
// change-one, r_k rows leave cell k and s_k rows enter it. So that interval has length at most r_k + s_k, and Σ
// (r_k + s_k) ≤ 2R. The loss of the cell is ε·(r_k + s_k)/(2R). The choices in different cells are independent
// given the data, so the losses ε_k add up to at most ε. Under zCDP, the losses of the exponential mechanism are
// bounded ranges, of cost Σ ε_k²/8 ≤ (Σ ε_k)²/8 ≤ ε²/8. ∎
type Mode struct {
	Of   bounded.Key // the value, with its known values
	Rows int64       // R, the largest number of rows of one unit that count, over all cells
	Loss privacy.Loss

	text string // the result of String, which may have thousands of values
}

// mode returns the released value of a mode, and adds the mode if it is new.
func (b *measuring) mode(x query.Expr) (*Post, error) {
	e, err := b.Row(x)
	if err != nil {
		return nil, err
	}
	if bind.IsUntypedNull(e) {
		return nil, bind.Refuse(x.Pos(), "", "NULL cannot be aggregated")
	}
	k, err := b.Key(e, x.Pos())
	if err != nil {
		hint := "or choose among intervals: MODE() WITHIN GROUP (ORDER BY FLOOR(x / width))"
		if e.Type == value.Text {
			hint = "or group by it, and count: GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1"
		}
		return nil, bind.Refuse(x.Pos(), "the owner can declare the column's values in the policy; "+hint,
			"MODE chooses among known values, and the values of this expression are not known")
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

// String returns the mode's canonical text, without its share of the price.
func (m *Mode) String() string { return m.text }

// Epsilon returns the ε of the choice in one cell (group), which is also the ε of the choices in all cells together. It
// is the loss of a pure mode, and √(8ρ) under zCDP, by bounded range.
func (m *Mode) Epsilon() privacy.Epsilon {
	if e, pure := m.Loss.Pure(); pure {
		return e
	}
	rho, _ := m.Loss.ZCDP()
	return rho.Pure().Times(2)
}

// Shortfall returns a bound on how many rows fewer the chosen value has than the most frequent one, in one group. The
// bound fails with probability at most alpha. It is (ln k + ln(1/alpha))/c, rounded up, for k values and the weight
// exp(c·score) of the type comment (selection.Exponential.Shortfall).
func (m *Mode) Shortfall(n privacy.Neighbours, alpha float64) float64 {
	reach := m.Rows
	if n == privacy.ChangeOne {
		reach *= 2
	}
	scale := new(big.Rat).Quo(new(big.Rat).SetInt64(reach), m.Epsilon().Rat())
	log := exact.SubUp(exact.LogUp(float64(len(m.Of.Values))), exact.LogDown(alpha))
	return exact.MulUp(log, exact.FloatUp(scale))
}
