package quantile

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Sought is a quantile that is sought in each cell: the value at rank Rank·n of the cell's n values, counted in rows.
type Sought struct {
	Rank    *big.Rat        // the relative rank, from 0 (the least value) to 1 (the greatest)
	Epsilon privacy.Epsilon // the loss of the value
	// Width is the loss of the half-width of an interval around the value, which misses the quantile with probability
	// at most Miss, above 0 and below ½. If it is 0, there is none.
	Width privacy.Epsilon
	Miss  *big.Rat
}

// Cells releases the sought quantiles in each of several cells (groups of rows). Each value is drawn by the exponential
// mechanism, as in Single [Smith 2011], independently of the others, in two passes over the data. Half-widths are then
// drawn as in [Ladder], in further passes.
//
// Let n be a cell's number of values, and r = q·n the sought position. Let B(o) and A(o) be as in Single. The candidate
// o is drawn with probability ∝ exp(−ε·d(o)/(2Δ)), exactly, where
//
//	d(o) = max(0, B(o) − r, r − A(o)).
//
// Some o has d(o) = 0: since A(o) = B(o + 1), the ranges from B(o) to A(o) cover the line from 0 to n.
//
// Privacy: let a unit have c_k rows in cell k, Σ c_k ≤ m = MaxRows, and let w = max(q, 1 − q).
//
// Under AddRemove, an additional row in cell k changes B(o) − r and r − A(o) by q or by 1 − q, up or down.
// So c_k rows change d by at most w·c_k. With Δ = w·m, the logarithm of each
// weight changes by at most ε·c_k/(2m). The draw in cell k is (ε·c_k/m)-differentially private and
// (ε·c_k/m)-bounded-range (see Single). Neighbours differ only in the unit's own rows. Given the data, the draws of
// the cells are independent. Together they lose Σ_k ε·c_k/m ≤ ε. Under zCDP they lose Σ_k (ε·c_k/m)²/8 ≤ ε²/8 ·
// (Σ_k c_k/m)² ≤ ε²/8.
//
// Under ChangeOne, r_k rows leave cell k and s_k rows come, with Σ r_k ≤ m and Σ s_k ≤ m. This changes d by at most
// w·(r_k + s_k). With Δ = 2·w·m the argument is as above, since Σ (r_k + s_k) ≤ 2m. If there is a single cell, d
// changes by at most m, as Single shows, so Δ = m.
//
// A half-width is drawn with the score −d_k of halfWidths, which the unit's rows in a cell change by as much as those of
// the value, and the same Δ serves. The values are released before.
//
// So each position costs its Epsilon and its Width for all cells together. These losses, and those of the positions, add
// up [Dwork & Roth 2014, Theorem 3.16; under zCDP, Bun & Steinke 2016, Lemma 1.7].
type Cells struct {
	Domain
	mechanism.Unit // MaxRows bounds a unit's rows in all cells together
	Cells          int
	Sought         []Sought // at most 255 positions; the denominator of each rank is at most 10,000
}

// CellValues is the release of Cells. Values[k][i] is the value of cell k at position i of Cells.Sought, an integer
// of the domain. HalfWidths[k][i] is the half-width of the interval around it, or 0 if the position has none.
type CellValues struct {
	Values, HalfWidths [][]int64
	Loss               privacy.Loss // the loss of all values and half-widths together
}

// maxCellDraws is the most races that run at once.
const maxCellDraws = 1 << 20

func (m Cells) check() error {
	if len(m.Sought) < 1 || len(m.Sought) > maxRanks || m.Cells < 1 || m.Cells > maxCellDraws/len(m.Sought) {
		return fmt.Errorf("%w: a cell needs 1 to %d sought positions, and all cells together at most %d",
			mechanism.ErrParameter, maxRanks, maxCellDraws)
	}
	for _, s := range m.Sought {
		if err := checkRelease(m.Domain, m.Unit, s.Epsilon); err != nil {
			return err
		}
		if q := s.Rank; q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0 ||
			q.Denom().Cmp(big.NewInt(maxDenominator)) > 0 {
			return fmt.Errorf("%w: a rank must be between 0 and 1, with a denominator of at most %d",
				mechanism.ErrParameter, maxDenominator)
		}
	}
	_, err := m.widths()
	return err
}

// Sensitivity returns Δ for a rank: the most that one unit changes the distances d (see [Cells]), over all cells
// together, in rows.
func (m Cells) Sensitivity(rank *big.Rat) *big.Rat {
	rows := new(big.Rat).SetInt64(m.MaxRows)
	if m.Neighbours == privacy.ChangeOne && m.Cells == 1 {
		return rows
	}
	w := new(big.Rat).Sub(big.NewRat(1, 1), rank)
	if w.Cmp(rank) < 0 {
		w.Set(rank)
	}
	if m.Neighbours == privacy.ChangeOne {
		w.Add(w, w)
	}
	return rows.Mul(rows, w)
}

