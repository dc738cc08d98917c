package quantile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// twiceMedian is the definition, with 0 … top as the domain.
func twiceMedian(sorted []int64, in Domain) int64 {
	n := len(sorted)
	if n == 0 {
		return in.Lower + in.Upper
	}
	return sorted[(n-1)/2] + sorted[n/2]
}

// oneStepAway lists all multisets one row away.
func oneStepAway(sorted []int64, in Domain) [][]int64 {
	var all [][]int64
	for i := range sorted {
		all = append(all, slices.Delete(slices.Clone(sorted), i, i+1))
	}
	for v := in.Lower; v <= in.Upper; v++ {
		at, _ := slices.BinarySearch(sorted, v)
		all = append(all, slices.Insert(slices.Clone(sorted), at, v))
	}
	return all
}

// twiceLocal is twice the local sensitivity, by definition.
func twiceLocal(sorted []int64, in Domain) int64 {
	most := int64(0)
	for _, other := range oneStepAway(sorted, in) {
		d := twiceMedian(other, in) - twiceMedian(sorted, in)
		most = max(most, d, -d)
	}
	return most
}

func TestSmoothBoundIsByDefinition(t *testing.T) {
	in := Domain{0, 3}
	all := mechtest.Multisets(4, 9) // all that are within 4 steps of a set of at most 5 values
	local := make([]int64, len(all))
	counts := make([][4]int, len(all))
	for i, m := range all {
		local[i] = twiceLocal(m, in)
		for _, v := range m {
			counts[i][v]++
		}
	}
	for _, beta := range []*big.Rat{big.NewRat(1, 100), big.NewRat(1, 5), big.NewRat(1, 1), big.NewRat(4, 1)} {
		b, _ := beta.Float64()
		p := smoothParameters{beta: beta, alpha: big.NewRat(1, 1), window: 4}
		for i, m := range all {
			if len(m) > 5 {
				break
			}
			want := 3.0 / 2 * math.Exp(-5*b) // τ
			for j := range all {
				steps := 0
				for v := range counts[i] {
					steps += max(counts[i][v]-counts[j][v], counts[j][v]-counts[i][v])
				}
				if steps <= 4 {
					want = max(want, float64(local[j])/2*math.Exp(-b*float64(steps)))
				}
			}
			twice, bound, err := Smooth{Domain: in}.measure(p, orderedOf(m...))
			if err != nil || twice.Int64() != twiceMedian(m, in) {
				t.Fatalf("%v: twice the median is %s, %v", m, twice, err)
			}
			down, up := bound.enclose(beta, 100)
			lo, hi := exact.FloatDown(down), exact.FloatUp(up)
			if lo > hi || math.Abs(lo/want-1) > 1e-12 || math.Abs(hi/want-1) > 1e-12 {
				t.Fatalf("%v at β = %g: S̃ in [%g, %g], by definition %g", m, b, lo, hi, want)
			}
		}
	}
}

// TestGapsOfNeighbours checks on random neighbours what both facts about S̃ follow from, in integers: A_k ≤
// A′_{k+1}, and the median moves by at most A₀.
func TestGapsOfNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for range 20_000 {
		a, b := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		m := Smooth{Domain: Domain{-r.Int64N(70), r.Int64N(70)}}
		var gaps [2][]int64
		var twice [2]int64
		for j, data := range [][]int64{a, b} {
			w, err := m.around(smoothParameters{window: 20}, orderedOf(data...))
			if err != nil {
				t.Fatal(err)
			}
			twice[j] = w.at((w.rows+1)/2) + w.at((w.rows+2)/2)
			widest := int64(0)
			for k := range int64(20) {
				widest = max(widest, w.gap(k))
				gaps[j] = append(gaps[j], widest)
			}
		}
		for j := range 2 {
			for k := range 19 {
				if gaps[j][k] > gaps[1-j][k+1] {
					t.Fatalf("%v and %v in %v: twice A_%d is %d, and %d one step further", a, b, m.Domain, k,
						gaps[j][k], gaps[1-j][k+1])
				}
			}
			if d := twice[j] - twice[1-j]; max(d, -d) > gaps[j][0] {
				t.Fatalf("%v and %v in %v: the median moves by %d/2, beyond %d/2", a, b, m.Domain, d, gaps[j][0])
			}
		}
	}
}

