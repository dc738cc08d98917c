package quantile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// rankErrors are d(o)·den of every candidate, by definition.
func rankErrors(data []int64, in Domain, at, den int64) []int64 {
	var out []int64
	for o := in.Lower; o <= in.Upper; o++ {
		below, upTo := int64(0), int64(0)
		for _, x := range data {
			if in.clamp(x) < o {
				below++
			}
			if in.clamp(x) <= o {
				upTo++
			}
		}
		n := int64(len(data))
		out = append(out, max(0, den*below-at*n, at*n-den*upTo))
	}
	return out
}

// candidateScores are the scores with which each candidate of each section enters.
func (st stage) candidateScores(t testing.TB, data []int64) [][]int64 {
	t.Helper()
	level := st.sections
	totals := make([]int64, len(level))
	if _, err := each(orderedOf(data...), st.domain,
		eachPart(level, st.whole, func(i int, _, mass int64) { totals[i] += mass })); err != nil {
		t.Fatal(err)
	}
	out, all := make([][]int64, len(level)), make([]runs, len(level))
	for i, s := range level {
		all[i] = newRuns(s, totals[i], func(first int64, width uint64, score int64) {
			if first != s.low+int64(len(out[i])) {
				t.Fatalf("a run begins at %d after %d candidates from %d", first, len(out[i]), s.low)
			}
			out[i] = append(out[i], slices.Repeat([]int64{score}, int(width))...)
		})
	}
	if _, err := each(orderedOf(data...), st.domain,
		eachPart(level, st.whole, func(i int, v, mass int64) { all[i].value(v, mass) })); err != nil {
		t.Fatal(err)
	}
	for i, s := range level {
		all[i].end()
		if len(out[i]) != int(s.high-s.low+1) {
			t.Fatalf("%d candidates from %d to %d", len(out[i]), s.low, s.high)
		}
	}
	return out
}

// laws are the probabilities of all candidates in each section.
func (st stage) laws(t testing.TB, data []int64) [][]float64 {
	t.Helper()
	out := make([][]float64, len(st.sections))
	for i, scores := range st.candidateScores(t, data) {
		rate, _ := st.rates[i].Float64()
		total := 0.0
		for _, score := range scores {
			w := math.Exp(rate * float64(score) / float64((st.sections[i].to-st.sections[i].from)*st.whole))
			out[i], total = append(out[i], w), total+w
		}
		for j := range out[i] {
			out[i][j] /= total
		}
	}
	return out
}

func TestScoresAreByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 1000 {
		data, _ := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		den := 1 + r.Int64N(10)
		q := big.NewRat(r.Int64N(den+1), den)
		m := Approximate{
			Domain{-r.Int64N(70), r.Int64N(70)},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			[]*big.Rat{q},
			mechtest.Epsilon(t, "1"), false,
		}
		target, err := targetsOf(m.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		want := rankErrors(data, m.Domain, target.at[0], target.den)
		for i, score := range m.stage([]section{m.root(target)}).candidateScores(t, data)[0] {
			if -score != want[i]*m.whole() {
				t.Fatalf("%v, q = %s in %v: the score of %d is %d, not −%d·%d", data, q, m.Domain, m.Lower+int64(i),
					score, want[i], m.whole())
			}
		}
		if slices.Min(want) != 0 {
			t.Fatalf("%v, q = %s in %v: no candidate has the rank", data, q, m.Domain)
		}
	}
}

// TestQuantileSensitivity walks down random cuts, the same for both neighbours. The scores of all parts of all levels,
// in units of Δ and times the share of ε that a part is drawn with, move by at most 1 together.
func TestQuantileSensitivity(t *testing.T) {
	r, worst := rand.New(rand.NewPCG(17, 18)), 0.0
	float := func(x *big.Rat) float64 { f, _ := x.Float64(); return f }
	for i := range 12_000 {
		u := relations[i%4]
		a, b := randomNeighbours(r, u)
		den := 1 + r.Int64N(12)
		m := Approximate{Domain: Domain{-r.Int64N(20), r.Int64N(20)}, Unit: u, Squares: r.IntN(4) == 0}
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
		loss := new(big.Rat)
		for level := []section{m.root(target)}; len(level) > 0; {
			x, y := m.stage(level).candidateScores(t, a), m.stage(level).candidateScores(t, b)
			cuts := make([]int64, len(level))
			for i, s := range level {
				most := int64(0)
				for j := range x[i] {
					most = max(most, x[i][j]-y[i][j], y[i][j]-x[i][j])
				}
				part := big.NewRat(most, (s.to-s.from)*m.whole())
				part.Mul(part, big.NewRat(s.cut.share, s.cut.of))
				loss.Add(loss, part.Quo(part, delta(m.Unit, s)))
				cuts[i] = s.low + r.Int64N(s.high-s.low+1)
			}
			level = m.parts(target, level, cuts)
		}
		if loss.Cmp(big.NewRat(1, 1)) > 0 {
			t.Fatalf("%v and %v, ranks %v in %v under %v: the scores move by %s", a, b, m.Ranks, m.Domain, u,
				loss.FloatString(4))
		}
		worst = max(worst, float(loss))
	}
	t.Logf("the largest is %.4f", worst)
}

