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
	KindResume      Kind = "resume"        // the owner has looked into the failures so far
	KindOpening     Kind = "opening"       // the owner charges what other ledgers have spent about the same people
	KindRecovery    Kind = "recovery"      // the owner goes on after the head file or the log was lost
	KindClock       Kind = "clock"         // the owner sets the clock right, after an entry was dated too late
	KindTorn        Kind = "torn"          // a fragment stands before this entry
	KindCheckpoint  Kind = "checkpoint"    // what the entries before a place came to
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

// Body is what an entry of one kind says: Genesis, Adoption, Seal, Reservation, Release, Step, Failure,
// StepGivenUp, Resume, Opening, Recovery, Correction, Torn or Checkpoint.
type Body interface {
	kind() Kind
	// validate checks what can be said of the body alone. What depends on the entries before it is history.check's.
	validate() error
}

// Genesis begins a ledger.
type Genesis struct {
	ID string `json:"id"` // 128 random bits in hexadecimal
}

// Terms are what a policy fixes about the budget: who is protected, in which relation, and how much may be spent.
type Terms struct {
	Digest     string             `json:"digest"` // of the policy, in hexadecimal
	Population string             `json:"population"`
	Neighbours privacy.Neighbours `json:"neighbours"`
	Budget     privacy.Loss       `json:"budget"` // its accountant is the one that rules
	// of one reservation, under the same accountant; also the charge for a fragment
	MaxPrice privacy.Loss      `json:"max_price"`
	Units    map[string]string `json:"units"`   // table → what one unit of it is
	Sources  map[string]string `json:"sources"` // table → what it is sealed from
	Held     map[string]string `json:"held"`    // source → the table that has, or last had, it
	Removed  []string          `json:"removed"` // tables of Units that the policy has no longer

	// What follows came with version 2 of the format: a line that has any of it is of that version.

	Parts map[string]Parting `json:"parts,omitempty"` // table → what its units are divided by
	Grant *Grant             `json:"grant,omitempty"` // of each period; Budget is then the cap of all
	// who may ask → their limit; anybody may where nobody is listed
	Analysts map[string]privacy.Loss `json:"analysts,omitempty"`
}

// Adoption is the owner's act of adopting terms.
type Adoption struct {
	Terms Terms `json:"terms"`
	// ≥ 1: every loss recorded before counts, from here on, as what it promised so many together
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

// Mechanism is one mechanism of an answer with its parameters, so that another accountant can read the charge again.
type Mechanism struct {
	Name string `json:"name"`
	// exact rational, > 0: L1 for Laplace noise, squared L2 for Gaussian, else of one score
	Sensitivity string `json:"sensitivity"`
	// exact rational, > 0: σ² for Gaussian noise; of a selection, what scores are divided by
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

	Confined *Confined `json:"confined,omitempty"` // version 2: the parts that it is about; nil for everybody
	Analyst  string    `json:"analyst,omitempty"`  // version 2: who asks
	// version 3: the bounds that were named beside the question; nil where none was
	Caps *Caps `json:"caps,omitempty"`
	// version 3: what later questions find the answer by; nil where only the same question does
	Subject *Subject `json:"subject,omitempty"`
}

// Release is what a reservation paid for. A reservation has at most one.
type Release struct {
	Reservation uint64          `json:"reservation"` // the index of its entry
	Values      json.RawMessage `json:"values"`
}

// Step is one answer of a mechanism that answers one question after the other, all paid for by one reservation. The
// last are its release.
type Step struct {
	Reservation uint64          `json:"reservation"` // the index of its entry
	Question    string          `json:"question"`
	Values      json.RawMessage `json:"values"`
}

// Failure says that a reservation will have no release: the engine failed, or who asked gave up.
type Failure struct {
	Reservation uint64 `json:"reservation"` // the index of its entry

	GivenUp bool `json:"given_up,omitempty"` // version 3: by who asked; it does not count towards MaxFailures
	// version 4: it counts towards MaxGivenUp and MaxAllGivenUp; only what was given up
	Counted bool `json:"counted,omitempty"`
}

// StepGivenUp says that an analyst gave up a step of a reservation, which stays open: the step can be taken again.
// It counts towards MaxGivenUp and MaxAllGivenUp as a question does, of the analyst whom it names: whoever goes on with
// a training need not be who paid for it. Version 4.
type StepGivenUp struct {
	Reservation uint64 `json:"reservation"`       // the index of its entry
	Analyst     string `json:"analyst,omitempty"` // who gave it up
}

// Resume is the owner's act of admitting questions again after failures.
type Resume struct{}

// MaxFailures is how many questions may fail before the owner has to look into it: then neither a reservation nor a
// step is admitted. Whether a question fails is the one thing that an analyst sees without noise. No row should be able
// to decide it (plans are total, and what a row costs is bounded); should one do so all the same, this is how many
// failures are seen, and as many more as questions were under way when the last of them failed.
//
// A question that was given up is none of them. What is seen of it was decided by who gave it up, and is the same
// whatever the engine was about to say, a failure included: a failure that is seen came before, and is counted. That an
// answer was not there at some moment can be seen of one that does come, too, and costs as much. And ten people who
// lost patience are nothing that an owner could look into. But one who loses it again and again lets engines run for
// nothing: MaxGivenUp.
const MaxFailures = 10

// Torn records a fragment: the Bytes bytes between the newline of the entry before it and the newline before its own.
type Torn struct {
	Bytes  int64        `json:"bytes"`
	SHA256 string       `json:"sha256"`
	Loss   privacy.Loss `json:"loss"` // the adopted maximum price; where less remained, what remained was charged

	Unacknowledged bool `json:"unacknowledged,omitempty"` // version 4: nothing in it was, and it costs nothing
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
