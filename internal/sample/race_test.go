package sample_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
)

type entrant struct {
	weight uint64
	score  int64
}

// chances are w·exp(c·s), normalised after the greatest score is taken out.
func chances(c float64, entrants []entrant) []float64 {
	top := int64(math.MinInt64)
	for _, e := range entrants {
		top = max(top, e.score)
	}
	out, total := make([]float64, len(entrants)), 0.0
	for i, e := range entrants {
		less, _ := new(big.Float).SetInt(new(big.Int).Sub(big.NewInt(top), big.NewInt(e.score))).Float64()
		out[i] = float64(e.weight) * math.Exp(-c*less)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

var races = []struct {
	name     string
	c        *big.Rat
	entrants []entrant
}{
	{"equal", ratio(1, 1), []entrant{{1, 0}, {1, 0}, {1, 0}, {1, 0}}},
	{"scores", ratio(1, 3), []entrant{{1, 0}, {1, 1}, {1, 2}, {1, 5}, {1, -4}}},
	{"weights", ratio(1, 1), []entrant{{1, 7}, {2, 7}, {3, 7}, {0, 100}, {10, 7}}},
	{"weights against scores", ratio(1, 1), []entrant{{1 << 63, 0}, {1, 44}, {1 << 62, -1}, {3, 42}, {math.MaxUint64, 0}}},
	{"extreme weights", ratio(1, 1), []entrant{{1 << 63, 0}, {1, 0}, {1 << 63, 0}}},
	{"extreme scores", ratio(1, 2), []entrant{{1, math.MaxInt64}, {1, math.MinInt64}, {1, math.MaxInt64 - 1}, {2, math.MaxInt64 - 3}, {1, 0}}},
	{"rate 0", ratio(0, 1), []entrant{{1, math.MaxInt64}, {2, math.MinInt64}, {1, 5}}},
	{"a rate below the floats", new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1100)), []entrant{{1, math.MaxInt64}, {1, 0}}},
	{"a rate above the floats", new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1100)), []entrant{{1, 0}, {1, -1}, {3, 0}}},
}

// TestRaceFirst: P(i) ∝ w·exp(c·s). The false-alarm rate is 1e-6 for each race.
func TestRaceFirst(t *testing.T) {
	for _, race := range races {
		c, _ := race.c.Float64()
		expected := chances(c, race.entrants)
		if math.IsInf(c, 1) {
			expected = []float64{.25, 0, .75}
		}
		source, observed := entropy.System(), make([]int, len(race.entrants))
		for range 3_000 {
			r := sample.NewRace(source, race.c, 1)
			for i, e := range race.entrants {
				r.Enter(int64(i), e.weight, e.score)
			}
			observed[r.Winners()[0]]++
		}
		for i, p := range expected {
			if p == 0 && observed[i] != 0 {
				t.Errorf("%s: entrant %d, who has no chance, won", race.name, i)
			}
		}
		if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}).Check(); err != nil {
			t.Errorf("%s: %v", race.name, err)
		}
	}
}

// TestRaceOrder: the first three of four finish in each order as often as drawing one after another without replacement
// gives.
func TestRaceOrder(t *testing.T) {
	entrants := []entrant{{1, 0}, {2, 1}, {5, -1}, {1, 2}}
	left := chances(.5, entrants)
	var names []string
	var expected []float64
	var draw func(order []int64, p, rest float64)
	draw = func(order []int64, p, rest float64) {
		if len(order) == 3 {
			names, expected = append(names, fmt.Sprint(order)), append(expected, p)
			return
		}
		for i := range int64(len(entrants)) {
			if !slices.Contains(order, i) {
				draw(append(slices.Clone(order), i), p*left[i]/rest, rest-left[i])
			}
		}
	}
	draw(nil, 1, 1)
	source, observed := entropy.System(), make([]int, len(names))
	for range 12_000 {
		r := sample.NewRace(source, ratio(1, 2), 3)
		for i, e := range entrants {
			r.Enter(int64(i), e.weight, e.score)
		}
		observed[slices.Index(names, fmt.Sprint(r.Winners()))]++
	}
	if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}).Check(); err != nil {
		t.Error(err)
	}
}

