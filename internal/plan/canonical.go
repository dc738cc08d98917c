package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/privacy"
)

// Canonical is a text such that two plans with one text release the same: the meaning of bounded aggregates, the bounded aggregate with its bounds, its
// noise and its price, the policy, and the published versions of the sealed tables, in the order of Tables. What is computed from the released
// numbers afterwards (names, order, HAVING, confidence, format) is no part of it. Nothing parses it.
func (p *Plan) Canonical(versions ...int) string {
	var b strings.Builder
	describeStatement(&p.Statement, &b, p.PolicyDigest, versions, p.Neighbours, p.Price)
	p.describeRows(&b)
	for _, s := range p.Searches {
		fmt.Fprintf(&b, "search %s rows=%d false_positive=%g %s\n", s, s.Look.Caps.Rows, s.FalsePositive, s.Loss)
	}
	if p.Sets != nil {
		p.describeSets(&b)
		return b.String()
	}
	known := measureWriter{}
	for _, m := range p.Measures {
		known.write(&b, m)
	}
	p.describeOrders(&b)
	if p.Selection != nil {
		fmt.Fprintf(&b, "select %s other=%t\n", p.Selection, p.Other)
	}
	return b.String()
}

// Key is the replay key: the digest of Canonical.
func (p *Plan) Key(versions ...int) string {
	digest := sha256.Sum256([]byte(p.Canonical(versions...)))
	return hex.EncodeToString(digest[:])
}

// measureWriter writes the lines of measures. Numbers that many of them share are put into words once.
type measureWriter struct {
	numbers map[*big.Rat]string
	losses  map[privacy.Loss]string
}

func (w *measureWriter) write(b *strings.Builder, m *Measure) {
	if w.numbers == nil {
		w.numbers, w.losses = map[*big.Rat]string{}, map[privacy.Loss]string{}
	}
	parameter, ok := w.numbers[m.Parameter]
	if !ok {
		parameter = m.Parameter.RatString()
		w.numbers[m.Parameter] = parameter
	}
	loss, ok := w.losses[m.Loss]
	if !ok {
		loss = m.Loss.String()
		w.losses[m.Loss] = loss
	}
	for _, s := range [...]string{"measure ", m.String(), " ", string(m.Noise), " ", parameter, " ", loss, "\n"} {
		b.WriteString(s)
	}
}

// semantics is the version of what a bounded.Statement means: of cleaning, of expressions, of which rows and cells a unit keeps. When
// any of it changes, no earlier release is a replay.
const semantics = 1

// describeStatement writes what any release depends on, but for its measures and their mechanisms.
func describeStatement(
	b *bounded.Statement,
	w *strings.Builder,
	digest string,
	versions []int,
	n privacy.Neighbours,
	price privacy.Loss,
) {
	fmt.Fprintf(w, "semantics %d\npolicy %s\n", semantics, digest)
	for i, table := range b.Tables() {
		fmt.Fprintf(w, "table %q version %d\n", table, versions[i])
	}
	fmt.Fprintf(w, "neighbours %s\n", n)
	if b.Unranked && b.Unit != nil {
		fmt.Fprintln(w, "unranked") // in the order of Reads
	}
	if b.Source != nil {
		fmt.Fprintf(w, "from %s\n", b.Source)
	}
	fmt.Fprintf(
		w,
		"price %s\ncaps rows=%d groups=%d rows_per_group=%d\n",
		price,
		b.Caps.Rows,
		b.Caps.Groups,
		b.Caps.RowsPerGroup,
	)
	w.WriteString(b.PartText())
	describeValues(b, w)
	if b.Where != nil {
		fmt.Fprintf(w, "where %s\n", b.Where)
	}
	for _, k := range b.Keys {
		fmt.Fprintf(w, "key %s %q\n", k.Expr, k.Values)
	}
}

// describeValues writes of which version the known values of columns are: of a Source, of all that its tables have.
func describeValues(b *bounded.Statement, w *strings.Builder) {
	from := func(name string, c bounded.Column) {
		if o := c.ValuesFrom; o != nil {
			fmt.Fprintf(w, "values of %s from %q %q version %d\n", name, o.Table, o.Column, o.Version)
		}
	}
	if b.Source == nil {
		for _, c := range b.Columns {
			if !c.Unread {
				from(fmt.Sprintf("%q", c.Name), c)
			}
		}
		return
	}
	b.Source.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			for _, c := range s.Columns {
				from(fmt.Sprintf("%q %q", s.Table, c.Name), c)
			}
		}
	})
}
