package sample

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
)

// The joint distribution of two coordinates is P(z) ∝ p^‖z‖∞: over all pairs up to a norm, with a false-alarm rate of
// 1e-9 for each scale.
func TestCubeDrawsPairs(t *testing.T) {
	for _, scale := range []*big.Rat{big.NewRat(1, 2), big.NewRat(3, 1)} {
		const reach = 4
		const side = 2*reach + 1
		rate, _ := new(big.Rat).Inv(scale).Float64()
		p := math.Exp(-rate)
		whole := 1 + 8*p/((1-p)*(1-p)) // 8a vectors have the norm a > 0
		mass, inside := make([]float64, side*side+1), 0.0
		for i := range side * side {
			x, y := i/side-reach, i%side-reach
			mass[i] = math.Exp(-rate*float64(max(x, -x, y, -y))) / whole
			inside += mass[i]
		}
		mass[side*side] = 1 - inside
		counts := make([]int, side*side+1)
		src := entropy.System()
		z := []*big.Int{new(big.Int), new(big.Int)}
		const draws = 40000
		for range draws {
			Cube(src, scale, z)
			x, y := z[0].Int64()+reach, z[1].Int64()+reach
			if x < 0 || x >= side || y < 0 || y >= side {
				counts[side*side]++
			} else {
				counts[x*side+y]++
			}
		}
		if err := (stattest.ChiSquared{Observed: counts, Expected: mass, FalseAlarm: 1e-9}).Check(); err != nil {
			t.Errorf("scale %s: %v", scale, err)
		}
	}
}
