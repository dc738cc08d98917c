package prune

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// facts are what is known of the rows in question: sets that contain the values of some expressions there.
type facts struct {
	of    []fact
	goals []goal // what has to hold of a row, as far as of does not say it
	all   bool   // whether facts about expressions other than columns count; see search.certain
}

type fact struct {
	e  *bounded.Expr
	in set
}

func (f *facts) at(e *bounded.Expr) int {
	if !f.all && e.Op != bounded.OpColumn {
		return -1
	}
	return slices.IndexFunc(f.of, func(o fact) bool { return o.e.Same(e) })
}

func (f *facts) put(e *bounded.Expr, in set) {
	if i := f.at(e); i >= 0 {
		f.of[i].in = in
		return
	}
	f.of = append(f.of, fact{e, in})
}

func (f *facts) clone() *facts {
	return &facts{of: slices.Clone(f.of), goals: slices.Clone(f.goals), all: f.all}
}

// search evaluates expressions over sets, and counts its steps.
type search struct {
	columns [][]value.Value                 // the declared values of each column, sorted; nil if there are none
	lists   map[*bounded.Expr][]value.Value // the sorted constants of each IN
	steps   int
}

// maxSteps bounds the nodes that one call of a function of this package evaluates. The result then contains more groups
// than necessary, and depends on nothing but the question and the policy.
const maxSteps = 1_000_000

func (s *search) spent() bool { return s.steps > maxSteps }

// eval returns a set that contains the value of e in every row of which the facts are true.
//
// Claim: the set has every such value. Proof, by induction on e. A column has its cleaned value: NULL, or one of its
// declared values, or a number within its range ([bounded.CleanRange]). AND, OR, NOT, IS and comparisons follow the
// three-valued tables, for all combinations of their arguments' values. CASE can only return results whose
// condition can be true while no earlier condition must be. COALESCE, LEAST and GREATEST return an argument. If the
// arguments' values are listed, the image has the value of the operation for each combination ([bounded.Expr.Apply]
// computes what every engine computes). Otherwise the operations in monotone are monotone in each argument, also
// after IEEE 754 has rounded their results, so over a box of arguments they are largest and smallest at corners.
// For all other operations, the set has all values within e's range, which bind proved. ∎
func (s *search) eval(e *bounded.Expr, f *facts) set {
	out := s.compute(e, f)
	if i := f.at(e); i >= 0 {
		out = meet(out, f.of[i].in)
	}
	return out
}

// compute is eval without the fact about e itself. All values are within e's range, so that no operation on them
// overflows: bind proved that from the ranges of its arguments.
func (s *search) compute(e *bounded.Expr, f *facts) set {
	out := s.operate(e, f)
	all := anyOf(e)
	low, high, some := out.ends()
	if !some || e.Op == bounded.OpConst || all.listed || (set{low: low, high: high}).within(all) {
		return out
	}
	return meet(out, all)
}

func (s *search) operate(e *bounded.Expr, f *facts) set {
	s.steps++
	if s.spent() {
		return anyOf(e)
	}
	switch e.Op {
	case bounded.OpColumn:
		if e.Column < len(s.columns) && s.columns[e.Column] != nil {
			return set{listed: true, null: true, values: s.columns[e.Column]}
		}
		return anyOf(e)
	case bounded.OpConst:
		return single(e.Const)
	case bounded.OpNil:
		x := s.eval(e.Args[0], f)
		_, _, some := x.ends()
		return truths(x.null, some, false)
	case bounded.OpIs:
		t, no, null := s.eval(e.Args[0], f).may()
		return truths(t, no || null, false)
	case bounded.OpNot:
		t, no, null := s.eval(e.Args[0], f).may()
		return truths(no, t, null)
	case bounded.OpAnd, bounded.OpOr:
		return s.connected(e, f)
	case bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe:
		return s.compare(e.Op, s.eval(e.Args[0], f), s.eval(e.Args[1], f))
	case bounded.OpIn:
		return s.among(e, f)
	case bounded.OpCase:
		return s.chosen(e, f)
	case bounded.OpCoalesce:
		out := set{listed: true}
		for _, a := range e.Args {
			x := s.eval(a, f)
			null := x.null
			x.null = false
			if out = join(out, x); !null {
				return out
			}
		}
		out.null = true
		return out
	}
	return s.image(e, f)
}

