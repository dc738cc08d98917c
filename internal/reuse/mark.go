package reuse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Each release is stored with marks: short digests of canonical texts. Marks let later questions find the release
// without planning every earlier one again. Different texts may have the same mark, so everything found by marks is
// compared in full.

// Marks returns a mark for each measure and for each condition of WHERE, which Follow compares. If a release of a plan
// q answers a part of p, then p and q have a measure in common, and p has every condition of q. The lists are empty if
// no answer can follow from a release of p.
func Marks(p *plan.Plan) (measures, conditions []string) {
	if !Followable(p) {
		return nil, nil
	}
	for _, m := range p.Measures {
		measures = append(measures, markOf(p, m.String()))
	}
	var add func(*bounded.Expr)
	add = func(e *bounded.Expr) {
		if e.Op == bounded.OpAnd {
			for _, a := range e.Args {
				add(a)
			}
			return
		}
		conditions = append(conditions, mark(e.String()))
	}
	if p.Where != nil {
		add(p.Where)
	}
	slices.Sort(conditions)
	return measures, slices.Compact(conditions)
}

// CentredMarks returns a mark for each sum of a question that a release of an average determines (plan.SumsCentred):
// that of the sum of the average. The list is empty if no answer can follow from a release.
func CentredMarks(p *plan.Plan) []string {
	if !Followable(p) {
		return nil
	}
	return marksOf(p, p.CentredSums())
}

// ApartMarks returns a mark for each centred sum of a question: that of the sum of its own that earlier versions
// measured (plan.SumsApart).
func ApartMarks(p *plan.Plan) []string { return marksOf(p, p.ApartSums()) }

func marksOf(p *plan.Plan, measures []string) (out []string) {
	for _, text := range measures {
		out = append(out, markOf(p, text))
	}
	return out
}

// markOf returns the mark of a measure. In a relation, columns have numbers in place of names, so its text is part of
// it.
func markOf(p *plan.Plan, measure string) string {
	if p.Source != nil {
		return mark(fmt.Sprintf("%s\nfrom %s", measure, p.Source))
	}
	return mark(measure)
}

// MarkAtAnyPrice returns a mark that a question has at every price. It covers the text of plan.Canonical without
// prices, noise and the values of keys.
func MarkAtAnyPrice(p *plan.Plan, versions ...int) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"%s %q %v %v\ncaps %+v\nwhere %s\n",
		p.PolicyDigest,
		p.Tables(),
		versions,
		p.Neighbours,
		p.Caps,
		p.Where,
	)
	b.WriteString(p.PartText())
	if p.Source != nil {
		fmt.Fprintln(&b, "from", p.Source)
	}
	for _, k := range p.Keys {
		fmt.Fprintln(&b, "key", k.Expr, len(k.Values))
	}
	for _, g := range p.Groupings() {
		fmt.Fprintln(&b, "set", g.Keys)
	}
	for _, m := range p.Measures {
		fmt.Fprintln(&b, "measure", m)
	}
	return mark(b.String())
}

func mark(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
