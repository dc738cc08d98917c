package span

import (
	"testing"

	"dither/mechanism/linear"
)

// BenchmarkFactor inverts a matrix of 512 values, the largest.
func BenchmarkFactor(b *testing.B) {
	runs := make([][]linear.Run, MaxSide)
	for i := range runs {
		for j := range i + 1 {
			runs[i] = append(runs[i], linear.Run{From: j, To: j + 1, Value: int64(1000 / (i - j + 1))})
		}
	}
	m, err := linear.NewMatrix(MaxSide, runs)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if newFactor(m) == nil {
			b.Fatal("nothing is determined")
		}
	}
}
