package local

import (
	"testing"
)

// BenchmarkMillion estimates all of a million values from a million reports that are already there. The memory of a
// process that does it is measured with `/usr/bin/time -v dither local estimate`; see docs/reference/benchmarks.md.
func BenchmarkMillion(b *testing.B) {
	for _, name := range []string{"hr", "hcms", "krr"} {
		b.Run(name, func(b *testing.B) {
			o := oracle(b, name, 1_000_000, "1")
			values := make([]uint64, 1_000_000)
			for i := range values {
				values[i] = uint64(i * i % 1_000_000)
			}
			reports, err := o.RandomizeAll(values)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				tally := o.NewTally()
				for _, r := range reports {
					if err := tally.Add(r); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := tally.Estimate(.95); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRandomize makes one report.
func BenchmarkRandomize(b *testing.B) {
	for _, name := range Mechanisms() {
		b.Run(name, func(b *testing.B) {
			k := uint64(1024)
			if name == "coin" {
				k = 2
			}
			o := oracle(b, name, k, "1")
			values := make([]uint64, 100)
			for b.Loop() {
				if _, err := o.RandomizeAll(values); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/report")
		})
	}
}
