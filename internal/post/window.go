package post

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// maxOffset is the largest number of rows in the offset of a frame, of LAG and of LEAD, and the largest argument of
// NTILE. It bounds the work for one row.
const maxOffset = 1000

// windowOnly are the functions that need OVER.
var windowOnly = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true, "ntile": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true, "locf": true, "interpolate": true,
}

// window is a window function over the rows of a SELECT.
type window struct {
	name      string
	fold      *fold // nil for functions that need OVER
	args      []*node
	offset    int64 // of LAG, LEAD, NTILE and NTH_VALUE
	typ       value.Type
	node      *node // the function as an expression
	partition []*node
	order     []ordering
	frame     query.Frame
}

// ordering is one term of ORDER BY.
type ordering struct {
	by         *node
	desc       bool
	nullsFirst bool
}

func (o ordering) compare(a, b value.Value) int {
	if a.Null || b.Null {
		if a.Null == b.Null {
			return 0
		}
		if a.Null == o.nullsFirst {
			return -1
		}
		return 1
	}
	d := value.Compare(a, b)
	if o.desc {
		return -d
	}
	return d
}

// newOrdering returns a term of ORDER BY for a bound expression.
func newOrdering(by *node, o query.Order) ordering {
	out := ordering{by: by, desc: o.Desc, nullsFirst: o.Desc}
	if o.NullsFirst != nil {
		out.nullsFirst = *o.NullsFirst
	}
	return out
}

// windowed binds a window function.
func (s *scope) windowed(x *query.Call) (*node, error) {
	if s.inside || s.windowing || s.rowwise {
		return nil, bind.Refuse(x.At, "compute it in a subquery",
			"a window function cannot stand in WHERE, GROUP BY or HAVING, or inside an aggregate or another window")
	}
	s.windowing = true
	defer func() { s.windowing = false }()
	w := &window{name: x.Name}
	out := &node{}
	var err error
	if windowOnly[x.Name] {
		if x.Filter != nil || x.Distinct || x.Star || len(x.Named) > 0 {
			return nil, bind.Refuse(x.At, "", "%s takes plain arguments", x.Name)
		}
		out, err = s.ranking(w, x)
	} else {
		if x.Distinct {
			return nil, bind.Refuse(x.At, "leave DISTINCT out", "DISTINCT is not supported in a window")
		}
		if x.Within != nil {
			return nil, bind.Refuse(x.At, "use MEDIAN, or a join with a subquery that is grouped", "WITHIN GROUP is not supported in a window")
		}
		// the argument of a window over groups may have aggregates of its own
		w.fold, out, err = s.newFold(x)
	}
	if err != nil {
		return nil, err
	}
	if w.partition, err = s.bindAll(x.Over.Partition); err != nil {
		return nil, err
	}
	for _, o := range x.Over.Order {
		n, err := s.bind(o.Expr)
		if err != nil {
			return nil, err
		}
		w.order = append(w.order, newOrdering(n, o))
	}
	if err := w.framed(x); err != nil {
		return nil, err
	}
	picked := s.picked
	if picked == "" {
		picked = s.decided()
	}
	w.mark(out, picked, s.ranked)
	w.typ, w.node = out.typ, out
	i := len(s.windows)
	s.windows = append(s.windows, w)
	out.eval = func(_ *env, r *row) Cell { return r.windows[i] }
	return out, nil
}

// ranking binds the arguments of a function that needs OVER.
func (s *scope) ranking(w *window, x *query.Call) (*node, error) {
	n := func(least, most int) error {
		if len(x.Args) < least || len(x.Args) > most {
			return bind.Refuse(x.At, "", "wrong number of arguments for %s", x.Name)
		}
		return nil
	}
	constant := func(i int, least int64) (int64, error) {
		c, err := s.bind(x.Args[i])
		if err != nil {
			return 0, err
		}
		if c.fixed == nil || c.typ != value.Integer || c.fixed.Null || c.fixed.Int < least || c.fixed.Int > maxOffset {
			return 0, bind.Refuse(x.Args[i].Pos(), "write a constant, such as 1", "%s takes a constant from %d to %d here", x.Name, least, maxOffset)
		}
		return c.fixed.Int, nil
	}
	var err error
	switch x.Name {
	case "row_number", "rank", "dense_rank":
		return &node{typ: value.Integer}, n(0, 0)
	case "percent_rank", "cume_dist":
		return &node{typ: value.Real}, n(0, 0)
	case "ntile":
		if err = n(1, 1); err == nil {
			w.offset, err = constant(0, 1)
		}
		return &node{typ: value.Integer}, err
	}
	most := map[string]int{"first_value": 1, "last_value": 1, "nth_value": 2, "lag": 3, "lead": 3, "locf": 1, "interpolate": 1}[x.Name]
	if err = n(1, most); err != nil {
		return nil, err
	}
	w.offset = 1
	if len(x.Args) > 1 {
		least := int64(0)
		if x.Name == "nth_value" {
			least = 1
		}
		if w.offset, err = constant(1, least); err != nil {
			return nil, err
		}
	} else if x.Name == "nth_value" {
		return nil, bind.Refuse(x.At, "", "wrong number of arguments for nth_value")
	}
	value, err := s.bind(x.Args[0])
	if err != nil {
		return nil, err
	}
	w.args = []*node{value}
	if len(x.Args) > 2 {
		fallback, err := s.bind(x.Args[2])
		if err != nil {
			return nil, err
		}
		w.args = append(w.args, fallback)
	}
	typ, err := alike(x.At, w.args...)
	if err != nil {
		return nil, err
	}
	out := (&node{typ: typ, work: 1}).wide(w.args...)
	out.depends("", w.args...)
	if x.Name == "interpolate" {
		return out, interpolated(x, out)
	}
	return out, nil
}

