package local

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"testing"

	"dither/audit/channel"
	"dither/local/internal/coin"
	"dither/local/internal/lawtest"
	"dither/privacy"
)

func epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func oracle(t testing.TB, mechanism string, k uint64, e string) *Oracle {
	t.Helper()
	o, err := New(Params{Mechanism: mechanism, Values: k, Epsilon: epsilon(t, e)})
	if err != nil {
		t.Fatalf("%s, k = %d, ε = %s: %v", mechanism, k, e, err)
	}
	return o
}

// laws returns the exact law of the reports of each value.
func laws(o *Oracle) (reports []string, law []map[string]*big.Rat) {
	seen := map[string]bool{}
	for v := range o.params.Values {
		l := lawtest.Law(func(c coin.Chooser) string {
			report := make([]byte, o.bytes())
			o.scheme.randomize(c, v, report)
			return string(report)
		})
		for r := range l {
			if !seen[r] {
				seen[r], reports = true, append(reports, r)
			}
		}
		law = append(law, l)
	}
	slices.Sort(reports)
	return reports, law
}

// exactLoss returns e^ε of the channel, as package channel finds it.
func exactLoss(
	t *testing.T,
	name string,
	reports []string,
	law []map[string]*big.Rat,
) (ratio *big.Rat, l channel.Loss) {
	t.Helper()
	var inputs, outputs []string
	var entries [][]*big.Rat
	for v, l := range law {
		inputs = append(inputs, fmt.Sprint("v", v))
		var row []*big.Rat
		for _, r := range reports {
			if row = append(row, l[r]); l[r] == nil {
				t.Fatalf("%s: the report %x is impossible for the value %d", name, r, v)
			}
		}
		entries = append(entries, row)
	}
	for i := range reports {
		outputs = append(outputs, fmt.Sprint("r", i))
	}
	m, err := channel.Of(inputs, outputs, entries)
	if err != nil {
		t.Fatal(name, err)
	}
	if l, err = m.Epsilon(channel.AllPairs()); err != nil || !l.Private() {
		t.Fatal(name, l, err)
	}
	worst := new(big.Rat)
	for i := range reports {
		low, high := entries[0][i], entries[0][i]
		for _, row := range entries {
			if row[i].Cmp(low) < 0 {
				low = row[i]
			}
			if row[i].Cmp(high) > 0 {
				high = row[i]
			}
		}
		if r := new(big.Rat).Quo(high, low); r.Cmp(worst) > 0 {
			worst = r
		}
	}
	f, _ := worst.Float64()
	if f < l.Ratio.Lower*(1-1e-14) || f > l.Ratio.Upper*(1+1e-14) {
		t.Errorf("%s: the channel's e^ε is %v, but the largest ratio is %v", name, l.Ratio, f)
	}
	return worst, l
}

// enumerable are the parameters whose laws are enumerated: for each mechanism, numbers of values.
var enumerable = map[string][]uint64{
	"coin": {
		2,
	},
	"krr":    {2, 3, 5, 8},
	"sue":    {2, 3, 6},
	"oue":    {2, 3, 6},
	"ss":     {2, 3, 5, 7},
	"hr":     {2, 3, 5},
	"olh":    {2, 4},
	"flh":    {2, 4},
	"rappor": {2, 3}, "dbit": {2, 3, 6}, "loloha": {2, 4}, "cms": {2, 3}, "hcms": {2, 5},
}

