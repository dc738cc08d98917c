package strategies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/strategy"
	"dither/strategy/answer"
)

// mostAnswers is the largest number of answers that one command measures and prints: their intervals take time.
const mostAnswers = 100000

// measuring has the values of the flags that only a measurement has.
type measuring struct {
	analyst, confidence string
	fresh, whole        bool
}

func (m *measuring) declare(s *console.Console) {
	s.AnalystFlag(&m.analyst)
	s.ConfidenceFlag(&m.confidence)
	s.FreshFlag(&m.fresh)
	s.Flag(&m.whole, "whole", "", "print whole numbers of 0 or more that add up; their intervals are conservative")
}

// level returns the confidence of the intervals.
func (m *measuring) level() (float64, error) {
	if m.confidence == "" {
		return 0.95, nil
	}
	confidence, err := strconv.ParseFloat(m.confidence, 64)
	if err != nil || !(confidence > 0 && confidence < 1) {
		return 0, console.Usage("--confidence must be between 0 and 1, not %q", m.confidence)
	}
	return confidence, nil
}

// measure chooses a strategy for a question's key, measures it, and prints the answers of the workload.
func measure(s *console.Console, a asked, sql string) error {
	confidence, err := a.measuring.level()
	if err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error {
		column, err := answer.Open(s.Context(), c, curator.Request{
			SQL: sql, Epsilon: a.epsilon, Rho: a.rho, Analyst: a.measuring.analyst, Fresh: a.measuring.fresh,
		})
		if err != nil {
			return refused(err)
		}
		w, of, err := a.placed(&column)
		if err != nil {
			return err
		}
		switch n := len(column.Values); {
		case w.Cells() != n:
			return console.Usage("the workload has %d cells, and the key of the question has %s without NULL; give flags "+
				"such as --ranges %d", w.Cells(), render.Plural(n, "value"), n)
		case w.Queries() > mostAnswers && !a.explain:
			return console.Usage("the workload has %d answers, and one command prints at most %d; give fewer questions, or "+
				"use package strategy/answer in Go", w.Queries(), mostAnswers)
		}
		choice, err := column.Choose(w)
		if err != nil {
			return console.Usage("%s", words(err))
		}
		var before *strategy.Choice
		if !a.measuring.fresh {
			if before, err = column.Measured(s.Context(), choice); err != nil {
				return refused(err)
			}
		}
		best := choice.Chosen.RMSE
		if before != nil {
			choice = before
		}
		if a.explain {
			return explain(s, a, column, choice, w)
		}
		var e *answer.Estimate
		if before != nil {
			e, err = column.Measure(s.Context(), choice.Chosen)
		} else {
			e, err = column.MeasureChoice(s.Context(), choice)
		}
		if err != nil {
			return refused(err)
		}
		out := fromRelease{Choice: choice, Estimate: e, best: best, places: of, confidence: confidence, whole: a.measuring.whole}
		if out.answers, err = out.all(); err != nil {
			return refused(err)
		}
		if err := showAnswers(s, out); err != nil || a.picture.File == "" {
			return err
		}
		return console.DrawFile(a.picture.File, plot.Write, out.chart(), "the answer is")
	})
}

// placed returns the workload. If it is about levels, it arranges the column by them, and returns the places.
func (a asked) placed(column **answer.Column) (w strategy.Workload, of *places, err error) {
	if len(a.levels) == 0 {
		w, err = a.workload()
		return w, nil, err
	}
	if !a.levelsAlone() {
		return w, nil, console.Usage("with a question, --levels orders the values by their places: leave out the other flags " +
			"that describe questions")
	}
	if of, err = readPlaces(a.levels[0]); err != nil {
		return w, nil, console.Usage("--levels %s: %v", a.levels[0], err)
	}
	of.sort()
	if *column, err = of.arrange(*column); err != nil {
		return w, nil, err
	}
	if w, err = strategy.Levels(of.paths); err != nil {
		return w, nil, console.Usage("--levels %s: %s", a.levels[0], words(err))
	}
	return w, of, nil
}

// refused returns an error of package answer as one of usage.
func refused(err error) error {
	if errors.Is(err, answer.ErrColumn) {
		return console.Usage("%s", err.Error()[len(answer.ErrColumn.Error()+": "):])
	}
	return err
}

// explain prints the expected errors and the price of a measurement, which it does not make.
func explain(s *console.Console, a asked, column *answer.Column, choice *strategy.Choice, w strategy.Workload) error {
	e, err := column.Explain(s.Context(), choice.Chosen)
	if err != nil {
		return refused(err)
	}
	deviation := e.Parts[0].Noise.StdDev() / choice.Chosen.Scale()
	unit, _ := e.Parts[0].Unit.Float64()
	if err := show(s, a, shown{
		Choice: choice, workload: w, price: price{column.Unit, e.Price.String(), deviation * unit, &e.Price},
	}); err != nil || s.Format == "json" {
		return err
	}
	state := "The budget has too little left: at most ε = " + e.Largest + "."
	if e.Affordable {
		state = "Remaining: " + e.Remaining.String() + "."
	}
	if column.Declared() {
		s.Print("\n%s\n", totalsWords)
	}
	if note := column.TotalsNote(); note != "" {
		s.Print("\n%s\n", note)
	}
	if e.Replayed && !a.measuring.fresh {
		s.Print("\nIt was measured before, so the answers are free. %s\n", state)
		return nil
	}
	s.Print("\nA measurement would cost %s. %s\n", e.Price, state)
	return nil
}

