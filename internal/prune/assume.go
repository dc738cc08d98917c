package prune

import (
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// goal is an assumption about a row: the value of e is in a set.
type goal struct {
	e  *bounded.Expr
	in set
}

// opposite holds, for a comparison, the one that is true where it is false.
var opposite = map[bounded.Op]bounded.Op{
	bounded.OpEq: bounded.OpNe, bounded.OpNe: bounded.OpEq, bounded.OpLt: bounded.OpGe,
	bounded.OpLe: bounded.OpGt, bounded.OpGt: bounded.OpLe, bounded.OpGe: bounded.OpLt,
}

// turned holds, for a comparison of x with y, the same comparison of y with x.
var turned = map[bounded.Op]bounded.Op{
	bounded.OpEq: bounded.OpEq, bounded.OpNe: bounded.OpNe, bounded.OpLt: bounded.OpGt,
	bounded.OpLe: bounded.OpGe, bounded.OpGt: bounded.OpLt, bounded.OpGe: bounded.OpLe,
}

// assume adds a goal to the facts f, and what follows from it. It returns false if no row can meet the facts.
func (s *search) assume(g goal, f *facts) bool {
	in := meet(s.eval(g.e, f), g.in)
	switch {
	case in.empty():
		return false
	case g.e.Op == bounded.OpConst:
		return true
	}
	if parts, ok := parts(g.e, in); ok {
		return !slices.ContainsFunc(parts, func(p goal) bool { return !s.assume(p, f) })
	}
	if g.e.Op != bounded.OpAnd && g.e.Op != bounded.OpOr {
		f.put(g.e, in)
	}
	if g.e.Op != bounded.OpColumn {
		f.goals = append(f.goals, goal{g.e, in})
	}
	return s.compared(g.e, in, f) && s.inverse(g.e, in, f)
}

// parts returns the goals about the arguments of a connective that are together equivalent to a goal about it. The
// boolean is false if there are none.
func parts(e *bounded.Expr, in set) (out []goal, ok bool) {
	t, no, null := in.may()
	switch e.Op {
	case bounded.OpNot:
		return []goal{{e.Args[0], truths(no, t, null)}}, true
	case bounded.OpIs:
		if t {
			return []goal{{e.Args[0], onlyTrue}}, !no
		}
		return []goal{{e.Args[0], notTrue}}, true
	case bounded.OpNil:
		if t {
			return []goal{{e.Args[0], onlyNull}}, !no
		}
		return []goal{{e.Args[0], notNull}}, true
	case bounded.OpAnd: // TRUE if all are; not FALSE if none is
		if no {
			return nil, false
		}
	case bounded.OpOr: // FALSE if all are; not TRUE if none is
		if t {
			return nil, false
		}
	default:
		return nil, false
	}
	if e.Op == bounded.OpAnd && t && null || e.Op == bounded.OpOr && no && null {
		in = map[bool]set{true: notFalse, false: notTrue}[e.Op == bounded.OpAnd]
	} else if null { // NULL alone: some argument is NULL, and none decides
		return nil, false
	}
	for _, a := range e.Args {
		out = append(out, goal{a, in})
	}
	return out, true
}

// compared narrows the operand of a comparison with a constant, or of IN, to the values for which the result is in
// a set. It returns false if there is none.
func (s *search) compared(e *bounded.Expr, in set, f *facts) bool {
	t, no, null := in.may()
	if t == no || null && t { // nothing, or nothing simple, follows
		return true
	}
	switch e.Op {
	case bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe:
		x, c, op := e.Args[0], e.Args[1], e.Op
		if x.Op == bounded.OpConst {
			x, c, op = c, x, turned[op]
		}
		if c.Op != bounded.OpConst || c.Const.Null {
			return true
		}
		if no {
			op = opposite[op]
		}
		was := s.eval(x, f)
		is := was.compared(op, c.Const)
		is.null = null && was.null
		return s.assume(goal{x, is}, f)
	case bounded.OpIn:
		list, ok := s.constants(e)
		if !ok {
			return true
		}
		was, among := s.eval(e.Args[0], f), set{listed: true, values: list}
		s.steps += len(list)
		switch {
		case t:
			return s.assume(goal{e.Args[0], meet(was, among)}, f)
		case was.listed:
			s.steps += len(was.values)
			return s.assume(goal{e.Args[0], was.keep(func(v value.Value) bool { return !among.has(v) }, null && was.null)}, f)
		}
	}
	return true
}

// inverse narrows the argument of an operation, all of whose other arguments are constants, to the values for which the
// result is in a set. It returns false if there is none.
//
// Claim: the argument's value stays in its set. Proof. If the values are listed, each is tried. Otherwise the operation
// is monotone in the argument, so the values for which the result is at least a bound are all values from some
// value on, or all values up to some value. A binary search over integers, or over doubles in their order, finds
// it. ∎
func (s *search) inverse(e *bounded.Expr, in set, f *facts) bool {
	at := -1
	for i, a := range e.Args {
		if a.Op == bounded.OpConst && a.Const.Null { // the result is NULL, whatever the other argument is
			return true
		}
		if a.Op == bounded.OpConst {
			continue
		}
		if at >= 0 {
			return true
		}
		at = i
	}
	if at < 0 || !e.Op.Arithmetic() {
		return true
	}
	args, row := make([]set, len(e.Args)), make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		if row[i] = a.Const; i != at {
			args[i] = single(a.Const)
		}
	}
	was := s.eval(e.Args[at], f)
	apply := func(v value.Value) value.Value {
		s.steps++
		row[at] = v
		return e.Apply(row...)
	}
	null := was.null && in.has(apply(value.NullOf(e.Args[at].Type)))
	if was.listed {
		return s.assume(goal{e.Args[at], was.keep(func(v value.Value) bool { return in.has(apply(v)) }, null)}, f)
	}
	low, high, some := was.ends()
	args[at] = was
	if !some || low == nil || high == nil || !monotone(e, args) {
		is := was
		is.null = null
		return s.assume(goal{e.Args[at], is}, f)
	}
	is := between(*low, *high, apply, in)
	is.null = null
	return s.assume(goal{e.Args[at], is}, f)
}

