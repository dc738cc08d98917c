package curator

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism/learning"
)

// LineQuestion asks for a line y = height + slope·(x − middle of x's range) through the rows of a question: SELECT
// x, y FROM t WHERE …. Rows in which x or y is NULL do not count. Only the leading 22 binary digits of x are used,
// counted from its largest possible size. So select x - 2000 for years.
type LineQuestion struct {
	Request
	// Rows is the approximate number of rows: a released number, or 0 for the number that the policy declares. The
	// privacy guarantee does not depend on it. Intervals are narrowest if it is right.
	Rows int64
	// WithoutIntervals spends the whole price on the estimates. That also happens, without the option, if intervals
	// for this many rows would seldom have finite ends.
	WithoutIntervals bool
}

// FittedLine is a released line. Its estimates are in the units of the question's items. Draws lists the shares of
// the price, in the order of the draws: slope, height, and the half-widths of both.
type FittedLine struct {
	ID            string
	Names         [2]string
	X, Y          [2]float64
	Middle        float64 // the middle of x's range, at which Height is stated
	Slope, Height LineEstimate
	Confidence    string // the confidence of both intervals together; "" without intervals
	Draws         []LineDraw
	Rows          int64   // the approximate number of rows, as requested or declared
	Thinned       int     // each row is used with probability 2^−Thinned
	Limits        *Limits // what bounds the release
	Price         Loss
	Remaining     Loss
	Affordable    bool
	Largest       string // the largest ε that one question can be asked at now
	Replayed      bool
	Unit          Unit
	Notes         []string
}

// LineEstimate is the slope or the height. An end of the interval is nil if it would lie outside the domain, or if
// there is no interval.
type LineEstimate struct {
	Value     *float64 // nil in an explanation
	Low, High *float64
	Steps     float64 // the spacing of the possible values
	// the largest distance of a value from 0 for the slope, or from the middle of y's range for the height
	Most float64
	// Noise is the approximate standard deviation that the draw adds, to first order. Astray is the approximate
	// probability that the draw ignores the data, and may be anywhere in the domain. Both assume Rows rows, spread
	// evenly over x's range, with residuals of a tenth of y's range.
	Noise, Astray float64
}

// LineDraw is one choice by the exponential mechanism.
type LineDraw struct {
	Name  string
	Price Loss
}

// typicalResidual is the residual that LineEstimate.Noise assumes, as a fraction of y's range.
const typicalResidual = 0.1

