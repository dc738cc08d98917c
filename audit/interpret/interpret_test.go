package interpret_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/account"
	"dither/audit/interpret"
	"dither/internal/exact"
	"dither/privacy"
)

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func promise(t testing.TB, epsilon, delta string) account.Approximate {
	t.Helper()
	e, err := privacy.EpsilonOf(rat(epsilon))
	if err != nil {
		t.Fatal(err)
	}
	d, err := privacy.DeltaOf(rat(delta))
	if err != nil {
		t.Fatal(err)
	}
	return account.Approximate{Epsilon: e, Delta: d}
}

func usual() interpret.Scenario {
	return interpret.Scenario{Prior: rat("1/100"), Alpha: rat("1/20"), Group: 4, People: 10_000}
}

// close to within 10⁻¹², and on the safe side: up for upper bounds. what is computed by formula may itself be off
// by some 10⁻¹⁶.
func above(t *testing.T, what string, got, formula float64) {
	t.Helper()
	if !(got >= formula-1e-15 && got <= formula+1e-12) {
		t.Errorf("%s: %.17g, by formula %.17g", what, got, formula)
	}
}

func below(t *testing.T, what string, got, formula float64) {
	t.Helper()
	if !(got <= formula+1e-15 && got >= formula-1e-12) {
		t.Errorf("%s: %.17g, by formula %.17g", what, got, formula)
	}
}

// The figures of ε = 1 that are told everywhere, by their formulas.
func TestMeaningAtOne(t *testing.T) {
	m, err := interpret.MeaningOf(promise(t, "1", "0"), usual())
	if err != nil {
		t.Fatal(err)
	}
	e := math.E
	above(t, "posterior", m.Person.Posterior.Upper, .01*e/(.01*e+.99)) // .0267
	below(t, "posterior", m.Person.Posterior.Lower, .01/(.01+.99*e))
	above(t, "between values", m.Values.Posterior.Upper, .01*e*e/(.01*e*e+.99)) // .0695
	below(t, "between values", m.Values.Posterior.Lower, .01/(.01+.99*e*e))
	above(t, "family", m.Group.Posterior.Upper, .01*math.Exp(4)/(.01*math.Exp(4)+.99))
	above(t, "advantage", m.Person.Advantage, (e-1)/(e+1)) // .4621
	above(t, "power", m.Person.Power, .05*e)
	above(t, "family's power", m.Group.Power, 1-math.Exp(-4)*.95)
	for _, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
		if r.Excess != 0 || r.Fails != 0 {
			t.Errorf("a pure promise fails: %+v", r)
		}
	}
	if m.Named.Warned || m.Named.Probability.Upper != 0 || m.Named.Expected != 0 {
		t.Errorf("a pure promise names somebody: %+v", m.Named)
	}
}

func TestMeaningWithDelta(t *testing.T) {
	for _, c := range []struct {
		delta  string
		named  float64 // 1 − (1−δ)^10000 to 20 digits
		warned bool
	}{
		{"1e-4", 0.63213895356707007588, true},
		{"1e-6", 0.00995017120108440296, false},
		{"1.0001e-6", 0.00995116125140827646, true},
	} {
		m, err := interpret.MeaningOf(promise(t, "1", c.delta), usual())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := rat(c.delta).Float64()
		e := math.E
		above(t, "named", m.Named.Probability.Upper, c.named)
		below(t, "named", m.Named.Probability.Lower, c.named)
		if m.Named.Warned != c.warned {
			t.Errorf("δ = %s: warned is %v", c.delta, m.Named.Warned)
		}
		above(t, "expected", m.Named.Expected, 1e4*d)
		above(t, "advantage", m.Person.Advantage, (e-1+2*d)/(e+1))
		above(t, "power", m.Person.Power, .05*e+d)
		above(t, "fails", m.Person.Fails, d*(1+math.Exp(-2))/(1-math.Exp(-1)))
		group, _ := m.Group.Promise.Delta.Rat().Float64()
		above(t, "group's δ", group, d*(math.Exp(4)-1)/(e-1))
	}
}

// Promises and scenarios at the ends: nothing overflows, nothing panics.
func TestMeaningAtTheEnds(t *testing.T) {
	for _, c := range []struct{ epsilon, delta string }{
		{"0", "0"}, {"1e-60", "0"}, {"1e20", "0"}, {"1e20", "1e-60"}, {"4096", "1/2"}, {"4097", "1/2"}, {"0", "1/3"}, {"700", "0.999999999999999999999"},
	} {
		for _, s := range []interpret.Scenario{
			usual(),
			{Prior: rat("1e-60"), Alpha: rat("0"), Group: 1, People: 1},
			{Prior: rat("0.9999999999999999999999999999"), Alpha: rat("1"), Group: math.MaxInt64, People: math.MaxInt64},
		} {
			m, err := interpret.MeaningOf(promise(t, c.epsilon, c.delta), s)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := s.Prior.Float64()
			for _, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
				for _, x := range []float64{
					r.Posterior.Lower, r.Posterior.Upper, r.Far.Lower, r.Far.Upper, r.Advantage,
					r.Power, r.Fails, r.Excess,
				} {
					if !(x >= 0 && x <= 1) {
						t.Errorf("%v %v: %+v", c, s, r)
					}
				}
				if r.Posterior.Lower > p || math.Nextafter(r.Posterior.Upper, 2) < p ||
					r.Far.Lower > r.Posterior.Lower || r.Far.Upper < r.Posterior.Upper {
					t.Errorf("%v %v: the bounds do not nest: %+v", c, s, r)
				}
			}
			if c.epsilon == "1e20" && s.Group == 4 &&
				(m.Person.Posterior.Upper != 1 || m.Person.Advantage != 1 || m.Person.Power != 1 ||
					m.Person.Posterior.Lower != 0) {
				t.Errorf("so large an ε promises something: %+v", m.Person)
			}
			if c == struct{ epsilon, delta string }{"0", "0"} &&
				(m.Person.Advantage > 1e-50 || m.Group.Power > .0500000001 && s.Group == 4) {
				t.Errorf("no loss, but %+v", m)
			}
		}
	}
}

