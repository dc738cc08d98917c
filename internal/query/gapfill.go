package query

import "strconv"

// fills are TimescaleDB's functions that give a value to the buckets of TIME_BUCKET_GAPFILL that have none.
var fills = map[string]bool{"locf": true, "interpolate": true}

// filled gives the functions in fills their window: the buckets in their order, within the other groups. It changes
// nothing in a SELECT that is not grouped by one bucket.
func (s *Select) filled() {
	var bucket Expr
	var others []Expr
	for _, x := range s.GroupBy {
		x = s.grouping(x)
		if c, ok := x.(*Call); ok && c.Name == "time_bucket" {
			if bucket != nil {
				return
			}
			bucket = x
			continue
		}
		others = append(others, x)
	}
	if bucket == nil {
		return
	}
	fill := func(e Expr) (Expr, error) {
		c, ok := e.(*Call)
		if !ok || !fills[c.Name] || len(c.Args) != 1 || c.Over != nil || c.Star || c.Distinct || c.Filter != nil || len(c.Named) > 0 {
			return e, nil
		}
		out := *c
		out.Over = &Window{At: c.At, Partition: others, Order: []Order{{Expr: bucket}}}
		return &out, nil
	}
	for i, item := range s.Items {
		name := item.Alias
		if c, ok := item.Expr.(*Call); ok && name == "" && fills[c.Name] {
			name = c.Name
		}
		x, _ := Rewrite(item.Expr, fill)
		if x != item.Expr {
			s.Items[i] = Item{Expr: x, Alias: name}
		}
	}
	for i, o := range s.OrderBy {
		s.OrderBy[i].Expr, _ = Rewrite(o.Expr, fill)
	}
}

// grouping returns the expression that a number or an alias in GROUP BY stands for, and any other expression as it is.
func (s *Select) grouping(x Expr) Expr {
	switch x := x.(type) {
	case *Literal:
		if n, err := strconv.Atoi(x.Text); x.Kind == IntegerLiteral && err == nil && n >= 1 && n <= len(s.Items) {
			return s.Items[n-1].Expr
		}
	case *Column:
		for _, item := range s.Items {
			if x.Table != "" || item.Alias != x.Name {
				continue
			}
			if c, ok := item.Expr.(*Call); ok && c.Name == "time_bucket" {
				return c
			}
		}
	}
	return x
}