// The exact law of each randomizer, enumerated over the choices of its code, has an ε at most the declared one and
// within 1e-9 of it. The formula of Ratio agrees.
func TestExactEpsilonByEnumeration(t *testing.T) {
	epsilons := []string{"0.1", "1", "2.5"}
	if os.Getenv("DITHER_LONG") != "" {
		epsilons = []string{"0.001", "0.1", "0.5", "1", "2", "3.7", "8"}
	}
	for name, sizes := range enumerable {
		for _, k := range sizes {
			for _, e := range epsilons {
				cells := cells(epsilon(t, e))
				if (name == "flh" || name == "olh") && cells > 60 || name == "hr" && e > "2" {
					continue // thousands of reports, for the same code
				}
				o := oracle(t, name, k, e)
				if name == "flh" { // the channel given a few of the functions
					o.scheme = olh{o.scheme.(flh).response}
				}
				if name == "cms" { // the same code with four cells
					p := o.params
					p.Values = 4
					o.scheme = cms{newSUE(p).(unary), 0}
				}
				at := fmt.Sprintf("%s, k = %d, ε = %s", name, k, e)
				reports, law := laws(o)
				ratio, _ := exactLoss(t, at, reports, law)
				if hashes := name == "flh" || name == "olh" || name == "loloha" || name == "cms"; ratio.Cmp(o.Ratio()) != 0 && !hashes {
					t.Errorf("%s: e^ε is %s, but Ratio is %s", at, ratio.FloatString(30), o.Ratio().FloatString(30))
				}
				switch name {
				case "coin":
					if ratio.Cmp(big.NewRat(3, 1)) != 0 {
						t.Errorf("the two coins have e^ε = %s", ratio)
					}
				case "rappor":
					lawtest.Tight(t, at, o.scheme.(memoised).permanentRatio(), o.params.Epsilon)
				case "loloha":
					lawtest.Tight(t, at, ratio, o.params.first())
				default:
					lawtest.Tight(t, at, ratio, o.params.Epsilon)
				}
			}
		}
	}
}

// Beyond small k, the formula of the exact ε holds for every mechanism.
func TestExactEpsilonByFormula(t *testing.T) {
	for _, name := range Mechanisms() {
		for _, k := range []uint64{2, 3, 10, 1000, 1_000_000} {
			for _, e := range []string{"0.000002", "0.01", "0.3", "1", "1.0986", "4", "9.99", "20", "40"} {
				if name == "coin" {
					continue
				}
				o := oracle(t, name, k, e)
				ratio := o.Ratio()
				if s, ok := o.scheme.(memoised); ok && name != "dbit" {
					if ratio.Cmp(s.permanentRatio()) >= 0 {
						t.Errorf("one report of %s reveals no less than all of them", name)
					}
					if name == "loloha" {
						lawtest.Tight(t, "one report of loloha", ratio, o.params.first())
					}
					ratio = s.permanentRatio()
				}
				lawtest.Tight(t, fmt.Sprintf("%s, k = %d, ε = %s", name, k, e), ratio, o.params.Epsilon)
			}
		}
	}
}

// Every value is supported with probability p by a report about it, and with q by a report about another one, by the
// exact law of the reports and the estimator's own count of supports.
func TestSupportProbabilitiesAreExact(t *testing.T) {
	for name, sizes := range enumerable {
		if name == "olh" || name == "flh" || name == "loloha" || name == "cms" || name == "hcms" {
			continue // the probability is over the hash functions: see TestHashesAreIndependent
		}
		for _, k := range sizes {
			for _, e := range []string{"0.5", "1.5"} {
				o := oracle(t, name, k, e)
				_, law := laws(o)
				values := make([]uint64, k)
				for i := range values {
					values[i] = uint64(i)
				}
				for v, l := range law {
					by := make([]*big.Rat, k)
					for i := range by {
						by[i] = new(big.Rat)
					}
					for r, p := range l {
						tally := o.NewTally()
						if err := tally.Add([]byte(r)); err != nil {
							t.Fatalf("%s: the tally refuses %x, which the randomizer sends: %v", name, r, err)
						}
						for i, s := range tally.tally.support(values) {
							if s != 0 && s != 1 {
								t.Fatalf("%s: one report supports a value %d times", name, s)
							}
							if s == 1 {
								by[i].Add(by[i], p)
							}
						}
					}
					p, q := o.Support()
					for i, got := range by {
						want := q
						if i == v {
							want = p
						}
						if got.Cmp(want) != 0 {
							t.Errorf(
								"%s, k = %d, ε = %s: P(%d | %d) = %s, want %s",
								name,
								k,
								e,
								i,
								v,
								got.FloatString(20),
								want.FloatString(20),
							)
						}
					}
				}
			}
		}
	}
}
