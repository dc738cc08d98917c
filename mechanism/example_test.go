package mechanism_test

import (
	"fmt"
	"math/big"

	"dither/mechanism"
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

// A histogram of persons who are each in one cell: the sensitivity of the whole vector is 1.
func ExampleLaplace() {
	m, err := mechanism.Laplace{Sensitivity: big.NewInt(1), Epsilon: epsilon("0.5")}.Measure(exact(120, 45, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d values with noise of standard deviation %.2f, for %s\n", len(m.Values), m.Noise.StdDev(), m.Loss)
	// Output:
	// 3 values with noise of standard deviation 2.80, for ε = 0.5
}

// The best of some candidates, by scores that one person moves by 1 and all in one direction. The scores are not released.
func ExampleExponential() {
	m := mechanism.Exponential{Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: epsilon("1")}
	chosen, err := m.Select(exact(20, 500, 130))
	if err != nil {
		fmt.Println(err)
		return
	}
	far, err := m.Shortfall(big.NewInt(3), 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("candidate %d; none is more than %.1f better, with probability .95\n", chosen.Index, far)
	// Output:
	// candidate 1; none is more than 4.1 better, with probability .95
}

// Which of many counts are above 100: only those that are cost anything, and here one may be.
func ExampleSparseVector() {
	session, err := mechanism.SparseVector{Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: epsilon("2"), Gap: true, Positives: 1}.Begin()
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
	counter, err := mechanism.CountingTree{Steps: 1000, Sensitivity: big.NewInt(1)}.Laplace(epsilon("1"))
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
	fmt.Printf("%s in all; after step 3 the variance is %.0f, after step 4 it will be %.0f\n", counter.Loss(), counter.Variance(3), counter.Variance(4))
	// Output:
	// ε = 1 in all; after step 3 the variance is 400, after step 4 it will be 200
}

// Everybody answers for themselves; the number of those who would say 2 is estimated from the answers.
func ExampleCategoryResponse() {
	m := mechanism.CategoryResponse{Categories: 4, Epsilon: epsilon("1")}
	if _, err := m.Respond(exact(2)); err != nil { // by each person, for themselves
		fmt.Println(err)
		return
	}
	count, variance, err := m.Count(300, 1000) // 300 of 1,000 answers said 2
	if err != nil {
		fmt.Println(err)
		return
	}
	p, q, err := m.Channel()
	fmt.Printf("the truth with %.4f, each other answer with %.4f; about %.0f, variance %.0f %v\n", p, q, count, variance, err)
	// Output:
	// the truth with 0.4754, each other answer with 0.1749; about 416, variance 2083 <nil>
}

// Quartiles of ages. The rows stay where they are, and are read in order.
func ExampleIndependentQuantiles() {
	ages := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for age := range int64(100) {
			if !yield(age, 1000) { // a thousand rows of each age
				return nil
			}
		}
		return nil
	})
	m := mechanism.IndependentQuantiles{
		Domain: mechanism.Domain{Lower: 0, Upper: 115}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		Ranks: []*big.Rat{big.NewRat(255, 1000), big.NewRat(505, 1000), big.NewRat(755, 1000)}, Epsilon: epsilon("1"),
	}
	found, err := m.Release(ages)
	if err != nil {
		fmt.Println(err)
		return
	}
	off, err := m.RankError(0.05)
	fmt.Printf("%v, each within %.0f of 100,000 rows %v\n", found.Values, off, err)
	// Output:
	// [25 50 75], each within 40 of 100,000 rows <nil>
}