func TestMeaningRefuses(t *testing.T) {
	for name, change := range map[string]func(*interpret.Scenario){
		"prior 0":       func(s *interpret.Scenario) { s.Prior = new(big.Rat) },
		"prior 1":       func(s *interpret.Scenario) { s.Prior = rat("1") },
		"prior below 0": func(s *interpret.Scenario) { s.Prior = rat("-1/2") },
		"no prior":      func(s *interpret.Scenario) { s.Prior = nil },
		"alpha below 0": func(s *interpret.Scenario) { s.Alpha = rat("-1/2") },
		"alpha above 1": func(s *interpret.Scenario) { s.Alpha = rat("2") },
		"no alpha":      func(s *interpret.Scenario) { s.Alpha = nil },
		"group 0":       func(s *interpret.Scenario) { s.Group = 0 },
		"nobody":        func(s *interpret.Scenario) { s.People = 0 },
		"neighbours":    func(s *interpret.Scenario) { s.Neighbours = 3 },
	} {
		s := usual()
		change(&s)
		if _, err := interpret.MeaningOf(promise(t, "1", "0"), s); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := interpret.MeaningOfJob([]string{"pure epsilon=1"}, privacy.Delta{}, s); !errors.Is(err,
			account.ErrParameter) {
			t.Errorf("%s, of a job: %v", name, err)
		}
	}
	if _, err := interpret.MeaningOf(promise(t, "1", "1"), usual()); !errors.Is(err, account.ErrParameter) {
		t.Errorf("δ = 1: %v", err)
	}
	certain := promise(t, "1", "1").Delta
	for _, specs := range [][]string{nil, {""}, {"gaussian"}, {"gaussian sigma=0"}, {"no such=1"}} {
		if _, err := interpret.MeaningOfJob(specs, privacy.Delta{}, usual()); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%q: %v", specs, err)
		}
	}
	if _, err := interpret.MeaningOfJob([]string{"pure epsilon=1"}, certain, usual()); !errors.Is(err,
		account.ErrParameter) {
		t.Errorf("δ = 1, of a job: %v", err)
	}
}

// law is a pair of laws over a few outputs.
func law(t *rapid.T, outputs int, name string) []float64 {
	weights := rapid.SliceOfN(rapid.IntRange(0, 100), outputs, outputs).Draw(t, name)
	weights[rapid.IntRange(0, outputs-1).Draw(t, name+" has")] += 3
	sum := 0
	for _, w := range weights {
		sum += w
	}
	p := make([]float64, outputs)
	for i, w := range weights {
		p[i] = float64(w) / float64(sum)
	}
	return p
}

func hockey(p, q []float64, e float64) float64 {
	d := 0.0
	for i := range p {
		d += max(0, p[i]-math.Exp(e)*q[i])
	}
	return d
}

// What is said of every pair of laws that keeps a promise is true of pairs drawn at random, with the least δ that each
// keeps.
func TestMeaningHoldsOfPairs(t *testing.T) {
	const slack = 1e-9 // of this test's own floats
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "outputs")
		p, q := law(t, n, "p"), law(t, n, "q")
		e := float64(rapid.IntRange(0, 300).Draw(t, "100ε")) / 100
		prior := float64(rapid.IntRange(1, 99).Draw(t, "100π")) / 100
		alpha := float64(rapid.IntRange(0, 100).Draw(t, "100α")) / 100
		delta := max(hockey(p, q, e), hockey(q, p, e))
		if delta >= 1 {
			return
		}
		d, err := privacy.DeltaOf(new(big.Rat).SetFloat64(delta))
		if err != nil {
			t.Fatal(err)
		}
		size, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
		if err != nil {
			t.Fatal(err)
		}
		m, err := interpret.MeaningOf(account.Approximate{Epsilon: size, Delta: d}, interpret.Scenario{
			Prior: new(big.Rat).SetFloat64(prior), Alpha: new(big.Rat).SetFloat64(alpha), Group: 1, People: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := m.Person
		excess, failsP, failsQ, apart := 0.0, 0.0, 0.0, 0.0
		for i := range p {
			mass := prior*p[i] + (1-prior)*q[i]
			apart += max(0, p[i]-q[i])
			if mass == 0 {
				continue
			}
			belief := prior * p[i] / mass
			excess += mass * max(0, belief-r.Posterior.Upper, r.Posterior.Lower-belief)
			if belief > r.Far.Upper+slack || belief < r.Far.Lower-slack {
				failsP += p[i]
				failsQ += q[i]
			}
		}
		// The most powerful test takes outputs by p/q: the best of all sets, and of sets with a part of one output.
		power := 0.0
		for set := range 1 << n {
			size, hits := 0.0, 0.0
			for i := range n {
				if set>>i&1 == 1 {
					size += q[i]
					hits += p[i]
				}
			}
			if size > alpha {
				continue
			}
			power = max(power, hits)
			for i := range n {
				if set>>i&1 == 0 && q[i] > 0 {
					power = max(power, hits+p[i]*min(1, (alpha-size)/q[i]))
				}
			}
		}
		if excess > r.Excess+slack || failsP > r.Fails+slack || failsQ > r.Fails+slack || apart > r.Advantage+slack ||
			power > r.Power+slack {
			t.Fatalf("excess %g, fails %g and %g, advantage %g, power %g of %+v", excess, failsP, failsQ,
				apart, power, r)
		}
	})
}

