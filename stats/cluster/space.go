package cluster

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/nearest"
	"dither/stats/internal/request"
	"dither/stats/internal/scale"
)

// column is a column by which rows are clustered, scaled to between −1 and 1 by its declared bounds.
type column struct {
	scale.Column
	values int // number of integers within the bounds of an integer column, if at most mostBuckets; otherwise 0
}

// findSpace returns the request's table and its columns, by which rows are clustered.
func findSpace(tables []curator.Table, of Request) (curator.Table, []column, error) {
	var names []string
	for _, t := range tables {
		if strings.EqualFold(t.Name, of.Table) {
			columns, err := columnsOf(t, of.Columns)
			return t, columns, err
		}
		names = append(names, t.Name)
	}
	return curator.Table{}, nil, request.Misuse(meant(of.Table, names), "there is no table %q", of.Table)
}

func meant(name string, names []string) string {
	if near := nearest.Name(name, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// mostColumns is the largest number of columns by which rows can be clustered.
const mostColumns = 25

func columnsOf(t curator.Table, names []string) (out []column, err error) {
	if len(names) == 0 || len(names) > mostColumns {
		return nil, request.Misuse("name the columns to cluster by", "clusters need 1 to %d columns, not %d",
			mostColumns, len(names))
	}
	var all []string
	for _, c := range t.Columns {
		all = append(all, c.Name)
	}
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return nil, request.Misuse(meant(name, all), "the table %s has no column %q", t.Name, name)
		}
		c, err := columnOf(t.Columns[i])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o column) bool { return o.Name == c.Name }) {
			return nil, request.Misuse("name it once", "the column %s is named twice", c.Name)
		}
		out = append(out, c)
	}
	return out, nil
}

func columnOf(c curator.TableColumn) (out column, err error) {
	if c.Type != "integer" && c.Type != "real" {
		return out, request.Misuse("name numeric columns: clustering uses distances between numbers", "the column "+
			"%s is of type %s", c.Name, c.Type)
	}
	out.Column, err = scale.Of(c, "ask the owner to declare them in the policy: dither never takes them from the rows")
	if err != nil {
		return out, err
	}
	if width := new(big.Rat).Sub(out.High, out.Low); c.Type == "integer" && width.Cmp(big.NewRat(mostBuckets, 1)) < 0 {
		out.values = int(width.Num().Int64()) + 1
	}
	return out, nil
}

// bucket returns the SQL of a value's bucket, from 1 to n. The buckets divide the column's range into n equal
// parts, and the upper bound is in the last. For integers, the range is longer by a half at both ends, so that the
// middle of a bucket is the mean of its integers. NULL is in bucket 1; the kernel does not count such rows.
func (c column) bucket(n int) string {
	low, high := c.Low, c.High
	if c.values > 0 {
		half := big.NewRat(1, 2)
		low, high = new(big.Rat).Sub(low, half), new(big.Rat).Add(high, half)
	}
	return fmt.Sprintf("COALESCE(LEAST(WIDTH_BUCKET(%s, %s, %s, %d), %d), 1)",
		curator.SQLName(c.Name), scale.Decimal(low), scale.Decimal(high), n, n)
}

func (c column) rawNumber(n Number) Number {
	return Number{c.Raw(n.Value), c.Raw(n.Low), c.Raw(n.High)}
}
