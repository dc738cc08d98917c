package rounding

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDivideAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		values := make([]float64, 1+r.IntN(6))
		for i := range values {
			values[i] = 5 * r.NormFloat64()
		}
		for _, signed := range []bool{false, true} {
			total, sum := int64(r.IntN(4)*r.IntN(10)), int64(0)
			whole := Divide(total, values, signed)
			for _, n := range whole {
				sum += n
			}
			if sum != total || !signed && slices.Min(whole) < 0 {
				t.Fatalf("Divide(%d, %v, %v) = %v", total, values, signed, whole)
			}
		}
	}
}

// Integers that already have the required sums stay, and others become integers with these sums.
func TestTablesHaveTheirSums(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		for _, signed := range []bool{false, true} {
			of := Table{Rows: make([]int64, n), Columns: make([]int64, m), Values: make([]float64, n*m), Signed: signed}
			exact := make([]int64, n*m)
			for i := range exact {
				if exact[i] = int64(r.IntN(3) * r.IntN(30)); signed {
					exact[i] -= 20
				}
				of.Rows[i/m] += exact[i]
				of.Columns[i%m] += exact[i]
				of.Values[i] = float64(exact[i])
			}
			if got := of.Solve(); !slices.Equal(got, exact) {
				t.Fatalf("%v becomes %v", exact, got)
			}
			for i := range of.Values {
				of.Values[i] += 10 * r.NormFloat64()
			}
			rows, columns := make([]int64, n), make([]int64, m)
			for i, v := range of.Solve() {
				rows[i/m] += v
				columns[i%m] += v
				if v < 0 && !signed || math.Abs(float64(v-exact[i])) > 400 {
					t.Fatalf("cell %d of %v is %d", i, of, v)
				}
			}
			if !slices.Equal(rows, of.Rows) || !slices.Equal(columns, of.Columns) {
				t.Fatalf("%v has the sums %v and %v", of, rows, columns)
			}
		}
	}
}
