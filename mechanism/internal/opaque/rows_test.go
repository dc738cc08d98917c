package opaque

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

	"dither/mechanism/internal/parameter"
)

// The rows that were added come back, each a function of itself: in memory and from the file, which has no name; those
// of a unit in an order of their own. Longer vectors are scaled down to the bound.
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
				unit = append(unit, []int64{
					r.Int64N(8000) - 4000,
					[]int64{0, 0, math.MaxInt64, math.MinInt64, -1}[r.IntN(5)], r.Int64N(9),
				})
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
		if err != nil || len(left) > 0 || spilled != (rows.file != nil) || (*Reader)(rows).Units() != 300 {
			t.Fatalf("%v left, %d units, %v", left, (*Reader)(rows).Units(), err)
		}
		for u, unit := range units {
			from, to := (*Reader)(rows).Span(int64(u))
			records, err := (*Reader)(rows).Read(from, to, nil)
			if err != nil || to-from != int64(len(unit)) {
				t.Fatal(from, to, err)
			}
			var got, want []string
			integers, x := make([]int64, 2), make([]float64, 2)
			for ; len(records) > 0; records = records[rows.record:] {
				y := (*Reader)(rows).Decode(records, integers, x, math.Ldexp(1, rows.grid))
				if n := math.Hypot(x[0], x[1]); n > 2.5*(1+1e-15) {
					t.Fatalf("a norm of %g", n)
				}
				got = append(got, fmt.Sprintf("%.3f %.3f %g", x[0], x[1], y))
			}
			for _, row := range unit {
				x := []float64{
					float64(row[0]) / 1024,
					math.Max(math.Min(float64(row[1])*8, Farthest*math.Ldexp(1, rows.grid)),
						-Farthest*math.Ldexp(1, rows.grid)),
				}
				if n := math.Hypot(x[0], x[1]); n > 2.5 {
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
		a, err := (*Reader)(rows).Read(0, rows.rows, nil)
		b, err2 := (*Reader)(again).Read(0, again.rows, nil)
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
	good := RowShape{Grids: []int{0, 0}, Bound: big.NewRat(1, 1), Most: 2, Dir: t.TempDir()}
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
		if _, err := NewRows(s); !errors.Is(err, parameter.Err) {
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
	_, unsealed := OpenRows(rows, 1)
	for name, err := range map[string]error{
		"a third row": rows.Add(false, []int64{1, 2}),
		"a short one": rows.Add(true, []int64{1}), "a pass before the end": unsealed,
	} {
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
	if _, err := OpenRows(rows, 2); !errors.Is(err, ErrRows) {
		t.Errorf("rows of another shape: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s %d %v", rows, rows, rows, rows, rows,
		slog.AnyValue(rows).Resolve()); text != fmt.Sprint(Redacted, " ", Redacted, " ", Redacted, " ", Redacted, " ",
		Redacted, " ", Redacted) {
		t.Error(text)
	}
	if b, err := json.Marshal(rows); err == nil {
		t.Errorf("%s", b)
	}
}

// A coordinate whose grid is beyond the doubles, in units of the rows' own, is what it is: 0, or as long as the bound.
func TestRowsOfCoarseCoordinates(t *testing.T) {
	rows, err := NewRows(RowShape{
		Grids: []int{1000, 0},
		Bound: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 90)), Most: 1, Dir: t.TempDir(),
	})
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
		rows, err := NewRows(RowShape{Grids: []int{-3, 0, 5}, Bound: big.NewRat(100, 1), Most: most, Dir: t.TempDir()})
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
		if err := rows.Seal(); err != nil || rows.rows != int64(added) || len(rows.buffer) != added*(2*4+8) ||
			rows.record != 2*4+8 {
			t.Errorf("%d rows of %d bytes, %v", rows.rows, len(rows.buffer), err)
		}
	}
}

// Shorten keeps short vectors, and leaves no vector longer than it may be.
func TestShorten(t *testing.T) {
	r := rand.New(rand.NewPCG(103, 104))
	for range 20_000 {
		n, reach := 1+r.IntN(6), r.Int64N(1<<23)
		x := make([]int64, n)
		sum := int64(0)
		for i := range x {
			x[i] = (r.Int64N(2*Farthest+1) - Farthest) >> r.IntN(27)
			sum += x[i] * x[i]
		}
		was := slices.Clone(x)
		Shorten(x, reach)
		got := int64(0)
		for _, v := range x {
			got += v * v
		}
		if got > reach*reach || sum <= reach*reach && !slices.Equal(x, was) {
			t.Fatalf("%v within %d: %v", was, reach, x)
		}
		if lost := float64(reach) - math.Sqrt(float64(got)); sum > reach*reach &&
			lost > math.Sqrt(float64(n))+float64(reach)*1e-6+2 && reach > 0 && sum > 4 {
			if math.Sqrt(float64(sum)) > float64(reach)*1.01 {
				t.Fatalf("%v within %d: %v, shorter than need be", was, reach, x)
			}
		}
	}
}
