// Package stattest tests whether a sample comes from a given distribution, with a stated rate of false alarms. It
// compares whole distributions, not only moments. Only tests import it.
//
// The false-alarm rate is the probability that a check fails although the sample comes from the distribution. With
// a rate of 1e-6, a check on fresh random numbers fails by chance about once in a million runs. So a failure is
// taken for a defect.
package stattest

import (
	"errors"
	"fmt"
	"math"
)

// minExpected is the smallest expected count of a merged cell in a χ² test. With such cells, the statistic is close
// to its limit even far out in the tail.
const minExpected = 25

// ChiSquared is Pearson's goodness-of-fit test for counts in cells.
type ChiSquared struct {
	Observed   []int     // number of sampled values in each cell
	Expected   []float64 // probability of each cell; the sum is 1
	FalseAlarm float64   // probability of a false alarm, such as 1e-6
}

// Check returns an error if the counts differ from the probabilities by more than chance explains at the
// false-alarm rate. It merges neighbouring cells until each has an expected count of at least 25. The threshold comes
// from the χ² distribution, which is the limit for large samples [Pearson 1900]. With cells of at least 25, a stated
// rate of 1e-6 differs from the true rate by a small factor.
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
	p := UpperGamma(float64(len(cells)-1)/2, statistic/2) // the χ² tail probability
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
		"χ² = %.4g over %d cells has p = %.3g, below the false-alarm rate %g; worst are cells %d to %d: %d "+
			"observed, %.6g expected",
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

// cell is one merged cell: the given cells from first to last.
type cell struct {
	first, last, observed int
	expected              float64
}

// deviation returns the difference between observed and expected counts, in standard deviations.
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
	if !fresh && len(cells) > 1 { // add the rest to the last cell that is large enough
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
