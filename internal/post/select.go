package post

import (
	"slices"
	"strconv"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// stage is one bound SELECT over an answer.
type stage struct {
	where, having *node // nil if absent
	grouped       bool
	whole         bool // aggregates without GROUP BY: one row, even for no rows
	groups        []*node
	folds         []*fold
	windows       []*window
	items         []*node
	columns       []Column
	distinct      bool
	order         []ordering
	limit, offset *int64
	chosen        string  // why the rows that are left depend on noise; "" if they do not
	sifted        bool    // as that of a frame
	ranked        bool    // as that of a frame
	most          float64 // as that of a frame
	empty         bool    // as that of a frame
}

// aggregate binds an aggregate of a grouped SELECT.
func (s *scope) aggregate(x *query.Call) (*node, error) {
	switch {
	case s.inside:
		return nil, bind.Refuse(x.At, "aggregate in a subquery first", "an aggregate cannot stand inside another one")
	case !s.grouped:
		return nil, bind.Refuse(x.At, "write HAVING", "an aggregate cannot stand in WHERE or GROUP BY")
	}
	windowing := s.windowing
	s.windowing = false
	f, n, err := s.newFold(x)
	s.windowing = windowing
	if err != nil {
		return nil, err
	}
	text := s.text(x)
	i := slices.Index(s.texts, text)
	if i < 0 {
		i = len(s.folds)
		s.folds, s.texts = append(s.folds, f), append(s.texts, text)
	}
	n.eval = func(_ *env, r *row) Cell { return r.folds[i] }
	return n, nil
}

// frame describes the rows of the SELECT.
func (t *stage) frame() frame {
	return frame{columns: t.columns, chosen: t.chosen, sifted: t.sifted, ranked: t.ranked, most: t.most, empty: t.empty}
}

// bindSelect binds a SELECT over rows.
func (b *binder) bindSelect(q *query.Select, in frame) (*stage, error) {
	s := &scope{binder: b, frame: in, picked: in.chosen, rowwise: true}
	out := &stage{distinct: q.Distinct, limit: q.Limit, offset: q.Offset}
	var err error
	if q.Where != nil {
		if out.where, err = s.sift(q.Where); err != nil {
			return nil, err
		}
		if out.where.noisy && s.picked == "" {
			s.picked = whyPicked
		}
	}
	if err := s.group(q, out); err != nil {
		return nil, err
	}
	s.rowwise = false
	if err := s.list(q, out); err != nil {
		return nil, err
	}
	if err := s.ordered(q, out); err != nil {
		return nil, err
	}
	out.folds, out.windows = s.folds, s.windows
	out.chosen, out.sifted = s.picked, s.sifted
	if out.distinct && out.chosen == "" && slices.ContainsFunc(out.columns, func(c Column) bool { return c.Noisy }) {
		out.chosen = whyPicked
	}
	if out.most, out.empty = in.most, in.empty; out.whole {
		out.most, out.empty = 1, false
	}
	// rows that are equal in ORDER BY, or all rows without it, keep the order that they had
	out.ranked = !out.whole && (in.ranked || slices.ContainsFunc(out.order, func(o ordering) bool { return o.by.noisy }))
	cut := q.Limit != nil && float64(*q.Limit) < out.most || q.Offset != nil && *q.Offset > 0
	if q.Limit != nil {
		out.most = min(out.most, float64(*q.Limit))
	}
	if cut && out.chosen == "" && out.ranked {
		out.chosen = whyPicked
	}
	if out.chosen != "" {
		for i := range out.columns {
			if c := &out.columns[i]; c.Noisy && c.Why == "" {
				c.Why = out.chosen
			}
		}
	}
	return out, nil
}

// sift binds the condition of WHERE or HAVING. An x IN (SELECT …) that every row must meet may choose rows by noise that
// is independent of their numbers.
func (s *scope) sift(x query.Expr) (all *node, err error) {
	for _, x := range conjuncts(x) {
		in := x
		if not, ok := x.(*query.Unary); ok && not.Op == query.Not {
			in = not.X
		}
		_, s.sifting = in.(*query.Nested)
		n, err := s.condition(x)
		if s.sifting = false; err != nil {
			return nil, err
		}
		if all != nil {
			n = logic(query.And, all, n)
		}
		all = n
	}
	return all, nil
}

// group binds GROUP BY and HAVING.
func (s *scope) group(q *query.Select, out *stage) error {
	aggregated := slices.ContainsFunc(q.Items, func(i query.Item) bool { return contains(i.Expr, isMeasure) }) ||
		slices.ContainsFunc(q.OrderBy, func(o query.Order) bool { return contains(o.Expr, isMeasure) })
	if len(q.GroupBy) == 0 && q.Having == nil && !aggregated {
		return nil
	}
	for _, x := range q.GroupBy {
		if g, ok := x.(*query.Grouping); ok {
			return bind.Refuse(g.At, "GROUP BY one list of keys", "ROLLUP, CUBE and GROUPING SETS are not supported over an answer")
		}
		x = resolved(q, x, func(name string) bool {
			return slices.ContainsFunc(s.columns, func(c Column) bool { return c.Name == name })
		})
		n, err := s.bind(x)
		if err != nil {
			return err
		}
		s.keys, s.groups = append(s.keys, s.text(x)), append(s.groups, n)
		if n.noisy && s.picked == "" {
			s.picked = whyGroups
		}
	}
	s.grouped, out.grouped, out.groups, out.whole = true, true, s.groups, len(q.GroupBy) == 0
	if s.picked == "" { // of several rows, of which noise chose some
		s.picked = s.decided()
	}
	if q.Having != nil {
		n, err := s.sift(q.Having)
		if err != nil {
			return err
		}
		if out.having = n; n.noisy && s.picked == "" {
			s.picked = whyPicked
		}
	}
	return nil
}

// list binds the SELECT list.
func (s *scope) list(q *query.Select, out *stage) error {
	for _, item := range q.Items {
		if star, ok := item.Expr.(*query.Star); ok {
			if s.grouped {
				return bind.Refuse(star.At, "list the GROUP BY expressions and aggregates", "* cannot be selected with GROUP BY")
			}
			if star.Table != "" && !s.has(star.Table) {
				return bind.Refuse(star.At, "write *", "there is no table %q in FROM", star.Table)
			}
			if len(out.items)+len(s.columns) > mostColumns {
				return tooMany(star.At)
			}
			for i, c := range s.columns {
				if !s.shows(i, star.Table) {
					continue
				}
				out.items, out.columns = append(out.items, s.field(i)), append(out.columns, c)
			}
			continue
		}
		if len(out.items) >= mostColumns {
			return tooMany(item.Expr.Pos())
		}
		n, err := s.bind(item.Expr)
		if err != nil {
			return err
		}
		c := Column{
			Name: nameOf(item), Type: n.typ, Noisy: n.noisy, Why: n.why, From: n.from, Width: max(n.width, 1),
			whole: s.whole(item.Expr),
		}
		if c.Sure = n.sure; c.Type == 0 {
			c.Type, c.untyped = value.Text, true
		}
		out.items, out.columns = append(out.items, n), append(out.columns, c)
	}
	return nil
}

// tooMany refuses a SELECT list with too many columns. Nested lists with several * would double them at every level.
func tooMany(at query.Pos) error {
	return bind.Refuse(at, "name the columns", "a SELECT over an answer has at most %d columns", mostColumns)
}

// ordered binds ORDER BY. A name or a number means an output column, and any other expression one over the rows.
func (s *scope) ordered(q *query.Select, out *stage) error {
	for _, o := range q.OrderBy {
		n, err := s.output(q, o.Expr, out)
		if err != nil {
			return err
		}
		if q.Distinct && !slices.ContainsFunc(out.items, func(i *node) bool { return i == n }) {
			return bind.Refuse(o.Expr.Pos(), "order by a column of the SELECT list", "ORDER BY of SELECT DISTINCT takes columns of the list")
		}
		out.order = append(out.order, newOrdering(n, o))
	}
	return nil
}

func (s *scope) output(q *query.Select, x query.Expr, out *stage) (*node, error) {
	switch x := x.(type) {
	case *query.Literal:
		n, err := strconv.Atoi(x.Text)
		if x.Kind == query.IntegerLiteral && err == nil && n >= 1 && n <= len(out.items) {
			return out.items[n-1], nil
		}
		return nil, bind.Refuse(x.At, "order by a column", "ORDER BY takes a column's number from 1 to %d", len(out.items))
	case *query.Column:
		for i, c := range out.columns {
			if x.Table == "" && c.Name == x.Name {
				return out.items[i], nil
			}
		}
	}
	text := s.text(x)
	if len(q.Items) == len(out.items) {
		for i, item := range q.Items {
			if s.text(item.Expr) == text {
				return out.items[i], nil
			}
		}
	}
	return s.bind(x)
}

// run computes the rows of the SELECT.
func (t *stage) run(e *env, in [][]Cell) [][]Cell {
	if e.spent.stage(t, len(in)); e.spent.refusal() != nil {
		return nil
	}
	var rows []*row
	for _, cells := range in {
		if e.ended() {
			return nil
		}
		r := &row{cells: cells}
		if t.where == nil || t.where.eval(e, r).Value.IsTrue() {
			rows = append(rows, r)
		}
	}
	if t.grouped {
		rows = t.aggregated(e, rows)
	}
	for _, w := range t.windows {
		w.run(e, rows)
	}
	type shown struct {
		cells []Cell
		by    []value.Value
	}
	var out []shown
	seen := map[string]bool{}
	for _, r := range rows {
		if e.ended() {
			return nil
		}
		s := shown{cells: make([]Cell, len(t.items))}
		key := ""
		for i, n := range t.items {
			s.cells[i] = n.eval(e, r)
			if t.distinct {
				key += strconv.Quote(keyText(s.cells[i].Value))
			}
			if t.columns[i].Why != "" {
				s.cells[i].error = nil
			}
		}
		if t.distinct && seen[key] {
			continue
		}
		seen[key] = true
		for _, o := range t.order {
			s.by = append(s.by, o.by.eval(e, r).Value)
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b shown) int {
		for i, o := range t.order {
			if d := o.compare(a.by[i], b.by[i]); d != 0 {
				return d
			}
		}
		return 0
	})
	if t.offset != nil {
		out = out[min(*t.offset, int64(len(out))):]
	}
	if t.limit != nil {
		out = out[:min(*t.limit, int64(len(out)))]
	}
	cells := make([][]Cell, len(out))
	for i, s := range out {
		cells[i] = s.cells
	}
	return cells
}

// aggregated returns one row for each group, in the order of the first row of each, and applies HAVING.
func (t *stage) aggregated(e *env, rows []*row) []*row {
	var out []*row
	groups, members := map[string]int{}, [][]*row{}
	if t.whole {
		out, members = []*row{{}}, [][]*row{nil}
		groups[""] = 0
	}
	for _, r := range rows {
		key := ""
		var keys []Cell
		for _, g := range t.groups {
			c := g.eval(e, r)
			keys = append(keys, c)
			key += strconv.Quote(keyText(c.Value))
		}
		i, ok := groups[key]
		if !ok {
			i = len(out)
			groups[key] = i
			out, members = append(out, &row{keys: keys}), append(members, nil)
		}
		members[i] = append(members[i], r)
	}
	left := out[:0]
	for i, r := range out {
		if e.ended() {
			return nil
		}
		for _, f := range t.folds {
			r.folds = append(r.folds, f.over(e, members[i]))
		}
		if t.having == nil || t.having.eval(e, r).Value.IsTrue() {
			left = append(left, r)
		}
	}
	return left
}
