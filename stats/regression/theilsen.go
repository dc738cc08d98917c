package regression

import (
	"context"
	"encoding/json"
	"math"

	"dither/curator"
	"dither/stats/internal/request"
)

// FittedLine is the result of the Theil–Sen method beyond the coefficients.
type FittedLine struct {
	// At is the middle of the predictor's range, and Height is the line's value there. Of all points of the line,
	// it has the narrowest interval.
	At     float64
	Height Coefficient
	// SlopeNoise and HeightNoise are the approximate errors that the random draws add, as standard deviations. They
	// assume the stated number of rows, spread evenly over the predictor's bounds, and residuals of a tenth of the
	// response's range. SlopeMost is the steepest slope that the method considers.
	SlopeNoise, HeightNoise, SlopeMost float64
	Rows                               int64 // approximate number of rows, from the policy or the question
	Thinned                            int   // one row in 2^Thinned takes part
	Intervals                          bool
	Draws                              []curator.LineDraw // the random draws for which the price pays
}

// MarshalJSON writes the line, with the estimate and the interval of its height at the same level.
func (l *FittedLine) MarshalJSON() ([]byte, error) {
	type draw struct {
		Name  string       `json:"name"`
		Price curator.Loss `json:"price"`
	}
	var draws []draw
	for _, d := range l.Draws {
		draws = append(draws, draw{d.Name, d.Price})
	}
	return json.Marshal(struct {
		At          float64  `json:"at"`
		Height      *float64 `json:"height"`
		Low         *float64 `json:"low"`
		High        *float64 `json:"high"`
		SlopeNoise  float64  `json:"slope_noise"`
		HeightNoise float64  `json:"height_noise"`
		SlopeMost   float64  `json:"slope_most"`
		Rows        int64    `json:"rows_expected"`
		OneIn       int64    `json:"one_row_in"`
		Draws       []draw   `json:"drawn"`
	}{
		l.At, l.Height.Estimate, l.Height.Low, l.Height.High, l.SlopeNoise, l.HeightNoise, l.SlopeMost, l.Rows,
		1 << l.Thinned, draws,
	})
}

// lineFit is a validated Theil–Sen request. The predictor z and the response v are scaled as for the other methods.
type lineFit struct {
	linear
	question curator.LineQuestion
}

func decideLine(c *curator.Session, q Linear) (*lineFit, error) {
	if alpha, err := request.Confidence(&q.Confidence); err != nil {
		return nil, err
	} else if math.Abs(alpha-0.05) > 1e-9 {
		return nil, request.Misuse("omit the confidence",
			"intervals of %s always have confidence 0.95: their ends are drawn at random, and the draws must not "+
				"depend on the confidence", TheilSen)
	}
	switch {
	case q.FindBounds != "" || q.Normalise != "" || q.Choose != "" || q.Cluster != "" || q.From != "" || q.Only != "":
		return nil, request.Misuse("leave it out",
			"only %s and %s support finding bounds, choosing terms and computing from a release", AdaSSP, Lecture)
	case q.Rows < 0:
		return nil, request.Misuse("such as 100", "the approximate number of rows must be at least 1")
	}
	if err := request.CheckCondition(q.Where); err != nil {
		return nil, err
	}
	l := &lineFit{linear: linear{Linear: q}}
	if err := l.read(c); err != nil {
		return nil, err
	}
	if len(l.design.Columns) != 2 || !l.design.Formula.Intercept {
		return nil, request.Misuse("such as y ~ x", "%s needs exactly one predictor and an intercept", TheilSen)
	}
	if q.Rows == 0 && l.table.ExpectedRows == 0 {
		return nil, request.Misuse(
			"give --rows N, a public or released number, or have the owner declare expected_rows",
			"the approximate number of rows is missing")
	}
	var response string
	response, l.at, l.half = l.design.Response.Scaled(true)
	predictor := *l.design
	predictor.Columns = predictor.Columns[1:]
	l.question = curator.LineQuestion{Request: q.Request, Rows: q.Rows, WithoutIntervals: q.WithoutIntervals}
	l.question.SQL = predictor.Question(q.Where, response)
	return l, nil
}

