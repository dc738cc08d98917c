// Package plan turns a question and a policy into everything that an answer needs: the bounded aggregate that an engine
// runs, how far one unit can move it, the noise, the price, and what is computed from the released numbers. It never sees
// data, so that nothing it decides, refuses or prints can reveal any.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Bounded is the aggregate that an engine runs over one sealed table: the only form of access to rows that there is.
//
// Its meaning: take the rows whose unit is not NULL, with every column cleaned; keep those where Where is true and every
// key is one of its known values; bound what each unit adds, by Caps, by a choice that reads that unit's own rows alone;
// give, for every cell, each measure's integer sum.
type Bounded struct {
	Table    string
	Unit     *Column // nil where each row is a unit
	Columns  []Column
	Where    *Expr // nil for all rows
	Keys     []Key // in canonical order
	Measures []*Measure
	Caps     Caps
	// Ordered asks for rows in place of sums: how often each gridded value of the one measure occurs, in increasing order,
	// without those that are NULL.
	Ordered bool
}

// Cells is how many cells an answer has: the product of the keys' numbers of values.
func (b *Bounded) Cells() int {
	n := 1
	for i := range b.Keys {
		n *= len(b.Keys[i].Values)
	}
	return n
}

// CellKeys gives the values of the keys of the i-th cell: the last key runs fastest.
func (b *Bounded) CellKeys(i int) []value.Value {
	out := make([]value.Value, len(b.Keys))
	for j := len(out) - 1; j >= 0; j-- {
		values := b.Keys[j].Values
		out[j] = values[i%len(values)]
		i /= len(values)
	}
	return out
}

// Plan is one question, decided.
type Plan struct {
	Bounded
	Neighbours privacy.Neighbours
	Price      privacy.Loss
	Aggregates []Aggregate // in order of first use
	Outputs    []Output
	Having     *Post
	Order      []OrderBy
	Limit      *int64
	Offset     int64

	digest string
}

// Request is a question with what its asker chose.
type Request struct {
	SQL       string
	Price     privacy.Loss // zero: the policy's default price
	MaxGroups int64        // of one unit; 0: the policy's
}

// Build plans a question. Every error is a *query.Error or an *Error, and a function of the request and the policy alone.
func Build(p *policy.Policy, r Request) (*Plan, error) {
	b, err := newBuilder(p, r)
	if err != nil {
		return nil, err
	}
	return b.build()
}

// newBuilder reads a request, and finds its table and its price.
func newBuilder(p *policy.Policy, r Request) (*builder, error) {
	tree, err := query.Parse(r.SQL)
	if err != nil {
		return nil, err
	}
	table, err := tableOf(p, tree)
	if err != nil {
		return nil, err
	}
	if r.MaxGroups < 0 || r.MaxGroups > policy.MaxRowsPerUnit {
		return nil, &Error{Message: fmt.Sprintf("max_groups is between 1 and %d", policy.MaxRowsPerUnit)}
	}
	price, err := priceOf(p, r.Price)
	if err != nil {
		return nil, err
	}
	return &builder{
		lowering: lowering{table: table, alias: aliasOf(tree)},
		tree:     tree, maxGroups: r.MaxGroups,
		plan: &Plan{Neighbours: p.Population.Neighbours, Price: price, digest: p.Digest()},
	}, nil
}

func tableOf(p *policy.Policy, tree *query.Select) (*policy.Table, error) {
	if t := p.Table(tree.From.Table); t != nil {
		if t.Public {
			return nil, refuse(tree.From.At, "read its source directly: it is public", "table %q is public and holds nothing to protect", t.Name)
		}
		return t, nil
	}
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.Name)
	}
	return nil, refuse(tree.From.At, suggestion(tree.From.Table, names), "there is no table %q", tree.From.Table)
}

func aliasOf(tree *query.Select) string {
	if tree.From.Alias != "" {
		return tree.From.Alias
	}
	return tree.From.Table
}

func priceOf(p *policy.Policy, asked privacy.Loss) (privacy.Loss, error) {
	if asked.IsZero() {
		return p.Price.Default, nil
	}
	if !p.Price.Minimum.Within(asked) {
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is below the policy's minimum of %s for one question", asked, p.Price.Minimum),
			Hint:    "ask for a larger one, as the policy's default",
		}
	}
	if !asked.Within(p.Price.Maximum) {
		return asked, &Error{
			Message: fmt.Sprintf("a price of %s is above the policy's maximum of %s for one question", asked, p.Price.Maximum),
			Hint:    "ask at --epsilon " + p.Price.Maximum.Price().String() + " or less",
		}
	}
	return asked, nil
}

