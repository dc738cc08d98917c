package ledger

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// model is a ledger without files: what the real one must say after the same calls.
type model struct {
	budget, maximum, spent *big.Rat
	open                   []uint64            // reservations without a release or a failure
	failed, failures       int                 // in all, and since the last resumption
	givenUp                int                 // since then
	keys                   map[uint64]string   // of all reservations
	found                  map[string]string   // replay key → values
	lost                   map[uint64]*big.Rat // what reservations cost that have neither a release nor a step
	lostFailed             map[uint64]bool     // those of them that failed
	lostGivenUp            map[uint64]bool     // or were given up
	torn                   *big.Rat            // what fragments cost
	fragments              int
	full                   int // calls that a full disk refused
}

// lostAs is what the model says that was lost.
func (m *model) lostAs() (failed, givenUp, open, torn int, price *big.Rat) {
	price = new(big.Rat).Set(m.torn)
	for index, p := range m.lost {
		price.Add(price, p)
		switch {
		case m.lostFailed[index]:
			failed++
		case m.lostGivenUp[index]:
			givenUp++
		default:
			open++
		}
	}
	return failed, givenUp, open, m.fragments, price
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

// TestModel runs random calls, crashes, torn writes and full disks on a ledger and on the model.
func TestModel(t *testing.T) {
	full := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemFS(t)
		must(t, create(m, faultDir, testID, testTime))
		reopen := func() *Ledger {
			l, err := open(m, faultDir, clock)
			if err != nil {
				rt.Fatal(err)
			}
			return l
		}
		handles := []*Ledger{reopen(), reopen()}
		must(t, handles[0].Adopt(terms("1", "0.3"), 1, handles[0].Head()))
		must(t, handles[1].Sealed("visits", 1, digest))
		want := &model{
			budget: rat("1"), maximum: rat("0.3"), spent: new(big.Rat), keys: map[uint64]string{},
			found: map[string]string{},
			lost:  map[uint64]*big.Rat{}, lostFailed: map[uint64]bool{}, lostGivenUp: map[uint64]bool{},
			torn: new(big.Rat),
		}
		defer func() { full += want.full }()
		handle := func(rt *rapid.T) *Ledger { return handles[rapid.IntRange(0, 1).Draw(rt, "handle")] }
		remaining := func() *big.Rat {
			left := new(big.Rat).Sub(want.budget, want.spent)
			if left.Sign() < 0 {
				return new(big.Rat)
			}
			return left
		}
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				price := rapid.SampledFrom([]string{"0.01", "1/30", "1/7", "0.3", "0.31"}).Draw(rt, "price")
				k := key(rapid.IntRange(0, 3).Draw(rt, "key"))
				index, err := handle(rt).Reserve(reservation(k, price))
				var exhausted *privacy.OverdrawError
				switch p := rat(price); {
				case p.Cmp(want.maximum) > 0:
					if !errors.Is(err, ErrPrice) {
						rt.Fatal(err)
					}
				case p.Cmp(remaining()) > 0:
					if !errors.As(err, &exhausted) {
						rt.Fatal(err)
					}
				case err != nil:
					rt.Fatal(err)
				default:
					want.spent.Add(want.spent, p)
					want.open, want.keys[index] = append(want.open, index), k
					want.lost[index] = p
				}
			},
			"release": func(rt *rapid.T) {
				if len(want.open) == 0 {
					rt.Skip()
				}
				at := rapid.IntRange(0, len(want.open)-1).Draw(rt, "which")
				index, v := want.open[at], values(rapid.IntRange(0, 99).Draw(rt, "value"))
				if err := handle(rt).Release(index, v); err != nil {
					rt.Fatal(err)
				}
				if err := handle(rt).Release(index, v); !errors.Is(err, ErrNotReserved) {
					rt.Fatal(err)
				}
				want.open = slices.Delete(want.open, at, at+1)
				delete(want.lost, index)
				want.found[want.keys[index]] = string(v)
			},
			"step": func(rt *rapid.T) { // changes nothing that is counted or found, but that something was told
				if len(want.open) == 0 {
					rt.Skip()
				}
				index := rapid.SampledFrom(want.open).Draw(rt, "which")
				if err := handle(rt).Step(Step{index, "next", values(5)}); err != nil {
					rt.Fatal(err)
				}
				delete(want.lost, index)
			},
			"give a step up": func(rt *rapid.T) { // counts, and leaves its reservation open
				if len(want.open) == 0 || want.givenUp+1 >= MaxGivenUp {
					rt.Skip()
				}
				must(t, handle(rt).GiveUpStep(rapid.SampledFrom(want.open).Draw(rt, "which"), ""))
				want.givenUp++
			},
			"fail": func(rt *rapid.T) {
				if len(want.open) == 0 || want.failures+1 >= MaxFailures || want.givenUp+1 >= MaxGivenUp {
					if err := handle(rt).Resume(); err != nil {
						rt.Fatal(err)
					}
					want.failures, want.givenUp = 0, 0
					return
				}
				at := rapid.IntRange(0, len(want.open)-1).Draw(rt, "which")
				givenUp := rapid.Bool().Draw(rt, "given up")
				end := handle(rt).Fail
				if givenUp {
					end = handle(rt).GiveUp
				}
				if err := end(want.open[at]); err != nil {
					rt.Fatal(err)
				}
				if err := handle(rt).Release(want.open[at], values(1)); !errors.Is(err, ErrNotReserved) {
					rt.Fatal(err)
				}
				if givenUp {
					want.lostGivenUp[want.open[at]] = true
					want.givenUp++
				} else {
					want.lostFailed[want.open[at]] = true
					want.failures++
				}
				want.open = slices.Delete(want.open, at, at+1)
				want.failed++
			},
			"adopt": func(rt *rapid.T) {
				group := rapid.SampledFrom([]int64{1, 1, 2}).Draw(rt, "group")
				budget := rapid.SampledFrom([]string{"1", "2", "5"}).Draw(rt, "budget")
				l := handle(rt)
				if err := l.Adopt(terms(budget, "0.3"), group, mustState(t, l).Head); err != nil {
					rt.Fatal(err)
				}
				want.spent.Mul(want.spent, big.NewRat(group, 1))
				want.torn.Mul(want.torn, big.NewRat(group, 1))
				for index, p := range want.lost {
					want.lost[index] = new(big.Rat).Mul(p, big.NewRat(group, 1))
				}
				want.budget = rat(budget)
			},
			"torn": func(rt *rapid.T) {
				m.crash(killed)
				free := rapid.Bool().Draw(rt, "sure")
				if head := m.names[faultDir+"/"+headName]; !free { // as no crash leaves it: a slot is lost as well
					h, err := parseHeads(head.data)
					must(t, err)
					clear(head.data[(1-h.newest)*slotSpace:][:9])
				}
				log := m.names[faultDir+"/"+logName]
				log.data = append(log.data,
					`{"v":1,"n":9,"prev":"00000000"`[:rapid.IntRange(1, 30).Draw(rt, "bytes")]...)
				handles = []*Ledger{reopen(), reopen()}
				// An append that records the fragment, so that the next one is a fragment of its own.
				if err := handle(rt).Sealed("torn", int(handles[0].Head().Index)+1, digest); err != nil {
					rt.Fatal(err)
				}
				if free {
					return
				}
				charge := want.maximum
				if left := remaining(); charge.Cmp(left) > 0 {
					charge = left
				}
				want.spent.Add(want.spent, charge)
				want.torn.Add(want.torn, charge)
				want.fragments++
			},
			"full disk": func(rt *rapid.T) { // a refusal changes nothing, and leaves the handles as they are
				m.names[faultDir+"/"+logName].space = 0 // another program took what was assured
				m.capacity = m.used() + int64(rapid.IntRange(0, 800).Draw(rt, "bytes"))
				m.cannotAllocate = rapid.Bool().Draw(rt, "cannot allocate")
				defer func() { m.capacity, m.cannotAllocate = 0, false }()
				before := len(m.names[faultDir+"/"+logName].data)
				refused := func(err error) {
					if now := len(m.names[faultDir+"/"+logName].data); !errors.Is(err, ErrFull) || now != before {
						rt.Fatalf("the log had %d bytes, and has %d: %v", before, now, err)
					}
					want.full++
				}
				k, p := key(rapid.IntRange(0, 3).Draw(rt, "key")), rat("0.01")
				if p.Cmp(remaining()) <= 0 {
					if index, err := handle(rt).Reserve(reservation(k, "0.01")); err == nil {
						want.spent.Add(want.spent, p)
						want.open, want.keys[index] = append(want.open, index), k
						want.lost[index] = p
						before = len(m.names[faultDir+"/"+logName].data)
					} else {
						refused(err)
					}
				}
				if len(want.open) == 0 {
					return
				}
				at := rapid.IntRange(0, len(want.open)-1).Draw(rt, "which")
				index, v := want.open[at], values(rapid.IntRange(0, 99).Draw(rt, "value"))
				if err := handle(rt).Release(index, v); err != nil {
					refused(err)
					return
				}
				want.open = slices.Delete(want.open, at, at+1)
				delete(want.lost, index)
				want.found[want.keys[index]] = string(v)
			},
			"crash": func(rt *rapid.T) {
				m.crash(loss(rapid.IntRange(0, int(losses)-1).Draw(rt, "loss")))
				handles = []*Ledger{reopen(), reopen()}
			},
			"": func(rt *rapid.T) {
				l := handle(rt)
				s, err := l.State()
				if err != nil {
					rt.Fatal(err)
				}
				if !equal(s.Spent, pureOf(want.spent)) || !equal(s.Remaining, pureOf(remaining())) {
					rt.Fatalf("spent %s, remaining %s; want %s, %s", s.Spent, s.Remaining, want.spent, remaining())
				}
				if s.Reservations != len(want.keys) || s.Answers != len(want.keys)-len(want.open)-want.failed ||
					s.Failures != want.failures || s.GivenUp[""] != want.givenUp {
					rt.Fatalf("%+v", s)
				}
				failed, givenUp, open, torn, price := want.lostAs()
				if s.Lost == nil {
					s.Lost = &Lost{}
				}
				if s.Lost.Failed != failed || s.Lost.GivenUp != givenUp || s.Lost.Open != open || s.Lost.Torn != torn ||
					!equal(s.Lost.Loss, pureOf(price)) {
					rt.Fatalf("lost %+v; want %d, %d, %d, %d: %s", s.Lost, failed, givenUp, open, torn, price)
				}
				for i := range 4 {
					a, ok, err := l.Find(key(i))
					v, known := want.found[key(i)]
					if err != nil || ok != known {
						rt.Fatalf("key %d: %v %v, want %s", i, err, ok, v)
					}
					if !known {
						continue
					}
					if released, err := a.Values(); err != nil || string(released) != v {
						rt.Fatalf("key %d: %v %s, want %s", i, err, released, v)
					}
				}
			},
		})
	})
	if full == 0 {
		t.Error("no disk was ever full")
	}
}
