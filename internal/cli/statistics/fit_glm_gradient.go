package statistics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/exact"
	"dither/stats/regression"
)

func gradientFlags(s *console.Console) *regression.Gradients {
	q := &regression.Gradients{}
	s.Flag(&q.Delta, "delta", "D", "for noisy gradients: the δ of the whole training (default: the policy's)")
	s.Flag(&q.Clip, "clip", "C", "for noisy gradients: the norm to which each unit's gradient is clipped (default 1)")
	s.Flag(&q.Rate, "rate", "Q",
		"the probability that a step samples a unit, such as 256/60000 (default: about 256 units per step)")
	s.Flag(&q.Multiplier, "multiplier", "Z",
		"the noise of a step in multiples of the clip, instead of --epsilon (default: the least that the price "+
			"permits)")
	s.Flag(&q.Steps, "steps", "N", "the number of steps (default 500)")
	s.Flag(&q.Optimiser, "optimiser", "NAME", "adam or sgd (default adam)")
	s.Flag(&q.Learning, "learning", "X", "the learning rate (default 0.05 for adam, 1 for sgd)")
	return q
}

// runFitNetwork trains a network, or a softmax model with --softmax.
func runFitNetwork(s *console.Console, o *fitOptions, args []string) error {
	q := gradientFlags(s)
	softmax := false
	s.Flag(&q.Hidden, "hidden", "N", "the number of neurons in the network's hidden layer (default 16)")
	s.Flag(&q.Activation, "activation", "NAME", "the activation of the hidden layer: tanh or relu (default tanh)")
	s.Flag(&softmax, "softmax", "", "no hidden layer: one linear function for each class")
	boundFlag(s, &q.Bound)
	rowsFlag(s, &q.Rows)
	classFlags(s, &q.Classes)
	helped, err := o.parsed(s, args)
	switch {
	case err != nil || helped:
		return err
	case o.method != "" && o.method != "gradient":
		return console.Usage("a network supports only --method gradient, which is the default")
	case o.picture.File != "":
		return console.Usage("fit network does not support --plot")
	case softmax && q.Hidden > 0:
		return console.Usage("--softmax and --hidden do not go together: a softmax model has no hidden layer")
	}
	if softmax {
		q.Kind = curator.SoftmaxModel
	}
	return fitByGradients(s, o, q, &calibrationFlags{})
}

// fitByGradients trains a model. It shows progress on stderr if that is a terminal.
func fitByGradients(s *console.Console, o *fitOptions, q *regression.Gradients, k *calibrationFlags) error {
	q.Request, q.Table, q.Formula, q.Where = o.Request, o.table, o.formula, o.where
	return fitting(s, o,
		func(c *curator.Session) (out gradientsExplained, err error) {
			if out.GradientsExplanation, err = regression.ExplainGradients(context.Background(), c, *q); err == nil {
				out.Calibration, err = k.explained(c, o, q.Classes)
			}
			return out, err
		},
		func(e gradientsExplained) error { return showGradientsExplanation(s, e) },
		func(c *curator.Session) (out trained, err error) {
			if k.asked {
				e, err := regression.ExplainGradients(context.Background(), c, *q)
				if err != nil {
					return out, err
				}
				if err := k.affordable(c, o, q.Classes, e.Price, e.Begun); err != nil {
					return out, err
				}
			}
			var told func(regression.TrainingStep)
			if console.Obeys(s.Stderr) {
				told = trainingLine(s.Stderr)
			}
			if out.Trained, err = regression.FitGradients(s.Context(), c, *q, told); err == nil && k.asked {
				out.Calibration, out.failed = out.Calibrate(s.Context(), c, k.Calibration)
			}
			return out, err
		},
		func(t trained) error { return errors.Join(showTrained(s, t), t.failed, k.draw(t.Calibration)) })
}

// trained is a trained model with its calibration, if one is requested. failed is the error of a calibration that
// failed.
type trained struct {
	*regression.Trained
	Calibration *regression.Calibrated
	failed      error
}

// gradientsExplained is the explanation of a training with that of its calibration, if one is requested.
type gradientsExplained struct {
	*regression.GradientsExplanation
	Calibration *regression.CalibrationExplanation `json:"calibration,omitempty"`
}

