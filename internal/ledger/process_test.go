package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dither/privacy"
)

// The tests of this file run the test binary again, as processes that share one ledger.
const (
	childDir   = "DITHER_LEDGER_CHILD" // the directory; its presence makes a child
	childName  = "DITHER_LEDGER_NAME"  // so that no two children ask the same
	childPrice = "DITHER_LEDGER_PRICE"

	childLimited = "DITHER_LEDGER_LIMITED" // whose files cannot grow
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childOpens); dir != "" {
		os.Exit(opens(dir))
	}
	if dir := os.Getenv(childDir); dir != "" && os.Getenv(childLimited) != "" {
		os.Exit(limitedChild(dir))
	} else if dir != "" {
		os.Exit(child(dir, os.Getenv(childName), os.Getenv(childPrice)))
	}
	os.Exit(m.Run())
}

// child answers questions from several goroutines until the budget is gone, and prints a line after each return: "O",
// "R INDEX KEY" or "A KEY".
func child(dir, name, price string) int {
	l, err := Open(dir, time.Now)
	if err != nil {
		fmt.Println("E", err)
		return 1
	}
	fmt.Println("O")
	s, err := l.State()
	if err != nil {
		fmt.Println("E", err)
		return 1
	}
	divided := len(s.Terms.Parts) > 0
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				k := key(hashOf(name, g, i))
				r := reservation(k, price)
				if divided && g > 0 {
					r.Confined = &Confined{"visits", [][]string{{"D"}, {"R"}, {"D", "R"}}[g-1]}
				}
				index, err := l.Reserve(r)
				var exhausted *privacy.OverdrawError
				if errors.As(err, &exhausted) {
					return
				}
				if err != nil {
					fmt.Println("E", err)
					return
				}
				// one write each: lines of a killed child are whole, or the last is cut
				fmt.Printf("R %d %s\n", index, k)
				if err := l.Release(index, values(i)); err != nil {
					fmt.Println("E", err)
					return
				}
				fmt.Printf("A %s\n", k)
			}
		})
	}
	wg.Wait()
	return 0
}

func hashOf(name string, g, i int) int {
	n, _ := strconv.Atoi(name)
	return n*1_000_000_000 + g*100_000_000 + i
}

// report is what children said.
type report struct {
	mu       sync.Mutex
	reserved map[uint64]string
	released map[string]bool
	errors   []string
}

func newReport() *report {
	return &report{reserved: map[uint64]string{}, released: map[string]bool{}}
}

func (r *report) line(text string, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	word := strings.Fields(text)
	switch {
	case !whole, text == "O": // not whole: the child was killed while it wrote
	case len(word) == 3 && word[0] == "R":
		n, _ := strconv.ParseUint(word[1], 10, 64)
		r.reserved[n] = word[2]
	case len(word) == 2 && word[0] == "A":
		r.released[word[1]] = true
	default:
		r.errors = append(r.errors, text)
	}
}

// death says when a child is killed: after a while, from its start or from when it has opened the ledger.
type death struct {
	after  time.Duration // zero is never
	opened bool
}

