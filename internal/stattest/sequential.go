package stattest

import (
	"fmt"
	"math"
)

// Sequential is Wald's sequential probability ratio test of whether trials succeed with probability Promised or more,
// against Wrong or less. It takes as many trials as it needs; these are few if trials succeed far more often than
// promised, as conservative intervals do. The zero value of the unexported fields is a test without observations.
//
// Both rates are proved, not approximated [Wald 1945; Ville 1939]. Let Λ be the product, over trials, of the ratio of the outcome's
// probability under Wrong = w to that under Promised = q. Where a trial succeeds with probability p, a factor's mean is
// p·w/q + (1 − p)(1 − w)/(1 − q), which is 1 at p = q and falls in p: for p ≥ q the product is a supermartingale that begins at 1, and
// reaches 1/FalseAlarm with a probability of at most FalseAlarm, however long it goes on. Likewise 1/Λ for p ≤ w and Miss. The trials may depend on one
// another, as long as each is within p ≥ q (or p ≤ w) given those before it.
type Sequential struct {
	Promised, Wrong  float64 // 0 < Wrong < Promised < 1
	FalseAlarm, Miss float64 // such as 1e-6: the chances of an error at Promised or above, and of none at Wrong or below

	trials, successes int
	decided           bool
}

// Open reports whether the test needs further trials.
func (s *Sequential) Open() bool { return !s.decided }

// Observe adds one trial. Trials after the decision do not count.
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

// evidence is ln Λ.
func (s *Sequential) evidence() float64 {
	return float64(
		s.successes,
	)*math.Log(
		s.Wrong/s.Promised,
	) + float64(
		s.trials-s.successes,
	)*math.Log(
		(1-s.Wrong)/(1-s.Promised),
	)
}

// Check returns an error if the trials succeed too seldom, or if the test is still open.
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

// AnyOpen reports whether one of the tests needs further trials.
func AnyOpen(tests []*Sequential) bool {
	for _, s := range tests {
		if s.Open() {
			return true
		}
	}
	return false
}
