package interpret_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/account"
	"dither/audit/interpret"
	"dither/noise"
	"dither/privacy"
)

// A table of n people, each of whom smokes or not and has cancer or not, is a number in base 4. Replaced data are the
// default 0: neither.
func entry(x, i int) int { return x >> (2 * i) & 3 }

func without(x, i int) int { return x &^ (3 << (2 * i)) }

func cells(x, n int) (counts [4]int) {
	for i := range n {
		counts[entry(x, i)]++
	}
	return counts
}

// release is a mechanism over tables of n people: its outputs, and its likelihoods.
type release struct {
	name    string
	outputs func(n int) int
	of      func(output, x, n int) interpret.Likelihood
}

func sure(log *big.Rat) interpret.Likelihood { return interpret.Likelihood{Factor: rat("1"), Log: log} }

// noisyCounts are the four counts, each with discrete Laplace noise of scale 2/ε, since a changed person moves two of
// them by 1, and cut to 0..n. What is cut off is all at the ends: P(≤ 0) is p^c/(1+p) and P(≥ n) is p^(n−c)/(1+p)
// where the count is c, so that here too the probability is p^|a−c| but for a factor that no table changes.
func noisyCounts(epsilon *big.Rat) release {
	return release{
		"noisy counts", func(n int) int { return power(n+1, 4) },
		func(output, x, n int) interpret.Likelihood {
			away := 0
			for _, c := range cells(x, n) {
				away += max(output%(n+1)-c, c-output%(n+1))
				output /= n + 1
			}
			log := new(big.Rat).SetFrac64(int64(-away), 2)
			return sure(log.Mul(log, epsilon))
		},
	}
}

// response is randomized response of each person's entry among four, with odds e^ε for the truth over each of the
// others.
func response(epsilon *big.Rat) release {
	return release{
		"randomized response", func(n int) int { return power(4, n) },
		func(output, x, n int) interpret.Likelihood {
			truths := new(big.Rat)
			for i := range n {
				if entry(output, i) == entry(x, i) {
					truths.Add(truths, epsilon)
				}
			}
			return sure(truths)
		},
	}
}

func power(base, exponent int) int {
	out := 1
	for range exponent {
		out *= base
	}
	return out
}

// belief is a prior that mixes two worlds: in one smoking has nothing to do with cancer, in the other smokers have it
// at a rate of their own. Some tables are then made thousands of times likelier, as by somebody who knows that some
// people are alike.
func belief(t *rapid.T, n int) []*big.Rat {
	percent := func(name string) *big.Rat {
		return big.NewRat(int64(rapid.IntRange(1, 99).Draw(t, name)), 100)
	}
	not := func(r *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), r) }
	smokes, cancer, ill, well, mixed := percent("smokes"), percent("cancer"), percent("smokers' cancer"),
		percent("others' cancer"), percent("mixed")
	prior := make([]*big.Rat, power(4, n))
	odd := rapid.SliceOfN(rapid.IntRange(0, 20), len(prior), len(prior)).Draw(t, "odd")
	for x := range prior {
		apart, bound := new(big.Rat).Set(mixed), not(mixed)
		for i := range n {
			e := entry(x, i)
			s, c, d := not(smokes), not(cancer), not(well)
			if e&1 == 1 {
				s, d = smokes, not(ill)
			}
			if e&2 == 2 {
				c = cancer
				d = not(d)
			}
			apart.Mul(apart, new(big.Rat).Mul(s, c))
			bound.Mul(bound, new(big.Rat).Mul(s, d))
		}
		prior[x] = apart.Add(apart, bound)
		if odd[x] > 15 {
			prior[x].Mul(prior[x], big.NewRat(int64(odd[x])*1000, 1))
		}
	}
	return prior
}

func infer(t testing.TB, m release, prior []*big.Rat, output, n, i int) interpret.Posterior {
	t.Helper()
	in := interpret.Inference{Prior: prior}
	for x := range prior {
		in.Seen = append(in.Seen, m.of(output, x, n))
		in.Without = append(in.Without, m.of(output, without(x, i), n))
	}
	p, err := in.Posterior()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Theorem 1, for every output and every person, under priors that are drawn.
func TestPosteriorWithinTwoEpsilon(t *testing.T) {
	people, most := []int{2}, map[string]float64{}
	if os.Getenv("DITHER_LONG") != "" {
		people = []int{2, 3}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom(people).Draw(t, "people")
		prior := belief(t, n)
		epsilon := big.NewRat(int64(rapid.IntRange(1, 40).Draw(t, "10ε")), 10)
		limit, _ := new(big.Rat).Add(epsilon, epsilon).Float64()
		for _, m := range []release{noisyCounts(epsilon), response(epsilon)} {
			outputs := m.outputs(n)
			for range 2 {
				output := rapid.IntRange(0, outputs-1).Draw(t, "output")
				i := rapid.IntRange(0, n-1).Draw(t, "person")
				in := interpret.Inference{Prior: prior}
				for x := range prior {
					in.Seen = append(in.Seen, m.of(output, x, n))
					in.Without = append(in.Without, m.of(output, without(x, i), n))
				}
				p, err := in.Posterior()
				if err != nil {
					t.Fatal(err)
				}
				r, at := p.LogRatio()
				if r > limit*(1+1e-15) {
					t.Fatalf("%s at ε = %s: the log ratio of table %d is %g", m.name, epsilon, at, r)
				}
				most[m.name] = max(most[m.name], r/limit)
			}
		}
	})
	t.Logf("the largest log ratios, as shares of 2ε: %v", most)
}

