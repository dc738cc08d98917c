package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/truncation"
	"dither/privacy"
)

// Truncation estimates what a question's bounds cut, for a share of its price: the number of units that have more
// rows or groups than count. It is a release beside the answer's own numbers.
//
// Claim: an answer with this estimate costs its price.
//
// Proof. The share is taken from the price before the rest is divided, so the shares of all releases add up to at
// most the price. Each measure of the estimate is a number with noise for its sensitivity (truncation.Statement has
// the proof), at its part of the share. Losses add up, as in the proof at dividePrice. ∎
type Truncation struct {
	Look     bounded.Statement // the statement that counts the units
	Bounds   truncation.Bounds // what a unit must exceed to be cut
	Asked    truncation.Asked  // what is counted beside the units
	Clamped  []int             // for each count of clamped rows, the index in Measures of the plan of the sum
	Share    *big.Rat          // the share of the price
	Loss     privacy.Loss      // the same share, as a loss
	Measures []*Measure        // those of Look: the units, the rows that are left out, the clamped rows
}

// Estimate asks for an estimate of what the bounds cut.
type Estimate struct {
	// the share of the price that pays for it; nil for the policy's share, if it has one. 0 for no estimate
	Share *big.Rat
	// estimates also the rows that are left out, of the first Rows rows of each unit; 0 for no such estimate
	Rows int64
}

// asked reports whether the question itself asks for an estimate. If only the policy does, a question for which there
// is none is answered without one.
func (e Estimate) asked() bool { return e.Rows > 0 || e.Share != nil && e.Share.Sign() > 0 }

// share returns the share of the price, or nil for no estimate.
func (e Estimate) share(p *policy.Policy) *big.Rat {
	switch {
	case e.Share == nil:
		return p.Price.Truncation
	case e.Share.Sign() == 0:
		return nil
	}
	return e.Share
}

// Estimated reports whether the question itself asks for an estimate of what its bounds cut, and gets one.
func (p *Plan) Estimated() bool { return p.Truncation != nil && p.request.Truncation.asked() }

// unpricedTruncation is a Truncation before it has its noise.
type unpricedTruncation struct {
	look   bounded.Statement
	bounds truncation.Bounds
	asked  truncation.Asked
	sums   []int // the indices of the measures whose clamps are counted
	share  *big.Rat
}

// nothingCut is the note for a question whose bounds cannot cut anything.
const nothingCut = "No bound can leave out a row or a group here, so no share of the price pays for an estimate " +
	"of what bounds cut."

// truncated plans the estimate of what the bounds cut. Without one, it returns nil.
func (s *stated) truncated() (*unpricedTruncation, error) {
	if s.found > 0 && s.uncut {
		return nil, nil // the price was divided without an estimate, before a search found a smaller bound
	}
	e := s.request.Truncation
	share := e.share(s.policy)
	if share == nil {
		if e.Rows > 0 {
			return nil, bind.Refuse(query.Pos{}, "give --truncation 5% beside it", "lost rows are a part of the estimate of "+
				"what bounds cut, and no share of the price pays for it")
		}
		return nil, nil
	}
	refused := func(hint, format string, args ...any) (*unpricedTruncation, error) {
		if !e.asked() {
			return nil, nil
		}
		e := bind.Refuse(query.Pos{}, hint, format, args...)
		e.Firm = true // over fewer keys, the question would have other bounds and no estimate
		return nil, e
	}
	bounds := s.cutting()
	for i := range s.claims {
		if !s.claims[i].terms.epsilon.IsZero() {
			return refused("write weight => 2 instead; or leave --truncation out",
				"the estimate of what bounds cut takes a share of the price, so no aggregate may have its own epsilon")
		}
	}
	switch {
	case bounds.None():
		if e.asked() {
			s.notes.add(nothingCut)
		}
		return nil, nil
	case s.part != nil:
		return refused("leave it out; or leave out the condition that confines the question to some parts",
			"there is no estimate of what bounds cut for a question that is charged to some parts alone")
	case e.Rows > 0 && (bounds.Rows == 0 || s.main.Caps.Groups > 0 && s.main.Caps.Rows == 0):
		return refused("ask for the units alone; or bound them by rows, with --max-rows",
			"lost rows are estimated only if each %s is bounded by rows, and here it is bounded by groups", s.unit.Name)
	case e.Rows > 0 && e.Rows <= bounds.Rows:
		return refused(fmt.Sprintf("write --truncation-rows %d, for example", 10*bounds.Rows),
			"lost rows are counted up to a number of rows above %d, which is how many rows of each %s count",
			bounds.Rows, s.unit.Name)
	case e.Rows > policy.MaxRowsPerUnit:
		return refused("", "lost rows are counted up to at most %d rows of one unit", policy.MaxRowsPerUnit)
	}
	out := &unpricedTruncation{bounds: bounds, share: share, asked: truncation.Asked{Most: e.Rows, Clamped: s.rowCap()}}
	for i, m := range s.main.Measures {
		if !m.Sums() {
			continue
		}
		if c := truncation.Clamp(m.X); c != nil && !slices.ContainsFunc(out.asked.Clamps, c.Same) {
			out.asked.Clamps, out.sums = append(out.asked.Clamps, c), append(out.sums, i)
		}
	}
	out.look = truncation.Statement(&s.main, inGroups(&s.main, nil), bounds, out.asked)
	return out, nil
}

// cutting returns the bounds that can cut something of a unit, for any of the question's aggregates.
func (s *stated) cutting() (out truncation.Bounds) {
	of := func(c bounded.Caps, measures []*bounded.Measure) {
		out = out.And(truncation.Of(&s.main, c, measures))
	}
	if len(s.main.Measures) > 0 || s.main.Open() {
		of(s.main.Caps, s.main.Measures)
	}
	if len(s.quantiles) > 0 {
		of(s.orderedCaps(s.main.Cells()), nil)
	}
	if len(s.modes) > 0 {
		of(s.rowsOnly(), nil)
	}
	return out
}

// chooseTruncation chooses the noise of the estimate.
func (b *noising) chooseTruncation() error {
	u := b.truncation
	if u == nil {
		return nil
	}
	t := &Truncation{
		Look: u.look, Bounds: u.bounds, Asked: u.asked, Clamped: u.sums, Share: u.share, Loss: b.truncationShare,
	}
	for _, m := range u.look.Measures {
		out := &Measure{
			Measure: *m, Rounding: new(big.Int), Loss: t.Loss.Share(1, int64(len(u.look.Measures))),
		}
		out.moves(sensitivity.OfMeasure(m, b.neighbours(), u.look.Caps, false))
		if err := out.choose(); err != nil {
			return bind.Refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
		t.Measures = append(t.Measures, out)
	}
	b.estimate = t
	return nil
}

// describeTruncation writes everything that the release of the estimate depends on.
func (p *Plan) describeTruncation(b *strings.Builder) {
	t := p.Truncation
	if t == nil {
		return
	}
	fmt.Fprintf(b, "truncation %s of the price, from %s\n", t.Share.RatString(), t.Look.Source)
	known := measureWriter{}
	for _, m := range t.Measures {
		known.write(b, m)
	}
}
