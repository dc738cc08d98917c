package audit

import "fmt"

// Verdict is the result of an audit of a claim.
type Verdict int

// The verdicts. No verdict says that a mechanism is private, because an audit that finds nothing has proved
// nothing.
const (
	NoClaim    Verdict = iota // there was no claim
	NotRefuted                // the runs do not contradict the claim
	Refuted                   // the runs contradict the claim, with the stated confidence
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Refuted:
		return "refuted"
	case NotRefuted:
		return "not refuted"
	}
	return "no claim"
}

// MarshalText returns the same text as [Verdict.String].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Other returns the other side.
func (s Side) Other() Side { return 1 - s }

// String returns the side's name: data or neighbor.
func (s Side) String() string {
	switch s {
	case Data:
		return "data"
	case Neighbor:
		return "neighbor"
	}
	return fmt.Sprintf("Side(%d)", int(s))
}

// MarshalText returns the same text as [Side.String].
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Report is the result of an audit. All its bounds hold together, except with probability at most 1 − Confidence.
type Report struct {
	Verdict    Verdict
	Claim      *Claim // nil if there was no claim
	Confidence float64
	Runs       int // all runs of each side
	Learned    int // runs of each side from which events were learned; fewer than planned if outputs are long
	Tested     int // further runs of each side, which tested the events

	// Epsilon is a lower bound on the ε of every (ε, δ) promise that the mechanism keeps on these two sides. δ is
	// the claim's, or 0 without a claim. Epsilon is 0 if the audit showed nothing.
	Epsilon float64
	// Delta is a lower bound on the δ that the mechanism keeps at the claim's ε. It is 0 without a claim, and if
	// the audit showed nothing.
	Delta float64
	// Reach is the largest Epsilon that this number of runs can show. An event that always happens on one side and
	// never on the other shows it.
	Reach float64

	// Findings are the tested events, the one with the largest Epsilon first. If the claim is refuted, they contain
	// the counterexample.
	Findings []Finding
	Shown    Histogram // the distribution of the feature of the first finding
	Support  []string  // the grids on which the numbers lie, in words
	Timing   *Timing   // nil if no run was timed
	Notes    []string  // warnings
}

// Finding is an event that was learned from some runs, with its counts in further runs.
type Finding struct {
	Event string // the event as a clause: "the output is ≥ 17.3"
	// Whole reports whether Event describes the event completely. If not, the event is that the sum of the weights
	// in Terms is at least, or at most, Threshold.
	Whole  bool
	Likely Side   // the side on which learning found the event likelier
	Counts [2]int // runs of each side with the event, among the tested runs
	Runs   int    // tested runs of each side

	Low     float64 // lower bound on the event's probability on the side Likely
	High    float64 // upper bound on its probability on the other side
	Epsilon float64 // the larger of Rare and ln((Low − δ)/High), at least 0
	// Rare is a lower bound on ε from the runs with the event alone, if the event is rare and δ is 0; otherwise 0. It
	// can be far above ln(Low/High).
	Rare  float64
	Delta float64 // Low − e^ε·High at the claim's ε, at least 0; 0 without a claim

	// Terms define the score of an output: each term contributes the weight of the part that the output is in, or 0
	// if it is in none. The score is the sum. Without terms, the score is the number that the clause compares.
	Terms     []Term
	AtLeast   bool // the event is a score of at least Threshold; otherwise of at most Threshold
	Threshold float64

	event event
}

// Term holds the weights of the parts of one feature, as they were learned.
type Term struct {
	Of      string
	Parts   []Weight
	Omitted int // the number of further tokens, the rarest ones, whose weights are left out
}

// Weight is the log-likelihood ratio of one part of a feature's range. It is positive if the part is likelier on
// Data.
type Weight struct {
	Part string
	Log  float64
}

// Histogram counts how often each part of a feature's range occurred in the runs from which events were learned.
type Histogram struct {
	Of     string // the feature: "the output", "coordinate 3"
	Parts  []string
	Counts [2][]int
	Runs   [2]int
}
