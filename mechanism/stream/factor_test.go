package stream

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/mechanism"
	"dither/privacy"
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// randomFactor returns a small factor, of one of five kinds.
func randomFactor(t *testing.T, r *rand.Rand, kind, n int) *Factor {
	low := int64(0)
	if kind%2 == 1 {
		low = -4
	}
	if kind < 3 { // Toeplitz; kind 2 does not increase
		column := make([]int64, n)
		for k := range column {
			column[k] = low + r.Int64N(9-low)
		}
		column[0] = max(column[0], 1)
		if kind == 2 {
			slices.SortFunc(column, func(a, b int64) int { return int(b - a) })
		}
		return must[*Factor](t)(NewToeplitz(column))
	}
	rows := make([][]int64, n)
	for i := range rows {
		rows[i] = make([]int64, i+1)
		for j := range rows[i] {
			rows[i][j] = low + r.Int64N(9-low)
		}
		rows[i][i] = max(rows[i][i], 1)
	}
	return must[*Factor](t)(NewFactor(rows))
}

// everyUnit calls visit with the rows of all units that the tally lets count, by period and cell.
func everyUnit(m Continual, visit func(d [][]*big.Int)) {
	d := make([][]*big.Int, m.Periods)
	for t := range d {
		d[t] = []*big.Int{new(big.Int), new(big.Int)}
	}
	var next func(period int, left int64)
	next = func(period int, left int64) {
		if period == m.Periods {
			visit(d)
			return
		}
		for a := int64(0); a <= min(left, m.perPeriod()); a++ {
			for b := int64(0); a+b <= min(left, m.perPeriod()); b++ {
				d[period][0].SetInt64(a)
				d[period][1].SetInt64(b)
				next(period+1, left-a-b)
			}
		}
	}
	next(0, m.Rows)
}

// TestFactorSensitivities goes through all units of small horizons, for random factors of each kind: no unit moves the
// releases by more than L2Squared. Some unit reaches it for Toeplitz factors that do not increase, and for all factors if
// all rows may share a period. Among change-one neighbours it goes through all pairs of units.
func TestFactorSensitivities(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 5))
	none := [][]*big.Int{}
	for range 4 {
		none = append(none, []*big.Int{new(big.Int), new(big.Int)})
	}
	reached := 0
	for trial := range 60 {
		kind := trial % 5
		f := randomFactor(t, r, kind, 1+r.IntN(4))
		m := Continual{
			Periods: f.Periods(), Cells: 2, Rows: 1 + r.Int64N(4), PerPeriod: r.Int64N(4), Neighbours: privacy.AddRemove,
			Rho: rho(t, "1"), Factor: f,
		}
		bound, most := m.L2Squared(), new(big.Int)
		var units [][][]*big.Int
		everyUnit(m, func(d [][]*big.Int) {
			v := moved(m, d, none)
			if v.Cmp(bound) > 0 {
				t.Fatalf("%v, %+v: %v moves by %s, and the bound is %s", f, m, d, v, bound)
			}
			if v.Cmp(most) > 0 {
				most = v
			}
			var kept [][]*big.Int
			for _, row := range d {
				kept = append(kept, []*big.Int{new(big.Int).Set(row[0]), new(big.Int).Set(row[1])})
			}
			units = append(units, kept)
		})
		if exact := kind == 2 || m.perPeriod() == m.Rows; exact && most.Cmp(bound) != 0 {
			t.Errorf("%v, %+v: the most is %s, and the bound %s", f, m, most, bound)
		} else if most.Cmp(bound) == 0 && !exact {
			reached++
		}
		m.Neighbours = privacy.ChangeOne
		bound = m.L2Squared()
		for _, a := range units[:min(len(units), 60)] {
			for _, b := range units[max(0, len(units)-60):] {
				if v := moved(m, a, b); v.Cmp(bound) > 0 {
					t.Fatalf("%v, %+v: from %v to %v is %s, and the bound is %s", f, m, a, b, v, bound)
				}
			}
		}
	}
	t.Logf("%d bounds are reached of those that need not be", reached)
}

// TestSpreadOfTheSquareRoot: with one row a period, seven rows need less noise than seven rows that may share a period.
func TestSpreadOfTheSquareRoot(t *testing.T) {
	m := Continual{Periods: 365, Cells: 1, Rows: 7, Neighbours: privacy.AddRemove, Rho: rho(t, "1")}
	together, _ := new(big.Float).SetInt(m.L2Squared()).Float64()
	m.PerPeriod = 1
	apart, _ := new(big.Float).SetInt(m.L2Squared()).Float64()
	if ratio := math.Sqrt(apart / together); ratio < 0.8 || ratio > 0.9 {
		t.Errorf("the noise is %.3f times as large", ratio)
	}
	m.Periods = 3
	m.Rows = 1 << 32
	m.PerPeriod = 1<<31 + 1 // 1<<31 − 1 rows remain for the second period
	if m.L2Squared().Sign() <= 0 {
		t.Error(m.L2Squared())
	}
}

