package selection_test

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/mechanism/selection"
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

// The best of some candidates, by scores that one person moves by 1 and all in one direction. The scores are not
// released.
func ExampleExponential() {
	m := selection.Exponential{Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: epsilon("1")}
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
