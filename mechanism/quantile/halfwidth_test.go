package quantile

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// someHalfWidths are draws at a random rank, with the Δ of one cell.
func someHalfWidths(t testing.TB, r *rand.Rand, u mechanism.Unit, price string) (h halfWidths, delta *big.Rat) {
	t.Helper()
	den := []int64{1, 2, 3, 4, 10}[r.IntN(5)]
	q := big.NewRat(r.Int64N(den+1), den)
	delta = Cells{Unit: u, Cells: 1}.Sensitivity(q)
	h, err := newHalfWidths(Domain{-r.Int64N(70), r.Int64N(70)}, q, delta, mechtest.Epsilon(t, price), ladderMiss())
	if err != nil {
		t.Fatal(err)
	}
	return h, delta
}

// of are the scores of the rungs around a value of the data.
func (h halfWidths) of(t testing.TB, data []int64, value int64) surroundings {
	t.Helper()
	s := h.around(value)
	if _, err := each(orderedOf(data...), h.in, s.visit); err != nil {
		t.Fatal(err)
	}
	return s
}

// law is the probability of each rung.
func (s *surroundings) law() (out []float64) {
	rate, _ := s.rate.Float64()
	total := 0.0
	for k, score := range s.scores() {
		w := math.Ldexp(math.Exp(rate*float64(score)), k-len(s.rungs))
		out, total = append(out, w), total+w
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

// misses is the probability of the rungs whose interval misses a row that the quantile is made of.
func (s *surroundings) misses(data []int64) (p float64) {
	n := int64(len(data))
	if n == 0 {
		return 0
	}
	sorted := slices.Clone(data)
	for i := range sorted {
		sorted[i] = s.in.clamp(sorted[i])
	}
	slices.Sort(sorted)
	floor := s.at * (n - 1) / s.den // row ⌊r⌋, counted from 0
	ceil := (s.at*(n-1) + s.den - 1) / s.den
	disc := max(0, (s.at*n+s.den-1)/s.den-1)
	for k, x := range s.law() {
		low, high := s.value-s.rungs[k], s.value+s.rungs[k]
		if slices.ContainsFunc([]int64{floor, ceil, disc}, func(i int64) bool { return sorted[i] < low || sorted[i] > high }) {
			p += x
		}
	}
	return p
}

var halfWidthUnits = []mechanism.Unit{
	{Neighbours: privacy.AddRemove, MaxRows: 1},
	{Neighbours: privacy.AddRemove, MaxRows: 3},
	{Neighbours: privacy.ChangeOne, MaxRows: 1},
	{Neighbours: privacy.ChangeOne, MaxRows: 2},
}

// TestHalfWidthsAreByDefinition computes S and d from the rows, and compares the scores of neighbours: they move by at
// most Δ, and in some pair by all of it.
func TestHalfWidthsAreByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 1))
	for _, u := range halfWidthUnits {
		most := 0.0
		for range 3000 {
			h, delta := someHalfWidths(t, r, u, "1")
			a, b := randomNeighbours(r, u)
			value := h.in.Lower + r.Int64N(h.in.points())
			first, second := h.of(t, a, value), h.of(t, b, value)
			scores := first.scores()
			if want := h.distances(a, value, first.rungs); !slices.Equal(scores, want) {
				t.Fatalf("%v around %d in %v: %v, by definition %v", a, value, h.in, scores, want)
			}
			limit, _ := delta.Float64()
			for k, x := range second.scores() {
				moved := math.Abs(float64(x-scores[k])) / float64(h.den*h.finer) / limit
				if most = max(most, moved); moved > 1+1e-9 {
					t.Fatalf("%v and %v around %d at %d/%d: rung %d moves by %.3f·Δ", a, b, value, h.at, h.den, k, moved)
				}
			}
		}
		if most < 1-1e-9 {
			t.Errorf("%v: scores moved by at most %.3f·Δ", u, most)
		}
	}
}

// distances are −d of each rung, from the definition.
func (h halfWidths) distances(data []int64, value int64, rungs []int64) (out []int64) {
	unit, n := h.den*h.finer, int64(len(data))
	before := -noSlack
	for _, w := range rungs {
		under, upTo := int64(0), int64(0)
		for _, x := range data {
			if h.in.clamp(x) < value-w {
				under++
			}
			if h.in.clamp(x) <= value+w {
				upTo++
			}
		}
		left, right := noSlack, noSlack
		if value-w > h.in.Lower {
			left = h.finer*h.at*(n-1) - unit*under
		}
		if value+w < h.in.Upper {
			right = unit*(upTo-1) - h.finer*h.at*(n-1)
		}
		slack := min(left, right)
		out = append(out, -max(0, h.margin-slack, before-h.margin))
		before = slack
	}
	return out
}

