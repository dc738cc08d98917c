package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
)

// Windowed returns a SELECT of the rows of s, a bounded.Window. The rows of input have their unit in column u, and the
// columns c0, c1, …. The parameter digest is the SQL of the digest that orders rows which s.Order leaves equal, or "".
//
// Rank and DenseRank read s.Order alone, so that rows which it leaves equal have equal numbers.
func Windowed(s *bounded.Source, input, digest string) string {
	n := len(s.Inputs[0].Columns)
	column := func(i int) string { return "c" + strconv.Itoa(i) }
	part := []string{"u"}
	for _, i := range s.Within {
		part = append(part, column(i))
	}
	var order []string
	for _, o := range s.Order {
		order = append(order, column(o.Column)+direction(o))
	}
	total := slices.Clone(order)
	if digest != "" {
		total = append(total, digest)
	}
	for i := range n {
		total = append(total, column(i)+" ASC NULLS LAST")
	}
	over := func(order []string) string {
		out := "PARTITION BY " + strings.Join(part, ", ")
		if len(order) > 0 {
			out += " ORDER BY " + strings.Join(order, ", ")
		}
		return out
	}
	out := []string{"u"}
	for i := range n {
		out = append(out, column(i))
	}
	for i, w := range s.Windows {
		call, by := string(w.Func)+"()", total
		switch {
		case w.Func == bounded.FirstValue: // the frame begins with the first row, whichever rows it ends with
			call = "first_value(" + column(w.Column) + ")"
		case w.Reads():
			call = fmt.Sprintf("%s(%s, %d)", w.Func, column(w.Column), w.Offset)
		case w.Func != bounded.RowNumber:
			by = order
		}
		out = append(out, fmt.Sprintf("%s OVER (%s) AS %s", call, over(by), column(n+i)))
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM " + input + " AS a"
}

func direction(o bounded.Ordering) string {
	out := " ASC"
	if o.Desc {
		out = " DESC"
	}
	if o.NullsFirst {
		return out + " NULLS FIRST"
	}
	return out + " NULLS LAST"
}
