package local

import (
	"errors"
	"testing"

	"dither/internal/splitmix"
)

// The three frequent values of 2⁴⁰ are found, in order, with intervals about their shares. Their shares are at least
// nine standard deviations of an estimate above 0 and above each other's, so that missing one is a false alarm with
// probability below 1e-6.
func TestHeavyHittersAreFound(t *testing.T) {
	h, err := NewHeavy(HeavyParams{Epsilon: epsilon(t, "4"), Bits: 40})
	if err != nil {
		t.Fatal(err)
	}
	if h.Groups() != 9 {
		t.Errorf("%d groups", h.Groups())
	}
	people, tally := splitmix.At(5), h.NewTally()
	heavy := []uint64{0xfedcba9876, 0x0000000001, 0xfedcba9870} // two share a prefix of nine digits
	shares := []float64{.5, .3, .12}
	for i := range 36_000 {
		v := people.Word() >> 24
		switch place := float64(i%100) / 100; {
		case place < .5:
			v = heavy[0]
		case place < .8:
			v = heavy[1]
		case place < .92:
			v = heavy[2]
		}
		report, err := h.Randomize(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := tally.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	found, err := tally.Find(8, .999999)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range heavy {
		if f := found[i]; f.Value != v || f.Low > shares[i] || f.High < shares[i] || f.Low <= 0 {
			t.Errorf("place %d: %+v, want %x with %v", i, f, v, shares[i])
		}
	}
	if len(found) != 8 || found[3].Frequency > .08 {
		t.Errorf("%+v", found)
	}
}

func TestBadSearches(t *testing.T) {
	one := epsilon(t, "1")
	for _, p := range []HeavyParams{
		{one, 1, 0, 0}, {one, 61, 0, 0}, {one, 30, 31, 0}, {one, 30, 21, 0}, {one, 30, 8, 17}, {one, 30, -1, 4}, {one, 30, 8, -1}, {epsilon(t, "50"), 30, 0, 0},
	} {
		if _, err := NewHeavy(p); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	h, err := NewHeavy(HeavyParams{Epsilon: one, Bits: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Randomize(1 << 10); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	tally := h.NewTally()
	for _, r := range []PrefixReport{{-1, nil}, {2, nil}, {0, nil}, {1, make([]byte, 3)}} {
		if err := tally.Add(r); !errors.Is(err, ErrReport) {
			t.Error(r, err)
		}
	}
	for _, keep := range []int{0, MostFound + 1, 5} { // the last because there are no reports
		if _, err := tally.Find(keep, .9); !errors.Is(err, ErrParameter) {
			t.Error(keep, err)
		}
	}
}

// A search whose prefixes have too many extensions is refused before they are listed: 4,096 prefixes and 16 bits would
// take 25 GB, whatever the number of reports.
func TestHeavyCandidatesAreLimited(t *testing.T) {
	h, err := NewHeavy(HeavyParams{Epsilon: epsilon(t, "1"), Bits: 28, Start: 12, Step: 16})
	if err != nil {
		t.Fatal(err)
	}
	tally := h.NewTally()
	for range 64 {
		r, err := h.Randomize(5)
		if err != nil {
			t.Fatal(err)
		}
		if err := tally.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tally.Find(MostFound, .9); !errors.Is(err, ErrWork) {
		t.Error(err)
	}
	if found, err := tally.Find(2, .9); err != nil || len(found) != 2 {
		t.Error(found, err)
	}
}
