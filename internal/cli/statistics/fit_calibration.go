package statistics

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/formula"
	"dither/stats/regression"
)

// calibrationFlags are the flags of a calibration, which is a separate measurement after a fit.
type calibrationFlags struct {
	regression.Calibration
	asked   bool
	picture console.Picture
}

// flagsOfCalibration declares the flags of a calibration. Each of them requests a calibration.
func flagsOfCalibration(s *console.Console) *calibrationFlags {
	f := &calibrationFlags{}
	s.Flag(&f.asked, "calibration", "",
		"logistic: also count rows by predicted probability and response, at a separate price")
	s.Flag(&f.Epsilon, "calibration-epsilon", "E", "the price of the calibration (default: the policy's)")
	s.Flag(&f.Where, "calibration-where", "CONDITION",
		"count the rows that satisfy this condition; for a fair calibration, exclude the rows of the fit (default: "+
			"the rows of the fit)")
	s.Flag(&f.Bins, "bins", "N", "the number of bins of probability (default 10)")
	s.Flag(&f.picture.File, "calibration-plot", "FILE",
		"draw observed rates against predicted probabilities as FILE.svg or FILE.png")
	return f
}

// check validates the flags of a calibration, before anything is paid.
func (f *calibrationFlags) check(s *console.Console, o *fitOptions) error {
	f.asked = f.asked || f.Epsilon != "" || f.Where != "" || f.Bins != 0 || f.picture.File != ""
	if f.asked && s.Format == "csv" {
		return console.Usage("--format csv contains only the coefficients; for a calibration use table, json or " +
			"markdown")
	}
	f.Confidence, f.Analyst, f.Fresh = o.Confidence, o.Analyst, o.Fresh
	return f.picture.Check(s)
}

// explained returns what the calibration of a model would cost, or nil if no calibration is requested.
func (f *calibrationFlags) explained(
	c *curator.Session, o *fitOptions, k formula.Classes,
) (*regression.CalibrationExplanation, error) {
	if !f.asked {
		return nil, nil //nolint:nilnil // no calibration is requested
	}
	return regression.ExplainCalibration(context.Background(), c, o.table, o.formula, o.where, k, f.Calibration)
}

// affordable returns an error if the remaining budget covers the fit but not the calibration after it.
func (f *calibrationFlags) affordable(
	c *curator.Session, o *fitOptions, k formula.Classes, price curator.Loss, replayed bool,
) error {
	e, err := f.explained(c, o, k)
	if err != nil || e == nil || replayed {
		// a free fit loses nothing if its calibration is refused later; the calibration may be free too, which
		// depends on the fitted coefficients
		return err
	}
	if !e.AffordableWith(price) {
		return &curator.Error{
			Code: curator.CodeExhausted,
			Message: fmt.Sprintf("the fit and its calibration cost %s, more than the remaining %s",
				e.Price, e.Remaining),
			Hint: "lower --epsilon, the price of the fit, or --calibration-epsilon, the price of the calibration",
		}
	}
	return nil
}

// draw writes the calibration's picture, if one is requested.
func (f *calibrationFlags) draw(k *regression.Calibrated) error {
	if k == nil || f.picture.File == "" {
		return nil
	}
	return console.DrawFile(f.picture.File, plot.WritePlaces, calibrationPlaces(k), "")
}

// calibrationPlaces draws each bin as a cross at its middle. The cross is as wide as the bin and as high as the
// interval of the observed rate. For a calibrated model, the crosses lie near the diagonal.
func calibrationPlaces(k *regression.Calibrated) plot.Places {
	panel := plot.PlacePanel{Diagonal: true}
	for _, b := range k.Bins {
		if b.Rate != nil {
			panel.Crosses = append(panel.Crosses, plot.Cross{
				Point: plot.Point{X: (b.Low + b.High) / 2, Y: *b.Rate}, Low: plot.Point{X: b.Low, Y: b.Interval.Low},
				High: plot.Point{X: b.High, Y: b.Interval.High},
			})
		}
	}
	caption := fmt.Sprintf(
		"%s; %s intervals, each bin by itself, cover sampling and noise; on the diagonal the observed rate equals "+
			"the predicted one",
		pricePaid(k.Price, k.Replayed), render.Percent(string(k.Confidence)))
	if k.Same {
		caption += "; computed on the rows that the model was fitted to"
	}
	caption = render.BoundedCaption(k.Limits, caption)
	return plot.Places{
		Title: k.Formula, Caption: caption, X: "predicted probability", Y: "observed rate of " + k.Response,
		Low: plot.Point{X: 0, Y: 0}, High: plot.Point{X: 1, Y: 1}, Panels: []plot.PlacePanel{panel},
	}
}

