package bind

import (
	"maps"
	"slices"

	"dither/internal/query"
)

// Moments maps the name of each aggregate that is computed from means, mean squares or mean products to its number
// of arguments.
var Moments = map[string]int{
	"var_pop": 1, "var_samp": 1, "variance": 1, "stddev_pop": 1, "stddev_samp": 1, "stddev": 1,
	"covar_pop": 2, "covar_samp": 2, "corr": 2,
	"regr_slope": 2, "regr_intercept": 2, "regr_r2": 2, "regr_count": 2, "regr_avgy": 2, "regr_avgx": 2,
}

// oldAggregates maps the old names of GoogleSQL's aggregates to the names used here.
var oldAggregates = map[string]string{
	"anon_count":      "count",
	"anon_sum":        "sum",
	"anon_avg":        "avg",
	"anon_var_pop":    "var_pop",
	"anon_stddev_pop": "stddev_pop",
}

// Renamed returns a copy of the call with the aggregate's name in this dialect.
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

// Unnamed returns a refusal if a function that is no aggregate has named arguments.
func Unnamed(x *query.Call) error {
	if len(x.Named) == 0 {
		return nil
	}
	return Refuse(x.Named[0].At, "give the values in order", "only aggregates take named arguments, and %s is not one", x.Name)
}

// OrderAggregates are the names of the aggregates that order rows or choose among values: quantiles and modes.
var OrderAggregates = map[string]bool{
	"median":           true,
	"percentile_cont":  true,
	"percentile_disc":  true,
	"approx_quantiles": true,
	"mode":             true,
}

// sums are the names of the aggregates that are computed from a sum, from a count, or from both.
var sums = []string{"count", "sum", "avg", "clipped"}

// Aggregates returns the names of all aggregates.
func Aggregates() []string {
	return append(slices.AppendSeq(slices.Collect(maps.Keys(Moments)), maps.Keys(OrderAggregates)), sums...)
}

// IsAggregate reports whether an aggregate has this name.
func IsAggregate(name string) bool {
	return Moments[name] > 0 || OrderAggregates[name] || slices.Contains(sums, name)
}

// Unfiltered returns the call without its FILTER clause. Aggregates skip NULL, so agg(x) FILTER (WHERE c) becomes
// agg(CASE WHEN c THEN x END). COUNT(*) FILTER (WHERE c) becomes COUNT(CASE WHEN c THEN 1 END).
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
	if len(out.Args) > 0 { // changing one argument is enough, because a pair with one NULL is skipped
		out.Args[0] = &query.Case{At: x.At, Whens: []query.When{{Cond: x.Filter, Result: out.Args[0]}}}
	}
	return &out
}
