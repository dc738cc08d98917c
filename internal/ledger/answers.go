package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"dither/internal/ledger/index"
	"dither/privacy"
)

// To reuse releases, the curator searches the earlier answers by subject. The history keeps the subject of every
// answer in memory, each distinct subject once. So a search need not read thousands of entries again.

// About is the subject of an answer: the digest of its policy, the sealed tables that it read, and the marks of its
// question (see [Subject]). Searches for earlier answers compare it.
type About struct {
	Policy  string
	Sources []Source
	Subject *Subject
}

// answered is an answer that the history or the index knows, with the entry indices of its release and of the
// reservation that paid for it.
type answered struct {
	key             string // the replay key; "" if the index found the answer by its subject or its reservation
	about           *About
	rho             float64
	release, paying uint64
}

// waiting is a reservation that has neither its release nor a recorded failure yet.
type waiting struct {
	key   string
	about *About
	rho   float64
	loss  privacy.Loss // the price, converted to the terms in force
	told  bool         // whether a step of the reservation was recorded

	analyst string // the analyst who is charged
}

// rhoOf returns the ρ of a loss as zCDP, rounded to a float64. It serves to compare prices, not to account.
func rhoOf(l privacy.Loss) float64 {
	rho, _ := l.ZCDP()
	size, _ := rho.Rat().Float64()
	return size
}

// about returns the subject of a reservation: its policy, its tables, and the marks of its question. Reservations with
// equal subjects get the same pointer.
func (h *history) about(r Reservation) *About {
	out := &About{Policy: r.Policy, Sources: r.Sources, Subject: r.Subject}
	var b strings.Builder
	b.WriteString(out.Policy)
	for _, s := range out.Sources {
		b.WriteString(" " + strconv.Quote(s.Table) + " " + strconv.Itoa(s.Version))
	}
	if r.Subject != nil {
		for _, marks := range [][]string{{r.Subject.Question}, r.Subject.Measures, r.Subject.Conditions} {
			b.WriteString(" " + strconv.Itoa(len(marks)) + " " + strings.Join(marks, ""))
		}
	}
	if found := h.kinds[b.String()]; found != nil {
		return found
	}
	out.Sources = slices.Clone(out.Sources)
	h.kinds[b.String()] = out
	return out
}

// Answer is a reservation and its release. Its methods read the two entries from the log when they are called.
type Answer struct {
	Reserved uint64  // the index of the reservation's entry
	Rho      float64 // approximate price as zCDP
	About    *About  // shared with other answers: do not change it

	of      *Ledger
	release uint64
}

func (l *Ledger) answer(a answered) Answer { return Answer{a.paying, a.rho, a.about, l, a.release} }

// Reservation reads the reservation that paid for the answer from the log.
func (a Answer) Reservation() (Reservation, error) {
	e, err := a.of.Entry(a.Reserved)
	if err != nil {
		return Reservation{}, err
	}
	r, ok := e.Body.(Reservation)
	if !ok {
		err = damaged(errors.New("it names another entry"))
	}
	return r, err
}

// Values reads the released values from the log.
func (a Answer) Values() (json.RawMessage, error) {
	e, err := a.of.Entry(a.release)
	if err != nil {
		return nil, err
	}
	r, ok := e.Body.(Release)
	if !ok || r.Reservation != a.Reserved {
		err = damaged(errors.New("it names another entry"))
	}
	return r.Values, err
}

// AnswerOf returns the answer that a reservation paid for. reserved is the index of the reservation's entry. If
// there is no release, ok is false.
func (l *Ledger) AnswerOf(reserved uint64) (a Answer, ok bool, err error) {
	err = l.locked(func() error {
		var found answered
		if found, ok, err = l.log.answerTo(reserved); ok {
			a = l.answer(found)
		}
		return err
	})
	return a, ok && err == nil, err
}

// Answers returns, newest first, the answers for which the function `want` returns true. The function must not change
// its argument.
func (l *Ledger) Answers(want func(*About) bool) (iter.Seq[Answer], error) {
	answers, err := l.wanted(want)
	if errors.Is(err, errIndex) {
		if err = l.locked(func() error { l.unindex(); return l.refresh() }); err == nil {
			answers, err = l.wanted(want)
		}
	}
	if err != nil {
		return nil, err
	}
	return func(yield func(Answer) bool) {
		for _, a := range answers {
			if !yield(l.answer(a)) {
				return
			}
		}
	}, nil
}

// wanted returns, newest first, the answers for which the function `want` returns true. It calls that function without
// holding the lock.
func (l *Ledger) wanted(want func(*About) bool) (out []answered, err error) {
	var answers []answered
	var old *past
	if err := l.locked(func() error {
		answers, old = slices.Clip(l.log.answers), l.log.past
		return nil
	}); err != nil {
		return nil, err
	}
	wanted := map[*About]bool{}
	for _, a := range slices.Backward(answers) {
		take, known := wanted[a.about]
		if !known {
			take = want(a.about)
			wanted[a.about] = take
		}
		if take {
			out = append(out, a)
		}
	}
	if old == nil {
		return out, nil
	}
	for _, s := range slices.Backward(old.segments) {
		start := len(out)
		err := s.Kinds(func(text []byte, its func() ([]index.Answer, error)) error {
			about, err := decodeAbout(text)
			if err != nil || !want(about) {
				return err
			}
			found, err := its()
			for _, a := range found {
				out = append(out, answered{"", about, a.Rho, a.Release, a.Paying})
			}
			return err
		})
		if err != nil {
			return nil, damaged(err)
		}
		slices.SortFunc(out[start:], func(a, b answered) int { return cmp.Compare(b.release, a.release) })
	}
	return out, nil
}