// TestFactorsAreEncoded: an encoding is decoded to the same factor, and a damaged one is refused, as far as it is not the
// encoding of another factor.
func TestFactorsAreEncoded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for kind := range 5 {
		f := randomFactor(t, r, kind, 4)
		text := f.Encode()
		got := must[*Factor](t)(DecodeFactor(text))
		if fmt.Sprint(got.rows, got.column) != fmt.Sprint(f.rows, f.column) || got.Digest() != f.Digest() {
			t.Errorf("%v, %v", got, f)
		}
		for i := range text {
			if _, err := DecodeFactor(text[:i]); !errors.Is(err, mechanism.ErrParameter) {
				t.Errorf("the first %d bytes: %v", i, err)
			}
			changed := slices.Clone(text)
			changed[i] ^= 5
			if g, err := DecodeFactor(changed); err == nil && g.Digest() == f.Digest() {
				t.Errorf("byte %d does not matter", i)
			}
		}
	}
	for name, err := range map[string]error{
		"no rows":       second(NewFactor(nil)),
		"a short row":   second(NewFactor([][]int64{{1}, {1}})),
		"a diagonal":    second(NewFactor([][]int64{{1}, {1, 0}})),
		"a large entry": second(NewFactor([][]int64{{1 << 31}})),
		"large columns": second(NewToeplitz([]int64{1<<31 - 1, 1<<31 - 1})),
		"no column":     second(NewToeplitz(nil)),
		"many rows":     second(NewFactor(make([][]int64, MaxFactorPeriods+1))),
	} {
		if !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFactorEstimates: by each form of a factor, the estimates are the exact sums if there is no noise. The square root as
// a Factor has the estimates and deviations of the built-in one, which are computed otherwise.
func TestFactorEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	counts := []int64{5, 0, 1 << 30, 100, 1, 0, 0, 7}
	for _, form := range []string{"built in", "Toeplitz", "rows", "other rows"} {
		m := Continual{Periods: len(counts), Cells: 1, Rows: 1, Neighbours: privacy.AddRemove, Rho: rho(t, "0.5")}
		plain := must[*Estimates](t)(m.Estimates(70))
		root := m.factor()
		rows := make([][]int64, m.Periods)
		for i := range rows {
			for j := 0; j <= i; j++ {
				rows[i] = append(rows[i], root.Entry(i, j))
				if form == "other rows" && j < i {
					rows[i][j] += r.Int64N(1<<28) - 1<<27
				}
			}
		}
		switch form {
		case "built in":
		case "Toeplitz":
			m.Factor = root
		default:
			m.Factor = must[*Factor](t)(NewFactor(rows))
		}
		e := must[*Estimates](t)(m.Estimates(70))
		y := make([][]*big.Int, m.Periods)
		for i := range y {
			y[i] = []*big.Int{new(big.Int)}
			for j := 0; j <= i; j++ {
				y[i][0].Add(y[i][0], new(big.Int).Mul(big.NewInt(m.factor().Entry(i, j)), big.NewInt(counts[j])))
			}
		}
		series := e.Series(y, 0)
		for period := 1; period <= m.Periods; period++ {
			for width := 1; width <= period; width++ {
				want := int64(0)
				for _, n := range counts[period-width : period] {
					want += n
				}
				if got := series.Window(period, width).Value; got.Cmp(big.NewRat(want, 1)) != 0 {
					t.Errorf("%s, period %d, width %d: %s, want %d", form, period, width, got, want)
				}
				a, b := e.Deviation(period, width), plain.Deviation(period, width)
				if form != "other rows" && !(a >= b*(1-1e-12) && a < b*1.00002) {
					t.Errorf("%s, period %d, width %d: %g, want %g", form, period, width, a, b)
				}
			}
		}
	}
	bad := Continual{
		Periods: 3, Cells: 1, Rows: 1, Neighbours: privacy.AddRemove, Rho: rho(t, "1"),
		Factor: must[*Factor](t)(NewFactor([][]int64{{1}, {1 << 20, 1}, {1, 1 << 20, 1}})),
	}
	if _, err := bad.Estimates(9); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("a factor that hardly determines the counts: %v", err)
	}
}

// TestFactorDeviations: a deviation of a factor's estimate is that of its row of A·C⁻¹, computed here in rationals.
func TestFactorDeviations(t *testing.T) {
	f := must[*Factor](t)(NewFactor([][]int64{{4}, {-1, 3}, {2, 1, 5}}))
	m := Continual{Periods: 3, Cells: 1, Rows: 1, Neighbours: privacy.AddRemove, Rho: rho(t, "1"), Factor: f}
	e := must[*Estimates](t)(m.Estimates(9))
	// by hand: C⁻¹ = (1/4; 1/12 1/3; −7/60 −1/15 1/5)
	inverse := [][]float64{{0.25, 0, 0}, {1. / 12, 1. / 3, 0}, {-7. / 60, -1. / 15, 0.2}}
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	for period := 1; period <= 3; period++ {
		for width := 1; width <= period; width++ {
			squares := 0.0
			for j := range 3 {
				sum := 0.0
				for _, row := range inverse[period-width : period] {
					sum += row[j]
				}
				squares += sum * sum
			}
			want := math.Sqrt(squares * dist.Variance())
			if got := e.Deviation(period, width); got < want || got > want*1.00002 {
				t.Errorf("period %d, width %d: %g, want %g", period, width, got, want)
			}
		}
	}
}
