package quantile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// TestWins replays decisions on recorded digits, near the border too, and makes them again in rationals.
func TestWins(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	open := 0
	for range 5000 {
		a := scaled{1 + r.Float64(), r.Int64N(100) - 50}
		b := scaled{1 + r.Float64(), a.e + r.Int64N(141) - 70}
		if r.IntN(4) == 0 {
			b.m = a.m
		}
		value := func(x scaled) *big.Rat {
			f := new(big.Float).SetMantExp(big.NewFloat(x.m), int(x.e))
			v, _ := f.Rat(nil)
			return v
		}
		p := value(a)
		p.Quo(p, new(big.Rat).Add(value(a), value(b)))
		// U is taken near p, or near 1 − p where the lesser of the two is asked, or anywhere.
		word := r.Uint64()
		near := new(big.Rat).Set(p)
		if b.e < a.e {
			near.Sub(big.NewRat(1, 1), near)
		}
		scaledUp := new(big.Int).Lsh(near.Num(), 64)
		if exactWord := scaledUp.Quo(scaledUp, near.Denom()); r.IntN(3) > 0 {
			word = exactWord.Uint64() + uint64(r.IntN(3)) - 1
		}
		recording := binary.LittleEndian.AppendUint64(nil, word)
		u := new(big.Int).SetUint64(word)
		for range 4 {
			more := r.Uint64()
			recording = binary.LittleEndian.AppendUint64(recording, more)
			u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(more))
		}
		src := entropy.Recorded(recording)
		got := a.wins(src, b)
		if src.Consumed() > 8 {
			open++
		}
		real := new(big.Rat).SetFrac(u, new(big.Int).Lsh(big.NewInt(1), 320))
		want := real.Cmp(p) < 0
		if b.e < a.e {
			want = real.Cmp(near) >= 0
		}
		if got != want {
			t.Fatalf("%v against %v: %v at U = %s", a, b, got, real.FloatString(30))
		}
	}
	if open == 0 {
		t.Error("64 digits decided every time")
	}
	far := scaled{1, -1 << 50} // no integer of 2⁵⁰ digits is made
	if (scaled{1, 0}).wins(entropy.System(), scaled{}) != true || far.wins(entropy.System(), scaled{1, 0}) ||
		!(scaled{1, 0}).wins(entropy.System(), far) {
		t.Error("far apart, the lesser won")
	}
	src := entropy.Recorded(make([]byte, 1024))
	if far.wins(entropy.Recorded(append(make([]byte, 800), 1, 1, 1, 1, 1, 1, 1, 1)), scaled{1, 0}) {
		t.Error("one of 2⁵⁰ digits was not 0, and it won")
	}
	if !(scaled{1, -500}).wins(src, scaled{1, 0}) {
		t.Error("a U of 0 does not win")
	}
}

// TestScaled compares operations with big floats.
func TestScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 5000 {
		a := scaled{1 + r.Float64(), r.Int64N(200) - 100}
		b := scaled{1 + r.Float64(), r.Int64N(200) - 100}
		x := new(big.Float).SetPrec(400).SetMantExp(big.NewFloat(a.m), int(a.e))
		y := new(big.Float).SetPrec(400).SetMantExp(big.NewFloat(b.m), int(b.e))
		for name, c := range map[string]struct {
			got  scaled
			want *big.Float
		}{
			"sum":      {a.plus(b), new(big.Float).SetPrec(400).Add(x, y)},
			"product":  {a.times(b), new(big.Float).SetPrec(400).Mul(x, y)},
			"quotient": {a.over(b), new(big.Float).SetPrec(400).Quo(x, y)},
		} {
			got := new(big.Float).SetPrec(400).SetMantExp(big.NewFloat(c.got.m), int(c.got.e))
			ratio, _ := new(big.Float).Sub(got.Quo(got, c.want), big.NewFloat(1)).Float64()
			if math.Abs(ratio) > 0x1p-53 || c.got.m < 1 || c.got.m >= 2 {
				t.Fatalf("%s of %v and %v is %v, off by %g", name, a, b, c.got, ratio)
			}
		}
	}
	b := exact.IntervalOf(big.NewRat(-1, 3_000_000), 256).Exp().Hi()
	p := powersOf(b)
	for _, n := range []int64{0, 1, 2, 1000, 123_456_789, 1 << 61} {
		log := -float64(n) / 3_000_000 / math.Ln2
		got := p.at(n)
		if d := math.Log2(got.m) + (float64(got.e) - log); math.Abs(d) > 1e-9*(1+math.Abs(log)*1e-6) {
			t.Errorf("b^%d = %v, of logarithm %g", n, got, log)
		}
	}
}

