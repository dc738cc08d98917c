package audit

import "fmt"

// Verdict is the result of an audit of a claim.
type Verdict int

// The verdicts. None says that a mechanism is private, because an audit that finds nothing has proved nothing.
const (
	NoClaim    Verdict = iota // nothing was claimed
	NotRefuted                // these runs do not contradict the claim
	Refuted                   // they do, with the confidence asked for
)

// String is the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Refuted:
		return "refuted"
	case NotRefuted:
		return "not refuted"
	}
	return "no claim"
}

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Other returns the side that s is not.
func (s Side) Other() Side { return 1 - s }

// String names the side: data, or neighbor.
func (s Side) String() string {
	switch s {
	case Data:
		return "data"
	case Neighbor:
		return "neighbor"
	}
	return fmt.Sprintf("Side(%d)", int(s))
}

// MarshalText writes the side as String does.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Report is the result of an audit. All its bounds hold together, except with probability at most 1 − Confidence.
type Report struct {
	Verdict    Verdict
	Claim      *Claim // nil: none
	Confidence float64
	Runs       int // on each side
	Learned    int // so many of them events were learned from: fewer than were meant to be, where outputs are long
	Tested     int // and so many further ones tested them

	// Epsilon is a lower bound on the ε of any (ε, δ) that the mechanism keeps on these two sides, at the claim's δ,
	// or at 0. It is 0 if nothing was shown.
	Epsilon float64
	// Delta is a lower bound on the δ that it keeps at the claim's ε. It is 0 without a claim, and where nothing was
	// shown.
	Delta float64
	// Reach is the largest Epsilon that this many runs could have shown, for an event always seen on one side and never
	// on the other.
	Reach float64

	// the tested events, the most informative about ε first: it is the counterexample if the claim is refuted
	Findings []Finding
	Shown    Histogram // the distribution of what the first event concerns
	Support  []string  // the grids on which numbers lie, in words
	Timing   *Timing   // nil if no time was measured
	Notes    []string  // caveats
}

// Finding is an event that was learned from some runs, with its counts in further runs.
type Finding struct {
	Event string // as a clause: "the output is ≥ 17.3"
	// the clause is the whole event; otherwise the event is that the sum of Terms is at least, or at most, Threshold
	Whole  bool
	Likely Side   // the side on which it is likelier, as learned
	Counts [2]int // how often it was seen in the tested runs of each side
	Runs   int    // how many those were, on each side

	Low     float64 // the probability on the Likely side is at least this
	High    float64 // and on the other at most this
	Epsilon float64 // ln((Low − δ)/High), at least 0
	Delta   float64 // Low − e^ε·High at the claim's ε, at least 0; 0 without a claim

	// An output's score is the sum of the weights of its parts, one of each term; without terms it is what the clause
	// is about. What is in no part has the weight 0.
	Terms     []Term
	AtLeast   bool // the score is at least Threshold; else at most
	Threshold float64

	event event
}

// Term is the weights of the parts of one feature, as they were learned.
type Term struct {
	Of      string
	Parts   []Weight
	Omitted int // so many further tokens, the rarest, have weights that are left out
}

// Weight is a part's log-likelihood ratio: above 0 what is likelier on Data.
type Weight struct {
	Part string
	Log  float64
}

// Histogram counts how often each of some parts of the range occurred in the runs from which events were learned.
type Histogram struct {
	Of     string // what is counted: "the output", "coordinate 3"
	Parts  []string
	Counts [2][]int
	Runs   [2]int
}
