package bounded

import "dither/internal/value"

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
func firstOrExtreme(e *Expr, args []value.Value) value.Value {
	out := value.NullOf(e.Type)
	for _, a := range args {
		switch {
		case a.Null:
		case out.Null, e.Op == OpLeast && value.Compare(a, out) < 0, e.Op == OpGreatest && value.Compare(a, out) > 0:
			out = a
		}
	}
	return out
}

// Holds reports whether a comparison holds of two values of that order.
func Holds(comparison Op, order int) bool {
	switch comparison {
	case OpEq:
		return order == 0
	case OpNe:
		return order != 0
	case OpLt:
		return order < 0
	case OpLe:
		return order <= 0
	case OpGt:
		return order > 0
	}
	return order >= 0
}

// like matches a text. It tries what follows the last % that it met at one place after the other, and nothing
// before it again.
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