// place is a level of a bin.
type place struct{ bin, level int64 }

// places are all there are, in order.
func (j *joint) places() []place {
	var all []place
	for bin := int64(0); bin <= (j.points()-1)/j.width; bin++ {
		for level := range j.levels {
			all = append(all, place{bin, level})
		}
	}
	return all
}

// distance is d·2R·den of a sequence of places, by definition.
func (j *joint) distance(data []int64, sequence []place) int64 {
	before := func(p place) int64 { // mass in units of 1/(2R)
		mass := int64(0)
		for _, x := range data {
			switch bin := (j.clamp(x) - j.Lower) / j.width; {
			case bin < p.bin:
				mass += 2 * j.levels
			case bin == p.bin:
				mass += 2*p.level + 1
			}
		}
		return mass
	}
	total, n, last := int64(0), int64(len(data)), int64(0)
	for i := range len(sequence) + 1 {
		at := 2 * j.levels * n
		if i < len(sequence) {
			at = before(sequence[i])
		}
		d := (at-last)*j.den - 2*j.levels*n*j.gap(i)
		total += max(d, -d)
		last = at
	}
	return total
}

// sequences lists all that do not fall.
func sequences(all []place, k int) [][]place {
	if k == 0 {
		return [][]place{nil}
	}
	var out [][]place
	for _, rest := range sequences(all, k-1) {
		from := 0
		if len(rest) > 0 {
			from = slices.Index(all, rest[len(rest)-1])
		}
		for _, p := range all[from:] {
			out = append(out, append(slices.Clone(rest), p))
		}
	}
	return out
}

// binMasses is the distribution of the bins, by enumeration of all sequences, and the sum of their weights.
func (j *joint) binMasses(data []int64) (map[string]float64, float64) {
	rate, _ := j.rate.Float64()
	out, total := map[string]float64{}, 0.0
	for _, s := range sequences(j.places(), len(j.at)) {
		weight, run := math.Exp(-rate*float64(j.distance(data, s))), 0
		key := ""
		for i, p := range s {
			if run++; i > 0 && s[i-1] != p {
				run = 1
			}
			width := min(j.width, j.points()-p.bin*j.width)
			weight *= float64(width) / float64(run)
			key += fmt.Sprint(p.bin, " ")
		}
		out[key] += weight
		total += weight
	}
	for key := range out {
		out[key] /= total
	}
	return out, total
}

