package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// What a release is about is kept with it in marks, by which later questions find it without planning every earlier one again. A mark is a short
// digest: different texts may have one, and what is found by marks is compared in full.

// Marks are those of what Follow compares: of each measure, and of each condition of WHERE. Where q tells something of p, they have a
// measure in common, and p has every condition that q has. There are none where nothing follows from the plan.
func (p *Plan) Marks() (measures, conditions []string) {
	if !p.Followable() {
		return nil, nil
	}
	for _, text := range p.measureTexts() {
		measures = append(measures, mark(text))
	}
	for text := range conditionsOf(p.Where) {
		conditions = append(conditions, mark(text))
	}
	slices.Sort(conditions)
	return measures, conditions
}

// MarkAtAnyPrice is one for the same question at every price: of what Canonical tells, but for prices and noise, and for which values keys have.
func (p *Plan) MarkAtAnyPrice(versions ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %v %v\ncaps %+v\nwhere %s\n", p.digest, p.Tables(), versions, p.Neighbours, p.Caps, p.Where)
	describePart(&p.Statement, &b)
	if p.Source != nil {
		fmt.Fprintln(&b, "from", p.Source)
	}
	for _, k := range p.Keys {
		fmt.Fprintln(&b, "key", k.Expr, len(k.Values))
	}
	for _, g := range p.Groupings() {
		fmt.Fprintln(&b, "set", g.Keys)
	}
	for _, text := range p.measureTexts() {
		fmt.Fprintln(&b, "measure", text)
	}
	return mark(b.String())
}

func mark(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
