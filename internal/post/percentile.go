package post

import (
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// percentiles are the aggregates that choose a place in the order of the values.
var percentiles = map[string]bool{"median": true, "percentile_cont": true, "percentile_disc": true}

// ranked binds the rank and the order of a percentile, and returns the expression that it orders.
func (f *fold) ranked(s *scope, x *query.Call) (query.Expr, error) {
	f.rank, f.descending = 0.5, x.Within != nil && x.Within.Desc
	if x.Name == "median" && x.Within == nil && len(x.Args) == 1 {
		return x.Args[0], nil
	}
	plain := *x
	plain.Filter = nil
	of, rest, err := bind.OrderedBy(&plain, x.Name)
	if err != nil {
		return nil, err
	}
	if x.Star || x.Distinct || x.Name == "median" || len(rest) != 1 {
		return nil, bind.Refuse(x.At, bind.OrderForms[x.Name], "wrong arguments for %s", x.Name)
	}
	n, err := s.bind(rest[0])
	if err != nil {
		return nil, err
	}
	if n.fixed == nil || n.fixed.Null || n.typ != value.Integer && n.typ != value.Real || !(number(*n.fixed) >= 0 && number(*n.fixed) <= 1) {
		return nil, bind.Refuse(rest[0].Pos(), "write a constant such as 0.5, which is the median", "a quantile's rank is a constant from 0 to 1")
	}
	f.rank = number(*n.fixed)
	return of, nil
}

// placed keeps all values, and chooses one or two of them by their place.
type placed struct {
	*fold
	values []value.Value
}

func startPlaced(f *fold) accumulator { return &placed{fold: f} }

func (a *placed) add(c Cell) {
	if !c.Value.Null {
		a.values = append(a.values, c.Value)
	}
}

// result computes with doubles, as PostgreSQL does. PERCENTILE_DISC(p) is the value at place ⌈p·n⌉ of n values, counted
// from 1, or the first. PERCENTILE_CONT(p) interpolates between the values beside place p·(n − 1), counted from 0.
func (a *placed) result(*env) Cell {
	n := len(a.values)
	if n == 0 {
		return Exact(value.NullOf(a.typ))
	}
	slices.SortStableFunc(a.values, func(x, y value.Value) int {
		if a.descending {
			x, y = y, x
		}
		return value.Compare(x, y)
	})
	if a.name == "percentile_disc" {
		return Exact(a.values[max(int(math.Ceil(a.rank*float64(n))), 1)-1])
	}
	at := a.rank * float64(n-1)
	first := math.Floor(at)
	lo, hi := number(a.values[int(first)]), number(a.values[int(math.Ceil(at))])
	return Exact(ofReal(lo + (at-first)*(hi-lo)))
}