// TestSmoothWindow compares what is kept of many values with what all of them say.
func TestSmoothWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 2000 {
		data := make([]int64, r.IntN(100))
		for i := range data {
			data[i] = r.Int64N(200)
		}
		m, k := Smooth{Domain: Domain{0, 1 + r.Int64N(200)}}, 1+r.Int64N(20)
		kept, err := m.around(smoothParameters{window: k}, orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.around(smoothParameters{window: 1000}, orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		for i := range k + 1 {
			if kept.gap(i) != all.gap(i) {
				t.Fatalf("of %d values K = %d keeps a gap of %d at %d, not %d", len(data), k, kept.gap(i),
					i, all.gap(i))
			}
		}
		if most := int(k + 6); len(kept.values) > most {
			t.Fatalf("K = %d keeps %d values", k, len(kept.values))
		}
	}
}

// TestSmoothIsSmooth checks both facts of S̃ itself, by intervals; with DITHER_LONG=1 on 10,000 pairs.
func TestSmoothIsSmooth(t *testing.T) {
	r, pairs := rand.New(rand.NewPCG(1, 2)), 1000
	if os.Getenv("DITHER_LONG") != "" {
		pairs = 10_000
	}
	for i := range pairs {
		a, b := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		m := Smooth{
			Domain{-r.Int64N(70), r.Int64N(70)},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			mechtest.Epsilon(t, []string{"0.1", "1", "3", "20"}[i%4]),
		}
		p := m.parameters()
		p.window = min(p.window, r.Int64N(8)+1) // a floor that matters
		var twice [2]*big.Int
		var down, up [2]*big.Rat
		for j, data := range [][]int64{a, b} {
			f, bound, err := m.measure(p, orderedOf(data...))
			if err != nil {
				t.Fatal(err)
			}
			twice[j] = f
			down[j], up[j] = bound.enclose(p.beta, 64)
		}
		beta := exact.IntervalOf(p.beta, 64).Exp().Hi()
		factor, _ := beta.Rat(nil)
		for j := range 2 {
			if down[j].Cmp(new(big.Rat).Mul(factor, up[1-j])) > 0 {
				t.Fatalf("%v and %v in %v: S̃ from %v to %v is more than exp(β), β = %s", a, b, m.Domain, up[1-j],
					down[j], p.beta)
			}
			move := new(big.Rat).SetFrac(new(big.Int).Abs(new(big.Int).Sub(twice[0], twice[1])), big.NewInt(2))
			if move.Cmp(up[j]) > 0 {
				t.Fatalf("%v and %v in %v: the median moves by %s, beyond S̃ = %v", a, b, m.Domain, move, up[j])
			}
		}
	}
}

// masses are P(output), from the distribution function of a Cauchy variable.
func (m Smooth) masses(t testing.TB, data []int64) []float64 {
	t.Helper()
	p := m.parameters()
	twice, bound, err := m.measure(p, orderedOf(data...))
	if err != nil {
		t.Fatal(err)
	}
	_, up := bound.enclose(p.beta, 64)
	s, _ := up.Quo(up, p.alpha).Float64()
	f := float64(twice.Int64()) / 2
	var out []float64
	for o := m.Lower; o <= m.Upper; o++ {
		a, b := (float64(o)-0.5-f)/s, (float64(o)+0.5-f)/s
		switch o { // arctan b − arctan a, without cancellation
		case m.Lower:
			out = append(out, math.Atan2(1, -b)/math.Pi)
		case m.Upper:
			out = append(out, math.Atan2(1, a)/math.Pi)
		default:
			out = append(out, math.Atan2(b-a, 1+a*b)/math.Pi)
		}
	}
	return out
}

// TestSmoothIsPrivate compares the output's distributions for all small datasets and all their neighbours, of one step
// and of several.
func TestSmoothIsPrivate(t *testing.T) {
	for _, c := range []struct {
		unit mechanism.Unit
		top  int64 // of the largest domain
		rows int   // of the smaller data sets
	}{
		{mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 4, 5},
		{mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2}, 3, 4},
		{mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 3}, 2, 4},
		{mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1}, 3, 4},
	} {
		for _, text := range []string{"0.01", "0.3", "1", "3", "8", "25"} {
			e := mechtest.Epsilon(t, text)
			limit, _ := e.Rat().Float64()
			worst := 0.0
			for top := int64(1); top <= c.top; top++ {
				m := Smooth{Domain{0, top}, c.unit, e}
				known := map[string][]float64{}
				masses := func(data []int64) []float64 {
					key := fmt.Sprint(data)
					if known[key] == nil {
						known[key] = m.masses(t, data)
					}
					return known[key]
				}
				for _, data := range mechtest.Multisets(int(top)+1, c.rows) {
					p := masses(data)
					for _, other := range neighboursOf(data, int(top)+1, c.unit) {
						for o, q := range masses(other) {
							loss := math.Abs(math.Log(p[o] / q))
							worst = max(worst, loss)
							if loss > limit+1e-9 {
								t.Fatalf("%v, ε = %s: %v and %v lose %g at %d", c.unit, text, data, other, loss, o)
							}
						}
					}
				}
			}
			t.Logf("%v, ε = %s: the largest loss over all data sets is %.4f", c.unit, text, worst)
		}
	}
}

