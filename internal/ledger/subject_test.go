package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestMayTell(t *testing.T) {
	of := func(measures, conditions string) *Subject {
		s := &Subject{Question: mark(0)}
		for _, m := range measures {
			s.Measures = append(s.Measures, mark(int(m)))
		}
		for _, c := range conditions {
			s.Conditions = append(s.Conditions, mark(int(c)))
		}
		return s
	}
	for _, x := range []struct {
		s, q *Subject
		want bool
	}{
		{of("ab", ""), of("bc", ""), true},
		{of("ab", ""), of("b", "xy"), true},
		{of("ab", "x"), of("b", "xy"), true},
		{of("ab", "xz"), of("b", "xy"), false},
		{of("ab", "x"), of("b", ""), false},
		{of("a", ""), of("b", ""), false},
		{of("", ""), of("", ""), false},
		{nil, of("a", ""), false},
	} {
		if got := x.s.MayTell(x.q); got != x.want {
			t.Errorf("%v tells %v: %t", x.s, x.q, got)
		}
	}
}

// Answers are found by what they are about, the newest first, and read as they were written, by this process and by
// another.
func TestAnswersAbout(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	var ids []uint64
	for i := range 6 {
		r := reservation(key(i), "1/30")
		if r.Caps = (&Caps{Groups: int64(i)}); i == 0 {
			r.Caps = nil
		}
		if i > 1 {
			r.Subject = &Subject{mark(i % 2), []string{mark(9)}, nil}
		}
		id, err := l.Reserve(r)
		must(t, err)
		if ids = append(ids, id); i != 5 { // which has no answer
			must(t, l.Release(id, values(i)))
		}
	}
	for _, h := range []*Ledger{l, mustOpen(t, dir)} {
		asked := 0
		found, err := h.Answers(func(of *About) bool {
			asked++
			return of.Subject != nil &&
				of.Subject.Question == mark(0)
		})
		must(t, err)
		var got []string
		for a := range found {
			r, err := a.Reservation()
			must(t, err)
			released, err := a.Values()
			must(t, err)
			got = append(got, fmt.Sprint(a.Reserved, r.Caps.Groups, string(released)))
		}
		want := []string{fmt.Sprint(ids[4], 4, string(values(4))), fmt.Sprint(ids[2], 2, string(values(2)))}
		if !slices.Equal(got, want) || asked != 3 {
			t.Errorf("%q, of %d kinds; want %q", got, asked, want)
		}
	}
}

func TestRefusesSubjects(t *testing.T) {
	_, l := begin(t, "1", "0.5")
	for i, change := range []func(*Reservation){
		func(r *Reservation) { r.Caps = &Caps{} },
		func(r *Reservation) { r.Caps = &Caps{Rows: -1, Groups: 2} },
		func(r *Reservation) { r.Caps = &Caps{Rows: 1, Groups: -1} },
		func(r *Reservation) { r.Subject = &Subject{} },
		func(r *Reservation) { r.Subject = &Subject{Question: "0123456789abcdeF"} },
		func(r *Reservation) { r.Subject = &Subject{Question: mark(1), Measures: []string{mark(1), "12"}} },
		func(r *Reservation) { r.Subject = &Subject{Question: mark(1), Conditions: []string{mark(1) + "0"}} },
	} {
		r := reservation(key(1), "0.1")
		change(&r)
		if _, err := l.Reserve(r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
