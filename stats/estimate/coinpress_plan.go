package estimate

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// pressVectors returns the sums of one round, weighted by their shares of the price: the count, the sum of vectors,
// and if products is true the sum of their products. The count has a small share. An error in the count moves the
// mean only in proportion to the mean's distance from the centre.
func pressVectors(s Sample, f linearForms, bound string, products bool) curator.Vectors {
	v := curator.Vectors{
		Request: s.Request,
		Blocks:  []curator.Block{{Size: len(f.unit), Norm: curator.L2, Bound: bound}},
		Sums:    []curator.Sum{curator.Count(), curator.First(0).Weighing("19")},
	}
	if products {
		v.Sums = []curator.Sum{curator.Count(), curator.First(0).Weighing("3"), curator.Product(0, 0).Weighing("8")}
	}
	return v
}

// chooseMoments chooses between sums of bounded values and CoinPress by their expected noise for normally
// distributed values. It compares the two from the declared bounds, the declared deviations and the expected number
// of rows.
func chooseMoments(k asker, s Sample, p *Plan) error {
	if len(s.Deviations) > 0 && len(s.Deviations) != len(s.Columns) {
		return request.Misuse("give one deviation for each column", "there are %d deviations, but %d "+
			"columns", len(s.Deviations),
			len(s.Columns))
	}
	units, err := deviationsOf(s)
	if err != nil || p.Method != "" {
		p.Why = "The request names it."
		return err
	}
	p.Method = MethodBounded
	if units == nil {
		p.Why = "Bounded sums: CoinPress helps only if the bounds are loose, which cannot be decided without " +
			"Deviations, the approximate spread of the values."
		return nil
	}
	t, err := s.declaredTable(k)
	if err != nil {
		return err
	}
	n := float64(s.expectedRows(t))
	if n < 1 || len(s.By) > 0 {
		p.Why = "Bounded sums: the comparison with CoinPress needs the owner's expected_rows, and a request without " +
			"groups and condition."
		return nil
	}
	box, d := 0.0, len(s.Columns)
	for i, c := range s.Columns {
		low, high, ok := declaredRange(t, c)
		if !ok {
			p.Why = "Bounded sums: CoinPress needs columns with declared bounds."
			return nil
		}
		box = math.Hypot(box, (high-low)/2/units[i])
	}
	// fitted is the radius of the last region if the earlier rounds had only sampling error, divided by the last
	// round's share of the price.
	fitted := pressClip(pressGamma(d)/math.Sqrt(n), d) / 0.75
	if p.Kind == "covariance" {
		box, fitted = box*box, fitted*fitted*0.75
	}
	switch {
	case fitted < box:
		p.Method = MethodCoinPress
		p.Why = fmt.Sprintf(
			"CoinPress: with about %.0f rows, the last region is %s times as wide as the bounds, measured in noise "+
				"and including its share of the price.", n, shortNumber(fitted/box))
	default:
		p.Why = fmt.Sprintf("Bounded sums: the bounds are no wider than the last region of CoinPress (%s times as "+
			"wide).",
			shortNumber(box/fitted))
	}
	return nil
}

// deviationsOf parses the sample's deviations. It returns nil if there are none.
func deviationsOf(s Sample) (out []float64, err error) {
	for _, text := range s.Deviations {
		r, err := exact.ParseDecimal(text)
		if err != nil || r.Sign() <= 0 {
			return nil, request.Misuse("a deviation must be a decimal above 0", "invalid deviation %q", text)
		}
		x, _ := r.Float64()
		if !(x > 1e-100 && x < 1e100) {
			return nil, request.Misuse("a deviation must be between 1e-100 and 1e100", "invalid deviation %q", text)
		}
		out = append(out, x)
	}
	return out, nil
}

// maxPressed is the largest number of columns in a CoinPress estimate that measures products. Each coordinate is an
// expression of all columns, in one statement.
const maxPressed = 30

