package channel_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/audit/channel"
	"dither/internal/expsum"
)

// long stands for a number that takes long.
const long = "((1+exp(1/1009))^40*(1+exp(1))^40)^2"

// Entries, and an e^ε, whose digits cancel: what is told is right, or nothing is told. By hand, δ(1) = .9 − .1·e
// and δ = 1/10 needs e^ε = 8: rows r1 and r2.
func TestIllConditioned(t *testing.T) {
	for text, answered := range map[string]bool{
		"0.5*(1e77*(exp(1e-77)-1))^24": false, long: false,
		"0.5*(1e20*(exp(1e-20)-1))^24": true, "0.5*(1e7*(exp(1e-7)-1))^24": true, "0.5e77*(exp(1e-77)-1)": true,
	} {
		m, err := channel.Read(strings.NewReader("input,a,b\nr0,"+text+",1-"+text+"\nr1,.9,.1\nr2,.1,.9\n"),
			channel.Options{})
		if err != nil {
			if answered || !errors.Is(err, channel.ErrMatrix) || !errors.Is(err, expsum.ErrSize) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		for at, want := range map[string]float64{"1": .9 - .1*math.E, "ln(2e77*(exp(1e-77)-1))": .7} {
			x, err := m.Delta(channel.AllPairs(), exponent(t, at))
			if err != nil || x.Lower > want+1e-15 || x.Upper < want-1e-15 || x.Upper-x.Lower > 1e-12 ||
				x.Input != "r1" && x.Input != "r2" {
				t.Errorf("%s: δ(%s) is %+v, %v", text, at, x, err)
			}
		}
		r, err := m.Least(channel.AllPairs(), big.NewRat(1, 10))
		if err != nil || r.Exact != "ln 8" {
			t.Errorf("%s: ε at 1/10 is %+v, %v", text, r, err)
		}
	}
	if e, err := channel.ParseExponent("ln(1 + " + long + ")"); !errors.Is(err, channel.ErrExponent) {
		t.Errorf("%v, %v", e, err)
	}
}

// A prior whose digits cancel is one like any other, and outputs that hardly come are told of as well as others.
func TestLeakageFar(t *testing.T) {
	m := read(t, "3/4,1/4\n1/4,3/4\n")
	p := "0.5e77*(exp(1e-77)-1)"
	if l, err := m.Leakage([]string{p, "1-" + p}); err != nil || math.Abs(l.Before.Upper-.5) > 1e-15 ||
		l.Surest.After.Upper < .75 || l.Surest.After.Upper > .7500001 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := m.Leakage([]string{long, "1"}); !errors.Is(err, expsum.ErrSize) {
		t.Errorf("a prior that takes too long: %v", err)
	}
	m = read(t, "input,a,b\nx,exp(-800),1-exp(-800)\ny,2*exp(-800),1-2*exp(-800)\n")
	l, err := m.Leakage(nil)
	if s := l.Surest; err != nil || s.Output != "a" || s.Input != "y" || s.After.Lower > 2./3 || s.After.Upper < 2./3 ||
		s.After.Upper-s.After.Lower > 1e-15 {
		t.Errorf("%+v, %v", l.Surest, err)
	}
	m = read(t, "input,a,b,c\nx,exp(-800),1/2,1/2-exp(-800)\ny,0,1/2,1/2\nz,0,1/2,1/2\n")
	if l, err = m.Leakage(nil); err != nil || l.Surest.Output != "a" || l.Surest.After.Lower != 1 {
		t.Errorf("%+v, %v", l.Surest, err)
	}
	m = read(t, "0,1/2,1/2\n0,1/4,3/4\n0,3/4,1/4\n") // an output that never comes; a tie, of which the first is named
	if l, err = m.Leakage(nil); err != nil || l.Surest.Column != 1 || l.Surest.Row != 2 ||
		l.Surest.After.Upper > .5000001 {
		t.Errorf("%+v, %v", l.Surest, err)
	}
}

// Files that would take hours, or more memory than there is, are refused.
func TestHostileFiles(t *testing.T) {
	if os.Getenv("DITHER_LONG") != "" {
		var powers strings.Builder
		for k := range 2000 { // each is within what one text may take
			fmt.Fprintf(&powers, "((1+exp(1/%d))^16)^16,1\n", k+2)
		}
		if _, err := channel.Read(strings.NewReader(powers.String()), channel.Options{Normalize: true}); !errors.Is(err,
			expsum.ErrSize) {
			t.Errorf("powers: %v", err)
		}
	}
	ones := read(t, strings.Repeat("1\n", 1<<14))
	if l := epsilon(t, ones, channel.AllPairs()); l.Exact != "0" {
		t.Errorf("%+v", l)
	}
	if _, err := ones.Delta(channel.AllPairs(), exponent(t, "1")); !errors.Is(err, channel.ErrWork) {
		t.Errorf("2²⁸ pairs: %v", err)
	}
	if _, err := ones.Least(channel.AllPairs(), big.NewRat(1, 2)); !errors.Is(err, channel.ErrWork) {
		t.Errorf("2²⁸ pairs: %v", err)
	}
}

// Events beyond the floats: e^ε is larger than any, and the entries are smaller.
func TestDeltaFar(t *testing.T) {
	m := read(t, "input,a,b\nx,exp(-9000),1-exp(-9000)\ny,1/2,1/2\nz,1/3,2/3\n")
	for at, want := range map[string]string{"8000": "-exp(-1000) + 0.5", "9000 - ln 2": "0", "10000": "0"} {
		if x, err := m.Delta(channel.AllPairs(), exponent(t, at)); err != nil || x.Exact != want {
			t.Errorf("δ(%s) = %+v, %v", at, x, err)
		}
	}
	if x, err := m.Limit(channel.AllPairs()); err != nil || x.Upper != 0 {
		t.Errorf("%+v, %v", x, err)
	}
}
