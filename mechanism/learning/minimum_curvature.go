package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"

	"dither/mechanism"
	"dither/privacy"
)

// Curvature describes one of the two sums that intervals around a minimum need [Wang, Kifer & Lee 2019, Section 5].
// At a released θ, these are the sums over rows of ℓ″·xxᵀ and of (ℓ′)²·xxᵀ, without the regulariser. Each sum is
// given by its lower triangle, row by row, as integers in units of 2^Grid. L1 and L2Squared are its sensitivities
// in these units.
//
// Proof of the sensitivities, with b, s, R, d and m of [Minimiser]: a row's entries are the float64 products
// fl(w·x_i·x_j), where 0 ≤ w ≤ W (W = b for the first sum, s² for the second). They are divided by a power of two
// and truncated towards 0. So they are pure functions of the row and θ, and each has a magnitude of at most
// W·|x_i|·|x_j|·(1 + 2^-51). The L2 norm of xxᵀ is ‖x‖₂², and the triangle is a part of xxᵀ. So the triangle's L2
// norm is at most W·‖x‖₂²·(1 + 2^-51) ≤ W·R²·(1 + 2^-51). The L1 norm of the triangle of xxᵀ is (‖x‖₁² + ‖x‖₂²)/2,
// and ‖x‖₁² ≤ d‖x‖₂². So the triangle's L1 norm is at most (d + 1)/2 times the bound on its L2 norm. A unit has at
// most m rows. Under change-one, twice as many rows differ. The sums are sums of integers, and exact. ∎
type Curvature struct {
	Grid      int
	L1        *big.Int
	L2Squared *big.Int
}

// curvatureBits is the largest number of bits that a row adds, so that sums over 2^32 rows fit in 64 bits.
const curvatureBits = 27

// Curvatures returns the Curvature of the Hessian, Σ ℓ″·xxᵀ, and that of the gradients' products, Σ (ℓ′)²·xxᵀ.
func (m *Minimiser) Curvatures() (hessian, products Curvature) {
	of := func(most float64) Curvature {
		bound := most * m.bound * m.bound * (1 + 0x1p-40)
		_, e := math.Frexp(bound)
		c := Curvature{Grid: e - curvatureBits}
		rows := big.NewInt(m.unit.MaxRows)
		if m.unit.Neighbours == privacy.ChangeOne {
			rows.Lsh(rows, 1)
		}
		l2 := big.NewInt(int64(math.Ceil(math.Ldexp(bound, -c.Grid))))
		l2.Mul(l2, rows)
		c.L1 = new(big.Int).Mul(l2, big.NewInt(int64(m.d)+1))
		c.L1.Rsh(c.L1.Add(c.L1, big.NewInt(1)), 1)
		c.L2Squared = l2.Mul(l2, l2)
		return c
	}
	return of(m.curve.bend), of(m.curve.steep * m.curve.steep)
}

// Curve returns the two sums of [Minimiser.Curvatures] at θ, after projecting θ into the ball. The error is
// ErrParameter, ErrRows, or comes from reading the rows.
func (m *Minimiser) Curve(
	ctx context.Context, rows *mechanism.Rows, theta []float64,
) (hessian, products []mechanism.Exact, err error) {
	if len(theta) != m.d || math.IsNaN(norm(theta)) || math.IsInf(norm(theta), 0) {
		return nil, nil, fmt.Errorf("%w: θ must be a vector of %d numbers", mechanism.ErrParameter, m.d)
	}
	in, err := m.fits(rows)
	if err != nil {
		return nil, nil, err
	}
	theta = append([]float64(nil), theta...)
	m.project(theta)
	of, squares := m.Curvatures()
	workers, size := runtime.GOMAXPROCS(0), m.d*(m.d+1)/2
	sums := make([][2][]sum128, workers)
	integers, x := make([][]int64, workers), make([][]float64, workers)
	for i := range workers {
		sums[i] = [2][]sum128{make([]sum128, size), make([]sum128, size)}
		integers[i], x[i] = make([]int64, m.d), make([]float64, m.d)
	}
	fine := [2]float64{math.Ldexp(1, -of.Grid), math.Ldexp(1, -squares.Grid)}
	unit := math.Ldexp(1, m.rowGrid)
	err = in.Each(ctx, workers, func(w int, records []byte) {
		x := x[w]
		for ; len(records) > 0; records = records[in.Record():] {
			y := in.Decode(records, integers[w], x, unit)
			_, first, second := m.curve.at(dot(theta, x), y)
			for n, weight := range [2]float64{second, first * first} {
				k := 0
				for i := range x {
					f := weight * x[i]
					for j := range i + 1 {
						sums[w][n][k].add(int64(f * x[j] * fine[n]))
						k++
					}
				}
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	add := func(n int) []mechanism.Exact {
		out := make([]mechanism.Exact, size)
		for k := range out {
			total := sum128{}
			for w := range sums {
				total.plus(sums[w][n][k])
			}
			out[k] = mechanism.NewExact(total.integer())
		}
		return out
	}
	return add(0), add(1), nil
}

// integer returns the sum as a big.Int.
func (s sum128) integer() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(s.lo))
}

func dot(a, b []float64) float64 {
	z := 0.0
	for i, x := range b {
		z += a[i] * x
	}
	return z
}
