package estimate

import (
	"context"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// Quantile estimates quantiles of a column. The list `at` holds their ranks in increasing order, from 0 to 1; "0.5"
// is the median. MethodIndependent draws each quantile separately, with an interval (SQL's PERCENTILE_DISC).
// MethodRecursive and MethodJoint draw several together, with less error and without intervals. MethodLadder draws them
// as MethodRecursive does, and then a shorter interval around each than MethodIndependent. MethodSmooth estimates the
// median alone. It states no error, because the scale of its noise is a secret.
//
// Sample.WithoutIntervals spends the whole price on the values.
//
// Population needs MethodIndependent and no groups. One twentieth of the price then counts the rows, and the
// interval is wider by the sampling error of ranks among that number of rows.
func Quantile(ctx context.Context, c *curator.Session, s Sample, at ...string) (*Result, error) {
	p, err := PlanQuantile(ctx, c, s, at...)
	return run(ctx, p, err)
}

// PlanQuantile returns the plan that Quantile would carry out. It spends nothing.
func PlanQuantile(ctx context.Context, c *curator.Session, s Sample, at ...string) (*Plan, error) {
	return planQuantile(ctx, c, s, at)
}

func planQuantile(ctx context.Context, k asker, s Sample, at []string) (*Plan, error) {
	if err := s.check(quantileMethods...); err != nil {
		return nil, err
	}
	ranks, err := ranksOf(at)
	if err != nil {
		return nil, err
	}
	if len(s.Columns) > 1 {
		return nil, request.Misuse("estimate each column separately", "quantiles need exactly one column")
	}
	p := &Plan{Kind: "quantile", Method: s.Method, Why: "The request names it."}
	t, err := s.declaredTable(k)
	if err != nil {
		return nil, err
	}
	if len(s.By) == 0 && !s.Population {
		p.Methods = s.foretell(ctx, k, ranks)
	}
	if p.Method == "" {
		if err := chooseQuantiles(s, t, ranks, p); err != nil {
			return nil, err
		}
	}
	switch {
	case s.WithoutIntervals && (p.Method == MethodLadder || s.Population || len(s.By) > 0):
		return nil, request.Misuse("leave one of them out",
			"the method %s, groups and intervals for a population exclude leaving out intervals", MethodLadder)
	case p.Method != MethodIndependent && len(s.By) > 0:
		return nil, request.Misuse(
			"use the method "+MethodIndependent+", or select one group at a time by a condition",
			"the method %s supports only one group", p.Method)
	case p.Method == MethodIndependent && s.Population:
		return planPopulationQuantiles(ctx, k, s, p, ranks)
	case s.Population:
		return nil, request.Misuse("use the method "+MethodIndependent, "the method %s has no intervals", p.Method)
	case p.Method == MethodIndependent && !s.WithoutIntervals:
		items, names := quantileItems(s.Columns[0], ranks)
		return answerPlan(ctx, k, s, p, items, names)
	case p.Method == MethodSmooth:
		return planSmooth(ctx, k, s, p, ranks)
	}
	return planRank(ctx, k, s, p, ranks)
}

// quantileMethods lists the methods of quantiles.
var quantileMethods = []string{MethodIndependent, MethodRecursive, MethodLadder, MethodJoint, MethodSmooth}

// ranksOf parses the ranks of quantiles. They must be between 0 and 1 and in rising order.
func ranksOf(at []string) (out []string, err error) {
	if len(at) < 1 || len(at) > 100 {
		return nil, request.Misuse("such as 0.25, 0.5, 0.75", "a request must have 1 to 100 quantiles")
	}
	var last *big.Rat
	for _, text := range at {
		r, err := exact.ParseDecimal(strings.TrimSpace(text))
		if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 || last != nil && r.Cmp(last) <= 0 {
			return nil, request.Misuse("give ranks as rising decimals from 0 to 1, such as 0.25, 0.5, 0.75",
				"%q is no valid rank here", text)
		}
		if !new(big.Rat).Mul(r, big.NewRat(10_000, 1)).IsInt() {
			return nil, request.Misuse("such as 0.9995", "a rank must have at most 4 decimal places, unlike %s", text)
		}
		out, last = append(out, exact.FormatRat(r)), r
	}
	return out, nil
}

func quantileItems(column string, ranks []string) (items, names []string) {
	for _, r := range ranks {
		items = append(items, "PERCENTILE_DISC("+r+") WITHIN GROUP (ORDER BY "+column+")")
		names = append(names, quantileName(column, r))
	}
	return items, names
}

func quantileName(column, rank string) string { return "quantile(" + column + ", " + rank + ")" }
