package ours

import (
	"math/big"

	"dither/mechanism/response"
	"dither/privacy"
)

func responses() []Subject { return []Subject{randomizedResponse(), categoryResponse()} }

func randomizedResponse() Subject {
	m := response.Randomized{Truth: big.NewRat(1, 2), Yes: big.NewRat(1, 2)}
	e, err := m.Epsilon()
	s := subject(Subject{
		Name: "randomized-response", About: "one bit, by two fair coins",
		Source: "Warner 1965",
		domain: domain{inputs: []string{"0", "1"}, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Respond(exactly(int64(i)))
			if err != nil {
				return drawn{}, err
			}
			answer := int64(0)
			if out[0] {
				answer = 1
			}
			return plain(privacy.PureLoss(e), answer), nil
		}},
		// If the first coin shows heads, the answer is the truth. Otherwise the second coin decides it.
		law: func() (*Law, error) {
			return lawOf([]string{"0", "1"}, neighbouringNumbers(2), func(c *calc, i int) (w weights) {
				w.total = c.rat(1, 1)
				w.add(c, label(i), c.rat(1, 2))
				w.add(c, "0", c.rat(1, 4))
				w.add(c, "1", c.rat(1, 4))
				return w
			})
		},
	})
	if s.err == nil {
		s.err = err
	}
	return s
}

func categoryResponse() Subject {
	m := response.Category{Categories: 4, Epsilon: epsilonOf(1, 1)}
	all, names := vectors(1, 0, 3)
	return subject(Subject{
		Name: "category-response", About: "one of four values, answered truly with probability e/(e + 3)",
		Source: "Kairouz, Oh & Viswanath 2014",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Respond(exactly(all[i]...))
			return plain(privacy.PureLoss(m.Epsilon), out...), err
		}},
		law: func() (*Law, error) {
			return lawOf(names, adjacent(4, func(int, int) bool { return true }), func(c *calc, i int) (w weights) {
				e := c.exp(m.Epsilon.Rat())
				w.total = c.add(e, c.rat(3, 1))
				for answer := range 4 {
					p := c.rat(1, 1)
					if answer == i {
						p = e
					}
					w.add(c, label(answer), p)
				}
				return w
			})
		},
	})
}
