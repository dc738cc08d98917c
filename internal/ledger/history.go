package ledger

import (
	"io"
	"maps"
	"slices"
	"time"

	"dither/privacy"
)

// State is what a ledger amounts to at one entry. It is a copy.
type State struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Head    Head      `json:"head"`

	Adopted bool         `json:"adopted"` // whether there are terms
	Terms   Terms        `json:"terms"`
	Budget  privacy.Loss `json:"budget"`
	// in the terms' relation; above Budget after a change of terms, an opening, or a fragment that may have been about
	// parts
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // the largest price that is admitted, if the terms' maximum allows it

	// the latest date of an entry, or what the owner set it back to: grants go by it
	Clock    time.Time        `json:"clock"`
	Period   *Period          `json:"period,omitempty"`   // where the budget is granted per period
	Analysts map[string]Asked `json:"analysts,omitempty"` // where the terms list them

	Reservations int `json:"reservations"`
	Answers      int `json:"answers"`  // reservations that have their release
	Failures     int `json:"failures"` // since the owner last looked into them
	// likewise, by analyst, the questions and steps that were given up and count
	GivenUp map[string]int `json:"given_up,omitempty"`
	Torn    int            `json:"torn"` // fragments charged, one at the end of the log included
	// what was charged and got no answer; nil where nothing was
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

// history is the account of the entries 0 … count()−1, which form a chain and obey every rule of check.
//
// The newest entries are found in memory, those before base in the index.
type history struct {
	base    uint64
	past    *past // finds the entries before base; nil where there are none
	refs    []ref // of the entries from base on
	last    Head  // the newest entry
	hasLast bool  // whether there is one
	tipEnd  int64 // of its line, without its newline

	created  time.Time
	id       string
	terms    *Terms    // nil until adopted
	charges  *account  // all charges, in the relation of terms
	inPeriod *account  // those of the period, where there are grants
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
	waiting      map[uint64]*waiting // those that have neither their release nor their failure, by their index
	answered     int                 // how many have their release
	newest       map[string]int      // replay key → which of answers is its newest
	answers      []answered          // those whose releases are from base on, in their order
	kinds        map[string]*About   // each that there is, by its text
	lost         losing              // what the reservations cost that got no answer, so far
	tornLoss     *tally              // what fragments cost
	failures     int                 // reservations that failed since the last resumption
	torn         int
	abandoned    map[uint64]bool // reservations that were given up, which does not count

	// analyst → the questions and steps that were given up since the last resumption, and count
	givenUpBy map[string]int

	every            cadence
	passed           passed          // the newest place
	pending          []*place        // those that no checkpoint covers, in their order
	covered          []*place        // those that one does, whose entries are in memory still
	begun            Checkpoint      // by which this reader began; none where it read all
	begunAt          uint64          // the index of its entry
	unindexed        bool            // the index file lacks what it should have: what is in memory stays there
	newestCheckpoint *located        // that this reader came upon and checked
	spill            func(*place)    // called with each place that is passed, if set; it may forget
	witness          map[uint64]Hash // the hashes of these entries are kept, whatever is forgotten
	source           io.ReaderAt     // the log, for what is recalled
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

// tip is the head of the entries so far; ok is false before the first.
func (h *history) tip() (head Head, ok bool) {
	return h.last, h.hasLast
}

// count is how many entries there are.
func (h *history) count() uint64 { return h.base + uint64(len(h.refs)) }

// room is the least that any limit leaves.
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

// roomAfter is room; with pending, once the fragment that stands at the end of the log is charged.
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

// division is what a reservation is confined to.
func (h *history) division(c *Confined, from []Source) (d division, parts []string, err error) {
	if c == nil {
		return d, nil, nil
	}
	parting, divided := h.terms.Parts[c.Table]
	if !divided || len(from) != 1 || from[0].Table != c.Table { // what reads anything else may be about anybody in it
		return d, nil, ErrParts
	}
	return division{from[0], parting}, c.Parts, nil
}

// by is the accountant that rules.
func (h *history) by() privacy.Accountant { return h.budget().Accountant() }

// spentIn is what all charges come to, as an accountant counts them.
func (h *history) spentIn(by privacy.Accountant) privacy.Loss {
	n := privacy.AddRemove
	if h.terms != nil {
		n = h.terms.Neighbours
	}
	return h.charges.spent(n, by)
}

// spent is what all charges come to, as the terms' accountant counts them.
func (h *history) spent() privacy.Loss { return h.spentIn(h.by()) }

// charge adds a loss: to everybody, or to parts.
func (h *history) charge(l privacy.Loss, d division, parts []string) {
	h.impure = h.impure || l.Accountant() != privacy.Pure
	h.charges.charge(l, d, parts)
	h.inPeriod.charge(l, d, parts)
}

// filter is the budget filter with all of the history recorded.
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

// maxPrice is the most that one reservation can have cost: nothing before there are terms.
func (h *history) maxPrice() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.MaxPrice
}

// fragmentCharge is what a fragment costs now: the reservation that it may be was admitted, so it cost at most the
// maximum price and at most what remained. Where there are parts it may have been about some that had more left than
// others: at most what charges to everybody leave of the budget. That is charged to everybody all the same, be it
// beyond the budget.
func (h *history) fragmentCharge() privacy.Loss {
	if len(h.charges.parts) == 0 && (h.terms == nil || len(h.terms.Parts) == 0) {
		return privacy.Min(h.maxPrice(), h.filter().Remaining())
	}
	return privacy.Min(h.maxPrice(), h.budget().Minus(h.charges.whole.in(h.by())))
}

// apply takes an entry that check let through.
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

// take changes the account by what an entry says.
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
		// Nothing is charged and nothing is found by a step: its reservation has paid, and only a release is a replay.
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

// adopt takes terms, and reads the charges so far again under them.
//
// Parts that the terms no longer divide by, or divide otherwise, stay a division of their own: what was enforced in the
// questions that were confined to them does not change, and new divisions add to them. Charges that were everybody's
// stay so. A period's account goes on where there was one; else the first period begins with nothing spent in it.
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

// state copies the account, at a time. With pending, a fragment stands at the end of the log, and counts as spent.
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
