package curator

import (
	"math"
	"math/big"
	"testing"
)

// Sums of vectors are answered of a server's table, and of a copy of it: they are the exact ones, but for noise of the
// least, and steps of k-means come to their cells. Questions about parts are for copies alone.
func TestLiveMoments(t *testing.T) {
	c := liveLooks(t)
	bills := Vectors{
		Request: Request{SQL: "SELECT 1, euros / 10.0 FROM bills", Epsilon: "30", Fresh: true},
		Blocks:  []Block{{2, L2, "1.2"}}, Sums: []Sum{Count(), First(0), Product(0, 0)},
	}
	near := func(what string, v *big.Int, s NoisySum, want float64) {
		t.Helper()
		got, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v), s.Unit).Float64()
		unit, _ := s.Unit.Float64()
		if math.Abs(got-want) > 7*s.Noise.StdDev()*unit+200*10*unit { // beyond 7 deviations by 3e-12, and rounding by grid units of each row
			t.Errorf("%s: %s: %g, want %g", what, s.Name, got, want)
		}
	}
	// Each of the numbers 0 … 9 stands 20 times. (1, e/10) is longer than 1.2 from 7 on, and scaled to it.
	var ones, tenths, squares, mixed, other float64
	for e := range 10 {
		x, y := 1.0, float64(e)/10
		if n := math.Hypot(x, y); n > 1.2 {
			x, y = x*1.2/n, y*1.2/n
		}
		ones, tenths, squares, mixed, other = ones+20*x, tenths+20*y, squares+20*x*x, mixed+20*x*y, other+20*y*y
	}
	check := func(what string) {
		t.Helper()
		m, err := c.Moments(t.Context(), bills)
		if err != nil {
			t.Fatal(what, err)
		}
		near(what, m.Sums[0].Values[0][0], m.Sums[0], 200)
		for i, want := range []float64{ones, tenths} {
			near(what, m.Sums[1].Values[0][i], m.Sums[1], want)
		}
		for i, want := range []float64{squares, mixed, other} {
			near(what, m.Sums[2].Values[0][i], m.Sums[2], want)
		}
		step := bills
		step.SQL, step.Blocks, step.Sums, step.Centres = "SELECT euros FROM bills", []Block{{1, L1, ""}}, []Sum{Count(), First(0)}, [][]float64{{1}, {4}, {4}}
		if m, err = c.Moments(t.Context(), step); err != nil {
			t.Fatal(what, err)
		}
		for i, want := range [][2]float64{{60, 20 * (0 + 1 + 2)}, {140, 20 * (3 + 4 + 5 + 6 + 7 + 8 + 9)}, {0, 0}} {
			near(what, m.Sums[0].Values[i][0], m.Sums[0], want[0])
			near(what, m.Sums[1].Values[i][0], m.Sums[1], want[1])
		}
	}
	part := Vectors{Request: Request{SQL: "SELECT cost FROM visits WHERE ward = 'v'"}, Blocks: []Block{{1, L1, ""}}, Sums: []Sum{Count(), First(0)}}
	check("live")
	if e, err := c.ExplainMoments(t.Context(), part); err != nil || e.Charged != nil {
		t.Errorf("a part of a live table: charged to %q, %v", e.Charged, err)
	}
	if _, err := c.Moments(t.Context(), part); err != nil {
		t.Errorf("a part of a live table: %v", err)
	}
	for _, table := range []string{"visits", "bills"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{Copy: "copies"}); err != nil {
			t.Fatal(err)
		}
	}
	check("copied")
	if e, err := c.ExplainMoments(t.Context(), part); err != nil || len(e.Charged) != 1 {
		t.Errorf("a part of a copy: charged to %q, %v", e.Charged, err)
	}
	if _, err := c.Moments(t.Context(), part); err != nil {
		t.Errorf("a part of a copy: %v", err)
	}
}