func prepared(t testing.TB, m Joint) *joint {
	t.Helper()
	j, err := m.prepare()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJointWeights compares the sum of all weights with that of an enumeration.
func TestJointWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for range 400 {
		data, _ := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		m := Joint{
			Domain: Domain{-r.Int64N(4), r.Int64N(5)}, Unit: relations[r.IntN(4)],
			Bins: 1 + r.IntN(6), Epsilon: mechtest.Epsilon(t, []string{"0.1", "1", "10"}[r.IntN(3)]),
		}
		for at := range int64(8) {
			if len(m.Ranks) < 3 && r.IntN(3) == 0 {
				m.Ranks = append(m.Ranks, big.NewRat(at, 7))
			}
		}
		if len(m.Ranks) == 0 {
			continue
		}
		j := prepared(t, m)
		cells, err := j.cellsOf(orderedOf(data...), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		w := newJointWeights(j, cells, int64(len(data)))
		got, k := scaled{}, len(j.at)
		for i := range cells {
			got = got.plus(w.ended(k, i).times(w.step(i, len(cells)+1, k+1)))
		}
		_, want := j.binMasses(data)
		if ratio := math.Ldexp(got.m, int(got.e)) / want; math.Abs(ratio-1) > 1e-11 {
			t.Fatalf("%v, ranks %v in %v, %d bins: the weights add up to %g of %g", data, m.Ranks, m.Domain, m.Bins,
				ratio, want)
		}
	}
}

func TestJointSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for i := range 12_000 {
		u := relations[i%4]
		a, b := randomNeighbours(r, u)
		m := Joint{
			Domain: Domain{-r.Int64N(70), r.Int64N(70)}, Unit: u, Bins: 1 + r.IntN(80),
			Epsilon: mechtest.Epsilon(t, "1"),
		}
		den := 1 + r.Int64N(12)
		for at := range den + 1 {
			if r.IntN(2) == 0 {
				m.Ranks = append(m.Ranks, big.NewRat(at, den))
			}
		}
		if len(m.Ranks) == 0 {
			continue
		}
		target, err := targetsOf(m.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		j := &joint{Joint: m, targets: target, levels: int64(len(m.Ranks)), width: (m.points()-1)/int64(m.Bins) + 1}
		var s []place
		for range m.Ranks {
			s = append(s, place{r.Int64N((m.points()-1)/j.width + 1), r.Int64N(j.levels)})
		}
		slices.SortFunc(s, func(a, b place) int {
			return slices.Compare([]int64{a.bin, a.level}, []int64{b.bin, b.level})
		})
		d := j.distance(a, s) - j.distance(b, s)
		if big.NewRat(max(d, -d), 2*j.levels*j.den).Cmp(j.delta()) > 0 {
			t.Fatalf("%v and %v, ranks %v under %v: the score of %v moves by %d/%d, beyond %s", a, b, m.Ranks, u, s, d,
				2*j.levels*j.den, j.delta())
		}
	}
}

// TestJointIsPrivate compares all distributions on a small domain with those of all neighbours.
func TestJointIsPrivate(t *testing.T) {
	for _, text := range []string{"0.5", "3"} {
		for _, ranks := range [][]*big.Rat{{big.NewRat(1, 2)}, {big.NewRat(1, 4), big.NewRat(2, 3)}} {
			j := prepared(t, Joint{
				Domain{0, 2},
				mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
				ranks, 3,
				mechtest.Epsilon(t, text),
			})
			limit, _ := j.Epsilon.Rat().Float64()
			worst, known := 0.0, map[string]map[string]float64{}
			for _, data := range mechtest.Multisets(3, 5) {
				known[fmt.Sprint(data)], _ = j.binMasses(data)
			}
			for _, data := range mechtest.Multisets(3, 4) {
				for v := range int64(3) {
					at, _ := slices.BinarySearch(data, v)
					other := known[fmt.Sprint(slices.Insert(slices.Clone(data), at, v))]
					for out, p := range known[fmt.Sprint(data)] {
						worst = max(worst, math.Abs(math.Log(p/other[out])))
					}
				}
			}
			if worst > limit {
				t.Errorf("ranks %v at ε = %s: the loss is %g", ranks, text, worst)
			}
			t.Logf("ranks %v at ε = %s: the largest loss is %.4f", ranks, text, worst)
		}
	}
}

func TestJointDraws(t *testing.T) {
	const draws = 3000
	m := Joint{
		Domain{0, 9},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		[]*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 4)},
		4, mechtest.Epsilon(t, "2"),
	}
	for _, data := range [][]int64{nil, {1, 2, 2, 7, 9}, {5, 5, 5, 5, 5, 5}} {
		j := prepared(t, m)
		masses, _ := j.binMasses(data)
		var keys []string
		for key := range masses {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		test := stattest.ChiSquared{Observed: make([]int, len(keys)), FalseAlarm: mechtest.FalseAlarm}
		for _, key := range keys {
			test.Expected = append(test.Expected, masses[key])
		}
		cells, err := j.cellsOf(orderedOf(data...), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		src, weights := entropy.System(), newJointWeights(j, cells, int64(len(data)))
		for range draws {
			values, key := weights.values(src), ""
			for _, v := range values {
				key += fmt.Sprint((v-m.Lower)/j.width, " ")
			}
			i, found := slices.BinarySearch(keys, key)
			if !found {
				t.Fatalf("%v cannot be", values)
			}
			test.Observed[i]++
		}
		if err := test.Check(); err != nil {
			t.Errorf("%v: %v", data, err)
		}
	}
}

func TestJointRefuses(t *testing.T) {
	good := Joint{
		goodDomain,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		[]*big.Rat{big.NewRat(1, 2)},
		16, mechtest.Epsilon(t, "1"),
	}
	bad := map[string]func(*Joint){
		"no ε":       func(m *Joint) { m.Epsilon = privacy.Epsilon{} },
		"little ε":   func(m *Joint) { m.Epsilon = mechtest.Epsilon(t, "1e-14") },
		"tiny ε":     func(m *Joint) { m.Epsilon = tinyEpsilon(t) },
		"no ranks":   func(m *Joint) { m.Ranks = nil },
		"many ranks": func(m *Joint) { m.Ranks = make([]*big.Rat, 101) },
		"nil":        func(m *Joint) { m.Ranks = []*big.Rat{nil} },
		"falling":    func(m *Joint) { m.Ranks = []*big.Rat{big.NewRat(3, 4), big.NewRat(1, 2)} },
		"no bins":    func(m *Joint) { m.Bins = 0 },
		"many bins":  func(m *Joint) { m.Bins = 1<<23 + 1 },
	}
	for i := range badUnits {
		bad[fmt.Sprint("unit ", i)] = func(m *Joint) { m.Unit = badUnits[i] }
	}
	for i := range badDomains {
		bad[fmt.Sprint("domain ", i)] = func(m *Joint) { m.Domain = badDomains[i] }
	}
	for name, spoil := range bad {
		m := good
		spoil(&m)
		if _, err := m.Release(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.RankError(0.1); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("the bound, %s: %v", name, err)
		}
	}
	if _, err := good.RankError(0); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("β = 0: %v", err)
	}
	broken := errors.New("disk")
	if _, err := good.Release(mechanism.NewOrdered(func(func(int64, int64) bool) error { return broken })); !errors.Is(
		err, broken) {
		t.Errorf("the scan's error: %v", err)
	}
}

