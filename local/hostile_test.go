package local

import (
	"errors"
	"testing"

	"dither/privacy"
)

func TestBadParameters(t *testing.T) {
	one := epsilon(t, "1")
	for _, p := range []Params{
		{},
		{Mechanism: "krr", Values: 1, Epsilon: one},
		{Mechanism: "krr", Values: 5},
		{Mechanism: "krr", Values: MaxValues + 1, Epsilon: one},
		{Mechanism: "oue", Values: 1 << 63, Epsilon: one},
		{Mechanism: "olh", Values: MaxHashedValues + 1, Epsilon: one},
		{Mechanism: "coin", Values: 3, Epsilon: one},
		{Mechanism: "KRR", Values: 5, Epsilon: one},
		{Mechanism: "sue", Values: 5, Epsilon: epsilon(t, "41")},
		{Mechanism: "sue", Values: 5, Epsilon: epsilon(t, "1e-7")},
		{Mechanism: "sue", Values: 5, Epsilon: privacy.Epsilon{}},
	} {
		if _, err := New(p); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	o := oracle(t, "krr", 5, "1")
	if _, err := o.Randomize(5); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	tally := o.NewTally()
	for _, c := range []float64{0, 1, -1, 2} {
		if _, err := tally.Estimate(c); !errors.Is(err, ErrParameter) {
			t.Error(c, err)
		}
	}
	if _, err := tally.Estimate(.9, 5); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	if got, err := tally.Estimate(.9); err != nil || len(got) != 5 || got[0].Count != 0 {
		t.Error(got, err)
	}
	if err := tally.Merge(oracle(t, "krr", 6, "1").NewTally()); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	wide := oracle(t, "olh", MaxHashedValues, "1")
	if _, err := wide.NewTally().Estimate(.9); !errors.Is(err, ErrWork) {
		t.Error(err)
	}
}

// A tally refuses reports that no randomizer sends, and keeps nothing of them.
func TestBadReports(t *testing.T) {
	for name, reports := range map[string][][]byte{
		"krr":    {nil, {}, {0, 0}, {0x01}, {0xa0}, {0xff}},                      // 5 values: 3 bits
		"sue":    {{0x01}, {0, 0}, {}},                                           // 5 bits
		"ss":     {{0xff}, {0x00}, {0xc0}, {0x84}},                               // exactly one member
		"olh":    {make([]byte, 15), make([]byte, 17)},                           // 124 bits
		"hr":     {{0, 0}, {0x00, 0x01}, {0, 0, 0}},                              // 2·3 + 2 bits
		"hcms":   {{0, 0}, {0, 0, 0x01}, {0, 0, 0, 0}},                           // 21 bits
		"flh":    {{0, 0x0f}, {0}, {0, 0, 0}},                                    // 12 bits
		"loloha": {make([]byte, 15), make([]byte, 17), lastBit(16)},              // 123 bits
		"dbit":   {{0x01}, {0xf0}, {0xa0}, {}, {0, 0}},                           // 3 + 1 bits
		"cms":    {make([]byte, 129), make([]byte, 131), lastBit(130)},           // 1,034 bits
		"rappor": {{0x01}, {0, 0}, {}},                                           // 5 bits
		"oue":    {{0x01}, {0x02}, {0x04}, {0, 0}},                               // 5 bits
		"coin":   {{0x40}, {0x01}, {}, {0x80, 0x00}, []byte("a longer report…")}, // 1 bit
	} {
		k := uint64(5)
		if name == "coin" {
			k = 2
		}
		o := oracle(t, name, k, "1")
		tally := o.NewTally()
		for _, r := range reports {
			if err := tally.Add(r); !errors.Is(err, ErrReport) {
				t.Errorf("%s accepts % x: %v", name, r, err)
			}
		}
		if name == "olh" {
			r := make([]byte, 16)
			put(r, 0, 61, prime)
			if err := tally.Add(r); !errors.Is(err, ErrReport) {
				t.Error("a coefficient outside the field is accepted")
			}
		}
		all := make([]uint64, k)
		for i := range all {
			all[i] = uint64(i)
		}
		for i, s := range tally.tally.support(all) {
			if tally.Reports() != 0 || s != 0 {
				t.Errorf("%s keeps refused reports: %d support %d", name, s, i)
			}
		}
	}
}

func lastBit(n int) []byte { b := make([]byte, n); b[n-1] = 1; return b }

// FuzzTally: any bytes are a valid report or ErrReport, and a valid one supports each value at most once.
func FuzzTally(f *testing.F) {
	for i := range Mechanisms() {
		f.Add(uint8(i), uint16(9), []byte{0x80, 1, 2, 3})
		f.Add(uint8(i), uint16(2), []byte{0})
	}
	one, err := privacy.ParseEpsilon("1.5")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, k uint16, report []byte) {
		names := Mechanisms()
		p := Params{Mechanism: names[int(which)%len(names)], Values: uint64(k%300) + 2, Epsilon: one}
		if p.Mechanism == "coin" {
			p.Values = 2
		}
		o, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		fit := make([]byte, o.bytes()) // most bytes have the wrong length, so try the right one too
		copy(fit, report)
		for _, r := range [][]byte{report, fit} {
			tally := o.NewTally()
			if err := tally.Add(r); err != nil {
				if !errors.Is(err, ErrReport) {
					t.Fatal(err)
				}
				continue
			}
			for _, s := range tally.tally.support([]uint64{0, 1, p.Values - 1}) {
				if s != 0 && s != 1 {
					t.Fatalf("%s: support %d", p.Mechanism, s)
				}
			}
			if _, err := tally.Estimate(.95); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Merged tallies have at most MostReports, so that no count overflows.
func TestMergedTalliesAreLimited(t *testing.T) {
	o := oracle(t, "krr", 3, "1")
	tally := o.NewTally()
	report, err := o.Randomize(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := tally.Add(report); err != nil {
		t.Fatal(err)
	}
	for tally.Reports() < MostReports {
		if err := tally.Merge(tally); err != nil {
			t.Fatal(err)
		}
	}
	if err := tally.Merge(tally); !errors.Is(err, ErrWork) || tally.Reports() != MostReports {
		t.Errorf("%d reports, %v", tally.Reports(), err)
	}
}
