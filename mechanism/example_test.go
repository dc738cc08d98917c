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