// fromRelease is the answers of a workload, from one release.
type fromRelease struct {
	*strategy.Choice
	*answer.Estimate
	places     *places // nil unless the questions are about levels
	answers    []answer.Answer
	confidence float64
	whole      bool    // the answers are sums of whole numbers
	best       float64 // the RMSE of the best strategy for these questions
}

// all returns the answers of the workload.
func (a fromRelease) all() ([]answer.Answer, error) {
	if !a.whole {
		return a.Answers(a.confidence)
	}
	w, err := a.Whole()
	if err != nil {
		return nil, err
	}
	return w.Answers(a.confidence)
}

func showAnswers(s *console.Console, a fromRelease) error {
	percent := render.Percent(strconv.FormatFloat(a.confidence, 'f', -1, 64))
	header, right := []string{"question", "answer", "± " + percent}, []bool{false, true, true}
	var rows [][]string
	for _, l := range a.lines() {
		half := max(l.High-l.Value, l.Value-l.Low)
		places := render.Decimals(half)
		rows = append(rows, []string{l.name, render.Fixed(l.Value, places), render.Fixed(half, places)})
	}
	state := fmt.Sprintf("Measured by %s for %s, in release %s. Remaining: %s.",
		a.Chosen.Name, a.Price, a.ID, a.Remaining)
	if a.Replayed {
		state = fmt.Sprintf("Answered from release %s, at no cost.", a.ID)
		if a.Chosen.RMSE > a.best {
			state += fmt.Sprintf(" It was chosen for other questions: its rmse for these is %s. With --fresh, a new measurement "+
				"has %s, for the same price.", digits(a.Chosen.RMSE), digits(a.best))
		}
	}
	switch s.Format {
	case "json":
		return s.JSON(a)
	case "markdown":
		s.Print("%s\n%s\n", render.MarkdownTable(header, right, rows), render.MarkdownParagraphs(render.BoundsLine(a.Limits)+state))
	default:
		s.Print("%s\n%s%s\n", grid(header, right, rows), render.BoundsLine(a.Limits), state)
	}
	return nil
}

// line is an answer with its question.
type line struct {
	answer.Answer
	query strategy.Query
	name  string
}

// lines returns the answers in the order in which they are shown.
func (a fromRelease) lines() []line {
	queries := slices.Collect(a.Chosen.Workload().All())
	out := make([]line, len(queries))
	for i, q := range queries {
		out[i] = line{a.answers[i], q, a.name(q, i)}
	}
	if a.places == nil {
		return out
	}
	sorted := make([]line, 0, len(out))
	for _, i := range a.places.shown(queries) {
		sorted = append(sorted, out[i])
	}
	return sorted
}

// name returns a query by its place, or by the values of its first and its last cell.
func (a fromRelease) name(q strategy.Query, i int) string {
	switch {
	case q.Row != nil:
		return "row " + strconv.Itoa(i+1)
	case a.places != nil:
		return a.places.name(q.Low, q.High)
	}
	from, to := render.KeyText(a.Column.Values[q.Low]), render.KeyText(a.Column.Values[q.High-1])
	if from == to {
		return from
	}
	return from + " … " + to
}

// MarshalJSON writes the release, the strategy with its expected errors, and the answers.
func (a fromRelease) MarshalJSON() ([]byte, error) {
	type answered struct {
		Place     string  `json:"place,omitempty"`
		From      any     `json:"from"`
		To        any     `json:"to"`
		Value     float64 `json:"value"`
		Deviation float64 `json:"deviation"`
		Low       float64 `json:"low"`
		High      float64 `json:"high"`
	}
	lines := make([]answered, 0, len(a.answers))
	for _, of := range a.lines() {
		l := answered{Value: of.Value, Deviation: of.Deviation, Low: of.Low, High: of.High}
		if q := of.query; q.Row == nil {
			l.From, l.To = a.Column.Values[q.Low], a.Column.Values[q.High-1]
			if a.places != nil {
				l.Place = of.name
			}
		}
		lines = append(lines, l)
	}
	return json.Marshal(struct {
		Release    string          `json:"release"`
		Replayed   bool            `json:"replayed"`
		Price      curator.Loss    `json:"price"`
		Remaining  curator.Loss    `json:"remaining"`
		Chosen     string          `json:"chosen"`
		RMSE       float64         `json:"rmse"`
		Bound      float64         `json:"bound"`
		Confidence float64         `json:"confidence"`
		Whole      bool            `json:"whole,omitempty"`
		Answers    []answered      `json:"answers"`
		Bounds     *curator.Limits `json:"bounds"`
	}{
		a.ID, a.Replayed, a.Price, a.Remaining, a.Chosen.Name, a.Chosen.RMSE, a.Bound, a.confidence, a.whole, lines, a.Limits,
	})
}
