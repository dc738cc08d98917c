package statistics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// rateFlags are the flags of `dither estimate rate` alone. It shares --event with survival.
type rateFlags struct{ standardise, weights, rates, bins string }

func (f *rateFlags) declare(s *console.Console) {
	s.Flag(&f.standardise, "standardise", "COLUMN", "for rate: the column whose strata the rates are standardised for, such as age")
	s.Flag(&f.weights, "weights", "LIST",
		"for rate: the shares of the strata in the standard population, in order (default: those of all groups together)")
	s.Flag(&f.rates, "rates", "LIST",
		"for rate: the standard rates of the strata, in order, for the ratio (default: those of all groups together)")
	s.Flag(&f.bins, "bins", "N",
		"for rate: divide the bounds of a numeric column into N equal strata (default 10 for reals, and for integers of more "+
			"than 50 values)")
}

// rated are the standardised rates of the groups of a release.
type rated struct {
	by, column, table string
	confidence        float64
	counted           counted
	direct, indirect  []hypothesis.Rate
	given             [2]bool // the standard's shares, and its rates
	release           *released
}

// estimateRates estimates the standardised rates of an event in the groups of a table.
func estimateRates(s *console.Console, o *estimateFlags) error {
	f := o.rate
	if o.Table == "" || o.survival.event == "" || f.standardise == "" {
		return console.Usage("estimate rate needs --table, --event and --standardise")
	}
	confidence, err := o.forCounts(s, "rate")
	if err != nil {
		return err
	}
	if o.survival.time != "" || o.survival.periods != "" {
		return console.Usage("--time and --periods are only for estimate survival")
	}
	strata := hypothesis.Strata{}
	if f.weights != "" {
		if strata.Weights, err = numbersOf("weights", f.weights); err != nil {
			return err
		}
	}
	if f.rates != "" {
		if strata.Rates, err = numbersOf("rates", f.rates); err != nil {
			return err
		}
	}
	l := &eventCounts{table: o.Table, column: f.standardise, event: o.survival.event, by: o.by, where: o.Where}
	if l.parts, err = partsOf("bins", f.bins); err != nil {
		return err
	}
	sql, err := l.question(s)
	if err != nil {
		return err
	}
	q := curator.Question{SQL: sql, Epsilon: o.Epsilon, Rho: o.Rho, Analyst: o.Analyst, Fresh: o.Fresh}
	return testError(s.Asking(func(c *curator.Session) error {
		try := func(cells int) error {
			if err := l.try(cells); err != nil {
				return err
			}
			return l.tryStandard(c, q, strata)
		}
		return measured(s, c, o.Table, q, o.explain, try, func(r *released) error {
			found, err := l.read(r)
			if err != nil {
				return err
			}
			out := rated{
				by: o.by, column: f.standardise, table: o.Table, confidence: confidence, counted: found, release: r,
				given: [2]bool{f.weights != "", f.rates != ""},
			}
			strata.Events, strata.Others, strata.Noise = found.with, found.without, found.noise
			if out.direct, err = strata.Direct(confidence); err != nil {
				return err
			}
			if out.indirect, err = strata.Indirect(confidence); err != nil {
				return err
			}
			if err := out.show(s); err != nil || o.picture.File == "" {
				return err
			}
			return console.DrawFile(o.picture.File, plot.Write, out.picture(), "the rates are")
		})
	}))
}

// tryStandard refuses, before anything is paid, a standard that does not fit the strata whose number is known.
func (l *eventCounts) tryStandard(c *curator.Session, q curator.Question, standard hypothesis.Strata) error {
	strata := l.key.groups
	if l.where != "" {
		m, err := c.ExplainMeasure(context.Background(), q)
		if err != nil {
			return err
		}
		strata = (&released{Measurements: m}).strata()
	}
	if strata == 0 { // the policy does not tell how many there are, or the condition leaves none
		strata = max(1, len(standard.Weights), len(standard.Rates))
	}
	row := make([]float64, strata)
	for j := range row {
		row[j] = 1000
	}
	standard.Events, standard.Others = [][]float64{row}, [][]float64{row}
	_, err := standard.Direct(.95)
	if err == nil {
		_, err = standard.Indirect(.95)
	}
	return err
}

// strata returns how many strata can have rows.
func (r *released) strata() int {
	left, place := map[any]bool{}, r.Grouped[len(r.Grouped)-2] // the keys are --by, the stratum and the event
	for i, group := range r.groups() {
		if group && !slices.Contains(r.Cells[i], nil) {
			left[r.Cells[i][place]] = true
		}
	}
	return len(left)
}

func (v *rated) show(s *console.Console) error {
	header := []string{"people", "events", "crude", "standardised", "std. error", "low", "high", "ratio", "low", "high"}
	number, missing := render.Number6, "–"
	switch s.Format {
	case "json":
		return s.JSON(v.json())
	case "csv":
		header = []string{"people", "events", "crude", "value", "stddev", "low", "high", "ratio", "ratio_low", "ratio_high"}
		number = func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		missing = ""
	default:
		number = func(x float64) string { return render.Fixed(x, 5) }
	}
	of := func(x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return missing
		}
		return number(x)
	}
	var rows [][]string
	for g, r := range v.direct {
		ratio := v.indirect[g]
		row := []string{render.Number6(r.People), render.Number6(r.Events), of(r.Crude)}
		if math.IsNaN(r.Value) {
			row = append(row, missing, missing, missing, missing)
		} else {
			row = append(row, of(r.Value), of(r.StdError), of(r.Low), of(r.High))
		}
		if math.IsNaN(ratio.Value) {
			row = append(row, missing, missing, missing)
		} else {
			row = append(row, of(ratio.Value), of(ratio.Low), of(ratio.High))
		}
		rows = append(rows, append([]string{v.counted.groups[g]}, row...))
	}
	header = append([]string{v.by}, header...)
	return showCounted(s, header, numbersAfter(header), rows, v.words(), v.release)
}

