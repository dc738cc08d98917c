package stream_test

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/mechanism/stream"
	"dither/privacy"
)

func epsilon(text string) privacy.Epsilon {
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		panic(err)
	}
	return e
}

func exact(values ...int64) (out []mechanism.Exact) {
	for _, v := range values {
		out = append(out, mechanism.NewExact(big.NewInt(v)))
	}
	return out
}

// Which of many counts are above 100: only those that are cost anything, and here one may be.
func ExampleSparseVector() {
	session, err := stream.SparseVector{
		Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: epsilon("2"), Gap: true,
		Positives: 1,
	}.Begin()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, count := range exact(3, 7, 1000) {
		answer, err := session.Ask(count, big.NewInt(100))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.Above, answer.Gap != nil, session.Left())
	}
	// Output:
	// false false 1
	// false false 1
	// true true 0
}

// A running total of a stream of 1,000 steps, all of it for one ε.
func ExampleCountingTree() {
	counter, err := stream.CountingTree{Steps: 1000, Sensitivity: big.NewInt(1)}.Laplace(epsilon("1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, visits := range exact(12, 8, 30) {
		if _, err := counter.Next(visits); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%s in all; after step 3 the variance is %.0f, after step 4 it will be %.0f\n",
		counter.Loss(), counter.Variance(3), counter.Variance(4))
	// Output:
	// ε = 1 in all; after step 3 the variance is 400, after step 4 it will be 200
}
