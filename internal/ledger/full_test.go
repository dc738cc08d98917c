package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ask asks one question of so many that a full disk refuses, and says whether it was charged, and answered.
func ask(l *Ledger, i int, most int64) (charged, answered bool, err error) {
	index, err := l.ReserveFor(reservation(key(100+i), "0.01"), most)
	if err != nil {
		return false, false, err
	}
	err = l.Release(index, values(i))
	return true, err == nil, err
}

// TestFullDiskChargesNothing fills disks of each size: a question is refused, and costs nothing, though one may cost
// the whole budget; the handle stays good; and
// when there is room again, it is answered. Where space can be assured, a question that was charged is also answered.
func TestFullDiskChargesNothing(t *testing.T) {
	base := prepared(t)
	used := base.used()
	for _, assures := range []bool{true, false} {
		refused, lost := 0, 0
		for capacity := used; capacity < used+2500; capacity += 37 {
			m := base.clone()
			m.capacity, m.cannotAllocate = capacity, !assures
			l, err := open(m, faultDir, clock)
			must(t, err)
			want := pure("0.01")
			for i := range 6 {
				charged, answered, err := ask(l, i, 64)
				if charged {
					want = want.Plus(pure("0.01"))
				}
				if !charged {
					refused++
				} else if !answered {
					lost++
				}
				if !answered && (!errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC)) {
					t.Fatal(err)
				}
				s := mustState(t, l)
				if r, err := verify(m, faultDir, nil); err != nil || !equal(s.Spent, want) ||
					!equal(r.State.Spent, want) || s.Torn > 0 || r.Fragment > 0 {
					t.Fatalf("%d bytes: spent %s, want %s; %v", capacity, s.Spent, want, err)
				}
			}
			m.capacity = 0
			if _, answered, err := ask(l, 6, 64); !answered {
				t.Fatalf("there is room again: %v", err)
			}
		}
		if refused == 0 || assures == (lost > 0) {
			t.Errorf("assured: %v; %d refused, %d charged and lost", assures, refused, lost)
		}
	}
}

// TestSpaceIsKept: what was assured for one question's release is not given to another's reservation.
func TestSpaceIsKept(t *testing.T) {
	m := prepared(t)
	l, err := open(m, faultDir, clock)
	must(t, err)
	big := func(i int) []byte { return []byte(`"` + strings.Repeat("x", 3000) + fmt.Sprint(i) + `"`) }
	m.capacity = m.used() + 20_000
	var open []uint64
	for i := 0; ; i++ {
		index, err := l.ReserveFor(reservation(key(i), "0.001"), 3010)
		if errors.Is(err, ErrFull) {
			break
		}
		must(t, err)
		open = append(open, index)
	}
	if len(open) < 4 || len(open) > 5 {
		t.Fatalf("%d questions of 4 KB in 20 KB", len(open))
	}
	for i, index := range open {
		must(t, l.Release(index, big(i)))
	}
	if l.space.sum != 0 || len(l.space.follows) > 0 {
		t.Errorf("%d bytes are kept for nothing", l.space.sum)
	}
}