// masses is the distribution of the outputs, by enumeration: that of a section's cut, times those of what it is cut
// into.
func (m Approximate) masses(t testing.TB, data []int64) map[string]float64 {
	t.Helper()
	target, err := m.check()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	var level func(sections []section, values []int64, mass float64)
	level = func(sections []section, values []int64, mass float64) {
		if len(sections) == 0 {
			out[fmt.Sprint(values)] += mass
			return
		}
		laws, cuts := m.stage(sections).laws(t, data), make([]int64, len(sections))
		var choose func(i int, mass float64)
		choose = func(i int, mass float64) {
			if i == len(sections) {
				chosen := slices.Clone(values)
				for j, s := range sections {
					chosen[s.cut.rank] = cuts[j]
				}
				level(m.parts(target, sections, cuts), chosen, mass)
				return
			}
			for j, p := range laws[i] {
				cuts[i] = sections[i].low + int64(j)
				choose(i+1, mass*p)
			}
		}
		choose(0, mass)
	}
	level([]section{m.root(target)}, make([]int64, len(m.Ranks)), 1)
	return out
}

func TestQuantilesDraw(t *testing.T) {
	const draws = 2000
	three := []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(9, 10)}
	for name, m := range map[string]lawful{
		"median": Single{
			Domain{0, 12},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			big.NewRat(1, 2), mechtest.Epsilon(t, "1"),
		}.independent(),
		"three by recursion": Approximate{
			Domain{0, 4},
			mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1},
			three, mechtest.Epsilon(t, "2"), false,
		},
		"three, independent": Independent{
			Domain{0, 4},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2},
			three, mechtest.Epsilon(t, "6"),
		},
	} {
		data := []int64{1, 1, 3, 3, 3, 9}
		masses := m.masses(t, data)
		var keys []string
		for key := range masses {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		test := stattest.ChiSquared{Observed: make([]int, len(keys)), FalseAlarm: mechtest.FalseAlarm}
		for _, key := range keys {
			test.Expected = append(test.Expected, masses[key])
		}
		src := entropy.System()
		for range draws {
			out, err := m.release(src, orderedOf(data...))
			if err != nil {
				t.Fatal(err)
			}
			i, _ := slices.BinarySearch(keys, fmt.Sprint(out.Values))
			test.Observed[i]++
		}
		if err := test.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBoundedRangeOfQuantiles(t *testing.T) {
	one := Single{
		goodDomain,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		big.NewRat(1, 2),
		mechtest.Epsilon(t, "2"),
	}
	if got := fmt.Sprint(one.BoundedRange()); got != fmt.Sprint(privacy.ZCDPLoss(one.Epsilon.BoundedRange(),
		privacy.Delta{})) {
		t.Errorf("one quantile is %s", got)
	}
	many := Approximate{goodDomain, one.Unit, nil, one.Epsilon, true}
	for j := range int64(7) {
		many.Ranks = append(many.Ranks, big.NewRat(j+1, 8))
	}
	rho, _ := many.BoundedRange().ZCDP() // three levels, of nearly 2/3
	if third := one.Epsilon.Share(1, 3).BoundedRange().Times(3); rho.Cmp(third) < 0 ||
		rho.Cmp(third.Share(103, 100)) > 0 {
		t.Errorf("seven quantiles are %s", rho)
	}
	many.Ranks = make([]*big.Rat, 7)
	if rho, _ := many.BoundedRange().ZCDP(); rho.Cmp(one.Epsilon.BoundedRange()) != 0 {
		t.Errorf("what is refused is %s", rho)
	}
	apart := Independent{Ranks: make([]*big.Rat, 7), Epsilon: one.Epsilon} // seven of 2/7
	if rho, _ := apart.BoundedRange().ZCDP(); rho.Cmp(one.Epsilon.Share(1, 7).BoundedRange().Times(7)) != 0 {
		t.Errorf("seven independent quantiles are %s", rho)
	}
}

// apart are the same quantiles, each by itself.
func (m Approximate) apart() Independent {
	return Independent{m.Domain, m.Unit, m.Ranks, m.Epsilon}
}

func TestQuantilesRefuse(t *testing.T) {
	half := []*big.Rat{big.NewRat(1, 2)}
	good := Approximate{
		goodDomain,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		half,
		mechtest.Epsilon(t, "1"), false,
	}
	bad := map[string]func(*Approximate){
		"no ε":        func(m *Approximate) { m.Epsilon = privacy.Epsilon{} },
		"no ranks":    func(m *Approximate) { m.Ranks = nil },
		"many ranks":  func(m *Approximate) { m.Ranks = make([]*big.Rat, 256) },
		"nil":         func(m *Approximate) { m.Ranks = []*big.Rat{nil} },
		"below 0":     func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(-1, 2)} },
		"above 1":     func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(3, 2)} },
		"falling":     func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(3, 4), big.NewRat(1, 2)} },
		"equal":       func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2)} },
		"fine":        func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(1, 10_001)} },
		"fine in all": func(m *Approximate) { m.Ranks = []*big.Rat{big.NewRat(1, 1001), big.NewRat(1, 16)} },
		"astronomical": func(m *Approximate) {
			m.Ranks = []*big.Rat{new(big.Rat).Inv(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 200)))}
		},
	}
	for i := range badUnits {
		bad[fmt.Sprint("unit ", i)] = func(m *Approximate) { m.Unit = badUnits[i] }
	}
	for i := range badDomains {
		bad[fmt.Sprint("domain ", i)] = func(m *Approximate) { m.Domain = badDomains[i] }
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
		apart := m.apart()
		if _, err := apart.Release(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("independent, %s: %v", name, err)
		}
		if _, err := apart.RankError(0.1); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("the bound, independent, %s: %v", name, err)
		}
	}
	for _, beta := range []float64{0, -1, 1.5, math.NaN()} {
		if _, err := good.RankError(beta); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("β = %g: %v", beta, err)
		}
		if _, err := good.apart().RankError(beta); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("independent, β = %g: %v", beta, err)
		}
	}
	if _, err := (Single{}).Release(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("the zero value: %v", err)
	}
	broken := errors.New("disk")
	if _, err := good.Release(mechanism.NewOrdered(func(func(int64, int64) bool) error { return broken })); !errors.Is(
		err, broken) {
		t.Errorf("the scan's error: %v", err)
	}
}

