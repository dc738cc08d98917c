package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// image lists the possible values, other than NULL, of an arithmetic operation whose arguments have known values.
// It applies the operation to each value, or to each pair of values of two arguments. If both arguments are the
// same expression, it applies the operation to each value twice. For example, FLOOR(age / 10) * 10 has a dozen
// values, and not every integer between them.
//
// Claim: the list has every value that an engine computes. Proof, by induction: each argument's value is in its
// list, and Apply computes the same result as every engine, to the last bit. Operations that engines may round
// differently are not [bounded.Op.Arithmetic], and have no list. ∎
func (l *Scope) image(e *bounded.Expr) ([]value.Value, bool) {
	if !e.Op.Arithmetic() {
		return nil, false
	}
	twice := len(e.Args) == 2 && e.Args[0].Same(e.Args[1]) // as in a square, whose range is not negative
	args := e.Args
	if twice {
		args = args[:1]
	}
	lists := make([][]value.Value, len(args))
	size := 1
	for i, a := range args {
		v, ok := l.Known(a)
		if !ok {
			return nil, false
		}
		if size *= len(v); size > policy.MaxKeys {
			return nil, false
		}
		lists[i] = v
	}
	out := make([]value.Value, 0, size)
	for _, x := range lists[0] {
		others := []value.Value{x}
		switch {
		case len(e.Args) == 1:
			out = append(out, e.Apply(x))
			continue
		case !twice:
			others = lists[1]
		}
		for _, y := range others {
			if v := e.Apply(x, y); !v.Null {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, value.Compare)
	return slices.Compact(out), true
}
