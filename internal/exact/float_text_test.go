package exact

import (
	"math"
	"testing"
)

func TestFormatFloat(t *testing.T) {
	for _, x := range []struct {
		x         float64
		verb      byte
		precision int
		want      string
	}{
		{math.Copysign(0, -1), 'g', -1, "0"},
		{math.Copysign(0, -1), 'f', 2, "0.00"},
		{-0.004, 'f', 2, "0.00"},
		{-0.4, 'f', 0, "0"},
		{-0.006, 'f', 2, "-0.01"},
		{-1e-7, 'g', -1, "-1e-07"},
		{-10, 'f', 0, "-10"},
		{0.5, 'g', 4, "0.5"},
		{math.Inf(-1), 'g', -1, "-Inf"},
	} {
		if got := FormatFloat(x.x, x.verb, x.precision); got != x.want {
			t.Errorf("%g: %q, want %q", x.x, got, x.want)
		}
	}
}
