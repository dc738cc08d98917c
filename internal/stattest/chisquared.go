// Package stattest decides whether a sample could have come from a distribution, with a stated rate of false alarms. It
// tests whole distributions rather than moments, and is imported by tests only.
//
// A false-alarm rate is the probability that a check fails although the sample does come from the distribution. With 1e-6 a
// check on fresh randomness fails by chance about once in a million runs: a failure is taken for a defect.
package stattest

import (
	"errors"
	"fmt"
	"math"
)

// minExpected is what each merged cell of a χ² test is expected to hold at least: enough for the statistic to be close to
// its limit far out in the tail.
const minExpected = 25

// ChiSquared is Pearson's goodness-of-fit test of counts in cells.
type ChiSquared struct {
	Observed   []int     // how many of the sample fell into each cell
	Expected   []float64 // the probability of each cell; together 1
	FalseAlarm float64   // the rate of false alarms, such as 1e-6
}

// Check returns an error if the counts deviate from the probabilities by more than chance explains at the false-alarm rate.
// Neighbouring cells are merged until each is expected to hold 25 or more. The rate is the limit for large samples
// [Pearson 1900]; with cells of that size it holds within a small factor at 1e-6.
func (c ChiSquared) Check() error {
	cells, err := c.merged()
	if err != nil {
		return err
	}
	statistic := 0.0
	for _, cell := range cells {
		d := float64(cell.observed) - cell.expected
		statistic += d * d / cell.expected
	}
	p := UpperGamma(float64(len(cells)-1)/2, statistic/2) // the χ² tail
	if p >= c.FalseAlarm {
		return nil
	}
	worst := cells[0]
	for _, cell := range cells {
		if math.Abs(cell.deviation()) > math.Abs(worst.deviation()) {
			worst = cell
		}
	}
	return fmt.Errorf(
		"χ² = %.4g over %d cells has p = %.3g, below the false-alarm rate %g; worst are cells %d to %d: %d observed, %.6g expected",
		statistic,
		len(cells),
		p,
		c.FalseAlarm,
		worst.first,
		worst.last,
		worst.observed,
		worst.expected,
	)
}

// cell is a run of neighbouring cells.
type cell struct {
	first, last, observed int
	expected              float64
}

// deviation is in standard deviations.
func (c cell) deviation() float64 { return (float64(c.observed) - c.expected) / math.Sqrt(c.expected) }

func (c ChiSquared) merged() ([]cell, error) {
	if len(c.Observed) != len(c.Expected) {
		return nil, fmt.Errorf("%d counts for %d probabilities", len(c.Observed), len(c.Expected))
	}
	n, total := 0, 0.0
	for i, o := range c.Observed {
		n += o
		if !(c.Expected[i] >= 0) {
			return nil, fmt.Errorf("cell %d has probability %g", i, c.Expected[i])
		}
		total += c.Expected[i]
	}
	if math.Abs(total-1) > 1e-9 {
		return nil, fmt.Errorf("the probabilities make %.12g", total)
	}
	var cells []cell
	fresh := true
	for i, o := range c.Observed {
		if fresh {
			cells = append(cells, cell{first: i})
		}
		last := &cells[len(cells)-1]
		last.last, last.observed, last.expected = i, last.observed+o, last.expected+float64(n)*c.Expected[i]
		fresh = last.expected >= minExpected
	}
	if !fresh && len(cells) > 1 { // the rest goes to the last cell that is large enough
		rest := cells[len(cells)-1]
		cells = cells[:len(cells)-1]
		last := &cells[len(cells)-1]
		last.last, last.observed, last.expected = rest.last, last.observed+rest.observed, last.expected+rest.expected
	}
	if len(cells) < 2 {
		return nil, errors.New("the sample is too small for two cells")
	}
	return cells, nil
}
