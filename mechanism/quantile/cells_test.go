package quantile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// orderedCellsOf is the ordered multiset of each of some cells, cell after cell where by is 0 and else value after
// value.
func orderedCellsOf(cells [][]int64, by int) mechanism.OrderedCells {
	type row struct {
		cell int
		v    int64
	}
	var rows []row
	for k, vs := range cells {
		for _, v := range vs {
			rows = append(rows, row{k, v})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if by == 0 && a.cell != b.cell {
			return a.cell - b.cell
		}
		return int(a.v - b.v)
	})
	return mechanism.NewOrderedCells(len(cells), func(yield func(cell int, value, count int64) bool) error {
		for _, r := range rows {
			if !yield(r.cell, r.v, 1) {
				break
			}
		}
		return nil
	})
}

// rankDistance is d of a candidate by definition.
func rankDistance(data []int64, in Domain, o int64, s Sought) *big.Rat {
	below, upTo := int64(0), int64(0)
	for _, x := range data {
		if in.clamp(x) < o {
			below++
		}
		if in.clamp(x) <= o {
			upTo++
		}
	}
	sought := new(big.Rat).Mul(s.Rank, new(big.Rat).SetInt64(int64(len(data))))
	d := new(big.Rat)
	for _, x := range []*big.Rat{
		new(big.Rat).Sub(new(big.Rat).SetInt64(below), sought), new(big.Rat).Sub(sought, new(big.Rat).SetInt64(upTo)),
	} {
		if x.Cmp(d) > 0 {
			d = x
		}
	}
	return d
}

// scoresOf are the scores with which the candidates of each place enter, in rows.
func (m Cells) scoresOf(t testing.TB, cells [][]int64) [][]*big.Rat {
	t.Helper()
	var rows []int64
	for _, c := range cells {
		rows = append(rows, int64(len(c)))
	}
	out := make([][]*big.Rat, len(cells)*len(m.Sought))
	all := m.places(rows, func(i int) entering {
		return func(first int64, width uint64, score int64) {
			if first != m.Lower+int64(len(out[i])) {
				t.Fatalf("a run begins at %d after %d candidates from %d", first, len(out[i]), m.Lower)
			}
			for range width {
				out[i] = append(out[i], big.NewRat(score, m.Sought[i%len(m.Sought)].Rank.Denom().Int64()))
			}
		}
	})
	if _, err := eachCell(orderedCellsOf(cells, 1), m.Domain, func(cell int, v, n int64) {
		for i := range m.Sought {
			all[cell*len(m.Sought)+i].value(v, n)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].end()
	}
	return out
}

// randomPlaces draws what is sought.
func randomPlaces(t testing.TB, r *rand.Rand, k int) (out []Sought) {
	for range k {
		den := 1 + r.Int64N(10)
		out = append(out, Sought{
			Rank: big.NewRat(r.Int64N(den+1), den), Epsilon: mechtest.Epsilon(t, []string{"0.3", "1", "2.5"}[r.IntN(3)]),
		})
	}
	return out
}

func randomValues(r *rand.Rand, n int) []int64 {
	out := make([]int64, r.IntN(n+1))
	for i := range out {
		out[i] = r.Int64N(30) - 15
	}
	return out
}

// The scores are those of the definition, beyond the ends of the data and of the domain too; some candidate always has
// what is sought.
func TestCellScoresAreByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for range 800 {
		m := Cells{
			Domain{-r.Int64N(12), r.Int64N(12)},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			1 + r.IntN(3), randomPlaces(t, r, 1+r.IntN(3)),
		}
		cells := make([][]int64, m.Cells)
		for k := range cells {
			cells[k] = randomValues(r, 9)
		}
		for i, scores := range m.scoresOf(t, cells) {
			if len(scores) != int(m.points()) {
				t.Fatalf("%d candidates in %v", len(scores), m.Domain)
			}
			found := false
			for j, score := range scores {
				want := rankDistance(cells[i/len(m.Sought)], m.Domain, m.Lower+int64(j), m.Sought[i%len(m.Sought)])
				if want.Cmp(score.Neg(score)) != 0 {
					t.Fatalf("%v, %v in %v: %d is off by %s, want %s", cells, m.Sought, m.Domain, m.Lower+int64(j),
						score, want)
				}
				found = found || want.Sign() == 0
			}
			if !found {
				t.Fatalf("%v, %v in %v: no candidate has the rank", cells, m.Sought, m.Domain)
			}
		}
	}
}

