package estimate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// Quantile estimates quantiles of a column. The list `at` holds their ranks in increasing order, from 0 to 1; "0.5"
// is the median. MethodIndependent draws each quantile separately, with an interval between two further draws
// (SQL's PERCENTILE_DISC). MethodRecursive and MethodJoint draw several together, with less error and without
// intervals. MethodSmooth estimates the median alone. It states no error, because the scale of its noise is a
// secret.
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
	if err := s.check(MethodIndependent, MethodRecursive, MethodJoint, MethodSmooth); err != nil {
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
	if p.Method == "" {
		if err := chooseQuantiles(s, t, len(ranks), p); err != nil {
			return nil, err
		}
	}
	switch {
	case p.Method != MethodIndependent && len(s.By) > 0:
		return nil, request.Misuse(
			"use the method "+MethodIndependent+", or select one group at a time by a condition",
			"the method %s supports only one group", p.Method)
	case p.Method == MethodIndependent && s.Population:
		return planPopulationQuantiles(ctx, k, s, p, ranks)
	case s.Population:
		return nil, request.Misuse("use the method "+MethodIndependent, "the method %s has no intervals", p.Method)
	case p.Method == MethodIndependent:
		items, names := quantileItems(s.Columns[0], ranks)
		return answerPlan(ctx, k, s, p, items, names)
	case p.Method == MethodSmooth:
		return planSmooth(ctx, k, s, p, ranks)
	}
	return planRank(ctx, k, s, p, ranks)
}

// chooseQuantiles chooses the method with the least expected error. The choice rests on mean rank errors, in rows,
// for 1,000 normally distributed values at ε = 1. The figures are for 1, 10 and 29 quantiles:
//
//   - published (Gillenwater, Joseph and Kulesza 2021; Kaplan, Schnapp and Stemmer 2022): independent 1.7, 26, 82;
//     joint 1.5, 7.2, 10.7; recursive 1.2, 5.8, 8.6;
//   - this implementation: recursive 0.9, 5.6, 7.9.
//
// TestClosestQuantiles of mechanism/quantile compares the methods for 300 and 1,000 values and 3 to 100 quantiles.
// For up to ten quantiles, the joint method is at best as accurate as the recursive one. Otherwise it is less
// accurate, by a factor of two and more where noise is large.
//
// The recursion needs values that seldom repeat. For a column with few possible values, independent draws are
// better: an error of many rows often leaves the value unchanged.
func chooseQuantiles(s Sample, t curator.Table, n int, p *Plan) error {
	if _, err := deviationsOf(s); err != nil {
		return err
	}
	p.Method = MethodIndependent
	switch {
	case s.Population:
		p.Why = "Independent: only this method has intervals."
	case n < 3:
		p.Why = "Independent: for one or two quantiles, the other methods are hardly more accurate, and they have " +
			"no intervals."
	case len(s.By) > 0:
		p.Why = "Independent: the other methods support only one group."
	case !seldomRepeats(t, s.Columns[0]):
		p.Why = "Independent: the recursive method is more accurate for several quantiles, but needs values that " +
			"seldom repeat. The policy declares too few possible values."
	default:
		p.Method, p.Why = MethodRecursive,
			"Recursive: its error grows with the logarithm of the number of quantiles; it has no intervals."
	}
	return nil
}

// seldomRepeats reports whether the declaration of a column suggests many different values: real numbers, or
// integers in a wide range.
func seldomRepeats(t curator.Table, column string) bool {
	low, high, ok := declaredRange(t, column)
	if !ok {
		return false
	}
	for _, c := range t.Columns {
		if sameName(column, c.Name) {
			return len(c.Values) == 0 && (c.Type == "real" || high-low >= 10_000)
		}
	}
	return false
}

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

// rankMechanisms maps a method to the curator's name of its mechanism.
var rankMechanisms = map[string]string{MethodRecursive: curator.RecursiveQuantiles, MethodJoint: curator.JointQuantiles}

// ordered enters an access of a quantile mechanism in the plan: its price, and the note that it has no interval.
func (p *Plan) ordered(sql, confidence string, e *curator.OrderExplanation, note string) error {
	p.Accesses = []Access{{SQL: sql, What: p.Method + " quantiles", Price: e.Price}}
	p.Price, p.Remaining, p.Affordable, p.Replayed = e.Price, e.Remaining, e.Affordable, e.Replayed
	p.Confidence, p.Notes = confidence, append(p.Notes, note)
	_, err := request.Confidence(&p.Confidence)
	return err
}