// trainingLine returns a function that shows the progress of a training several times a second. It shows the step
// and the price, but not the value of the loss, because the rows are private.
//
// It ignores errors of writing, because there is no other place for a message.
func trainingLine(w io.Writer) func(regression.TrainingStep) {
	begun, shown := time.Now(), time.Time{}
	return func(t regression.TrainingStep) {
		if t.Step == t.Steps {
			_, _ = fmt.Fprint(w, "\r\033[K")
			return
		}
		if time.Since(shown) < console.Beat || time.Since(begun) < console.Patience {
			return
		}
		shown = time.Now()
		const width = 30
		full := int(width * t.Step / t.Steps)
		again := ""
		if t.Replayed {
			again = ", recorded before"
		}
		_, _ = fmt.Fprintf(w, "\r\033[K%s%s step %d of %d; %s, paid%s",
			strings.Repeat("█", full), strings.Repeat("░", width-full), t.Step, t.Steps, t.Price, again)
	}
}

func showTrained(s *console.Console, t trained) error {
	switch s.Format {
	case "json":
		return s.JSON(struct {
			*regression.Trained
			Intervals   *string                `json:"intervals"` // always null; NoIntervals states the reason
			NoIntervals string                 `json:"no_intervals"`
			Calibration *regression.Calibrated `json:"calibration,omitempty"`
		}{t.Trained, nil, t.NoIntervals(), t.Calibration})
	case "csv":
		return trainedCSV(s, t)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", t.Formula, t.Table, t.Model))
	rows := [][]string{}
	header := []string{"", "estimate"}
	if t.Model == curator.SoftmaxModel {
		header = append([]string{"class"}, header...)
	}
	for _, c := range t.Coefficients {
		text := "?"
		if c.Estimate != nil {
			text = exact.FormatFloat(*c.Estimate, 'g', 4)
		}
		row := []string{c.Name, text}
		if t.Model == curator.SoftmaxModel {
			row = append([]string{c.Class}, row...)
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		lay(s, header, rows, len(header)-1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d parameters, the means over the last quarter of %d steps", len(t.Theta), t.Steps)
	if len(rows) == 0 {
		b.WriteString("; --format json lists them")
	}
	fmt.Fprintf(&b, "\n%s, --learning %s, --clip %s, --rate %s, --multiplier %s\n", t.Optimiser, t.Learning, t.Clip,
		t.Rate, t.Multiplier)
	if t.Model == curator.SoftmaxModel {
		first := "0"
		if len(t.Levels) > 0 {
			first = t.Levels[0]
		}
		fmt.Fprintf(&b, "estimates are for each class against %s: the change in the log-odds\n", first)
	}
	fmt.Fprintf(&b, "%s\n", t.NoIntervals())
	levelWords(&b, t.Response, t.Levels)
	closing(&b, nil, t.Paid, t.ID)
	if len(rows) == 0 && s.Format != "markdown" { // the heading already ends with an empty line
		s.Print("%s", render.PrintableLines(b.String()))
	} else {
		paragraphs(s, b.String())
	}
	if t.Calibration != nil {
		showCalibration(s, t.Calibration)
	}
	return nil
}

func showGradientsExplanation(s *console.Console, e gradientsExplained) error {
	if s.Format == "json" {
		return s.JSON(e)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", e.Formula, e.Table, e.Model))
	lay(s, []string{"noisy gradients of", "steps", "rate", "clip", "multiplier", "noise on a mean"},
		[][]string{{
			fmt.Sprintf("%d parameters", e.Parameters), strconv.FormatInt(e.Steps, 10), e.Rate, e.Clip,
			e.Multiplier, render.Compact(e.StdDev),
		}}, 1)
	var b strings.Builder
	fmt.Fprintf(&b, "predictors, scaled by their bounds to between -1 and 1: %s\n", strings.Join(e.Columns, ", "))
	delta := "the policy's δ"
	if e.Delta != "" {
		delta = "δ = " + e.Delta
	}
	fmt.Fprintf(&b, "all steps together: ε = %s at %s, certified by the distribution of their loss\n", e.Epsilon, delta)
	if e.Begun {
		fmt.Fprintf(&b, "this training was paid before, and %d of its steps are recorded; it continues "+
			"free\n", e.Recorded)
	}
	levelWords(&b, e.Response, e.Levels)
	calibrationWords(&b, e.Calibration)
	affordability(&b, e.Quoted, e.Begun)
	paragraphs(s, b.String())
	return nil
}
