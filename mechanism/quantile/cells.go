package quantile

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Sought is a position in the order of n values: rank Rank·n + Offset, counted in rows. A position before the first
// value is the domain's lower end, and one after the last its upper end.
type Sought struct {
	Rank    *big.Rat // from 0 to 1
	Offset  int64    // in rows, at most 2⁴⁰ in size
	Epsilon privacy.Epsilon
}

// Cells releases values at sought positions in each of several cells, each by the exponential mechanism, as in Single
// [Smith 2011], and independently of the others. All are drawn in two passes over the data.
//
// Let n be a cell's number of values, r = q·n + t what is sought, with t the offset, and B(o) and A(o) as in Single,
// but that nothing is below the domain and nothing above it: B(Lower) = −∞ and A(Upper) = ∞. The candidate o is
// drawn with probability ∝ exp(−ε·d(o)/(2Δ)), exactly, where
//
//	d(o) = max(0, B(o) − r, r − A(o)).
//
// Some o has d(o) = 0: A(o) = B(o + 1), so what the candidates cover, from B(o) to A(o), is the whole line.
//
// Why the ends: since the offset t is a constant and n is not, a rank may fall below 0 or beyond n. It is then at an
// end of the domain, by a definition that does not depend on n. It is as if t further, publicly known rows lay beyond
// either end.
//
// Privacy. Let a unit have c_k rows in cell k, Σ c_k ≤ m = MaxRows, and let w = max(q, 1 − q).
//
// Under AddRemove a row more in cell k moves B(o) − r and r − A(o) by q or by 1 − q one way or the other (or
// B(Lower) and A(Upper) not at all), so c_k rows move d by at most w·c_k. With Δ = w·m the logarithm of each weight
// moves by at most ε·c_k/(2m), and the draw in cell k is (ε·c_k/m)-differentially private, and as much
// bounded-range (see Single). Which rows a unit has in which cell is its own affair, so neighbours differ in these rows
// alone, and the draws of the cells are independent given the data: together they lose Σ_k ε·c_k/m ≤ ε; and under
// zCDP Σ_k (ε·c_k/m)²/8 ≤ ε²/8 · (Σ_k c_k/m)² ≤ ε²/8.
//
// Under ChangeOne r_k rows leave cell k and s_k come, Σ r_k ≤ m and Σ s_k ≤ m, which moves d by at most w·(r_k +
// s_k); with Δ = 2·w·m it is as above, for Σ (r_k + s_k) ≤ 2m. In a single cell, d moves by at most m, as Single
// shows, and Δ = m.
//
// So a sought place costs its Epsilon for all cells together; places add up [Dwork & Roth 2014, Theorem 3.16; under
// zCDP, Bun & Steinke 2016, Lemma 1.7].
type Cells struct {
	Domain
	mechanism.Unit // MaxRows bounds a unit's rows in all cells together
	Cells          int
	Sought         []Sought // at most 765, each rank of a denominator of at most 10,000
}

// CellValues are the released integers of the domain, by cell and sought position.
type CellValues struct {
	Values [][]int64
	Loss   privacy.Loss // of all together
}

// maxCellDraws bounds how many races run at once, and maxSought those in one cell.
const (
	maxCellDraws = 1 << 20
	maxSought    = 3 * maxRanks
)

func (m Cells) check() error {
	if len(m.Sought) < 1 || len(m.Sought) > maxSought || m.Cells < 1 || m.Cells > maxCellDraws/len(m.Sought) {
		return fmt.Errorf("%w: between 1 and %d places in each cell are sought, and at most %d in all",
			mechanism.ErrParameter, maxSought, maxCellDraws)
	}
	for _, s := range m.Sought {
		if err := checkRelease(m.Domain, m.Unit, s.Epsilon); err != nil {
			return err
		}
		if s.Offset < -opaque.MaxRows || s.Offset > opaque.MaxRows {
			return fmt.Errorf("%w: an offset of more than 2^40 rows", mechanism.ErrParameter)
		}
		if q := s.Rank; q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0 ||
			q.Denom().Cmp(big.NewInt(maxDenominator)) > 0 {
			return fmt.Errorf("%w: a rank is between 0 and 1, of a denominator of at most %d",
				mechanism.ErrParameter, maxDenominator)
		}
	}
	return nil
}

// Sensitivity is Δ: the number of rows by which a unit changes the distances d of a rank, over all cells together.
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

// Release draws the values. The error is ErrParameter, or the scan's.
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
			fmt.Errorf("%w: values of %d cells, not of %d", mechanism.ErrParameter, opaque.CellsOf(data), m.Cells)
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
	return out, nil
}

func (m Cells) loss() (out privacy.Loss) {
	for _, s := range m.Sought {
		out = out.Plus(privacy.PureLoss(s.Epsilon))
	}
	return out
}

