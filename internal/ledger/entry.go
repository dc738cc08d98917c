package ledger

import (
	"encoding/json"
	"time"

	"dither/privacy"
)

// Kind names what an entry records.
type Kind string

// The kinds of entries.
const (
	KindGenesis Kind = "genesis" // the first entry of every ledger, and no other
	KindPolicy  Kind = "policy"  // the owner adopted terms
	KindSeal    Kind = "seal"    // a version of a table was sealed
	KindReserve Kind = "reserve" // a loss was charged, before noise was drawn for it
	KindRelease Kind = "release" // the values that a reservation paid for
	KindStep    Kind = "step"    // values that a reservation paid for, when more may follow
	// a reservation gets no answer: the engine failed, or the question was cancelled
	KindFailure     Kind = "failure"
	KindStepGivenUp Kind = "step_given_up" // an analyst cancelled a step, and its reservation stays open
	KindResume      Kind = "resume"        // the owner has examined the failures so far
	KindOpening     Kind = "opening"       // the owner charged the spending of other ledgers about the same people
	KindRecovery    Kind = "recovery"      // the owner continued after losing the head file or the log
	KindClock       Kind = "clock"         // the owner corrected the clock, after an entry was dated too late
	KindTorn        Kind = "torn"          // a fragment of an interrupted write stands before this entry
	KindCheckpoint  Kind = "checkpoint"    // a digest of the state after a number of entries
)

// Entry is one line of the log.
type Entry struct {
	Index uint64    `json:"n"`
	Kind  Kind      `json:"kind"`
	Time  time.Time `json:"at"`   // by the clock of the process that wrote the entry; need not increase
	Prev  Hash      `json:"prev"` // hash of entry Index−1; zero for the first entry
	Hash  Hash      `json:"hash"` // SHA-256 of the line; not part of it
	Body  Body      `json:"body"` // its type belongs to Kind
}

// Body is the content of an entry of one kind: Genesis, Adoption, Seal, Reservation, Release, Step, Failure,
// StepGivenUp, Resume, Opening, Recovery, Correction, Torn or Checkpoint.
type Body interface {
	kind() Kind
	// validate checks the body alone. history.check also checks it against the earlier entries.
	validate() error
}

// Genesis is the first entry of a ledger.
type Genesis struct {
	ID string `json:"id"` // 128 random bits in hexadecimal
}

// Terms are the part of a policy that the ledger enforces: the protected units, the neighbouring relation, the
// budget and the limits within it.
type Terms struct {
	Digest     string             `json:"digest"` // digest of the policy, in hexadecimal
	Population string             `json:"population"`
	Neighbours privacy.Neighbours `json:"neighbours"`
	Budget     privacy.Loss       `json:"budget"` // its accountant also applies to MaxPrice, Grant and Analysts
	// the largest price of one reservation; also the most that a fragment of an interrupted write is charged
	MaxPrice privacy.Loss `json:"max_price"`
	// table → its unit: "row", "public", or the unit column with its type and row limit
	Units   map[string]string `json:"units"`
	Sources map[string]string `json:"sources"` // table → the source from which it is sealed
	Held    map[string]string `json:"held"`    // source → the table that is sealed from it now, or was last
	Removed []string          `json:"removed"` // tables in Units that the policy no longer contains

	// The following fields came with version 2 of the format. A line with any of them has version 2.

	Parts map[string]Parting `json:"parts,omitempty"` // table → how its units are divided into parts
	// the grant of each period, if any; Budget then limits all periods together
	Grant *Grant `json:"grant,omitempty"`
	// authorised analyst → limit; nil if any analyst may ask
	Analysts map[string]privacy.Loss `json:"analysts,omitempty"`
}

// Adoption records that the owner adopted the terms of a policy, which are in force from then on.
type Adoption struct {
	Terms Terms `json:"terms"`
	// ≥ 1: every earlier loss counts from now on as its loss for a group of this many units
	Group int64 `json:"group"`
}

// Source is a sealed version of a table.
type Source struct {
	Table   string `json:"table"`
	Version int    `json:"version"`
}

// Seal records that a version of a table was sealed into a file.
type Seal struct {
	Table   string `json:"table"`
	Version int    `json:"version"` // from 1, increasing for each table
	SHA256  string `json:"sha256"`  // digest of the sealed file
}

// Mechanism is one mechanism of an answer with its parameters. Another accountant can recompute the charge from it.
type Mechanism struct {
	Name string `json:"name"`
	// exact rational, > 0: the L₁ sensitivity for Laplace noise, the squared L₂ sensitivity for Gaussian noise,
	// otherwise the sensitivity of one score
	Sensitivity string `json:"sensitivity"`
	// exact rational, > 0: the scale of the noise, σ² if it is Gaussian; for a selection, the divisor of the scores
	Scale string `json:"scale"`
	Cells int    `json:"cells"` // the largest number of values that it releases
}

