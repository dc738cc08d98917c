package ledger

import (
	"io"
	"maps"
	"slices"
	"time"

	"dither/privacy"
)

// State is a copy of the ledger's state after its newest entry.
type State struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Head    Head      `json:"head"`

	Adopted bool         `json:"adopted"` // whether the ledger has terms
	Terms   Terms        `json:"terms"`
	Budget  privacy.Loss `json:"budget"`
	// under the terms' relation; may exceed Budget after a change of terms, an opening, a recovery, or a charged
	// fragment where tables have parts
	Spent privacy.Loss `json:"spent"`
	// the largest loss that one more reservation may have, apart from the terms' maximum price
	Remaining privacy.Loss `json:"remaining"`

	// the latest date of an entry, or the owner's correction of it; it decides the current period of grants
	Clock  time.Time `json:"clock"`
	Period *Period   `json:"period,omitempty"` // nil unless the budget is granted per period
	// analyst → limit and spending; nil unless the terms list analysts
	Analysts map[string]Asked `json:"analysts,omitempty"`

	Reservations int `json:"reservations"`
	Answers      int `json:"answers"`  // reservations with a release
	Failures     int `json:"failures"` // failed questions since the owner's last Resume
	// analyst → questions and steps cancelled since the last Resume that count towards MaxGivenUp
	GivenUp map[string]int `json:"given_up,omitempty"`
	Torn    int            `json:"torn"` // charged fragments of interrupted writes, including one at the end of the log
	// charges without an answer; nil if none
	Lost   *Lost           `json:"lost,omitempty"`
	Sealed map[string]Seal `json:"sealed"` // table → its newest version
}

// ref is the position of an entry in the log, and its hash.
type ref struct {
	hash   Hash
	line   uint64 // line of the file, from 1
	offset int64
	length int // length of the line in bytes, without its newline
}

// history is the state after the entries 0 … count()−1, which form a chain and obey every rule of check.
//
// The positions and answers of the newest entries, from base on, are in memory. The index has those of the entries
// before base.
type history struct {
	base    uint64
	past    *past // looks up the entries before base; nil if base is 0 or no index is used
	refs    []ref // positions of the entries from base on
	last    Head  // the newest entry
	hasLast bool  // whether there is an entry
	tipEnd  int64 // offset of the end of the newest entry's line, without its newline

	created  time.Time
	id       string
	terms    *Terms    // nil until the owner adopts a policy
	charges  *account  // all charges, under the terms' relation
	inPeriod *account  // charges since the current period's grant began, if there are grants
	period   time.Time // start of the current period
	clock    time.Time // latest date of any entry since the last correction of the clock
	issued   []span    // periods whose grants were given since the last correction of the clock
	closed   []span    // periods whose grants were given before the last correction of the clock
	analysts map[string]*tally
	origins  map[string]bool // ids of other ledgers whose spending was charged here
	impure   bool            // whether some loss has no pure ε
	sealed   map[string]Seal // newest version of each table
	versions map[Source]bool // every sealed version

	reservations int                 // number of all reservations
	waiting      map[uint64]*waiting // reservations with neither release nor failure, by index
	answered     int                 // number of reservations with a release
	newest       map[string]int      // replay key → position in answers of its newest answer
	answers      []answered          // answers whose releases are at or after base, in order of release
	kinds        map[string]*About   // each distinct subject, by its text
	lost         losing              // total loss of reservations without an answer
	tornLoss     *tally              // total loss of charged fragments
	failures     int                 // failed reservations since the last Resume
	torn         int
	abandoned    map[uint64]bool // cancelled reservations that do not count towards a limit

	// analyst → questions and steps cancelled since the last Resume that count towards MaxGivenUp
	givenUpBy map[string]int

	every            cadence
	passed           passed          // the newest checkpoint place (see cadence)
	pending          []*place        // places that no checkpoint covers, in order
	covered          []*place        // places that a checkpoint covers, whose entries are still in memory
	begun            Checkpoint      // the checkpoint from which this reader started; zero if it read the whole log
	begunAt          uint64          // index of the entry that begun belongs to
	unindexed        bool            // whether the index file is incomplete, so that everything must stay in memory
	newestCheckpoint *located        // the newest checkpoint that this reader read and checked
	spill            func(*place)    // if set, called with each checkpoint place as it is passed; it may call forget
	witness          map[uint64]Hash // hashes to keep when entries are forgotten, by index
	source           io.ReaderAt     // the log, to read entries again
}

func newHistory(every cadence) *history {
	return &history{
		every:  every,
		sealed: map[string]Seal{}, versions: map[Source]bool{},
		charges: newAccount(), origins: map[string]bool{}, inPeriod: newAccount(), analysts: map[string]*tally{},
		newest: map[string]int{}, waiting: map[uint64]*waiting{}, kinds: map[string]*About{}, lost: newLosing(),
		tornLoss:  newTally(),
		givenUpBy: map[string]int{}, abandoned: map[uint64]bool{},
	}
}