func TestSmoothDraws(t *testing.T) {
	const draws = 2000
	for _, data := range [][]int64{{}, {3}, {1, 2, 2, 6}, {0, 0, 8, 8, 8}} {
		m := Smooth{Domain{0, 8}, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, mechtest.Epsilon(t, "1")}
		p, src, observed := m.parameters(), entropy.System(), make([]int, 9)
		twice, bound, err := m.measure(p, orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		for range draws {
			observed[m.draw(src, p, twice, bound)]++
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: m.masses(t, data),
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("%v: %v", data, err)
		}
	}
}

// TestSmoothAlpha checks both conditions on α at 700 bits.
func TestSmoothAlpha(t *testing.T) {
	const bits = 700
	for _, text := range []string{"1e-60", "1e-29", "1e-10", "0.001", "0.1", "1", "5", "31.9"} {
		e := mechtest.Epsilon(t, text).Rat()
		beta := new(big.Rat).Mul(e, big.NewRat(3, 4))
		alpha := smoothAlpha(e, beta)
		square := exact.IntervalOf(new(big.Rat).Mul(alpha, alpha), bits)
		cosh2 := func(x *big.Rat) exact.Interval { // 2·cosh x
			y := exact.IntervalOf(x, bits).Exp()
			return y.Add(exact.IntervalOf(big.NewRat(1, 1), bits).Quo(y))
		}
		two := exact.IntervalOf(big.NewRat(2, 1), bits)
		at0 := square.Add(two).Sub(cosh2(e))
		atBeta := square.Quo(exact.IntervalOf(beta, bits).Exp()).Add(cosh2(beta)).Sub(cosh2(e))
		if at0.Hi().Sign() > 0 || atBeta.Hi().Sign() > 0 {
			t.Errorf("e = %s: α = %s is too large: %v, %v", text, alpha.FloatString(20), at0.Hi(), atBeta.Hi())
		}
		ratio, _ := new(big.Rat).Quo(alpha, e).Float64()
		if ratio < 0.6 {
			t.Errorf("e = %s: α = %g·e is needlessly small", text, ratio)
		}
	}
}

// TestMedianOfAges looks at ages capped at 115. The sensitivity over all datasets is 57.5: of ∅ the median is 57.5,
// and a value of 0 moves it to 0. No step moves it further, since the gaps that it moves across half of are at most
// 115.
func TestMedianOfAges(t *testing.T) {
	in := Domain{0, 115}
	most := int64(0)
	for a := int64(-1); a <= 115; a++ {
		for b := a; b <= 115; b++ {
			var data []int64
			for _, v := range []int64{a, b} {
				if v >= 0 {
					data = append(data, v)
				}
			}
			for _, edge := range [][]int64{nil, {0}, {115}, {0, 115}} {
				with := slices.Concat(data, edge)
				slices.Sort(with)
				f := twiceMedian(with, in)
				for y := int64(0); y <= 115; y += 5 {
					at, _ := slices.BinarySearch(with, y)
					d := twiceMedian(slices.Insert(slices.Clone(with), at, y), in) - f
					most = max(most, d, -d)
				}
			}
		}
	}
	if most != 115 {
		t.Errorf("twice the sensitivity over all data sets is %d, not 115", most)
	}
}

// TestSmoothBesideLaplace prints what the noise is on two datasets, and from which ε on it is less than that of
// global sensitivity. Both are given by the median of |error| before rounding: ln 2·57.5/ε for Laplace noise of scale
// 57.5/ε, s for Cauchy noise of scale s, which has no variance. A second table has the mean of |error| after rounding
// to 0 … 115, which is what Cauchy's long tails are cut off by.
func TestSmoothBesideLaplace(t *testing.T) {
	seven := []int64{1, 2, 35, 36, 36, 99, 115}
	var many []int64
	for _, v := range seven {
		many = append(many, slices.Repeat([]int64{v}, 100)...)
	}
	in := Domain{0, 115}
	// published is the scale with the parameters of Nissim, Raskhodnikova & Smith 2007 for Cauchy noise, α = β = ε/6.
	scales := func(data []int64, e float64) (here, published float64) {
		price, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
		if err != nil {
			t.Fatal(err)
		}
		m := Smooth{in, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, price}
		p := m.parameters()
		at := func(p smoothParameters) float64 {
			_, bound, err := m.measure(p, orderedOf(data...))
			if err != nil {
				t.Fatal(err)
			}
			_, up := bound.enclose(p.beta, 64)
			s, _ := up.Quo(up, p.alpha).Float64()
			return s
		}
		sixth := new(big.Rat).SetFloat64(e / 6)
		return at(p), at(smoothParameters{beta: sixth, alpha: sixth, window: 10_000})
	}
	// bounded is the mean of |error| after rounding and clamping, for a distribution function about 36, the median.
	bounded := func(cdf func(x float64) float64) float64 {
		sum := 0.0
		for o := 0.0; o < 115; o++ { // Σ P(output ≤ o) below the median, Σ P(output > o) above
			if o < 36 {
				sum += cdf(o + 0.5 - 36)
			} else {
				sum += 1 - cdf(o+0.5-36)
			}
		}
		return sum
	}
	laplace := func(e float64) float64 { return math.Ln2 * 57.5 / e }
	var table strings.Builder
	fmt.Fprintf(&table, "\n%6s %9s %26s %26s\n%6s %9s %12s %13s %12s %13s\n", "", "", "seven values",
		"a hundred of each",
		"ε", "Laplace", "here", "α = β = ε/6", "here", "α = β = ε/6")
	for _, e := range []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 10, 20} {
		a, b := scales(seven, e)
		c, d := scales(many, e)
		fmt.Fprintf(&table, "%6g %9.4g %12.4g %13.4g %12.4g %13.4g\n", e, laplace(e), a, b, c, d)
	}
	fmt.Fprintf(&table, "mean of |error| in 0 … 115\n%6s %9s %12s %13s\n", "ε", "Laplace", "seven", "a hundred")
	for _, e := range []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10} {
		row := []float64{bounded(func(x float64) float64 {
			tail := math.Exp(-math.Abs(x)*e/57.5) / 2
			if x < 0 {
				return tail
			}
			return 1 - tail
		})}
		for _, data := range [][]int64{seven, many} {
			s, _ := scales(data, e)
			row = append(row, bounded(func(x float64) float64 { return 0.5 + math.Atan(x/s)/math.Pi }))
		}
		fmt.Fprintf(&table, "%6g %9.4g %12.4g %13.4g\n", e, row[0], row[1], row[2])
	}
	for name, data := range map[string][]int64{"seven values": seven, "a hundred of each": many} {
		first := [2]float64{}
		for e := 20.0; e > 0.001; e /= 1.1 { // the last ε, coming down, at which it still wins
			here, published := scales(data, e)
			for i, s := range []float64{here, published} {
				if s < laplace(e) && (first[i] == 0 || first[i] < e*1.11) {
					first[i] = e
				}
			}
		}
		fmt.Fprintf(&table, "%s: less than Laplace from ε = %.3g on; with α = β = ε/6 from %.3g on\n", name,
			first[0], first[1])
	}
	t.Log(table.String())
	if s, _ := scales(many, 1); s > laplace(1)/1000 {
		t.Errorf("on dense values at ε = 1 the noise is %g, and that of global sensitivity %g", s, laplace(1))
	}
	if here, published := scales(seven, 10); here > laplace(10) || published > laplace(10) {
		t.Errorf("on seven values at ε = 10 the noise is %g (%g), and that of global sensitivity %g",
			here, published, laplace(10))
	}
}

