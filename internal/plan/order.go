package plan

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
)

// The aggregate functions that depend on the order of rows or choose among values. The others are computed from
// sums.
const (
	QuantileFunc Func = "quantile"
	ModeFunc     Func = "mode"
)

// orderAggregate plans a quantile or a mode.
func (b *measuring) orderAggregate(x *query.Call) (*Post, error) {
	upper := strings.ToUpper(x.Name)
	x, err := b.orderArguments(x)
	switch {
	case err != nil:
		return nil, err
	case x.Star || x.Distinct:
		return nil, bind.Refuse(x.At, "leave it out", "%s takes neither * nor DISTINCT", upper)
	case x.Name == "approx_quantiles":
		return nil, bind.Refuse(
			x.At,
			"in an expression, write PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY x)",
			"APPROX_QUANTILES returns several columns, so it can only be a whole item of the SELECT list",
		)
	}
	of, rest, err := bind.OrderedBy(x, upper)
	if err != nil {
		return nil, err
	}
	switch {
	case x.Name == "mode" && len(rest) == 0:
		return b.mode(of)
	case x.Name == "median" && len(rest) == 0 && x.Within == nil:
		return b.quantileAt(of, upper, big.NewRat(1, 2))
	case x.Name != "mode" && x.Name != "median" && len(rest) == 1:
		rank, err := bind.RankOf(rest[0])
		if err != nil {
			return nil, err
		}
		if x.Within != nil && x.Within.Desc {
			rank.Sub(big.NewRat(1, 1), rank)
		}
		return b.quantileAt(of, upper, rank)
	}
	return nil, bind.Refuse(x.At, bind.OrderForms[x.Name], "wrong arguments for %s", upper)
}

// orderArguments returns the call without its named arguments. Bounds clamp the value that rows are ordered by.
func (b *measuring) orderArguments(x *query.Call) (*query.Call, error) {
	of := *x
	if x.Within != nil {
		of.Args = []query.Expr{x.Within.Expr}
	} else if len(x.Args) > 1 {
		of.Args = x.Args[:1]
	}
	bounded, err := b.arguments(&of)
	if err == nil {
		err = b.plainArguments(x.At)
	}
	if err != nil || len(bounded.Args) == 0 {
		return x, err
	}
	out := *x
	out.Named = nil
	if x.Within != nil {
		by := *x.Within
		by.Expr = bounded.Args[0]
		out.Within = &by
	} else {
		out.Args = append([]query.Expr{bounded.Args[0]}, x.Args[1:]...)
	}
	return &out, nil
}

// approxQuantiles plans the columns of APPROX_QUANTILES(x, n): x_0, the minimum, to x_n, the maximum. The boolean
// reports whether the item is such a call.
func (b *measuring) approxQuantiles(item query.Item) (bool, error) {
	x, ok := item.Expr.(*query.Call)
	if !ok || x.Name != "approx_quantiles" {
		return false, nil
	}
	x, err := b.orderArguments(x)
	if err != nil {
		return true, err
	}
	of, rest, err := bind.OrderedBy(x, "APPROX_QUANTILES")
	if err != nil {
		return true, err
	}
	if x.Star || x.Distinct || x.Within != nil || len(rest) != 1 {
		return true, bind.Refuse(x.At, bind.OrderForms[x.Name], "wrong arguments for APPROX_QUANTILES")
	}
	l, ok := rest[0].(*query.Literal)
	n := new(big.Int)
	if ok && l.Kind == query.IntegerLiteral {
		n.SetString(l.Text, 10)
	}
	if n.Sign() <= 0 || n.Cmp(big.NewInt(MaxApproxQuantiles)) > 0 {
		return true, bind.Refuse(
			rest[0].Pos(),
			"write APPROX_QUANTILES(x, 4) for quartiles, which are x_0 to x_4",
			"the number of parts is a constant from 1 to %d",
			MaxApproxQuantiles,
		)
	}
	base := item.Alias
	if base == "" {
		base = x.Name
	}
	var c claim // all quantiles of the call have one claim, so one share of the price
	for i := range n.Int64() + 1 {
		q, post, err := b.quantile(of, "APPROX_QUANTILES", big.NewRat(i, n.Int64()))
		if err != nil {
			return true, err
		}
		name := b.outputName(query.Item{Expr: x, Alias: fmt.Sprintf("%s_%d", base, i)})
		b.outputs = append(b.outputs, Output{Name: name, Post: post})
		c.parts = append(c.parts, q)
	}
	b.claim(c)
	b.given = given{}
	return true, nil
}