// cellNeighbours are random cells, and the same with the rows of one unit gone or exchanged, wherever they are.
func cellNeighbours(r *rand.Rand, u mechanism.Unit, cells int) (a, b [][]int64) {
	a, b = make([][]int64, cells), make([][]int64, cells)
	for k := range cells {
		a[k] = randomValues(r, 6)
		b[k] = slices.Clone(a[k])
	}
	into := func(c [][]int64) {
		for range r.Int64N(u.MaxRows + 1) {
			k := r.IntN(cells)
			c[k] = append(c[k], r.Int64N(30)-15)
		}
	}
	into(a)
	if u.Neighbours == privacy.ChangeOne {
		into(b)
	}
	return a, b
}

// Between neighbours the scores of a sought place move, over all cells together, by at most its sensitivity, and the
// joint law of all outputs by a factor of at most e^ε.
func TestCellSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	tight := map[string]*big.Rat{}
	for i := range 12_000 {
		u := relations[i%4]
		cells := 1 + r.IntN(3)
		a, b := cellNeighbours(r, u, cells)
		m := Cells{Domain{-r.Int64N(12), r.Int64N(12)}, u, cells, randomPlaces(t, r, 1)}
		x, y := m.scoresOf(t, a), m.scoresOf(t, b)
		moved := new(big.Rat)
		for k := range x {
			most := new(big.Rat)
			for j := range x[k] {
				d := new(big.Rat).Sub(x[k][j], y[k][j])
				if d.Abs(d).Cmp(most) > 0 {
					most = d
				}
			}
			moved.Add(moved, most)
		}
		delta := m.Sensitivity(m.Sought[0].Rank)
		if moved.Cmp(delta) > 0 {
			t.Fatalf("%v and %v, %v in %v under %v: the scores move by %s, beyond %s", a, b, m.Sought, m.Domain, u,
				moved, delta)
		}
		name := fmt.Sprint(u, cells > 1)
		if share := moved.Quo(moved, delta); tight[name] == nil || share.Cmp(tight[name]) > 0 {
			tight[name] = share
		}
		if i%10 > 3 {
			continue
		}
		epsilon, _ := m.Sought[0].Epsilon.Rat().Float64()
		p, q := m.laws(t, a), m.laws(t, b)
		worst, least := 0.0, 0.0
		for k := range p {
			up, down := 0.0, 0.0
			for j := range p[k] {
				up, down = max(up, math.Log(p[k][j]/q[k][j])), min(down, math.Log(p[k][j]/q[k][j]))
			}
			worst, least = worst+up, least+down
		}
		if worst > epsilon+1e-9 || -least > epsilon+1e-9 || worst-least > epsilon+1e-9 { // the last: the bounded range
			t.Fatalf("%v and %v, %v under %v: log ratios from %g to %g", a, b, m.Sought, u, least, worst)
		}
	}
	for name, share := range tight {
		if share.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("%s: the scores moved by at most %s of the bound", name, share.FloatString(3))
		}
	}
}

// laws are the probabilities of all candidates of each draw, by the formula.
func (m Cells) laws(t testing.TB, cells [][]int64) [][]float64 {
	t.Helper()
	out := make([][]float64, len(cells)*len(m.Sought))
	for i := range out {
		s := m.Sought[i%len(m.Sought)]
		rate, _ := rateOf(s.Epsilon, m.Sensitivity(s.Rank)).Float64()
		total := 0.0
		for o := m.Lower; o <= m.Upper; o++ {
			d, _ := rankDistance(cells[i/len(m.Sought)], m.Domain, o, s).Float64()
			out[i] = append(out[i], math.Exp(-rate*d))
			total += out[i][len(out[i])-1]
		}
		for j := range out[i] {
			out[i][j] /= total
		}
	}
	return out
}

// What is released has the law of the formula, in each cell and at each place; an empty cell too.
func TestCellLaw(t *testing.T) {
	cells := [][]int64{{-20, 1, 1, 1, 2, 3}, {}, {4, 4, 4}}
	e := mechtest.Epsilon(t, "2")
	m := Cells{
		Domain{-2, 4},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2},
		3,
		[]Sought{{Rank: big.NewRat(1, 2), Epsilon: e}, {Rank: big.NewRat(1, 3), Epsilon: e}, {Rank: big.NewRat(1, 1), Epsilon: e}},
	}
	laws := m.laws(t, cells)
	observed := make([][]int, len(laws))
	for i := range observed {
		observed[i] = make([]int, m.points())
	}
	for range 4000 {
		out, err := m.Release(orderedCellsOf(cells, 0))
		if err != nil {
			t.Fatal(err)
		}
		for k, values := range out.Values {
			for i, v := range values {
				observed[k*len(m.Sought)+i][v-m.Lower]++
			}
		}
	}
	for i := range laws {
		if err := (stattest.ChiSquared{
			Observed: observed[i], Expected: laws[i],
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("draw %d: %v", i, err)
		}
	}
}

