package interpret_test

import (
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/account"
	"dither/audit/interpret"
	"dither/privacy"
)

// Gaussian noise of σ = 1 on a Poisson sample: of k people Binomial(k, q) are in it, so that a group's law is N(j, 1)
// mixed so, against N(0, 1). What is said of a group is no less, and near; as if the sample had all of the group or
// none, it would be less.
func TestGroupOfASample(t *testing.T) {
	const q, z = .1, 1.6448536269514722 // Φ(z) = .95
	m, err := interpret.MeaningOfJob([]string{"gaussian sigma=1 sampling=1/10"}, privacy.Delta{}, usual())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reading   interpret.Reading
		advantage float64 // to five digits
	}{{m.Values, .07521}, {m.Group, .14515}} {
		k := int(c.reading.Steps)
		mixed := func(of func(j float64) float64) (sum float64) {
			for j, choose := 0, 1.0; j <= k; j++ {
				sum += choose * math.Pow(q, float64(j)) * math.Pow(1-q, float64(k-j)) * of(float64(j))
				choose *= float64(k-j) / float64(j+1)
			}
			return sum
		}
		low, high := 0.0, 5.0 // where the densities are equal
		for range 100 {
			x := (low + high) / 2
			if mixed(func(j float64) float64 { return math.Exp(j*x - j*j/2) }) < 1 {
				low = x
			} else {
				high = x
			}
		}
		advantage := mixed(func(j float64) float64 { return phi(j - low) }) - phi(-low)
		power := mixed(func(j float64) float64 { return phi(j - z) })
		r := c.reading
		if math.Abs(advantage-c.advantage) > 5e-6 || r.Advantage < advantage || r.Advantage > 1.1*advantage ||
			r.Power < power || r.Power > .05+r.Advantage+1e-12 {
			t.Errorf("%d people: advantage %.5f, not %.5f; power %.4f, not %.4f",
				k, r.Advantage, advantage, r.Power, power)
		}
		t.Logf("%d people: advantage at most %.4f of %.4f, power at most %.4f of %.4f", k, r.Advantage, advantage,
			r.Power, power)
	}
}

// A group's form is the job with the parameter grown: ρ by k², the others by k.
func TestGroupsOfJobs(t *testing.T) {
	delta := promise(t, "1", "1e-6").Delta
	jobs := [][3]string{
		{"zcdp rho=1/10", "zcdp rho=4/10", "zcdp rho=16/10"},
		{"gaussian sigma=3", "gaussian sigma=3 sensitivity=2", "gaussian sigma=3 sensitivity=4"},
	}
	if os.Getenv("DITHER_LONG") != "" {
		jobs = append(jobs, [][3]string{
			{"gdp mu=1/3", "gdp mu=2/3", "gdp mu=4/3"},
			{"discrete-gaussian sigma=6 sensitivity=3", "discrete-gaussian sigma=6 sensitivity=6", "discrete-gaussian sigma=6 sensitivity=12"},
			{"pure epsilon=1/7 count=2", "pure epsilon=2/7 count=2", "pure epsilon=4/7 count=2"},
		}...)
	}
	for _, c := range jobs {
		m, err := interpret.MeaningOfJob([]string{c[0]}, delta, usual())
		if err != nil {
			t.Fatal(err)
		}
		for i, spec := range c {
			other, err := interpret.MeaningOfJob([]string{spec}, delta, usual())
			if err != nil {
				t.Fatal(err)
			}
			grown, got := other.Person, []interpret.Reading{m.Person, m.Values, m.Group}[i]
			if got.Advantage > grown.Advantage || got.Power > grown.Power || got.Posterior != grown.Posterior ||
				got.Promise.Epsilon.Cmp(grown.Promise.Epsilon) != 0 {
				t.Errorf("%s, group of %d: %+v, but %s has %+v", c[0], got.Steps, got, spec, grown)
			}
			if got.Advantage < .999*grown.Advantage && i == 0 {
				t.Errorf("%s: %g and %g", spec, got.Advantage, grown.Advantage)
			}
		}
	}
	// Gaussian noise has ρ = 1/2, and keeps what is said of that ρ: of k people it is N(k, 1).
	m, err := interpret.MeaningOfJob([]string{"zcdp rho=1/2"}, delta, usual())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
		if k := float64(r.Steps); r.Advantage < 2*phi(k/2)-1 {
			t.Errorf("ρ = 1/2, %g people: advantage %g", k, r.Advantage)
		}
	}
}

