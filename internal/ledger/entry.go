package ledger

import (
	"encoding/json"
	"time"

	"dither/privacy"
)

// Kind names what an entry records.
type Kind string

// The kinds of entry.
const (
	KindGenesis     Kind = "genesis"       // always the first entry, and only that
	KindPolicy      Kind = "policy"        // the owner adopts terms
	KindSeal        Kind = "seal"          // a version of a table was sealed
	KindReserve     Kind = "reserve"       // a loss was charged, before anything was drawn
	KindRelease     Kind = "release"       // the values that a reservation paid for
	KindStep        Kind = "step"          // values that a reservation paid for, before it has its release
	KindFailure     Kind = "failure"       // a reservation got no answer, because the engine failed
	KindStepGivenUp Kind = "step_given_up" // a step was given up, and its reservation goes on
	KindResume      Kind = "resume"        // the owner has examined the failures so far
	KindOpening     Kind = "opening"       // the owner charges the spending of other ledgers on the same people
	KindRecovery    Kind = "recovery"      // the owner continues after losing the head file or the log
	KindClock       Kind = "clock"         // the owner corrects the clock, after an entry was dated too late
	KindTorn        Kind = "torn"          // a fragment stands before this entry
	KindCheckpoint  Kind = "checkpoint"    // the state after the entries before a place
)

// Entry is one line of the log.
type Entry struct {
	Index uint64    `json:"n"`
	Kind  Kind      `json:"kind"`
	Time  time.Time `json:"at"`   // by the clock of the process that wrote it; may go back
	Prev  Hash      `json:"prev"` // of entry Index−1; zero for the first
	Hash  Hash      `json:"hash"` // SHA-256 of the line; not part of it
	Body  Body      `json:"body"` // of the type that belongs to Kind
}

// Body is the content of an entry of one kind: Genesis, Adoption, Seal, Reservation, Release, Step, Failure,
// StepGivenUp, Resume, Opening, Recovery, Correction, Torn or Checkpoint.
type Body interface {
	kind() Kind
	// validate checks the body by itself. history.check checks what depends on earlier entries.
	validate() error
}

// Genesis begins a ledger.
type Genesis struct {
	ID string `json:"id"` // 128 random bits in hexadecimal
}

// Terms are the budget terms of a policy: whom it protects, under which relation, and how much may be spent.
type Terms struct {
	Digest     string             `json:"digest"` // of the policy, in hexadecimal
	Population string             `json:"population"`
	Neighbours privacy.Neighbours `json:"neighbours"`
	Budget     privacy.Loss       `json:"budget"` // its accountant applies
	// of one reservation, under the same accountant; also the charge for a fragment
	MaxPrice privacy.Loss      `json:"max_price"`
	Units    map[string]string `json:"units"`   // table → what one unit of it is
	Sources  map[string]string `json:"sources"` // table → what it is sealed from
	Held     map[string]string `json:"held"`    // source → the table that has it now, or had it last
	Removed  []string          `json:"removed"` // tables of Units that the policy no longer has

	// The following fields came with version 2 of the format. A line with any of them has version 2.

	Parts map[string]Parting `json:"parts,omitempty"` // table → what its units are divided by
	Grant *Grant             `json:"grant,omitempty"` // of each period; Budget is then the cap of all
	// analysts who may ask → their limit; nil if anybody may ask
	Analysts map[string]privacy.Loss `json:"analysts,omitempty"`
}

// Adoption records that the owner adopts terms.
type Adoption struct {
	Terms Terms `json:"terms"`
	// ≥ 1: from here on, every earlier loss counts as its guarantee for groups of this size
	Group int64 `json:"group"`
}

// Source is a sealed version of a table.
type Source struct {
	Table   string `json:"table"`
	Version int    `json:"version"`
}

// Seal records that a version of a table was sealed into a file with this digest.
type Seal struct {
	Table   string `json:"table"`
	Version int    `json:"version"` // from 1, increasing for each table
	SHA256  string `json:"sha256"`  // of the sealed file
}

