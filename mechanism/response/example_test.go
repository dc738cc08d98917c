package response_test

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/mechanism/response"
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

// Everybody answers for themselves; the number of those who would say 2 is estimated from the answers.
func ExampleCategory() {
	m := response.Category{Categories: 4, Epsilon: epsilon("1")}
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
	fmt.Printf("the truth with %.4f, each other answer with %.4f; about %.0f, variance %.0f %v\n",
		p, q, count, variance, err)
	// Output:
	// the truth with 0.4754, each other answer with 0.1749; about 416, variance 2083 <nil>
}
