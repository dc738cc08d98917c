package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What an event says is what it is, of scores that are 1 or 0.
func TestEitherWay(t *testing.T) {
	f := feature{"x", ofWhole, whole}
	for _, c := range []struct {
		s       score
		atLeast bool
		t       float64
		want    string
		in, out string
	}{
		{lowBits{f, true, -3, true, 2}, true, 1, "x is a number below 4 in magnitude but no multiple of 1/8", "0.0625", "0.125"},
		{lowBits{f, true, -3, true, 2}, false, 0, "x is a number, but not a number below 4 in magnitude but no multiple of 1/8", "0.125", "0.0625"},
		{lowBits{f, false, 1, false, 3}, true, 0.5, "x is a multiple of 2 of magnitude 8 or more", "-10", "6"},
		{lowBits{f, true, 0, false, 3}, true, 1, "x is a number of magnitude 8 or more but no multiple of 1", "8.5", "7.5"},
		{lowBits{f, false, 1, true, mostSize}, true, 1, "x is a multiple of 2", "0", "1"},
		{lowBits{f, false, 3, true, leastSize}, true, 1, "x is 0", "-0", "1e-300"},
		{lowBits{f, false, mostSize, true, mostSize}, true, 1, "x is 0", "0", "1e300"},
		{lowBits{f, true, mostSize, true, mostSize}, true, 1, "x is a number but not 0", "1e300", "0"},
		{lowBits{f, true, 3, false, leastSize}, true, 1, "x is a number but no multiple of 8", "7", "0"},
		{lowBits{f, false, 3, false, leastSize}, true, 1, "x is a multiple of 8 other than 0", "8", "0"},
		{residue{f, 7, 3, 0}, true, 1, "x is 3 more than a multiple of 7", "-4", "4"},
		{residue{f, 7, 0, 0}, true, 1, "x is a multiple of 7", "7e200", "1e20"},
		{residue{f, 5, 0, 1}, false, 0, "x is a number, but not a multiple of 0.5", "0.4", "1.5"},
		{residue{f, 5, 0, 1}, false, 0, "x is a number, but not a multiple of 0.5", "0.4", "word"},
		{residue{f, 5, 0, 1}, true, 0, "x is a number", "0.4", "no"},
		{places{f}, true, 2, "x is a number but no multiple of 0.1", "0.01", "0.1"},
		{places{f}, true, -300, "x is a number but no multiple of 10^301", "7", "0"},
		{places{f}, true, -800.5, "x is a number other than 0", "1e308", "0"},
		{places{f}, false, -2, "x is a multiple of 100", "300", "310"},
		{places{f}, false, -2, "x is a multiple of 100", "0", "word"},
		{places{f}, false, -1000, "x is 0", "0e5", "1e308"},
		{places{f}, false, 1, "x is a multiple of 0.1", "3e-1", "1e-2"},
		{places{f}, false, 2, "x is a multiple of 0.01", "0x1p-2", "0x1p-3"},
		{height{f}, false, -0.5, "x is ≤ −0.5", "-0.5", "NaN"},
	} {
		e := event{score: c.s, atLeast: c.atLeast, threshold: c.t}
		in, out := parse([]byte(c.in)), parse([]byte(c.out))
		if got, isAll := e.clause(); got != c.want || !isAll || !e.has(&in) || e.has(&out) {
			t.Errorf("%q: %s is %v, %s is %v", got, c.in, e.has(&in), c.out, e.has(&out))
		}
	}
}

// reads says whether an output is in an event, going by nothing but the clause that a person reads.
func reads(t *rapid.T, clause, text string) bool {
	rest, ok := strings.CutPrefix(clause, "x ")
	if !ok {
		t.Fatalf("the clause is %q", clause)
	}
	x, err := strconv.ParseFloat(text, 64)
	is := err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	decimal := func(s string) float64 {
		y, err := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
		if err != nil || strings.HasPrefix(s, "−0") && y == 0 {
			t.Fatalf("%q in %q", s, clause)
		}
		return y
	}
	listed := func(s string) bool {
		for _, item := range strings.Split(s, ", ") {
			if item == strconv.Quote(text) || item == "empty" && text == "" {
				return true
			}
		}
		return false
	}
	for _, piece := range strings.Split(rest, " or ") {
		in := false
		if s, ok := strings.CutPrefix(piece, "is no number and "); ok {
			s, several := strings.CutPrefix(s, "none of ")
			if !several {
				s, _ = strings.CutPrefix(s, "not ")
			}
			in = !is && !listed(s)
		} else if s, ok := strings.CutPrefix(piece, "is one of "); ok {
			in = listed(s)
		} else if s, ok := strings.CutPrefix(piece, "is none of "); ok {
			in = !listed(s)
		} else if s, ok := strings.CutPrefix(piece, "is not "); ok {
			in = !listed(s)
		} else if s, ok := strings.CutPrefix(piece, "is < "); ok {
			in = is && x < decimal(s)
		} else if s, ok := strings.CutPrefix(piece, "is ≥ "); ok {
			in = is && x >= decimal(s)
		} else if s, ok := strings.CutPrefix(piece, "is in ["); ok {
			low, high, _ := strings.Cut(strings.TrimSuffix(s, ")"), ", ")
			in = is && x >= decimal(low) && x < decimal(high)
		} else {
			switch piece {
			case "is anything":
				in = true
			case "is no number":
				in = !is
			case "is a number":
				in = is
			case "is nothing at all":
			default:
				in = listed(strings.TrimPrefix(piece, "is "))
			}
		}
		if in {
			return true
		}
	}
	return false
}

// The clause of an event holds of exactly the outputs that the event has, of mixtures of words and numbers, whatever
// was learned.
func TestClausesAreTrue(t *testing.T) {
	t.Parallel()
	words := []string{"none", "low", "high", "NaN", "", "±", "a b", "kg", "x1"}
	saidAll, promised := 0, claim(t, "0.1", "0")
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		few, spread, shift := 1+r.IntN(len(words)), math.Exp(5*r.Float64()-2), r.NormFloat64()
		silent, format := [2]float64{r.Float64(), r.Float64()}, []string{"%.0f", "%.1f", "%v"}[r.IntN(3)]
		var s sample
		probes := append([]string{"never", "1e300", "-1e300", "0", "-0", "5e-324"}, words...)
		for side := range s {
			for range 200 {
				x := fmt.Sprintf(format, r.NormFloat64()*spread+float64(side)*shift)
				if r.Float64() < silent[side] {
					x = words[r.IntN(few)]
				}
				s[side] = append(s[side], parse([]byte(x)))
				probes = append(probes, x)
			}
		}
		a := &audit{Options: Options{Confidence: 0.9, Claim: promised}, factor: 1.1052}
		f := feature{"x", ofWhole, whole}
		for _, p := range []*parts{learnParts(f, s), learnTokens(f, s)} {
			for _, trial := range a.trials(candidate{p, p.feature, 0, 0}, s, 300) {
				e := trial.event
				if e.score == nil {
					continue
				}
				clause, isAll := e.clause()
				if !isAll {
					continue
				}
				saidAll++
				for _, text := range probes {
					o := parse([]byte(text))
					if got, want := e.has(&o), reads(t, clause, text); got != want {
						t.Fatalf("%q: the event has %q: %v", clause, text, got)
					}
				}
			}
		}
	})
	if saidAll < 100 {
		t.Errorf("%d clauses said all", saidAll)
	}
}