func planRank(ctx context.Context, k asker, s Sample, p *Plan, ranks []string) (*Plan, error) {
	q := s.requesting(s.sql(false, s.Columns[0]))
	asked := curator.Quantiles{Request: q, Confidence: s.Confidence, At: ranks, Mechanism: rankMechanisms[p.Method]}
	e, err := k.ExplainRank(ctx, asked)
	if err != nil {
		return nil, err
	}
	const note = "The %s method has no intervals: its error depends on how often values repeat, which nothing " +
		"public bounds."
	if err := p.ordered(q.SQL, s.Confidence, e, fmt.Sprintf(note, p.Method)); err != nil {
		return nil, err
	}
	p.run = func(ctx context.Context) (*Result, error) {
		r, err := k.Rank(ctx, asked)
		if err != nil {
			return nil, err
		}
		out := &Result{
			Confidence: r.Confidence, Releases: []string{r.ID}, Price: []curator.Loss{r.Price},
			Limits: r.Limits, Remaining: r.Remaining, Replayed: r.Replayed,
		}
		for i, v := range inOrder(r.Values) {
			out.Values = append(out.Values, Value{Name: quantileName(s.Columns[0], ranks[i]), Value: v})
		}
		return out, nil
	}
	return p, nil
}

// inOrder returns the quantiles in ascending order, as their ranks are.
func inOrder(values []*curator.Number) []*curator.Number {
	out := slices.Clone(values)
	slices.SortStableFunc(out, func(a, b *curator.Number) int {
		if a == nil || b == nil || a.Real == b.Real {
			return 0
		}
		return int(math.Copysign(1, a.Real-b.Real))
	})
	return out
}

func planSmooth(ctx context.Context, k asker, s Sample, p *Plan, ranks []string) (*Plan, error) {
	if len(ranks) != 1 || ranks[0] != "0.5" {
		return nil, request.Misuse("use the rank 0.5", "the smooth method supports only the median")
	}
	q := s.requesting(s.sql(false, s.Columns[0]))
	e, err := k.ExplainSmooth(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := p.ordered(q.SQL, s.Confidence, e,
		"The smooth method has no interval: the scale of its noise is computed from the rows, and is "+
			"secret."); err != nil {
		return nil, err
	}
	p.run = func(ctx context.Context) (*Result, error) {
		m, err := k.Smooth(ctx, q)
		if err != nil {
			return nil, err
		}
		return &Result{
			Confidence: p.Confidence, Releases: []string{m.ID}, Price: []curator.Loss{m.Price}, Remaining: m.Remaining,
			Limits: m.Limits, Replayed: m.Replayed,
			Values: []Value{{Name: quantileName(s.Columns[0], "0.5"), Value: m.Value}},
		}, nil
	}
	return p, nil
}

// planPopulationQuantiles plans intervals about a population's quantiles, and counts the rows first. With n rows,
// the population's quantile at q lies between the sample's quantiles at q ± z√(q(1−q)/n). This fails with
// probability at most α/2 on each side, because the number of rows below the population's quantile is binomial. The
// kernel's own intervals bracket the two sample quantiles, each with confidence 99.2 %. The errors of these
// intervals and of the count are subtracted from α before z is chosen, so that all errors together are at most α.
// The resulting interval extends from the lower end of the lower bracket to the upper end of the upper one.
func planPopulationQuantiles(ctx context.Context, k asker, s Sample, p *Plan, ranks []string) (*Plan, error) {
	confidence := s.Confidence
	alpha, err := request.Confidence(&confidence)
	if err != nil {
		return nil, err
	}
	left := alpha - 2*bracketAlpha - countAlpha
	switch {
	case len(s.By) > 0:
		return nil, request.Misuse("select one group at a time by a condition",
			"intervals for the quantiles of a population support only one group")
	case left <= 0:
		return nil, request.Misuse("use a confidence of 0.97 or less",
			"for the quantiles of a population, no interval has this confidence")
	}
	items, names := quantileItems(s.Columns[0], ranks)
	if _, err := answerPlan(ctx, k, s, p, items, names); err != nil {
		return nil, err
	}
	whole, countShare := p.Price, big.NewRat(1, 20)
	count := s
	if count.Request, err = request.AtShare(s.Request, whole, countShare); err != nil {
		return nil, err
	}
	count.Confidence = exact.FormatRat(new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 500)))
	counting := count.asking(count.sql(false, "COUNT("+s.Columns[0]+")"))
	counting.Truncation = "0" // the quantiles have the estimate of what the bounds cut
	first, err := k.Explain(ctx, counting)
	if err != nil {
		return nil, request.Partly(err)
	}
	rest := s
	if rest.Request, err = request.AtShare(s.Request, whole,
		new(big.Rat).Sub(big.NewRat(1, 1), countShare)); err != nil {
		return nil, err
	}
	rest.Confidence = exact.FormatRat(new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(8, 1000)))
	p.dependent = request.ManyRows(first.Unit)
	p.Accesses = []Access{
		{SQL: counting.SQL, What: "rows", Price: first.Price},
		{What: "quantiles, and further ranks that cover the sampling error"},
	}
	if e, err := k.Explain(ctx, rest.asking(rest.sql(false, items...))); err == nil {
		p.Accesses[1].Price = e.Price
	} else {
		return nil, err
	}
	p.Confidence, p.Replayed, p.Notes = confidence, first.Replayed,
		[]string{"Intervals cover sampling and noise, for the population of the bounded values."}
	p.run = func(ctx context.Context) (*Result, error) {
		if err := p.payable(); err != nil {
			return nil, err
		}
		return populationQuantiles(ctx, k, s, rest, counting, ranks, confidence, left)
	}
	return p, nil
}

