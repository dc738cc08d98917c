package post

import (
	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// mostConstants is the largest number of rows of a table of constants.
const mostConstants = 10_000

// listed is rows of constants.
type listed [][]Cell

func (l listed) rows(*env) [][]Cell { return l }

// constants binds a table of constants. Its rows are exact.
func (s *several) constants(r *query.Constants) (*table, error) {
	rows := make([][]*node, len(r.Rows))
	for i, row := range r.Rows {
		for _, x := range row {
			n, err := (&scope{binder: s.binder, rowwise: true}).bind(x)
			if err != nil {
				return nil, err
			}
			if n.fixed == nil {
				return nil, bind.Refuse(x.Pos(), "use numbers, texts, dates and intervals", "VALUES and generate_series take constants here")
			}
			rows[i] = append(rows[i], n)
		}
	}
	out := &table{frame: frame{table: r.Alias}}
	var all listed
	if r.Series {
		of, err := seriesOf(r, rows[0])
		if err != nil {
			return nil, err
		}
		out.columns = []Column{{Name: r.Columns[0], Type: rows[0][0].typ, Width: 1}}
		if len(of) > 0 {
			out.columns[0].Type = of[0].Type
		}
		for _, v := range of {
			all = append(all, []Cell{Exact(v)})
		}
	} else {
		for c, name := range r.Columns {
			column := make([]*node, len(rows))
			for i := range rows {
				column[i] = rows[i][c]
			}
			typ, err := alike(r.At, column...)
			if err != nil {
				return nil, err
			}
			out.columns = append(out.columns, Column{Name: name, Type: typ, Width: 1, untyped: typ == 0})
			if typ == 0 {
				out.columns[c].Type = value.Text
			}
			for i, n := range column {
				if c == 0 {
					all = append(all, nil)
				}
				all[i] = append(all[i], Exact(typed(*n.fixed, out.columns[c].Type)))
				out.columns[c].Width = max(out.columns[c].Width, n.width)
			}
		}
	}
	out.of, out.most, out.pairs = all, float64(len(all)), float64(len(all))
	return out, nil
}

// seriesOf returns the values of generate_series, as PostgreSQL has them: numbers, or timestamps with an interval as the step.
// Months are added one step after the other, so the day of the month never grows again. Days without an interval, which
// PostgreSQL does not have, are a day apart.
func seriesOf(r *query.Constants, args []*node) ([]value.Value, error) {
	no := func(hint, message string, a ...any) ([]value.Value, error) {
		return nil, bind.Refuse(r.At, hint, message, a...)
	}
	for _, a := range args {
		if a.fixed.Null {
			return nil, nil
		}
	}
	timed := func(n *node) bool { return n.typ == value.Date || n.typ == value.Timestamp }
	for i, n := range args[:2] { // a text beside a time spells a time
		if n.typ == value.Text && timed(args[1-i]) {
			read, err := n.readAs(value.Timestamp, r.At)
			if err != nil {
				return nil, err
			}
			args[i] = read
		}
	}
	from, to := args[0], args[1]
	var next func(v value.Value) (value.Value, bool)
	var first, last value.Value
	up := true
	switch {
	case timed(from) && timed(to) && len(args) == 3 && (args[2].typ == value.Interval || args[2].typ == value.Text):
		step, err := value.ParseSpan(args[2].fixed.Text, "")
		if err != nil {
			return no("write INTERVAL '1 day'", "this is not an interval")
		}
		first, last = value.OfMicro(micros(*from.fixed)), value.OfMicro(micros(*to.fixed))
		next = func(v value.Value) (value.Value, bool) {
			out := shifted(v.Int, step, true)
			return out, !out.Null
		}
		up = value.OfSpan(step).Int >= 0
	case timed(from) && timed(to) && len(args) == 2 && from.typ == to.typ && from.typ == value.Date:
		first, last = *from.fixed, *to.fixed
		next = func(v value.Value) (value.Value, bool) { return value.OfDay(v.Int + 1), true }
	case from.typ == value.Integer && to.typ == value.Integer && (len(args) == 2 || args[2].typ == value.Integer):
		step := int64(1)
		if len(args) == 3 {
			step = args[2].fixed.Int
		}
		if step == 0 {
			return no("use another step", "the step of generate_series is 0")
		}
		first, last, up = *from.fixed, *to.fixed, step >= 0
		next = func(v value.Value) (value.Value, bool) {
			out := v.Int + step
			return value.OfInt(out), (out > v.Int) == up && out != v.Int
		}
	default:
		return no("write generate_series(1, 10), or generate_series(DATE '2025-01-01', DATE '2025-12-31', INTERVAL '1 day')",
			"generate_series takes whole numbers, or dates or timestamps with an interval as the step")
	}
	var out []value.Value
	for v, ok := first, true; ok && (up && value.Compare(v, last) <= 0 || !up && value.Compare(v, last) >= 0); {
		if len(out) == mostConstants {
			return no("use a larger step", "generate_series gives more than %d rows", mostConstants)
		}
		out = append(out, v)
		before := v
		if v, ok = next(v); ok && value.Compare(v, before) == 0 {
			return no("use another step", "the step of generate_series is 0")
		}
	}
	return out, nil
}