func TestJointExtremes(t *testing.T) {
	var ranks []*big.Rat
	for i := range int64(20) {
		ranks = append(ranks, big.NewRat(i, 19))
	}
	huge, err := privacy.EpsilonOf(big.NewRat(1_000_000, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{mechtest.Epsilon(t, "1e-5"), mechtest.Epsilon(t, "1"), huge} {
		for _, in := range []Domain{
			goodDomain,
			{7, 7},
			{0, 1},
			{math.MinInt64, math.MinInt64 + 1},
			{math.MaxInt64 - 1, math.MaxInt64},
			{1<<62 + 1, math.MaxInt64},
		} {
			for _, data := range []mechanism.Ordered{
				{},
				orderedOf(math.MinInt64, math.MaxInt64),
				orderedOf(slices.Repeat([]int64{0}, 1000)...),
			} {
				out, err := Joint{
					in,
					mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1},
					ranks, 50,
					e,
				}.Release(data)
				if err != nil || len(out.Values) != 20 || !slices.IsSorted(out.Values) ||
					in.clamp(out.Values[0]) != out.Values[0] || in.clamp(out.Values[19]) != out.Values[19] {
					t.Errorf("ε = %s in %v: %v, %v", e, in, out.Values, err)
				}
			}
		}
	}
	// As many rows as there may be, and all alike: every quantile is theirs.
	full := mechanism.NewOrdered(
		func(yield func(value, count int64) bool) error { yield(1, opaque.MaxRows); return nil })
	out, err := Joint{
		Domain{0, 3},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		ranks[1:19], 4,
		mechtest.Epsilon(t, "64"),
	}.Release(full)
	if err != nil || out.Values[0] != 1 || out.Values[17] != 1 {
		t.Errorf("2⁴⁰ rows: %v, %v", out.Values, err)
	}
}

func BenchmarkJoint(b *testing.B) {
	data := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for v := range int64(1000) {
			if !yield(17*v, 1) {
				break
			}
		}
		return nil
	})
	var ranks []*big.Rat
	for i := range int64(9) {
		ranks = append(ranks, big.NewRat(i+1, 10))
	}
	m := Joint{
		Domain{0, 20_000},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		ranks, 20_001,
		mechtest.Epsilon(b, "1"),
	}
	for b.Loop() {
		if _, err := m.Release(data); err != nil {
			b.Fatal(err)
		}
	}
}
