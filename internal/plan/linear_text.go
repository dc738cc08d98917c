package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"dither/internal/prune"
	"dither/privacy"
)

// Canonical returns a text that determines what the plan releases, as [Plan.Canonical] does. It has the digests of the
// strategies.
func (p *Linear) Canonical(versions ...int) string {
	var b strings.Builder
	b.WriteString("strategies\n")
	describeStatement(&p.Base, &b, p.digest, versions, p.Neighbours, p.Price)
	for _, part := range p.Parts {
		var keys []int
		for _, k := range part.Keys {
			keys = append(keys, p.Grouped[k])
		}
		m := &part.Answers
		fmt.Fprintf(&b, "part keys=%v strategy %s of %s l1=%s l2squared=%s %s %s %s\n", keys, part.Strategy.Digest(), m,
			m.L1, m.L2Squared, m.Noise, m.Parameter.RatString(), m.Loss)
	}
	return b.String()
}

// Key returns the replay key, which is the digest of Canonical.
func (p *Linear) Key(versions ...int) string {
	sum := sha256.Sum256([]byte(p.Canonical(versions...)))
	return hex.EncodeToString(sum[:])
}

// Counted returns the digest of the statement with all keys of the question, without the policy, the price and the
// versions of its tables. Plans with the same digest count the same rows of equal tables in the same cells of each
// marginal, by the same known values and in the same order: see addParts.
func (p *Linear) Counted() string {
	var b strings.Builder
	describeStatement(&p.Base, &b, "", make([]int, len(p.Base.Tables())), p.Neighbours, privacy.Loss{})
	for _, m := range p.Base.Measures {
		fmt.Fprintf(&b, "measure %s\n", m)
	}
	fmt.Fprintf(&b, "grouped %v\n", p.Grouped)
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// CellsOf reports whether the cells (groups) of the histogram over all keys of the linear plan are those of the plan q:
// the same rows count, in the same cells, with the same amounts, and the cells are in the same order. It is false if
// the columns that a question reads order the rows of a unit.
func (p *Linear) CellsOf(q *Plan) bool {
	if p.Base.Unranked && p.Base.Unit != nil {
		return false
	}
	if len(q.Measures) != 1 || q.Sets != nil || q.PolicyDigest != p.digest || !q.Measures[0].Same(p.Base.Measures[0]) {
		return false
	}
	texts, versions := [2]strings.Builder{}, make([]int, max(len(p.Base.Tables()), len(q.Tables())))
	describeStatement(&p.Base, &texts[0], p.digest, versions, p.Neighbours, p.Price)
	describeStatement(&q.Statement, &texts[1], q.PolicyDigest, versions, q.Neighbours, p.Price)
	return texts[0].String() == texts[1].String()
}

// MaxPossible is the largest number of cells for which [Linear.Possible] decides which can have rows.
const MaxPossible = 1 << 12

// Possible returns which cells of the histogram over all keys can have rows, in the order of the question's GROUP BY.
// It is a function of the question and the policy, as [Plan.Possible] is. It returns nil if there are more than
// MaxPossible cells.
func (p *Linear) Possible() []bool {
	cells := 1
	for _, k := range p.Grouped {
		if cells *= len(p.Base.Keys[k].Values); cells > MaxPossible {
			return nil
		}
	}
	return reachable(prune.Where(p.Base.Where, p.Base.Columns).Groups(p.Base.Keys), p.Base.Keys, p.Grouped)
}