// Mechanism is one mechanism of an answer with its parameters, so that another accountant can recompute the charge.
type Mechanism struct {
	Name string `json:"name"`
	// exact rational, > 0: L1 for Laplace noise, squared L2 for Gaussian noise, else the sensitivity of one score
	Sensitivity string `json:"sensitivity"`
	// exact rational, > 0: σ² for Gaussian noise; for a selection, the divisor of the scores
	Scale string `json:"scale"`
	Cells int    `json:"cells"` // how many numbers it releases, at most
}

// Reservation is the charge for one answer.
type Reservation struct {
	// the replay key, in hexadecimal: the same question under the same terms has the same key
	Key        string       `json:"key"`
	Policy     string       `json:"policy"` // the digest of the terms that the price was computed under
	Loss       privacy.Loss `json:"loss"`
	Mechanisms []Mechanism  `json:"mechanisms"` // at least one
	Sources    []Source     `json:"sources"`    // every sealed table that is read; at least one
	Question   string       `json:"question"`

	Confined *Confined `json:"confined,omitempty"` // version 2: the parts that it covers; nil for everybody
	Analyst  string    `json:"analyst,omitempty"`  // version 2: who asks
	// version 3: the bounds that the question named; nil if none
	Caps *Caps `json:"caps,omitempty"`
	// version 3: the subject by which later questions find the answer; nil if only the same question does
	Subject *Subject `json:"subject,omitempty"`
}

// Release has the values that a reservation paid for. A reservation has at most one.
type Release struct {
	Reservation uint64          `json:"reservation"` // the index of its entry
	Values      json.RawMessage `json:"values"`
}

// Step is one answer of a mechanism that answers a sequence of questions, all paid for by one reservation. The last
// answer is its release.
type Step struct {
	Reservation uint64          `json:"reservation"` // the index of its entry
	Question    string          `json:"question"`
	Values      json.RawMessage `json:"values"`
}

// Failure records that a reservation will have no release: the engine failed, or the analyst gave up.
type Failure struct {
	Reservation uint64 `json:"reservation"` // the index of its entry

	GivenUp bool `json:"given_up,omitempty"` // version 3: by the analyst; it does not count towards MaxFailures
	// version 4: it counts towards MaxGivenUp and MaxAllGivenUp; only with GivenUp
	Counted bool `json:"counted,omitempty"`
}

// StepGivenUp records that an analyst gave up a step of a reservation. The reservation stays open, and the step can be
// taken again. The step counts towards MaxGivenUp and MaxAllGivenUp of the analyst whom it names, as a question does:
// the analyst who continues a training need not be the one who paid for it. Version 4.
type StepGivenUp struct {
	Reservation uint64 `json:"reservation"`       // the index of its entry
	Analyst     string `json:"analyst,omitempty"` // who gave it up
}

// Resume records that the owner admits questions again after failures.
type Resume struct{}

// MaxFailures is how many questions may fail before the owner has to look into it. After that many, the ledger admits
// neither a reservation nor a step. Whether a question fails is the one thing that an analyst sees without noise. No
// row should be able to decide it, because plans are total and the cost of a row is bounded. If a row can all the same,
// analysts see at most this many failures, plus those of questions that were in progress at the last one.
//
// A question that its analyst gave up is not a failure. The analyst decided what anybody sees of it, and sees the same
// whatever the engine was about to return. A failure that came before is counted. An analyst also sees, at the same
// price, whether an answer was there at some moment, if the answer does come. Ten people who lost patience give an
// owner nothing to look into. But an analyst who gives up again and again lets engines run for nothing, which
// MaxGivenUp limits.
const MaxFailures = 10

// Torn records a fragment: the Bytes bytes between the newline of the entry before it and the newline before its own.
type Torn struct {
	Bytes  int64        `json:"bytes"`
	SHA256 string       `json:"sha256"`
	Loss   privacy.Loss `json:"loss"` // the adopted maximum price, or what remained if that was less

	// version 4: nothing in it was acknowledged, and it costs nothing
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
