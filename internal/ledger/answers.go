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

// Asked-for answers are looked for by what they are about, for each question that may follow from them: the history
// keeps that of every answer in memory, each kind once, so that a ledger of many thousand entries is not read again for
// it.

// About is what a reservation's answer is about, as far as it matters to who looks for answers.
type About struct {
	Policy  string
	Sources []Source
	Subject *Subject
}

// answered is an answer, by its entries.
type answered struct {
	key             string // "" of one that the index found, but by its key
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

	analyst string // who asked
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

	of      *Ledger
	release uint64
}

func (l *Ledger) answer(a answered) Answer { return Answer{a.paying, a.rho, a.about, l, a.release} }

// Reservation reads what paid for it.
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

// Values reads what was released.
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

// AnswerOf gives the answer that a reservation paid for; ok is false where there is none.
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

// Answers are those about what want takes, the newest first. An About must not be changed.
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

// wanted are the answers that want takes, the newest first. The lock is not held while want is asked.
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
