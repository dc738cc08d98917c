package curator

import (
	"math"
	"sort"
	"strconv"

	"dither/privacy"
)

// tidy are the ε of two digits between the policy's least and greatest price, rising, and the greatest.
func (s *pricing) tidy() (out []privacy.Epsilon) {
	const first, last = -12, 2 // exponents
	price := s.c.policy.Price
	at := func(i int) privacy.Epsilon { // rising; 0 where it is beyond what an ε may be
		e, _ := privacy.ParseEpsilon(strconv.Itoa(10+i%90) + "e" + strconv.Itoa(first+i/90-1))
		return e
	}
	within := func(e privacy.Epsilon) bool { return s.c.policy.Budget.Price(e).Within(price.Maximum) }
	const all = (last - first + 1) * 90
	low := sort.Search(all, func(i int) bool {
		e := at(i)
		return e.IsZero() || price.Minimum.Within(s.c.policy.Budget.Price(e))
	})
	for range sort.Search(all-low, func(n int) bool { e := at(low + n); return e.IsZero() || !within(e) }) {
		out = append(out, at(low+len(out)))
	}
	if e := price.Maximum.Price(); within(e) && price.Minimum.Within(s.c.policy.Budget.Price(e)) &&
		(len(out) == 0 || out[len(out)-1].Cmp(e) < 0) {
		out = append(out, e)
	}
	return out
}

// leastPrice is the index of the least price at which there is no excess, of rising ones of which the dearer have less; their number where there
// is none. excess tells how many times too wide intervals are: they are about in proportion to 1/ε, so that what one price has says which to look at
// next, guess first. Few are looked at that way; and never more than some beyond those of a bisection.
func leastPrice(prices []privacy.Epsilon, guess int, excess func(privacy.Epsilon) (float64, error)) (int, error) {
	short, enough := -1, len(prices) // excess at the one, and none at the other
	next := max(0, min(guess, len(prices)-1))
	for looks := 0; enough-short > 1; looks++ {
		of, err := excess(prices[next])
		if err != nil {
			return 0, err
		}
		at, _ := prices[next].Rat().Float64()
		if !(of > 1) {
			enough = next
		} else {
			short = next
		}
		next = short + (enough-short)/2
		if wanted := at * of; looks < 6 && wanted > 0 && wanted <= math.MaxFloat64 {
			next = min(max(from(prices, wanted), short+1), enough-1)
		}
	}
	return enough, nil
}

// from is the index of the least price of an ε or more.
func from(prices []privacy.Epsilon, epsilon float64) int {
	return sort.Search(len(prices), func(i int) bool { f, _ := prices[i].Rat().Float64(); return f >= epsilon*(1-1e-9) })
}

// guess is the index of the price that should do, by how many times too wide intervals are at another.
func (s *pricing) guess(prices []privacy.Epsilon, at privacy.Loss, excess float64) int {
	same := sort.Search(len(prices), func(i int) bool { return at.Within(s.policy.Budget.Price(prices[i])) })
	if same == len(prices) || !(excess > 0) || excess > math.MaxFloat64 {
		return len(prices) / 2
	}
	f, _ := prices[same].Rat().Float64()
	return from(prices, f*excess)
}
