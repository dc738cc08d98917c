package curator

import (
	"math"
	"sort"
	"strconv"

	"dither/privacy"
)

// tidy returns the candidate prices in rising order: every ε of two digits between the policy's minimum and maximum
// price, and the maximum.
func (s *pricing) tidy() (out []privacy.Epsilon) {
	const first, last = -12, 2 // decimal exponents
	price := s.c.policy.Price
	at := func(i int) privacy.Epsilon { // the i-th ε of two digits, in rising order; the zero ε if there is none
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

// leastPrice returns the index of the least price whose excess is at most 1, or len(prices) if there is none. The
// prices rise, and the excess must not rise with them. It tries the price at index guess first. Half-widths are
// roughly proportional to 1/ε, so the excess at one price suggests the next one to try. After six such steps, it
// bisects.
func leastPrice(prices []privacy.Epsilon, guess int, excess func(privacy.Epsilon) (float64, error)) (int, error) {
	// the indices of a price that is too low and of a price that is high enough; −1 and len(prices) for none
	short, enough := -1, len(prices)
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

// from returns the index of the least price of at least epsilon.
func from(prices []privacy.Epsilon, epsilon float64) int {
	return sort.Search(len(prices), func(i int) bool { f, _ := prices[i].Rat().Float64(); return f >= epsilon*(1-1e-9) })
}

// guess returns the index of the price that should suffice, given the excess at another price.
func (s *pricing) guess(prices []privacy.Epsilon, at privacy.Loss, excess float64) int {
	same := sort.Search(len(prices), func(i int) bool { return at.Within(s.policy.Budget.Price(prices[i])) })
	if same == len(prices) || !(excess > 0) || excess > math.MaxFloat64 {
		return len(prices) / 2
	}
	f, _ := prices[same].Rat().Float64()
	return from(prices, f*excess)
}
