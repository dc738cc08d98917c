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

// Canonical returns a text that determines what the plan releases: two plans with the same text release the same.
// It has the version of the statements' semantics, the statement with its bounds, noise and price, the digest of
// the policy, and the published versions of the sealed tables. The versions are in the order of Tables.
// Post-processing (names, order, HAVING, confidence, format) is not part of the text. No code parses it.
func (p *Plan) Canonical(versions ...int) string {
	var b strings.Builder
	describeStatement(&p.Statement, &b, p.PolicyDigest, versions, p.Neighbours, p.Price)
	p.describeRows(&b)
	p.describeTruncation(&b)
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

// Key returns the replay key, which is the digest of Canonical.
func (p *Plan) Key(versions ...int) string {
	digest := sha256.Sum256([]byte(p.Canonical(versions...)))
	return hex.EncodeToString(digest[:])
}

// measureWriter writes the lines of measures. It keeps the texts of numbers and losses, which many measures share.
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

// semantics is the version of the meaning of a bounded.Statement: of cleaning, of expressions, and of which rows and
// cells (groups) of a unit count. After a change of that meaning, earlier releases are no replays.
const semantics = 1

// describeStatement writes everything that a release depends on, except measures and mechanisms.
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
		fmt.Fprintln(w, "unranked") // the rows of a unit are ordered by the columns of Reads
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

// describeValues writes, for each column whose known values come from a public table, the version of that table.
// For a Source, it covers all columns of all tables.
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
