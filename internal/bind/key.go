package bind

import (
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Key returns the key of a grouping expression, with its known values. It refuses an expression whose values are
// unknown.
func (l *Scope) Key(e *bounded.Expr, at query.Pos) (bounded.Key, error) {
	values, ok := l.Known(e)
	if !ok || e.Type == value.Real { // A real is no key: 0 and −0 are one group, and engines print them differently.
		return bounded.Key{}, Refuse(
			at,
			l.UnknownKeyHint(e),
			"the possible values of this GROUP BY expression are not known beforehand",
		)
	}
	return l.KeyOf(e, values), nil
}

// manyTimes reports whether e is a timestamp of days or units within a day, or a number of such units, whose possible
// values are known but too many, because its columns have bounds.
func manyTimes(e *bounded.Expr) bool {
	unit := false
	e.Walk(func(x *bounded.Expr) {
		unit = unit || x.Op == bounded.OpTimeTrunc || x.Op == bounded.OpQuo || x.Op == bounded.OpFloor || x.Op == bounded.OpStartOf
	})
	declared := func(x *bounded.Expr) bool {
		return x.Type == value.Timestamp && x.Range.IntLo > value.MinMicro && x.Range.IntHi < value.MaxMicro
	}
	return unit && e.Type.Whole() && AnyColumn(e, declared) &&
		!AnyColumn(e, func(x *bounded.Expr) bool { return !declared(x) })
}

// Enumerable reports whether the policy declares bounds or values for each column that e reads. The values of e then
// follow from the policy, but may be too many.
func (l *Scope) Enumerable(e *bounded.Expr) bool {
	every := func(*bounded.Expr) bool { return true }
	return AnyColumn(e, every) && !AnyColumn(e, func(x *bounded.Expr) bool {
		c := l.Columns[x.Column]
		return c.Lower == nil && c.Values == nil && c.Type != value.Boolean
	})
}

// KeyOf returns the key of a grouping expression that has one of these values or NULL in every row that counts.
func (l *Scope) KeyOf(e *bounded.Expr, values []value.Value) bounded.Key {
	values = slices.Clip(values)
	if l.NullGroup(e) {
		values = append(values, value.NullOf(e.Type))
	}
	slices.SortFunc(values, value.Compare)
	return bounded.Key{Expr: e, Values: slices.Compact(values)}
}

// UnknownKeyHint returns a hint on what to group by instead of an expression whose values are unknown.
func (l *Scope) UnknownKeyHint(e *bounded.Expr) string {
	if manyTimes(e) {
		return fmt.Sprintf("it has more than %d possible values: let WHERE leave a shorter time, as in "+
			"t >= '2025-03-01' AND t < '2025-03-08'; or group by longer units of time", policy.MaxKeys)
	}
	if e.Op == bounded.OpColumn && l.Names != nil && e.Type != value.Real {
		if of := nameOf(l.Names, e.Column).of; of.table != nil && of.table.Public {
			return fmt.Sprintf(
				"the owner can declare its public values as known, for column %s of table %s: values_from: %s.%s",
				of.column,
				of.table.Name,
				of.table.Name,
				of.column,
			)
		}
	}
	switch e.Type {
	case value.Real:
		return "group by FLOOR(x / width), or by CASE WHEN … THEN 'label' … END"
	case value.Timestamp:
		return "group by date_trunc('month', t) of a column with bounds; or group by CASE WHEN … THEN 'label' … END"
	case value.Integer, value.Date:
		return "the owner can declare bounds of at most 10,000 values; or group by CASE WHEN … THEN 'label' … END"
	}
	return "the owner can declare the column's values in the policy; or group by CASE WHEN … THEN 'label' … END"
}

// Known lists the values other than NULL that e may have. The boolean is false if the values are not public or are
// too many.
func (l *Scope) Known(e *bounded.Expr) ([]value.Value, bool) {
	switch e.Op {
	case bounded.OpConst:
		if e.Const.Null {
			return nil, true
		}
		return []value.Value{e.Const}, true
	case bounded.OpColumn:
		if v := l.Columns[e.Column].Values; v != nil {
			return slices.Clone(v), true
		}
	case bounded.OpCase:
		var out []*bounded.Expr
		for i := 1; i < len(e.Args); i += 2 {
			out = append(out, e.Args[i])
		}
		if v, ok := l.knownOfAll(append(out, e.Args[len(e.Args)-1])); ok {
			return slices.DeleteFunc(v, func(v value.Value) bool { return outside(v, e.Range) }), true
		}
	case bounded.OpCoalesce, bounded.OpLeast, bounded.OpGreatest:
		if v, ok := l.knownOfAll(e.Args); ok {
			return slices.DeleteFunc(v, func(v value.Value) bool { return outside(v, e.Range) }), true
		}
	default:
		if v, ok := l.image(e); ok {
			return v, true
		}
	}
	if v, found, few := stepped(e); found {
		return v, few
	}
	return knownByType(e)
}

// outside reports whether a number or date lies outside a range. For example, LEAST(age / 10, 9) is never 10.
func outside(v value.Value, r bounded.Range) bool {
	switch {
	case v.Type.Whole():
		return v.Int < r.IntLo || v.Int > r.IntHi
	case v.Type == value.Real:
		return v.Real < r.Lo || v.Real > r.Hi
	}
	return false
}

// knownByType lists the values of a boolean, and of a type of integers with a small range.
func knownByType(e *bounded.Expr) ([]value.Value, bool) {
	switch {
	case e.Type == value.Boolean:
		return []value.Value{value.OfBool(false), value.OfBool(true)}, true
	case e.Type.Whole():
		lo, hi := e.Range.IntLo, e.Range.IntHi
		// the difference modulo 2^64 is the difference, because lo ≤ hi
		if lo > hi || uint64(hi)-uint64(lo) >= policy.MaxKeys {
			return nil, false
		}
		out := make([]value.Value, hi-lo+1)
		for i := range out {
			out[i] = value.Value{Type: e.Type, Int: lo + int64(i)}
		}
		return out, true
	}
	return nil, false
}

func (l *Scope) knownOfAll(es []*bounded.Expr) ([]value.Value, bool) {
	var out []value.Value
	for _, e := range es {
		v, ok := l.Known(e)
		if !ok || len(out)+len(v) > policy.MaxKeys {
			return nil, false
		}
		out = append(out, v...)
	}
	return out, true
}

// NullGroup reports whether NULL is a group of the key e. It is if the owner declared a column of e nullable, or if
// the expression itself makes NULLs. A value that cleaning turned into NULL, in a column that is not nullable,
// belongs to no group. Its row is dropped.
func (l *Scope) NullGroup(e *bounded.Expr) bool {
	return e.Nullable && l.mayBeNull(e)
}

func (l *Scope) mayBeNull(e *bounded.Expr) bool {
	switch e.Op {
	case bounded.OpColumn:
		return l.Columns[e.Column].Nullable
	case bounded.OpConst:
		return e.Const.Null
	}
	args := e.Args
	if last := len(args) - 1; e.Op == bounded.OpCase && e.Text == MapText && args[last].Op == bounded.OpConst {
		if !l.mayBeNull(args[0].Args[0]) {
			args = args[:last] // no row that counts reaches ELSE
		}
	}
	return makesNull(e) || slices.ContainsFunc(args, l.mayBeNull)
}

// makesNull reports whether the operation itself returns NULL for some arguments that are not NULL.
func makesNull(x *bounded.Expr) bool {
	switch x.Op {
	case bounded.OpDiv:
		return x.Args[1].Range.Lo <= 0 && x.Args[1].Range.Hi >= 0
	case bounded.OpQuo, bounded.OpMod:
		return x.Args[1].Range.IntLo <= 0 && x.Args[1].Range.IntHi >= 0
	case bounded.OpSqrt:
		return x.Args[0].Range.Lo < 0
	case bounded.OpLn:
		return x.Args[0].Range.Lo <= 0
	}
	return false
}
