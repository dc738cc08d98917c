package stattest

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Kolmogorov is the Kolmogorov–Smirnov test of real numbers against a continuous distribution.
type Kolmogorov struct {
	Sample     []float64
	CDF        func(x float64) float64 // P(X ≤ x), continuous
	FalseAlarm float64                 // probability of a false alarm, such as 1e-6
}

// Check returns an error if the sample's distribution function differs from CDF, at any point, by more than chance
// explains at the false-alarm rate. For every sample size n, the probability of a false alarm is at most that rate:
// P(sup|F_n − F| > t) ≤ 2·exp(−2nt²) [Dvoretzky, Kiefer & Wolfowitz 1956; the constant is Massart's, 1990].
func (k Kolmogorov) Check() error {
	sample := slices.Clone(k.Sample)
	slices.Sort(sample)
	distance := gap{}
	for i := 0; i < len(sample); {
		j := i + 1
		for j < len(sample) && sample[j] == sample[i] {
			j++
		}
		f := k.CDF(sample[i])
		distance.at(float64(i)/float64(len(sample)), f, sample[i])
		distance.at(float64(j)/float64(len(sample)), f, sample[i])
		i = j
	}
	return distance.check(len(sample), k.FalseAlarm)
}

// KolmogorovIntegers is the Kolmogorov–Smirnov test of integers against a distribution on the integers.
type KolmogorovIntegers struct {
	Sample     []*big.Int
	CDF        func(x *big.Int) float64 // P(X ≤ x)
	FalseAlarm float64                  // probability of a false alarm, such as 1e-6
}

// Check is [Kolmogorov.Check] for integers. The inequality that it uses holds for every distribution. Check
// compares the two distribution functions on both sides of each step. It calls CDF for each sampled integer, and
// for the integer before it.
func (k KolmogorovIntegers) Check() error {
	sample := slices.Clone(k.Sample)
	slices.SortFunc(sample, (*big.Int).Cmp)
	distance := gap{}
	n, one := float64(len(sample)), big.NewInt(1)
	for i := 0; i < len(sample); {
		j := i + 1
		for j < len(sample) && sample[j].Cmp(sample[i]) == 0 {
			j++
		}
		distance.at(float64(i)/n, k.CDF(new(big.Int).Sub(sample[i], one)), sample[i])
		distance.at(float64(j)/n, k.CDF(sample[i]), sample[i])
		i = j
	}
	return distance.check(len(sample), k.FalseAlarm)
}

// gap is the largest difference of two distribution functions found so far, and the point at which it occurs.
type gap struct {
	width, sampled, real float64
	where                any
}

func (g *gap) at(sampled, real float64, where any) {
	if d := math.Abs(sampled - real); d > g.width || math.IsNaN(d) {
		*g = gap{d, sampled, real, where}
	}
}

func (g *gap) check(n int, falseAlarm float64) error {
	if n == 0 {
		return errors.New("the sample is empty")
	}
	limit := math.Sqrt(math.Log(2/falseAlarm) / (2 * float64(n)))
	if g.width <= limit {
		return nil
	}
	return fmt.Errorf(
		"the distribution functions are %.4g apart at %v (%.6g sampled, %.6g expected), beyond %.4g for %d "+
			"values at the false-alarm rate %g",
		g.width,
		g.where,
		g.sampled,
		g.real,
		limit,
		n,
		falseAlarm,
	)
}