// connected returns the set of an AND or OR.
func (s *search) connected(e *bounded.Expr, f *facts) set {
	and := e.Op == bounded.OpAnd
	decisive, null, all := false, false, true // an argument may decide; one may be NULL; all may be the other truth
	undecided := true                         // all may be other than the decisive truth
	for _, a := range e.Args {
		t, no, n := s.eval(a, f).may()
		if and {
			t, no = no, t
		}
		decisive, null, all, undecided = decisive || t, null || n, all && no, undecided && (no || n)
	}
	if and {
		return truths(all, decisive, null && undecided)
	}
	return truths(decisive, all, null && undecided)
}

// compare returns the truth values of a comparison of any value of x with any value of y.
func (s *search) compare(op bounded.Op, x, y set) set {
	null := x.null || y.null
	xl, xh, some := x.ends()
	yl, yh, other := y.ends()
	if !some || !other {
		return truths(false, false, null)
	}
	// whether some value of x can be below, equal to or above some value of y
	below := xl == nil || yh == nil || value.Compare(*xl, *yh) < 0
	above := xh == nil || yl == nil || value.Compare(*xh, *yl) > 0
	equal := (xh == nil || yl == nil || value.Compare(*xh, *yl) >= 0) &&
		(xl == nil || yh == nil || value.Compare(*xl, *yh) <= 0)
	if equal && x.listed && y.listed {
		s.steps += len(x.values)
		equal = slices.ContainsFunc(x.values, y.has)
	}
	holds := func(order int) bool { return bounded.Holds(op, order) }
	return truths(
		below && holds(-1) || equal && holds(0) || above && holds(1),
		below && !holds(-1) || equal && !holds(0) || above && !holds(1),
		null,
	)
}

// constants returns the constants of an IN, sorted. The boolean is false if one of them is NULL or no constant.
func (s *search) constants(e *bounded.Expr) ([]value.Value, bool) {
	out, ok := s.lists[e]
	if !ok {
		for _, a := range e.Args[1:] {
			if a.Op != bounded.OpConst || a.Const.Null {
				out = nil
				break
			}
			out = append(out, a.Const)
		}
		slices.SortFunc(out, value.Compare)
		s.lists[e] = out
		s.steps += len(e.Args)
	}
	return out, out != nil
}

func (s *search) among(e *bounded.Expr, f *facts) set {
	list, ok := s.constants(e)
	if !ok {
		return everyTruth
	}
	x, in := s.eval(e.Args[0], f), set{listed: true, values: list}
	low, high, some := x.ends()
	if !some {
		return truths(false, false, x.null)
	}
	if x.listed {
		s.steps += len(x.values)
		out := func(v value.Value) bool { return !in.has(v) }
		return truths(slices.ContainsFunc(x.values, in.has), slices.ContainsFunc(x.values, out), x.null)
	}
	first, last := list[0], list[len(list)-1]
	out := high != nil && value.Compare(*high, first) < 0 || low != nil && value.Compare(*low, last) > 0
	return truths(!out, true, x.null)
}

// chosen returns the set of a CASE: the results that some row can reach.
func (s *search) chosen(e *bounded.Expr, f *facts) set {
	out := set{listed: true}
	for i := 0; i+1 < len(e.Args); i += 2 {
		t, no, null := s.eval(e.Args[i], f).may()
		if t {
			out = join(out, s.eval(e.Args[i+1], f))
		}
		if !no && !null { // every row that comes here ends here
			return out
		}
	}
	return join(out, s.eval(e.Args[len(e.Args)-1], f))
}

// image returns the set of an operation on values.
func (s *search) image(e *bounded.Expr, f *facts) set {
	args, size := make([]set, len(e.Args)), 1
	listed := e.Op.Agreed()
	for i, a := range e.Args {
		args[i] = s.eval(a, f)
		if listed {
			list, ok := args[i].list(policy.MaxKeys)
			s.steps += len(list.values)
			if size *= len(list.values) + 1; !ok || size > policy.MaxKeys {
				listed = false
				continue
			}
			args[i] = list
		}
	}
	switch {
	case listed:
		s.steps += size * len(e.Args)
		return listOf(applied(e, args), false)
	case e.Op == bounded.OpLeast, e.Op == bounded.OpGreatest:
		out := set{listed: true}
		for _, x := range args {
			out = join(out, x)
		}
		return out
	case !monotone(e, args):
		return anyOf(e)
	}
	out, ok := corners(e, args)
	if !ok {
		return anyOf(e)
	}
	out.null = slices.ContainsFunc(args, func(x set) bool { return x.null })
	switch {
	case e.Op == bounded.OpDateTrunc && e.Type == value.Date:
		return s.units(e.Text, out)
	case e.Op == bounded.OpTimeTrunc:
		return s.multiples(value.ClockMicros(e.Text), out)
	}
	return out
}