// builder puts one plan together.
type builder struct {
	lowering
	tree      *query.Select
	maxGroups int64 // as asked for; 0 if not
	plan      *Plan
	grouped   []Key // the GROUP BY expressions, in the question's order
	place     []int // of each grouped expression among the plan's keys
	claims    []claim
}

func (b *builder) build() (*Plan, error) {
	if err := run(b.where, b.groupBy, b.outputs, b.having, b.orderBy, b.caps, b.split); err != nil {
		return nil, err
	}
	b.plan.Table, b.plan.Columns = b.table.Name, b.columns
	b.plan.Limit = b.tree.Limit
	if b.tree.Offset != nil {
		b.plan.Offset = *b.tree.Offset
	}
	return b.plan, nil
}

// run takes steps until one refuses.
func run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) where() (err error) {
	if b.tree.Where != nil {
		b.plan.Where, err = b.condition(b.tree.Where)
	}
	return err
}

func (b *builder) groupBy() error {
	cells := 1
	for _, x := range b.tree.GroupBy {
		e, err := b.row(b.resolveAlias(x))
		if err != nil {
			return err
		}
		if e.isUntypedNull() {
			return refuse(x.Pos(), "", "NULL is not a group")
		}
		k, err := b.key(e, x.Pos())
		if err != nil {
			return err
		}
		b.grouped = append(b.grouped, k)
		if cells *= max(len(k.Values), 1); cells > MaxCells {
			return refuse(x.Pos(), "group by fewer or coarser expressions", "the answer would have more than %d cells", MaxCells)
		}
	}
	b.plan.Keys, b.place = sortKeys(b.grouped)
	return nil
}

// semantics is the version of what a Bounded means: of cleaning, of expressions, of which rows and cells a unit keeps. When
// any of it changes, no earlier release is a replay.
const semantics = 1

// Canonical is a text such that two plans with one text release the same: the meaning of bounded aggregates, the bounded aggregate with its bounds, its
// noise and its price, the policy, and the published version of the sealed table. What is computed from the released
// numbers afterwards (names, order, HAVING, confidence, format) is no part of it.
func (p *Plan) Canonical(version int) string {
	var b strings.Builder
	p.describe(&b, p.digest, version, p.Neighbours, p.Price)
	for _, m := range p.Measures {
		fmt.Fprintf(&b, "measure %s %s %s %s\n", m, m.Noise, m.Parameter.RatString(), m.Loss)
	}
	return b.String()
}

// describe writes what any release depends on, but for its measures and their mechanisms.
func (b *Bounded) describe(w *strings.Builder, digest string, version int, n privacy.Neighbours, price privacy.Loss) {
	fmt.Fprintf(w, "semantics %d\npolicy %s\ntable %q version %d\nneighbours %s\n", semantics, digest, b.Table, version, n)
	fmt.Fprintf(w, "price %s\ncaps rows=%d groups=%d rows_per_group=%d\n", price, b.Caps.Rows, b.Caps.Groups, b.Caps.RowsPerGroup)
	if b.Where != nil {
		fmt.Fprintf(w, "where %s\n", b.Where)
	}
	for _, k := range b.Keys {
		fmt.Fprintf(w, "key %s %q\n", k.Expr, k.Values)
	}
}

// Key is the replay key: the digest of Canonical.
func (p *Plan) Key(version int) string {
	sum := sha256.Sum256([]byte(p.Canonical(version)))
	return hex.EncodeToString(sum[:])
}

// Sensitivity is the L1 distance that the whole answer's vector of measures can move between neighbours, in the measures'
// own units (not the grid's).
func (p *Plan) Sensitivity() *big.Rat {
	total := new(big.Rat)
	for _, m := range p.Measures {
		total.Add(total, m.Units(m.L1))
	}
	return total
}

// L2Squared is the square of the L2 distance, likewise.
func (p *Plan) L2Squared() *big.Rat {
	total := new(big.Rat)
	for _, m := range p.Measures {
		u := m.Unit()
		total.Add(total, u.Mul(u, m.Units(m.L2Squared)))
	}
	return total
}

// Units converts a number of grid units to the measure's own unit.
func (m *Measure) Units(n *big.Int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), m.Unit())
}

// Unit is the grid's unit, 2^Grid.
func (m *Measure) Unit() *big.Rat {
	one := big.NewInt(1)
	if m.Grid < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-m.Grid)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(m.Grid)))
}