// Reservation is the charge for one answer.
type Reservation struct {
	// replay key in hexadecimal: the same question under the same terms has the same key
	Key        string       `json:"key"`
	Policy     string       `json:"policy"` // digest of the policy under which the price was computed
	Loss       privacy.Loss `json:"loss"`
	Mechanisms []Mechanism  `json:"mechanisms"` // at least one
	Sources    []Source     `json:"sources"`    // every sealed table that the answer reads; at least one
	Question   string       `json:"question"`

	// version 2: the parts that the answer depends on; nil if it may depend on any unit
	Confined *Confined `json:"confined,omitempty"`
	Analyst  string    `json:"analyst,omitempty"` // version 2: the analyst who is charged
	// version 3: bounds that accompany the question, outside its text; nil if none
	Caps *Caps `json:"caps,omitempty"`
	// version 3: the subject by which other questions find the answer; nil if they cannot
	Subject *Subject `json:"subject,omitempty"`
}

// Release holds the values that a reservation paid for. A reservation has at most one release.
type Release struct {
	Reservation uint64          `json:"reservation"` // index of the reservation's entry
	Values      json.RawMessage `json:"values"`
}

// Step is one answer of a mechanism that answers a sequence of questions. One reservation pays for the whole
// sequence. The last answer is recorded as the reservation's Release, not as a Step.
type Step struct {
	Reservation uint64          `json:"reservation"` // index of the reservation's entry
	Question    string          `json:"question"`
	Values      json.RawMessage `json:"values"`
}

// Failure records that a reservation will have no release: the engine failed, or somebody cancelled the question.
type Failure struct {
	Reservation uint64 `json:"reservation"` // index of the reservation's entry

	// version 3: cancelled by the analyst or the owner; does not count towards MaxFailures
	GivenUp bool `json:"given_up,omitempty"`
	// version 4: cancelled by the analyst, so it counts towards MaxGivenUp and MaxAllGivenUp; requires GivenUp
	Counted bool `json:"counted,omitempty"`
}

// StepGivenUp records that an analyst cancelled a step of a reservation. The reservation stays open, and the step
// can be run again. Like a cancelled question, it counts towards MaxGivenUp and MaxAllGivenUp. It counts for the
// analyst named here, who need not be the one who paid for the reservation. Version 4.
type StepGivenUp struct {
	Reservation uint64 `json:"reservation"`       // index of the reservation's entry
	Analyst     string `json:"analyst,omitempty"` // the analyst who cancelled the step
}

// Resume records that the owner admits questions again, after too many failed or were given up.
type Resume struct{}

// MaxFailures is the number of failed questions after which the ledger admits no reservation and no step until the
// owner records a Resume. Whether a question fails is the one fact that an analyst learns without noise. No row
// should be able to decide it, because plans do not fail on any value and the cost of each row is bounded. If a row
// can decide it nevertheless, analysts see at most this many failures, and those of questions that were in progress
// when the limit was reached.
//
// A question that its analyst cancels is not a failure, because the analyst decided the visible outcome. The
// outcome is the same whatever the engine was about to return. If the engine failed before the cancellation, the
// failure counts. A cancelled question shows at most that its answer was not there yet. An analyst who waits for
// the answer learns that at the same price. A few cancelled questions need no attention from the owner. MaxGivenUp
// limits how many an analyst may cancel, because each makes an engine run for nothing.
const MaxFailures = 10

// Torn records a fragment, the rest of an interrupted write: the Bytes bytes between the newline of the previous
// entry and the newline before this entry.
type Torn struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// the maximum price of the terms; the charge is less if less remained of the budget
	Loss privacy.Loss `json:"loss"`

	// version 4: no entry in the fragment was acknowledged, so it costs nothing
	Unacknowledged bool `json:"unacknowledged,omitempty"`
}

func (Genesis) kind() Kind     { return KindGenesis }
func (Adoption) kind() Kind    { return KindPolicy }
func (Seal) kind() Kind        { return KindSeal }
func (Reservation) kind() Kind { return KindReserve }
func (Release) kind() Kind     { return KindRelease }
func (Step) kind() Kind        { return KindStep }
func (Failure) kind() Kind     { return KindFailure }
func (StepGivenUp) kind() Kind { return KindStepGivenUp }
func (Resume) kind() Kind      { return KindResume }
func (Torn) kind() Kind        { return KindTorn }
