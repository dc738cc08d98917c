package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/privacy"
)

// Target is the plan of an access for a mechanism that does not add noise to sums. It reads the scores of
// candidates, or rows in the order of one value. It has one measure. The caller chooses the mechanism and its
// scale.
type Target struct {
	bounded.Statement
	Neighbours privacy.Neighbours
	Price      privacy.Loss
	Names      []string // for scores: the names of the columns (keys and score), as the question lists them
	Order      []int    // for scores: the index of each column's key, or −1 for the score

	// Sensitivity is the largest change of any one cell (group) that one unit causes, in grid units: the L∞ sensitivity
	// of scores. For ordered rows, it is how many rows of one unit count.
	Sensitivity *big.Int
	// Monotonic reports whether no two cells (groups) move in opposite directions between neighbours. That needs
	// add/remove, and contributions of one sign.
	Monotonic bool

	digest string
}

// BuildScores plans a question whose groups are candidates, and whose one count or sum is their score: SELECT
// region, COUNT(*) FROM t GROUP BY region. Without GROUP BY, there is one cell. Errors are as in Build.
func BuildScores(p *policy.Policy, r Request) (*Target, error) {
	q, err := read(job{policy: p, original: r})
	if err != nil {
		return nil, err
	}
	k, err := bindPlainKeys(q, func(*query.Select) error { return nil })
	m, err := next(measureScore, k, err)
	c, err := next(capScore, m, err)
	if err != nil {
		return nil, err
	}
	t := targetOf(c)
	for _, o := range m.outputs {
		key := -1
		if o.Post == nil {
			key = o.Key
		}
		t.Names, t.Order = append(t.Names, o.Name), append(t.Order, key)
	}
	t.Sensitivity, t.Monotonic = sensitivity.OfScore(t.Measures[0], t.Neighbours, t.Caps)
	return unless(t, c.unitWithin(&t.Statement, &t.Statement))
}

// BuildOrder plans an access to rows in the order of one value: SELECT age FROM t WHERE …. Rows in which the value
// is NULL do not count. Values lie between the measure's Lo and Hi. Errors are as in Build.
func BuildOrder(p *policy.Policy, r Request) (*Target, error) {
	q, err := read(job{policy: p, original: r})
	if err != nil {
		return nil, err
	}
	k, err := bindPlainKeys(q, func(tree *query.Select) error {
		if len(tree.Items) != 1 || len(tree.GroupBy) > 0 {
			return bind.Refuse(
				tree.Items[0].Expr.Pos(),
				"ask a question such as SELECT age FROM people",
				"ordered rows need one selected value and no GROUP BY",
			)
		}
		return nil
	})
	m, err := next(measureValue, k, err)
	c, err := next(capRows, m, err)
	if err != nil {
		return nil, err
	}
	t := targetOf(c)
	t.Sensitivity = big.NewInt(c.caps.Rows)
	t.Ordered = true
	return unless(t, c.unitWithin(&t.Statement, &t.Statement))
}

// plainly refuses clauses and options that only tables of noisy numbers have.
func (b *keying) plainly() error {
	switch {
	case b.written != nil:
		return bind.Refuse(
			b.setsAt,
			"group by one list of expressions",
			"this kind of question takes no ROLLUP, CUBE or GROUPING SETS",
		)
	case b.tree.Having != nil, len(b.tree.OrderBy) > 0, b.tree.Limit != nil, b.tree.Offset != nil:
		return bind.Refuse(query.Pos{}, "leave them out", "this kind of question takes no HAVING, ORDER BY or LIMIT")
	case b.request.MaxRows > 0, b.request.AutoRows, b.request.TargetError != nil:
		return bind.Refuse(
			query.Pos{},
			"leave them out",
			"this kind of question takes no max_rows_contributed or target_relative_error",
		)
	case b.request.MaxGroups > 0:
		return bind.Refuse(query.Pos{}, "leave it out", "this kind of question takes no max_groups")
	case b.request.Unknown.Other, b.request.Unknown.MinUnits > 1:
		return bind.Refuse(
			query.Pos{},
			"leave them out",
			"a least number of units and a group of others apply to unknown keys, and all keys here are known",
		)
	}
	return nil
}

// measureScore makes the one measure of the candidates' scores.
func measureScore(k *keyed) (*measured, error) {
	b := newMeasuring(k)
	if err := run(b.selectList, b.plainScore); err != nil {
		return nil, err
	}
	scores, shown := 0, []int{}
	for i, o := range b.outputs {
		switch {
		case o.Post == nil:
			shown = append(shown, o.Key)
		case o.Post.Op == PostAggregate && len(b.aggregates[o.Post.Index].measures()) == 1:
			scores++
		default:
			return nil, bind.Refuse(
				b.tree.Items[i].Expr.Pos(),
				"ask for COUNT(*), COUNT(x) or SUM(x) itself",
				"a score is one count or sum",
			)
		}
	}
	for i := range b.grouped {
		if !slices.Contains(shown, b.place[i]) {
			return nil, bind.Refuse(
				b.tree.GroupBy[i].Pos(),
				"select it too",
				"the result shows the selected columns of the chosen group, and this GROUP BY expression is not selected",
			)
		}
	}
	if scores != 1 || len(b.measures) != 1 {
		return nil, bind.Refuse(
			b.first(),
			"ask for one COUNT(*), COUNT(x) or SUM(x)",
			"candidates have one score, not %d",
			scores,
		)
	}
	return b.measured, nil
}

