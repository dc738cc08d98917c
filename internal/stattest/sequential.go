package stattest

import (
	"fmt"
	"math"
)

// Sequential is Wald's sequential probability ratio test. It tests whether trials succeed with probability Promised
// or more, against the alternative of Wrong or less. It takes as many trials as it needs. These are few if trials
// succeed far more often than promised, as conservative intervals do. A value with the exported fields set is a
// test without trials so far.
//
// Claim: the probability of an error is at most FalseAlarm at Promised or above, and the probability of no error is
// at most Miss at Wrong or below. Proof [Wald 1945; Ville 1939]: let w = Wrong and q = Promised. Let Λ be the
// product, over trials, of the outcome's probability under w divided by its probability under q. If a trial
// succeeds with probability p, the mean of its factor is p·w/q + (1 − p)(1 − w)/(1 − q). This is 1 at p = q, and
// falls in p. So for p ≥ q, Λ is a supermartingale that begins at 1. It reaches 1/FalseAlarm with probability at
// most FalseAlarm, however many trials there are. The same argument holds for 1/Λ, p ≤ w and Miss. ∎
//
// The trials may depend on each other, if the probability of each, given the trials before it, satisfies p ≥ q (or
// p ≤ w).
type Sequential struct {
	Promised, Wrong float64 // 0 < Wrong < Promised < 1
	// the largest probability of an error at Promised or above, and of no error at Wrong or below; such as 1e-6
	FalseAlarm, Miss float64

	trials, successes int
	decided           bool
}

// Open reports whether the test needs further trials.
func (s *Sequential) Open() bool { return !s.decided }

// Observe adds one trial. Trials after the decision are ignored.
func (s *Sequential) Observe(success bool) {
	if s.decided {
		return
	}
	s.trials++
	if success {
		s.successes++
	}
	evidence := s.evidence()
	s.decided = evidence >= -math.Log(s.FalseAlarm) || evidence <= math.Log(s.Miss)
}

// evidence returns ln Λ, as defined at [Sequential].
func (s *Sequential) evidence() float64 {
	return float64(s.successes)*math.Log(s.Wrong/s.Promised) +
		float64(s.trials-s.successes)*math.Log((1-s.Wrong)/(1-s.Promised))
}

// Check returns an error if the trials succeed too rarely, or if the test needs further trials.
func (s *Sequential) Check() error {
	switch {
	case !s.decided:
		return fmt.Errorf("%s: not decided", s)
	case s.evidence() > 0:
		return fmt.Errorf("%s, of %g promised: at most once in %.3g by chance", s, s.Promised, 1/s.FalseAlarm)
	}
	return nil
}

func (s *Sequential) String() string {
	return fmt.Sprintf("%d of %d (%.2f %%)", s.successes, s.trials, 100*float64(s.successes)/float64(max(s.trials, 1)))
}

// AnyOpen reports whether any of the tests needs further trials.
func AnyOpen(tests []*Sequential) bool {
	for _, s := range tests {
		if s.Open() {
			return true
		}
	}
	return false
}
