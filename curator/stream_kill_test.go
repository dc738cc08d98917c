package curator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killedDeclaration is the declaration of a stream that a killed process creates.
func (h *streamHome) killedDeclaration(name string) StreamDeclaration {
	d := h.declaration()
	d.Name, d.Rho = name, "9000"
	return d
}

// TestStreamsKilled kills processes by SIGKILL at each durable act of a stream, and goes on in another process. The price is
// charged once. Durable releases are recorded as they were drawn, and others leave nothing. In its long form, the test also
// kills processes at random times.
func TestStreamsKilled(t *testing.T) {
	if home := os.Getenv("DITHER_STREAM_HOME"); home != "" {
		streamUntilKilled(t, home)
		return
	}
	h := newStreamHome(t)
	streams := 0
	for _, at := range []string{"reserved", "started", "begun", "noted"} {
		name := "create_" + at
		streams++
		h.killed("stream "+at, "create", name)
		if _, err := h.owner.CreateStream(t.Context(), h.killedDeclaration(name)); codeOf(err) != CodeUsage ||
			!strings.Contains(err.Error(), "already a stream") {
			t.Errorf("%s: created again: %v", at, err)
		}
	}
	for _, at := range []string{"drawn", "durable", "recorded"} {
		streams++
		if _, err := h.owner.CreateStream(t.Context(), h.killedDeclaration("advance_"+at)); err != nil {
			t.Fatal(err)
		}
	}
	h.seal("1,1,north", "1,2,south", "2,3,north", "7,1,north", "8,1,south", "9,1,south") // the first three were there before
	drawn := map[string]string{}
	for _, at := range []string{"drawn", "durable", "recorded"} {
		name := "advance_" + at
		h.killed("stream "+at, "advance", name)
		drawn[name] = h.recordedOf(name)
		if in := h.releasedOf(name); (in != "[]") != (at == "recorded") || (drawn[name] != "[]") != (at != "drawn") {
			t.Errorf("%s: the ledger has %s, and the file %s", at, in, drawn[name])
		}
	}
	h.seal("7,1,north", "7,2,south") // counts in no period that was drawn
	all, err := h.owner.Streams(StreamOptions{})
	if err != nil || len(all) != streams {
		t.Fatal(len(all), err)
	}
	for _, s := range all {
		r, err := h.owner.AdvanceStream(t.Context(), s.Name, 0, StreamOptions{})
		if s.Name == "advance_recorded" { // its period is released
			r, err = h.owner.ReadStream(s.Name, StreamOptions{})
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		want := "1/1" // of the newest version; persons 8 and 9 were never seen
		if s.Name == "advance_durable" || s.Name == "advance_recorded" {
			want = "1/2"
			if h.releasedOf(s.Name) != drawn[s.Name] {
				t.Errorf("%s: drawn %s, released %s", s.Name, drawn[s.Name], h.releasedOf(s.Name))
			}
		}
		if got := roundedCounts(t, r); got != want {
			t.Errorf("%s: %s, want %s", s.Name, got, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(h.home, "streams", ".state-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if b, err := h.owner.Budget(); err != nil || b.Spent.Rho != fmt.Sprint(9000*streams) {
		t.Errorf("%+v, %v", b.Spent, err)
	}
	if os.Getenv("DITHER_LONG") != "" {
		h.killedAtRandom(80)
	}
}

// killed runs a command on a stream in another process, which is killed at a point, and opens the home again.
func (h *streamHome) killed(at, command, name string) {
	h.t.Helper()
	child := h.child(at, command, name)
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		h.t.Fatalf("%s %s: it was not killed at %s: %v\n%s", command, name, at, err, out)
	}
	h.open()
}

// child returns a process that runs a command on a stream.
func (h *streamHome) child(at, command, name string) *exec.Cmd {
	child := exec.Command(os.Args[0], "-test.run", "^TestStreamsKilled$")
	child.Env = append(os.Environ(), "DITHER_STREAM_HOME="+h.home, "DITHER_STREAM_KILL="+at, "DITHER_STREAM="+command+" "+name,
		"DITHER_STREAM_FROM="+h.from.Format(time.RFC3339), "DITHER_STREAM_CLOCK="+h.clock.Now().Format(time.RFC3339))
	return child
}

// streamUntilKilled runs a command on a stream, and kills its own process at a point.
func streamUntilKilled(t *testing.T, home string) {
	h := &streamHome{t: t, home: home, clock: newFakeClock()}
	h.from = must[time.Time](t)(time.Parse(time.RFC3339, os.Getenv("DITHER_STREAM_FROM")))
	h.clock.set(must[time.Time](t)(time.Parse(time.RFC3339, os.Getenv("DITHER_STREAM_CLOCK"))))
	*inside(nil).CrashPoint = func(point string) {
		if point == os.Getenv("DITHER_STREAM_KILL") {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	h.open()
	command, name, _ := strings.Cut(os.Getenv("DITHER_STREAM"), " ")
	if command == "create" {
		_, err := h.owner.CreateStream(t.Context(), h.killedDeclaration(name))
		t.Fatal("not killed", err)
	}
	_, err := h.owner.AdvanceStream(t.Context(), name, 0, StreamOptions{})
	t.Log("not killed", err) // killed at random times, the advance may have ended
}

// killedAtRandom kills advances of a stream at random times. No release ever changes, neither in the ledger nor, once it is
// durable, in the private file.
func (h *streamHome) killedAtRandom(kills int) {
	h.t.Helper()
	d := h.killedDeclaration("at_random")
	d.Every, d.Periods = "hour", 2*kills
	if _, err := h.owner.CreateStream(h.t.Context(), d); err != nil {
		h.t.Fatal(err)
	}
	released, recorded := "[]", "[]"
	grows := func(from, to, where string) {
		if !strings.HasPrefix(to, strings.TrimSuffix(from, "]")) {
			h.t.Errorf("%s: %s became %s", where, from, to)
		}
	}
	for i := range kills {
		h.clock.set(h.clock.Now().Add(time.Hour))
		child := h.child("", "advance", d.Name)
		if err := child.Start(); err != nil {
			h.t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		_ = child.Process.Kill()
		_ = child.Wait()
		h.open()
		in, file := h.releasedOf(d.Name), h.recordedOf(d.Name)
		grows(released, in, fmt.Sprint("the ledger, kill ", i))
		grows(recorded, file, fmt.Sprint("the file, kill ", i))
		grows(in, file, fmt.Sprint("the file after the ledger, kill ", i))
		released, recorded = in, file
	}
	h.clock.set(h.clock.Now().Add(time.Hour))
	if _, err := h.owner.AdvanceStream(h.t.Context(), d.Name, 0, StreamOptions{}); err != nil {
		h.t.Error(err)
	}
	grows(recorded, h.releasedOf(d.Name), "at the end")
}