// TestHalfWidthsArePrivate compares the laws of neighbours: the logarithm of their ratio has a range of at most ε.
func TestHalfWidthsArePrivate(t *testing.T) {
	r := rand.New(rand.NewPCG(82, 1))
	for _, u := range halfWidthUnits {
		most := 0.0
		for range 3000 {
			h, _ := someHalfWidths(t, r, u, "2")
			a, b := randomNeighbours(r, u)
			value := h.in.Lower + r.Int64N(h.in.points())
			first, second := h.of(t, a, value), h.of(t, b, value)
			low, high, other := math.Inf(1), math.Inf(-1), second.law()
			for k, p := range first.law() {
				if ratio := math.Log(p / other[k]); p > 0 && other[k] > 0 {
					low, high = min(low, ratio), max(high, ratio)
				}
			}
			if most = max(most, high-low); high-low > 2+1e-9 || high > 2+1e-9 || low < -2-1e-9 {
				t.Fatalf("%v and %v around %d: the logarithm of the ratio is from %.4f to %.4f at ε = 2", a, b, value, low, high)
			}
		}
		if most < 1 {
			t.Errorf("%v: the range of losses is at most %.3f of 2", u, most)
		}
	}
}

// TestHalfWidthsCover computes the exact probability of a miss: for random rows, all equal rows, rows at two places and
// no rows, around
// values of the domain, at several prices. It is at most α, and near α for some rows.
func TestHalfWidthsCover(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 1))
	worst := 0.0
	for i := range 4000 {
		u := halfWidthUnits[i%len(halfWidthUnits)]
		h, _ := someHalfWidths(t, r, u, []string{"0.01", "0.5", "3", "100"}[r.IntN(4)])
		data, _ := randomNeighbours(r, u)
		copies := 1 + r.IntN(60)
		switch i % 3 {
		case 1:
			for j := range data {
				data[j] = data[0]
			}
		case 2:
			for j := range data {
				data[j] = []int64{h.in.Lower, h.in.Upper}[r.IntN(2)]
			}
		}
		data = slices.Repeat(data, copies)
		for range 5 {
			s := h.of(t, data, h.in.Lower+r.Int64N(h.in.points()))
			p := s.misses(data)
			if worst = max(worst, p); p > 0.05+1e-12 {
				t.Fatalf("%v ×%d around %d at %d/%d in %v: the interval misses with probability %.4f",
					data[:len(data)/copies], copies, s.value, h.at, h.den, h.in, p)
			}
		}
	}
	if worst < 0.03 {
		t.Errorf("no interval misses with a probability above %.4f, so the margin has room to spare", worst)
	}
}

// TestHalfWidthsAreDrawnByTheirLaw compares draws with the law. False alarms: 1e-6.
func TestHalfWidthsAreDrawnByTheirLaw(t *testing.T) {
	h, err := newHalfWidths(Domain{0, 1 << 61}, big.NewRat(1, 2), big.NewRat(1, 2), mechtest.Epsilon(t, "0.3"), ladderMiss())
	if err != nil {
		t.Fatal(err)
	}
	var data []int64
	for i := range int64(60) {
		data = append(data, 1<<50+i*i<<20)
	}
	s := h.of(t, data, 1<<50+700<<20)
	counts := map[int64]int{}
	src := entropy.System()
	defer src.Wipe()
	const trials = 4000
	for range trials {
		counts[s.draw(src)]++
	}
	for k, p := range s.law() {
		got := counts[s.rungs[k]]
		if off := math.Abs(float64(got) - trials*p); off > 3+6*math.Sqrt(trials*p*(1-p)) {
			t.Errorf("rung %d of probability %.4f was drawn %d times of %d", k, p, got, trials)
		}
	}
}

func TestLadderRefusals(t *testing.T) {
	u := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	half := []*big.Rat{big.NewRat(1, 2)}
	for _, m := range []Ladder{
		{Domain{0, 1}, u, half, privacy.Epsilon{}, false},
		{Domain{0, 1}, u, half, mechtest.Epsilon(t, "0.000000000001"), false},
		{Domain{0, 1}, u, nil, mechtest.Epsilon(t, "1"), false},
		{Domain{1, 0}, u, half, mechtest.Epsilon(t, "1"), false},
		{Domain{0, 1}, mechanism.Unit{}, half, mechtest.Epsilon(t, "1"), false},
	} {
		if _, err := m.Release(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%+v: %v", m, err)
		}
		// what Release refuses is refused before anything is paid
		if _, err := m.RankError(0.05); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%+v has a rank error: %v", m, err)
		}
		_, _, _ = m.BoundedRange(), m.Expected(), m.ExpectedHalfWidth()
	}
	for _, in := range []Domain{{0, 0}, {math.MinInt64, math.MinInt64 + 1<<62 - 1}, {math.MaxInt64 - 1<<62 + 1, math.MaxInt64}} {
		for _, data := range [][]int64{nil, {math.MaxInt64}, {math.MinInt64, 0}} {
			out, err := Ladder{in, u, half, mechtest.Epsilon(t, "1"), false}.Release(orderedOf(data...))
			if err != nil || len(out.Values) != 2 || out.Values[1] < 0 {
				t.Errorf("%v in %v: %v, %v", data, in, out.Values, err)
			}
		}
	}
}

