package statistics

import (
	"context"
	"slices"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/plot"
)

// rateFlags are the flags of `dither estimate rate` alone. It shares --event with survival.
type rateFlags struct{ standardise, weights, rates, bins string }

func (f *rateFlags) declare(flag func(into any, name, value, about string)) {
	flag(&f.standardise, "standardise", "COLUMN", "for rate: the column whose strata the rates are standardised for, such as age")
	flag(&f.weights, "weights", "LIST",
		"for rate: the shares of the strata in the standard population, in order (default: those of all groups together)")
	flag(&f.rates, "rates", "LIST",
		"for rate: the standard rates of the strata, in order, for the ratio (default: those of all groups together)")
	flag(&f.bins, "bins", "N",
		"for rate: divide the bounds of a numeric column into N equal strata (default 10 for reals, and for integers of more "+
			"than 50 values)")
}

// rated are the standardised rates of the groups of a release.
type rated struct {
	by, column, table string
	confidence        float64
	counted           counted
	key               orderedKey // of the strata
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
				by: o.by, column: f.standardise, table: o.Table, confidence: confidence, counted: found, key: l.key,
				release: r,
				given:   [2]bool{f.weights != "", f.rates != ""},
			}
			strata.Events, strata.Others, strata.Noise, strata.Ordered = found.with, found.without, found.noise, l.key.numeric
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
