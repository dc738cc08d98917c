package bind

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// maxNumber bounds the number of rows of one unit, and so the number of a row. No table has more rows.
const maxNumber = 1 << 40

// maxLag bounds the offset of LAG and LEAD, as over an answer.
const maxLag = 1000

// windows returns s, a SELECT in FROM, with its window functions replaced by columns of bounded.Windows over r. It then
// keeps the rows of s.First.
//
// The part of a row must be rows of its own unit, so PARTITION BY names the unit's column. Then bounded.Windowed proves that
// a unit's rows decide what the windows say of them.
func (f from) windows(r *Relation, s *query.Select) (*query.Select, error) {
	calls := windowed(s)
	if len(calls) == 0 {
		return s, nil
	}
	r.only(s, calls)
	if n := s.First; n != nil && n.From == 1 && n.To == 1 && len(calls) == 1 && len(n.Call.Over.Partition) == 1 {
		if _, _, err := (&windowing{from: f, r: r, call: n.Call}).keys(); err != nil {
			return nil, err
		}
		return s, f.first(r, n.Call)
	}
	rows := r.unit.RowsPerUnit
	columns := map[*query.Call]query.Expr{}
	for len(calls) > 0 {
		spec := query.Print(&query.Call{Name: "w", Over: unframed(calls[0].Over)})
		var same, others []*query.Call
		for _, c := range calls {
			if query.Print(&query.Call{Name: "w", Over: unframed(c.Over)}) == spec {
				same = append(same, c)
			} else {
				others = append(others, c)
			}
		}
		w := &windowing{from: f, r: r, rows: rows, columns: columns}
		if err := w.bind(same, s.First); err != nil {
			return nil, err
		}
		calls = others
	}
	out := *s
	out.Items = slices.Clone(s.Items)
	for i, item := range out.Items {
		if c, ok := item.Expr.(*query.Call); ok && item.Alias == "" {
			out.Items[i].Alias = c.Name
		}
		out.Items[i].Expr = query.Replace(item.Expr, func(x query.Expr) (query.Expr, bool) {
			c, ok := x.(*query.Call)
			if !ok || columns[c] == nil {
				return x, false
			}
			return columns[c], true
		})
	}
	return &out, nil
}

// windowed returns the window functions of a SELECT.
func windowed(s *query.Select) (out []*query.Call) {
	for _, item := range s.Items {
		_, _ = query.Rewrite(item.Expr, func(x query.Expr) (query.Expr, error) {
			if c, ok := x.(*query.Call); ok && c.Over != nil {
				out = append(out, c)
			}
			return x, nil
		})
	}
	if s.First != nil && !slices.Contains(out, s.First.Call) {
		out = append(out, s.First.Call)
	}
	return out
}

// unframed returns a window without its frame, which no function here reads.
func unframed(w *query.Window) *query.Window {
	out := *w
	out.Frame = nil
	return &out
}

// only drops the names that a SELECT with windows does not mention, so that they decide no order of rows.
func (r *Relation) only(s *query.Select, calls []*query.Call) {
	all := false
	var read []*query.Column
	note := func(x query.Expr) {
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			switch e := e.(type) {
			case *query.Star:
				all = true
			case *query.Column:
				read = append(read, e)
			}
			return e, false
		})
	}
	for _, item := range s.Items {
		note(item.Expr)
	}
	for _, c := range calls {
		note(c)
	}
	if all {
		return
	}
	r.Names = slices.DeleteFunc(slices.Clone(r.Names), func(n Name) bool {
		return !n.unit && !slices.ContainsFunc(read, func(c *query.Column) bool {
			return c.Name == n.name && (c.Table == "" || c.Table == n.table)
		})
	})
}

// windowing binds the window functions of one SELECT with equal windows.
type windowing struct {
	from
	r       *Relation
	rows    int64                      // rows_per_unit of the rows
	columns map[*query.Call]query.Expr // what replaces each call
	call    *query.Call                // the first of them
}

// bind adds a bounded.Window for the calls to the relation, and keeps the rows of first if its call is among them.
func (w *windowing) bind(calls []*query.Call, first *query.First) error {
	w.call = calls[0]
	keys, parts, err := w.keys()
	if err != nil {
		return err
	}
	if calls, err = w.aggregates(calls); err != nil || len(calls) == 0 {
		return err
	}
	out := &bounded.Source{Op: bounded.Window, Units: true}
	var order []*query.Column
	for _, o := range w.call.Over.Order {
		c, err := w.column(o.Expr)
		if err != nil {
			return err
		}
		if c != nil {
			order = append(order, c)
			nullsFirst := o.Desc
			if o.NullsFirst != nil {
				nullsFirst = *o.NullsFirst
			}
			out.Order = append(out.Order, bounded.Ordering{Desc: o.Desc, NullsFirst: nullsFirst})
		}
	}
	var moved []*query.Column // the columns that the calls read, and for those with a default, a column that is never NULL
	for _, c := range calls {
		of, err := w.moved(c)
		if err != nil {
			return err
		}
		moved = append(moved, of...)
	}
	in := w.r.project()
	out.Inputs, out.Single, out.Columns = []*bounded.Source{in}, in.Single, slices.Clone(in.Columns)
	at := func(c *query.Column) int {
		n, err := w.r.Find(c)
		if err != nil {
			return -1
		}
		return n.e.Column
	}
	for _, k := range keys {
		out.Within = append(out.Within, at(k))
	}
	for i, c := range order {
		out.Order[i].Column = at(c)
	}
	for i := range w.r.Names {
		w.r.Names[i].e = out.Column(w.r.Names[i].e.Column)
	}
	w.r.Scope = Scope{Names: w.r.Names, Source: out, Columns: out.Columns, computed: w.r.computed}
	var number query.Expr
	for _, c := range calls {
		x := w.add(out, c, func() int {
			of := moved[0]
			moved = moved[1:]
			return at(of)
		})
		if first != nil && c == first.Call {
			number = x
		}
	}
	if number != nil {
		return w.r.keepFirst(first, number, parts)
	}
	return nil
}

