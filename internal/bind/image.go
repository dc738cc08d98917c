package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// image lists the values other than NULL of an arithmetic operation whose arguments' values are known: the operation is done
// on each of them, or, where there are two arguments, on each pair, or, where both are the same expression, on each value twice. FLOOR(age / 10) * 10 thus has the dozen values that it
// can have, and not each integer between them.
//
// It is sound: every value that an engine gives is in the list. By induction an argument's value is in its list, and Apply
// computes from it what every engine does, to the last bit. Operations that engines round differently have no list.
func (l *Scope) image(e *bounded.Expr) ([]value.Value, bool) {
	if !e.Op.Arithmetic() {
		return nil, false
	}
	twice := len(e.Args) == 2 && e.Args[0].Same(e.Args[1]) // as in a square, whose range is proved so
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