// All outputs, all people, four tables of priors: and how near 2ε the worst comes.
func TestPosteriorOfEveryOutput(t *testing.T) {
	n := 2
	if os.Getenv("DITHER_LONG") != "" {
		n = 4
	}
	epsilon := rat("1")
	even := make([]*big.Rat, power(4, n))
	alike := make([]*big.Rat, len(even)) // everybody's entry is the same, but for a grain of doubt
	for x := range even {
		even[x], alike[x] = rat("1"), rat("1/1000000")
		same := true
		for i := range n {
			same = same && entry(x, i) == entry(x, 0)
		}
		if same {
			alike[x] = rat("1")
		}
	}
	for _, m := range []release{noisyCounts(epsilon), response(epsilon)} {
		for name, prior := range map[string][]*big.Rat{"even": even, "alike": alike} {
			worst := 0.0
			for output := range m.outputs(n) {
				for i := range min(n, 1+n/4) { // the others are like these
					r, _ := infer(t, m, prior, output, n, i).LogRatio()
					worst = max(worst, r)
				}
			}
			if worst > 2*(1+1e-15) || worst < .5 {
				t.Errorf("%s, %s: the worst log ratio is %g", m.name, name, worst)
			}
			t.Logf("%d people, %s at ε = 1, prior %s: log ratio at most %.4f of 2", n, m.name, name, worst)
		}
	}
}

// What is left out of a likelihood changes nothing: the whole law, by package noise, gives the same beliefs. And the
// largest ratio of a single table is that of all events.
func TestPosteriorByHand(t *testing.T) {
	const n, i = 2, 1
	epsilon := rat("1/2")
	m := noisyCounts(epsilon)
	d, err := noise.NewDiscreteLaplace(rat("4"))
	if err != nil {
		t.Fatal(err)
	}
	mass := func(output, x int) float64 {
		product := 1.0
		for _, c := range cells(x, n) {
			a := output % (n + 1)
			output /= n + 1
			switch a {
			case 0:
				product *= d.CDF(big.NewInt(int64(-c)))
			case n:
				product *= 1 - d.CDF(big.NewInt(int64(n-c-1)))
			default:
				product *= d.Mass(big.NewInt(int64(a - c)))
			}
		}
		return product
	}
	prior := make([]*big.Rat, power(4, n))
	for x := range prior {
		prior[x] = big.NewRat(int64(x*x%7), 3) // some are 0
	}
	for output := 0; output < m.outputs(n); output += 2 {
		p := infer(t, m, prior, output, n, i)
		var with, gone [16]float64
		sum, sumGone := 0.0, 0.0
		for x := range prior {
			f, _ := prior[x].Float64()
			with[x], gone[x] = f*mass(output, x), f*mass(output, without(x, i))
			sum, sumGone = sum+with[x], sumGone+gone[x]
		}
		largest := 0.0
		for x := range prior {
			a, b := p.Of(func(y int) bool { return y == x })
			if math.Abs(a.Upper-with[x]/sum) > 1e-12 || math.Abs(b.Lower-gone[x]/sumGone) > 1e-12 ||
				a.Lower > a.Upper || b.Upper-b.Lower > 1e-15 {
				t.Fatalf("output %d, table %d: %v and %v, not %g and %g", output, x, a, b, with[x]/sum, gone[x]/sumGone)
			}
			if with[x] > 0 {
				largest = max(largest, math.Abs(math.Log(with[x]/sum*sumGone/gone[x])))
			}
		}
		r, _ := p.LogRatio()
		if math.Abs(r-largest) > 1e-12 {
			t.Fatalf("output %d: log ratio %g, not %g", output, r, largest)
		}
		for event := range 1 << 16 {
			if event%16411 != 0 { // some of all events
				continue
			}
			in := func(x int) bool { return event>>x&1 == 1 }
			e := p.EventRatio(in)
			if e.Lower > r {
				t.Fatalf("output %d, event %b: %v, but %g of one table", output, event, e, r)
			}
		}
	}
}