// The mechanism that tells all with probability δ and else is randomized response reaches the bounds: none can be
// less.
func TestMeaningIsReached(t *testing.T) {
	for _, c := range []struct{ e, d, alpha float64 }{
		{1, 0, .05},
		{1, .01, .05},
		{.1, .2, .3},
		{3, 1e-6, .05},
		{2, .001, .9},
		{1, .01, 0},
	} {
		s := interpret.Scenario{Prior: rat("1/2"), Alpha: new(big.Rat).SetFloat64(c.alpha), Group: 1, People: 1}
		e, _ := privacy.EpsilonOf(new(big.Rat).SetFloat64(c.e))
		d, _ := privacy.DeltaOf(new(big.Rat).SetFloat64(c.d))
		m, err := interpret.MeaningOf(account.Approximate{Epsilon: e, Delta: d}, s)
		if err != nil {
			t.Fatal(err)
		}
		truth := math.Exp(c.e) / (1 + math.Exp(c.e))
		p := []float64{c.d, (1 - c.d) * truth, (1 - c.d) * (1 - truth)} // by falling P/Q; Q is the mirror image
		q := []float64{0, (1 - c.d) * (1 - truth), (1 - c.d) * truth}
		power, left := p[0], c.alpha
		for i := 1; i < 3; i++ {
			share := min(1, left/q[i])
			power += share * p[i]
			left -= share * q[i]
		}
		above(t, "power", m.Person.Power, min(power, 1))
		above(t, "advantage", m.Person.Advantage, c.d+p[1]-q[1])
	}
}

// A group's δ soon comes to 1: then nothing is promised, whatever ε is, and nothing else is said.
func TestMeaningOfVoidPromises(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta         string
		person, values, family bool
	}{
		{"0", ".3", false, false, true}, // .3, .6, 1.2
		{"50", "1e-6", false, true, true},
		{"1", ".03", false, false, false}, // .03·(1 + e + e² + e³) = .94
		{"1", ".04", false, false, true},
	} {
		m, err := interpret.MeaningOf(promise(t, c.epsilon, c.delta), usual())
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
			void := []bool{c.person, c.values, c.family}[i]
			nothing := interpret.Reading{
				Steps: r.Steps, Told: true, Promise: r.Promise,
				Posterior: interpret.Between{Upper: 1}, Far: interpret.Between{Upper: 1}, Excess: 1, Fails: 1,
				Advantage: 1, Power: 1,
			}
			if r.Void() != void || void && r != nothing || !void && r.Posterior.Upper == 1 && c.epsilon != "50" {
				t.Errorf("ε = %s, δ = %s: void is %v: %+v", c.epsilon, c.delta, r.Void(), r)
			}
		}
	}
}

// Where nothing is lost nothing moves, to the last float; and a δ is not lost beside 1.
func TestMeaningOfNoLoss(t *testing.T) {
	m, err := interpret.MeaningOf(promise(t, "0", "0"), usual())
	if err != nil {
		t.Fatal(err)
	}
	if up, down := exact.FloatUp(rat("1/100")),
		exact.FloatDown(rat("1/100")); m.Group.Far != (interpret.Between{Lower: down, Upper: up}) ||
		m.Group.Advantage != 0 || m.Group.Power != exact.FloatUp(rat("1/20")) {
		t.Errorf("ε = 0, δ = 0: %+v", m.Group)
	}
	s := usual()
	s.Alpha = new(big.Rat)
	if m, err = interpret.MeaningOf(promise(t, "0", "1e-64"), s); err != nil {
		t.Fatal(err)
	}
	if r := m.Person; r.Advantage > 1.0000001e-64 || r.Power > 1.0000001e-64 || r.Advantage < 1e-64 || r.Power < 1e-64 {
		t.Errorf("ε = 0, δ = 1e-64: %+v", r)
	}
}