// ladderShapes are distributions of values, from the public bounds 0 and 20.
var ladderShapes = []struct {
	name   string
	smooth bool
	draw   func(r *rand.Rand) float64
}{
	{"normal", true, func(r *rand.Rand) float64 { return 10 + 2*r.NormFloat64() }},
	{"exponential", true, func(r *rand.Rand) float64 { return 2 * r.ExpFloat64() }},
	{"uniform", true, func(r *rand.Rand) float64 { return 20 * r.Float64() }},
	{"heavy tail", false, func(r *rand.Rand) float64 { return 0.01 / r.Float64() }},
	{"whole numbers", false, func(r *rand.Rand) float64 { return math.Round(10 + 2*r.NormFloat64()) }},
	{"two values", false, func(r *rand.Rand) float64 { return float64(5 + 10*r.IntN(2)) }},
	{"all equal", false, func(*rand.Rand) float64 { return 7.25 }},
}

// TestLadderCoverage simulates Ladder at ε = 1 over bounds [0, 20] with a grid of 2⁻²⁵, and prints the errors, the
// half-widths and the coverage. The intervals cover the sample's own quantile in at least 95 % of the trials, less what
// chance explains (false alarms: 1e-6 a row). For dense values, the mean half-width is at most four times the mean
// error: it is about three times, and 500 trials have a standard error of a twentieth (false alarms: 1e-6).
func TestLadderCoverage(t *testing.T) {
	trials := 60
	if os.Getenv("DITHER_LONG") != "" {
		trials = 1000
	}
	const grid = 1 << 25
	r := rand.New(rand.NewPCG(84, 1))
	u := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	t.Logf("%-14s %6s %5s %10s %10s %6s %9s", "values", "n", "q", "error", "half-width", "ratio", "coverage")
	for _, shape := range ladderShapes {
		for _, n := range []int{0, 50, 200, 1000, 20_000} {
			runs := trials
			switch {
			case n == 20_000:
				runs /= 6
			case n == 1000 && shape.smooth:
				runs = max(runs, 500)
			}
			for _, q := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10)} {
				m := Ladder{Domain{0, 20 * grid}, u, []*big.Rat{q}, mechtest.Epsilon(t, "1"), false}
				off, width, covered := 0.0, 0.0, 0
				for range runs {
					data := make([]int64, n)
					for i := range data {
						data[i] = m.clamp(int64(math.Round(shape.draw(r) * grid)))
					}
					slices.Sort(data)
					out, err := m.Release(orderedOf(data...))
					if err != nil {
						t.Fatal(err)
					}
					v, h := out.Values[0], out.Values[1]
					width += float64(min(v+h, m.Upper)-max(v-h, m.Lower)) / 2 / grid
					if n == 0 {
						covered++
						continue
					}
					at := q.Num().Int64() * int64(n) / q.Denom().Int64()
					if q.Denom().Int64()*at < q.Num().Int64()*int64(n) {
						at++
					}
					exact := data[at-1]
					off += math.Abs(float64(v-exact)) / grid
					if exact >= v-h && exact <= v+h {
						covered++
					}
				}
				rank, _ := q.Float64()
				ratio := width / off
				t.Logf("%-14s %6d %5.2g %10.3g %10.3g %6.2f %8.1f%%", shape.name, n, rank, off/float64(runs),
					width/float64(runs), ratio, 100*float64(covered)/float64(runs))
				if err := (stattest.Proportion{
					Successes: covered, Of: stattest.Binomial{Trials: runs, Probability: 0.95},
					FalseAlarm: 1e-6,
				}).CheckAtLeast(); err != nil {
					t.Errorf("%s, n = %d, q = %s: %v", shape.name, n, q.RatString(), err)
				}
				if n == 1000 && shape.smooth && ratio > 4 {
					t.Errorf("%s, n = %d, q = %s: the half-width is %.2f times the error", shape.name, n, q.RatString(), ratio)
				}
			}
		}
	}
}
