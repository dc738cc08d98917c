package post

import (
	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// cases binds CASE.
func (s *scope) cases(x *query.Case) (*node, error) {
	var operand *node
	var err error
	whole := &node{}
	if x.Operand != nil {
		if operand, err = s.bind(x.Operand); err != nil {
			return nil, err
		}
		whole.costs(operand)
		operand = once(operand)
	}
	var conditions, results []*node
	for _, w := range x.Whens {
		c, err := s.bind(w.Cond)
		if err != nil {
			return nil, err
		}
		if operand != nil {
			c, err = compare(query.Eq, operand, c, w.Cond.Pos())
		} else {
			err = asCondition(c, w.Cond.Pos())
		}
		if err != nil {
			return nil, err
		}
		r, err := s.bind(w.Result)
		if err != nil {
			return nil, err
		}
		conditions, results = append(conditions, c), append(results, r)
	}
	last := nothing()
	if x.Else != nil {
		if last, err = s.bind(x.Else); err != nil {
			return nil, err
		}
	}
	out, err := chosen(conditions, append(results, last), s.guards(x), x.At)
	if err != nil {
		return nil, err
	}
	return out.costs(whole), nil
}

// guards reports whether each condition of a CASE compares with 0 or NULL alone. Such conditions guard a division: where
// they fail, there is no result to have an interval.
func (s *scope) guards(x *query.Case) bool {
	for _, w := range x.Whens {
		if x.Operand != nil || !guard(w.Cond) {
			return false
		}
	}
	return true
}

func guard(x query.Expr) bool {
	switch x := x.(type) {
	case *query.Is:
		return x.What == query.IsNull
	case *query.Binary:
		zero, ok := x.R.(*query.Literal)
		return ok && zero.Kind == query.IntegerLiteral && zero.Text == "0"
	}
	return false
}

// chosen returns the result of the first condition that is true, or the last result. A choice by noisy conditions has no
// interval, because the choice depends on the noise. A guard (see guards) that leaves one result, and NULL or an exact
// number in its place, keeps that result's interval: an interval that is shown fails to cover with at most its
// probability.
func chosen(conditions, results []*node, guards bool, at query.Pos) (*node, error) {
	typ, err := alike(at, results...)
	if err != nil {
		return nil, err
	}
	out := (&node{typ: typ, work: 1}).costs(conditions...).costs(results...).wide(results...)
	out.depends("", results...)
	noisyResults, noisyChoice := 0, false
	for _, r := range results {
		if r.noisy {
			noisyResults++
		}
	}
	for _, c := range conditions {
		if c.noisy {
			out.noisy, noisyChoice = true, true
			if out.why == "" && (!guards || noisyResults != 1) {
				out.why = whyCondition
			}
		}
	}
	out.eval = func(e *env, r *row) Cell {
		pick := results[len(results)-1]
		for i, c := range conditions {
			if c.eval(e, r).Value.IsTrue() {
				pick = results[i]
				break
			}
		}
		c := pick.eval(e, r)
		c.Value = typed(c.Value, typ)
		if noisyChoice { // an exact result that noise chose is not certain
			return c
		}
		return certain(c, pick, out)
	}
	return out, nil
}

// certain gives an exact cell an error of 0 if its column is noisy and may have intervals: where exact conditions chose an
// exact result.
func certain(c Cell, from, to *node) Cell {
	if to.noisy && to.why == "" && !from.noisy && !c.Value.Null && bind.IsNumber(c.Value.Type) {
		c.error = &margin{over: constant(number(c.Value))}
	}
	return c
}

// coalesce returns the first argument that is not NULL.
func coalesce(args []*node, at query.Pos) (*node, error) {
	typ, err := alike(at, args...)
	if err != nil {
		return nil, err
	}
	out := (&node{typ: typ, work: 1}).costs(args...).wide(args...)
	out.depends("", args...)
	out.eval = func(e *env, r *row) Cell {
		noise := false
		for _, a := range args {
			c := a.eval(e, r)
			if !c.Value.Null {
				if noise { // whether it is reached depends on noise
					return Cell{Value: typed(c.Value, typ)}
				}
				return certain(c, a, out)
			}
			noise = noise || a.noisy && !c.absent
		}
		return Exact(value.NullOf(typ))
	}
	return out, nil
}

// nullIf returns NULL where both arguments are equal, and otherwise the first.
func nullIf(a, b *node, at query.Pos) (*node, error) {
	both := []*node{a, b}
	typ, err := alike(at, both...)
	if err != nil {
		return nil, err
	}
	out := (&node{typ: typ, work: 1}).costs(both...).wide(both[0])
	out.depends("", a)
	if b.noisy {
		out.noisy, out.why = true, whyCondition
	}
	out.eval = func(e *env, r *row) Cell {
		x, y := both[0].eval(e, r), both[1].eval(e, r)
		if !x.Value.Null && !y.Value.Null && value.Compare(x.Value, y.Value) == 0 {
			return Exact(value.NullOf(typ))
		}
		if b.noisy {
			x.error = nil
		}
		x.Value = typed(x.Value, typ)
		return x
	}
	return out, nil
}

// extreme returns the least or the greatest argument, without NULLs. With one noisy argument the function is monotone in
// it, and keeps its interval.
func extreme(greatest bool, args []*node, at query.Pos) (*node, error) {
	typ, err := alike(at, args...)
	if err != nil {
		return nil, err
	}
	pick := func(vs []value.Value) value.Value {
		out := value.NullOf(typ)
		for _, v := range vs {
			if !v.Null && (out.Null || (value.Compare(v, out) > 0) == greatest) {
				out = v
			}
		}
		return out
	}
	out := general(typ, whyExtreme, pick, args...)
	out.width = 0
	out.wide(args...)
	noisy := -1
	for i, a := range args {
		if a.noisy && noisy >= 0 {
			return out, nil
		}
		if a.noisy {
			noisy = i
		}
	}
	if noisy < 0 || !bind.IsNumber(typ) {
		return out, nil
	}
	out.why = args[noisy].why
	out.eval = func(e *env, r *row) Cell {
		c := args[noisy].eval(e, r)
		vs := make([]value.Value, len(args))
		for i, a := range args {
			if vs[i] = c.Value; i != noisy {
				vs[i] = a.eval(e, r).Value
			}
		}
		if c.Value.Null {
			return Exact(pick(vs))
		}
		return Cell{Value: pick(vs), error: e.mapped(c, func(x float64) float64 {
			vs[noisy] = value.OfReal(x)
			for i := range vs {
				if i != noisy {
					vs[i] = asReal(vs[i])
				}
			}
			return number(pick(vs))
		}, false)}
	}
	return out, nil
}
