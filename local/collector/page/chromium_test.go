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

// chromium is a headless Chromium, driven through its DevTools protocol: messages in JSON over two pipes. All tests
// share it.
var chromium struct {
	start   sync.Once
	wrong   error
	out     io.Writer
	stop    func()
	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	events  map[string][]event // by session
}

type event struct {
	SessionID, Method string
	Params            json.RawMessage
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

var errMissing = errors.New("chromium is missing")

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// launch starts Chromium.
func launch() error {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return errMissing
	}
	profile, err := os.MkdirTemp("", "dither-page")
	if err != nil {
		return err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	commands, out, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
		"--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{commands, theirs} // its descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		return err
	}
	_, _ = commands.Close(), theirs.Close()
	chromium.out, chromium.waiting, chromium.events = out, map[int]chan reply{}, map[string][]event{}
	go read(ours)
	chromium.stop = func() {
		_ = out.Close() // Chromium ends with its pipe
		_ = cmd.Wait()
		_ = ours.Close()
		_ = os.RemoveAll(profile)
	}
	return nil
}

// read receives replies and events, until Chromium ends.
func read(in io.Reader) {
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
		chromium.mu.Lock()
		if m.ID == 0 {
			chromium.events[m.SessionID] = append(chromium.events[m.SessionID], m.event)
		} else if c := chromium.waiting[m.ID]; c != nil {
			c <- m.reply
		}
		chromium.mu.Unlock()
	}
}

// browser is a new profile of Chromium, with one page.
type browser struct {
	t                *testing.T
	session, profile string
}

// start opens an empty page. If Chromium is missing, the test is skipped, or fails where it must be present.
func start(t *testing.T) *browser {
	t.Helper()
	chromium.start.Do(func() { chromium.wrong = launch() })
	switch {
	case errors.Is(chromium.wrong, errMissing) && os.Getenv("DITHER_TEST_NEEDS_CHROMIUM") == "":
		t.Skip("NOT CHECKED: Chromium is missing, so the page is not tried")
	case chromium.wrong != nil:
		t.Fatal(chromium.wrong)
	}
	b := &browser{t: t}
	var profile struct{ BrowserContextID string }
	b.call("Target.createBrowserContext", nil, &profile)
	b.profile = profile.BrowserContextID
	t.Cleanup(func() {
		b.session = ""
		b.call("Target.disposeBrowserContext", map[string]any{"browserContextId": b.profile}, nil)
	})
	return b.tab()
}

// tab opens another empty page of the profile.
func (b *browser) tab() *browser {
	b.t.Helper()
	tab := &browser{t: b.t, profile: b.profile}
	var target struct{ TargetID string }
	tab.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": b.profile}, &target)
	var attached struct{ SessionID string }
	tab.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	tab.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Accessibility"} {
		tab.call(domain+".enable", nil, nil)
	}
	return tab
}

// call runs a command.
func (b *browser) call(method string, params any, into any) {
	b.t.Helper()
	c := make(chan reply, 1)
	chromium.mu.Lock()
	chromium.last++
	id := chromium.last
	chromium.waiting[id] = c
	chromium.mu.Unlock()
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
	if _, err := chromium.out.Write(append(text, 0)); err != nil {
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
	chromium.mu.Lock()
	defer chromium.mu.Unlock()
	for _, e := range chromium.events[b.session] {
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
