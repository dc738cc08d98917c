package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/local/internal/coin"
	"dither/local/internal/lawtest"
)

// A device's reports over a history of values have, between two histories that change at the same moments, exactly the
// loss of the permanent responses to their states: the law of three reports is enumerated. With the two histories that
// the claim excludes, the loss is larger.
func TestLifetimeLoss(t *testing.T) {
	for _, c := range []struct {
		mechanism string
		k         uint64
		states    int64
		a, b      [2]uint64
	}{
		{"dbit", 3, 1, [2]uint64{0, 0}, [2]uint64{1, 1}},
		{"dbit", 3, 2, [2]uint64{0, 1}, [2]uint64{1, 0}},
		{"rappor", 2, 1, [2]uint64{0, 0}, [2]uint64{1, 1}},
		{"rappor", 2, 2, [2]uint64{0, 1}, [2]uint64{1, 0}},
	} {
		e := "1.2"
		o, err := New(Params{Mechanism: c.mechanism, Values: c.k, Epsilon: epsilon(t, e)})
		if err != nil {
			t.Fatal(err)
		}
		s := o.scheme.(memoised)
		history := func(values [2]uint64) map[string]*big.Rat {
			return lawtest.Law(func(ch coin.Chooser) string {
				d := &Device{o, s, s.begin(ch), map[uint64][]byte{}}
				return fmt.Sprintf("%x %x", d.report(ch, values[0]), d.report(ch, values[1]))
			})
		}
		a, b := history(c.a), history(c.b)
		worst := new(big.Rat)
		for out, p := range a {
			if b[out] == nil {
				t.Fatalf("%s: %v and %v do not have the same reports", c.mechanism, c.a, c.b)
			}
			if r := new(big.Rat).Quo(p, b[out]); r.Cmp(worst) > 0 {
				worst = r
			}
		}
		limit := new(big.Rat).SetInt64(1)
		for range c.states {
			limit.Mul(limit, s.permanentRatio())
		}
		if worst.Cmp(limit) > 0 {
			t.Errorf("%s: %v against %v: e^ε is %s, above the claimed %s", c.mechanism, c.a, c.b, worst.FloatString(9), limit.FloatString(9))
		}
		if c.mechanism == "dbit" && worst.Cmp(limit) != 0 {
			t.Errorf("%s: %v against %v: e^ε is %s, below %s, which memoised responses without noise attain", c.mechanism, c.a, c.b, worst.FloatString(9), limit.FloatString(9))
		}
	}
	// a change is not protected: with dbit, some reports of a person who changes never come from one who does not
	o := oracle(t, "dbit", 2, "1")
	s := o.scheme.(memoised)
	still := lawtest.Law(func(ch coin.Chooser) string {
		d := &Device{o, s, s.begin(ch), map[uint64][]byte{}}
		return fmt.Sprintf("%x %x", d.report(ch, 0), d.report(ch, 0))
	})
	moved := lawtest.Law(func(ch coin.Chooser) string {
		d := &Device{o, s, s.begin(ch), map[uint64][]byte{}}
		return fmt.Sprintf("%x %x", d.report(ch, 0), d.report(ch, 1))
	})
	if len(moved) <= len(still) {
		t.Error("the documentation says that a change is seen, but it is not")
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		p      Params
		states uint64
	}{
		{Params{Mechanism: "rappor", Values: 7}, 7},
		{Params{Mechanism: "loloha", Values: 1000}, 4},
		{Params{Mechanism: "dbit", Values: 100, Positions: 5}, 6},
		{Params{Mechanism: "dbit", Values: 4, Positions: 4}, 4},
		{Params{Mechanism: "dbit", Values: 100}, 2},
	} {
		c.p.Epsilon = epsilon(t, "2")
		o, err := New(c.p)
		if err != nil {
			t.Fatal(err)
		}
		states, lifetime, err := o.States()
		if err != nil || states != c.states || lifetime.Cmp(c.p.Epsilon.Times(int64(c.states))) != 0 {
			t.Errorf("%+v: %d states, ε = %s, %v", c.p, states, lifetime, err)
		}
	}
	if _, _, err := oracle(t, "krr", 3, "1").States(); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// A device keeps its responses and its public choices, also through storage, and its reports are valid.
func TestDevicesKeepTheirMemory(t *testing.T) {
	for _, p := range []Params{
		{Mechanism: "rappor", Values: 9}, {Mechanism: "loloha", Values: 50}, {Mechanism: "dbit", Values: 20, Positions: 3},
	} {
		p.Epsilon = epsilon(t, "3")
		o, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := o.NewDevice()
		if err != nil {
			t.Fatal(err)
		}
		tally := o.NewTally()
		var first []byte
		for i := range 20 {
			report, err := d.Report(uint64(i % 5))
			if err != nil {
				t.Fatal(err)
			}
			if err := tally.Add(report); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = report
			} else if p.Mechanism == "dbit" && i%5 == 0 && string(report) != string(first) {
				t.Error("a repeated report of dbit differs")
			} else if p.Mechanism == "loloha" && string(report[:15]) != string(first[:15]) {
				t.Error("a device changes its hash function")
			}
		}
		stored, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := o.OpenDevice(stored)
		if err != nil {
			t.Fatal(p.Mechanism, err)
		}
		if len(again.memos) != len(d.memos) || again.Spent().Cmp(d.Spent()) != 0 {
			t.Errorf("%s: the stored device has other responses", p.Mechanism)
		}
		for state, memo := range d.memos {
			if string(again.memos[state]) != string(memo) {
				t.Errorf("%s: the response to state %d is lost", p.Mechanism, state)
			}
		}
		if states, _, _ := o.States(); uint64(len(d.memos)) > states {
			t.Errorf("%s: %d responses for at most %d states", p.Mechanism, len(d.memos), states)
		}
		if _, err := d.Report(p.Values); !errors.Is(err, ErrValue) {
			t.Error(err)
		}
		for _, bad := range []string{
			"", "[]", `{"own":[1,2,3,4,5]}`, strings.Replace(string(stored), `"own":`, `"own":[2305843009213693951,1],"x":`, 1),
			strings.Replace(string(stored), `":"`, `":"////`, 1), `{"own":[0],"memos":{"99":"AA=="}}`,
		} {
			if _, err := o.OpenDevice([]byte(bad)); !errors.Is(err, ErrDevice) && bad != string(stored) {
				t.Errorf("%s: %s is accepted: %v", p.Mechanism, bad, err)
			}
		}
	}
	if _, err := oracle(t, "krr", 3, "1").NewDevice(); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for _, p := range []Params{
		{Mechanism: "krr", Values: 5, Positions: 1},
		{Mechanism: "krr", Values: 5, First: epsilon(t, "1")},
		{Mechanism: "dbit", Values: 5, Positions: 6},
		{Mechanism: "loloha", Values: 5, First: epsilon(t, "3")},
	} {
		p.Epsilon = epsilon(t, "3")
		if _, err := New(p); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// A device that is opened with other parameters is refused: its responses have the ε of the oracle that made them. A
// memory without parameters is accepted.
func TestDevicesBelongToAnOracle(t *testing.T) {
	e := epsilon(t, "3")
	all := []Params{
		{Mechanism: "rappor", Values: 9, Epsilon: e},
		{Mechanism: "rappor", Values: 9, Epsilon: epsilon(t, "0.1")},
		{Mechanism: "rappor", Values: 10, Epsilon: e},
		{Mechanism: "loloha", Values: 9, Epsilon: e},
		{Mechanism: "loloha", Values: 10, Epsilon: e},
		{Mechanism: "loloha", Values: 9, Epsilon: e, First: epsilon(t, "1.4")},
		{Mechanism: "dbit", Values: 9, Epsilon: e},
		{Mechanism: "dbit", Values: 9, Epsilon: e, Positions: 2},
		{Mechanism: "dbit", Values: 9, Epsilon: epsilon(t, "2")},
	}
	var oracles []*Oracle
	for _, p := range all {
		o, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		oracles = append(oracles, o)
	}
	for i, o := range oracles {
		d, err := o.NewDevice()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Report(4); err != nil {
			t.Fatal(err)
		}
		stored, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for j, other := range oracles {
			if _, err := other.OpenDevice(stored); (err == nil) != (i == j) || err != nil && !errors.Is(err, ErrDevice) {
				t.Errorf("a device of %+v opened with %+v: %v", all[i], all[j], err)
			}
		}
		before, err := json.Marshal(deviceJSON{nil, d.own, d.memos})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.OpenDevice(before); err != nil {
			t.Error(err)
		}
	}
	defaults := oracles[3]
	named, err := New(Params{Mechanism: "loloha", Values: 9, Epsilon: e, First: epsilon(t, "1.5")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := defaults.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := named.OpenDevice(stored); err != nil {
		t.Errorf("the default parameter by name: %v", err)
	}
}

// FuzzDevice: any bytes are a stored device, whose reports are valid, or ErrDevice.
func FuzzDevice(f *testing.F) {
	names := []string{"rappor", "loloha", "dbit"}
	for i, name := range names {
		d, err := oracle(f, name, 12, "2").NewDevice()
		if err != nil {
			f.Fatal(err)
		}
		if _, err := d.Report(3); err != nil {
			f.Fatal(err)
		}
		stored, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), stored)
	}
	f.Fuzz(func(t *testing.T, which uint8, stored []byte) {
		o := oracle(t, names[int(which)%len(names)], 12, "2")
		d, err := o.OpenDevice(stored)
		if err != nil {
			if !errors.Is(err, ErrDevice) {
				t.Fatal(err)
			}
			return
		}
		for v := range uint64(12) {
			report, err := d.Report(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.NewTally().Add(report); err != nil {
				t.Fatal(err)
			}
		}
	})
}
