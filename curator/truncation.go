package curator

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/policy"
)

// Truncation is an estimate of what the bounds of a question cut: how many units have more rows or groups than count.
// A share of the price pays for it, and it is a part of the question's release.
type Truncation struct {
	Unit string // the column that identifies a unit
	// a unit is cut if it has more rows, more groups, or more rows in one group, among the rows that count: 0 if there
	// is no such bound
	Rows, Groups, RowsPerGroup int64
	// the estimated number of units that are cut; nil in an explanation
	Units *Estimate
	// the estimated number of rows that are left out, counting at most LostUpTo rows of each unit, so it is at least
	// this; nil if the question does not ask for it, and in an explanation
	Lost     *Estimate
	LostUpTo int64
	// for each sum or average whose own bounds clamp values: the estimated number of rows that they clamp
	Clamped []ClampedRows
	StdDev  float64 // the standard deviation of the noise on Units
	// if this many units are cut, the estimate warns with a probability of at least 95 %. If none is cut, it warns with
	// a probability of at most 1 %
	Visible int64
	Verdict TruncationVerdict
	Advice  string // what to do about a cut; "" unless the verdict is Cuts
	Share   Loss
}

// ClampedRows is an estimate of how many rows the bounds of one aggregate clamp, counting at most UpTo rows of each
// unit.
type ClampedRows struct {
	Column string    // the column of the answer that the aggregate is in
	Rows   *Estimate // nil in an explanation
	UpTo   int64
}

// TruncationVerdict is what an estimate of truncation says about the bounds.
type TruncationVerdict string

// The verdicts. An explanation has CanTell or CannotTell, and an answer any but CanTell.
const (
	Cuts       TruncationVerdict = "cuts"        // some units are cut; noise alone warns with a probability of at most 1 %
	NoneSeen   TruncationVerdict = "none seen"   // no cut is larger than the noise
	CannotTell TruncationVerdict = "cannot tell" // a large cut would be hidden by the noise
	CanTell    TruncationVerdict = "can tell"    // a large cut would be seen
)

// tellingShare is the share of the expected rows that makes a cut large: if units that are cut could have more than
// this share of all rows without being seen, the estimate cannot tell.
const tellingShare = 0.05

// truncation describes a question's estimate of what bounds cut, or returns nil if it has none. numbers is the
// released estimate, or nil in an explanation.
func (c *Session) truncation(a *asked, numbers []*big.Int) (*Truncation, error) {
	t := a.plan.Truncation
	if t == nil {
		return nil, nil
	}
	stdDev, visible, err := derive.TruncationVisible(t)
	if err != nil {
		return nil, err
	}
	out := &Truncation{
		Unit: a.plan.Unit.Name,
		Rows: t.Bounds.Rows, Groups: t.Bounds.Groups, RowsPerGroup: t.Bounds.RowsPerGroup,
		StdDev: stdDev, Visible: visible.Int64(), LostUpTo: t.Asked.Most, Share: c.loss(t.Loss),
	}
	for _, sum := range t.Clamped {
		out.Clamped = append(out.Clamped, ClampedRows{Column: columnOf(a.plan, a.plan.Measures[sum]), UpTo: t.Asked.Clamped})
	}
	rows := c.expectedRows(a.plan)
	hides := func(units float64) bool { // whether so many units have more than tellingShare of all rows
		return rows > 0 && units*float64(t.Bounds.Least()) > tellingShare*float64(rows)
	}
	if numbers == nil {
		out.Verdict = CanTell
		if hides(float64(out.Visible)) {
			out.Verdict = CannotTell
		}
		return out, nil
	}
	found, err := derive.TruncationOf(t, numbers, a.alpha)
	if err != nil {
		return nil, err
	}
	out.Units = estimate(found.Units)
	if found.Rows != nil {
		out.Lost = estimate(*found.Rows)
	}
	for i, e := range found.Clamped {
		out.Clamped[i].Rows = estimate(e)
	}
	switch {
	case found.Cuts:
		out.Verdict, out.Advice = Cuts, c.advice(a.plan)
	case hides(found.Units.High):
		out.Verdict = CannotTell
	default:
		out.Verdict = NoneSeen
	}
	return out, nil
}

