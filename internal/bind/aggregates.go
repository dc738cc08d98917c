package bind

import (
	"maps"
	"slices"

	"dither/internal/query"
)

// Moments are the aggregates that are computed from averages of values, of their squares and of their products, with their
// numbers of arguments.
var Moments = map[string]int{
	"var_pop": 1, "var_samp": 1, "variance": 1, "stddev_pop": 1, "stddev_samp": 1, "stddev": 1,
	"covar_pop": 2, "covar_samp": 2, "corr": 2,
	"regr_slope": 2, "regr_intercept": 2, "regr_r2": 2, "regr_count": 2, "regr_avgy": 2, "regr_avgx": 2,
}

// oldAggregates are GoogleSQL's old names.
var oldAggregates = map[string]string{
	"anon_count":      "count",
	"anon_sum":        "sum",
	"anon_avg":        "avg",
	"anon_var_pop":    "var_pop",
	"anon_stddev_pop": "stddev_pop",
}

// Renamed is a call by the name that is used here.
func Renamed(x *query.Call) *query.Call {
	out := *x
	if name, ok := oldAggregates[x.Name]; ok {
		out.Name = name
	}
	if x.Name == "approx_count_distinct" && len(x.Args) == 1 && !x.Star {
		out.Name, out.Distinct = "count", true
	}
	return &out
}

// Unnamed refuses named arguments of what is no aggregate.
func Unnamed(x *query.Call) error {
	if len(x.Named) == 0 {
		return nil
	}
	return Refuse(x.Named[0].At, "give the values in order", "named arguments are for aggregates, and %s is none", x.Name)
}

// OrderAggregates are the names under which they are asked for.
var OrderAggregates = map[string]bool{
	"median":           true,
	"percentile_cont":  true,
	"percentile_disc":  true,
	"approx_quantiles": true,
	"mode":             true,
}

// sums are the names of the aggregates that are made of one sum or count, or of both.
var sums = []string{"count", "sum", "avg", "clipped"}

// Aggregates are the names of all aggregates.
func Aggregates() []string {
	return append(slices.AppendSeq(slices.Collect(maps.Keys(Moments)), maps.Keys(OrderAggregates)), sums...)
}

// IsAggregate reports the name of an aggregate.
func IsAggregate(name string) bool {
	return Moments[name] > 0 || OrderAggregates[name] || slices.Contains(sums, name)
}

// Unfiltered is the call without its FILTER: what an aggregate skips is NULL, so agg(x) FILTER (WHERE c) is agg(CASE WHEN c
// THEN x END), and COUNT(*) that of 1.
func Unfiltered(x *query.Call) *query.Call {
	if x.Filter == nil {
		return x
	}
	out := *x
	out.Filter, out.Args = nil, slices.Clone(x.Args)
	if x.Star && x.Name == "count" {
		out.Star = false
		out.Args = []query.Expr{&query.Literal{At: x.At, Kind: query.IntegerLiteral, Text: "1"}}
	}
	if len(out.Args) > 0 { // one argument is enough: a pair of which one is NULL is skipped
		out.Args[0] = &query.Case{At: x.At, Whens: []query.When{{Cond: x.Filter, Result: out.Args[0]}}}
	}
	return &out
}