// aggregates joins the rows with the aggregates of their unit's rows, and returns the calls that are no aggregates.
//
// Claim: the rows stay as they are, with further columns. Proof: a PerUnit by the unit alone has one row for each unit that
// has a row, so each row meets one row, which belongs to its unit. ∎
func (w *windowing) aggregates(calls []*query.Call) (others []*query.Call, err error) {
	var all []*query.Call
	for _, c := range calls {
		if IsAggregate(Renamed(c).Name) || innerFunctions[c.Name] != "" {
			all = append(all, c)
		} else {
			others = append(others, c)
		}
	}
	if len(all) == 0 {
		return calls, nil
	}
	r, over := w.r, all[0].Over
	switch {
	case len(over.Order) > 0 || over.Frame != nil:
		return nil, RefuseHere(over.At, "leave ORDER BY out, for all rows of the person",
			"%s in the order of one person's rows is not supported", all[0].Name)
	case len(over.Partition) > 1:
		return nil, RefuseHere(over.At, "write PARTITION BY"+strings.TrimPrefix(r.unitName(), ",")+" alone",
			"an aggregate over a window divides single rows by the person alone")
	}
	in := r.project()
	by, err := r.Find(over.Partition[0].(*query.Column))
	if err != nil {
		return nil, err
	}
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in}, Units: true, Single: true}
	per.Exprs, per.Columns = []*bounded.Expr{by.e}, []bounded.Column{r.output("unit", by.e)}
	list := &Scope{
		Source: per, Columns: per.Columns, computed: r.computed,
		inside: &inside{input: r, rows: r.unit.RowsPerUnit, per: per, keys: []Name{{e: by.e}}},
	}
	var found []*bounded.Expr
	for _, c := range all {
		plain := *c
		plain.Over = nil
		e, err := list.Row(&plain)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	join := &bounded.Source{
		Op: bounded.Join, Inputs: []*bounded.Source{in, per}, Units: true, Most: 1, Single: in.Single,
		Columns: slices.Concat(in.Columns, per.Columns),
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = shifted(names[i].e, 0, join)
	}
	r.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: r.computed}
	for i, c := range all {
		w.columns[c] = w.hide(shifted(found[i], -len(in.Columns), join), c.At)
	}
	return others, nil
}

// keys returns the columns that divide the rows of a unit into parts, and the largest number of parts of a unit.
func (w *windowing) keys() (out []*query.Column, parts int64, err error) {
	r, over := w.r, w.call.Over
	if r.public || r.unit.IsRow() {
		return nil, 0, unwindowed(w.call)
	}
	byUnit := false
	parts = 1
	for _, x := range over.Partition {
		if c, ok := x.(*query.Column); ok {
			n, err := r.Find(c)
			if err != nil {
				return nil, 0, err
			}
			if n.unit {
				byUnit = true
				continue
			}
		}
		e, err := r.Row(x)
		if err != nil {
			return nil, 0, err
		}
		if e.Type == value.Real {
			return nil, 0, RefuseHere(x.Pos(), "divide by FLOOR(x / 10)", "a real number cannot be a key")
		}
		parts = r.groups(parts, e)
		if c, err := w.column(x); err != nil {
			return nil, 0, err
		} else if c != nil {
			out = append(out, c)
		}
	}
	if byUnit {
		return out, parts, nil
	}
	e := RefuseHere(over.At, "write PARTITION BY"+w.byUnit(),
		"a window over single rows must divide them by the person: other windows compare rows of different persons")
	e.Instead = OverAnswer
	return nil, 0, e
}

// byUnit returns what PARTITION BY would be with the unit's column.
func (w *windowing) byUnit() string {
	names := []string{strings.TrimPrefix(w.r.unitName(), ", ")}
	for _, x := range w.call.Over.Partition {
		names = append(names, query.Print(x))
	}
	return " " + strings.Join(names, ", ")
}

