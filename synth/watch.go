package synth

import (
	"math/big"
	"time"
)

// Progress is how far a synthesis is. It follows from released numbers and the clock.
type Progress struct {
	Share    float64 // of the price that steps have spent, from 0 to 1
	Rounds   int     // the rounds that are finished
	Measured int     // the measured marginals and shapes
	Passed   time.Duration
	// Left estimates the remaining time, as if each share of the price took the same time. Once the price is spent, it is
	// the longest time of the last fit, if its iterations take as long as those before. 0: not known yet
	Left time.Duration
}

// leastShare is the least share of the price whose time says something about the rest.
const leastShare = 0.02

// watch reports that a step of the given price is finished.
func (s *synthesis) watch(price *big.Rat) {
	s.spent.Add(s.spent, price)
	if s.request.Watch == nil {
		return
	}
	share, _ := new(big.Rat).Quo(s.spent, s.whole).Float64()
	p := Progress{
		Share: min(share, 1), Rounds: s.result.Rounds, Measured: len(s.result.Measured) + len(s.outlines), Passed: time.Since(s.start),
	}
	switch {
	case p.Share == 1:
		p.Left = s.each * (roundIterations + lastIterations)
	case p.Share >= leastShare:
		p.Left = time.Duration(float64(p.Passed) * (1 - p.Share) / p.Share)
	}
	s.request.Watch(p)
}
