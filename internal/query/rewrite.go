package query

import "slices"

// Rewrite returns x with each subexpression e replaced by f(e), from the leaves up. It leaves x unchanged, and copies
// only the nodes above a replaced one. The ORDER BY expression of WITHIN GROUP is a subexpression too. Named arguments,
// the window of OVER and the SELECT of a Nested are not. It returns the first error of f.
func Rewrite(x Expr, f func(Expr) (Expr, error)) (Expr, error) {
	w := rewriter{f: f}
	out := w.expr(x)
	return out, w.err
}

// Replace returns x with each outermost subexpression for which f returns true replaced by f's result. It looks into the
// windows of OVER too. It leaves x unchanged, as Rewrite does.
func Replace(x Expr, f func(Expr) (Expr, bool)) Expr {
	w := rewriter{f: func(e Expr) (Expr, error) { return e, nil }, outermost: f}
	return w.expr(x)
}

// Unaliased returns x with each name of an output column of s replaced by what the name stands for. A column of the rows
// takes precedence over an alias: the function has reports whether there is one of a name.
func Unaliased(s *Select, x Expr, has func(name string) bool) Expr {
	return Replace(x, func(e Expr) (Expr, bool) {
		c, ok := e.(*Column)
		if !ok || c.Table != "" {
			return e, false
		}
		for _, item := range s.Items {
			if item.Alias == c.Name && !has(c.Name) {
				return item.Expr, true
			}
		}
		return e, false
	})
}

type rewriter struct {
	f         func(Expr) (Expr, error)
	outermost func(Expr) (Expr, bool) // for Replace; nil for Rewrite
	err       error
}

func (w *rewriter) expr(x Expr) Expr {
	if x == nil || w.err != nil {
		return x
	}
	if w.outermost != nil {
		if y, ok := w.outermost(x); ok {
			return y
		}
	}
	y, err := w.f(w.children(x))
	if err != nil {
		w.err = err
		return x
	}
	return y
}

// children returns x with its subexpressions replaced: x itself if none changed, and otherwise a copy.
func (w *rewriter) children(x Expr) Expr {
	switch x := x.(type) {
	case *Unary:
		if e := w.expr(x.X); e != x.X {
			return &Unary{At: x.At, Op: x.Op, X: e}
		}
	case *Binary:
		if l, r := w.expr(x.L), w.expr(x.R); l != x.L || r != x.R {
			return &Binary{At: x.At, Op: x.Op, L: l, R: r}
		}
	case *Between:
		if e, lo, hi := w.expr(x.X), w.expr(x.Lo), w.expr(x.Hi); e != x.X || lo != x.Lo || hi != x.Hi {
			out := *x
			out.X, out.Lo, out.Hi = e, lo, hi
			return &out
		}
	case *In:
		e := w.expr(x.X)
		if list, changed := w.list(x.List); changed || e != x.X {
			out := *x
			out.X, out.List = e, list
			return &out
		}
	case *Like:
		if e, p := w.expr(x.X), w.expr(x.Pattern); e != x.X || p != x.Pattern {
			out := *x
			out.X, out.Pattern = e, p
			return &out
		}
	case *Is:
		if e := w.expr(x.X); e != x.X {
			out := *x
			out.X = e
			return &out
		}
	case *Cast:
		if e := w.expr(x.X); e != x.X {
			out := *x
			out.X = e
			return &out
		}
	case *Nested:
		if list, changed := w.list(x.X); changed {
			out := *x
			out.X = list
			return &out
		}
	case *Case:
		return w.cases(x)
	case *Call:
		return w.call(x)
	case *Grouping:
		if args, changed := w.list(x.Args); changed {
			return &Grouping{At: x.At, Kind: x.Kind, Args: args}
		}
	}
	return x
}

func (w *rewriter) list(xs []Expr) (out []Expr, changed bool) {
	for _, x := range xs {
		y := w.expr(x)
		changed = changed || y != x
		out = append(out, y)
	}
	if !changed {
		return xs, false
	}
	return out, true
}

func (w *rewriter) cases(x *Case) Expr {
	out := &Case{At: x.At, Operand: w.expr(x.Operand)}
	changed := out.Operand != x.Operand
	for _, when := range x.Whens {
		y := When{Cond: w.expr(when.Cond), Result: w.expr(when.Result)}
		changed = changed || y != when
		out.Whens = append(out.Whens, y)
	}
	out.Else = w.expr(x.Else)
	if !changed && out.Else == x.Else {
		return x
	}
	return out
}

func (w *rewriter) call(x *Call) Expr {
	out := *x
	var changed bool
	out.Args, changed = w.list(x.Args)
	out.Filter = w.expr(x.Filter)
	changed = changed || out.Filter != x.Filter
	if x.Within != nil {
		order := *x.Within
		order.Expr = w.expr(order.Expr)
		changed = changed || order.Expr != x.Within.Expr
		out.Within = &order
	}
	if x.Over != nil && w.outermost != nil {
		over := *x.Over
		over.Partition, _ = w.list(x.Over.Partition)
		over.Order = slices.Clone(x.Over.Order)
		for i := range over.Order {
			over.Order[i].Expr = w.expr(over.Order[i].Expr)
		}
		out.Over, changed = &over, true
	}
	if !changed {
		return x
	}
	return &out
}
