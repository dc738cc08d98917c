package hypothesis

import (
	"fmt"
	"math"
)

func (t *Test) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
}

// tooFew turns the result into one that does not reject, because an expected count is too small.
func (t *Test) tooFew(expected float64) {
	t.Statistic, t.P, t.Null = 0, 1, "none"
	if t.N <= 0 {
		t.warn("the noisy counts sum to 0 or less, so the test does not reject")
		return
	}
	t.warn("the smallest expected count is %s, below %d, so the test does not reject", short(expected), fewExpected)
}

// drowned turns the result into one that does not reject, because noise dominates a row or a column.
func (t *Test) drowned() {
	t.Statistic, t.P, t.Null = 0, 1, "none"
	t.warn("noise dominates a row or a column, so the test does not reject")
}

// finish adds the warnings that every test needs. It replaces a statistic that is not finite, and clamps the
// p-value to [0, 1].
func (t *Test) finish() {
	if t.Method == Naive {
		t.warn("the naive test treats noise as data and rejects too often: its p-value is invalid")
	}
	if math.IsNaN(t.Statistic) || math.IsInf(t.Statistic, 0) {
		t.Statistic = math.MaxFloat64
	}
	t.P = min(1, max(0, t.P))
}