// FitLine releases a robust line: the median of the slopes of all pairs of rows, and the median of the rows'
// residuals (learning.TheilSen has the proof). It is the only access that combines rows of different units, and it
// does so inside the kernel. Only counts of pairs enter the exponential mechanism.
func (c *Session) FitLine(ctx context.Context, q LineQuestion) (*FittedLine, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	f, err := c.line(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, f)
	if err != nil {
		return nil, err
	}
	out, err := c.fittedLine(f, q, s)
	if err != nil {
		return nil, c.after(s, err)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// ExplainFitLine returns, free, what [Session.FitLine] would: everything but the values, the ID, and the ends of
// the intervals.
func (c *Session) ExplainFitLine(_ context.Context, q LineQuestion) (*FittedLine, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	f, err := c.line(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &release.Released{}
	if s.Replayed, err = c.kernel.Explicable(f.Look()); err != nil {
		return nil, c.public(err)
	}
	out, err := c.fittedLine(f, q, s)
	if err != nil {
		return nil, c.public(err)
	}
	out.ID = ""
	return out, nil
}

// line builds the access from a request, using public information only.
func (c *Session) line(q LineQuestion) (*release.Line, error) {
	r, err := c.regress(q.Request, "")
	if err != nil {
		return nil, err
	}
	if r.Predictors() != 1 {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "a line needs exactly one predictor",
			Hint:    "write, for example, SELECT age, income FROM people",
		}
	}
	rows, err := c.aboutRows(r, q.Rows)
	if err != nil {
		return nil, err
	}
	by := q.asker()
	by.Question = TheilSen + ": " + q.SQL
	return c.kernel.Line(r, rows, q.WithoutIntervals, by)
}

var errNoLine = fmt.Errorf("%w: its question could not have this line", release.ErrUnreadable)

// fittedLine returns the public form of a line. If s has no numbers, as for an explanation, it leaves the values
// out.
func (c *Session) fittedLine(f *release.Line, q LineQuestion, s *release.Released) (*FittedLine, error) {
	out := &FittedLine{
		ID:       s.Name(),
		Names:    [2]string{f.Names[0], f.Names[1]},
		Rows:     f.Draw().Rows,
		Thinned:  f.Draw().Thinning(),
		Limits:   c.limitsOf(&f.Statement),
		Price:    c.loss(f.Price),
		Replayed: s.Replayed,
	}
	room, err := c.kernel.Room(f.Look())
	if err != nil {
		return nil, err
	}
	out.Remaining, out.Largest, out.Affordable = left(room), c.largest(room), s.Replayed || f.Price.Within(room)
	p := &plan.Plan{Statement: f.Statement, Neighbours: f.Neighbours, Price: f.Price}
	out.Unit = c.unit(&asked{Question: q.Question(), plan: p})
	if p.Unit != nil {
		out.Notes = append(out.Notes, truncation(p))
	}
	if len(f.Shares()) > 2 && (p.Unit != nil && p.Caps.Rows != 1 || out.Unit.PersonRows > 1) {
		out.Notes = append(out.Notes, "A person may have several rows, but the intervals assume independent rows.")
	}
	if out.Thinned > 0 {
		out.Notes = append(
			out.Notes,
			fmt.Sprintf("About one row in %d is used, chosen at random: more than some thousands of rows have too "+
				"many pairs.", 1<<out.Thinned),
		)
	}
	if f.Silent() {
		out.Notes = append(
			out.Notes,
			fmt.Sprintf(
				"At this price, intervals from about %s would rarely be finite, so the whole price is spent on the estimates.",
				plural(out.Rows, "row"),
			),
		)
	}
	for i, share := range f.Shares() {
		out.Draws = append(out.Draws, LineDraw{release.LineDraws[i], c.loss(share)})
	}
	for i, r := range []learning.Range{f.Draw().X, f.Draw().Y} {
		to := []*[2]float64{&out.X, &out.Y}[i]
		to[0], _ = r.Low.Float64()
		to[1], _ = r.High.Float64()
	}
	out.Middle = out.X[0] + (out.X[1]-out.X[0])/2
	height := out.Y[1] - out.Y[0]
	slope, middle := f.Draw().Expected(typicalResidual)
	of := [2]scaledLine{
		{at: 0, unit: height / (out.X[1] - out.X[0]), bits: learning.SlopeBits, most: learning.SteepestSlope, drawn: slope},
		{at: out.Y[0] + height/2, unit: height, bits: learning.MiddleBits, most: learning.FarthestMiddle, drawn: middle},
	}
	for i, to := range []*LineEstimate{&out.Slope, &out.Height} {
		var value, width *big.Int
		if len(s.Numbers) == len(f.Shares()) {
			if value = s.Numbers[i][0]; len(f.Shares()) > 2 {
				width = s.Numbers[i+2][0]
			}
		}
		if err := of[i].estimate(to, value, width); err != nil {
			return nil, err
		}
	}
	if astray := max(out.Slope.Astray, out.Height.Astray); astray > 0.01 {
		out.Notes = append(
			out.Notes,
			fmt.Sprintf(
				"With about %s at this price, the probability of a meaningless estimate is of the order of %s.",
				plural(out.Rows, "row"),
				strconv.FormatFloat(astray, 'g', 1, 64),
			),
		)
	}
	if len(f.Shares()) > 2 {
		out.Confidence = learning.WidthConfidence
	}
	return out, nil
}

// scaledLine describes how a released integer v becomes a number: s.at + s.unit·v/2^s.bits. The number differs from
// s.at by at most s.unit·s.most.
type scaledLine struct {
	at, unit float64
	bits     int
	most     float64
	drawn    learning.DrawnLine
}

func (s scaledLine) estimate(to *LineEstimate, value, width *big.Int) error {
	to.Steps, to.Most, to.Noise, to.Astray = math.Ldexp(
		s.unit,
		-s.bits,
	), s.unit*s.most, s.unit*s.drawn.Noise, s.drawn.Astray
	if value == nil {
		return nil
	}
	edge := int64(math.Ldexp(s.most, s.bits))
	if !value.IsInt64() || value.Int64() < -edge || value.Int64() >= edge ||
		width != nil && (!width.IsInt64() || width.Int64() < 1 || width.Int64() > 2*edge) {
		return errNoLine
	}
	in := func(v float64) *float64 { x := s.at + v*to.Steps; return &x }
	v := value.Int64()
	to.Value = in(float64(v) + 0.5)
	if width == nil {
		return nil
	}
	if low := v - width.Int64(); low > -edge {
		to.Low = in(float64(low))
	}
	if high := v + 1 + width.Int64(); high < edge {
		to.High = in(float64(high))
	}
	return nil
}
