package estimate

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of statistic.
type Kind string

// The kinds of statistics.
const (
	Mean       Kind = "mean"       // of a column of numbers
	Proportion Kind = "proportion" // of rows with one value of a column
	Linear     Kind = "linear"     // coefficients of a linear regression
	Logistic   Kind = "logistic"   // coefficients of a logistic regression
)

// Statistic is a statistic of a table. Rows with NULL in one of its columns do not count.
type Statistic struct {
	Kind       Kind
	Column     string   // of regressions: the outcome
	Value      string   // Proportion: the value. Logistic: the value that counts as 1, or "" for a column of booleans or of 0 and 1
	Predictors []string // of regressions. A column of texts or booleans has an indicator for each value but its first
}

// ParseStatistic reads a statistic: the name of a column for a mean, column=value for a proportion, and "outcome ~ a +
// b" for regressions. The outcome of a logistic regression may be column=value.
func ParseStatistic(kind Kind, text string) (Statistic, error) {
	s := Statistic{Kind: kind}
	left, right, formula := strings.Cut(text, "~")
	if regression := kind == Linear || kind == Logistic; regression != formula {
		if regression {
			return s, fmt.Errorf("%q is no formula: write outcome ~ predictor + predictor", text)
		}
		return s, fmt.Errorf("%q: a formula is for linear and logistic", text)
	}
	column, value, has := strings.Cut(left, "=")
	s.Column, s.Value = strings.TrimSpace(column), strings.TrimSpace(value)
	if has && s.Value == "" || has != (kind == Proportion) && kind != Logistic { // an empty cell is NULL, which never counts
		return s, fmt.Errorf("%q: write column=value for a proportion, and a column alone for a mean", text)
	}
	if formula {
		for _, p := range strings.Split(right, "+") {
			s.Predictors = append(s.Predictors, strings.TrimSpace(p))
		}
	}
	all := append([]string{s.Column}, s.Predictors...)
	for i, c := range all {
		if c == "" || slices.Contains(all[:i], c) {
			return s, fmt.Errorf("%q: each column is named once", text)
		}
	}
	return s, nil
}

// columns returns the names of all columns.
func (s *Statistic) columns() []string { return append([]string{s.Column}, s.Predictors...) }

// String writes the statistic as it is parsed.
func (s *Statistic) String() string {
	out := s.Column
	if s.Value != "" {
		out += "=" + s.Value
	}
	if len(s.Predictors) > 0 {
		out += " ~ " + strings.Join(s.Predictors, " + ")
	}
	return string(s.Kind) + " " + out
}