// tip returns the newest entry's head. Before the first entry, ok is false.
func (h *history) tip() (head Head, ok bool) {
	return h.last, h.hasLast
}

// count returns the number of entries.
func (h *history) count() uint64 { return h.base + uint64(len(h.refs)) }

// room returns the largest loss that every limit on r admits: the analyst's limit, the period's grant and the
// budget.
func (h *history) room(r Reservation, at time.Time) (privacy.Loss, error) {
	if h.terms == nil {
		return privacy.Loss{}, ErrNoPolicy
	}
	limits, err := h.limits(r, at)
	if err != nil {
		return privacy.Loss{}, err
	}
	left := limits[0].left()
	for _, l := range limits[1:] {
		left = privacy.Min(left, l.left())
	}
	return left, nil
}

// roomAfter is room, except that it first charges the fragment of an interrupted write at the end of the log if
// pending is set.
func (h *history) roomAfter(pending bool, r Reservation, at time.Time) (privacy.Loss, error) {
	if !pending || h.terms == nil {
		return h.room(r, at)
	}
	torn := h.fragmentCharge()
	after := *h
	after.charges = h.charges.plus(torn)
	if h.terms.Grant != nil {
		in, start := h.granted(at)
		after.inPeriod, after.period = in.plus(torn), start
	}
	return after.room(r, at)
}

// division returns the division (one sealed version of a table under one Parting) and the parts to which a reservation
// is confined. Both are zero if it is not confined. It returns ErrParts if the table is not divided, or if the
// reservation reads other tables too.
func (h *history) division(c *Confined, from []Source) (d division, parts []string, err error) {
	if c == nil {
		return d, nil, nil
	}
	parting, divided := h.terms.Parts[c.Table]
	if !divided || len(from) != 1 || from[0].Table != c.Table {
		// a question that reads other tables may depend on any unit
		return d, nil, ErrParts
	}
	return division{from[0], parting}, c.Parts, nil
}

// by returns the accountant (pure ε or zCDP) in which the terms state the budget.
func (h *history) by() privacy.Accountant { return h.budget().Accountant() }

// spentIn returns the total loss of all charges under an accountant.
func (h *history) spentIn(by privacy.Accountant) privacy.Loss {
	n := privacy.AddRemove
	if h.terms != nil {
		n = h.terms.Neighbours
	}
	return h.charges.spent(n, by)
}

// spent returns the total loss of all charges under the accountant of the terms.
func (h *history) spent() privacy.Loss { return h.spentIn(h.by()) }

// charge adds a loss to the charges that count for every unit. If the list parts is not empty, it adds the loss to the
// charges of these parts of the division d (see the type division) instead.
func (h *history) charge(l privacy.Loss, d division, parts []string) {
	h.impure = h.impure || l.Accountant() != privacy.Pure
	h.charges.charge(l, d, parts)
	h.inPeriod.charge(l, d, parts)
}

// filter returns a filter that admits prices up to the budget, and that already counts all charges.
func (h *history) filter() *privacy.Filter {
	f := privacy.NewFilter(h.budget())
	f.Record(h.spent())
	return f
}

func (h *history) budget() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.Budget
}

// maxPrice returns the largest price of one reservation, or zero before terms are adopted.
func (h *history) maxPrice() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.MaxPrice
}

// fragmentCharge returns the charge for a fragment, the rest of an interrupted write, under the present terms. The
// fragment may be a reservation that was admitted. Its price was then at most the maximum price, and at most what
// remained of the budget.
//
// If tables have parts, the reservation may have been confined to parts for which more remained than for others.
// Its price was then at most the budget minus the charges to every unit. That amount is charged to every unit, even
// beyond the budget.
func (h *history) fragmentCharge() privacy.Loss {
	if len(h.charges.parts) == 0 && (h.terms == nil || len(h.terms.Parts) == 0) {
		return privacy.Min(h.maxPrice(), h.filter().Remaining())
	}
	return privacy.Min(h.maxPrice(), h.budget().Minus(h.charges.whole.in(h.by())))
}

// apply adds an entry that check accepted. The parameter `at` is its position in the log.
func (h *history) apply(e Entry, at ref) {
	if _, kept := h.witness[h.count()]; kept {
		h.witness[h.count()] = at.hash
	}
	h.last, h.hasLast = Head{Index: h.count(), Hash: at.hash}, true
	h.tipEnd = at.offset + int64(at.length)
	h.refs = append(h.refs, at)
	if e.Time.After(h.clock) {
		h.clock = e.Time
	}
	h.enter()
	h.take(e, at)
	h.pass(at)
}