// Release draws the values. The error is ErrParameter or comes from the scan.
func (m Cells) Release(data mechanism.OrderedCells) (CellValues, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Cells) release(src *entropy.Source, data mechanism.OrderedCells) (CellValues, error) {
	if err := m.check(); err != nil {
		return CellValues{}, err
	}
	if opaque.CellsOf(data) != m.Cells {
		return CellValues{},
			fmt.Errorf("%w: the data have %d cells, not %d", mechanism.ErrParameter, opaque.CellsOf(data), m.Cells)
	}
	rows, err := eachCell(data, m.Domain, func(int, int64, int64) {})
	if err != nil {
		return CellValues{}, err
	}
	races := m.races(src, len(rows))
	places := m.places(rows, func(i int) entering { return races[i].Enter })
	again, err := eachCell(data, m.Domain, func(cell int, value, count int64) {
		for i := range m.Sought {
			places[cell*len(m.Sought)+i].value(value, count)
		}
	})
	if err == nil && !slices.Equal(rows, again) {
		err = mechanism.ErrOrder
	}
	if err != nil {
		return CellValues{}, err
	}
	out := CellValues{Values: make([][]int64, m.Cells), Loss: m.loss()}
	for i := range places {
		p := &places[i]
		p.end()
		cell := i / len(m.Sought)
		out.Values[cell] = append(out.Values[cell], races[i].First+int64(src.Below64(races[i].Width)))
	}
	out.HalfWidths, err = m.halfWidths(src, data, rows, out.Values)
	return out, err
}

func (m Cells) loss() (out privacy.Loss) {
	for _, s := range m.Sought {
		out = out.Plus(privacy.PureLoss(s.Epsilon.Plus(s.Width)))
	}
	return out
}

// BoundedRange returns the loss under zCDP: the sum of ε²/8 over all draws of the positions, a quarter of the ε²/2 of a pure
// loss [Cesar & Rogers 2021].
func (m Cells) BoundedRange() privacy.Loss {
	var out privacy.Rho
	for _, s := range m.Sought {
		out = out.Plus(s.Epsilon.BoundedRange()).Plus(s.Width.BoundedRange())
	}
	return privacy.ZCDPLoss(out, privacy.Delta{})
}

// RankError returns a bound on the rank error d of position i in any one cell (see [Cells]), which holds with
// probability at least 1 − beta. It is 2Δ(ln N + ln(1/β))/ε for N candidates, in rows, rounded up. The proof is
// that of Single.RankError. The error is ErrParameter.
func (m Cells) RankError(i int, beta float64) (float64, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	if i < 0 || i >= len(m.Sought) {
		return 0, fmt.Errorf("%w: there is no such sought position", mechanism.ErrParameter)
	}
	return rankError(m.Sensitivity(m.Sought[i].Rank), m.Sought[i].Epsilon, m.Domain, beta), nil
}

// entering is a function that enters a range of candidates with the same score in a race.
type entering func(first int64, width uint64, score int64)

// draw groups the candidates of one draw by their scores, in increasing order of the candidates.
type draw struct {
	enter  entering
	in     Domain
	sought int64 // r·den, where r is the sought position
	den    int64
	below  int64 // the number of rows whose value is below next
	next   int64 // the least candidate that has not been entered
}

// places returns one draw per cell and position: the cells in order, and within a cell the positions in the order
// of Sought. enter(i) enters the candidates of draw i.
func (m Cells) places(rows []int64, enter func(i int) entering) []draw {
	out := make([]draw, 0, len(rows)*len(m.Sought))
	for _, n := range rows {
		for _, s := range m.Sought {
			at, den := s.Rank.Num().Int64(), s.Rank.Denom().Int64()
			out = append(out, draw{enter(len(out)), m.Domain, at * n, den, 0, m.Lower})
		}
	}
	return out
}

// races returns one race per cell and position, in the order of places.
func (m Cells) races(src *entropy.Source, cells int) []sample.Contest {
	var rates []*big.Rat
	for _, s := range m.Sought {
		rate := rateOf(s.Epsilon, m.Sensitivity(s.Rank))
		// scores are in units of 1/den of a row
		rates = append(rates, rate.Quo(rate, new(big.Rat).SetInt(s.Rank.Denom())))
	}
	out := make([]sample.Contest, cells*len(rates))
	for i := range out {
		out[i] = sample.NewContest(src, rates[i%len(rates)])
	}
	return out
}

// score returns −d·den of a candidate, or of each candidate of a range, where d is the rank error of [Cells] and den the
// denominator of the rank of the position. Rows are at most 2⁴⁰ and den is at most 10,000, so all numbers are below 2⁵⁴.
func (p *draw) score(below, upTo int64) int64 {
	return -max(0, p.den*below-p.sought, p.sought-p.den*upTo)
}

// value enters the gap before a value that has rows, and the value itself.
func (p *draw) value(value, count int64) {
	p.gap(value)
	p.enter(value, 1, p.score(p.below, p.below+count))
	p.below += count
	p.next = value + 1
}

// end enters the gap after the last value.
func (p *draw) end() { p.gap(p.in.Upper + 1) }

// gap enters the candidates in [p.next, until), if there are any. The difference is correct even if until exceeds the
// largest int64 and wraps around.
func (p *draw) gap(until int64) {
	if width := uint64(until) - uint64(p.next); width > 0 {
		p.enter(p.next, width, p.score(p.below, p.below))
	}
}
