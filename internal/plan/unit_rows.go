package plan

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/query"
	"dither/privacy"
)

// RowSearch finds how many rows of one unit count: max_rows_contributed = auto, where the policy's rows_per_unit is far more than most units
// have. It is the first of two looks of one answer: a quantile of the units' numbers of rows, and then the question with that number for
// its cap, as if it had been given (Plan.WithRows).
//
// What is put in order is one number of each unit that has rows left, by WHERE, GROUP BY and Part: how many, clamped to [1, Most]. It reads that
// unit's rows alone, so that to add or remove a unit adds or removes one number at most; to change one removes one and adds another,
// at most. So the draw is that of quantile.Single with one row a unit, which has the proof: with B(o) and A(o) the numbers below, and at or
// below, o, and n of them in all, d(o) = max(0, B(o) − qn, qn − A(o)) moves by at most Sensitivity = max(q, 1 − q) under add/remove, and 1
// under change-one; o is drawn with a probability in proportion to exp(−ε·d(o)/(2·Sensitivity)) from the integers 1 to Most. That is ε-DP, and
// ε-bounded-range, hence ε²/8-zCDP [McSherry & Talwar 2007; Cesar & Rogers 2021]; and it is at least 1 and at most Most, whatever the rows are.
//
// The number that comes out is public. Whatever it is, what is taken of the rows afterwards is private at its own share, by the proofs
// of a cap that was given. A mechanism that is chosen with a view of what another released composes with it as if it had been fixed: losses
// add up, as pure ε [Dwork & Roth 2014, Theorem 3.16] and as ρ, with the selection's δ [Bun & Steinke 2016, Lemmas 2.3 and 8.2]. So the
// answer costs its parts together, the price. ∎
//
// A quantile is far off where units are few: it is the rank that is close (RankError). The bound may then be anything up to Most, with which the
// answer is as right as with any; it never fails.
type RowSearch struct {
	Look        bounded.Statement // the units' numbers of rows, in order
	Most        int64             // the policy's bound
	Rank        *big.Rat          // q
	Sensitivity *big.Rat          // in units
	Loss        privacy.Loss      // a tenth of the price
	Found       int64             // the bound, in the plan after it was released; else 0
}

// rowsShare is the part of the price that finds how many rows count, as 1/rowsShare. The rest has noise wider by a ninth; a bound of half the rows
// halves it.
const rowsShare = 10

// defaultRowsRank is the part of units all of whose rows are to count.
func defaultRowsRank() *big.Rat { return big.NewRat(99, 100) }

// Draw is the ε of the draw.
func (s *RowSearch) Draw() privacy.Epsilon { return drawOf(s.Loss) }

// drawOf is the ε of one draw of the exponential mechanism at a share of the price: under zCDP it costs ε²/8, so that ε is √(8ρ), rounded down.
func drawOf(share privacy.Loss) privacy.Epsilon {
	if e, pure := share.Pure(); pure {
		return e
	}
	rho, _ := share.ZCDP()
	return rho.Pure().Times(2)
}

// RankError bounds how many units lie between the bound's place among their numbers of rows and the quantile's, but with probability alpha:
// 2Δ(ln N + ln(1/α))/ε for N numbers, rounded up (quantile.Single.RankError).
func (s *RowSearch) RankError(alpha float64) float64 {
	return rankErrorOf(s.Sensitivity, s.Draw(), float64(s.Most), alpha)
}

func rankErrorOf(sensitivity *big.Rat, draw privacy.Epsilon, candidates, alpha float64) float64 {
	e := draw.Rat()
	if e.Sign() == 0 {
		return math.Inf(1)
	}
	scale := new(big.Rat).Quo(sensitivity, e)
	log := exact.SubUp(exact.LogUp(math.Nextafter(candidates, math.Inf(1))), exact.LogDown(alpha))
	return exact.MulUp(exact.FloatUp(scale.Add(scale, scale)), log)
}

// EnoughUnits is from how many units on the bound is, but with probability alpha, none that no unit reaches: that is (1 − q)·n units or more
// off, of n. It is infinite for q = 1.
func (s *RowSearch) EnoughUnits(alpha float64) float64 {
	above := new(big.Rat).Sub(big.NewRat(1, 1), s.Rank)
	if above.Sign() == 0 {
		return math.Inf(1)
	}
	return exact.MulUp(s.RankError(alpha), exact.FloatUp(above.Inv(above)))
}

// String is the search's canonical text, without its share of the price.
func (s *RowSearch) String() string {
	return fmt.Sprintf("quantile %s of rows per unit up to %d", s.Rank.RatString(), s.Most)
}

