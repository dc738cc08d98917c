package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a process that ended well leaves behind is ended, and does not keep the audit waiting.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	a, b := sides(t, "1", "2")
	pid := filepath.Join(t.TempDir(), "pid")
	p := Program{
		Command: "sh -c 'sleep 100 & echo $! >\"$0\"; echo 1' '" + pid + "'", Input: a, Neighbor: b,
		Timeout: 20 * time.Second,
	}
	begun := time.Now()
	if err := p.Run(context.Background(), Data, 1, func([]byte) error { return nil }); err != nil ||
		time.Since(begun) > 10*time.Second {
		t.Fatalf("%v after %v", err, time.Since(begun))
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // it may be a zombie for a while
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); err != nil ||
			strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d lives on", child)
}

// A group whose leader was waited for is not killed: its number may be another's by then.
func TestGroupIsGone(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g := &group{leader: cmd.Process.Pid}
	g.reaped()
	g.kill()
	time.Sleep(20 * time.Millisecond)
	if err := syscall.Kill(cmd.Process.Pid, 0); err != nil {
		t.Error("it was killed")
	}
	_ = cmd.Process.Kill()
	awaitEnd(cmd.Process.Pid)
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
}

// A hint fits what went wrong.
func TestCrashHints(t *testing.T) {
	t.Parallel()
	a, b := sides(t, "1\n", "")
	for _, c := range []struct {
		command string
		side    Side
		want    string
	}{
		{"sh nowhere.sh", Data, "check the file names in the command"},
		{"sh -c 'exit 3'", Data, "a crash is an output too"},
		{"grep 1", Neighbor, "its file is empty"},
		{"sh -c 'echo 1; echo No such file >&2; exit 3' {runs}", Data, "a crash is an output too"},
	} {
		err := Program{Command: c.command, Input: a, Neighbor: b}.Run(context.Background(), c.side, 3,
			func([]byte) error { return nil })
		var wrong *ProgramError
		if !errors.As(err, &wrong) || !errors.Is(err, ErrCrash) || !strings.Contains(wrong.Hint, c.want) {
			t.Errorf("%s: %v: %+v", c.command, err, wrong)
		}
	}
}

// A process that leaves its group cannot keep the audit waiting.
func TestHangOfAStranger(t *testing.T) {
	t.Parallel()
	a, b := sides(t, "1", "2")
	p := Program{Command: "sh -c 'setsid sleep 5 & sleep 0.2'", Input: a, Neighbor: b, Timeout: 500 * time.Millisecond}
	begun := time.Now()
	err := p.Run(context.Background(), Data, 1, func([]byte) error { return nil })
	if !errors.Is(err, ErrHang) && !errors.Is(err, ErrSilent) || time.Since(begun) > 3*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}