// numbered returns the expression that ORDER BY n stands for, or x if there is no such item. Items after an
// APPROX_QUANTILES do not have the numbers of their columns. For them, numbered returns the APPROX_QUANTILES, which
// the caller refuses.
func numbered(tree *query.Select, n int, x query.Expr) query.Expr {
	for i, item := range tree.Items {
		if i == n-1 {
			return item.Expr
		}
		if x, ok := item.Expr.(*query.Call); ok && x.Name == "approx_quantiles" {
			return x
		}
	}
	return x
}

// Numbers returns how many numbers are released of each cell (group): one for each measure, then three for each
// quantile, then one for each mode.
func (p *Plan) Numbers() int { return len(p.Measures) + 3*len(p.Quantiles) + len(p.Modes) }

// QuantileAt returns the index, among the released numbers of a cell (group), of a quantile's first number. A quantile
// has three: its value, and the lower and the upper end of its interval, in grid units.
func (p *Plan) QuantileAt(q *Quantile) int { return len(p.Measures) + 3*slices.Index(p.Quantiles, q) }

// ModeAt returns the index, among the released numbers of a cell (group), of a mode's number, which is the index of the
// chosen value.
func (p *Plan) ModeAt(m *Mode) int {
	return len(p.Measures) + 3*len(p.Quantiles) + slices.Index(p.Modes, m)
}

// Ordered returns the statement that lists a value of the plan's quantiles in order, by cell (group).
func (p *Plan) Ordered(v *bounded.Measure) *bounded.Statement {
	b := p.Statement
	b.Measures, b.Caps, b.Ordered = []*bounded.Measure{v}, p.OrderCaps, true
	return &b
}

// Counted returns the statement that counts the rows with each value of a mode, by cell (group). The mode's value is
// the last key, which runs fastest.
func (p *Plan) Counted(m *Mode) *bounded.Statement {
	b := p.Statement
	b.Keys = append(slices.Clone(b.Keys), m.Of)
	b.Measures, b.Caps = []*bounded.Measure{{Kind: bounded.CountRows, Hi: 1}}, p.RowCaps
	return &b
}

// Looks returns the statements of all accesses to rows except searches. There is at least one. The statement for
// measures comes first, if there are measures or the groups are unknown.
func (p *Plan) Looks() (out []*bounded.Statement) {
	if len(p.Measures) > 0 || p.Open() {
		out = append(out, &p.Statement)
	}
	for _, g := range p.Sets {
		if look := p.SetLook(g); look != nil {
			out = append(out, look)
		}
	}
	for _, of := range p.Orders() {
		for _, v := range of.OrderedValues() {
			out = append(out, of.Ordered(v))
		}
		for _, m := range of.Modes {
			out = append(out, of.Counted(m))
		}
	}
	if p.Truncation != nil {
		out = append(out, &p.Truncation.Look)
	}
	return out
}

// OrderedValues returns the values that the quantiles order rows by, each once.
func (p *Plan) OrderedValues() (out []*bounded.Measure) {
	for _, q := range p.Quantiles {
		if !slices.Contains(out, q.Value) {
			out = append(out, q.Value)
		}
	}
	return out
}

// describeOrders writes everything that the release of quantiles and modes depends on, except the statement.
func (p *Plan) describeOrders(w io.Writer) {
	if len(p.Quantiles)+len(p.Modes) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "ordered rows=%d groups=%d rows_per_group=%d counted rows=%d\n", p.OrderCaps.Rows, p.OrderCaps.Groups, p.OrderCaps.RowsPerGroup, p.RowCaps.Rows)
	for _, q := range p.Quantiles {
		draw, offset := q.formerly()
		_, _ = fmt.Fprintf(w, "%s draws %s sensitivity %s offset %d %s\n", q, draw, q.Sensitivity.RatString(), offset, q.Loss)
	}
	for _, m := range p.Modes {
		_, _ = fmt.Fprintf(w, "%s draws %s sensitivity %d %s\n", m, m.Epsilon().Rat().RatString(), m.Rows, m.Loss)
	}
}
