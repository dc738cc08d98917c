package stats

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/nearest"
)

// kmColumn is a column of the space that rows are clustered in: x is scaled to (x − centre)·factor, between −1 and 1 by the declared bounds.
type kmColumn struct {
	name             string
	low, high        *big.Rat
	centre, factor   *big.Rat
	centreOf, halfOf float64
	values           int // how many whole numbers are within the bounds of an integer column, at most kmMostBuckets; 0 of others
}

// kmSpace finds the columns in the table's policy.
func kmSpace(tables []curator.Table, of Clustering) (curator.Table, []kmColumn, error) {
	var names []string
	for _, t := range tables {
		if strings.EqualFold(t.Name, of.Table) {
			columns, err := kmColumns(t, of.Columns)
			return t, columns, err
		}
		names = append(names, t.Name)
	}
	return curator.Table{}, nil, misuse(kmMeant(of.Table, names), "there is no table %q", of.Table)
}

func kmMeant(name string, names []string) string {
	if near := nearest.Name(name, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// kmMostColumns bounds a space.
const kmMostColumns = 25

func kmColumns(t curator.Table, names []string) (out []kmColumn, err error) {
	if len(names) == 0 || len(names) > kmMostColumns {
		return nil, misuse("name the columns to cluster by", "clusters are of 1 to %d columns, not %d", kmMostColumns, len(names))
	}
	var all []string
	for _, c := range t.Columns {
		all = append(all, c.Name)
	}
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return nil, misuse(kmMeant(name, all), "the table %s has no column %q", t.Name, name)
		}
		c, err := kmColumnOf(t.Columns[i])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o kmColumn) bool { return o.name == c.name }) {
			return nil, misuse("name it once", "the column %s is named twice", c.name)
		}
		out = append(out, c)
	}
	return out, nil
}

func kmColumnOf(c curator.TableColumn) (kmColumn, error) {
	out := kmColumn{name: c.Name}
	if c.Type != "integer" && c.Type != "real" {
		return out, misuse("distances are between numbers", "the column %s is of type %s", c.Name, c.Type)
	}
	texts := c.Values
	if c.Lower != "" {
		texts = []string{c.Lower, c.Upper}
	}
	for _, text := range texts {
		r, err := exact.ParseDecimal(text)
		if err != nil {
			return out, misuse("", "the bounds of %s cannot be read", c.Name)
		}
		if out.low == nil || r.Cmp(out.low) < 0 {
			out.low = r
		}
		if out.high == nil || r.Cmp(out.high) > 0 {
			out.high = r
		}
	}
	switch {
	case out.low == nil:
		return out, misuse("the owner declares them in the policy; they are never looked up in the rows", "the column %s has no declared bounds", c.Name)
	case out.low.Cmp(out.high) == 0:
		return out, misuse("leave it out", "the column %s is a constant, by its declared bounds", c.Name)
	}
	out.centre = new(big.Rat).Add(out.low, out.high)
	out.centre.Mul(out.centre, big.NewRat(1, 2))
	// Engines multiply faster than they divide. The factor is a decimal, rounded down, and what is scaled is defined by it.
	out.factor = new(big.Rat).Quo(big.NewRat(2, 1), new(big.Rat).Sub(out.high, out.low))
	out.factor = exact.FloorDigits(out.factor, kmDigits)
	out.centreOf, _ = out.centre.Float64()
	out.halfOf, _ = new(big.Rat).Inv(out.factor).Float64()
	if width := new(big.Rat).Sub(out.high, out.low); c.Type == "integer" && width.Cmp(big.NewRat(kmMostBuckets, 1)) < 0 {
		out.values = int(width.Num().Int64()) + 1
	}
	return out, nil
}

// sql is the scaled column.
func (c kmColumn) sql() string {
	text := curator.SQLName(c.name)
	switch c.centre.Sign() {
	case 1:
		text = "(" + text + " - " + sqlRat(c.centre) + ")"
	case -1:
		text = "(" + text + " + " + sqlRat(new(big.Rat).Neg(c.centre)) + ")"
	}
	if c.factor.Cmp(big.NewRat(1, 1)) != 0 {
		text += " * " + sqlRat(c.factor)
	}
	return text
}

// bucket is the SQL of which of n equal parts of the column's range a value is in, from 1; its upper bound is in the last. The range of whole numbers
// is longer by a half at both ends, so that a bucket's numbers lie about its middle. A NULL is in the first, where it does not count.
func (c kmColumn) bucket(n int) string {
	low, high := c.low, c.high
	if c.values > 0 {
		half := big.NewRat(1, 2)
		low, high = new(big.Rat).Sub(low, half), new(big.Rat).Add(high, half)
	}
	return fmt.Sprintf("COALESCE(LEAST(WIDTH_BUCKET(%s, %s, %s, %d), %d), 1)", curator.SQLName(c.name), sqlRat(low), sqlRat(high), n, n)
}

// raw brings a scaled number back to the column's own unit, within its bounds.
func (c kmColumn) raw(x float64) float64 {
	low, _ := c.low.Float64()
	high, _ := c.high.Float64()
	return math.Max(low, math.Min(high, c.centreOf+c.halfOf*x))
}

func (c kmColumn) rawNumber(n ClusterNumber) ClusterNumber {
	return ClusterNumber{c.raw(n.Value), c.raw(n.Low), c.raw(n.High)}
}
