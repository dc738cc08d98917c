package account_test

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/privacy"
)

// What a hundred answers cost together, by every accountant.
func ExampleJob_Epsilon() {
	step, err := account.ParseStep("laplace scale=10 count=100")
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := account.NewJob(step)
	if err != nil {
		fmt.Println(err)
		return
	}
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := job.Epsilon(delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("basic %.3f, renyi %.3f, pld %.3f to %.3f\n",
		report.Basic.Value, report.Renyi.Value, report.PLD.Lower, report.PLD.Value)
	// Output:
	// basic 10.000, renyi 4.533, pld 4.220 to 4.220
}

// The least noise with which one answer keeps a promise.
func ExampleGaussianSigma2() {
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		fmt.Println(err)
		return
	}
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		fmt.Println(err)
		return
	}
	sigma2, err := account.GaussianSigma2(big.NewInt(1), epsilon, delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("σ² =", sigma2.FloatString(6))
	// Output:
	// σ² = 13.917612
}