// BoundedRange is the loss as zCDP: the sum of ε²/8 instead of the ε²/2 of a pure loss [Cesar & Rogers 2021].
func (m Cells) BoundedRange() privacy.Loss {
	var out privacy.Rho
	for _, s := range m.Sought {
		out = out.Plus(s.Epsilon.BoundedRange())
	}
	return privacy.ZCDPLoss(out, privacy.Delta{})
}

// RankError bounds d of the i-th sought position in any one cell, except with probability at most beta: 2Δ(ln N +
// ln(1/β))/ε for N candidates, rounded up, in rows. The proof is that of Single.RankError. The error is ErrParameter.
//
// So with an offset of −t, t ≥ that bound, the value that is drawn has B(o) ≤ q·n, and with t + 1, B(o) ≤ q·n
// − 1: it is not above the values around the rank q·n, but with probability at most beta. (Lower is never above. If
// any other o is drawn with d(o) ≤ t, then B(o) − (q·n − t) ≤ t.) Likewise a value at an offset of t is not
// below.
func (m Cells) RankError(i int, beta float64) (float64, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	if i < 0 || i >= len(m.Sought) {
		return 0, fmt.Errorf("%w: no such place", mechanism.ErrParameter)
	}
	return rankError(m.Sensitivity(m.Sought[i].Rank), m.Sought[i].Epsilon, m.Domain, beta), nil
}

// entering takes a run of candidates of one score.
type entering func(first int64, width uint64, score int64)

// draw groups the candidates of one draw by their scores, in increasing order.
type draw struct {
	enter  entering
	in     Domain
	sought int64 // r·den
	den    int64
	below  int64 // rows below next
	next   int64 // the least candidate that has not entered
}

// places are those sought, by cell and then as in Sought, each with what its candidates enter.
func (m Cells) places(rows []int64, enter func(i int) entering) []draw {
	out := make([]draw, 0, len(rows)*len(m.Sought))
	for _, n := range rows {
		for _, s := range m.Sought {
			at, den := s.Rank.Num().Int64(), s.Rank.Denom().Int64()
			out = append(out, draw{enter(len(out)), m.Domain, at*n + den*s.Offset, den, 0, m.Lower})
		}
	}
	return out
}

// races are those of so many cells, likewise.
func (m Cells) races(src *entropy.Source, cells int) []sample.Contest {
	var rates []*big.Rat
	for _, s := range m.Sought {
		rate := rateOf(s.Epsilon, m.Sensitivity(s.Rank))
		rates = append(rates, rate.Quo(rate, new(big.Rat).SetInt(s.Rank.Denom()))) // scores are in parts of a row
	}
	out := make([]sample.Contest, cells*len(rates))
	for i := range out {
		out[i] = sample.NewContest(src, rates[i%len(rates)])
	}
	return out
}

// score is −d·den of a candidate, or of a run of them that does not hold an end of the domain beside others. With
// rows and offsets of at most 2⁴⁰, and den at most 10,000, all is below 2⁶².
func (p *draw) score(o, below, upTo int64) int64 {
	d := int64(0)
	if o != p.in.Lower {
		d = max(d, p.den*below-p.sought)
	}
	if o != p.in.Upper {
		d = max(d, p.sought-p.den*upTo)
	}
	return -d
}

// value enters the gap before a value of rows, and the value.
func (p *draw) value(value, count int64) {
	p.gap(value)
	p.enter(value, 1, p.score(value, p.below, p.below+count))
	p.below += count
	p.next = value + 1
}

// end enters the gap after the last value.
func (p *draw) end() { p.gap(p.in.Upper + 1) }

// gap enters what is below until, if anything is: an end of the domain by itself. Differences are right even where
// until is beyond the last integer.
func (p *draw) gap(until int64) {
	width := uint64(until) - uint64(p.next)
	if width > 0 && p.next == p.in.Lower {
		p.enter(p.next, 1, p.score(p.next, p.below, p.below))
		p.next++
		width--
	}
	upper := width > 0 && until-1 == p.in.Upper
	if upper {
		width--
	}
	if width > 0 {
		p.enter(p.next, width, p.score(p.next, p.below, p.below))
	}
	if upper {
		p.enter(p.in.Upper, 1, p.score(p.in.Upper, p.below, p.below))
	}
}

// Bracket is a t that is a whole number of rows and at least RankError(i, beta) + 1 for a place of that rank and ε,
// whatever its offset: what brackets a quantile. The error is ErrParameter, also for a t above 2⁴⁰.
func (m Cells) Bracket(i int, beta float64) (int64, error) {
	t, err := m.RankError(i, beta)
	if err != nil {
		return 0, err
	}
	if !(t < opaque.MaxRows-2) {
		return 0, fmt.Errorf("%w: at so small an epsilon more than 2^40 rows would be left open",
			mechanism.ErrParameter)
	}
	up := exact.CeilRat(new(big.Rat).SetFloat64(t))
	return up.Int64() + 1, nil
}
