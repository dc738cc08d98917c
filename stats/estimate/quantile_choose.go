package estimate

import (
	"context"
	"math"
	"strconv"

	"dither/curator"
	"dither/stats/internal/request"
)

// Foretold is a method that could answer a request, with its expected errors. They are means in rows, in the order of
// the column, for values that are spread evenly around each quantile. For a method of which ExpectedError is nil, the
// error depends on a number of rows that the policy does not declare. ExpectedHalfWidth is nil without intervals.
// MedianError is the median of the error, if rare values far away dominate its mean, as for MethodSmooth; nil otherwise.
type Foretold struct {
	Method            string
	ExpectedError     *float64
	ExpectedHalfWidth *float64
	MedianError       *float64
	Confidence        string // of the intervals; "" without intervals
}

// foretell lists the methods that could answer a request for quantiles in one group. A method that the request does not
// permit is left out: only MethodIndependent, in SQL, has quantiles of dates.
func (s *Sample) foretell(ctx context.Context, k asker, ranks []string) (out []Foretold) {
	for _, method := range quantileMethods {
		var e *curator.OrderExplanation
		var err error
		switch {
		case method == MethodSmooth && (len(ranks) != 1 || ranks[0] != "0.5"):
			continue
		case method == MethodSmooth:
			e, err = k.ExplainSmooth(ctx, s.requesting(s.sql(false, s.Columns[0])))
		default:
			q := s.ranking(method, ranks)
			q.Confidence = ""
			e, err = k.ExplainRank(ctx, q)
		}
		switch {
		case method == MethodIndependent && !s.WithoutIntervals:
			out = append(out, s.bracketed(ctx, k, ranks))
			continue
		case err != nil || s.WithoutIntervals && method == MethodLadder:
			continue
		}
		of := Foretold{Method: method, ExpectedError: e.ExpectedError, ExpectedHalfWidth: e.ExpectedHalfWidth, MedianError: e.ExpectedMedian}
		if method == MethodLadder {
			of.Confidence = curator.LadderConfidence
		}
		out = append(out, of)
	}
	return out
}

// bracketed returns the entry of MethodIndependent with intervals, which SQL states. The bound on the rank error of a value
// is (ln N + ln(1/β))/c for N candidates, a draw of rate c, and the probability β of failure. So two bounds give 1/c, the
// mean error of a draw. A draw is uniform between two rows, which is 3/8 of a row on average.
func (s *Sample) bracketed(ctx context.Context, k asker, ranks []string) Foretold {
	out := Foretold{Method: MethodIndependent, Confidence: bracketConfidence}
	items, _ := quantileItems(s.Columns[0], ranks)
	told := func(confidence string) (bound, width float64) {
		q := s.asking(s.sql(false, items...))
		q.Confidence = confidence
		e, err := k.Explain(ctx, q)
		if err != nil {
			return math.NaN(), math.NaN()
		}
		for _, c := range e.Columns {
			if c.RankError == nil {
				return math.NaN(), math.NaN()
			}
			bound += *c.RankError / float64(len(e.Columns))
			width += *c.IntervalRows / float64(len(e.Columns))
		}
		return bound, width
	}
	// A bound on the rank error grows by the mean error with the logarithm of 1/α.
	far, width := told("0.9375") // 1 − 1/16
	near, _ := told("0.5")
	off := max((far-near)/math.Log(8), 3./8)
	if !math.IsNaN(off) {
		out.ExpectedError, out.ExpectedHalfWidth = &off, &width
	}
	return out
}

// bracketConfidence is the confidence of the kernel's interval of a quantile.
const bracketConfidence = "0.992"

// timesAsFar returns the ratio of the expected errors of the methods with and without intervals, in words.
func (p *Plan) timesAsFar() string {
	with, without := p.expected(MethodLadder), p.expected(MethodRecursive)
	if with == nil || without == nil || *without.ExpectedError == 0 {
		return "three times"
	}
	return strconv.FormatFloat(*with.ExpectedError / *without.ExpectedError, 'f', 1, 64) + " times"
}

// expected returns the method's entry, or nil.
func (p *Plan) expected(method string) *Foretold {
	for i := range p.Methods {
		if p.Methods[i].Method == method && p.Methods[i].ExpectedError != nil {
			return &p.Methods[i]
		}
	}
	return nil
}

// chooseQuantiles chooses the method with the least expected error. Among those with intervals, it chooses the one with
// the shortest intervals. The choice rests on public facts alone. For three and more quantiles, intervals would take so
// much of the price that the choice is about the values, and the request can name a method with intervals.
//
// Mean rank errors, in rows, for 1,000 normally distributed values at ε = 1 and 1, 10 and 29 quantiles:
//
//   - published (Gillenwater, Joseph and Kulesza 2021; Kaplan, Schnapp and Stemmer 2022): independent 1.7, 26, 82;
//     joint 1.5, 7.2, 10.7; recursive 1.2, 5.8, 8.6;
//   - this implementation: recursive 0.9, 5.6, 7.9.
//
// TestClosestQuantiles of mechanism/quantile compares the methods for 300 and 1,000 values and 3 to 100 quantiles.
// For up to ten quantiles, the joint method is at best about as accurate as the recursive one. Otherwise it is less
// accurate, by a factor of two and more where noise is large.
//
// The recursion needs values that seldom repeat. For a column with few possible values, independent draws are
// better: an error of many rows often leaves the value unchanged. One quantile is one draw in both.
func chooseQuantiles(s Sample, t curator.Table, ranks []string, p *Plan) error {
	if _, err := deviationsOf(s); err != nil {
		return err
	}
	confidence := s.Confidence
	alpha, err := request.Confidence(&confidence)
	if err != nil {
		return err
	}
	n, many := len(ranks), seldomRepeats(t, s.Columns[0])
	smooth, recursive := p.expected(MethodSmooth), p.expected(MethodRecursive)
	p.Method = MethodIndependent
	switch {
	case s.Population:
		p.Why = "Independent: only this method has intervals for a population."
	case len(s.By) > 0:
		p.Why = "Independent: the other methods support only one group."
	case !s.WithoutIntervals && n < 3 && alpha < 0.05-1e-9:
		p.Why = "Independent: intervals of the other methods have at most the confidence " + curator.LadderConfidence + "."
	case n > 1 && !many:
		p.Why = "Independent: the recursive methods are more accurate for several quantiles, but need values that " +
			"seldom repeat. The policy declares too few possible values."
	case recursive == nil:
		p.Why = "Independent: the other methods do not support this column at this price."
	case !s.WithoutIntervals && n < 3 && p.expected(MethodLadder) == nil:
		p.Why = "Independent: at this price the method " + MethodLadder + " has no intervals."
	case !s.WithoutIntervals && n < 3:
		p.Method, p.Why = MethodLadder, "Ladder: its intervals are the shortest."
	case n == 1 && many && smooth != nil && *smooth.ExpectedError < *recursive.ExpectedError:
		p.Method, p.Why = MethodSmooth, "Smooth: at this price its noise is less than the distance between the rows."
	case n < 3:
		p.Method, p.Why = MethodRecursive, "Recursive: without intervals, the whole price pays for the values."
	default:
		p.Method, p.Why = MethodRecursive,
			"Recursive: its error grows with the logarithm of the number of quantiles. It has no intervals; the method "+
				MethodLadder+" has, and its values are about "+p.timesAsFar()+" as far off."
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