// plainScore refuses named arguments other than bounds of rows.
func (b *measuring) plainScore() error {
	for _, c := range b.claims {
		if c.terms != (terms{}) {
			return bind.Refuse(c.terms.at, "leave it out", "a score always gets the whole price")
		}
	}
	if len(b.searches) > 0 || b.cellsClamped() {
		return bind.Refuse(
			b.first(),
			"give the aggregate bounds => (low, high)",
			"a score takes constant bounds per row",
		)
	}
	return nil
}

// measureValue makes the measure of the one value that rows are ordered by.
func measureValue(k *keyed) (*measured, error) {
	b := newMeasuring(k)
	x := b.tree.Items[0].Expr
	e, err := b.Row(x)
	if err != nil {
		return nil, err
	}
	if bind.IsUntypedNull(e) || e.Type == value.Boolean {
		return nil, bind.Refuse(x.Pos(), "", "a number is needed here")
	}
	if err := bind.Numeric(e, x.Pos()); err != nil {
		return nil, err
	}
	m, err := sumMeasure(e, false, x.Pos())
	if err != nil {
		return nil, err
	}
	b.measures = []*unpricedMeasure{m}
	return b.measured, nil
}

// capScore bounds one unit for scores, and capRows for ordered rows and vectors.
func capScore(m *measured) (*capped, error) { return boundBy(m, (*bounding).scoreCaps) }
func capRows(m *measured) (*capped, error)  { return boundBy(m, (*bounding).rowCaps) }

// scoreCaps sets the caps under which one unit moves a single cell (group) least. A unit may count in any number of
// cells, because the mechanism compares scores and does not add them.
func (b *bounding) scoreCaps() error {
	if err := b.unitColumn(); err != nil || b.unit == nil {
		return err
	}
	unit := b.Table.Unit
	b.caps = bounded.Caps{Rows: unit.RowsPerUnit}
	if m := b.measures[0]; m.OfUnits() ||
		!m.Distinct() && unit.RowsPerGroup < unit.RowsPerUnit {
		b.caps = bounded.Caps{Groups: int64(b.cells().Cells()), RowsPerGroup: unit.RowsPerGroup}
	}
	return nil
}

// rowCaps sets a cap on the rows of one unit.
func (b *bounding) rowCaps() error {
	if err := b.unitColumn(); err != nil || b.unit == nil {
		return err
	}
	b.caps = bounded.Caps{Rows: b.Table.Unit.RowsPerUnit}
	return nil
}

// targetOf returns a target with the fields that all targets have, whatever the mechanism.
func targetOf(c *capped) *Target {
	return &Target{Statement: c.statement(), Neighbours: c.neighbours(), Price: c.price, digest: c.policy.Digest()}
}

// Unconfined returns a copy of t that reads the rows of all parts, for questions that are charged to all parts.
func (t *Target) Unconfined() *Target {
	out := *t
	out.Part = nil
	return &out
}

// Key returns the replay key of a release from t. The text mechanism names the mechanism with all its parameters.
func (t *Target) Key(versions []int, mechanism string) string {
	var b strings.Builder
	describeStatement(&t.Statement, &b, t.digest, versions, t.Neighbours, t.Price)
	fmt.Fprintf(&b, "measure %s sensitivity %s\nmechanism %s\n", t.Measures[0], t.Sensitivity, mechanism)
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Meaning returns a digest of what t counts, whatever the version, the price and the caps: the unit, the neighbours, the
// condition, the keys with their values, the measure, and the declarations by which the columns that these read are
// cleaned. A stream continues only while its question has the same meaning.
func (t *Target) Meaning() string {
	var b strings.Builder
	fmt.Fprintf(&b, "semantics %d\ntable %q\nneighbours %s\n", semantics, t.Table, t.Neighbours)
	if t.Unit != nil {
		fmt.Fprintf(&b, "unit %q %s\n", t.Unit.Name, t.Unit.Type)
	}
	if t.Where != nil {
		fmt.Fprintf(&b, "where %s\n", t.Where)
	}
	for _, k := range t.Keys {
		fmt.Fprintf(&b, "key %s %q\n", k.Expr, k.Values)
	}
	for _, m := range t.Measures {
		fmt.Fprintf(&b, "measure %s\n", m)
	}
	for _, i := range t.Reads() {
		c := t.Columns[i]
		fmt.Fprintf(&b, "column %q %s %v %v %q\n", c.Name, c.Type, c.Lower, c.Upper, c.Values)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
