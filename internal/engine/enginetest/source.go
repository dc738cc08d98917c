package enginetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// Tables holds the rows of each table.
type Tables map[string][]Row

// SumOf is [Sum] for the rows of a table or of a bounded.Source.
func SumOf(b *bounded.Statement, tables Tables, add func(keys []value.Value, sums []*big.Int)) {
	for _, p := range piecesOf(b, tables) {
		add(p.keys, p.sums)
	}
}

// OrderOf is [Order] for the rows of a table or of a bounded.Source.
func OrderOf(b *bounded.Statement, tables Tables) map[int64]int64 {
	out := map[int64]int64{}
	for _, p := range piecesOf(b, tables) {
		if p.values[0] != nil {
			out[p.sums[0].Int64()]++
		}
	}
	return out
}

func piecesOf(b *bounded.Statement, tables Tables) []piece {
	if b.Source == nil {
		return contributions(b, tables[b.Table])
	}
	var pieces []piece
	for _, r := range rowsOf(b.Source, tables) {
		if p, ok := evaluateRow(b, r.unit, r.row); ok {
			pieces = append(pieces, p)
		}
	}
	unit := func(p piece) value.Value { return p.unit }
	ranks := rank(pieces, unit, unit, func(p piece) []value.Value {
		all := slices.Clone(p.keys)
		for i, v := range p.values {
			if m := b.Measures[i]; m.Kind == bounded.CountDistinct {
				all = append(all, p.counted[i])
			} else if m.Kind == bounded.SumDistinct && v != nil { // engines clamp such a value before they order rows by it
				all = append(all, value.OfInt(min(max(*v, m.Lo), m.Hi)))
			} else if v == nil {
				all = append(all, value.NullOf(value.Integer))
			} else {
				all = append(all, value.OfInt(*v))
			}
		}
		return all
	})
	for i := range pieces {
		pieces[i].place = ranks[i]
	}
	return counted(b, pieces)
}

// derived is a row of a relation, with its unit.
type derived struct {
	unit value.Value
	row  []value.Value
}

// rank returns the number of each row within its part, from 1. A part is the set of all rows for which the function
// part returns the same value. Rows are ordered by a hash of their unit and contents, and then by the contents. unit is
// nil if rows have no units.
func rank[T any](rows []T, part, unit func(T) value.Value, contents func(T) []value.Value) []int64 {
	order := make([]int, len(rows))
	hashes := make([]string, len(rows))
	for i := range rows {
		order[i] = i
		if unit == nil {
			hashes[i] = hashOf(contents(rows[i]))
		} else {
			hashes[i] = hashOf(append([]value.Value{value.OfText(unit(rows[i]).String())}, contents(rows[i])...))
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(value.Compare(part(rows[i]), part(rows[j])), cmp.Compare(hashes[i], hashes[j]),
			slices.CompareFunc(contents(rows[i]), contents(rows[j]), value.Compare))
	})
	out := make([]int64, len(rows))
	for k, i := range order {
		out[i] = 1
		if k > 0 && value.Compare(part(rows[i]), part(rows[order[k-1]])) == 0 {
			out[i] = out[order[k-1]] + 1
		}
	}
	return out
}

func hashOf(contents []value.Value) string {
	var parts []string
	for _, v := range contents {
		switch {
		case v.Type == value.Real:
		case v.Null:
			parts = append(parts, "~")
		case v.Type == value.Text:
			parts = append(parts, v.Text)
		case v.Type == value.Boolean:
			parts = append(parts, strconv.FormatBool(v.Bool))
		default:
			parts = append(parts, strconv.FormatInt(v.Int, 10))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "|")))
	return hex.EncodeToString(sum[:])
}

