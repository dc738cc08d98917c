package stream

import (
	"bytes"
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
	"dither/internal/sample"
	"dither/mechanism"
	"dither/privacy"
)

func rho(t testing.TB, text string) privacy.Rho {
	t.Helper()
	r, err := privacy.ParseRho(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sealedRow is a row of a made-up version.
type sealedRow struct{ unit, row, cell int }

// arrivalsOf is a version's rows as an engine passes them on.
func arrivalsOf(rows []sealedRow) mechanism.Arrivals {
	counts := map[sealedRow]int64{}
	for _, r := range rows {
		counts[r]++
	}
	var all []mechanism.Arrival
	for r, n := range counts {
		a := mechanism.Arrival{Cell: r.cell, Count: n}
		a.Unit[0], a.Row[0] = byte(r.unit), byte(r.row)
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b mechanism.Arrival) int {
		if c := bytes.Compare(a.Unit[:], b.Unit[:]); c != 0 {
			return c
		}
		if c := bytes.Compare(a.Row[:], b.Row[:]); c != 0 {
			return c
		}
		return a.Cell - b.Cell
	})
	return mechanism.NewArrivals(func(yield func(mechanism.Arrival) bool) error {
		for _, a := range all {
			if !yield(a) {
				return nil
			}
		}
		return nil
	})
}

// exactCounts advances a stream through a history of versions, one a period, and returns the frozen exact counts, by period
// and cell. Period and cell of the releases are checked against them: y − Cx is within the noise.
func exactCounts(t testing.TB, m Continual, history [][]sealedRow) [][]*big.Int {
	t.Helper()
	h := Header{Format: HeaderFormat, Stream: "s", State: "s", Salt: "x"}
	var state bytes.Buffer
	if err := m.Begin(h, mechanism.Arrivals{}, &state); err != nil {
		t.Fatal(err)
	}
	var p periods
	for i, version := range history {
		h.Previous, h.State = h.State, fmt.Sprint(i)
		h.Version++
		var next bytes.Buffer
		first, y, err := m.Advance(bytes.NewReader(state.Bytes()), h, arrivalsOf(version), i+1, i+1, &next)
		if err != nil || first != i+1 || len(y) != 1 || len(y[0]) != m.Cells {
			t.Fatalf("%d %v %v", first, y, err)
		}
		state = next
		r, err := newStateReader(bytes.NewReader(state.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		before := p
		if p, err = r.end(); err != nil {
			t.Fatal(err)
		}
		for j, row := range before.Exact {
			if !slices.Equal(row, p.Exact[j]) || !slices.Equal(before.Released[j], p.Released[j]) {
				t.Fatalf("period %d changed in period %d", j+1, i+1)
			}
		}
	}
	exact, err := numbers(p.Exact, m.Cells)
	if err != nil {
		t.Fatal(err)
	}
	return exact
}

// moved returns ‖C(x − x′)‖².
func moved(m Continual, x, y [][]*big.Int) *big.Int {
	factor, total := m.factor(), new(big.Int)
	for g := range m.Cells {
		for t := range x {
			sum := new(big.Int)
			for j := 0; j <= t; j++ {
				d := new(big.Int).Sub(x[j][g], y[j][g])
				sum.Add(sum, d.Mul(d, big.NewInt(factor.Entry(t, j))))
			}
			total.Add(total, sum.Mul(sum, sum))
		}
	}
	return total
}

// mostInPeriod returns the largest difference of a period's counts.
func mostInPeriod(x, y [][]*big.Int) (most int64) {
	for t := range x {
		sum := int64(0)
		for g := range x[t] {
			sum += x[t][g].Int64() - y[t][g].Int64()
		}
		most = max(most, sum)
	}
	return most
}

// versionsOf returns all multisets of at most two rows of a unit, with identities 1 and 2, in cells −1, 0 and 1.
func versionsOf(unit int) (out [][]sealedRow) {
	var rows []sealedRow
	for row := 1; row <= 2; row++ {
		for cell := -1; cell <= 1; cell++ {
			rows = append(rows, sealedRow{unit, row, cell})
		}
	}
	out = append(out, nil)
	for i, a := range rows {
		out = append(out, []sealedRow{a})
		for _, b := range rows[i:] {
			out = append(out, []sealedRow{a, b})
		}
	}
	return out
}

// TestNeighbouringHistories goes through all histories of three versions of one unit with at most two rows, which are
// deleted, return, change their cell and their identity. For each, the releases move by at most L2Squared, some history
// reaches it, and no other unit counts differently. Among change-one neighbours it compares random pairs.
func TestNeighbouringHistories(t *testing.T) {
	one, other := versionsOf(7), [][]sealedRow{{{3, 1, 0}}, {{3, 1, 0}, {9, 4, 1}, {9, 4, 1}}, {{9, 4, 1}}}
	for _, limit := range [][2]int64{{1, 0}, {2, 0}, {3, 0}, {2, 1}, {3, 1}, {3, 2}} {
		rows := limit[0]
		m := Continual{
			Periods: 3, Cells: 2, Rows: rows, PerPeriod: limit[1], Neighbours: privacy.AddRemove, Rho: rho(t, "0.5"),
		}
		bound, most := m.L2Squared(), new(big.Int)
		without := exactCounts(t, m, other)
		random := rand.New(rand.NewPCG(1, uint64(rows)))
		var earlier [][]*big.Int
		histories := 0
		for _, a := range one {
			for _, b := range one {
				for _, c := range one {
					if random.IntN(48) > 0 && os.Getenv("DITHER_LONG") == "" && len(a)+len(b)+len(c) > 3 {
						continue
					}
					histories++
					with := exactCounts(t, m, [][]sealedRow{
						slices.Concat(other[0], a), slices.Concat(other[1], b), slices.Concat(other[2], c),
					})
					total := new(big.Int)
					for p := range with {
						for g := range with[p] {
							d := new(big.Int).Sub(with[p][g], without[p][g])
							if d.Sign() < 0 {
								t.Fatalf("another unit counts less: %v %v %v", a, b, c)
							}
							total.Add(total, d)
						}
					}
					if total.Cmp(big.NewInt(rows)) > 0 || mostInPeriod(with, without) > m.perPeriod() {
						t.Fatalf("%s rows count, of %d: %v %v %v", total, rows, a, b, c)
					}
					d := moved(m, with, without)
					if d.Cmp(bound) > 0 {
						t.Fatalf("moved by %s, with a bound of %s: %v %v %v", d, bound, a, b, c)
					}
					if d.Cmp(most) > 0 {
						most = d
					}
					change := m
					change.Neighbours = privacy.ChangeOne
					if earlier != nil && moved(m, with, earlier).Cmp(change.L2Squared()) > 0 {
						t.Fatalf("changed by more than %s", change.L2Squared())
					}
					if random.IntN(3) == 0 {
						earlier = with
					}
				}
			}
		}
		if m.perPeriod() < 3 && most.Cmp(bound) != 0 {
			t.Errorf("no history reaches the bound of %d rows", limit)
		}
		t.Logf("%d histories of %d rows", histories, limit)
	}
}

// TestRowsCountOnce states which rows count: a row that is deleted and returns does not count again, nor does one that
// changes its cell but keeps its identity; a second row of the same identity does, and Rows limits them all. With one row
// of a unit a period, a further new row never counts.
func TestRowsCountOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rows    int64
		history [][]sealedRow
		want    string
	}{
		"returns":        {3, [][]sealedRow{{{1, 1, 0}}, {}, {{1, 1, 0}}}, "[[1 0] [0 0] [0 0]]"},
		"moves":          {3, [][]sealedRow{{{1, 1, 0}}, {{1, 1, 1}}}, "[[1 0] [0 0]]"},
		"twice":          {3, [][]sealedRow{{{1, 1, 0}}, {{1, 1, 0}, {1, 1, 0}}}, "[[1 0] [1 0]]"},
		"is not counted": {3, [][]sealedRow{{{1, 1, -1}}, {{1, 1, 0}, {1, 2, 0}}}, "[[0 0] [1 0]]"},
		"capped":         {1, [][]sealedRow{{{1, 1, 0}, {1, 2, 1}}, {{1, 3, 0}}, {{2, 1, 1}}}, "[[1 0] [0 0] [0 1]]"},
		"one a period":   {-3, [][]sealedRow{{{1, 1, 0}, {1, 2, 1}}, {{1, 2, 1}}, {{1, 3, 0}}}, "[[1 0] [0 0] [1 0]]"},
		"late":           {2, [][]sealedRow{{{5, 1, 0}}, {{4, 1, 0}, {5, 1, 0}, {6, 1, 1}}}, "[[1 0] [1 1]]"},
	} {
		m := Continual{Periods: 3, Cells: 2, Rows: c.rows, Neighbours: privacy.AddRemove, Rho: rho(t, "1")}
		if c.rows < 0 {
			m.Rows, m.PerPeriod = -c.rows, 1
		}
		if got := fmt.Sprint(exactCounts(t, m, c.history)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestArrivedBeforeTheStream: rows of the first version are noted, and never count.
func TestArrivedBeforeTheStream(t *testing.T) {
	m := Continual{Periods: 4, Cells: 1, Rows: 2, Neighbours: privacy.AddRemove, Rho: rho(t, "1")}
	h := Header{Format: HeaderFormat, Stream: "s", State: "s", Salt: "x"}
	var state, next bytes.Buffer
	if err := m.Begin(h, arrivalsOf([]sealedRow{{1, 1, 0}}), &state); err != nil {
		t.Fatal(err)
	}
	h.Previous, h.State = "s", "1"
	first, y, err := m.Advance(&state, h, arrivalsOf([]sealedRow{{1, 1, 0}, {1, 2, 0}}), 2, 3, &next)
	if err != nil || first != 1 || len(y) != 3 {
		t.Fatal(first, y, err)
	}
	r, err := newStateReader(&next)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := r.end(); err != nil || fmt.Sprint(p.Exact) != "[[0] [1] [0]]" {
		t.Error(p.Exact, err)
	}
}

// TestStatesAreChecked: a state of another stream, an older one, a damaged one and periods out of order are refused.
func TestStatesAreChecked(t *testing.T) {
	m := Continual{Periods: 4, Cells: 1, Rows: 2, Neighbours: privacy.AddRemove, Rho: rho(t, "1")}
	h := Header{Format: HeaderFormat, Stream: "s", State: "s", Salt: "x"}
	var state bytes.Buffer
	if err := m.Begin(h, arrivalsOf([]sealedRow{{1, 1, 0}, {2, 1, 0}}), &state); err != nil {
		t.Fatal(err)
	}
	good := h
	good.Previous, good.State = "s", "1"
	advance := func(text []byte, h Header, at, until int) error {
		_, _, err := m.Advance(bytes.NewReader(text), h, mechanism.Arrivals{}, at, until, &bytes.Buffer{})
		return err
	}
	if err := advance(state.Bytes(), good, 0, 1); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(h *Header){
		"stream": func(h *Header) { h.Stream = "other" }, "state": func(h *Header) { h.Previous = "0" },
		"salt": func(h *Header) { h.Salt = "y" },
	} {
		h := good
		change(&h)
		if err := advance(state.Bytes(), h, 0, 1); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, p := range [][2]int{{0, 0}, {0, 5}, {2, 1}, {5, 5}} {
		if err := advance(state.Bytes(), good, p[0], p[1]); !errors.Is(err, ErrState) {
			t.Errorf("periods %v: %v", p, err)
		}
	}
	for i := range state.Len() {
		cut := state.Bytes()[:i]
		flipped := bytes.Clone(state.Bytes())
		flipped[i] ^= 1
		for _, text := range [][]byte{cut, flipped} {
			if err := advance(text, good, 0, 1); !errors.Is(err, ErrState) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	unordered := mechanism.NewArrivals(func(yield func(mechanism.Arrival) bool) error {
		_ = yield(mechanism.Arrival{Unit: [16]byte{2}, Count: 1}) && yield(mechanism.Arrival{Unit: [16]byte{1}, Count: 1})
		return nil
	})
	if _, _, err := m.Advance(&state, good, unordered, 1, 1, &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "ordered") {
		t.Error(err)
	}
}

// TestEstimatesAreUnbiased: counts, totals and windows are those of the exact counts if there is no noise, and their
// variances are those that are stated. Each of 24 pooled sums of squares of 2,000 simulated streams follows a χ² law
// with 2,000 degrees of freedom, up to the noise's discreteness. The test fails if one is beyond 5.5 standard
// deviations of it, which has a probability below 24 · 2e-7 = 5e-6.
func TestEstimatesAreUnbiased(t *testing.T) {
	const runs = 2000
	m := Continual{Periods: 8, Cells: 1, Rows: 1, Neighbours: privacy.AddRemove, Rho: rho(t, "0.5")}
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	counts := []int64{5, 0, 3, 100, 1, 0, 0, 7}
	column := m.factor().column
	exact := make([][]*big.Int, m.Periods)
	for i := range exact {
		exact[i] = []*big.Int{new(big.Int)}
		for j := 0; j <= i; j++ {
			exact[i][0].Add(exact[i][0], big.NewInt(column[i-j]*counts[j]))
		}
	}
	e, err := m.Estimates(60)
	if err != nil {
		t.Fatal(err)
	}
	widths := func(period int) []int { return []int{1, period, min(period, 3)} }
	truth := func(period, width int) (sum int64) {
		for _, n := range counts[period-width : period] {
			sum += n
		}
		return sum
	}
	for period := 1; period <= m.Periods; period++ {
		for _, w := range widths(period) {
			if got := e.Series(exact, 0).Window(period, w).Value; got.Cmp(big.NewRat(truth(period, w), 1)) != 0 {
				t.Errorf("period %d, width %d: %s", period, w, got)
			}
		}
	}
	squares := map[[2]int]float64{}
	for range runs {
		y := make([][]*big.Int, m.Periods)
		for i := range y {
			y[i] = []*big.Int{new(big.Int).Add(exact[i][0], dist.Draw())}
		}
		series := e.Series(y, 0)
		for period := 1; period <= m.Periods; period++ {
			for i, w := range widths(period) {
				got, _ := series.Window(period, w).Value.Float64()
				off := (got - float64(truth(period, w))) / e.Deviation(period, w)
				squares[[2]int{period, i}] += off * off
			}
		}
	}
	for at, sum := range squares {
		if off := (sum - runs) / math.Sqrt(2*runs); math.Abs(off) > 5.5 {
			t.Errorf("%v: %.1f standard deviations off", at, off)
		}
	}
}

// TestReleasesAreTheDrawsPlusCx: with recorded randomness, y − Cx is what the exact sampler of the stated distribution
// draws from the same bytes, in the order of periods and cells. So the releases have exactly the stated law.
func TestReleasesAreTheDrawsPlusCx(t *testing.T) {
	m := Continual{Periods: 6, Cells: 2, Rows: 3, Neighbours: privacy.ChangeOne, Rho: rho(t, "0.25")}
	dist, err := m.Noise()
	if err != nil {
		t.Fatal(err)
	}
	recording := make([]byte, 1<<16)
	for i := range recording {
		recording[i] = byte(rand.New(rand.NewPCG(3, uint64(i))).Uint32())
	}
	h := Header{Format: HeaderFormat, Stream: "s", State: "s", Salt: "x"}
	var state, next bytes.Buffer
	if err := m.Begin(h, mechanism.Arrivals{}, &state); err != nil {
		t.Fatal(err)
	}
	h.Previous, h.State = "s", "1"
	var y [][]*big.Int
	rows := arrivalsOf([]sealedRow{{1, 1, 0}, {2, 1, 1}, {2, 2, 1}})
	err = entropy.Replay(recording, func(source *entropy.Source) {
		if _, y, err = m.advance(source, &state, h, rows, 2, 6, &next); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	column, each := m.factor().column, sample.NewGaussian(dist.Sigma2())
	err = entropy.Replay(recording, func(source *entropy.Source) {
		for period := range 6 {
			for g := range 2 {
				want := each.Draw(source, new(big.Int))
				if period >= 1 { // the rows arrived in period 2: one in the first cell, two in the second
					want.Add(want, big.NewInt(column[period-1]*int64(g+1)))
				}
				if y[period][g].Cmp(want) != 0 {
					t.Errorf("period %d, cell %d: %s, want %s", period+1, g, y[period][g], want)
				}
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestContinualRefuses names each parameter that gives no privacy.
func TestContinualRefuses(t *testing.T) {
	good := Continual{Periods: 4, Cells: 1, Rows: 2, Neighbours: privacy.AddRemove, Rho: rho(t, "1")}
	for name, change := range map[string]func(m *Continual){
		"no periods": func(m *Continual) { m.Periods = 0 }, "many periods": func(m *Continual) { m.Periods = MaxPeriods + 1 },
		"no cells": func(m *Continual) { m.Cells = 0 }, "no rows": func(m *Continual) { m.Rows = 0 },
		"no neighbours": func(m *Continual) { m.Neighbours = 0 }, "no price": func(m *Continual) { m.Rho = privacy.Rho{} },
		"many cells": func(m *Continual) { m.Cells = MaxContinualCells + 1 },
	} {
		m := good
		change(&m)
		if _, err := m.Noise(); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