// TestMakeRoom: a step of a reservation that another handle made has its room before rows are read for it, which no
// reservation takes; and where there is none, it is refused.
func TestMakeRoom(t *testing.T) {
	base := prepared(t)
	const training = 3 // what prepared left open
	refused, counted := 0, 0
	for capacity := base.used(); capacity < base.used()+4*stepSize; capacity += 397 {
		m := base.clone()
		m.capacity = capacity
		l, err := open(m, faultDir, clock)
		must(t, err)
		if err := l.MakeRoom(training); errors.Is(err, ErrFull) {
			if refused++; l.space.sum != 0 || len(l.space.follows) > 0 {
				t.Fatalf("%d bytes: %d bytes are kept for a step that was refused", capacity, l.space.sum)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for i := 0; err == nil; i++ { // others fill the disk
			_, err = l.ReserveFor(reservation(key(100+i), "0.001"), 64)
		}
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		must(t, l.GiveUpStep(training, "ann"))
		counted++
	}
	if refused < 5 || counted < 5 {
		t.Errorf("%d refused, %d counted", refused, counted)
	}
}

// TestMixedBatchOnAFullDisk: a release in one batch with a reservation that finds no room is written all the same.
func TestMixedBatchOnAFullDisk(t *testing.T) {
	m := prepared(t)
	l, err := open(m, faultDir, clock)
	must(t, err)
	m.capacity = m.used() + 600
	batch := []*member{{body: reservation(key(2), "0.01"), most: 64}, {body: Release{3, values(1)}}}
	must(t, l.locked(func() error { l.write(batch); return nil }))
	if !errors.Is(batch[0].err, ErrFull) || batch[1].err != nil {
		t.Fatal(batch[0].err, batch[1].err)
	}
	if s := mustState(t, l); s.Answers != 1 || !equal(s.Spent, pure("0.01")) {
		t.Errorf("%+v", s)
	}
}

// TestFrameSize: what is assured beside the values of a release is enough, and so it is for a failure.
func TestFrameSize(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for _, b := range []Body{
		Release{1<<64 - 1, []byte("1")},
		Failure{1<<64 - 1, true, true},
		StepGivenUp{Reservation: 1<<64 - 1},
	} {
		if line, err := encodeLine(1<<64-1, Hash{}, last, b); err != nil || len(line)+1 > frameSize {
			t.Errorf("%T: %d bytes, %v", b, len(line), err)
		}
	}
	step := fmt.Sprintf("step %d of %d", int64(1<<62), int64(1<<62))
	for _, b := range []Body{
		Step{1<<64 - 1, step, fmt.Appendf(nil, `{"sha256":"%x"}`, Hash{})}, StepGivenUp{1<<64 - 1, strings.Repeat("\x01", maxName)},
	} {
		if line, err := encodeLine(1<<64-1, Hash{}, last, b); err != nil || len(line)+1 > stepSize {
			t.Errorf("%T: %d bytes, %v", b, len(line), err)
		}
	}
}

// limitedChild asks six questions where no file can grow beyond a size, which is a full disk as the kernel makes it,
// and prints what it was told.
func limitedChild(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	info, err := os.Stat(dir + "/" + logName)
	if err == nil {
		size := uint64(info.Size()) + 100
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
	}
	for i := 0; err == nil && i < 6; i++ {
		var l *Ledger
		if l, err = Open(dir, clock); err != nil {
			break
		}
		_, asking := l.Reserve(reservation(key(1000+i), "0.01"))
		fmt.Println("asked:", asking)
		err = l.Close()
	}
	if err != nil {
		fmt.Println("E", err)
		return 1
	}
	return 0
}

// TestFileSizeLimit: six questions at ε = 0.01 that the kernel cuts off cost nothing, where the maximum price is the
// budget.
func TestFileSizeLimit(t *testing.T) {
	dir, l := begin(t, "3", "3")
	for i := range 20 { // so that the log is longer than the head file
		must(t, l.Release(mustReserve(t, l, key(i), "0.01"), values(i)))
	}
	must(t, l.Close())
	before := readLog(t, dir)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childLimited+"=1")
	out, err := cmd.Output()
	must(t, err)
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); n++ {
		if !strings.HasPrefix(lines.Text(), "asked: "+ErrFull.Error()) {
			t.Error(lines.Text())
		}
	}
	if n != 6 || string(readLog(t, dir)) != string(before) {
		t.Errorf("%d questions, and the log has %d bytes of %d", n, len(readLog(t, dir)), len(before))
	}
	s := mustState(t, mustOpen(t, dir))
	wantEpsilon(t, "spent", s.Spent, "0.2")
}

// TestSpaceIsGivenBack: what was assured for a large release is not kept when a small one was recorded.
func TestSpaceIsGivenBack(t *testing.T) {
	dir, l := begin(t, "3", "3")
	taken := func() int64 {
		info, err := os.Stat(dir + "/" + logName)
		must(t, err)
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	index, err := l.ReserveFor(reservation(key(1), "0.01"), maxFollows)
	must(t, err)
	if !l.space.cannot && taken() < maxFollows {
		t.Errorf("%d bytes are assured", taken())
	}
	must(t, l.Release(index, values(1)))
	if now := taken(); now > giveBack {
		t.Errorf("%d bytes are still taken", now)
	}
	must(t, l.Release(mustReserve(t, l, key(2), "0.01"), values(2)))
	must(t, openBoth(t, dir))
}

// TestMixedBatchAsksAgain: whose question is answered by a member of the batch that is written before does not pay.
func TestMixedBatchAsksAgain(t *testing.T) {
	m := prepared(t)
	l, err := open(m, faultDir, clock)
	must(t, err)
	same := reservation(key(500), "0.01")
	paid, err := l.Reserve(same)
	must(t, err)
	m.capacity = m.used() + 900
	again := &member{body: same, may: func() error {
		_, found, err := l.log.find(same.Key)
		if found {
			return errAnswered
		}
		return err
	}}
	batch := []*member{{body: reservation(key(2), "0.01"), most: maxFollows}, {body: Release{paid, values(1)}}, again}
	must(t, l.locked(func() error { l.write(batch); return nil }))
	if !errors.Is(batch[0].err, ErrFull) || batch[1].err != nil || !errors.Is(again.err, errAnswered) {
		t.Fatal(batch[0].err, batch[1].err, again.err)
	}
	wantEpsilon(t, "spent", mustState(t, l).Spent, "0.02")
}
