package plan

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// through is an expression that reads rows through one other expression alone, as a function of that one's value: the month of a day, or
// whether an age is 18 at least.
type through struct {
	e    *bounded.Expr
	is   bool // e is the other expression itself
	args []through
}

// readsThrough gives e as a function of the expression of that text; false where e reads anything else of a row, or does what engines round
// differently.
func readsThrough(e *bounded.Expr, text string) (through, bool) {
	if writtenThrough(e, text) {
		return through{e: e, is: true}, true
	}
	out := through{e: e}
	if e.Op == bounded.OpConst {
		return out, true
	}
	if !mapped[e.Op] && !judged[e.Op] || len(e.Args) == 0 {
		return out, false
	}
	for _, a := range e.Args {
		f, ok := readsThrough(a, text)
		if !ok {
			return out, false
		}
		out.args = append(out.args, f)
	}
	return out, true
}

// judged are the operations beside those of image that at knows: they choose or compare, and round nothing.
var judged = map[bounded.Op]bool{
	bounded.OpEq: true, bounded.OpNe: true, bounded.OpLt: true, bounded.OpLe: true, bounded.OpGt: true, bounded.OpGe: true, bounded.OpIn: true, bounded.OpLike: true,
	bounded.OpNot: true, bounded.OpAnd: true, bounded.OpOr: true, bounded.OpNil: true, bounded.OpIs: true,
	bounded.OpCase: true, bounded.OpCoalesce: true, bounded.OpLeast: true, bounded.OpGreatest: true,
}

// written reports that text is e's. A text begins with what kind it is of, so that few need be written out.
func writtenThrough(e *bounded.Expr, text string) bool {
	if e.Op != bounded.OpColumn && e.Op != bounded.OpConst && !strings.HasPrefix(text, "("+string(e.Op)) {
		return false
	}
	return e.String() == text
}

// at is what every engine gives for a row of which the other expression is x (see image).
func (f through) at(x value.Value) value.Value {
	switch {
	case f.is:
		return x
	case f.e.Op == bounded.OpConst:
		return f.e.Const
	}
	args := make([]value.Value, len(f.args))
	for i, a := range f.args {
		args[i] = a.at(x)
	}
	switch f.e.Op { // what a NULL among the arguments need not make NULL
	case bounded.OpNil:
		return value.OfBool(args[0].Null)
	case bounded.OpIs:
		return value.OfBool(isTrue(args[0]))
	case bounded.OpAnd, bounded.OpOr:
		return connected(args, f.e.Op == bounded.OpOr)
	case bounded.OpCase:
		for i := 0; i+1 < len(args); i += 2 {
			if isTrue(args[i]) {
				return args[i+1]
			}
		}
		return args[len(args)-1]
	case bounded.OpCoalesce, bounded.OpLeast, bounded.OpGreatest:
		return firstOrExtreme(f.e, args)
	}
	if slices.ContainsFunc(args, func(a value.Value) bool { return a.Null }) {
		return value.NullOf(f.e.Type)
	}
	switch f.e.Op {
	case bounded.OpNot:
		return value.OfBool(!args[0].Bool)
	case bounded.OpLike:
		return value.OfBool(like([]rune(args[0].Text), []rune(f.e.Text)))
	case bounded.OpIn:
		return value.OfBool(slices.ContainsFunc(args[1:], func(v value.Value) bool { return value.Compare(args[0], v) == 0 }))
	case bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe:
		return value.OfBool(ordered(f.e.Op, value.Compare(args[0], args[1])))
	}
	if len(args) == 1 {
		return apply1(f.e, args[0])
	}
	if v, ok := apply2(f.e, args[0], args[1]); ok {
		return v
	}
	return value.NullOf(f.e.Type)
}

// behind is what an expression gives, by a key's values.
type behind struct {
	of   []value.Value // the key's
	to   []value.Value // what each gives
	null value.Value   // what NULL does
}

// maxApplied bounds how often nodes of an expression are applied to values of a key: what takes more is asked of the rows.
const maxApplied = 100_000

// behind finds the key of q through which e reads rows, that with the fewest values, and what they give; −1 without. Of releases by one key
// it is computed once.
func (p *Plan) behind(e *bounded.Expr, q *Plan) (int, *behind) {
	key, f := -1, through{}
	for k := range q.Keys {
		values := len(q.Keys[k].Values)
		if key >= 0 && values >= len(q.Keys[key].Values) || e.Weight()*values > maxApplied {
			continue
		}
		if found, ok := readsThrough(e, q.Keys[k].Expr.String()); ok {
			key, f = k, found
		}
	}
	if key < 0 {
		return key, nil
	}
	of, text := q.Keys[key], e.String()+"\n"+q.Keys[key].Expr.String()
	if known := p.behinds[text]; known != nil && slices.Equal(known.of, of.Values) {
		return key, known
	}
	out := &behind{of: of.Values, null: f.at(value.NullOf(of.Expr.Type))}
	for _, x := range of.Values {
		out.to = append(out.to, f.at(x))
	}
	if p.behinds == nil {
		p.behinds = map[string]*behind{}
	}
	p.behinds[text] = out
	return key, out
}

func isTrue(v value.Value) bool { return !v.Null && v.Bool }

// connected is AND, or OR, of three-valued arguments: the one that is decided by any decides it.
func connected(args []value.Value, decisive bool) value.Value {
	out := value.OfBool(!decisive)
	for _, a := range args {
		switch {
		case a.Null:
			out = value.NullOf(value.Boolean)
		case a.Bool == decisive:
			return a
		}
	}
	return out
}

// firstOrExtreme is the first, the least or the greatest of those that are not NULL.
func firstOrExtreme(e *bounded.Expr, args []value.Value) value.Value {
	out := value.NullOf(e.Type)
	for _, a := range args {
		switch {
		case a.Null:
		case out.Null, e.Op == bounded.OpLeast && value.Compare(a, out) < 0, e.Op == bounded.OpGreatest && value.Compare(a, out) > 0:
			out = a
		}
	}
	return out
}

// ordered is a comparison of two values of that order.
func ordered(op bounded.Op, order int) bool {
	switch op {
	case bounded.OpEq:
		return order == 0
	case bounded.OpNe:
		return order != 0
	case bounded.OpLt:
		return order < 0
	case bounded.OpLe:
		return order <= 0
	case bounded.OpGt:
		return order > 0
	}
	return order >= 0
}

// like matches a text: what follows the last % that was met is tried from one place after the other, and nothing before it again.
func like(text, pattern []rune) bool {
	at, p, star, resume := 0, 0, -1, 0
	for at < len(text) {
		escaped := p < len(pattern) && pattern[p] == '\\'
		switch {
		case p < len(pattern) && pattern[p] == '%':
			star, resume = p, at
			p++
		case escaped && p+1 < len(pattern) && pattern[p+1] == text[at]:
			at, p = at+1, p+2
		case p < len(pattern) && !escaped && (pattern[p] == '_' || pattern[p] == text[at]):
			at, p = at+1, p+1
		case star >= 0:
			resume++
			at, p = resume, star+1
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}
