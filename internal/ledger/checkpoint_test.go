package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/privacy"
)

// often makes places frequent in all that a test reads and writes.
func often(t testing.TB, entries uint64) {
	t.Helper()
	before := usual
	usual = cadence{entries, 1 << 20}
	t.Cleanup(func() { usual = before })
}

// copied is what is on a file system, on another one.
func (m *memFS) copied(without ...string) *memFS {
	out := newMemFS(m.t)
	for name, node := range m.names {
		if !slices.Contains(without, filepath.Base(name)) {
			copied := &inode{data: slices.Clone(node.data), synced: slices.Clone(node.synced)}
			out.names[name], out.durable[name] = copied, copied
		}
	}
	return out
}

// told is everything that a ledger says, through every door.
func told(tb testing.TB, l *Ledger) string {
	tb.Helper()
	s := mustState(tb, l)
	text, err := json.Marshal(s)
	must(tb, err)
	out := fmt.Sprintf("%s %v %v %t\n", text, l.log.origins, l.log.versions, l.log.impure)
	out += fmt.Sprintf("%v %v %v %v\n", l.log.clock.UTC(), utc(l.log.issued), utc(l.log.closed), l.log.givenUpBy)
	asked := map[string]bool{}
	must(tb, l.Entries(func(e Entry) error {
		line, err := json.Marshal(e)
		out += string(line) + "\n"
		if r, ok := e.Body.(Reservation); ok {
			asked[r.Key] = true
		}
		a, ok, err2 := l.AnswerOf(e.Index)
		must(tb, err2)
		if ok {
			out += toldOf(tb, a)
		}
		return err
	}))
	keys := []string{key(1_000_000)}
	for k := range asked {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		a, ok, err := l.Find(k)
		must(tb, err)
		if out += fmt.Sprintf("%s %t\n", k, ok); ok {
			out += toldOf(tb, a)
		}
	}
	answers, err := l.Answers(func(a *About) bool { return a.Subject == nil || a.Subject.Question != mark(0) })
	must(tb, err)
	for a := range answers {
		out += "among " + toldOf(tb, a)
	}
	return out
}

func utc(spans []span) string {
	var out strings.Builder
	for _, s := range spans {
		out.WriteString(s.From.UTC().String() + " to " + s.To.UTC().String() + ", ")
	}
	return out.String()
}

func toldOf(tb testing.TB, a Answer) string {
	tb.Helper()
	r, err := a.Reservation()
	must(tb, err)
	v, err := a.Values()
	must(tb, err)
	about, err := json.Marshal(a.About)
	must(tb, err)
	return fmt.Sprintf("%d %g %s %s %s\n", a.Reserved, a.Rho, about, r.Key, v)
}

// entriesInMemory says how many entries a handle holds.
func entriesInMemory(l *Ledger) int { return len(l.log.refs) }