// rowsOf returns the rows of s. It is the reference for what a Source means.
func rowsOf(s *bounded.Source, tables Tables) (out []derived) {
	switch s.Op {
	case bounded.Scan:
		return scanOf(s, tables[s.Table])
	case bounded.Owned:
		return ownedOf(s, tables)
	case bounded.Select:
		for _, r := range rowsOf(s.Inputs[0], tables) {
			if s.Where != nil {
				if v := eval(s.Where, r.row); v.Null || !v.Bool {
					continue
				}
			}
			next := derived{unit: r.unit}
			for _, e := range s.Exprs {
				next.row = append(next.row, eval(e, r.row))
			}
			out = append(out, next)
		}
	case bounded.Join:
		return joinOf(s, tables)
	case bounded.Union:
		for _, in := range s.Inputs {
			out = append(out, rowsOf(in, tables)...)
		}
	case bounded.PerUnit:
		return perUnitOf(s, tables)
	case bounded.Window:
		return windowedOf(s, tables)
	}
	return out
}

func scanOf(s *bounded.Source, rows []Row) (out []derived) {
	for _, r := range rows {
		d := derived{}
		if s.Unit != nil {
			if d.unit = r[s.Unit.Name]; d.unit.Null || d.unit.Type == 0 {
				continue
			}
		}
		for _, c := range s.Columns {
			v, ok := r[c.Name]
			if !ok {
				v = value.NullOf(c.Type)
			}
			d.row = append(d.row, clean(c, v))
		}
		out = append(out, d)
	}
	return out
}

func equal(a, b value.Value) bool { return !a.Null && !b.Null && value.Compare(a, b) == 0 }

func ownedOf(s *bounded.Source, tables Tables) (out []derived) {
	parents := rowsOf(s.Inputs[1], tables)
	for _, child := range rowsOf(s.Inputs[0], tables) {
		var owners []value.Value
		for _, p := range parents {
			if equal(child.row[s.ChildKey], p.row[s.ParentKey]) &&
				!slices.ContainsFunc(owners, func(o value.Value) bool { return equal(o, p.unit) }) {
				owners = append(owners, p.unit)
				out = append(out, derived{p.unit, child.row})
			}
		}
	}
	unit := func(d derived) value.Value { return d.unit }
	ranks := rank(out, unit, unit, func(d derived) []value.Value { return d.row })
	kept := make([]derived, 0, len(out))
	for i, d := range out {
		if ranks[i] <= s.Stored {
			kept = append(kept, d)
		}
	}
	return kept
}

func joinOf(s *bounded.Source, tables Tables) (out []derived) {
	second := rowsOf(s.Inputs[1], tables)
	part := func(d derived) value.Value {
		text := ""
		if s.Inputs[1].Units {
			text = hashText(d.unit)
		}
		for _, i := range s.Within {
			text += hashText(d.row[i])
		}
		return value.OfText(text)
	}
	var unit func(derived) value.Value
	if s.Inputs[1].Units {
		unit = func(d derived) value.Value { return d.unit }
	}
	ranks := rank(second, part, unit, func(d derived) []value.Value { return d.row })
	for _, l := range rowsOf(s.Inputs[0], tables) {
		met := false
		for i, r := range second {
			if ranks[i] > s.Most || s.Inputs[1].Units && !equal(l.unit, r.unit) {
				continue
			}
			if slices.ContainsFunc(s.Pairs, func(p bounded.Pair) bool { return !equal(eval(p.L, l.row), r.row[p.R]) }) {
				continue
			}
			met = true
			out = append(out, derived{l.unit, append(slices.Clone(l.row), r.row...)})
		}
		if !met && s.Left {
			row := slices.Clone(l.row)
			for _, c := range s.Inputs[1].Columns {
				row = append(row, value.NullOf(c.Type))
			}
			out = append(out, derived{l.unit, row})
		}
	}
	return out
}

func hashText(v value.Value) string { return strconv.Quote(v.String()) + strconv.FormatBool(v.Null) }