func fitTheilSen(ctx context.Context, c *curator.Session, q Linear) (*LinearFit, error) {
	l, err := decideLine(c, q)
	if err != nil {
		return nil, err
	}
	f, err := c.FitLine(ctx, l.question)
	if err != nil {
		return nil, err
	}
	out := newLinearFit(f.ID, l.design, TheilSen, Paid{f.Limits, f.Price, f.Remaining, f.Replayed})
	out.Confidence, out.Line, out.Coefficients = "0.95", l.line(f), l.coefficients(f)
	if k := out.Coefficients[1]; out.Line.Intervals && (k.Low == nil || k.High == nil) {
		out.warn(
			"The interval of the slope is infinite: at this price only the limit of the search bounds the slope. " +
				"Use more rows or a higher price.")
	}
	if k := out.Line.Height; out.Line.Intervals && (k.Low == nil || k.High == nil) {
		out.warn(
			"The interval of the height, and so of the intercept, is infinite: at this price too few rows bound the height. " +
				"Use more rows or a higher price.")
	}
	if math.Abs(*f.Slope.Value) > 0.99*f.Slope.Most {
		out.warn(
			"The slope is at the limit of the search: the true slope may be steeper, or noise hides it. Tighter " +
				"bounds of the predictor allow steeper slopes.")
	}
	out.Warnings = append(out.Warnings, f.Notes...)
	return out, nil
}

func explainTheilSen(ctx context.Context, c *curator.Session, q Linear) (*LinearExplanation, error) {
	l, err := decideLine(c, q)
	if err != nil {
		return nil, err
	}
	f, err := c.ExplainFitLine(ctx, l.question)
	if err != nil {
		return nil, err
	}
	return &LinearExplanation{
		Spec: Spec{LinearModel, l.design.Formula.String(), q.Table}, Method: TheilSen, SQL: l.question.SQL,
		Columns: l.design.Names(), Sums: []LinearSum{},
		Line: l.line(f), Quoted: Quoted{f.Price, f.Remaining, f.Affordable, f.Largest}, Replayed: f.Replayed,
		Unit: f.Unit, Notes: append([]string{}, f.Notes...),
	}, nil
}

// line converts the results beyond the coefficients to the units of the columns.
func (l *lineFit) line(f *curator.FittedLine) *FittedLine {
	out := &FittedLine{Rows: f.Rows, Thinned: f.Thinned, Intervals: f.Confidence != "", Draws: f.Draws}
	slope := l.slopes()
	out.SlopeNoise, out.SlopeMost, out.HeightNoise = math.Abs(slope)*f.Slope.Noise, math.Abs(slope)*f.Slope.Most,
		l.half*f.Height.Noise
	// The scaled predictor is z = Weights[1][1]·x + Weights[0][1].
	out.At = (f.Middle - l.design.Weights[0][1]) / l.design.Weights[1][1]
	out.Height = l.form(f, 0, 1)
	out.Height.Name, out.Height.Width = l.design.Response.Name, 1
	return out
}

// slopes returns the factor that converts a slope of scaled columns to one of the unscaled columns.
func (l *lineFit) slopes() float64 { return l.half * l.design.Weights[1][1] }

// coefficients returns the coefficients of the unscaled columns. At x = 0, the scaled predictor is z₀ =
// Weights[0][1], which is z₀ − f.Middle away from the point where the height is measured.
func (l *lineFit) coefficients(f *curator.FittedLine) []Coefficient {
	intercept := l.form(f, l.design.Weights[0][1]-f.Middle, 1)
	slope := l.form(f, 1, 0)
	rescale := l.slopes() / l.half
	for _, x := range []*float64{slope.Estimate, slope.Low, slope.High} {
		if x != nil {
			*x *= rescale
		}
	}
	for i, k := range []*Coefficient{&intercept, &slope} {
		k.Name, k.Width = l.design.Columns[i].Name, l.design.Columns[i].Width
	}
	return []Coefficient{intercept, slope}
}

// form returns half·(a·slope + b·height), plus b times the response's centre. Its interval holds whenever the
// intervals of the slope and the height both hold.
func (l *lineFit) form(f *curator.FittedLine, a, b float64) (out Coefficient) {
	if f.Slope.Value == nil {
		return out
	}
	value := func(slope, height *float64) *float64 {
		x := b * l.at
		for _, term := range []struct {
			weight float64
			of     *float64
		}{{a, slope}, {b, height}} {
			switch {
			case term.weight == 0:
			case term.of == nil:
				return nil
			default:
				x += l.half * term.weight * *term.of
			}
		}
		return &x
	}
	out.Estimate = value(f.Slope.Value, f.Height.Value)
	low, high := f.Slope.Low, f.Slope.High
	if a < 0 {
		low, high = high, low
	}
	out.Low, out.High = value(low, f.Height.Low), value(high, f.Height.High)
	return out
}
