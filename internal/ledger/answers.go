package ledger

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"dither/privacy"
)

// Asked-for answers are looked for by what they are about, for each question that may follow from them: the history keeps that of every answer in
// memory, each kind once, so that a ledger of many thousand entries is not read again for it.

// About is what a reservation's answer is about, as far as it matters to who looks for answers.
type About struct {
	Policy  string
	Sources []Source
	Subject *Subject
}

// answered is an answer, by its entries.
type answered struct {
	about           *About
	rho             float64
	release, paying uint64
}

// waiting is a reservation that has neither its release nor its failure yet.
type waiting struct {
	key   string
	about *About
	rho   float64
	loss  privacy.Loss // as it counts in the terms in force
	told  bool         // a step of it was released

	analyst string
}

// rhoOf is about what a loss is in ρ.
func rhoOf(l privacy.Loss) float64 {
	rho, _ := l.ZCDP()
	size, _ := rho.Rat().Float64()
	return size
}

// about is what a reservation is about: one value for all that are alike.
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

// Answer is a reservation with its release. Its entries are read where they are asked for.
type Answer struct {
	Reserved uint64  // the index of the reservation's entry
	Rho      float64 // about what it cost, in ρ
	About    *About  // not to be changed

	of              *Ledger
	paying, release ref
}

func (l *Ledger) answer(a answered, refs []ref) Answer {
	return Answer{a.paying, a.rho, a.about, l, refs[a.paying], refs[a.release]}
}

// Reservation reads what paid for it.
func (a Answer) Reservation() (Reservation, error) {
	e, err := a.of.read(a.paying)
	r, _ := e.Body.(Reservation) // which it is: the history found it
	return r, err
}

// Values reads what was released.
func (a Answer) Values() (json.RawMessage, error) {
	e, err := a.of.read(a.release)
	r, _ := e.Body.(Release)
	return r.Values, err
}

// AnswerOf gives the answer that a reservation paid for; ok is false where there is none.
func (l *Ledger) AnswerOf(reserved uint64) (a Answer, ok bool, err error) {
	err = l.locked(func() error {
		i := slices.IndexFunc(l.log.answers, func(a answered) bool { return a.paying == reserved })
		if ok = i >= 0; ok {
			a = l.answer(l.log.answers[i], l.log.refs)
		}
		return nil
	})
	return a, ok && err == nil, err
}

// Answers are those about what want takes, the newest first. An About must not be changed.
func (l *Ledger) Answers(want func(*About) bool) (iter.Seq[Answer], error) {
	var answers []answered
	var refs []ref
	if err := l.locked(func() error {
		answers, refs = slices.Clip(l.log.answers), slices.Clip(l.log.refs)
		return nil
	}); err != nil {
		return nil, err
	}
	return func(yield func(Answer) bool) {
		wanted := map[*About]bool{}
		for _, a := range slices.Backward(answers) {
			take, known := wanted[a.about]
			if !known {
				take = want(a.about)
				wanted[a.about] = take
			}
			if take && !yield(l.answer(a, refs)) {
				return
			}
		}
	}, nil
}