func TestQuantilesExtremes(t *testing.T) {
	var ranks []*big.Rat
	for i := range int64(255) {
		ranks = append(ranks, big.NewRat(i, 254))
	}
	huge, err := privacy.EpsilonOf(big.NewRat(1_000_000, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{tinyEpsilon(t), mechtest.Epsilon(t, "1"), huge} {
		for _, in := range []Domain{
			goodDomain,
			{7, 7},
			{0, 1},
			{math.MinInt64, math.MinInt64 + 1},
			{math.MaxInt64 - 1, math.MaxInt64},
		} {
			for _, data := range []mechanism.Ordered{
				{},
				orderedOf(math.MinInt64, math.MaxInt64),
				orderedOf(slices.Repeat([]int64{0}, 1000)...),
			} {
				m := Approximate{
					in,
					mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: parameter.MaxUnitRows},
					ranks, e, false,
				}
				for name, release := range map[string]func(mechanism.Ordered) (OrderStatistics,
					error){"recursion": m.Release, "independent": m.apart().Release} {
					out, err := release(data)
					if err != nil || len(out.Values) != 255 || !slices.IsSorted(out.Values) ||
						in.clamp(out.Values[0]) != out.Values[0] || in.clamp(out.Values[254]) != out.Values[254] {
						t.Errorf("%s, ε = %s in %v: %v, %v", name, e, in, out.Values, err)
					}
				}
				if bound, err := m.RankError(0.5); err != nil || math.IsNaN(bound) {
					t.Errorf("ε = %s in %v: a bound of %g, %v", e, in, bound, err)
				}
			}
		}
	}
	// As many rows as there may be: scores stay below 2⁶².
	full := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		_ = yield(1, opaque.MaxRows/2) && yield(2, opaque.MaxRows/2)
		return nil
	})
	m := Approximate{
		Domain{0, 3},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		[]*big.Rat{big.NewRat(1, 10_000), big.NewRat(9_999, 10_000)},
		mechtest.Epsilon(t, "1"), false,
	}
	if out, err := m.Release(full); err != nil || out.Values[0] != 1 || out.Values[1] != 2 {
		t.Errorf("2⁴⁰ rows: %v, %v", out.Values, err)
	}
	if out, err := m.apart().Release(full); err != nil || out.Values[0] != 1 || out.Values[1] != 2 {
		t.Errorf("2⁴⁰ rows, independent: %v, %v", out.Values, err)
	}
}

func BenchmarkQuantile(b *testing.B) {
	const rows = 1_000_000
	data := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for v := range int64(rows) {
			if !yield(3*v, 1) {
				break
			}
		}
		return nil
	})
	m := Single{
		Domain{0, 4 * rows},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		big.NewRat(1, 2),
		mechtest.Epsilon(b, "1"),
	}
	for b.Loop() {
		if _, err := m.Release(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
