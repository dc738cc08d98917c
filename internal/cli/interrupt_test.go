package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dither/internal/cli/console"
)

// A question that is interrupted is given up: the ledger says so, the person is told in a line what becomes of its price, and the exit code is 130;
// whatever the signal, and whatever asks. A second signal kills.
func TestInterrupted(t *testing.T) {
	heedHangups(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	run := func(args ...string) []byte {
		t.Helper()
		out, err := exec.Command("dither", append([]string{"-C", filepath.Join(dir, "town")}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("dither %v: %v\n%s", args, err, out)
		}
		return out
	}
	run("demo", "data", "--rows", "100000", "--out", filepath.Join(dir, "town"))
	run("seal", "visits")
	run("seal", "people")
	type ended struct {
		text            string
		code            int
		signal          syscall.Signal
		reserved, given int // by it
	}
	entries := func(what string) int {
		text, err := os.ReadFile(filepath.Join(dir, "town", "ledger.log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), what)
	}
	const reserves, gives = `"kind":"reserve"`, `"given_up":true`
	// interrupt sends signals when the reservation is there.
	interrupt := func(sig syscall.Signal, times int, args ...string) ended {
		reserved, given := entries(reserves), entries(gives)
		cmd := exec.Command("dither", append([]string{"-C", filepath.Join(dir, "town")}, args...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			for entries(reserves) == reserved && sleep(time.Millisecond, done) {
			}
			for range times {
				_ = cmd.Process.Signal(sig) // it may have ended
				sleep(2*time.Millisecond, done)
			}
		}()
		_ = cmd.Wait()
		close(done)
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		e := ended{out.String(), cmd.ProcessState.ExitCode(), 0, entries(reserves) - reserved, entries(gives) - given}
		if status.Signaled() {
			e.signal = status.Signal()
		}
		return e
	}
	question := "SELECT day, department, COUNT(*), COUNT(DISTINCT person_id), MEDIAN(cost), PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY cost) FROM visits GROUP BY day, department"
	for name, c := range map[string]struct {
		signal syscall.Signal
		args   []string
	}{
		"query":    {syscall.SIGINT, []string{"query", "--fresh", "--epsilon", "0.01", question}},
		"json":     {syscall.SIGTERM, []string{"query", "--fresh", "--epsilon", "0.01", "--format", "json", question}},
		"estimate": {syscall.SIGHUP, []string{"estimate", "quantile", "--table", "visits", "--column", "cost", "--by", "day", "--fresh", "--epsilon", "0.01"}},
		"fit":      {syscall.SIGINT, []string{"fit", "logistic", "--table", "people", "--formula", "lung_cancer ~ smoker + age + height_cm", "--rows", "100000", "--epsilon", "0.1", "--fresh"}},
	} {
		t.Run(name, func(t *testing.T) {
			caught := false
			for range 10 {
				e := interrupt(c.signal, 1, c.args...)
				if e.code == console.ExitAnswered { // it was quicker
					continue
				}
				caught = true
				if e.code != console.ExitGivenUp || e.reserved != 1 || e.given != 1 {
					t.Fatalf("exit %d, %d reserved, %d given up\n%s", e.code, e.reserved, e.given, e.text)
				}
				if name == "json" {
					var said struct {
						Error struct {
							Code, Message  string
							Charged, Retry bool
						}
					}
					if err := json.Unmarshal([]byte(e.text), &said); err != nil || said.Error.Code != "cancelled" || !said.Error.Charged || said.Error.Retry {
						t.Fatalf("%s: %v", e.text, err)
					}
				} else if !strings.HasPrefix(e.text, "dither: the question was cancelled; its price stays spent\n") {
					t.Fatalf("it says: %s", e.text)
				}
				break
			}
			if !caught {
				t.Error("it was never interrupted: this shows nothing")
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		for range 20 {
			if e := interrupt(syscall.SIGINT, 2, "query", "--fresh", "--epsilon", "0.01", question); e.signal == syscall.SIGINT {
				return
			} else if e.code != console.ExitGivenUp && e.code != console.ExitAnswered {
				t.Fatalf("exit %d: %s", e.code, e.text)
			}
		}
		t.Error("a second signal never killed")
	})
	if text := string(run("budget")); !strings.Contains(text, " cancelled") || strings.Contains(text, "failed") {
		t.Error(text)
	}
}

// heedHangups lets commands that a test starts heed SIGHUP, though the test was started with it ignored, as by nohup: what
// a process handles is not ignored in those that it starts.
func heedHangups(t *testing.T) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
}

// What is started with signals ignored, as by nohup, goes on through them.
func TestIgnoredSignals(t *testing.T) {
	heedHangups(t)
	for _, ignored := range []bool{true, false} {
		args := []string{"-c", `trap "" HUP; exec dither audit laplace --runs 300000`}
		if !ignored {
			args[1] = strings.TrimPrefix(args[1], `trap "" HUP; `)
		}
		cmd := exec.Command("sh", args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			for sleep(300*time.Millisecond, done) {
				_ = cmd.Process.Signal(syscall.SIGHUP) // it may have ended
			}
		}()
		_ = cmd.Wait()
		close(done)
		if code := cmd.ProcessState.ExitCode(); ignored && code != console.ExitAnswered || !ignored && code == console.ExitAnswered {
			t.Errorf("ignored %v: exit %d: %s", ignored, code, out.String())
		}
	}
}
