package account_test

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/privacy"
)

// What a training run costs together, by every accountant.
func ExampleJob_Epsilon() {
	step, err := account.ParseStep("gaussian sigma=1.1 sampling=256/60000 count=14062")
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
	fmt.Printf("pld %.3f to %.3f, renyi %.3f\n", report.PLD.Lower, report.PLD.Value, report.Renyi.Value)
	// Output:
	// pld 2.382 to 2.382, renyi 2.597
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