func perUnitOf(s *bounded.Source, tables Tables) (out []derived) {
	groups, keys := map[string][]derived{}, map[string]derived{}
	var order []string
	for _, r := range rowsOf(s.Inputs[0], tables) {
		key := derived{unit: r.unit}
		name := hashText(r.unit)
		for _, e := range s.Exprs {
			v := eval(e, r.row)
			key.row, name = append(key.row, v), name+hashText(v)
		}
		if _, ok := groups[name]; !ok {
			order = append(order, name)
		}
		groups[name], keys[name] = append(groups[name], r), key
	}
	for _, name := range order {
		d := keys[name]
		for _, a := range s.Aggregates {
			d.row = append(d.row, innerOf(a, groups[name]))
		}
		out = append(out, d)
	}
	return out
}

func innerOf(a bounded.Inner, rows []derived) value.Value {
	clamp := func(n *big.Int) int64 {
		lo, hi := big.NewInt(a.Lo), big.NewInt(a.Hi)
		if n.Cmp(lo) < 0 {
			n = lo
		} else if n.Cmp(hi) > 0 {
			n = hi
		}
		return n.Int64()
	}
	if a.Func == bounded.InnerRows {
		return value.OfInt(clamp(big.NewInt(int64(len(rows)))))
	}
	var values []value.Value
	for _, r := range rows {
		if v := eval(a.X, r.row); !v.Null {
			values = append(values, v)
		}
	}
	n := int64(len(values))
	if a.Func == bounded.InnerCount || a.Func == bounded.InnerDistinct {
		if a.Func == bounded.InnerDistinct {
			slices.SortFunc(values, value.Compare)
			values = slices.CompactFunc(values, equal)
		}
		return value.OfInt(clamp(big.NewInt(int64(len(values)))))
	}
	if n == 0 {
		return value.NullOf(a.Type)
	}
	switch a.Func {
	case bounded.InnerMin:
		return slices.MinFunc(values, value.Compare)
	case bounded.InnerMax:
		return slices.MaxFunc(values, value.Compare)
	case bounded.InnerPlaced, bounded.InnerBetween:
		return innerPlaced(a, values)
	case bounded.InnerAny, bounded.InnerAll:
		return value.OfBool(slices.ContainsFunc(values,
			func(v value.Value) bool { return v.Bool == (a.Func == bounded.InnerAny) }) == (a.Func == bounded.InnerAny))
	}
	sum := new(big.Int)
	for _, v := range values {
		if a.Gridded() {
			v.Int = int64(math.RoundToEven(math.Ldexp(v.Real, -a.Grid)))
		}
		sum.Add(sum, big.NewInt(v.Int))
	}
	if !a.Gridded() {
		return value.OfInt(clamp(sum))
	}
	if a.Func == bounded.InnerAverage { // ⌊(2(Σ − Lo·n) + n) / 2n⌋ + Lo
		sum.Sub(sum, new(big.Int).Mul(big.NewInt(a.Lo), big.NewInt(n)))
		sum.Lsh(sum, 1).Add(sum, big.NewInt(n))
		sum.Div(sum, big.NewInt(2*n)).Add(sum, big.NewInt(a.Lo))
	}
	return value.OfReal(math.Ldexp(float64(clamp(sum)), a.Grid))
}

// innerPlaced is innerOf for values in order. There is at least one. The conversions to float64 forbid the compiler to
// fuse two operations.
func innerPlaced(a bounded.Inner, values []value.Value) value.Value {
	slices.SortFunc(values, value.Compare)
	n := int64(len(values))
	at := func(offset int64) value.Value { return values[(n*a.Num+offset)/a.Den] }
	if a.Func == bounded.InnerPlaced {
		return at(a.Offset)
	}
	lower, upper := a.Places()
	from, to := at(lower).Real, at(upper).Real
	way := float64(to-from) * (float64((n-1)*a.Num%a.Den) / float64(a.Den))
	return value.OfReal(min(from+float64(way), to))
}