// The half-widths in each cell have the law of halfWidths around the released value, at the ends of the domain and in an
// empty cell too, however many passes there are; and the losses of values and half-widths add up.
func TestCellHalfWidths(t *testing.T) {
	defer func(n int) { aroundAtOnce = n }(aroundAtOnce)
	cells := [][]int64{{-20, 1, 1, 1, 2, 3}, {}, {4, 4, 4}}
	e, w := mechtest.Epsilon(t, "2"), mechtest.Epsilon(t, "3")
	m := Cells{
		Domain{-2, 4},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 2},
		3,
		[]Sought{{Rank: big.NewRat(1, 2), Epsilon: e, Width: w, Miss: big.NewRat(1, 20)}, {Rank: big.NewRat(1, 3), Epsilon: e}},
	}
	tested := 0
	for _, aroundAtOnce = range []int{1, 4, 1 << 14} {
		drawn := map[[2]int64][]int64{} // by cell and value
		for range 4000 {
			out, err := m.Release(orderedCellsOf(cells, 1))
			if err != nil {
				t.Fatal(err)
			}
			for k, h := range out.HalfWidths {
				at := [2]int64{int64(k), out.Values[k][0]}
				drawn[at] = append(drawn[at], h[0])
				if h[1] != 0 {
					t.Fatalf("a half-width of %d that was not sought", h[1])
				}
			}
			if total, _ := out.Loss.Pure(); total.Cmp(mechtest.Epsilon(t, "7")) != 0 {
				t.Fatalf("the loss is %v", out.Loss)
			}
		}
		if rho, _ := m.BoundedRange().ZCDP(); rho.Cmp(e.BoundedRange().Times(2).Plus(w.BoundedRange())) != 0 {
			t.Errorf("under zCDP the loss is %v", m.BoundedRange())
		}
		widths, err := m.widths()
		if err != nil {
			t.Fatal(err)
		}
		rate, _ := widths[0].rate.Float64()
		for at, observed := range drawn {
			around := widths[0].around(at[1])
			for _, v := range cells[at[0]] {
				around.visit(m.clamp(v), 1)
			}
			law, total := make([]float64, len(around.rungs)), 0.0
			for i, score := range around.scores() {
				law[i] = math.Ldexp(math.Exp(rate*float64(score)), i)
				total += law[i]
			}
			counts := make([]int, len(law))
			for i := range law {
				law[i] /= total
			}
			for _, h := range observed {
				counts[slices.Index(around.rungs, h)]++
			}
			if rest := 1 - slices.Max(law); float64(len(observed))*rest < 60 { // too few for the test
				continue
			}
			tested++
			if err := (stattest.ChiSquared{Observed: counts, Expected: law, FalseAlarm: mechtest.FalseAlarm}).Check(); err != nil {
				t.Errorf("cell %d, value %d: %v", at[0], at[1], err)
			}
		}
	}
	if tested < 9 {
		t.Errorf("only %d laws are tested", tested)
	}
}

// Between neighbours the slack of each rung changes, over all cells together, by at most the sensitivity: the half-widths
// around the same values have laws whose ratios multiply to at most e^Width.
func TestCellHalfWidthsArePrivate(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	closest := 0.0
	for i := range 4000 {
		u := relations[i%4]
		n := 1 + r.IntN(3)
		a, b := cellNeighbours(r, u, n)
		den := 1 + r.Int64N(6)
		m := Cells{Domain{-r.Int64N(12), r.Int64N(12)}, u, n, []Sought{{
			Rank: big.NewRat(r.Int64N(den+1), den), Epsilon: mechtest.Epsilon(t, "1"),
			Width: mechtest.Epsilon(t, []string{"0.5", "2", "6"}[r.IntN(3)]), Miss: big.NewRat(1, 20),
		}}}
		widths, err := m.widths()
		if err != nil {
			t.Fatal(err)
		}
		w := widths[0]
		rate, _ := w.rate.Float64()
		epsilon, _ := m.Sought[0].Width.Rat().Float64()
		law := func(rows []int64, v int64) []float64 {
			around := w.around(v)
			for _, x := range rows {
				around.visit(m.clamp(x), 1)
			}
			out, total := []float64{}, 0.0
			for k, score := range around.scores() {
				out = append(out, math.Ldexp(math.Exp(rate*float64(score)), k))
				total += out[k]
			}
			for k := range out {
				out[k] /= total
			}
			return out
		}
		worst, least := 0.0, 0.0
		for k := range n {
			v := m.Lower + r.Int64N(m.points())
			p, q := law(a[k], v), law(b[k], v)
			up, down := 0.0, 0.0
			for j := range p {
				up, down = max(up, math.Log(p[j]/q[j])), min(down, math.Log(p[j]/q[j]))
			}
			worst, least = worst+up, least+down
		}
		if worst > epsilon+1e-9 || -least > epsilon+1e-9 || worst-least > epsilon+1e-9 { // the last: the bounded range
			t.Fatalf("%v and %v, %v under %v: log ratios from %g to %g", a, b, m.Sought, u, least, worst)
		}
		closest = max(closest, worst/epsilon, -least/epsilon)
	}
	if closest < 0.5 {
		t.Errorf("the largest loss is %.3f of the declared one: this shows little", closest)
	}
}

