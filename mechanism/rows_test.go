package mechanism

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dither/internal/exact"
	"dither/privacy"
)

// The rows that were added come back, each a function of itself: in memory and from the file, which has no name; those of a unit in an order of their own. Longer
// vectors are scaled down to the bound.
func TestRowsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(111, 112))
	dir := t.TempDir()
	for _, spilled := range []bool{false, true} {
		rows, err := NewRows(RowShape{Grids: []int{-10, 3, 0}, Bound: big.NewRat(5, 2), Most: 3, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var units [][][]int64
		for range 300 {
			var unit [][]int64
			for range 1 + r.IntN(3) {
				unit = append(unit, []int64{r.Int64N(8000) - 4000, []int64{0, 0, math.MaxInt64, math.MinInt64, -1}[r.IntN(5)], r.Int64N(9)})
			}
			units = append(units, unit)
		}
		add := func(rows *Rows) {
			for _, u := range units {
				for i, j := range r.Perm(len(u)) {
					if err := rows.Add(i == 0, u[j]); err != nil {
						t.Fatal(err)
					}
				}
				if spilled && r.IntN(40) == 0 {
					if err := errors.Join(rows.flushUnit(), rows.write()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := rows.Seal(); err != nil {
				t.Fatal(err)
			}
		}
		add(rows)
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 || spilled != (rows.file != nil) || rows.units() != 300 {
			t.Fatalf("%v left, %d units, %v", left, rows.units(), err)
		}
		for u, unit := range units {
			from, to := rows.span(int64(u))
			records, err := rows.read(from, to, nil)
			if err != nil || to-from != int64(len(unit)) {
				t.Fatal(from, to, err)
			}
			var got, want []string
			integers, x := make([]int64, 2), make([]float64, 2)
			for ; len(records) > 0; records = records[rows.record:] {
				y := rows.decode(records, integers, x, math.Ldexp(1, rows.grid))
				if n := norm(x); n > 2.5*(1+1e-15) {
					t.Fatalf("a norm of %g", n)
				}
				got = append(got, fmt.Sprintf("%.3f %.3f %g", x[0], x[1], y))
			}
			for _, row := range unit {
				x := []float64{float64(row[0]) / 1024, math.Max(math.Min(float64(row[1])*8, farthest*math.Ldexp(1, rows.grid)), -farthest*math.Ldexp(1, rows.grid))}
				if n := norm(x); n > 2.5 {
					x[0], x[1] = x[0]*2.5/n, x[1]*2.5/n
				}
				want = append(want, fmt.Sprintf("%.3f %.3f %g", x[0], x[1], float64(row[2])))
			}
			slices.Sort(got)
			slices.Sort(want)
			for i := range got {
				var a, b [3]float64
				fmt.Sscan(got[i], &a[0], &a[1], &a[2])
				fmt.Sscan(want[i], &b[0], &b[1], &b[2])
				for j := range a {
					if math.Abs(a[j]-b[j]) > 0.002 {
						t.Fatalf("%v, want %v", got, want)
					}
				}
			}
		}
		again, err := NewRows(rows.shape)
		if err != nil {
			t.Fatal(err)
		}
		spilled = false
		add(again) // its rows in another order
		a, err := rows.read(0, rows.rows, nil)
		b, err2 := again.read(0, again.rows, nil)
		if err != nil || err2 != nil || !slices.Equal(a, b) {
			t.Error("the order of a unit's rows matters", err, err2)
		}
		if err := errors.Join(rows.Close(), again.Close(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Rows that are not of their shape are refused, and rows tell nothing of themselves.
func TestRowsRefuse(t *testing.T) {
	good := RowShape{Grids: []int{0, 0}, Bound: ratOf(1), Most: 2, Dir: t.TempDir()}
	for name, change := range map[string]func(s *RowShape){
		"no predictors": func(s *RowShape) { s.Grids = s.Grids[:1] },
		"too many":      func(s *RowShape) { s.Grids = make([]int, maxPredictors+2) },
		"no bound":      func(s *RowShape) { s.Bound = nil },
		"a bound of 0":  func(s *RowShape) { s.Bound = new(big.Rat) },
		"no rows":       func(s *RowShape) { s.Most = 0 },
		"large units":   func(s *RowShape) { s.Grids, s.Most = make([]int, 100), 1<<20 },
		"a far grid":    func(s *RowShape) { s.Grids = []int{5000, 0} },
	} {
		s := good
		change(&s)
		if _, err := NewRows(s); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows, err := NewRows(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Add(true, []int64{1, 2}), rows.Add(false, []int64{1, 2})); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"a third row": rows.Add(false, []int64{1, 2}), "a short one": rows.Add(true, []int64{1}), "a pass before the end": rows.each(t.Context(), 1, nil)} {
		if !errors.Is(err, ErrRows) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := rows.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := rows.Add(true, []int64{1, 2}); !errors.Is(err, ErrRows) {
		t.Errorf("a row after the end: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s %d %v", rows, rows, rows, rows, rows, slog.AnyValue(rows).Resolve()); text != fmt.Sprint(redacted, " ", redacted, " ", redacted, " ", redacted, " ", redacted, " ", redacted) {
		t.Error(text)
	}
	if b, err := json.Marshal(rows); err == nil {
		t.Errorf("%s", b)
	}
}

// The exponential is right to far below what the minimum's tolerance counts on, 2^-47 of itself.
func TestExponentialIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(113, 114))
	for range 3000 {
		x := (2*r.Float64() - 1) * []float64{1e-3, 1, 30, 700}[r.IntN(4)]
		if e := math.Exp(x); e < exact.ExpDown(x)*(1-0x1p-50) || e > exact.ExpUp(x)*(1+0x1p-50) {
			t.Fatalf("exp(%g) = %g", x, e)
		}
	}
}

// Sums of 128 bits are exact, and the double next to them.
func TestSum128(t *testing.T) {
	r := rand.New(rand.NewPCG(115, 116))
	for range 2000 {
		var s, o sum128
		want := new(big.Int)
		for i := range 1 + r.IntN(20) {
			v := int64(r.Uint64()) >> r.IntN(64)
			if want.Add(want, big.NewInt(v)); i%2 == 0 {
				s.add(v)
			} else {
				o.add(v)
			}
		}
		s.plus(o)
		f, _ := new(big.Float).SetInt(want).Float64()
		if s.integer().Cmp(want) != 0 || math.Abs(s.float()-f) > math.Abs(f)*0x1p-51 {
			t.Fatalf("%s, %g; want %s", s.integer(), s.float(), want)
		}
	}
}

// What one unit adds to the sums of curvature is within their sensitivities, in L1 and in L2; and the sums are those of doubles.
func TestCurvatureOfNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(117, 118))
	const bound, most, d = 2.0, 2, 3
	longest := [2]float64{}
	for _, o := range objectives() {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
			m, err := NewMinimiser(o, d, ratOf(bound), Unit{relation, most})
			if err != nil {
				t.Fatal(err)
			}
			hessian, products := m.Curvatures()
			for _, p := range kinds(r, d, 20, most) {
				name := p.name
				theta := []float64{5 * r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				h, c, err := m.Curve(t.Context(), p.rows(t, bound, most), theta)
				if err != nil {
					t.Fatal(err)
				}
				for range 5 {
					h2, c2, err := m.Curve(t.Context(), p.neighbour(r, relation, most).rows(t, bound, most), theta)
					if err != nil {
						t.Fatal(err)
					}
					for i, s := range []struct {
						of   Curvature
						a, b []Exact
					}{{hessian, h, h2}, {products, c, c2}} {
						l1, l2 := new(big.Int), new(big.Int)
						for k := range s.a {
							x := new(big.Int).Sub(s.a[k].v, s.b[k].v)
							l1.Add(l1, new(big.Int).Abs(x))
							l2.Add(l2, x.Mul(x, x))
						}
						if l1.Cmp(s.of.L1) > 0 || l2.Cmp(s.of.L2Squared) > 0 {
							t.Errorf("%s, %s: L1 %s of %s, squared L2 %s of %s", o.Loss, name, l1, s.of.L1, l2, s.of.L2Squared)
						}
						f, _ := new(big.Rat).SetFrac(l2, s.of.L2Squared).Float64()
						longest[i] = max(longest[i], f)
					}
				}
			}
		}
	}
	if longest[0] < 0.4 || longest[1] < 0.4 {
		t.Errorf("of the squared sensitivities %v were seen: the test shows little", longest)
	}
	t.Log("of the squared sensitivities, the most seen:", longest)
}

// A coordinate whose grid is beyond the doubles, in units of the rows' own, is what it is: 0, or as long as the bound.
func TestRowsOfCoarseCoordinates(t *testing.T) {
	rows, err := NewRows(RowShape{Grids: []int{1000, 0}, Bound: ratOf(0x1p-90), Most: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []int64{0, 1, -1} {
		if err := rows.Add(true, []int64{v, 1}); err != nil {
			t.Fatal(err)
		}
		if x := rows.x[0]; x != v*(rows.reach-1) && x != v*rows.reach {
			t.Errorf("%d became %d", v, x)
		}
	}
}

// A row takes as many bytes as its shape says, whatever it holds: so no content makes a pass over it longer.
func TestRowsAreOfOneSize(t *testing.T) {
	for _, most := range []int64{1, 3} {
		rows, err := NewRows(RowShape{Grids: []int{-3, 0, 5}, Bound: ratOf(100), Most: most, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		added := 0
		for _, v := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 40} {
			for i := range most {
				if err := rows.Add(i == 0, []int64{v, -1, v}); err != nil {
					t.Fatal(err)
				}
				added++
			}
		}
		if err := rows.Seal(); err != nil || rows.rows != int64(added) || len(rows.buffer) != added*(2*4+8) || rows.record != 2*4+8 {
			t.Errorf("%d rows of %d bytes, %v", rows.rows, len(rows.buffer), err)
		}
	}
}
