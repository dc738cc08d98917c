package splitmix

import "testing"

// The published first words from the state 1234567.
func TestWords(t *testing.T) {
	s := At(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Word(); got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
}

// A number below n is the word's share of the range: every one is reached, and none beyond.
func TestBelow(t *testing.T) {
	s := At(1)
	var seen [7]int
	for range 7000 {
		seen[s.Below(7)]++
	}
	for i, n := range seen { // seven standard deviations of a binomial
		if n < 800 || n > 1200 {
			t.Errorf("%d came %d times of 7000", i, n)
		}
	}
	if s.Below(1) != 0 {
		t.Error("nothing but 0 is below 1")
	}
}