// showCalibration prints the table of a calibration, below the model's table.
func showCalibration(s *console.Console, k *regression.Calibrated) {
	s.Print("\n")
	heading(s, "calibration: "+k.Response)
	header := []string{
		"predicted", "rows", "observed rate", render.Percent(string(k.Confidence)) + " interval",
		"than predicted",
	}
	var rows [][]string
	off := false
	places := 3
	for p, whole := range map[int]int{1: 10, 2: 100} {
		if k.Of > 0 && whole%k.Of == 0 {
			places = min(places, p)
		}
	}
	for _, b := range k.Bins {
		rate, said := "?", ""
		digits := min(max(render.Decimals((b.Interval.High-b.Interval.Low)/2), 2), 4)
		if b.Rate != nil {
			rate = render.Fixed(*b.Rate, digits)
		}
		switch b.Off {
		case 1:
			said, off = "more", true
		case -1:
			said, off = "fewer", true
		}
		rows = append(rows, []string{
			render.Fixed(
				b.Low,
				places,
			) + " to " + render.Fixed(
				b.High,
				places,
			),
			render.Compact(math.Round(b.Rows)),
			rate,
			"[" + render.Fixed(b.Interval.Low, digits) + ", " + render.Fixed(b.Interval.High, digits) + "]",
			said,
		})
	}
	if !off {
		header = header[:4]
		for i := range rows {
			rows[i] = rows[i][:4]
		}
	}
	lay(s, header, rows, 0)
	var b strings.Builder
	fmt.Fprintf(&b, "counts have noise of standard deviation %s; intervals, each by itself, cover sampling and noise\n",
		render.Compact(k.StdDev))
	closing(&b, k.Warnings, k.Paid, k.ID)
	paragraphs(s, b.String())
}

// calibrationWords writes the line about a calibration in an explanation.
func calibrationWords(b *strings.Builder, e *regression.CalibrationExplanation) {
	if e == nil {
		return
	}
	fmt.Fprintf(
		b, "calibration: counts of %d bins by response, with noise of standard deviation %s; its price is %s, in "+
			"addition to the fit",
		e.Bins, render.Compact(e.StdDev), e.Price)
	if e.Replayed {
		b.WriteString(", released before: free")
	}
	b.WriteString("\n")
}

// classFlags declares the flags that select the classes of a response.
func classFlags(s *console.Console, k *formula.Classes) {
	s.Flag(&k.Positive, "positive", "VALUE",
		"logistic and network: the value whose probability is modelled, against all other values")
	s.Flag(func(text string) (err error) {
		r := csv.NewReader(strings.NewReader(text))
		r.TrimLeadingSpace = true
		k.Levels, err = r.Read()
		return err
	}, "levels", "A,B,C",
		"logistic and network: the values of the response in the order of its classes; with two, the probability "+
			"of the second is modelled (default: the policy's order)")
}

// levelWords writes which value of the response each class stands for.
func levelWords(b *strings.Builder, response string, levels []string) {
	switch {
	case len(levels) == 2:
		fmt.Fprintf(b, "the response is 1 if %s is %s, and 0 if it is %s: the model gives the probability of %s\n",
			response, levels[1], levels[0], levels[1])
	case len(levels) > 2:
		var parts []string
		for i, l := range levels {
			parts = append(parts, fmt.Sprintf("%d is %s", i, l))
		}
		fmt.Fprintf(b, "classes of %s: %s\n", response, strings.Join(parts, ", "))
	}
}