// between returns the values from low to high at which a monotone function is within the bounds of a set.
func between(low, high value.Value, f func(value.Value) value.Value, in set) set {
	least, most, some := in.ends()
	if !some {
		return set{listed: true}
	}
	first, last := ordinal(low), ordinal(high)
	falls := value.Compare(f(low), f(high)) > 0
	if falls {
		least, most = most, least
	}
	// after reports whether the value of the function at a place is beyond a bound, in the direction of places
	after := func(at uint64, bound value.Value, orAt bool) bool {
		d := value.Compare(f(nth(low.Type, at)), bound)
		if falls {
			d = -d
		}
		return d > 0 || orAt && d == 0
	}
	if least != nil {
		at, ok := find(first, last, func(at uint64) bool { return after(at, *least, true) })
		if !ok {
			return set{listed: true}
		}
		first = at
	}
	if most != nil {
		if at, ok := find(first, last, func(at uint64) bool { return after(at, *most, false) }); ok {
			if at == first {
				return set{listed: true}
			}
			last = at - 1
		}
	}
	from, to := nth(low.Type, first), nth(low.Type, last)
	return set{low: &from, high: &to}
}

// find returns the first place from first to last for which is holds. It holds for all places after one for which it
// holds.
func find(first, last uint64, is func(uint64) bool) (uint64, bool) {
	if !is(last) {
		return 0, false
	}
	for first < last {
		if middle := first + (last-first)/2; is(middle) {
			last = middle
		} else {
			first = middle + 1
		}
	}
	return first, true
}

// ordinal returns the place of an integer, a day or a double among all of its type, in their order. nth
// returns the value at a place.
func ordinal(v value.Value) uint64 {
	bits := uint64(v.Int)
	if v.Type == value.Real {
		if bits = math.Float64bits(v.Real + 0); bits>>63 == 1 { // −0 + 0 is 0
			return ^bits
		}
	}
	return bits ^ 1<<63
}

func nth(t value.Type, at uint64) value.Value {
	if t != value.Real {
		return value.Value{Type: t, Int: int64(at ^ 1<<63)}
	}
	if at>>63 == 0 {
		return value.OfReal(math.Float64frombits(^at))
	}
	return value.OfReal(math.Float64frombits(at ^ 1<<63))
}

// splits returns alternatives, one of which every row meets that meets the goal. Each is a list of goals. It returns
// nil if there are none.
func splits(g goal) (out [][]goal) {
	t, no, null := g.in.may()
	switch {
	case g.e.Op == bounded.OpOr && t && !no && !null:
		for _, a := range g.e.Args {
			out = append(out, []goal{{a, onlyTrue}})
		}
	case g.e.Op == bounded.OpAnd && no && !t:
		for _, a := range g.e.Args {
			out = append(out, []goal{{a, truths(false, true, null)}})
		}
	case g.e.Op == bounded.OpCase:
		var before []goal
		for i := 0; i < len(g.e.Args); i += 2 {
			if i+1 == len(g.e.Args) {
				return append(out, append(slices.Clip(before), goal{g.e.Args[i], g.in}))
			}
			out = append(out, append(slices.Clip(before), goal{g.e.Args[i], onlyTrue}, goal{g.e.Args[i+1], g.in}))
			before = append(before, goal{g.e.Args[i], notTrue})
		}
	}
	return out
}