// words returns the lines below the table.
func (v *rated) words() []string {
	standard := func(given bool) string {
		if given {
			return "are those given"
		}
		return "are those of all groups together, from the noisy counts"
	}
	lines := []string{
		"Standardised for " + v.column + ": the rate with the strata of a standard population, whose shares " +
			standard(v.given[0]) + ".",
		"The ratio is of the events to those expected at standard rates, which " + standard(v.given[1]) + ".",
		render.Number6(100*v.confidence) + " % intervals cover noise and sampling. The noise is " +
			noiseText(v.counted.noise) + ".",
	}
	for g, r := range v.direct {
		if math.IsNaN(r.Value) {
			of := ""
			if v.by != "" {
				of = " of " + v.by + " " + v.counted.groups[g]
			}
			stratum, people := v.least(g)
			lines = append(lines, fmt.Sprintf("Stratum %s%s has too few people for this noise (%s counted), so there is no standardised rate. "+
				"Use fewer strata (--bins), or narrower bounds.", stratum, of, render.Number6(people)))
		}
	}
	lines = append(lines, v.release.warnings()...)
	return append(lines, v.release.footer()...)
}

// least returns the stratum of a group with the least noisy count of people, and this count.
func (v *rated) least(group int) (stratum string, people float64) {
	people = math.Inf(1)
	for j, name := range v.counted.parts {
		if n := v.counted.with[group][j] + v.counted.without[group][j]; n < people {
			stratum, people = name, n
		}
	}
	return stratum, people
}

type rateJSON struct {
	Kind        string              `json:"kind"`
	By          *string             `json:"by"`
	Standardise string              `json:"standardise"`
	Strata      []string            `json:"strata"`
	Confidence  float64             `json:"confidence"`
	Rates       []groupRateJSON     `json:"rates"`
	Limits      *curator.Limits     `json:"bounds,omitempty"`
	Truncation  *curator.Truncation `json:"truncation,omitempty"`
	Release     releaseJSON         `json:"release"`
	Notes       []string            `json:"notes"`
}

type groupRateJSON struct {
	Group  *string   `json:"group"`
	People float64   `json:"people"`
	Events float64   `json:"events"`
	Crude  *float64  `json:"crude"`
	Direct valueJSON `json:"direct"`
	Ratio  valueJSON `json:"ratio"`
}

// valueJSON is an estimate. All its numbers are null if there is none.
type valueJSON struct {
	Value  *float64 `json:"value"`
	StdDev *float64 `json:"stddev"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
}

func valueOf(r hypothesis.Rate) valueJSON {
	if math.IsNaN(r.Value) {
		return valueJSON{}
	}
	return valueJSON{
		render.NumberOrNull(r.Value), render.NumberOrNull(r.StdError), render.NumberOrNull(r.Low), render.NumberOrNull(r.High),
	}
}

func (v *rated) json() rateJSON {
	r := v.release
	out := rateJSON{
		Kind: "rate", Standardise: v.column, Strata: v.counted.parts, Confidence: v.confidence, Limits: r.Limits,
		Truncation: r.Truncation, Release: releaseJSON{r.ID, r.Price.String(), r.Remaining.String(), r.Replayed},
		Notes: append([]string{}, r.warnings()...),
	}
	if v.by != "" {
		out.By = &v.by
	}
	for g, d := range v.direct {
		one := groupRateJSON{
			People: d.People, Events: d.Events, Crude: render.NumberOrNull(d.Crude), Direct: valueOf(d), Ratio: valueOf(v.indirect[g]),
		}
		if v.by != "" {
			one.Group = &v.counted.groups[g]
		}
		out.Rates = append(out.Rates, one)
	}
	return out
}

// picture draws the rates and the ratios with their intervals.
func (v *rated) picture() plot.Chart {
	c := plot.Chart{
		Title: "rates in " + v.table + ", standardised for " + v.column, Key: v.by, Groups: v.counted.groups,
		Caption: render.BoundedCaption(v.release.Limits, render.TruncatedCaption(render.TruncationText(v.release.Truncation),
			"Whiskers: "+render.Number6(100*v.confidence)+" % intervals, which cover noise and sampling.")),
	}
	for i, of := range [][]hypothesis.Rate{v.direct, v.indirect} {
		marks := make([]plot.Mark, len(of))
		for g, r := range of {
			marks[g] = plot.Mark{Value: r.Value, Low: r.Low, High: r.High, Missing: math.IsNaN(r.Value)}
		}
		c.Panels = append(c.Panels, plot.Panel{Name: [2]string{"standardised rate", "ratio"}[i], Points: true, Marks: [][]plot.Mark{marks}})
	}
	return c
}
