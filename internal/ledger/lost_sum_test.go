package ledger

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"dither/privacy"
)

// lostReference keeps every reservation and adds them up from scratch, as the running sum must not.
type lostReference struct {
	lost            map[uint64]*tally
	failed, givenUp map[uint64]bool
}

func (r *lostReference) add(t *testing.T, h *history) {
	t.Helper()
	want, total := Lost{Torn: h.torn}, newTally()
	total.plus(h.tornLoss)
	for index, l := range r.lost {
		total.plus(l)
		switch {
		case r.givenUp[index]:
			want.GivenUp++
		case r.failed[index]:
			want.Failed++
		default:
			want.Open++
		}
	}
	have := h.lostSoFar(h.torn, privacy.Loss{})
	loss := total.in(h.by())
	if have == nil {
		have = &Lost{Loss: lossOf(h.by(), nil)}
	}
	if !equal(have.Loss, loss) || have.Loss.String() != loss.String() {
		t.Fatalf("lost %s, want %s", have.Loss, loss)
	}
	have.Loss = privacy.Loss{}
	if *have != want {
		t.Fatalf("%+v, want %+v", *have, want)
	}
}

// The running sum of what was lost is what adding up from scratch gives, under both accountants, with a δ whose sum is
// above 1, and after changes of terms.
func TestLostAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(usual)
		ref := &lostReference{map[uint64]*tally{}, map[uint64]bool{}, map[uint64]bool{}}
		var open []uint64
		next := func(b Body) bool {
			e := Entry{Index: h.count(), Kind: b.kind(), Time: testTime, Body: b}
			if tip, begun := h.tip(); begun {
				e.Prev = tip.Hash
			}
			if h.check(e) != nil {
				return false
			}
			h.apply(e, ref0(e.Index))
			return true
		}
		next(Genesis{testID})
		ruled := terms("1000000", "1000000")
		delta := rapid.Bool().Draw(rt, "with δ")
		if rapid.Bool().Draw(rt, "ρ") || delta {
			ruled.Budget, ruled.MaxPrice = zcdp("1000000", "1"), zcdp("1000000", "1")
		}
		next(Adoption{ruled, 1})
		next(Seal{"visits", 1, digest})
		take := func(rt *rapid.T) (uint64, bool) {
			if len(open) == 0 {
				return 0, false
			}
			return rapid.SampledFrom(open).Draw(rt, "which"), true
		}
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				r := reservation(key(1), rapid.SampledFrom([]string{"1/3", "0.1", "2"}).Draw(rt, "price"))
				if ruled.Budget.Accountant() == privacy.ZCDP && rapid.Bool().Draw(rt, "in ρ") {
					d := "0"
					if delta {
						d = rapid.SampledFrom([]string{"0", "1/7", "0.4"}).Draw(rt, "δ")
					}
					r.Loss = zcdp(rapid.SampledFrom([]string{"1/30", "0.5"}).Draw(rt, "ρ"), d)
				}
				index := h.count()
				if next(r) {
					open = append(open, index)
					ref.lost[index] = newTally()
					ref.lost[index].add(r.Loss)
				}
			},
			"step": func(rt *rapid.T) {
				if i, ok := take(rt); ok && next(Step{i, "", values(1)}) {
					delete(ref.lost, i)
				}
			},
			"end": func(rt *rapid.T) {
				i, ok := take(rt)
				if !ok {
					return
				}
				next(StepGivenUp{Reservation: i}) // which loses nothing
				next(Resume{})
				switch how := rapid.IntRange(0, 2).Draw(rt, "how"); {
				case how == 0 && next(Release{i, values(1)}):
					delete(ref.lost, i)
				case how == 1 && next(Failure{Reservation: i, GivenUp: true}):
					ref.givenUp[i] = true
				case how == 2 && next(Failure{Reservation: i}):
					ref.failed[i] = true
					next(Resume{})
				default:
					return
				}
				for at, o := range open {
					if o == i {
						open = append(open[:at:at], open[at+1:]...)
						break
					}
				}
			},
			"torn": func(*rapid.T) { next(Torn{Bytes: 1, SHA256: digest, Loss: h.maxPrice()}) },
			"adopt": func(rt *rapid.T) {
				group := rapid.SampledFrom([]int64{1, 2, 3}).Draw(rt, "group")
				if rapid.Bool().Draw(rt, "to ρ") {
					ruled.Budget, ruled.MaxPrice = zcdp("1000000", "1"), zcdp("1000000", "1")
				}
				if next(Adoption{ruled, group}) {
					for _, l := range ref.lost {
						_ = l.group(group)
					}
				}
				ruled = *h.terms
			},
			"": func(*rapid.T) { ref.add(t, h) },
		})
	})
}

// ref0 is where an entry would be that is in no file.
func ref0(index uint64) ref { return ref{hash: Hash{byte(index), byte(index >> 8)}, line: index + 1} }

// BenchmarkUnanswered is what a question costs where so many reservations have no answer. The figures are in
// docs/design/0002-ledger.md.
func BenchmarkUnanswered(b *testing.B) {
	for _, open := range []int{0, 50_000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			_, l := beginWith(b, terms("1000000", "1"), clock)
			for i := range open {
				l.log.apply(Entry{Index: l.log.count(), Time: testTime, Body: reservation(key(i), "0.001")},
					l.log.refs[0])
			}
			b.ResetTimer()
			for range b.N {
				if s := l.log.state(false, testTime); s.Lost != nil && s.Lost.Open != open {
					b.Fatal(s.Lost)
				}
			}
		})
	}
}
