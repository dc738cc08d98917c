package page_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium, driven through its DevTools protocol: messages in JSON over two pipes.
type browser struct {
	t       *testing.T
	out     io.Writer
	session string
	last    int
	mu      sync.Mutex
	waiting map[int]chan reply
	events  []event
}

type event struct {
	Method string
	Params json.RawMessage
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// start starts Chromium with an empty page. If it is missing, the test is skipped, or fails where it must be present.
func start(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		if os.Getenv("DITHER_TEST_NEEDS_CHROMIUM") != "" {
			t.Fatal("Chromium is missing, and DITHER_TEST_NEEDS_CHROMIUM is set")
		}
		t.Skip("NOT CHECKED: Chromium is missing, so the page is not tried")
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commands, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
		"--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{commands, theirs} // its descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = commands.Close(), theirs.Close()
	b := &browser{t: t, out: out, waiting: map[int]chan reply{}}
	go b.read(ours)
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil)
		_ = cmd.Wait()
		_, _ = ours.Close(), out.Close()
	})
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			b.session = attached.SessionID
		}
	}
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Accessibility"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// read receives replies and events, until Chromium ends.
func (b *browser) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID int
			reply
			event
		}
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		if m.ID == 0 {
			b.events = append(b.events, m.event)
		} else if c := b.waiting[m.ID]; c != nil {
			c <- m.reply
		}
		b.mu.Unlock()
	}
}

// call runs a command.
func (b *browser) call(method string, params any, into any) {
	b.t.Helper()
	b.last++
	id, c := b.last, make(chan reply, 1)
	b.mu.Lock()
	b.waiting[id] = c
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	select {
	case r := <-c:
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(r.Result, into); err != nil {
				b.t.Fatal(err)
			}
		}
	case <-time.After(time.Minute):
		b.t.Fatalf("%s: no reply in a minute", method)
	}
}

// eval returns the value of an expression, after its promise if it is one.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s\n%s %s", expression, out.ExceptionDetails.Text, out.ExceptionDetails.Exception.Description)
	}
	return out.Result.Value
}

// key presses and releases a key, as a keyboard does.
func (b *browser) key(name, code string, number int, text string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": name, "code": code, "windowsVirtualKeyCode": number}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// seen returns the events of a kind so far.
func (b *browser) seen(method string) (out []json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Method == method {
			out = append(out, e.Params)
		}
	}
	return out
}

// complaints returns errors of the page: of scripts, of the console, and violations of the policy of its content.
func (b *browser) complaints() error {
	var all []string
	for _, kind := range []string{"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"} {
		for _, e := range b.seen(kind) {
			all = append(all, fmt.Sprintf("%s: %s", kind, e))
		}
	}
	if all == nil {
		return nil
	}
	return errors.New(strings.Join(all, "\n"))
}