func TestSmoothRefuses(t *testing.T) {
	good := Smooth{goodDomain, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, mechtest.Epsilon(t, "1")}
	bad := map[string]Smooth{"epsilon": {Domain: good.Domain, Unit: good.Unit}}
	for i, u := range badUnits {
		bad[fmt.Sprint("unit ", i)] = Smooth{good.Domain, u, good.Epsilon}
	}
	for i, d := range badDomains {
		bad[fmt.Sprint("domain ", i)] = Smooth{d, good.Unit, good.Epsilon}
	}
	for name, m := range bad {
		if _, err := m.Release(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("disk")
	if _, err := good.Release(mechanism.NewOrdered(func(func(int64, int64) bool) error { return broken })); !errors.Is(
		err, broken) {
		t.Errorf("the scan's error: %v", err)
	}
}

func TestSmoothExtremes(t *testing.T) {
	huge, err := privacy.EpsilonOf(big.NewRat(1_000_000, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{tinyEpsilon(t), mechtest.Epsilon(t, "1e-6"), mechtest.Epsilon(t, "1"), huge} {
		for _, in := range []Domain{goodDomain, {7, 7}, {0, 1}} {
			for _, data := range []mechanism.Ordered{
				{},
				orderedOf(math.MinInt64, math.MaxInt64),
				orderedOf(slices.Repeat([]int64{0}, 1000)...),
			} {
				m := Smooth{in, mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1 << 20}, e}
				out, err := m.Release(data)
				if err != nil || len(out.Values) != 1 || in.clamp(out.Values[0]) != out.Values[0] {
					t.Errorf("ε = %s in %v: %v, %v", e, in, out.Values, err)
				}
				if paid, ok := out.Loss.Pure(); !ok || paid.Cmp(e) != 0 {
					t.Errorf("the loss is %v", out.Loss)
				}
			}
		}
	}
}

func BenchmarkSmooth(b *testing.B) {
	data := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for v := range int64(100_000) {
			if !yield(v, 1) {
				break
			}
		}
		return nil
	})
	m := Smooth{
		Domain{0, 100_000},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		mechtest.Epsilon(b, "0.1"),
	}
	for b.Loop() {
		if _, err := m.Release(data); err != nil {
			b.Fatal(err)
		}
	}
}