// run runs one child and reports whether it was killed.
func (r *report) run(t *testing.T, dir, name, price string, d death) bool {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childName+"="+name, childPrice+"="+price)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return false
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return false
	}
	kill := func() { time.AfterFunc(d.after, func() { _ = cmd.Process.Kill() }) } // of this child; it may have ended
	if d.after > 0 && !d.opened {
		kill()
	}
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			r.line(strings.TrimSuffix(text, "\n"), err == nil)
			if text == "O\n" && d.opened {
				kill()
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // killed, as a rule
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// check opens what the children left, and holds it to what they said.
func (r *report) check(t *testing.T, dir string) State {
	t.Helper()
	for _, e := range r.errors {
		t.Errorf("a child said: %s", e)
	}
	l := mustOpen(t, dir)
	defer func() { must(t, l.Close()) }()
	reserved, released := map[uint64]string{}, map[string]bool{}
	of := map[string]privacy.Loss{} // by part: of D and of R all that there is
	must(t, l.Entries(func(e Entry) error {
		switch b := e.Body.(type) {
		case Reservation:
			reserved[e.Index] = b.Key
			for _, part := range []string{"D", "R"} {
				if b.Confined == nil || slices.Contains(b.Confined.Parts, part) {
					of[part] = of[part].Plus(b.Loss)
				}
			}
		case Release:
			k, ok := reserved[b.Reservation]
			if !ok || released[k] {
				t.Errorf("release %d has no reservation of its own", e.Index)
			}
			released[k] = true
		case Torn:
			of["D"], of["R"] = of["D"].Plus(b.Loss), of["R"].Plus(b.Loss)
		}
		return nil
	}))
	for index, k := range r.reserved {
		if reserved[index] != k {
			t.Errorf("the acknowledged reservation %d is gone", index)
		}
	}
	for k := range r.released {
		if !released[k] {
			t.Error("an acknowledged release is gone")
		}
	}
	s := mustState(t, l)
	sum := of["D"]
	if sum.Within(of["R"]) {
		sum = of["R"]
	}
	if !s.Spent.Within(s.Budget) && (s.Torn == 0 || len(s.Terms.Parts) == 0) || s.Torn == 0 && !equal(s.Spent, sum) {
		t.Errorf("spent is %s of %s; the entries say %s", s.Spent, s.Budget, sum)
	}
	if _, err := Verify(dir, nil); err != nil {
		t.Error(err)
	}
	return s
}

// TestKill kills processes at random moments while they and others answer from one ledger: 200 times, or 1,000 with
// DITHER_LONG=1. A ledger serves for 20 children; every third one runs out of budget meanwhile, and every second one is
// divided by parts.
func TestKill(t *testing.T) {
	want := int64(200)
	if os.Getenv("DITHER_LONG") == "1" {
		want = 1000
	}
	const perLedger, atOnce = 20, 3
	var kills, names atomic.Int64
	answers, ledgers := 0, 0
	for ; kills.Load() < want; ledgers++ {
		budget := "100"
		if ledgers%3 == 0 {
			budget = "0.3"
		}
		of := terms(budget, "0.001")
		if ledgers%2 == 1 {
			of = dividedTerms(budget, "0.001", 1)
		}
		dir, l := beginWith(t, of, clock)
		must(t, l.Close())
		r, left := newReport(), make(chan death, perLedger)
		for i := range perLedger {
			left <- death{after: time.Duration(1 + rand.Int64N(int64(60*time.Millisecond))), opened: i%2 == 0}
		}
		close(left)
		var wg sync.WaitGroup
		for range atOnce {
			wg.Go(func() {
				for d := range left {
					if r.run(t, dir, strconv.FormatInt(names.Add(1), 10), "0.001", d) {
						kills.Add(1)
					}
				}
			})
		}
		wg.Wait()
		answers += r.check(t, dir).Answers
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d kills, %d ledgers, %d answers survived", kills.Load(), ledgers, answers)
}

// TestDrain: processes with goroutines spend one budget to the last admissible price, and nothing more.
func TestDrain(t *testing.T) {
	for _, c := range []struct {
		price, remaining string
		admitted         int
	}{
		{"1/97", "0", 97},
		{"0.03", "0.01", 33},
	} {
		dir, l := begin(t, "1", "0.5")
		must(t, l.Close())
		r := newReport()
		var wg sync.WaitGroup
		for name := range 3 {
			wg.Go(func() { r.run(t, dir, strconv.Itoa(name), c.price, death{}) })
		}
		wg.Wait()
		s := r.check(t, dir)
		wantEpsilon(t, "remaining", s.Remaining, c.remaining)
		if s.Reservations != c.admitted || s.Answers != c.admitted || len(r.released) != c.admitted {
			t.Errorf("%d reserved, %d answered, %d acknowledged, want %d",
				s.Reservations, s.Answers, len(r.released), c.admitted)
		}
	}
}

// TestHandlesOfOneProcess: two handles in one process exclude each other like two processes.
func TestHandlesOfOneProcess(t *testing.T) {
	dir, first := begin(t, "1", "0.5")
	handles := []*Ledger{first, mustOpen(t, dir), mustOpen(t, dir)}
	var wg sync.WaitGroup
	for g := range 12 {
		l := handles[g%len(handles)]
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := l.Reserve(reservation(key(g*1000+i), "1/97"))
				var exhausted *privacy.OverdrawError
				if errors.As(err, &exhausted) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, l := range handles {
		if s := mustState(t, l); s.Reservations != 97 || !s.Remaining.IsZero() {
			t.Errorf("%d reserved, %s remains", s.Reservations, s.Remaining)
		}
	}
}