func TestCellQuantilesRefuse(t *testing.T) {
	e := mechtest.Epsilon(t, "1")
	half := big.NewRat(1, 2)
	good := Cells{Domain{0, 9}, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, 1, []Sought{{Rank: half, Epsilon: e}}}
	if _, err := good.Release(orderedCellsOf([][]int64{{1}}, 0)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Cells){
		"domain":      func(m *Cells) { m.Upper = -1 },
		"neighbours":  func(m *Cells) { m.Neighbours = 0 },
		"rows":        func(m *Cells) { m.MaxRows = 0 },
		"no cells":    func(m *Cells) { m.Cells = 0 },
		"other cells": func(m *Cells) { m.Cells = 2 },
		"many cells":  func(m *Cells) { m.Cells = 1 << 40 },
		"nothing":     func(m *Cells) { m.Sought = nil },
		"nil rank":    func(m *Cells) { m.Sought = []Sought{{Epsilon: e}} },
		"rank":        func(m *Cells) { m.Sought = []Sought{{Rank: big.NewRat(3, 2), Epsilon: e}} },
		"fine rank":   func(m *Cells) { m.Sought = []Sought{{Rank: big.NewRat(1, 10_007), Epsilon: e}} },
		"no epsilon":  func(m *Cells) { m.Sought = []Sought{{Rank: half}} },
		"no miss":     func(m *Cells) { m.Sought = []Sought{{Rank: half, Epsilon: e, Width: e}} },
		"half miss":   func(m *Cells) { m.Sought = []Sought{{Rank: half, Epsilon: e, Width: e, Miss: half}} },
		"zero miss":   func(m *Cells) { m.Sought = []Sought{{Rank: half, Epsilon: e, Width: e, Miss: new(big.Rat)}} },
		"tiny width": func(m *Cells) {
			m.Sought = []Sought{{Rank: half, Epsilon: e, Width: mechtest.Epsilon(t, "1e-13"), Miss: big.NewRat(1, 20)}}
		},
	} {
		m := good
		change(&m)
		if _, err := m.Release(orderedCellsOf([][]int64{{1}}, 0)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	scan := func(rows ...[3]int64) mechanism.OrderedCells {
		return mechanism.NewOrderedCells(1, func(yield func(cell int, value, count int64) bool) error {
			for _, r := range rows {
				if !yield(int(r[0]), r[1], r[2]) {
					break
				}
			}
			return nil
		})
	}
	for name, data := range map[string]mechanism.OrderedCells{
		"falling": scan([3]int64{0, 5, 1}, [3]int64{0, 4, 1}), "negative": scan([3]int64{0, 5, -1}),
		"no such cell": scan([3]int64{1, 5, 1}),
		"below":        scan([3]int64{-1, 5, 1}), "too many": scan([3]int64{0, 1, 1 << 39}, [3]int64{0, 2, 1<<39 + 1}),
	} {
		if _, err := good.Release(data); !errors.Is(err, mechanism.ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	if _, err := good.Release(mechanism.NewOrderedCells(1,
		func(func(int, int64, int64) bool) error { return broken })); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := json.Marshal(scan([3]int64{0, 5, 1})); err == nil {
		t.Error("values are encoded")
	}
	if text := fmt.Sprintf("%v %+v %#v %d", scan(), scan(), scan(), scan()); text != "[exact] [exact] [exact] [exact]" {
		t.Error(text)
	}
}
