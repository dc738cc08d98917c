package cluster

import (
	"math/big"
	"testing"

	"dither/noise"
)

// Where noise speaks against every mean that is possible, the interval is all of what is possible, and not the point at
// which the mean was drawn in.
func TestMeanBeyondTheSpace(t *testing.T) {
	law, err := noise.NewDiscreteLaplace(big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	laws := noiseLaws{alpha: 0.05}
	p := &pool{count: 20, sum: []float64{90}, times: 1, countNoise: law, noise: law, unit: 1}
	if low, high := laws.mean(p, 90); low != -1 || high != 1 {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := laws.mean(p, 10); !(low > 0.2 && low < 0.5 && high > 0.5 && high < 0.8) {
		t.Errorf("[%g, %g]", low, high)
	}
	c := p.cluster(task{d: 1, k: 1, alpha: 0.05}, &laws, []float64{0}, 1)
	if n := c.centre[0]; n.Value != 1 || n.Low != -1 || n.High != 1 {
		t.Errorf("%+v", n)
	}
}