// bracketAlpha is the error probability of the kernel's interval of a quantile, and countAlpha that of the count.
const bracketAlpha, countAlpha = 0.008, 0.002

func populationQuantiles(
	ctx context.Context, k asker, s, rest Sample, counting curator.Question, ranks []string, confidence string,
	alpha float64,
) (*Result, error) {
	counted, err := k.Answer(ctx, counting)
	if err != nil {
		return nil, err
	}
	if len(counted.Rows) != 1 || len(counted.Rows[0]) != 1 {
		return nil, request.Stopped(request.Misuse("give only a relation as the table",
			"the count of rows is not one number"), counted.ID)
	}
	rows := counted.Rows[0][0].Estimate
	n := 1.0 // lower confidence limit of the number of rows, at least 1
	if rows.Low != nil {
		n = math.Max(n, rows.Low.Real)
	}
	z := math.Sqrt2 * math.Erfinv(1-alpha)
	column := s.Columns[0]
	t, err := s.declaredTable(k)
	if err != nil {
		return nil, err
	}
	low, high, ok := declaredRange(t, column)
	if !ok {
		low, high = math.Inf(-1), math.Inf(1)
	}
	of := map[string]int{}
	var asked []string
	place := func(r float64) int {
		text := exact.FormatRat(big.NewRat(int64(math.Round(10_000*r)), 10_000))
		if i, ok := of[text]; ok {
			return i
		}
		of[text], asked = len(asked), append(asked, text)
		return of[text]
	}
	places := make([][3]int, len(ranks))
	for i, text := range ranks {
		r, _ := exact.ParseDecimal(text)
		q, _ := r.Float64()
		off := z*math.Sqrt(q*(1-q)/n) + 1/n
		places[i] = [3]int{
			place(math.Max(math.Floor(10_000*(q-off))/10_000, 0)), place(q),
			place(math.Min(math.Ceil(10_000*(q+off))/10_000, 1)),
		}
	}
	items, names := quantileItems(column, asked)
	r, err := k.Answer(ctx, rest.asking(rest.sql(false, items...)))
	if err != nil {
		return nil, request.Stopped(err, counted.ID)
	}
	found := ofRelease(rest, r, names)
	if len(found.Values) != len(asked) {
		return nil, request.Stopped(request.Misuse("give only a relation as the table",
			"the released quantiles do not match the question"), counted.ID, r.ID)
	}
	out := &Result{Confidence: confidence, Population: true, Truncation: found.Truncation}
	out.took(counted.ID, counted.Limits, counted.Price, counted.Remaining, counted.Replayed)
	out.took(r.ID, r.Limits, r.Price, r.Remaining, r.Replayed)
	for i, p := range places {
		e := Value{
			Name: quantileName(column, ranks[i]), Value: found.Values[p[1]].Value, Low: found.Values[p[0]].Low,
			High: found.Values[p[2]].High,
		}
		if asked[p[0]] == "0" { // a sample's least value does not bound the population, so use the declared bound
			e.Low = numberOf(low)
		}
		if asked[p[2]] == "1" {
			e.High = numberOf(high)
		}
		out.Values = append(out.Values, e)
	}
	return out, nil
}