// mark says whether the window function is noisy beyond its arguments. ranked is that of the frame.
func (w *window) mark(out *node, picked string, ranked bool) {
	note := func(why string) {
		out.noisy = true
		if out.why == "" {
			out.why = why
		}
	}
	for _, p := range w.partition {
		if p.noisy {
			note(whyGroups)
		}
	}
	for _, o := range w.order {
		if o.by.noisy {
			note(whyOrder)
		}
	}
	if picked != "" {
		note(picked)
	}
	if ranked && (w.fold == nil || !w.frame.Whole()) { // rows that are equal in the window's order keep the order of the rows
		note(whyOrder)
	}
}

// framed sets the frame of the window, which is that of PostgreSQL if the question has none.
func (w *window) framed(x *query.Call) error {
	switch {
	case x.Over.Frame != nil:
		w.frame = *x.Over.Frame
	case len(w.order) > 0:
		w.frame = query.Frame{Range: true, Start: query.FrameEnd{Kind: query.UnboundedPreceding}, End: query.FrameEnd{Kind: query.CurrentRow}}
	default:
		w.frame = query.Frame{Start: query.FrameEnd{Kind: query.UnboundedPreceding}, End: query.FrameEnd{Kind: query.UnboundedFollowing}}
	}
	if max(w.frame.Start.Offset, w.frame.End.Offset) > maxOffset {
		return bind.Refuse(x.Over.At, "write a smaller number, or UNBOUNDED", "a frame reaches at most %d rows", maxOffset)
	}
	if w.fold != nil && !w.frame.Whole() && (percentiles[w.name] || spreads[w.name]) {
		return bind.Refuse(x.Over.At, "leave ORDER BY and the frame out", "%s is supported over a whole partition only", w.name)
	}
	return nil
}

// run computes the window function for all rows, and appends its values to them.
func (w *window) run(e *env, rows []*row) {
	type sorted struct {
		r  *row
		by []value.Value
	}
	parts, names := map[string][]sorted{}, []string{}
	for _, r := range rows {
		key := ""
		for _, p := range w.partition {
			key += keyText(p.eval(e, r).Value) + "\x00"
		}
		s := sorted{r: r}
		for _, o := range w.order {
			s.by = append(s.by, o.by.eval(e, r).Value)
		}
		if parts[key] == nil {
			names = append(names, key)
		}
		parts[key] = append(parts[key], s)
	}
	for _, name := range names {
		part := parts[name]
		slices.SortStableFunc(part, func(a, b sorted) int {
			for i, o := range w.order {
				if d := o.compare(a.by[i], b.by[i]); d != 0 {
					return d
				}
			}
			return 0
		})
		p := &partition{window: w, rows: make([]*row, len(part)), peers: make([]int, len(part)), last: make([]int, len(part))}
		for i, s := range part {
			p.rows[i] = s.r
			if i > 0 && slices.EqualFunc(s.by, part[i-1].by, func(a, b value.Value) bool { return value.Compare(a, b) == 0 }) {
				p.peers[i] = p.peers[i-1]
			} else {
				p.peers[i] = i
			}
		}
		for i := len(part) - 1; i >= 0; i-- {
			p.last[i] = i
			if i+1 < len(part) && p.peers[i+1] == p.peers[i] {
				p.last[i] = p.last[i+1]
			}
		}
		for i, c := range p.values(e) {
			p.rows[i].windows = append(p.rows[i].windows, c)
		}
	}
}
