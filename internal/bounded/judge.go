package bounded

import "dither/internal/value"

// connected computes AND (decisive is false) or OR (decisive is true) in three-valued logic. The result is decisive
// if any argument is. Otherwise it is NULL if any argument is NULL.
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

// firstOrExtreme returns the first, the least or the greatest argument that is not NULL, according to e.Op. It
// returns NULL if all are NULL.
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

// Holds reports whether comparison is true of two values x and y, where order is the sign of x compared with y: −1,
// 0 or 1.
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
