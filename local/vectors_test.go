package local

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"dither/local/internal/coin"
	"dither/local/internal/lawtest"
	"dither/privacy"
)

// vector is a case of clients/testdata/oracles.json: the reports about some values, with injected random words. All
// integers beyond 2⁵³ are texts. With Device, one device makes all reports.
type vector struct {
	Mechanism string          `json:"mechanism"`
	Values    uint64          `json:"values,string"`
	Epsilon   privacy.Epsilon `json:"epsilon"`
	Seed      uint64          `json:"seed,string,omitempty"`
	First     privacy.Epsilon `json:"first,omitzero"`
	Positions uint64          `json:"positions,omitempty"`
	lawtest.Words
	Of     []string `json:"of"` // the values
	Hex    []string `json:"reports"`
	Device string   `json:"device,omitempty"` // its memory after the reports, as JSON in a text
	Bits   int      `json:"bits"`
	States uint64   `json:"states,omitempty"`
	P      string   `json:"p,omitempty"` // the probabilities of Oracle.Support, in some of the cases
	Q      string   `json:"q,omitempty"`
}

// Reports made from given random words do not change: clients in other languages must make the same.
func TestVectors(t *testing.T) {
	var all []vector
	add := func(p Params, e, first string, device bool, values ...uint64) {
		if err := p.Epsilon.UnmarshalText([]byte(e)); err != nil {
			t.Fatal(err)
		}
		if first != "" {
			p.First = epsilon(t, first)
		}
		o, err := New(p)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		v := vector{
			Mechanism: p.Mechanism, Values: p.Values, Epsilon: p.Epsilon, Seed: p.Seed, First: p.First,
			Positions: p.Positions, Bits: o.Bits(),
		}
		if p.Values == 300 || p.Mechanism == "coin" {
			v.P, v.Q = o.p.RatString(), o.q.RatString()
		}
		for _, x := range values {
			v.Of = append(v.Of, fmt.Sprint(x))
		}
		reports := func(c coin.Chooser) {
			v.Hex = nil
			if device {
				s := o.scheme.(memoised)
				d := &Device{o, s, s.begin(c), map[uint64][]byte{}}
				for _, x := range values {
					v.Hex = append(v.Hex, hex.EncodeToString(d.report(c, x)))
				}
				v.States = s.states()
				stored, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				v.Device = string(stored)
				return
			}
			for _, x := range values {
				report := make([]byte, o.bytes())
				o.scheme.randomize(c, x, report)
				v.Hex = append(v.Hex, hex.EncodeToString(report))
			}
		}
		v.Words = lawtest.Streamed(fmt.Sprintf("vector %d", len(all)), reports)
		all = append(all, v)
		if p.Values <= 40 && p.Mechanism != "cms" {
			v.Words = lawtest.Close(uint64(len(all)), reports)
			all = append(all, v)
		}
	}
	for _, name := range Mechanisms() {
		device := name == "rappor" || name == "loloha" || name == "dbit"
		for _, e := range []string{"0.000001", "0.1", "0.5", "1/3", "1", "2.5", "5.6789", "12", "40"} {
			if e != "1" && name == "coin" || e == "0.000001" && name == "loloha" { // whose ε of one report is half of it
				continue
			}
			add(Params{Mechanism: name, Values: 2}, e, "", false, 0, 1, 1)
			if name == "coin" {
				continue
			}
			add(Params{Mechanism: name, Values: 11, Seed: 1<<64 - 1}, e, "", false, 0, 5, 10, 10)
			add(Params{Mechanism: name, Values: 300, Seed: 7}, e, "", device, 299, 7, 7, 256, 299)
		}
		if name == "flh" || name == "hcms" || name == "hr" || name == "krr" {
			add(Params{Mechanism: name, Values: MaxValues}, "1.25", "", false, 0, 1<<23+12345, MaxValues-1)
		}
	}
	for _, name := range []string{"olh", "loloha"} {
		add(Params{Mechanism: name, Values: MaxHashedValues}, "2", "", name == "loloha",
			0, 1<<53+1, 1<<53+1, MaxHashedValues-1, 123_456_789_012_345_678)
	}
	add(Params{Mechanism: "loloha", Values: 12}, "3", "0.25", true, 0, 5, 0, 11)
	add(Params{Mechanism: "rappor", Values: 9}, "3", "", true, 0, 5, 0, 8)
	for _, d := range []uint64{2, 7, 20} {
		add(Params{Mechanism: "dbit", Values: 20, Positions: d}, "1.5", "", true, 0, 5, 5, 19)
	}
	lawtest.Golden(t, "../clients/testdata/oracles.json", all)
}
