package ledger

import (
	"slices"
	"strconv"
	"strings"

	"dither/privacy"
)

// Asked-for answers are looked for by what they are about, for each question that may follow from them: the history keeps that of every answer in
// memory, each kind once, so that a ledger of many thousand entries is not read again for it.

// About is what a reservation's answer is about, as far as it matters to who looks for answers.
type About struct {
	Policy     string
	Sources    []Source
	Mechanisms []string // their names, sorted, each once
}

// answered is an answer, by its entries.
type answered struct {
	about           *About
	release, paying uint64
}

// about is what a reservation is about: one value for all that are alike.
func (h *history) about(r Reservation) *About {
	out := &About{Policy: r.Policy, Sources: r.Sources}
	for _, m := range r.Mechanisms {
		out.Mechanisms = append(out.Mechanisms, m.Name)
	}
	slices.Sort(out.Mechanisms)
	out.Mechanisms = slices.Compact(out.Mechanisms)
	var b strings.Builder
	b.WriteString(out.Policy)
	for _, s := range out.Sources {
		b.WriteString(" " + strconv.Quote(s.Table) + " " + strconv.Itoa(s.Version))
	}
	for _, m := range out.Mechanisms {
		b.WriteString(" " + strconv.Quote(m))
	}
	if found := h.kinds[b.String()]; found != nil {
		return found
	}
	out.Sources = slices.Clone(out.Sources)
	h.kinds[b.String()] = out
	return out
}

// priced notes a price that was not paid before.
func (h *history) priced(l privacy.Loss) {
	if text := l.String(); !h.paid[text] {
		h.paid[text] = true
		h.prices = append(h.prices, l)
	}
}

// Answers calls fn with the answers about what want takes, the newest first, until fn returns false: with the index of the reservation, and what reads
// both of its entries, which fn need not call. An About must not be changed.
func (l *Ledger) Answers(want func(*About) bool, fn func(reserved uint64, read func() (Answer, error)) bool) error {
	var answers []answered
	var refs []ref
	if err := l.locked(func() error {
		answers, refs = slices.Clip(l.log.answers), slices.Clip(l.log.refs)
		return nil
	}); err != nil {
		return err
	}
	wanted := map[*About]bool{}
	for _, a := range slices.Backward(answers) {
		take, known := wanted[a.about]
		if !known {
			take = want(a.about)
			wanted[a.about] = take
		}
		if !take {
			continue
		}
		var failed error
		if !fn(a.paying, func() (Answer, error) {
			answer, _, err := l.answer(refs[a.paying], refs[a.release])
			failed = err
			return answer, err
		}) {
			return failed
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// Prices are those that were ever charged for a reservation, each once, in the order of the first.
func (l *Ledger) Prices() (out []privacy.Loss, err error) {
	err = l.locked(func() error { out = slices.Clone(l.log.prices); return nil })
	return out, err
}

// answer reads a reservation and its release; ok is false where they are something else.
func (l *Ledger) answer(paying, release ref) (a Answer, ok bool, err error) {
	e, err := l.read(release)
	if err != nil {
		return a, false, err
	}
	r, err := l.read(paying)
	if err != nil {
		return a, false, err
	}
	values, isRelease := e.Body.(Release)
	reservation, isReservation := r.Body.(Reservation)
	return Answer{Reserved: r.Index, Reservation: reservation, Values: values.Values, Time: e.Time}, isRelease && isReservation, nil
}
