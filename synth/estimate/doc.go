// Package estimate estimates means, proportions and regressions from several synthetic tables, with intervals.
//
// [Read] reads the tables that `dither synth --draws` wrote. [Tables.Estimate] estimates a statistic from each, with the variance
// that its rows imply, and combines the estimates (package stats/combine). A statistic has an interval only if it is in the span
// of the model: one measured marginal has all its columns. Then the measurement, and not the model, determines the statistic.
//
// The package reads synthetic rows only. It sees no real row, so estimates are free.
package estimate