// Exact answers, and a mechanism that names somebody, leave no bound.
func TestPosteriorOfBrokenMechanisms(t *testing.T) {
	const n, i = 3, 0
	even := make([]*big.Rat, power(4, n))
	for x := range even {
		even[x] = rat("1")
	}
	counts := release{"exact counts", nil, func(output, x, n int) interpret.Likelihood {
		if cells(x, n) != cells(output, n) {
			return interpret.Likelihood{}
		}
		return sure(nil)
	}}
	p := infer(t, counts, even, 0b11_00_01, n, i)
	if r, _ := p.LogRatio(); !math.IsInf(r, 1) {
		t.Errorf("exact counts: log ratio %g", r)
	}
	alice := func(x int) bool { return entry(x, i) == 3 }
	with, gone := p.Of(alice)
	if with.Lower < .33 || gone.Upper > .26 {
		t.Errorf("exact counts: %v and %v", with, gone)
	}
	// Of each person on their own, the entry is published with probability one in a million, and else nothing. Seen:
	// Alice smokes and has cancer.
	shame := release{"name and shame", nil, func(_, x, _ int) interpret.Likelihood {
		if entry(x, i) != 3 {
			return interpret.Likelihood{}
		}
		return interpret.Likelihood{Factor: rat("1/1000000")}
	}}
	p = infer(t, shame, even, 0, n, i)
	with, gone = p.Of(alice)
	if r, _ := p.LogRatio(); !math.IsInf(r, 1) || with.Lower < 1-1e-15 || !math.IsNaN(gone.Lower) ||
		!math.IsInf(p.EventRatio(alice).Lower, 1) {
		t.Errorf("named: log ratio %g, beliefs %v and %v", r, with, gone)
	}
}

func TestPosteriorRefuses(t *testing.T) {
	can := []interpret.Likelihood{sure(nil), sure(nil)}
	half := []*big.Rat{rat("1/2"), rat("1/2")}
	for name, in := range map[string]interpret.Inference{
		"nothing":        {},
		"lengths":        {Prior: half, Seen: can, Without: can[:1]},
		"no prior":       {Prior: []*big.Rat{nil, rat("1")}, Seen: can, Without: can},
		"negative prior": {Prior: []*big.Rat{rat("-1"), rat("1")}, Seen: can, Without: can},
		"negative":       {Prior: half, Seen: []interpret.Likelihood{{Factor: rat("-1")}, can[0]}, Without: can},
		"no prior at all": {
			Prior: []*big.Rat{new(big.Rat), new(big.Rat)}, Seen: can, Without: can,
		},
		"impossible": {Prior: half, Seen: make([]interpret.Likelihood, 2), Without: can},
	} {
		if _, err := in.Posterior(); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Likelihoods that no float holds.
	far := interpret.Inference{
		Prior: half, Seen: []interpret.Likelihood{sure(rat("-1e30")), sure(rat("-2e30"))},
		Without: can,
	}
	p, err := far.Posterior()
	if err != nil {
		t.Fatal(err)
	}
	with, _ := p.Of(func(x int) bool { return x == 1 })
	if r, at := p.LogRatio(); r < 1e30 || r > 1.0001e30 || at != 1 || with.Lower != 0 || with.Upper > 1e-300 {
		t.Errorf("%g at %d, %v", r, at, with)
	}
}

// The insurer's belief of Alice moves a lot, and so it does without her.
func TestSmokingStudy(t *testing.T) {
	e, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		t.Fatal(err)
	}
	s := interpret.SmokingStudy(e)
	in, err := s.Inference(21)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Posterior()
	if err != nil {
		t.Fatal(err)
	}
	before := new(big.Rat)
	whole := new(big.Rat)
	for x, weight := range in.Prior {
		whole.Add(whole, weight)
		if s.AliceIn(x) {
			before.Add(before, weight)
		}
	}
	if whole.Cmp(rat("1")) != 0 || before.Cmp(rat("11/100")) != 0 {
		t.Errorf("before: %v of %v", before, whole)
	}
	harmful, harmfulGone := p.Of(s.HarmfulIn)
	alice, aliceGone := p.Of(s.AliceIn)
	t.Logf("harmful: .5, then %.6f with Alice's row and %.6f without; Alice has cancer: .11, then %.6f and %.6f",
		harmful.Upper, harmfulGone.Upper, alice.Upper, aliceGone.Upper)
	if harmful.Lower < .99 || harmfulGone.Lower < .99 || alice.Lower < .19 || aliceGone.Lower < .19 {
		t.Error("the beliefs did not move as they should")
	}
	if math.Abs(aliceGone.Upper-(.02+.18*harmfulGone.Upper)) > 1e-12 {
		t.Error("without her row, all that is known of Alice is what smoking does")
	}
	s.Smokers = 20
	worst := 0.0
	for a := int64(-3); a <= int64(s.Smokers)+3; a++ {
		in, err := s.Inference(a)
		if err != nil {
			t.Fatal(err)
		}
		p, err := in.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		r, _ := p.LogRatio()
		worst = max(worst, r)
	}
	largest, at, err := s.LargestRatio()
	if err != nil || largest != worst || largest > 1 || largest < .1 {
		t.Errorf("the largest log ratio is %g at %d, of all answers %g, %v", largest, at, worst, err)
	}
}