// rowsWanted makes a question that asks for it wait for its bound on rows. Till then it is planned with the policy's, and counts as one that was
// given it: units are bounded by rows.
func (b *bounding) rowsWanted() error {
	if !b.request.AutoRows {
		return nil
	}
	unit, at := b.Table.Unit, b.request.rowsAt
	own := slices.ContainsFunc(b.claims, func(c claim) bool { return !c.terms.epsilon.IsZero() })
	switch {
	case unit.IsRow():
		return bind.Refuse(at, "leave it out", "each row is a unit here, so that how many rows a unit has is no question")
	case unit.RowsPerUnit == 1:
		return bind.Refuse(at, "leave it out", "one row of one %s counts: there is no less to be found", unit.Column)
	case own:
		return bind.Refuse(
			at,
			"write weight => 2 instead; or max_rows_contributed=3",
			"the bound on rows is found at a share of the price, and an aggregate has an epsilon of its own beside it",
		)
	}
	s := &unpricedRows{most: unit.RowsPerUnit, rank: b.request.RowsRank, found: b.job.found}
	if s.rank == nil {
		s.rank = defaultRowsRank()
	}
	s.sensitivity = big.NewRat(1, 1)
	if b.neighbours() == privacy.AddRemove {
		if s.sensitivity.Sub(s.sensitivity, s.rank); s.sensitivity.Cmp(s.rank) < 0 {
			s.sensitivity.Set(s.rank)
		}
	}
	b.maxRows = s.most
	if s.found > 0 {
		b.maxRows = s.found
	}
	b.rows = s
	return nil
}

// WithRows is the plan with a bound on rows that was released: the question as it was asked, with that bound for its cap. Price, shares and
// order are the plan's own; noise follows from the cap, as ever, for the same shares. Its Rows tell what was Found. The error is for a bound
// that no search of p finds, or that no noise can be chosen for.
func (p *Plan) WithRows(rows int64) (*Plan, error) {
	if p.Rows == nil || p.Rows.Found > 0 || rows < 1 || rows > p.Rows.Most {
		return nil, errors.New("a bound on rows that was not to be found")
	}
	out, err := build(job{policy: p.policy, original: p.request, unknownKeys: true, found: rows})
	if err == nil &&
		(len(out.Measures) != len(p.Measures) || out.Numbers() != p.Numbers() || out.Released() != p.Released()) {
		err = errors.New("defect: another plan")
	}
	return out, err
}

// describeRows writes what the release of a bound depends on, and of a plan with it what it is.
func (p *Plan) describeRows(w io.Writer) {
	if s := p.Rows; s != nil {
		_, _ = fmt.Fprintf(
			w,
			"rows %s draws %s sensitivity %s %s\n",
			s,
			s.Draw().Rat().RatString(),
			s.Sensitivity.RatString(),
			s.Loss,
		)
		if s.Found > 0 {
			_, _ = fmt.Fprintf(w, "rows found %d\n", s.Found)
		}
	}
}

// rowsOption is max_rows_contributed, a number or auto.
func (r *Request) rowsOption(o query.Option) error {
	if c, ok := o.Value.(*query.Column); ok && c.Name == "auto" && c.Table == "" {
		if r.MaxRows > 0 {
			return bind.Refuse(o.At, "leave one out", "the question's %s is not the --max-rows that it is asked with", o.Name)
		}
		r.AutoRows, r.rowsAt = true, o.At
		return nil
	}
	n, err := countOption(o)
	if err != nil {
		return err
	}
	if r.AutoRows || r.MaxRows > 0 && r.MaxRows != n {
		return bind.Refuse(o.At, "leave one out", "the question's %s is not the --max-rows that it is asked with", o.Name)
	}
	r.MaxRows = n
	return nil
}

// rowsQuantile is max_rows_quantile: which quantile of the units' numbers of rows the bound is.
func (r *Request) rowsQuantile(o query.Option) error {
	q, err := rankOf(o.Value)
	if err == nil && q.Sign() == 0 {
		err = bind.Refuse(
			o.Value.Pos(),
			"write max_rows_quantile=0.9",
			"a bound on rows that no unit's are below leaves out all but one row of each",
		)
	}
	if err != nil {
		return err
	}
	if !r.AutoRows {
		return bind.Refuse(
			o.At,
			"write max_rows_contributed=auto beside it",
			"max_rows_quantile is of the bound that is to be found",
		)
	}
	r.RowsRank = q
	return nil
}
