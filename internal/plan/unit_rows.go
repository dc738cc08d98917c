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

// RowSearch finds how many rows of one unit count: max_rows_contributed = auto. It helps if the policy's
// rows_per_unit is far more than most units have. It is the first of two accesses for one answer. It draws a
// quantile of the units' numbers of rows. Then the question is planned with that number as its cap, as if the
// analyst had given it ([Plan.WithRows]).
//
// Claim: an answer with this search costs its price.
//
// Proof. The search orders one number for each unit that has rows left after WHERE, GROUP BY and Part: the number
// of these rows, clamped to [1, Most]. The number depends on that unit's rows alone. So adding or removing a unit
// adds or removes at most one number. Changing a unit removes at most one number and adds at most one. So the draw
// is quantile.Single with one row for each unit, which has the proof. Let n be the number of units. Let B(o) be how
// many numbers are below o, and A(o) how many are at or below o. The score d(o) = max(0, B(o) − qn, qn − A(o))
// moves by at most Sensitivity, which is max(q, 1 − q) under add/remove and 1 under change-one. The draw is o with
// probability proportional to exp(−ε·d(o)/(2·Sensitivity)), from the integers 1 to Most. It is ε-DP, and has
// bounded range ε, hence it is ε²/8-zCDP [McSherry & Talwar 2007; Cesar & Rogers 2021]. The draw lies between 1 and
// Most for any rows.
//
// The draw is public. For any value of it, the second access is private at its own share, by the proofs for a given
// cap. A mechanism that is chosen from an earlier release composes with it like a fixed mechanism. The losses add
// up, as pure ε [Dwork & Roth 2014, Theorem 3.16], and as ρ together with the selection's δ [Bun & Steinke 2016,
// Lemmas 2.3 and 8.2]. So the answer costs the sum of its parts' losses, which is the price. ∎
//
// With few units, the draw may be far from the quantile in value: only its rank is close (RankError). It may then
// be any number up to Most. The answer is valid with any of them, and the search never fails.
type RowSearch struct {
	Look        bounded.Statement // the statement that lists the units' numbers of rows, in order
	Most        int64             // the policy's bound on one unit's rows
	Rank        *big.Rat          // q, the rank of the quantile
	Sensitivity *big.Rat          // the sensitivity of the draw's score, in units
	Loss        privacy.Loss      // the share of the price: a tenth
	Found       int64             // the released bound, in a plan from WithRows; otherwise 0
}

// rowsShare is the denominator of the search's share of the price, 1/rowsShare. The noise of the rest is a ninth
// wider. If the found bound is half the policy's, the noise is half as wide.
const rowsShare = 10

// defaultRowsRank returns the default rank: the fraction of the units for which all rows count.
func defaultRowsRank() *big.Rat { return big.NewRat(99, 100) }

// Draw returns the ε of the search's one draw from the exponential mechanism.
func (s *RowSearch) Draw() privacy.Epsilon { return drawOf(s.Loss) }

// drawOf returns the ε of one draw of the exponential mechanism, for a share of the price. Under zCDP, a draw costs
// ε²/8, so ε is √(8ρ), rounded down.
func drawOf(share privacy.Loss) privacy.Epsilon {
	if e, pure := share.Pure(); pure {
		return e
	}
	rho, _ := share.ZCDP()
	return rho.Pure().Times(2)
}

// RankError returns a bound on the rank error of the draw, in units, which fails with probability at most alpha. It is
// 2Δ(ln N + ln(1/alpha))/ε, rounded up, for sensitivity Δ and N candidates (quantile.Single.RankError).
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

// EnoughUnits returns a number of units. With at least that many, the found bound is at most the largest number of
// rows of any unit, except with probability alpha. With n units, a larger bound would be a rank error of (1 − q)·n
// units or more. The number is infinite for q = 1.
func (s *RowSearch) EnoughUnits(alpha float64) float64 {
	above := new(big.Rat).Sub(big.NewRat(1, 1), s.Rank)
	if above.Sign() == 0 {
		return math.Inf(1)
	}
	return exact.MulUp(s.RankError(alpha), exact.FloatUp(above.Inv(above)))
}

