package channel_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/audit/channel"
	"dither/examples/heights"
)

func read(t testing.TB, text string) *channel.Matrix {
	t.Helper()
	m, err := channel.Read(strings.NewReader(text), channel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func epsilon(t testing.TB, m *channel.Matrix, a channel.Adjacency) channel.Loss {
	t.Helper()
	l, err := m.Epsilon(a)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func exponent(t testing.TB, text string) channel.Exponent {
	t.Helper()
	e, err := channel.ParseExponent(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The mechanisms of the lecture, and what is known of them.
func TestHeights(t *testing.T) {
	start := time.Now()
	for name, want := range map[string]string{"truth": "", "constant": "0", "threshold": "", "blurred": "1"} {
		text, err := heights.CSV(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := channel.Read(bytes.NewReader(text), channel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := epsilon(t, m, channel.AllPairs())
		if l.Exact != want || l.Private() != (want != "") {
			t.Errorf("%s: ε = %q in [%v, %v], want %q", name, l.Exact, l.Lower, l.Upper, want)
		}
		limit, err := m.Limit(channel.AllPairs())
		if left := map[bool]string{true: "0", false: "1"}[l.Private()]; err != nil || limit.Exact != left {
			t.Errorf("%s: δ stays %s, %v; want %s", name, limit.Exact, err, left)
		}
	}
	t.Logf("%v", time.Since(start))
}

// Mechanisms whose ε is known in closed form.
func TestKnown(t *testing.T) {
	line := []string{"0", "1", "2", "3", "4", "5"}
	var geometric [][]string // truncated, α = 1/2
	for i := range line {
		row := make([]string, len(line))
		for j := range line {
			d := max(i-j, j-i)
			row[j] = "1/3*(1/2)^" + line[d]
			if j == 0 || j == len(line)-1 {
				row[j] = "2/3*(1/2)^" + line[d]
			}
		}
		geometric = append(geometric, row)
	}
	steps := channel.Pairs([][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {5, 4}, {1, 0}, {2, 2}})
	response := [][]string{{"exp(1)/(3+exp(1))", "1/(3+exp(1))", "1/(3+exp(1))", "1/(3+exp(1))"}}
	for i := 1; i < 4; i++ {
		row := []string{response[0][1], response[0][1], response[0][1], response[0][1]}
		row[i] = response[0][0]
		response = append(response, row)
	}
	for name, c := range map[string]struct {
		entries [][]string
		a       channel.Adjacency
		exact   string
	}{
		"truncated geometric, neighbours":    {geometric, steps, "ln 2"},
		"truncated geometric, all pairs":     {geometric, channel.AllPairs(), "ln 32"},
		"two coins":                          {[][]string{{".75", ".25"}, {"1/4", "3/4"}}, channel.AllPairs(), "ln 3"},
		"one of four":                        {response, channel.AllPairs(), "1"},
		"a sample of rows, one in ten: none": {[][]string{{"1", "0"}, {".9", ".1"}}, channel.AllPairs(), ""},
		"one input":                          {[][]string{{".5", ".5"}}, channel.AllPairs(), "0"},
		"no pairs":                           {[][]string{{"1", "0"}, {"0", "1"}}, channel.Pairs(nil), "0"},
		"equal rows":                         {[][]string{{".5", ".5"}, {"1/2", "exp(0)/2"}}, channel.AllPairs(), "0"},
		"an output that never comes": {
			[][]string{{".5", "0", ".5"}, {".25", "0", ".75"}},
			channel.AllPairs(), "ln 2",
		},
		"a ratio that is no single power": {
			[][]string{{"1/(1+exp(1))", "exp(1)/(1+exp(1))"}, {".5", ".5"}},
			channel.AllPairs(), "ln(0.5 + 0.5*exp(1))",
		},
		"probabilities far below a float": {[][]string{
			{"exp(-2000)", "1-exp(-2000)"},
			{"exp(-2001)", "1-exp(-2001)"},
		}, channel.AllPairs(), "1"},
		"a difference far below a float": {
			[][]string{{"1/2+1e-40", "1/2-1e-40"}, {".5", ".5"}},
			channel.AllPairs(), "",
		},
		"impossible, beside nearly so: none": {
			[][]string{{"exp(-2000)", "1-exp(-2000)"}, {"0", "1"}},
			channel.AllPairs(), "",
		},
	} {
		m, err := channel.New(nil, nil, c.entries)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l := epsilon(t, m, c.a)
		if l.Exact != c.exact {
			t.Errorf("%s: ε = %q in [%v, %v], want %q", name, l.Exact, l.Lower, l.Upper, c.exact)
		}
		if none := strings.HasSuffix(name, ": none"); l.Private() == none {
			t.Errorf("%s: private: %v", name, l.Private())
		}
	}
	m, err := channel.New(nil, nil, response)
	if err != nil {
		t.Fatal(err)
	}
	if w := epsilon(t, m, channel.AllPairs()).Witness; w.PValue < .475366 || w.PValue > .475368 ||
		w.P != "exp(1)/(3 + exp(1))" {
		t.Errorf("one of four tells the truth with %v = %v", w.P, w.PValue)
	}
}

// δ of two coins, by hand: 3/4 − e^ε/4 up to ln 3, and the ε at a δ the other way round.
func TestDeltaByHand(t *testing.T) {
	m := read(t, "input,yes,no\nyes,3/4,1/4\nno,1/4,3/4\n")
	for at, want := range map[string]string{
		"0": "0.5", "1": "0.75 - 0.25*exp(1)", "1/2": "0.75 - 0.25*exp(0.5)", "ln 2": "0.25", "ln(5/2)": "0.125",
		"ln 3": "0", "2": "0", "5000": "0", "1 + ln(1/2)": "0.75 - 0.125*exp(1)",
	} {
		x, err := m.Delta(channel.AllPairs(), exponent(t, at))
		if err != nil || x.Exact != want {
			t.Errorf("δ(%s) = %s, %v; want %s", at, x.Exact, err, want)
		}
	}
	for delta, want := range map[string]string{"0": "ln 3", "1/8": "ln(5/2)", "1/4": "ln 2", "1/2": "0", "1": "0"} {
		d, _ := new(big.Rat).SetString(delta)
		r, err := m.Least(channel.AllPairs(), d)
		if err != nil || r.Exact != want {
			t.Errorf("ε at δ = %s is %s, %v; want %s", delta, r.Exact, err, want)
		}
	}
	// A sample of one row in ten: no ε at a δ below 1/10, and at 1/10 none is needed.
	m = read(t, "out,1.0,0\nin,.9,.1\n")
	for delta, want := range map[string]bool{"0": false, "99/1000": false, "1/10": true} {
		d, _ := new(big.Rat).SetString(delta)
		r, err := m.Least(channel.AllPairs(), d)
		if err != nil || r.Private() != want {
			t.Errorf("at δ = %s: %+v, %v; want %v", delta, r, err, want)
		}
	}
	if _, err := m.Least(channel.AllPairs(), big.NewRat(-1, 2)); !errors.Is(err, channel.ErrDelta) {
		t.Errorf("a negative δ: %v", err)
	}
}

// The exponential mechanism with the score −|x − y|/40 and as many candidates as inputs. Its theorem allows twice
// the score's range; its ends have the same normaliser, so between them it loses the range, exactly.
func TestExponentialMechanism(t *testing.T) {
	var b strings.Builder
	for i := range 21 {
		for j := range 21 {
			fmt.Fprintf(&b, "exp(-%d/40)", max(i-j, j-i))
			if j < 20 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('\n')
	}
	m, err := channel.Read(strings.NewReader(b.String()), channel.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	l := epsilon(t, m, channel.AllPairs())
	if l.Exact != "0.5" || l.Lower != 0.5 || l.Upper != 0.5 {
		t.Errorf("%+v", l)
	}
	r, err := m.Least(channel.AllPairs(), big.NewRat(1, 100))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Exponent()
	if x, err := m.Delta(channel.AllPairs(), e); err != nil || x.Exact != "0.01" {
		t.Errorf("at the least ε for 1/100 δ is %+v, %v", x, err)
	}
	k, err := m.Leakage(nil)
	if err != nil || k.Capacity.Upper > l.Ratio.Upper || k.Capacity.Upper-k.Capacity.Lower > 1e-14 {
		t.Errorf("%+v, %v", k, err)
	}
}
