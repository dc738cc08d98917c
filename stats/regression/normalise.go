package regression

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/formula"
	"dither/stats/internal/request"
	"dither/stats/internal/scale"
)

// normalSpreads is the number of spreads about its mean to which a normalised number is clamped.
const normalSpreads = 3

// normaliser estimates the means and spreads of numbers z that are scaled by their declared bounds. One access
// measures Σz, Σ(z² − ½) and the number of rows. The bounds are post-processing of this release.
//
// With d numbers, a row's vector of all z and z² − ½ has an L₁ norm of at most 3d/2 and a squared L₂ norm of at
// most 5d/4, because |z| ≤ 1. The kernel enforces the bound on every row.
type normaliser struct {
	table   curator.Table
	columns []scale.Column
	of      curator.Vectors
}

// newNormaliser plans the access at the price of q. l2 selects the L₂ norm. It returns nil if there are no numbers.
func newNormaliser(t curator.Table, names []string, where string, q curator.Request, l2 bool) (*normaliser, error) {
	if len(names) == 0 {
		return nil, nil
	}
	n := &normaliser{table: t}
	var items []string
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name })
		if i < 0 {
			return nil, request.Misuse("", "the table %s has no column %q", t.Name, name)
		}
		c, err := scale.Of(t.Columns[i], "")
		if err != nil {
			return nil, err
		}
		n.columns = append(n.columns, c)
		items = append(items, c.SQL(), "("+c.SQL()+") * ("+c.SQL()+") - 0.5")
	}
	norm, bound := curator.L1, big.NewRat(int64(3*len(names)), 2)
	if l2 {
		norm, bound = curator.L2, scale.RootAbove(big.NewRat(int64(5*len(names)), 4))
	}
	bound.Mul(bound, big.NewRat(1000001, 1000000)) // margin, so that rounding of doubles scales no row down
	q.SQL = "SELECT " + strings.Join(items, ", ") + " FROM " + curator.SQLName(t.Name)
	if strings.TrimSpace(where) != "" {
		q.SQL += " WHERE (" + where + "\n)"
	}
	n.of = curator.Vectors{
		Request: q, Blocks: []curator.Block{{
			Size: 2 * len(names), Norm: norm,
			Bound: exact.FormatRat(exact.CeilDigits(bound, 9)),
		}},
		Sums: []curator.Sum{curator.Count(), curator.First(0).Weighing("4")},
	}
	return n, nil
}

// find makes the access and returns the bounds that it found. A number keeps its declared bounds if noise hides its
// spread, or if its variance is above 1.
func (n *normaliser) find(
	ctx context.Context, c *curator.Session,
) (found []formula.Bounds, m *curator.Moments, err error) {
	if m, err = c.Moments(ctx, n.of); err != nil {
		return nil, nil, err
	}
	if len(m.Cells) != 1 {
		return nil, nil, request.Misuse("fit each group separately, with a condition",
			"means and spreads do not support groups")
	}
	unit, _ := m.Sums[1].Unit.Float64()
	rows, _ := new(big.Float).SetInt(m.Sums[0].Values[0][0]).Float64()
	rowsError, sumError := m.Sums[0].Noise.StdDev(), m.Sums[1].Noise.StdDev()*unit
	value := func(i int) float64 {
		x, _ := new(big.Float).SetInt(m.Sums[1].Values[0][i]).Float64()
		return x * unit
	}
	for i, column := range n.columns {
		if b, ok := normalBounds(column, rows, rowsError, value(2*i), value(2*i+1), sumError); ok {
			found = append(found, b)
		}
	}
	return found, m, nil
}

// normalBounds returns the bounds of one column from its noisy sums. ok is false if noise hides the number of rows
// or the spread, or if the noisy variance is above 1.
func normalBounds(c scale.Column, rows, rowsError, first, second, sumError float64) (b formula.Bounds, ok bool) {
	if !(rows > 4*rowsError) || rows < 2 {
		return b, false
	}
	mean := math.Max(-1, math.Min(1, first/rows))
	variance := second/rows + 0.5 - mean*mean
	// Error of the variance to first order, from the noise on both sums and on the count.
	off := math.Sqrt(sumError*sumError*(1+4*mean*mean)+rowsError*rowsError*(variance-0.5)*(variance-0.5)) / rows
	if !(variance > 4*off) || variance > 1 {
		return b, false
	}
	spread := math.Sqrt(variance)
	low, high := math.Max(-1, mean-normalSpreads*spread), math.Min(1, mean+normalSpreads*spread)
	b = formula.Bounds{
		Column: c.Name, Mean: c.Middle + c.Half*mean, Spread: c.Half * spread, Low: c.Raw(low),
		High: c.Raw(high),
	}
	return b.InDecimals()
}

// keptBounds returns a note that names the numbers that were not normalised, or "" if all were.
func keptBounds(names []string, found []formula.Bounds) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(found, func(b formula.Bounds) bool { return b.Column == name })
	})
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": scaled by the declared bounds, because noise hides the spread within them"
}

// normaliseNote returns a note for an explanation: the share of the price that finds means and spreads.
func normaliseNote(text string) (string, error) {
	share, err := request.Share(text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(
		"The stated noise assumes the full price and the declared bounds; %s of the price estimates the means and "+
			"spreads of the numeric columns, by which they are scaled.", exact.FormatRat(share)), nil
}

// normalise scales the design's numbers by their means and spreads, and plans the measurement again for the rest of
// the price. It pays only if the remaining budget covers the whole price and the policy permits both parts. If pay
// is false, it uses only an earlier release. found reports whether there is one.
func (l *linear) normalise(ctx context.Context, c *curator.Session, pay bool) (found bool, err error) {
	share, err := request.Share(l.Normalise)
	if err != nil {
		return false, err
	}
	parts, rest, err := request.Divide(l.told.Price, share)
	if err != nil {
		return false, err
	}
	n, err := newNormaliser(l.table, l.design.Formula.Numbers(l.table), l.Where, request.At(l.Request, parts[0]),
		l.told.Price.Rho != "")
	if err != nil || n == nil {
		return true, err
	}
	told, err := c.ExplainMoments(ctx, n.of)
	if err != nil {
		return false, request.Partly(err)
	}
	if !told.Replayed {
		if err := l.plannable(ctx, c, rest); err != nil || !pay {
			return false, err
		}
		if err := request.Payable(told.Remaining, l.told.Price, told.Largest); err != nil {
			return false, err
		}
	}
	within, m, err := n.find(ctx, c)
	if err != nil {
		return false, err
	}
	l.found, l.Request, l.replayed, l.releases = within, request.At(l.Request, rest), l.replayed && m.Replayed,
		append(l.releases, m.ID)
	return true, request.Stopped(l.planWithinFound(ctx, c), l.releases...)
}

// plannable checks that the policy permits the rest of a price for the measurement. Otherwise the refusal would
// come only after the first access was paid.
func (l *linear) plannable(ctx context.Context, c *curator.Session, rest curator.Request) error {
	v := l.vectors
	v.Request = request.At(v.Request, rest)
	_, err := c.ExplainMoments(ctx, v)
	return request.Partly(err)
}
