package ledger

import (
	"io"
	"maps"
	"slices"
	"time"

	"dither/privacy"
)

// State is the ledger's state at one entry: a copy.
type State struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Head    Head      `json:"head"`

	Adopted bool         `json:"adopted"` // whether there are terms
	Terms   Terms        `json:"terms"`
	Budget  privacy.Loss `json:"budget"`
	// in the terms' relation; above Budget after a change of terms, an opening, or a fragment that may concern parts
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // the largest admissible price, apart from the terms' maximum

	// the latest date of an entry, or the owner's correction of it: grants follow this clock
	Clock    time.Time        `json:"clock"`
	Period   *Period          `json:"period,omitempty"`   // where the budget is granted per period
	Analysts map[string]Asked `json:"analysts,omitempty"` // where the terms list them

	Reservations int `json:"reservations"`
	Answers      int `json:"answers"`  // reservations that have their release
	Failures     int `json:"failures"` // since the owner last looked into them
	// likewise, by analyst: the questions and steps given up that count
	GivenUp map[string]int `json:"given_up,omitempty"`
	Torn    int            `json:"torn"` // fragments charged, one at the end of the log included
	// charges without an answer; nil if none
	Lost   *Lost           `json:"lost,omitempty"`
	Sealed map[string]Seal `json:"sealed"` // the newest version of each table
}

// ref finds an entry in the log.
type ref struct {
	hash   Hash
	line   uint64 // of the file, from 1
	offset int64
	length int // of the line, without its newline
}

// history is the state after the entries 0 … count()−1, which form a chain and obey every rule of check.
//
// The newest entries are in memory; the index finds those before base.
type history struct {
	base    uint64
	past    *past // finds the entries before base; nil if there are none
	refs    []ref // of the entries from base on
	last    Head  // the newest entry
	hasLast bool  // whether there is one
	tipEnd  int64 // of its line, without its newline

	created  time.Time
	id       string
	terms    *Terms    // nil until adopted
	charges  *account  // all charges, in the relation of terms
	inPeriod *account  // the charges of the period, if there are grants
	period   time.Time // when that began
	clock    time.Time // the latest time of any entry since the clock was corrected
	issued   []span    // the periods whose grants were given since then
	closed   []span    // those before
	analysts map[string]*tally
	origins  map[string]bool // other ledgers that were charged
	impure   bool            // some loss has no pure ε
	sealed   map[string]Seal // newest of each table
	versions map[Source]bool // every sealed version

	reservations int                 // how many there were
	waiting      map[uint64]*waiting // reservations with neither release nor failure, by index
	answered     int                 // how many have their release
	newest       map[string]int      // replay key → which of answers is its newest
	answers      []answered          // those whose releases are from base on, in their order
	kinds        map[string]*About   // each distinct subject, by its text
	lost         losing              // the cost of reservations without an answer so far
	tornLoss     *tally              // what fragments cost
	failures     int                 // reservations that failed since the last resumption
	torn         int
	abandoned    map[uint64]bool // reservations given up without counting

	// analyst → the questions and steps given up since the last resumption that count
	givenUpBy map[string]int

	every            cadence
	passed           passed          // the newest place
	pending          []*place        // places that no checkpoint covers, in order
	covered          []*place        // places that a checkpoint covers, whose entries are still in memory
	begun            Checkpoint      // the checkpoint at which this reader began; none if it read everything
	begunAt          uint64          // the index of its entry
	unindexed        bool            // the index file is incomplete: keep everything in memory
	newestCheckpoint *located        // the newest that this reader met and checked
	spill            func(*place)    // called with each place that is passed, if set; it may forget
	witness          map[uint64]Hash // hashes of entries that are never forgotten
	source           io.ReaderAt     // the log, for entries to read again
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

// tip returns the newest entry's head; ok is false before the first entry.
func (h *history) tip() (head Head, ok bool) {
	return h.last, h.hasLast
}

// count is how many entries there are.
func (h *history) count() uint64 { return h.base + uint64(len(h.refs)) }

// room is the least amount that any limit leaves.
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

// roomAfter is room; with pending, after the charge for the fragment at the end of the log.
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

// division returns the division and the parts that confine a reservation.
func (h *history) division(c *Confined, from []Source) (d division, parts []string, err error) {
	if c == nil {
		return d, nil, nil
	}
	parting, divided := h.terms.Parts[c.Table]
	if !divided || len(from) != 1 || from[0].Table != c.Table {
		// a question that reads other tables may concern anybody
		return d, nil, ErrParts
	}
	return division{from[0], parting}, c.Parts, nil
}

// by is the accountant of the terms.
func (h *history) by() privacy.Accountant { return h.budget().Accountant() }

// spentIn is the total of all charges, under an accountant.
func (h *history) spentIn(by privacy.Accountant) privacy.Loss {
	n := privacy.AddRemove
	if h.terms != nil {
		n = h.terms.Neighbours
	}
	return h.charges.spent(n, by)
}

// spent is the total of all charges, under the accountant of the terms.
func (h *history) spent() privacy.Loss { return h.spentIn(h.by()) }

// charge adds a loss: to everybody, or to parts.
func (h *history) charge(l privacy.Loss, d division, parts []string) {
	h.impure = h.impure || l.Accountant() != privacy.Pure
	h.charges.charge(l, d, parts)
	h.inPeriod.charge(l, d, parts)
}

// filter is the budget filter with the whole history recorded.
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

// maxPrice is the most that one reservation can have cost: nothing before terms are adopted.
func (h *history) maxPrice() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.MaxPrice
}

// fragmentCharge is the present charge for a fragment. The fragment may be a reservation that was admitted, which cost
// at most the maximum price, and at most what remained. If there are parts, it may have concerned parts with more left
// than others: then it cost at most what the charges to everybody leave of the budget. That amount is charged to
// everybody, even beyond the budget.
func (h *history) fragmentCharge() privacy.Loss {
	if len(h.charges.parts) == 0 && (h.terms == nil || len(h.terms.Parts) == 0) {
		return privacy.Min(h.maxPrice(), h.filter().Remaining())
	}
	return privacy.Min(h.maxPrice(), h.budget().Minus(h.charges.whole.in(h.by())))
}

// apply adds an entry that check accepted.
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

// take changes the state by one entry.
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
		d, parts, _ := h.division(b.Confined, b.Sources) // checkReservation tried it
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
		// A step charges nothing and is found by no key: its reservation has paid, and only a release is a replay.
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

// adopt adopts terms, and converts the charges so far to them.
//
// Parts that the terms no longer define, or define otherwise, stay a division of their own: the confinement that
// earlier questions enforced does not change, and new divisions are added. Charges to everybody stay charges to
// everybody. A running period's account continues; without one, the first period begins with nothing spent.
func (h *history) adopt(a Adoption) {
	if a.Group > 1 && h.terms != nil { // without terms there are no charges
		for _, of := range []*account{h.charges, h.inPeriod} {
			of.fold(h.terms.Neighbours)
			_ = of.whole.group(a.Group) // checkAdoption tried it
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

// state returns a copy of the state at a time. With pending, a fragment stands at the end of the log, and counts as
// spent.
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