// What is said of a promise's group is true of chains of laws, each of which keeps the promise with the next.
func TestGroupsOfChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "outputs")
		chain := make([][]float64, 4)
		chain[0] = law(t, n, "first")
		for i := range chain[1:] { // near the one before
			next, share := law(t, n, "next"), float64(rapid.IntRange(0, 30).Draw(t, "share"))/100
			for x := range next {
				next[x] = share*next[x] + (1-share)*chain[i][x]
			}
			chain[i+1] = next
		}
		e := float64(rapid.IntRange(0, 100).Draw(t, "100ε")) / 100
		delta := 0.0
		for i := range chain[1:] {
			delta = max(delta, hockey(chain[i], chain[i+1], e), hockey(chain[i+1], chain[i], e))
		}
		d, err := privacy.DeltaOf(new(big.Rat).SetFloat64(delta))
		if err != nil {
			t.Fatal(err)
		}
		size, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
		if err != nil {
			t.Fatal(err)
		}
		s := usual()
		s.Group = int64(len(chain) - 1)
		m, err := interpret.MeaningOf(account.Approximate{Epsilon: size, Delta: d}, s)
		if err != nil {
			t.Fatal(err)
		}
		far, _ := m.Group.Promise.Delta.Rat().Float64()
		last := chain[len(chain)-1]
		k := float64(s.Group)
		if worst := max(hockey(chain[0], last, k*e), hockey(last, chain[0], k*e)); worst > far+1e-9 {
			t.Fatalf("δ of %v people: %g, but %g is told", k, worst, far)
		}
		if apart := hockey(chain[0], last, 0); apart > m.Group.Advantage+1e-9 {
			t.Fatalf("advantage %g of %+v", apart, m.Group)
		}
	})
}

func TestRelationOfJobs(t *testing.T) {
	const add, change = privacy.AddRemove, privacy.ChangeOne
	for _, c := range []struct {
		specs []string
		asked privacy.Neighbours
		want  privacy.Neighbours // 0: refused
	}{
		{[]string{"gaussian sigma=1"}, 0, add},
		{[]string{"gaussian sigma=1"}, change, change},
		{[]string{"pure epsilon=1 sampling=1/2"}, 0, add},
		{[]string{"pure epsilon=1 sampling=1/2"}, change, 0},
		{[]string{"pure epsilon=1 sampling=1/2 scheme=fixed"}, 0, change},
		{[]string{"pure epsilon=1 sampling=1/2 scheme=fixed"}, add, 0},
		{[]string{"pure epsilon=1", "randomized-response k=2 epsilon=1"}, 0, change},
		{[]string{"randomized-response k=2 epsilon=1"}, add, 0},
		{[]string{"randomized-response k=2 epsilon=1"}, change, change},
	} {
		s := usual()
		s.Group, s.Neighbours = 1, c.asked
		m, err := interpret.MeaningOfJob(c.specs, privacy.Delta{}, s)
		if m.Scenario.Neighbours != c.want || errors.Is(err, account.ErrParameter) != (c.want == 0) {
			t.Errorf("%q by %v: %v, %v", c.specs, c.asked, m.Scenario.Neighbours, err)
		}
	}
	for _, n := range []privacy.Neighbours{0, add, change} {
		s := usual()
		s.Neighbours = n
		if m, err := interpret.MeaningOf(promise(t, "1", "0"), s); err != nil || m.Scenario.Neighbours != max(n, add) {
			t.Errorf("%v: %v, %v", n, m.Scenario.Neighbours, err)
		}
	}
}