// TestRaceWideScores: scores that are 2²⁰⁰ apart, or 1 apart at a distance of 2²⁰⁰, and weights above 64
// bits.
func TestRaceWideScores(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	near := new(big.Int).Sub(far, big.NewInt(1))
	heavy := new(big.Int).Lsh(big.NewInt(3), 100)
	light := new(big.Int).Lsh(big.NewInt(1), 100)
	source, observed := entropy.System(), make([]int, 4)
	for range 3_000 {
		r := sample.NewRace(source, ratio(1, 1), 1)
		r.EnterBig(0, heavy, new(big.Int).Neg(far))
		r.EnterBig(1, light, far)
		r.EnterBig(2, heavy, near)
		r.EnterBig(3, big.NewInt(1), near)
		observed[r.Winners()[0]]++
	}
	e := math.Exp(-1)
	expected := []float64{0, 1 / (1 + 3*e), 3 * e / (1 + 3*e), 0}
	if observed[0]+observed[3] != 0 {
		t.Errorf("who has no chance won: %v", observed)
	}
	if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: 1e-6}).Check(); err != nil {
		t.Error(err)
	}
}

// words is a recording of 64-bit words.
func words(w ...uint64) []byte {
	var out []byte
	for _, v := range w {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

// TestRaceRefines makes the first digits leave it open who is first, and checks what further digits decide, in
// integers: for equal scores and weights v and w, E_x/v < E_y/w if and only if U_x^w > U_y^v.
func TestRaceRefines(t *testing.T) {
	const first = 0xc0ffee1234567890
	square := new(big.Int).SetUint64(first)
	square.Mul(square, square)
	squared := new(big.Int).Rsh(square, 64).Uint64() // the first digits of U²
	for name, c := range map[string]struct {
		words    []uint64
		weights  [2]uint64
		want     int64
		consumed int64
	}{
		"settled at once":           {[]uint64{5 << 60, 6 << 60}, [2]uint64{1, 1}, 1, 16},
		"settled by the 54th digit": {[]uint64{1 << 63, 1<<63 + 1<<10}, [2]uint64{1, 1}, 1, 16},
		"settled by the 64th digit": {[]uint64{1<<63 + 2, 1 << 63}, [2]uint64{1, 1}, 0, 16},
		"next digits, challenger's": {[]uint64{first, first, 1 << 9, 1}, [2]uint64{1, 1}, 1, 32},
		"next digits, holder's":     {[]uint64{first, first, 1, 1 << 9}, [2]uint64{1, 1}, 0, 32},
		"third word":                {[]uint64{first, first, 7, 7, 5, 5, 1, 0}, [2]uint64{1, 1}, 1, 64},
		"all zeros":                 {[]uint64{0, 0, 1, 9}, [2]uint64{1, 1}, 0, 32},
		"all ones": {
			[]uint64{math.MaxUint64, math.MaxUint64, 1 << 63, 1 << 62},
			[2]uint64{1, 1},
			1, 32,
		},
		"zeros against ones":          {[]uint64{0, math.MaxUint64}, [2]uint64{1, 1}, 1, 16},
		"a weight of 2, above square": {[]uint64{first, squared, 0, math.MaxUint64}, [2]uint64{1, 2}, 0, 32},
		"a weight of 2, below square": {[]uint64{first, squared, math.MaxUint64, 0}, [2]uint64{1, 2}, 1, 32},
	} {
		if got := byPowers(c.words, c.weights); got != c.want {
			t.Errorf("%s: the powers say %d, the table %d", name, got, c.want)
		}
		source := entropy.Recorded(words(c.words...))
		r := sample.NewRace(source, ratio(1, 1), 1)
		r.Enter(0, c.weights[0], 9)
		r.Enter(1, c.weights[1], 9)
		if got := r.Winners()[0]; got != c.want || source.Consumed() != c.consumed {
			t.Errorf("%s: %d won after %d bytes; want %d after %d", name, got, source.Consumed(), c.want, c.consumed)
		}
	}
}

// byPowers decides a race of two by U_x^w > U_y^v. The challenger, 1, draws its further digits first: one word in the
// first round, two in the second.
func byPowers(w []uint64, weights [2]uint64) int64 {
	var u [2]*big.Int
	u[0], u[1] = new(big.Int).SetUint64(w[0]), new(big.Int).SetUint64(w[1])
	rest := w[2:]
	for n := 1; len(rest) > 0; n *= 2 {
		for _, i := range []int{1, 0} {
			for range n {
				u[i].Lsh(u[i], 64).Or(u[i], new(big.Int).SetUint64(rest[0]))
				rest = rest[1:]
			}
		}
	}
	digits := uint(64 * len(w) / 2)
	power := func(i int) *big.Int { // U_i^w of the other, in units of 2^−(digits·(v + w))
		e := weights[1-i]
		p := new(big.Int).Exp(u[i], new(big.Int).SetUint64(e), nil)
		return p.Lsh(p, digits*uint(weights[0]+weights[1]-e))
	}
	if power(0).Cmp(power(1)) > 0 {
		return 0
	}
	return 1
}

// TestRaceKeepsAll: with room for everybody, everybody is there once.
func TestRaceKeepsAll(t *testing.T) {
	r := sample.NewRace(entropy.System(), ratio(1, 7), 1000)
	for i := range int64(500) {
		r.Enter(i, uint64(i+1), i%13)
	}
	got := r.Winners()
	slices.Sort(got)
	for i := range int64(500) {
		if len(got) != 500 || got[i] != i {
			t.Fatalf("%d winners, %v", len(got), got)
		}
	}
}

// TestRaceRemembersDigits: of sixteen whose first digits are the same, further digits settle the order once and for
// all.
func TestRaceRemembersDigits(t *testing.T) {
	var recorded []byte
	for range 16 {
		recorded = append(recorded, words(1<<63)...)
	}
	r := sample.NewRace(entropy.Recorded(append(recorded, recording(4000)...)), ratio(1, 7), 10)
	for i := range int64(16) {
		r.Enter(i, 3, 5)
	}
	first := r.Winners()
	if again := r.Winners(); !slices.Equal(first, again) || len(first) != 10 {
		t.Errorf("%v, and then %v", first, again)
	}
}

// TestRaceGolden pins who wins by which bytes.
func TestRaceGolden(t *testing.T) {
	source := entropy.Recorded(recording(4096))
	r := sample.NewRace(source, ratio(1, 3), 8)
	for i := range int64(20) {
		r.EnterBig(i, big.NewInt(1+i%4), big.NewInt(7-i%5))
	}
	if got, want := fmt.Sprint(r.Winners(), source.Consumed()), "[6 10 3 19 15 5 12 17] 160"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRacePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no rate":         func() { sample.NewRace(entropy.System(), nil, 1) },
		"a negative rate": func() { sample.NewRace(entropy.System(), ratio(-1, 2), 1) },
		"no room":         func() { sample.NewRace(entropy.System(), ratio(1, 2), 0) },
		"a negative weight": func() {
			sample.NewRace(entropy.System(), ratio(1, 2), 1).EnterBig(0, big.NewInt(-1),
				big.NewInt(0))
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// FuzzRace: floats and wide intervals make the same winners of the same digits, and ask for as many.
func FuzzRace(f *testing.F) {
	f.Add(words(5<<60, 5<<60, 1, 2, 3, 4, 5, 6, 7), uint8(1), uint8(1), []byte{1, 0, 1, 0, 2, 3})
	f.Add(words(0, math.MaxUint64, 1, 2, 0, 0, 3, 4, 5, 6, 7, 8, 9), uint8(1), uint8(3), []byte{1, 0, 1, 0, 1, 0, 1, 0})
	f.Add(recording(400), uint8(200), uint8(1), []byte{1, 0, 255, 255, 7, 3, 100, 90, 77, 128, 3, 2})
	f.Fuzz(func(t *testing.T, recorded []byte, num, den uint8, list []byte) {
		if len(list) > 40 {
			list = list[:40]
		}
		run := func(exactly bool) (winners []int64, consumed int64, err error) {
			err = entropy.Replay(recorded, func(src *entropy.Source) {
				r := sample.NewRace(src, ratio(int64(num), int64(den)+1), 3)
				if exactly {
					r.Exactly()
				}
				for i := 0; i+1 < len(list); i += 2 {
					weight, score := uint64(list[i]), int64(int8(list[i+1]))
					if i%3 == 0 {
						weight, score = weight<<56, score<<56
					}
					r.EnterBig(int64(i), new(big.Int).SetUint64(weight), big.NewInt(score))
				}
				winners, consumed = r.Winners(), src.Consumed()
			})
			return winners, consumed, err
		}
		fast, n, err := run(false)
		slow, m, err2 := run(true)
		if err != err2 || !slices.Equal(fast, slow) || n != m { //nolint:errorlint // nil or the very same
			t.Errorf("floats: %v, %d bytes, %v; intervals: %v, %d bytes, %v", fast, n, err, slow, m, err2)
		}
	})
}

func BenchmarkRace(b *testing.B) {
	for name, c := range map[string]struct {
		keep   int
		weight func(i int64) uint64
	}{
		"first":          {1, func(int64) uint64 { return 1 }},
		"first weighted": {1, func(i int64) uint64 { return uint64(i)*7919 + 1 }},
		"first 100":      {100, func(int64) uint64 { return 1 }},
		"all":            {1 << 40, func(int64) uint64 { return 1 }},
	} {
		b.Run(name, func(b *testing.B) {
			r := sample.NewRace(entropy.System(), ratio(1, 20), c.keep)
			b.ReportAllocs()
			for i := range int64(b.N) {
				r.Enter(i, c.weight(i), i&63)
			}
		})
	}
}

// A weight of 2^k enters as EnterBig would enter it: on the same bytes the same entrants win, for small and for large k.
func TestEnterPowerIsEnterBig(t *testing.T) {
	bytes := make([]byte, 1<<16)
	for i := range bytes {
		bytes[i] = byte(i*i*31 + i>>3*7)
	}
	won := map[int64]bool{}
	for run := range 40 {
		source := bytes[run*1000:]
		a := sample.NewRace(entropy.Recorded(source), big.NewRat(1, 3), 1)
		b := sample.NewRace(entropy.Recorded(source), big.NewRat(1, 3), 1)
		for i, k := range []uint{0, 3, 63, 64, 65, 200, 1023} {
			score := -int64(3 * math.Ln2 * float64(k)) // exp of a third of it against 2^k
			a.EnterPower(int64(i), k, score)
			b.EnterBig(int64(i), new(big.Int).Lsh(big.NewInt(1), k), big.NewInt(score))
		}
		if !slices.Equal(a.Winners(), b.Winners()) {
			t.Fatalf("run %d: %v and %v win", run, a.Winners(), b.Winners())
		}
		won[a.Winners()[0]] = true
	}
	if len(won) < 3 {
		t.Errorf("only %v ever win", won)
	}
	defer func() {
		if recover() == nil {
			t.Error("a weight of 2^1024 is accepted")
		}
	}()
	sample.NewRace(entropy.System(), big.NewRat(1, 3), 1).EnterPower(0, 1024, 0)
}