// pressPlan plans CoinPress. A mean with declared deviations is estimated in balls. Any other estimate measures the
// covariance too.
func pressPlan(ctx context.Context, k asker, s Sample, p *Plan, covariance bool) (*Plan, error) {
	confidence := s.Confidence
	alpha, err := request.Confidence(&confidence)
	if err != nil {
		return nil, err
	}
	d := len(s.Columns)
	units, err := deviationsOf(s)
	if err != nil {
		return nil, err
	}
	if len(s.By) > 0 {
		return nil, request.Misuse("select one group at a time by a condition, or use the method "+MethodBounded,
			"CoinPress supports only one group")
	}
	forms, ranges, err := boundedForms(ctx, k, s)
	if err != nil {
		return nil, err
	}
	norm := math.Sqrt(float64(d))
	products := covariance || units == nil
	rounds := s.Rounds
	if rounds == 0 {
		if rounds = 2; products {
			rounds = 3
		}
	}
	if products && d > maxPressed {
		return nil, request.Misuse(fmt.Sprintf("name at most %d columns; for means, give their deviations instead",
			maxPressed), "CoinPress on %d columns needs too large a statement", d)
	}
	if !products {
		norm = 0
		for i, u := range units {
			norm = math.Hypot(norm, forms.unit[i]/u)
		}
		forms = plainForms(forms.middle, units)
	}
	whole, shares, counted, err := pressPrices(ctx, k, s, p, forms, norm, products, rounds)
	if err != nil {
		return nil, err
	}
	p.Confidence = confidence
	p.Notes = append(p.Notes,
		"CoinPress moves rows outside its region to the edge. For a normal distribution it moves almost none. For "+
			"heavy tails it moves more, and the intervals then describe the moved rows instead of the original ones.")
	p.Notes = append(p.Notes, covarianceNotes(s)...)
	if !products && s.Population {
		p.Notes[len(
			p.Notes)-1] = "Intervals cover noise, and the sampling error of a normal distribution whose deviations " +
			"are at most the declared ones."
	}
	p.run = func(ctx context.Context) (*Result, error) {
		if err := p.payable(); err != nil {
			return nil, err
		}
		out := &Result{Keys: s.By, Confidence: confidence, Population: s.Population}
		look := func(round int, f linearForms, norm float64) (*pressSums, error) {
			v := pressVectors(s, f, sqlNumber(norm), products)
			if !counted {
				v = withoutCount(v)
			}
			q, err := request.AtShare(s.Request, whole, shares[round])
			if err != nil {
				return nil, err
			}
			v.Request = q
			v.SQL = s.sql(false, f.sql(s.Columns)...)
			m, err := k.Moments(ctx, v)
			if err != nil {
				return nil, request.Stopped(err, out.Releases...)
			}
			out.took(m.ID, m.Limits, m.Price, m.Remaining, m.Replayed)
			sums := sumsOfCell(m, v, 0)
			return &sums, nil
		}
		find := pressMean
		if products {
			find = pressCovariance
		}
		last, err := find(d, forms, norm, rounds, look)
		if err != nil {
			return nil, err
		}
		if last.kept != "" {
			out.Notes = append(out.Notes, last.kept)
		}
		if !products {
			out.Values = pressedMeans(&last, s, ranges, alpha, units)
			return out, nil
		}
		values, note := covarianceValues(&last, s, ranges, nil, alpha, func(int) bool { return true })
		if !covariance {
			values = values[:d]
		}
		if out.Values = values; note != "" {
			out.Notes = append(out.Notes, note)
		}
		return out, nil
	}
	return p, nil
}

// pressPrices computes the price of all rounds and checks before the first round that the remaining budget covers
// it. It explains the whole as one question, then each round at its share, with expressions at least as long as any
// round's. counted reports whether the rounds count the rows: see [uncounted].
func pressPrices(
	ctx context.Context, k asker, s Sample, p *Plan, f linearForms, norm float64, products bool, rounds int,
) (whole curator.Loss, shares []*big.Rat, counted bool, err error) {
	v := pressVectors(s, f, "", products)
	v.SQL = s.sql(false, f.sql(s.Columns)...)
	if err := momentsLook(ctx, k, s, p, v); err != nil {
		return whole, nil, true, err
	}
	whole, shares = p.Price, pressShares(rounds)
	p.Accesses, p.Replayed = nil, false
	dense := f
	if products {
		dense.a = pressZero(len(f.unit))
		for i := range dense.a {
			for j := 0; j <= i; j++ {
				dense.a[i][j] = -0.12345678901234567 // as long as any constant, except for an exponent
			}
		}
	}
	counted = true
	for i, share := range shares {
		at, bound := f, sqlNumber(norm) // as the first round asks, which may have been released
		if i > 0 {
			at, bound = dense, ""
		}
		v := pressVectors(s, at, bound, products)
		if v.Request, err = request.AtShare(s.Request, whole, share); err != nil {
			return whole, nil, true, err
		}
		v.SQL = s.sql(false, at.sql(s.Columns)...)
		switch {
		case i == 0:
			if v, err = uncounted(ctx, k, v); err != nil {
				return whole, nil, true, request.Partly(err)
			}
			counted = counts(v)
		case !counted:
			v = withoutCount(v)
		}
		e, err := k.ExplainMoments(ctx, v)
		if err != nil {
			return whole, nil, true, request.Partly(err)
		}
		look := Access{What: fmt.Sprintf("round %d of %d", i+1, rounds), Price: e.Price}
		if i == 0 {
			look.SQL, p.Replayed = v.SQL, e.Replayed
			p.notesUnits(e, v)
		}
		p.Accesses = append(p.Accesses, look)
	}
	return whole, shares, counted, nil
}

// pressedMeans returns the means of the last round, with intervals by simulation.
func pressedMeans(p *pressed, s Sample, ranges [][2]float64, alpha float64, deviations []float64) (out []Value) {
	d := len(s.Columns)
	means := p.means(p.sums)
	draws := newSpreads(d, alpha)
	sim, v := newSimulator(), p.sums.room()
	for range drawsFor(alpha) {
		p.sums.drawn(sim, func(int) bool { return true }, v)
		for i, x := range p.means(v) {
			if s.Population {
				x += sim.normal() * deviations[i] / math.Sqrt(v.count)
			}
			draws[i].add(x)
		}
	}
	for i, c := range s.Columns {
		out = append(out, fromDraws("mean("+c+")", nil, means[i], draws[i], ranges[i][0], ranges[i][1]))
	}
	return out
}