// take updates the state for one entry.
func (h *history) take(e Entry, at ref) {
	switch b := e.Body.(type) {
	case Checkpoint:
		h.cover(b, at)
	case Genesis:
		h.id, h.created = b.ID, e.Time
	case Adoption:
		h.adopt(b)
	case Seal:
		h.sealed[b.Table] = b
		h.versions[Source{b.Table, b.Version}] = true
	case Reservation:
		d, parts, _ := h.division(b.Confined, b.Sources) // no error: checkReservation has done the same
		h.charge(b.Loss, d, parts)
		h.chargeAnalyst(b)
		h.reservations++
		w := &waiting{key: b.Key, about: h.about(b), rho: rhoOf(b.Loss), loss: b.Loss, analyst: b.Analyst}
		h.waiting[e.Index] = w
		h.lose(w)
	case Release:
		w := h.waiting[b.Reservation]
		h.answered++
		h.newest[w.key] = len(h.answers)
		h.answers = append(h.answers, answered{w.key, w.about, w.rho, e.Index, b.Reservation})
		h.tell(w)
		delete(h.waiting, b.Reservation)
	case Step:
		// A step costs nothing, because its reservation has paid. No key finds it, because only a release is
		// replayed.
		h.tell(h.waiting[b.Reservation])
	case Failure:
		h.end(h.waiting[b.Reservation], b.GivenUp)
		switch {
		case b.Counted:
			h.givenUpBy[h.asker(b.Reservation)]++
		case b.GivenUp:
			h.abandoned[b.Reservation] = true
		}
		delete(h.waiting, b.Reservation)
		if !b.GivenUp {
			h.failures++
		}
	case StepGivenUp:
		h.givenUpBy[b.Analyst]++
	case Resume:
		h.failures, h.givenUpBy = 0, map[string]int{}
	case Correction:
		h.correct(e.Time)
	case Opening:
		h.applyOpening(b)
	case Recovery:
		h.applyRecovery(b)
	case Torn:
		if b.Unacknowledged {
			return
		}
		h.tornLoss.add(h.fragmentCharge())
		h.charge(h.fragmentCharge(), division{}, nil)
		h.torn++
	}
}

// adopt puts terms into force, and converts the past charges to them.
//
// Old charges to parts keep their division, even if the new terms divide the table otherwise or not at all, because
// the old questions were confined by it. The total adds up over all divisions. Charges to every unit stay charges
// to every unit. If the old terms had grants, the current period's account continues. Otherwise it starts empty.
func (h *history) adopt(a Adoption) {
	if a.Group > 1 && h.terms != nil { // without terms there are no charges
		for _, of := range []*account{h.charges, h.inPeriod} {
			of.fold(h.terms.Neighbours)
			_ = of.whole.group(a.Group) // no error: checkAdoption has done the same
		}
		for _, t := range h.analysts {
			_ = t.group(a.Group)
		}
		h.groupLost(a.Group)
	}
	counted := h.terms != nil && h.terms.Grant != nil
	terms := a.Terms
	h.terms = &terms
	if terms.Grant == nil {
		return
	}
	if h.period = terms.Grant.start(h.clock); !counted {
		h.inPeriod = newAccount()
	}
	h.issue()
}

// state returns a copy of the state, with the grant of the period at the time `now`. If pending is set, the fragment at
// the end of the log counts as spent.
func (h *history) state(pending bool, now time.Time) State {
	tip, _ := h.tip()
	torn := lossOf(h.by(), nil)
	s := State{
		ID: h.id, Created: h.created, Head: tip, Clock: h.clock, Spent: h.spent(),
		Reservations: h.reservations, Answers: h.answered, Failures: h.failures, GivenUp: h.givenUpSoFar(),
		Torn:   h.torn,
		Sealed: maps.Clone(h.sealed),
	}
	if pending {
		torn = h.fragmentCharge()
		s.Spent = s.Spent.Plus(torn)
		s.Torn++
	}
	s.Lost = h.lostSoFar(s.Torn, torn)
	if h.terms != nil {
		s.Adopted, s.Terms, s.Budget = true, *h.terms, h.terms.Budget
		s.Terms.Units, s.Terms.Sources = maps.Clone(h.terms.Units), maps.Clone(h.terms.Sources)
		s.Terms.Held = maps.Clone(h.terms.Held)
		s.Terms.Removed = slices.Clone(h.terms.Removed)
		s.Terms.Parts, s.Terms.Analysts = maps.Clone(h.terms.Parts), maps.Clone(h.terms.Analysts)
	}
	f := privacy.NewFilter(s.Budget)
	f.Record(s.Spent)
	s.Remaining = f.Remaining()
	s.Analysts = h.asked()
	if s.Period = h.periodAt(now, torn); s.Period != nil {
		s.Remaining = privacy.Min(s.Remaining, s.Period.Remaining)
		s.Period.Remaining = s.Remaining
	}
	return s
}
