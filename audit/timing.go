package audit

import "time"

// Timing is how long runs took. Nobody promises anything of it: it is no part of the verdict.
type Timing struct {
	Median [2]time.Duration // of one run, on each side
	// Slower is the share of pairs of runs, one of each side, in which that on Data took longer, a tie counting half: about ½ where time
	// tells nothing of the side.
	Slower float64
	// Sizes is Spearman's rank correlation of a run's time with the size of its output: of the number's magnitude, or else of the
	// text's length. NaN where one of them never changes.
	Sizes float64
}
