package mechanism_test

import (
	"math/big"
	"strconv"
	"testing"

	"dither/mechanism"
	"dither/mechanism/analytic"
	"dither/mechanism/partition"
	"dither/mechanism/quantile"
	"dither/mechanism/response"
	"dither/mechanism/selection"
	"dither/privacy"
)

// BenchmarkPeers makes releases of the sizes that tools/peers/peers.py gives to other libraries.
func BenchmarkPeers(b *testing.B) {
	one := big.NewInt(1)
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		b.Fatal(err)
	}
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		b.Fatal(err)
	}
	scores := make([]mechanism.Exact, 1000)
	for i := range scores {
		scores[i] = mechanism.NewExact(big.NewInt(int64(i * 7919 % 1000)))
	}
	partitions := make([]mechanism.Partition, len(scores))
	for i, x := range scores {
		partitions[i] = mechanism.NewPartition(strconv.Itoa(i), x)
	}
	values := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for v := range int64(1000) {
			if !yield(v*100, 1) {
				return nil
			}
		}
		return nil
	})
	domain, unit := quantile.Domain{Upper: 100_000}, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	calibrated, err := analytic.NewGaussian(one, epsilon, delta)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		once func() error
	}{
		{"laplace", func() error {
			_, err := mechanism.Laplace{Sensitivity: one, Epsilon: epsilon}.Measure(scores)
			return err
		}},
		{"analytic-gaussian", func() error { _, err := calibrated.Measure(scores); return err }},
		{"staircase", func() error {
			_, err := mechanism.Staircase{Sensitivity: one, Epsilon: epsilon}.Measure(scores[:1])
			return err
		}},
		{"tulap", func() error {
			_, err := mechanism.Tulap{Epsilon: epsilon, Delta: delta}.Measure(scores[0])
			return err
		}},
		{"randomized-response", func() error {
			_, err := response.Category{Categories: 10, Epsilon: epsilon}.Respond(scores[:1])
			return err
		}},
		{"exponential", func() error {
			_, err := selection.Exponential{Sensitivity: one, Epsilon: epsilon}.Select(scores)
			return err
		}},
		{"permute-and-flip", func() error {
			_, err := selection.PermuteAndFlip{Sensitivity: one, Epsilon: epsilon}.Select(scores)
			return err
		}},
		{"noisy-max", func() error {
			_, err := selection.NoisyMax{Sensitivity: one, Epsilon: epsilon}.Select(scores)
			return err
		}},
		{"noisy-top-10", func() error {
			_, err := selection.NoisyTop{Sensitivity: one, Epsilon: epsilon, K: 10}.Select(scores)
			return err
		}},
		{"threshold", func() error {
			m := partition.ThresholdLaplace{
				Laplace:   mechanism.Laplace{Sensitivity: one, Epsilon: epsilon},
				Threshold: partition.Threshold{MaxPerCell: one, Keys: 1, Delta: delta},
			}
			_, err := m.Measure(partitions)
			return err
		}},
		{"quantile", func() error {
			_, err := quantile.Single{
				Domain: domain, Unit: unit, Rank: big.NewRat(1, 2),
				Epsilon: epsilon,
			}.Release(values)
			return err
		}},
		{"quantile-tree", func() error {
			_, err := quantile.Tree{
				Domain: domain, Unit: unit, Height: 4, Branching: 16,
				Loss: privacy.PureLoss(epsilon),
			}.Measure(values)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.once(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
