package quantile_test

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

func epsilon(text string) privacy.Epsilon {
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		panic(err)
	}
	return e
}

// Quartiles of ages. The rows stay where they are, and are read in order.
func ExampleIndependent() {
	ages := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for age := range int64(100) {
			if !yield(age, 1000) { // a thousand rows of each age
				return nil
			}
		}
		return nil
	})
	m := quantile.Independent{
		Domain: quantile.Domain{Lower: 0, Upper: 115}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
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
