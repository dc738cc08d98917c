package account_test

import (
	"testing"

	"dither/account"
	"dither/privacy"
)

// BenchmarkPeers accounts for the jobs that tools/peers/peers.py gives to other libraries.
func BenchmarkPeers(b *testing.B) {
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		b.Fatal(err)
	}
	sampled := []string{"gaussian sigma=1.1 sampling=256/60000 count=14062"}
	for _, c := range []struct {
		name  string
		specs []string
	}{
		{"account-sampled", sampled},
		{"account-mixed", []string{"gaussian sigma=50 count=5000", "laplace scale=100 count=3000", "gaussian sigma=2 sampling=0.01 count=2000"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var steps []account.Step
				for _, text := range c.specs {
					s, err := account.ParseStep(text)
					if err != nil {
						b.Fatal(err)
					}
					steps = append(steps, s)
				}
				job, err := account.NewJob(steps...)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := job.Epsilon(delta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