// 2ε is nearly reached by one noisy count: what was held nearly impossible is a count below the answer, all else one
// above it.
func TestPosteriorNearsTwoEpsilon(t *testing.T) {
	for _, e := range []string{"1e-60", "1/10", "1", "8"} {
		epsilon := rat(e)
		away := func(n int64) *big.Rat { return new(big.Rat).Mul(big.NewRat(-n, 1), epsilon) }
		p, err := interpret.Inference{ // counts of 2 and 1, the answer 1
			Prior:   []*big.Rat{rat("1"), rat("1e-30")},
			Seen:    []interpret.Likelihood{sure(away(1)), sure(nil)},
			Without: []interpret.Likelihood{sure(nil), sure(away(1))},
		}.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		limit, _ := new(big.Rat).Add(epsilon, epsilon).Float64()
		if r, at := p.LogRatio(); r < limit*(1-1e-9) || r > limit*(1+1e-15) || at != 1 {
			t.Errorf("ε = %s: log ratio %g at %d, not nearly %g", e, r, at, limit)
		}
		if r := p.EventRatio(func(x int) bool { return x == 1 }); r.Lower < limit*(1-1e-9) ||
			r.Upper > limit*(1+1e-15) {
			t.Errorf("ε = %s: %v", e, r)
		}
	}
}

func TestZeroPosterior(t *testing.T) {
	var p interpret.Posterior
	all := func(int) bool { return true }
	r, _ := p.LogRatio()
	with, without := p.Of(all)
	if e := p.EventRatio(all); !math.IsNaN(r) || !math.IsNaN(with.Upper) || !math.IsNaN(without.Lower) ||
		!math.IsNaN(e.Upper) {
		t.Errorf("%g, %v, %v, %v", r, with, without, e)
	}
}

// The example's moral holds at both ends of what is told: the belief of Alice moves, and all the same without her.
func TestSmokingStudyMoves(t *testing.T) {
	for _, e := range []string{"0.1", "5"} {
		s := interpret.SmokingStudy(promise(t, e, "0").Epsilon)
		in, err := s.Inference(21)
		if err != nil {
			t.Fatal(err)
		}
		p, err := in.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		if with, without := p.Of(s.AliceIn); with.Lower < 1.5*.11 || without.Lower < 1.5*.11 ||
			with.Upper > 1.1*without.Lower {
			t.Errorf("ε = %s: .11 became %v, without her %v", e, with, without)
		}
		far, err := s.Inference(math.MinInt64)
		if err != nil {
			t.Fatal(err)
		}
		end, err := s.Inference(0)
		if err != nil {
			t.Fatal(err)
		}
		a, err := far.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		b, err := end.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		x, _ := a.Of(s.AliceIn)
		if y, _ := b.Of(s.AliceIn); x != y {
			t.Errorf("ε = %s: an answer far below is %v, of 0 %v", e, x, y)
		}
	}
}

func TestStudyRefuses(t *testing.T) {
	e := promise(t, "1", "0").Epsilon
	for name, change := range map[string]func(*interpret.Study){
		"nobody":   func(s *interpret.Study) { s.Smokers = 0 },
		"too many": func(s *interpret.Study) { s.Smokers = 101 },
		"no prior": func(s *interpret.Study) { s.Prior = nil },
		"risk":     func(s *interpret.Study) { s.Harmful = rat("3/2") },
	} {
		s := interpret.SmokingStudy(e)
		change(&s)
		if _, err := s.Inference(1); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := s.LargestRatio(); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleMeaningOf() {
	e, _ := privacy.ParseEpsilon("1")
	m, err := interpret.MeaningOf(account.Approximate{Epsilon: e},
		interpret.Scenario{Prior: big.NewRat(1, 100), Alpha: big.NewRat(1, 20), Group: 4, People: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("what was believed with 1 %% is believed with %.2f %% at most\n", 100*m.Person.Posterior.Upper)
	fmt.Printf("a test with 5 %% of false alarms finds her with %.1f %% at most\n", 100*m.Person.Power)
	// Output:
	// what was believed with 1 % is believed with 2.67 % at most
	// a test with 5 % of false alarms finds her with 13.6 % at most
}
