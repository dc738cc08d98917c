package answer_test

import (
	"errors"
	"math"
	"testing"

	"dither/curator"
	"dither/strategy"
	"dither/strategy/answer"
)

// Whole numbers are not negative and add up to the rounded total, their intervals contain those of the estimates above 0,
// and they cover: the true counts of 136 ranges are inside intervals of 99.9999 %, which fail once in 7,000 runs.
func TestWholeNumbers(t *testing.T) {
	s := home(t, "rho: 10, delta: 1e-6")
	for sql, cells := range map[string][]float64{
		"SELECT COUNT(*) FROM visits GROUP BY hour":  {100, 110, 120, 130, 140, 150},
		"SELECT SUM(cost) FROM visits GROUP BY hour": {200, 220, 240, 260, 280, 300},
	} {
		column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{SQL: sql, Rho: "0.01"}))
		w := must[strategy.Workload](t)(strategy.Ranges(16))
		e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, w, strategy.Rho)))
		whole := must[*answer.Whole](t)(e.Whole())
		sum := 0.0
		for _, n := range whole.Cells {
			if sum += n; n < 0 || n != math.Round(n) {
				t.Errorf("%s: a cell is %v", sql, n)
			}
		}
		all := strategy.Query{Low: 0, High: 16}.Coefficients(16)
		if total := must[answer.Answer](t)(e.Answer(all, 0.95)); math.Abs(sum-total.Value) > 0.5+1e-6 {
			t.Errorf("%s: the cells add up to %v, and the total is %v", sql, sum, total.Value)
		}
		estimates := must[[]answer.Answer](t)(e.Answers(0.999999))
		truth := must[[]float64](t)(w.Answers(append(cells, make([]float64, 10)...)))
		for i, a := range must[[]answer.Answer](t)(whole.Answers(0.999999)) {
			of := estimates[i]
			if a.Low > max(0, of.Low) || a.High < of.High || a.Low > a.Value || a.High < a.Value || a.Low < 0 {
				t.Errorf("%s: range %d is %+v, estimated as %+v", sql, i, a, of)
			}
			if truth[i] < a.Low || truth[i] > a.High {
				t.Errorf("%s: range %d is %+v, and its true answer is %v", sql, i, a, truth[i])
			}
		}
	}
	column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{
		SQL: "SELECT SUM(cost - 5) FROM visits GROUP BY hour", Rho: "1",
	}))
	w := must[strategy.Workload](t)(strategy.Prefixes(16))
	e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, w, strategy.Rho)))
	if _, err := e.Whole(); !errors.Is(err, answer.ErrColumn) {
		t.Errorf("sums that may be negative: %v", err)
	}
}

// The covariance of a query with itself is its variance, and that of a difference follows from covariances.
func TestCovariances(t *testing.T) {
	s := home(t, "epsilon: 10")
	column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{
		SQL: "SELECT SUM(cost) FROM visits GROUP BY hour", Epsilon: "1",
	}))
	e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, must[strategy.Workload](t)(strategy.Ranges(16)), strategy.Epsilon)))
	a, b := strategy.Query{Low: 0, High: 9}.Coefficients(16), strategy.Query{Low: 4, High: 12}.Coefficients(16)
	difference := make([]float64, 16)
	for j := range difference {
		difference[j] = a[j] - b[j]
	}
	variance := func(q []float64) float64 {
		d := must[answer.Answer](t)(e.Answer(q, 0.9)).Deviation
		return d * d
	}
	covariance := func(p, q []float64) float64 { return must[float64](t)(e.Covariance(p, q)) }
	for name, pair := range map[string][2]float64{
		"itself":     {covariance(a, a), variance(a)},
		"difference": {variance(a) + variance(b) - 2*covariance(a, b), variance(difference)},
		"order":      {covariance(a, b), covariance(b, a)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
			t.Errorf("%s: %v and %v", name, pair[0], pair[1])
		}
	}
	if _, err := e.Covariance(a[:3], b); err == nil {
		t.Error("a query of three cells is accepted")
	}
}

// A measurement that the budget does not cover leaves no choice in the home.
func TestNothingIsKeptWithoutPaying(t *testing.T) {
	s := home(t, "rho: 1, delta: 1e-6")
	w := must[strategy.Workload](t)(strategy.Prefixes(16))
	open := func(sql string) *answer.Column {
		return must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{SQL: sql, Rho: "0.6"}))
	}
	column := open("SELECT COUNT(*) FROM visits GROUP BY hour")
	choice := must[*strategy.Choice](t)(column.Choose(w))
	if _, err := column.MeasureChoice(t.Context(), choice); err != nil || !answer.Kept(column, w) {
		t.Errorf("a paid measurement leaves no choice: %v", err)
	}
	w = must[strategy.Workload](t)(strategy.Ranges(16))
	column = open("SELECT COUNT(*) FROM visits WHERE cost > 1 GROUP BY hour")
	choice = must[*strategy.Choice](t)(column.Choose(w))
	if _, err := column.MeasureChoice(t.Context(), choice); err == nil {
		t.Fatal("a measurement above the budget succeeds")
	}
	if answer.Kept(column, w) {
		t.Error("a refused measurement leaves a choice")
	}
}