// unitDays holds a number of days that leads from the first day of each unit into the next unit.
var unitDays = map[string]int64{"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}

// units lists the first days of a unit between two of them, if they are at most policy.MaxKeys.
func (s *search) units(unit string, of set) set {
	days := unitDays[unit]
	if days == 0 || (of.high.Int-of.low.Int)/days > policy.MaxKeys {
		return of
	}
	out := set{listed: true, null: of.null}
	for day := of.low.Int; day <= of.high.Int; day = value.DateTrunc(unit, day+days) {
		out.values = append(out.values, value.OfDay(day))
	}
	s.steps += len(out.values)
	return out
}

// multiples lists the multiples of a length between two of them, if they are at most policy.MaxKeys.
func (s *search) multiples(length int64, of set) set {
	if (of.high.Int-of.low.Int)/length >= policy.MaxKeys {
		return of
	}
	out := set{listed: true, null: of.null}
	for at := of.low.Int; at <= of.high.Int; at += length {
		out.values = append(out.values, value.Value{Type: of.low.Type, Int: at})
	}
	s.steps += len(out.values)
	return out
}

// applied returns the operation's value for each combination of listed arguments, NULL included.
func applied(e *bounded.Expr, args []set) (out []value.Value) {
	row := make([]value.Value, len(args))
	var next func(int)
	next = func(i int) {
		if i == len(args) {
			out = append(out, e.Apply(row...))
			return
		}
		for _, row[i] = range args[i].values {
			next(i + 1)
		}
		if args[i].null {
			row[i] = value.NullOf(e.Args[i].Type)
			next(i + 1)
		}
	}
	next(0)
	return out
}

// monotone reports whether the operation is NULL exactly if an argument is, and is monotone in each argument over these
// sets: not decreasing or not increasing, while the other argument stays fixed.
func monotone(e *bounded.Expr, args []set) bool {
	switch e.Op {
	case bounded.OpNeg, bounded.OpAdd, bounded.OpSub, bounded.OpMul, bounded.OpToReal, bounded.OpToInteger, bounded.OpSign,
		bounded.OpFloor, bounded.OpCeil, bounded.OpRound, bounded.OpDateTrunc, bounded.OpAddMonths, bounded.OpDayOf,
		bounded.OpStartOf, bounded.OpTimeTrunc:
		return true
	case bounded.OpQuo: // by a positive constant, because dropping the fraction is monotone
		by := e.Args[1]
		return by.Op == bounded.OpConst && !by.Const.Null && by.Const.Int > 0
	case bounded.OpDatePart:
		return e.Text == "year"
	case bounded.OpAbs, bounded.OpDiv: // not across 0
		x := args[len(args)-1]
		low, high, _ := x.ends()
		zero := value.Value{Type: e.Args[len(args)-1].Type}
		return low != nil && value.Compare(*low, zero) > 0 || high != nil && value.Compare(*high, zero) < 0
	}
	return false
}

// corners returns the hull of the operation's values at the ends of its arguments.
func corners(e *bounded.Expr, args []set) (set, bool) {
	var ends [2][]value.Value
	for i, a := range args {
		low, high, _ := a.ends()
		if low == nil || high == nil {
			return set{}, false
		}
		ends[i] = []value.Value{*low, *high}
	}
	var out []value.Value
	for _, x := range ends[0] {
		if len(args) == 1 {
			out = append(out, e.Apply(x))
			continue
		}
		for _, y := range ends[1] {
			out = append(out, e.Apply(x, y))
		}
	}
	if slices.ContainsFunc(out, func(v value.Value) bool { return v.Null }) {
		return set{}, false
	}
	low, high := slices.MinFunc(out, value.Compare), slices.MaxFunc(out, value.Compare)
	return set{low: &low, high: &high}, true
}