// column returns a column of the relation that has the value of x in each row. It adds a hidden one unless x is a column. It
// returns nil for a constant.
func (w *windowing) column(x query.Expr) (*query.Column, error) {
	e, err := w.r.Row(x)
	if err != nil {
		return nil, err
	}
	if e.Op == bounded.OpConst {
		return nil, nil
	}
	if e.Type == value.Interval {
		return nil, Refuse(x.Pos(), "use EXTRACT(epoch FROM x)", "a window takes no interval here")
	}
	if c, ok := x.(*query.Column); ok {
		return c, nil
	}
	return w.hide(e, x.Pos()), nil
}

// hide adds a hidden name to the relation, and returns a reference to it.
func (w *windowing) hide(e *bounded.Expr, at query.Pos) *query.Column {
	n := Name{table: w.hiddenTable(), name: "window", e: e, merged: true}
	w.r.Names = append(w.r.Names, n)
	return &query.Column{At: at, Table: n.table, Name: n.name}
}

// moved returns the columns whose values in other rows a call returns: none for a number. The second one, for a call with a
// default, is never NULL, so that LAG of it is NULL only where there is no row.
func (w *windowing) moved(c *query.Call) ([]*query.Column, error) {
	if numbersRows(c) {
		return nil, nil
	}
	switch {
	case c.Name == "last_value":
		return nil, RefuseHere(c.At, "use FIRST_VALUE, with ORDER BY in the opposite direction", "last_value is not supported over one person's rows")
	case !slices.Contains([]string{"lag", "lead", "first_value"}, c.Name):
		return nil, RefuseHere(c.At, "use ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE or an aggregate without ORDER BY",
			"%s is not supported over one person's rows", c.Name)
	case c.Star, c.Distinct, c.Filter != nil, len(c.Args) == 0, len(c.Args) > 3, c.Name == "first_value" && len(c.Args) != 1:
		return nil, Refuse(c.At, "write "+c.Name+"(x)", "%s does not take these arguments", c.Name)
	case c.Name == "first_value" && c.Over.Frame != nil:
		return nil, Refuse(c.Over.At, "leave the frame out", "first_value takes no frame over one person's rows")
	case len(c.Over.Order) == 0:
		return nil, Refuse(c.Over.At, "add ORDER BY", "%s needs the order of the rows", c.Name)
	}
	if len(c.Args) > 1 {
		if n := integerIn(c.Args[1]); n == nil || *n < 0 || *n > maxLag {
			return nil, Refuse(c.Args[1].Pos(), "write a constant, such as 1", "%s goes a constant number of rows away, from 0 to %d", c.Name, maxLag)
		}
	}
	e, err := w.r.Row(c.Args[0])
	if err != nil {
		return nil, err
	}
	if IsUntypedNull(e) {
		return nil, Refuse(c.Args[0].Pos(), "write CAST(NULL AS integer)", "NULL alone has no type")
	}
	of, err := w.column(c.Args[0])
	if err == nil && of == nil { // a constant
		of = w.hide(e, c.At)
	}
	if err != nil || len(c.Args) < 3 {
		return []*query.Column{of}, err
	}
	return []*query.Column{of, w.hide(Constant(value.OfBool(true)), c.At)}, nil
}

// add adds the columns of a call to a Window. It returns its number, for a call that numbers rows, and notes what replaces
// the call. The function next returns the index of the next column that calls read.
func (w *windowing) add(out *bounded.Source, c *query.Call, next func() int) query.Expr {
	column := func(of bounded.Windowed, c bounded.Column, at query.Pos) query.Expr {
		out.Windows = append(out.Windows, of)
		out.Columns = append(out.Columns, c)
		w.r.Columns = out.Columns
		return w.hide(out.Column(len(out.Columns)-1), at)
	}
	if numbersRows(c) {
		// The number is not clamped, so that a condition on it is exact. Beside such a condition, it is at most rows, as a
		// count of a person's rows is.
		number := column(bounded.Windowed{Func: bounded.WindowFunc(c.Name)}, bounded.Column{
			Column: &policy.Column{Name: c.Name, Type: value.Integer}, Range: bounded.Range{IntLo: 1, IntHi: maxNumber}, Weight: 1,
		}, c.At)
		w.columns[c] = &query.Call{At: c.At, Name: "least", Args: []query.Expr{number, integerAt(c.At, w.rows)}}
		return number
	}
	of := bounded.Windowed{Func: bounded.WindowFunc(c.Name), Offset: 1}
	if len(c.Args) > 1 {
		of.Offset = *integerIn(c.Args[1])
	}
	moved := func() query.Expr {
		of.Column = next()
		there := out.Columns[of.Column]
		declared := *there.Column
		declared.Nullable = true
		return column(of, bounded.Column{Column: &declared, Range: there.Range, Weight: there.Weight}, c.At)
	}
	x := moved()
	if len(c.Args) == 3 {
		x = &query.Case{
			At:    c.At,
			Whens: []query.When{{Cond: &query.Is{At: c.At, X: moved(), What: query.IsNull}, Result: c.Args[2]}},
			Else:  x,
		}
	}
	w.columns[c] = x
	return nil
}