// columnOf returns the name of the first column that is computed from a measure.
func columnOf(p *plan.Plan, m *plan.Measure) string {
	for _, o := range p.Outputs {
		found := false
		if o.Post != nil {
			o.Post.Walk(func(x *plan.Post) {
				found = found || x.Op == plan.PostAggregate && p.Aggregates[x.Index].Sum == m
			})
		}
		if found {
			return o.Name
		}
	}
	return ""
}

// advice says what to do about a cut: first what the analyst can do, and then what the owner can.
func (c *Session) advice(p *plan.Plan) string {
	t := p.Truncation.Bounds
	var ask, owner []string
	unit := policy.Unit{}
	if table := c.policy.Table(p.Table); table != nil && p.Source == nil {
		unit = table.Unit
	}
	if t.Rows > 0 {
		if p.Source != nil && p.Asked.Rows == t.Rows {
			ask = append(ask, "--max-rows (max_groups_contributed for averages of units' averages)")
		} else if p.Asked.Rows > 0 && p.Asked.Rows < unit.RowsPerUnit || p.Rows != nil && p.Rows.Found < p.Rows.Most {
			ask = append(ask, "--max-rows")
		}
		owner = append(owner, "rows_per_unit")
	}
	if t.Groups > 0 {
		if p.Asked.Groups > 0 && p.Asked.Groups < unit.MaxGroups {
			ask = append(ask, "--max-groups")
		}
		owner = append(owner, "max_groups")
	}
	if t.RowsPerGroup > 0 {
		owner = append(owner, "max_rows_per_group")
	}
	declare := "the owner can declare a larger " + strings.Join(owner, " or ")
	if len(ask) > 0 {
		return "ask with a larger " + strings.Join(ask, " or ") + ", or " + declare + "; noise grows in proportion"
	}
	return declare + "; noise grows in proportion"
}

// More returns the bounds in words, such as "more than 20 rows".
func (t *Truncation) More() string {
	var parts []string
	add := func(n int64, what, where string) {
		if n > 0 {
			parts = append(parts, "more than "+plural(n, what)+where)
		}
	}
	add(t.Rows, "row", "")
	add(t.Groups, "group", "")
	add(t.RowsPerGroup, "row", " in one group")
	return strings.Join(parts, " or ")
}

// truncationNotes say before the question is asked what its estimate of truncation can tell.
func truncationNotes(t *Truncation) []string {
	if t == nil {
		return nil
	}
	note := fmt.Sprintf(
		"%s of the price pays for an estimate of what the bounds cut: how many units (%s) have %s. Its noise has a "+
			"standard deviation of %.4g units. It warns if %s or more are cut, with a probability of at least 95 %%, "+
			"and if none is cut with a probability of at most 1 %%.",
		t.Share, SQLName(t.Unit), t.More(), t.StdDev, plural(t.Visible, "unit"),
	)
	if t.Verdict == CannotTell {
		note += fmt.Sprintf(
			" This estimate cannot tell whether much is cut: so many units have more than %.0f %% of the expected rows. "+
				"A higher price, or a larger share, sees fewer units.",
			math.Round(100*tellingShare),
		)
	}
	return []string{note}
}

// parseTruncation reads a question's share of the price for an estimate of what bounds cut, such as "5%". "0" asks
// for none, and "" gives the policy's share.
func parseTruncation(text string, rows int64) (out plan.Estimate, err error) {
	switch {
	case rows < 0:
		err = fmt.Errorf("a number of rows cannot be %d", rows)
	case text == "":
	case text == "0" || text == "0%":
		out.Share = new(big.Rat)
	default:
		out.Share, err = policy.Truncation(text)
	}
	if err != nil {
		return out, &Error{
			Code:    CodeUsage,
			Message: "invalid share of the price for an estimate of truncation: " + err.Error(),
			Hint:    "write --truncation 5%, or --truncation 0 for none",
			cause:   err,
		}
	}
	out.Rows = rows
	return out, nil
}
