package hypothesis_test

import (
	"fmt"
	"math/big"

	"dither/hypothesis"
	"dither/noise"
)

// A published table of four counts with Gaussian noise of σ = 20 for 400 people: taken for counts they would not be
// uniform.
func ExampleGoodnessOfFit() {
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(400, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, method := range []hypothesis.Method{hypothesis.Naive, hypothesis.Projected} {
		t, err := hypothesis.GoodnessOfFit{
			Counts: []float64{120, 90, 80, 110}, Noise: gaussian, N: 400,
			How: hypothesis.How{Method: method},
		}.Test()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: χ² = %.3g with %d degrees of freedom, p = %.3f\n", t.Method, t.Statistic, t.DF, t.P)
	}
	// Output:
	// naive: χ² = 10 with 3 degrees of freedom, p = 0.019
	// projected: χ² = 2 with 3 degrees of freedom, p = 0.572
}

// A count of successes with discrete Laplace noise, made Tulap by the uniform number that the release's name stands
// for.
func ExampleDither() {
	laplace, err := noise.NewDiscreteLaplace(big.NewRat(2, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := hypothesis.Dither(big.NewInt(18), laplace, 30, "release r7 of the trial")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := b.Test(.8, hypothesis.Less)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := b.Interval(.95, hypothesis.Less)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("p = %.3f, the share is at most %.2f\n", t.P, in.High)
	// Output:
	// p = 0.043, the share is at most 0.79
}
