package post

import (
	"cmp"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
)

// join binds a join of two tables. The conditions of WHERE that a list of tables has help to find the matching rows:
// those that do not bind over both tables are left to WHERE.
func (s *several) join(l, r *table, j *query.Join, where []query.Expr) (*table, error) {
	for i := range r.columns {
		if name := r.tableOf(i); name != "" && l.has(name) {
			return nil, bind.Refuse(j.At, "give one of them an alias", "two tables are called %q here", name)
		}
	}
	out := &matched{
		l: l.of, r: r.of, types: [2][]Column{l.columns, r.columns},
		keepL: j.Kind == query.LeftJoin || j.Kind == query.FullJoin, keepR: j.Kind == query.RightJoin || j.Kind == query.FullJoin,
	}
	b := &joining{several: s, l: l, r: r, matched: out}
	using := j.Using
	if j.Natural {
		using = b.common()
		if len(using) == 0 {
			return nil, bind.Refuse(j.At, "write JOIN … ON a.x = b.x", "NATURAL JOIN needs a column name that both sides have")
		}
	}
	both, err := b.using(using, j.At)
	if err != nil {
		return nil, err
	}
	for _, x := range conjuncts(j.On) {
		if err := b.condition(x); err != nil {
			return nil, err
		}
	}
	for _, x := range where {
		if !contains(x, func(e query.Expr) bool { _, nested := e.(*query.Nested); return nested }) {
			_ = b.equality(x) // the others are conditions of WHERE
		}
	}
	both.most, both.empty, both.ranked = mostPaired(l, r, out.keepL, out.keepR), l.empty || r.empty, l.ranked || r.ranked
	t := &table{both, out, paired(l, r, len(out.left) > 0), l.open || r.open}
	if t.pairs > mostPairs {
		return nil, bind.Refuse(j.At, "join by an equality of keys: ON a.x = b.x",
			"this join would pair more than %d rows", mostPairs)
	}
	if t.chosen = l.decided(); t.chosen == "" {
		t.chosen = r.decided()
	}
	if b.noisy && t.chosen == "" {
		t.chosen = whyPicked
	}
	known := !b.noisy && t.chosen == ""
	out.sure = [2]bool{known && !l.open, known && !r.open}
	for i := range both.columns { // a row without a match has NULLs
		both.columns[i].Sure = both.columns[i].Sure && !out.keepL && !out.keepR
	}
	first := len(both.columns) - len(l.columns) - len(r.columns)
	if out.keepR && !out.sure[0] { // noise decides which rows have NULLs for the left side
		decide(both.columns[first:first+len(l.columns)], t.chosen)
	}
	if out.keepL && !out.sure[1] {
		decide(both.columns[first+len(l.columns):], t.chosen)
	}
	return t, nil
}

// decide marks columns whose values depend on noise that chose rows.
func decide(columns []Column, why string) {
	for i := range columns {
		if c := &columns[i]; !c.Noisy {
			c.Noisy, c.Why = true, cmp.Or(why, whyPicked)
		}
	}
}

// joining is a join while it is bound.
type joining struct {
	*several
	l, r  *table
	both  frame // the columns of both sides, without those that USING merges
	noisy bool
	*matched
}

// common returns the names that both sides have, for NATURAL JOIN.
func (b *joining) common() (out []string) {
	for i, c := range b.l.columns {
		at := &query.Column{Name: c.Name}
		if b.l.means(i, at) && !slices.Contains(out, c.Name) &&
			slices.ContainsFunc(b.r.columns, func(o Column) bool { return o.Name == c.Name }) {
			out = append(out, c.Name)
		}
	}
	return out
}

// using binds USING, and returns the columns of the join.
func (b *joining) using(names []string, at query.Pos) (frame, error) {
	side := func(t *table) {
		for i, c := range t.columns {
			b.both.columns = append(b.both.columns, c)
			b.both.of = append(b.both.of, t.tableOf(i))
			b.both.merged = append(b.both.merged, t.merged != nil && t.merged[i])
		}
	}
	side(b.l)
	side(b.r)
	out, first := frame{}, len(b.l.columns)
	for _, name := range names {
		l, r := &scope{binder: b.binder, frame: b.l.frame}, &scope{binder: b.binder, frame: b.r.frame}
		x := &query.Column{At: at, Name: name}
		left, err := l.column(x)
		if err != nil {
			return out, err
		}
		right, err := r.column(x)
		if err != nil {
			return out, err
		}
		m := [2]int{index(l, x), index(r, x)}
		if left.typ != right.typ {
			return out, bind.Refuse(at, "cast one of them in its subquery", "the columns %q are of the types %s and %s", name, left.typ, right.typ)
		}
		c := b.l.columns[m[0]]
		other := b.r.columns[m[1]]
		c.From, c.Width = 0, max(widthOf(c), widthOf(other), 1)
		if c.Noisy = c.Noisy || other.Noisy; c.Noisy {
			c.Why, b.noisy = whyPicked, true
		}
		out.columns, out.of, out.merged = append(out.columns, c), append(out.of, ""), append(out.merged, false)
		b.both.merged[m[0]], b.both.merged[first+m[1]] = true, true
		b.left, b.right, b.merge = append(b.left, left), append(b.right, right), append(b.merge, m)
	}
	out.columns, out.of, out.merged = append(out.columns, b.both.columns...), append(out.of, b.both.of...), append(out.merged, b.both.merged...)
	return out, nil
}

func index(s *scope, x *query.Column) int {
	return slices.IndexFunc(s.columns, func(c Column) bool { return c.Name == x.Name })
}

// condition binds a condition of ON.
func (b *joining) condition(x query.Expr) error {
	if b.equality(x) == nil {
		return nil
	}
	n, err := (&scope{binder: b.binder, frame: b.both, rowwise: true}).condition(x)
	if err != nil {
		return err
	}
	b.noisy = b.noisy || n.noisy
	if b.on != nil {
		n = logic(query.And, b.on, n)
	}
	b.on = n
	return nil
}

// equality binds a condition that equates an expression of the left side with one of the right side.
func (b *joining) equality(x query.Expr) error {
	no := bind.Refuse(x.Pos(), "", "this is no equality of both sides")
	eq, ok := x.(*query.Binary)
	column := func(x query.Expr) bool { _, is := x.(*query.Column); return is }
	if !ok || eq.Op != query.Eq || !contains(eq.L, column) || !contains(eq.R, column) { // constants pair all rows
		return no
	}
	// a name that both sides have is ambiguous
	if _, err := (&scope{binder: b.binder, frame: b.both, rowwise: true}).bind(x); err != nil {
		return err
	}
	l, r := &scope{binder: b.binder, frame: b.l.frame, rowwise: true}, &scope{binder: b.binder, frame: b.r.frame, rowwise: true}
	left, errL := l.bind(eq.L)
	right, errR := r.bind(eq.R)
	if errL != nil || errR != nil {
		if left, errL = l.bind(eq.R); errL == nil {
			right, errR = r.bind(eq.L)
		}
	}
	if errL != nil || errR != nil {
		return no
	}
	pair := []*node{left, right}
	if _, err := alike(x.Pos(), pair...); err != nil {
		return err
	}
	b.noisy = b.noisy || left.noisy || right.noisy
	b.left, b.right = append(b.left, pair[0]), append(b.right, pair[1])
	return nil
}
