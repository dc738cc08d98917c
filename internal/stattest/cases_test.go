package stattest_test

import (
	"testing"

	"dither/internal/stattest"
)

// TestUntilStops counts the rounds of a condition that becomes true in the third, and of one that never does.
func TestUntilStops(t *testing.T) {
	rounds := 0
	for range stattest.Until(t, 10, func() bool { return rounds >= 3 }) {
		rounds++
	}
	if rounds != 3 {
		t.Errorf("%d rounds, want 3", rounds)
	}
	rounds = 0
	for range stattest.Until(t, 10, func() bool { return false }) {
		rounds++
	}
	if rounds != 10 {
		t.Errorf("%d rounds, want 10", rounds)
	}
	rounds = 0
	for range stattest.Until(t, 10, func() bool { return true }) {
		rounds++
	}
	if rounds != 1 {
		t.Errorf("%d rounds of a condition that holds at first, want 1", rounds)
	}
}