// A ledger says the same whoever reads it: a handle that wrote it, one that began at a checkpoint, and one that had to
// read everything.
func TestCheckpointsSayTheSame(t *testing.T) {
	often(t, 4)
	begunAt, long, corrected, recovered := 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemFS(t)
		must(t, create(m, faultDir, testID, testTime))
		now := testTime
		reopen := func(m *memFS) *Ledger {
			l, err := open(m, faultDir, func() time.Time { return now })
			if err != nil {
				rt.Fatal(err)
			}
			return l
		}
		handles := []*Ledger{reopen(m), reopen(m)}
		ruled := dividedTerms("1"+strings.Repeat("0", 30), "1", 2)
		ruled.Analysts = map[string]privacy.Loss{"alice": ruled.Budget, "bob": ruled.Budget}
		ruled.Grant = &Grant{Per: "month", Loss: ruled.Budget}
		must(t, handles[0].Adopt(ruled, 1, handles[0].Head()))
		must(t, handles[1].Sealed("visits", 1, digest))
		from := []Origin{{strings.Repeat("a", 32), handles[1].Head().String()}}
		must(t, handles[1].Opened(Opening{pure("1/7"), from}, handles[1].Head()))
		handle := func(rt *rapid.T) *Ledger { return handles[rapid.IntRange(0, 1).Draw(rt, "handle")] }
		var open []uint64
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				r := reservation(key(rapid.IntRange(0, 5).Draw(rt, "key")),
					rapid.SampledFrom([]string{"0.1", "1/3"}).Draw(rt, "price"))
				r.Analyst = rapid.SampledFrom([]string{"alice", "bob"}).Draw(rt, "analyst")
				if rapid.Bool().Draw(rt, "with a subject") {
					r.Subject = &Subject{
						Question: mark(rapid.IntRange(0, 2).Draw(rt, "mark")),
						Measures: []string{mark(7), mark(rapid.IntRange(8, 9).Draw(rt, "measure"))},
					}
				}
				if rapid.Bool().Draw(rt, "confined") {
					r.Confined = &Confined{
						"visits",
						[]string{rapid.SampledFrom([]string{"A", "B", "C"}).Draw(rt, "part")},
					}
				}
				l := handle(rt)
				index, err := l.Reserve(r)
				if errors.Is(err, ErrSuspended) {
					must(t, l.Resume())
					return
				}
				must(t, err)
				open = append(open, index)
			},
			"end": func(rt *rapid.T) {
				if len(open) == 0 {
					rt.Skip()
				}
				at := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
				l := handle(rt)
				switch rapid.IntRange(0, 6).Draw(rt, "how") {
				case 0:
					must(t, l.Fail(open[at]))
					if rapid.Bool().Draw(rt, "resume") {
						must(t, l.Resume())
					}
				case 1:
					must(t, l.GiveUp(open[at]))
				case 2:
					if err := l.Step(Step{open[at], "next", values(5)}); !errors.Is(err, ErrSuspended) {
						must(t, err)
					}
					return
				case 6:
					must(t, l.GiveUpStep(open[at], "ann"))
					return
				case 3: // as older programs wrote it
					_, err := l.append(&member{body: Failure{Reservation: open[at], GivenUp: true}})
					must(t, err)
				default:
					must(t, l.Release(open[at], values(rapid.IntRange(0, 99).Draw(rt, "value"))))
				}
				open = slices.Delete(open, at, at+1)
			},
			"adopt": func(rt *rapid.T) {
				l := handle(rt)
				adopted := ruled
				if rapid.IntRange(0, 2).Draw(rt, "without grants") == 0 {
					adopted.Grant = nil
				}
				must(t, l.Adopt(adopted, rapid.SampledFrom([]int64{1, 1, 2}).Draw(rt, "group"), mustState(t, l).Head))
			},
			"time": func(rt *rapid.T) {
				if now = now.AddDate(0, 0, rapid.IntRange(-40, 40).Draw(rt, "days")); now.Before(testTime) {
					now = testTime
				}
			},
			"correct": func(rt *rapid.T) {
				switch _, err := handle(rt).CorrectClock(); {
				case err == nil:
					corrected++
				case !errors.Is(err, ErrClockRight):
					rt.Fatal(err)
				}
			},
			"recover": func(rt *rapid.T) {
				if rapid.IntRange(0, 4).Draw(rt, "lost") > 0 {
					return
				}
				must(t, handles[0].Resume()) // which records a fragment
				var against *Head
				var sum *privacy.Loss
				s := mustState(t, handles[0])
				if rapid.Bool().Draw(rt, "a head was kept") {
					against = &s.Head
				} else {
					spent := s.Spent.Plus(pure(rapid.SampledFrom([]string{"0", "1/9"}).Draw(rt, "more was spent")))
					sum = &spent
				}
				must(t, m.Remove(filepath.Join(faultDir, headName)))
				if _, err := recoverHead(m, faultDir, against, sum, func() time.Time { return now }); err != nil {
					rt.Fatal(err)
				}
				recovered++
				handles = []*Ledger{reopen(m), reopen(m)}
			},
			"crash": func(rt *rapid.T) {
				m.crash(loss(rapid.IntRange(0, int(losses)-1).Draw(rt, "loss")))
				handles = []*Ledger{reopen(m), reopen(m)}
			},
			"": func(rt *rapid.T) {
				if rapid.IntRange(0, 19).Draw(rt, "look") > 0 {
					return
				}
				want := told(t, reopen(m.copied(indexName, checkpointName)))
				quick := reopen(m.copied())
				for i, l := range []*Ledger{
					handles[0], handles[1], quick, reopen(m.copied(indexName)),
					reopen(m.copied(checkpointName)),
				} {
					if have := told(t, l); have != want {
						rt.Fatalf("handle %d says\n%s\nwant\n%s", i, have, want)
					}
				}
				if quick.log.begun != (Checkpoint{}) {
					begunAt++
				}
				long = max(long, entriesInMemory(handles[0]), entriesInMemory(quick))
				if _, err := verify(m.copied(), faultDir, nil); err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
	if begunAt == 0 || long > 4*4 || corrected == 0 || recovered == 0 {
		t.Errorf("%d of the handles began at a checkpoint; up to %d entries in memory; %d corrections, %d recoveries",
			begunAt, long, corrected, recovered)
	}
}

// Many callers of several handles write checkpoints while others append, look up and verify: nothing is said otherwise
// than without an index.
func TestCheckpointsAtOnce(t *testing.T) {
	often(t, 8)
	dir, l := begin(t, "100", "1")
	var wg sync.WaitGroup
	for h, l := range []*Ledger{l, mustOpen(t, dir), mustOpen(t, dir)} {
		l.VerifyInBackground(t.Context(), time.Millisecond, func(err error) { t.Error(err) })
		for g := range 4 {
			wg.Go(func() {
				for i := range 10 {
					r := reservation(key(100*h+10*g+i), "0.001")
					index, answered, err := l.ReserveNew(r, 0)
					if err == nil && !answered {
						err = l.Release(index, values(i))
					}
					if err == nil {
						_, _, err = l.AnswerOf(index)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	quick := mustOpen(t, dir)
	if quick.log.begun == (Checkpoint{}) {
		t.Error("no checkpoint")
	}
	have := told(t, quick)
	must(t, os.Remove(filepath.Join(dir, indexName)))
	must(t, os.Remove(filepath.Join(dir, checkpointName)))
	if want := told(t, mustOpen(t, dir)); have != want {
		t.Errorf("it says\n%s\nwant\n%s", have, want)
	}
	must(t, openBoth(t, dir))
}

// TestVerifyingHoldsNobodyUp: the whole log is read without its lock, but for what is added meanwhile.
func TestVerifyingHoldsNobodyUp(t *testing.T) {
	m := answered40(t)
	m.read = map[string]int{}
	h, err := readHeads(m, faultDir)
	must(t, err)
	want := mustState(t, mustOpenIn(t, m.copied())).Head
	for _, against := range []*Head{nil, {0, want.Hash}, &want} {
		clear(m.read)
		r, err := verify(m, faultDir, against)
		if wrong := against != nil && against.Index == 0; wrong != (err != nil) {
			t.Fatal(err)
		}
		if all := len(m.data(logName)); m.read[logName] < all || m.read[logName+", locked"] > 0 {
			t.Errorf("of %d bytes %d are read, %d with the lock", all, m.read[logName], m.read[logName+", locked"])
		}
		if err == nil && (r.State.Head != want || r.HeadFile != h.head()) {
			t.Errorf("%+v", r)
		}
	}
}
