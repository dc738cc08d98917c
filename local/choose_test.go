package local

import (
	"errors"
	"math"
	"testing"

	"dither/account"
	"dither/internal/splitmix"
	"dither/internal/stattest"
	"dither/privacy"
)

// Few values get k-ary response. Many get a short report if it costs at most 1 % of variance, and a limit on bits is
// kept.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		k    uint64
		e    string
		n    int64
		bits int
		want string
	}{
		{2, "1", 1000, 0, "krr"},
		{4, "3", 1000, 0, "krr"},
		{1024, "1", 1000, 0, "hr"},            // ss has .5 % less variance, and 1,024 bits
		{1 << 20, "1", 1_000_000, 0, "hr"},    // olh would take 10¹² steps
		{1024, "4", 10_000, 0, "ss"},          // 3 % better than others
		{1024, "4", 10_000, 100, "hr"},        // 66 bits
		{1 << 20, "1", 1_000_000, 25, "hcms"}, // a sketch
	} {
		best, all, err := Choose(c.k, epsilon(t, c.e), c.n, c.bits)
		if err != nil {
			t.Fatal(err)
		}
		if got := best.Params().Mechanism; got != c.want {
			t.Errorf("k = %d, ε = %s, n = %d, %d bits: %s, want %s of %+v", c.k, c.e, c.n, c.bits, got, c.want, all)
		}
	}
	if _, _, err := Choose(1<<20, epsilon(t, "1"), 1000, 5); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, _, err := Choose(10, epsilon(t, "1"), 0, 0); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// Intervals of pooled frequencies cover the shares of the population also where the reports have almost no noise and
// values are rare, at least in 95 % of samples: exact binomial probabilities, without a draw.
func TestPoolCoversRareValues(t *testing.T) {
	o := oracle(t, "krr", 3, "30")
	const n = 100
	covers := map[int][2]float64{} // the interval, by the number of senders with the value
	for count := range n + 1 {
		tally := o.NewTally()
		for i := range n {
			report := byte(0) // of value 0
			if i < count {
				report = 0x40 // of value 1
			}
			if err := tally.Add([]byte{report}); err != nil {
				t.Fatal(err)
			}
		}
		found, err := Pool(.95, []*Tally{tally}, 1)
		if err != nil {
			t.Fatal(err)
		}
		covers[count] = [2]float64{found[0].Low, found[0].High}
		if !(found[0].Low <= found[0].Frequency && found[0].Frequency <= found[0].High) {
			t.Errorf("%d of %d: %+v", count, n, found[0])
		}
	}
	for _, share := range []float64{.002, .005, .01, .03, .1, .5, .97, .999} {
		covered := 0.0
		for count, c := range covers {
			if c[0] <= share && share <= c[1] {
				a, _ := math.Lgamma(n + 1)
				b, _ := math.Lgamma(float64(count) + 1)
				d, _ := math.Lgamma(float64(n-count) + 1)
				covered += math.Exp(a - b - d + float64(count)*math.Log(share) + float64(n-count)*math.Log1p(-share))
			}
		}
		if covered < .95 {
			t.Errorf("a share of %v is covered with probability %v", share, covered)
		}
	}
}

// Pooled strata are unbiased and better than each. The check of the interval has a false-alarm rate of 1e-6.
func TestPool(t *testing.T) {
	s := &stattest.Sequential{Promised: .94, Wrong: .85, FalseAlarm: 1e-6, Miss: 1e-6}
	people := splitmix.At(1) // of whom 30 % have the value 1
	for s.Open() {
		var strata []*Tally
		for i, e := range []string{"0.5", "2"} {
			name := []string{"krr", "oue"}[i]
			values := make([]uint64, 500+500*i)
			for j := range values {
				if people.Below(10) < 3 {
					values[j] = 1
				}
			}
			strata = append(strata, collect(t, oracle(t, name, 5, e), values))
		}
		const share = .3
		got, err := Pool(.95, strata, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Observe(got[0].Low <= share && share <= got[0].High)
		one := strata[1].oracle.Variance(1000, share) + share*(1-share)/1000
		if got[0].Stddev > 1.1*math.Sqrt(one) {
			t.Fatalf("the pool is worse than its better stratum: %v, %v", got[0].Stddev, math.Sqrt(one))
		}
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if _, err := Pool(.95, nil); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := Pool(.95, []*Tally{oracle(t, "krr", 3, "1").NewTally()}); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// Sums of strata are unbiased even if people choose their ε by their value, where pooled frequencies are wrong. The check
// of the interval has a false-alarm rate of 1e-6.
func TestSum(t *testing.T) {
	s := &stattest.Sequential{Promised: .94, Wrong: .85, FalseAlarm: 1e-6, Miss: 1e-6}
	const careful = 400 // they have the value 1, and choose the smaller ε
	for s.Open() {
		ones := make([]uint64, careful)
		for i := range ones {
			ones[i] = 1
		}
		strata := []*Tally{
			collect(t, oracle(t, "krr", 5, "0.5"), ones), collect(t, oracle(t, "oue", 5, "2"), make([]uint64, 1000)),
		}
		got, err := Sum(.95, strata, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Observe(got[0].Low <= careful && careful <= got[0].High)
		pooled, err := Pool(.95, strata, 1)
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(careful) / 1400; pooled[0].High >= share {
			t.Fatalf("pooled frequencies of people who choose their ε are right: %v covers %v", pooled[0], share)
		}
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	flh, cms := oracle(t, "flh", 5, "1"), oracle(t, "cms", 5, "1")
	shared := []*Tally{collect(t, flh, []uint64{1, 2}), collect(t, cms, []uint64{1, 2})}
	for _, strata := range [][]*Tally{nil, shared, {flh.NewTally()}, {shared[0], oracle(t, "krr", 3, "1").NewTally()}} {
		if _, err := Sum(.95, strata); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
		if _, err := Pool(.95, strata); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
}

func TestShuffler(t *testing.T) {
	d, err := privacy.ParseDelta("1e-6")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Shuffler{10_000, epsilon(t, "2")}.Epsilon(d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := account.NewShuffle(10_000, epsilon(t, "2"))
	if err != nil {
		t.Fatal(err)
	}
	if want := s.Epsilon(d); got.Cmp(want) != 0 || got.Cmp(epsilon(t, "0.3")) > 0 {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := (Shuffler{0, epsilon(t, "2")}).Epsilon(d); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// The ε before shuffling is certified, and a few percent more would not be.
func TestBeforeShuffling(t *testing.T) {
	d, err := privacy.ParseDelta("1e-6")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{1, 100, 5000} {
		target := epsilon(t, "0.5")
		e, err := BeforeShuffling(n, target, d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Shuffler{n, e}.Epsilon(d)
		if err != nil || got.Cmp(target) > 0 {
			t.Errorf("n = %d: reports of ε = %s are shuffled to %s, %v", n, e, got, err)
		}
		if more, err := (Shuffler{n, e.Share(106, 100)}).Epsilon(d); err != nil || more.Cmp(target) <= 0 {
			t.Errorf("n = %d: reports of more than ε = %s are shuffled to %s, %v", n, e, more, err)
		}
	}
	if _, err := BeforeShuffling(0, epsilon(t, "1"), d); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}