// String returns the search's canonical text, without its share of the price.
func (s *RowSearch) String() string {
	return fmt.Sprintf("quantile %s of rows per unit up to %d", s.Rank.RatString(), s.Most)
}

// rowsWanted plans the search for a question with max_rows_contributed = auto. Until a bound is found, the question
// is planned with the policy's bound as its own, so units are bounded by rows.
func (b *bounding) rowsWanted() error {
	if !b.request.AutoRows {
		return nil
	}
	unit, at := b.Table.Unit, b.request.rowsAt
	own := slices.ContainsFunc(b.claims, func(c claim) bool { return !c.terms.epsilon.IsZero() })
	switch {
	case unit.IsRow():
		return bind.Refuse(at, "leave it out", "each row is a unit here, so there is no number of rows to find")
	case unit.RowsPerUnit == 1:
		return bind.Refuse(at, "leave it out", "only one row of each %s counts, so there is no smaller bound to find", unit.Column)
	case own:
		return bind.Refuse(
			at,
			"write weight => 2 instead; or max_rows_contributed=3",
			"the search for a bound on rows takes a share of the price, so no aggregate may have its own epsilon",
		)
	}
	s := &unpricedRows{most: unit.RowsPerUnit, rank: b.request.RowsRank, found: b.found}
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

// WithRows returns the plan with a released bound on rows: the question with that bound as its cap. Price, shares
// and order stay the same. The noise follows from the cap, at the same shares. The new plan has the bound in
// Rows.Found. WithRows returns an error for a bound that the search cannot find, or for which no noise can be
// chosen.
func (p *Plan) WithRows(rows int64) (*Plan, error) {
	if p.Rows == nil || p.Rows.Found > 0 || rows < 1 || rows > p.Rows.Most {
		return nil, errors.New("a bound on rows that was not to be found")
	}
	out, err := build(job{
		policy: p.policy, original: p.request, unknownKeys: true, keys: p.keysAs, found: rows,
		uncut: p.Truncation == nil,
	})
	if err == nil &&
		(len(out.Measures) != len(p.Measures) || out.Numbers() != p.Numbers() || out.Released() != p.Released()) {
		err = errors.New("defect: another plan")
	}
	return out, err
}

// describeRows writes everything that the release of a bound on rows depends on, and the bound if it was found.
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

// rowsOption reads max_rows_contributed, which is a number or auto.
func (r *Request) rowsOption(o query.Option) error {
	if c, ok := o.Value.(*query.Column); ok && c.Name == "auto" && c.Table == "" {
		if r.MaxRows > 0 {
			return bind.Refuse(o.At, "leave one out", "the question's %s differs from --max-rows", o.Name)
		}
		r.AutoRows, r.rowsAt = true, o.At
		return nil
	}
	n, err := countOption(o)
	if err != nil {
		return err
	}
	if r.AutoRows || r.MaxRows > 0 && r.MaxRows != n {
		return bind.Refuse(o.At, "leave one out", "the question's %s differs from --max-rows", o.Name)
	}
	r.MaxRows = n
	return nil
}

// rowsQuantile reads max_rows_quantile, the rank of the quantile that is the bound.
func (r *Request) rowsQuantile(o query.Option) error {
	q, err := bind.RankOf(o.Value)
	if err == nil && q.Sign() == 0 {
		err = bind.Refuse(
			o.Value.Pos(),
			"write max_rows_quantile=0.9",
			"max_rows_quantile must be above 0: quantile 0 keeps only one row of each unit",
		)
	}
	if err != nil {
		return err
	}
	if !r.AutoRows {
		return bind.Refuse(
			o.At,
			"write max_rows_contributed=auto beside it",
			"max_rows_quantile applies only to max_rows_contributed=auto",
		)
	}
	r.RowsRank = q
	return nil
}
