package estimate

import (
	"context"
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// planPopulationQuantiles plans intervals about a population's quantiles, and counts the rows first. With n rows,
// the population's quantile at q lies between the sample's quantiles at q ± z√(q(1−q)/n). This fails with
// probability at most α/2 on each side, because the number of rows below the population's quantile is binomial. The
// kernel's own intervals bracket the two sample quantiles, each with confidence 99.2 %. The errors of these
// intervals and of the count are subtracted from α before z is chosen, so that all errors together are at most α.
// The resulting interval extends from the lower end of the lower bracket to the upper end of the upper one.
//
// Where the policy declares the number of rows, it is not counted, and the quantiles get the whole price: see
// [Plan.declaredQuantiles]. An estimate whose noisy count was released before is repeated with that count.
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
	p.Confidence = confidence
	p.Notes = []string{"Intervals cover sampling and noise, for the population of the bounded values."}
	rest := s
	rest.Confidence = exact.FormatRat(new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(8, 1000)))
	count := s
	count.Confidence = exact.FormatRat(new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 500)))
	counting := count.asking(count.sql(false, "COUNT("+s.Columns[0]+")"))
	counting.Truncation = "0"              // the quantiles have the estimate of what the bounds cut
	known, err := k.Explain(ctx, counting) // at the whole price, which the policy allows
	if err != nil {
		return nil, err
	}
	declared := *p
	if known.DeclaredUnits > 0 {
		declared.Notes = append(declared.Notes, known.Notes...)
		err := declared.declaredQuantiles(ctx, k, s, rest, ranks, float64(known.DeclaredUnits), left+countAlpha)
		if err != nil || declared.Replayed {
			return &declared, err
		}
		counting.SQL = count.sql(false, "COUNT("+s.Columns[0]+", weight => 1)") // as when it was measured
	}
	priced, err := request.AtShare(s.Request, whole, countShare)
	if err != nil {
		return nil, err
	}
	counting.Epsilon, counting.Rho = priced.Epsilon, priced.Rho
	first, err := k.Explain(ctx, counting)
	switch {
	case known.DeclaredUnits > 0 && (err != nil || !first.Replayed):
		return &declared, nil
	case err != nil:
		return nil, request.Partly(err)
	}
	if rest.Request, err = request.AtShare(s.Request, whole, new(big.Rat).Sub(big.NewRat(1, 1), countShare)); err != nil {
		return nil, err
	}
	e, err := k.Explain(ctx, rest.asking(rest.sql(false, items...)))
	if err != nil {
		return nil, err
	}
	p.dependent, p.Replayed = request.ManyRows(e.Unit), first.Replayed
	p.Accesses = []Access{
		{SQL: counting.SQL, What: "rows", Price: first.Price},
		{What: furtherRanks, Price: e.Price},
	}
	p.runs(func(ctx context.Context, out *Result) error {
		n, err := fewestRows(ctx, k, counting, out)
		if err != nil {
			return err
		}
		return out.populationQuantiles(ctx, k, s, rest, ranks, n, left)
	})
	return p, nil
}

// furtherRanks is what the access for the quantiles is for.
const furtherRanks = "quantiles, and further ranks that cover the sampling error"

// runs sets what the plan does when it is carried out: into fills in the result.
func (p *Plan) runs(into func(context.Context, *Result) error) {
	p.run = func(ctx context.Context) (*Result, error) {
		if err := p.payable(); err != nil {
			return nil, err
		}
		out := &Result{Confidence: p.Confidence, Population: true}
		if err := into(ctx, out); err != nil {
			return nil, err
		}
		return out, nil
	}
}

// declaredQuantiles plans the quantiles of a declared number n of rows. The ranks are known before anything is released.
func (p *Plan) declaredQuantiles(ctx context.Context, k asker, s, rest Sample, ranks []string, n, alpha float64) error {
	asked, _ := ranksAround(ranks, n, alpha)
	items, _ := quantileItems(s.Columns[0], asked)
	asking := rest.asking(rest.sql(false, items...))
	e, err := k.Explain(ctx, asking)
	if err != nil {
		return err
	}
	p.dependent, p.Replayed = request.ManyRows(e.Unit), e.Replayed
	p.Accesses = []Access{{SQL: asking.SQL, What: furtherRanks, Price: e.Price}}
	p.runs(func(ctx context.Context, out *Result) error {
		return out.populationQuantiles(ctx, k, s, rest, ranks, n, alpha)
	})
	return nil
}

// bracketAlpha is the error probability of the kernel's interval of a quantile, and countAlpha that of the count.
const bracketAlpha, countAlpha = 0.008, 0.002

// fewestRows counts the rows, and returns the lower confidence limit of their number, at least 1. The result out records
// the release.
func fewestRows(ctx context.Context, k asker, counting curator.Question, out *Result) (float64, error) {
	counted, err := k.Answer(ctx, counting)
	if err != nil {
		return 0, err
	}
	if len(counted.Rows) != 1 || len(counted.Rows[0]) != 1 {
		return 0, request.Stopped(request.Misuse("give only a relation as the table",
			"the count of rows is not one number"), counted.ID)
	}
	out.took(counted.ID, counted.Limits, counted.Price, counted.Remaining, counted.Replayed)
	n := 1.0
	if low := counted.Rows[0][0].Estimate.Low; low != nil {
		n = math.Max(n, low.Real)
	}
	return n, nil
}

// populationQuantiles draws the quantiles and those that cover the sampling error of n rows.
func (out *Result) populationQuantiles(
	ctx context.Context, k asker, s, rest Sample, ranks []string, n, alpha float64,
) error {
	column := s.Columns[0]
	t, err := s.declaredTable(k)
	if err != nil {
		return request.Stopped(err, out.Releases...)
	}
	low, high, ok := declaredRange(t, column)
	if !ok {
		low, high = math.Inf(-1), math.Inf(1)
	}
	asked, places := ranksAround(ranks, n, alpha)
	items, names := quantileItems(column, asked)
	r, err := k.Answer(ctx, rest.asking(rest.sql(false, items...)))
	if err != nil {
		return request.Stopped(err, out.Releases...)
	}
	found := ofRelease(rest, r, names)
	if len(found.Values) != len(asked) {
		return request.Stopped(request.Misuse("give only a relation as the table",
			"the released quantiles do not match the question"), append(out.Releases, r.ID)...)
	}
	out.Truncation = found.Truncation
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
	return nil
}

// ranksAround returns the ranks to ask for: the given ones, and for each of them two that cover the sampling error of n rows.
// places has the indices of the lower one, the rank itself and the upper one among them.
func ranksAround(ranks []string, n, alpha float64) (asked []string, places [][3]int) {
	z := math.Sqrt2 * math.Erfinv(1-alpha)
	of := map[string]int{}
	place := func(r float64) int {
		text := exact.FormatRat(big.NewRat(int64(math.Round(10_000*r)), 10_000))
		if i, ok := of[text]; ok {
			return i
		}
		of[text], asked = len(asked), append(asked, text)
		return of[text]
	}
	for _, text := range ranks {
		r, _ := exact.ParseDecimal(text)
		q, _ := r.Float64()
		off := z*math.Sqrt(q*(1-q)/n) + 1/n
		places = append(places, [3]int{
			place(math.Max(math.Floor(10_000*(q-off))/10_000, 0)), place(q),
			place(math.Min(math.Ceil(10_000*(q+off))/10_000, 1)),
		})
	}
	return asked, places
}
