// Package enginetest is the reference meaning of a bounded aggregate: the plainest possible reading of it, over rows in memory. It
// stands in for a database in tests of the plan, and checks the databases' answers.
package enginetest

import (
	"cmp"
	"crypto/md5" //nolint:gosec // the engines' digest, for an order only
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/internal/plan"
	"dither/internal/value"
)

// Row is one row: its values by column.
type Row map[string]value.Value

// piece is what one row, or one unit in one cell, contributes.
type piece struct {
	unit   value.Value
	keys   []value.Value
	values []*int64 // gridded, not clamped; nil for NULL
	sums   []*big.Int
	seen   string // its digest's text
}

// Sum gives each cell's exact sums to add.
func Sum(b *plan.Bounded, rows []Row, add func(keys []value.Value, sums []*big.Int)) {
	var pieces []piece
	for _, r := range rows {
		if p, ok := evaluate(b, r); ok {
			pieces = append(pieces, p)
		}
	}
	if b.Unit != nil {
		pieces = capped(cellsOf(b, capped(pieces, b.Caps.Rows)), b.Caps.Groups)
	} else {
		for i := range pieces {
			pieces[i].sums = contribution(b, pieces[i])
		}
	}
	for _, p := range pieces {
		add(p.keys, p.sums)
	}
}

// evaluate is one row's keys and gridded values, or false where the row does not count.
func evaluate(b *plan.Bounded, r Row) (piece, bool) {
	row := make([]value.Value, len(b.Columns))
	var p piece
	for i, c := range b.Columns {
		v, ok := r[c.Name]
		if !ok {
			v = value.NullOf(c.Type)
		}
		row[i] = clean(c, v)
		if b.Unit != nil && c.Name == b.Unit.Name {
			p.unit = row[i]
		}
	}
	if b.Unit != nil && p.unit.Null {
		return p, false
	}
	if b.Where != nil {
		if v := eval(b.Where, row); v.Null || !v.Bool {
			return p, false
		}
	}
	for i := range b.Keys {
		v := eval(b.Keys[i].Expr, row)
		if b.Keys[i].Index(v) < 0 {
			return p, false
		}
		p.keys = append(p.keys, v)
	}
	for _, m := range b.Measures {
		p.values = append(p.values, gridded(m, row))
	}
	p.seen = digest(p, true)
	return p, true
}

func gridded(m *plan.Measure, row []value.Value) *int64 {
	one := int64(1)
	if m.Kind == plan.CountRows || m.Kind == plan.CountUnits {
		return &one
	}
	v := eval(m.X, row)
	if v.Null {
		return nil
	}
	if m.Kind == plan.CountValue {
		return &one
	}
	n := v.Int
	if m.Rounds() {
		n = int64(math.RoundToEven(math.Ldexp(v.Real, -m.Grid)))
	} else {
		n <<= -m.Grid
	}
	n -= m.Centre
	return &n
}

func contribution(b *plan.Bounded, p piece) []*big.Int {
	out := make([]*big.Int, len(p.values))
	for i, v := range p.values {
		out[i] = new(big.Int)
		if v != nil {
			out[i].SetInt64(min(max(*v, b.Measures[i].Lo), b.Measures[i].Hi))
		}
	}
	return out
}

// digest orders a unit's rows or cells as the engines do.
func digest(p piece, values bool) string {
	parts := []string{text(p.unit)}
	for _, k := range p.keys {
		parts = append(parts, text(k))
	}
	if values {
		for _, v := range p.values {
			if v == nil {
				parts = append(parts, "~")
			} else {
				parts = append(parts, fmt.Sprint(*v))
			}
		}
	}
	sum := md5.Sum([]byte(strings.Join(parts, "|"))) //nolint:gosec // an order only
	return hex.EncodeToString(sum[:])
}

// capped keeps each unit's first n pieces by digest.
func capped(pieces []piece, n int64) []piece {
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(value.Compare(a.unit, b.unit), cmp.Compare(a.seen, b.seen))
	})
	var out []piece
	kept := int64(0)
	for i, p := range pieces {
		if i == 0 || value.Compare(p.unit, pieces[i-1].unit) != 0 {
			kept = 0
		}
		if kept++; kept <= n {
			out = append(out, p)
		}
	}
	return out
}

// cellsOf adds a unit's rows up within each cell; a unit counts once in a cell.
func cellsOf(b *plan.Bounded, pieces []piece) []piece {
	byCell := map[string]int{}
	var out []piece
	for _, p := range pieces {
		p.seen = digest(p, false)
		sums := contribution(b, p)
		i, ok := byCell[p.seen]
		if !ok {
			byCell[p.seen] = len(out)
			p.sums = sums
			out = append(out, p)
			continue
		}
		for j, s := range sums {
			if b.Measures[j].Kind != plan.CountUnits {
				out[i].sums[j].Add(out[i].sums[j], s)
			}
		}
	}
	return out
}
