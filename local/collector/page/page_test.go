package page_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dither/local"
	"dither/local/collector/page"
	"dither/privacy"
)

const question = "Did you ever ride without a ticket?"

// fake is a collector, which keeps everything that it receives. It estimates the first question, of two values.
type fake struct {
	*httptest.Server
	t      *testing.T
	survey map[string]any
	oracle *local.Oracle
	mu     sync.Mutex
	tally  *local.Tally
	bodies []string
	refuse bool
	others []any // the results of further questions
}

func serve(t *testing.T, epsilon string, more ...map[string]any) *fake {
	t.Helper()
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := local.New(local.Params{Mechanism: "krr", Values: 2, Epsilon: e})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]any{"name": "ticket", "text": question, "k": 2, "values": []string{"no", "yes"}, "mechanism": "krr", "epsilon": epsilon}
	f := &fake{t: t, oracle: oracle, tally: oracle.NewTally(), survey: map[string]any{
		"version": 1, "digest": "d1", "name": "Tickets", "survey_version": 1, "skew_seconds": 0, "reports": 1,
		"report_epsilon": epsilon, "lifetime_epsilon": epsilon, "questions": append([]map[string]any{first}, more...),
	}}
	mux := http.NewServeMux()
	mux.Handle("/", page.Handler(page.Standard))
	mux.HandleFunc("GET /v1/survey", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(f.survey)
	})
	mux.HandleFunc("POST /v1/reports", f.add)
	mux.HandleFunc("GET /v1/results/stream", f.results)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// add stores a message, as far as it is one.
func (f *fake) add(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || len(r.Cookies()) > 0 || r.URL.RawQuery != "" || r.Header.Get("Authorization") != "Bearer s3nd" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse {
		w.WriteHeader(http.StatusInsufficientStorage)
		_, _ = io.WriteString(w, `{"error":{"code":"full","message":"the store is full"}}`)
		return
	}
	if slices.Contains(f.bodies, string(body)) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"accepted":0,"refused":[{"index":0,"code":"duplicate","reason":"a report with this id was accepted before"}]}`)
		return
	}
	var m struct{ Answers map[string]string }
	err = json.Unmarshal(body, &m)
	report, err2 := hex.DecodeString(m.Answers["ticket"])
	if err := errors.Join(err, err2, f.tally.Add(report)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.bodies = append(f.bodies, string(body))
	w.WriteHeader(http.StatusAccepted)
}

// results sends one event with the estimates, and closes the connection.
func (f *fake) results(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer r3ad" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	estimates, err := f.tally.Estimate(.95)
	if err != nil {
		f.t.Error(err)
	}
	var values []map[string]any
	for _, e := range estimates {
		values = append(values, map[string]any{"value": []string{"no", "yes"}[e.Value], "malicious": map[string]any{"low": e.Low - 3, "high": e.High + 3}, "estimate": e.Count, "stddev": e.Stddev, "low": e.Low, "high": e.High})
	}
	n := f.tally.Reports()
	text, err := json.Marshal(map[string]any{"n": n, "malicious": 1, "questions": append([]any{map[string]any{"name": "ticket", "values": values}}, f.others...)})
	if err != nil {
		f.t.Error(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, ": hello\nevent: results\ndata: %s\n\n", text)
}

// fragment of the page's address has the tokens.
const fragment = "/#submit=s3nd&read=r3ad"

// visit opens the page, and waits until it has loaded. The person is a new one, without storage, unless again.
func visit(b *browser, f *fake, again bool) {
	b.t.Helper()
	if !again {
		b.eval(`location.protocol === "http:" &&
			new Promise((done) => { indexedDB.deleteDatabase("dither").onsuccess = done; })`)
	}
	loaded, method, params := len(b.seen("Page.loadEventFired")), "Page.navigate", map[string]any{"url": f.URL + fragment}
	if b.eval(`location.href`) == params["url"] { // navigating would only look for the fragment
		method, params = "Page.reload", nil
	}
	b.call(method, params, nil)
	for deadline := time.Now().Add(time.Minute); len(b.seen("Page.loadEventFired")) == loaded; {
		if time.Now().After(deadline) {
			b.t.Fatal("the page did not load in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	b.eval(until(`!document.getElementById("status").textContent.includes("loading")`))
}

// kept returns the text that the browser keeps about the survey, or nil if it keeps none.
func kept(b *browser) any {
	b.t.Helper()
	return b.eval(transaction(`const got = store.get("dither survey d1"); got.onsuccess = () => done(got.result)`))
}

// keep replaces this text.
func keep(b *browser, text string) {
	b.t.Helper()
	put := fmt.Sprintf(`store.put(%q, "dither survey d1"); store.transaction.oncomplete = () => done()`, text)
	b.eval(transaction(put))
}

// transaction is a promise that a script fulfils, about the store that the page has made.
func transaction(script string) string {
	return `new Promise((done) => {
		const opening = indexedDB.open("dither", 1);
		opening.onsuccess = () => {
			const store = opening.result.transaction("kept", "readwrite").objectStore("kept");
			opening.result.close(); // after the transaction
			` + script + `;
		};
	})`
}

// until is a promise that a condition holds.
func until(condition string) string {
	return fmt.Sprintf(`new Promise((done, fail) => {
		const end = Date.now() + 60000;
		(function look() {
			if (%s) done(true);
			else if (Date.now() > end) fail(new Error("not in a minute"));
			else setTimeout(look, 2);
		})();
	})`, condition)
}

// submit presses the form's button, and waits for the message or for the reason why there is none.
var (
	submit = `document.querySelector("#form button").click(); ` + drawn
	drawn  = until(`!document.getElementById("preview").hidden || document.getElementById("status").textContent`)
)

// message is the message that the page shows.
const message = `document.getElementById("message").textContent`

// answer answers the question, and returns the message that the page shows before it sends it.
func answer(b *browser, yes bool) string {
	b.t.Helper()
	v := 0
	if yes {
		v = 1
	}
	b.eval(fmt.Sprintf(`document.querySelectorAll("input[name=q0]")[%d].click(); `, v) + submit)
	message := b.eval(message).(string)
	b.eval(`document.getElementById("send").click(); ` + until(`document.getElementById("status").textContent.startsWith("Thank you")`))
	return message
}

var shown = regexp.MustCompile(`([−\d.]+) %\s*([−\d.]+) to ([−\d.]+) %`)

// chart returns the estimate of "yes" and its interval, as the page shows them once it counts n people.
func chart(b *browser, n int) (share, low, high float64) {
	b.t.Helper()
	b.eval(until(fmt.Sprintf(`document.getElementById("count").textContent.startsWith("%d ")`, n)))
	text := b.eval(`document.querySelector("#charts tbody tr:nth-child(2) td").innerText`).(string)
	parts := shown.FindStringSubmatch(strings.ReplaceAll(text, "\u00a0", " "))
	if parts == nil {
		b.t.Fatalf("the chart shows %q", text)
	}
	var numbers [3]float64
	for i := range numbers {
		numbers[i], _ = strconv.ParseFloat(strings.ReplaceAll(parts[i+1], "−", "-"), 64)
	}
	return numbers[0] / 100, numbers[1] / 100, numbers[2] / 100
}

// Made-up people answer a sensitive question in the page: the chart closes in on the truth, and the answers never leave
// the page. Statistical checks are within 5.5 standard deviations: a false alarm of 4e-8 for each.
func TestPeopleAnswer(t *testing.T) {
	people := 16
	if os.Getenv("DITHER_LONG") != "" {
		people = 1000
	}
	f, b := serve(t, "2"), start(t)
	rode := 0
	var messages []string
	var answers []bool
	width := 2.0
	for i := range people {
		visit(b, f, false)
		yes := i%10 < 3
		if yes {
			rode++
		}
		messages, answers = append(messages, answer(b, yes)), append(answers, yes)
		if n := i + 1; n == people/4 || n == people {
			visit(b, f, true)
			share, low, high := chart(b, n)
			truth := float64(rode) / float64(n)
			deviation := math.Sqrt(f.oracle.Variance(int64(n), truth))
			t.Logf("%d people: %.3f, from %.3f to %.3f; the truth is %.3f", n, share, low, high, truth)
			if math.Abs(share-truth) > 5.5*deviation+.005 {
				t.Errorf("after %d people, the chart shows %v; the truth is %v ± %v", n, share, truth, deviation)
			}
			if high-low > .75*width {
				t.Errorf("after %d people, the interval is as wide as %v; before, it was %v", n, high-low, width)
			}
			width = high - low
		}
	}
	network(t, b, f, messages)
	leaks(t, f, messages, answers)
	if err := b.complaints(); err != nil {
		t.Error(err)
	}
	coupled(t, b, f)
}

// network checks the browser's log of its requests: the page loads its own files, and sends the shown messages and
// nothing else.
func network(t *testing.T, b *browser, f *fake, messages []string) {
	t.Helper()
	own := map[string]bool{"/": true, "/v1/survey": true, "/v1/results/stream": true, "/icon.svg": true}
	for _, name := range []string{"page.css", "page.js", "collector.js", "index.js", "core.js"} {
		own["/"+name] = true
	}
	var sent []string
	for _, text := range b.seen("Network.requestWillBeSent") {
		var e struct {
			Request struct {
				URL, Method, PostData string
				HasPostData           bool
				Headers               map[string]string
			}
		}
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		path, here := strings.CutPrefix(e.Request.URL, f.URL)
		switch r := e.Request; {
		case here && r.Method == http.MethodPost && path == "/v1/reports":
			sent = append(sent, r.PostData)
			for name := range r.Headers {
				if !strings.Contains(" authorization cache-control pragma content-type user-agent referer accept sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform origin ", " "+strings.ToLower(name)+" ") {
					t.Errorf("the page sends the header %s", name)
				}
			}
		case !here || r.Method != http.MethodGet || r.HasPostData || !own[path]:
			t.Errorf("the page requests %s %s", r.Method, r.URL)
		}
	}
	for _, kind := range []string{"Network.webSocketCreated", "Network.webTransportCreated", "Network.directTCPSocketCreated"} {
		if n := len(b.seen(kind)); n > 0 {
			t.Errorf("%s: %d", kind, n)
		}
	}
	var windows struct {
		TargetInfos []struct{ BrowserContextID, URL string }
	}
	b.call("Target.getTargets", nil, &windows)
	for _, w := range windows.TargetInfos {
		if w.BrowserContextID == b.profile && w.URL != f.URL+fragment && !strings.HasPrefix(w.URL, "chrome:") {
			t.Errorf("the page opened %s", w.URL)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if all := strings.Join(messages, "\n"); strings.Join(sent, "\n") != all || strings.Join(f.bodies, "\n") != all {
		t.Errorf("%d messages were shown, %d sent and %d received, or they differ", len(messages), len(sent), len(f.bodies))
	}
}

// leaks checks that messages depend on the answers only through the randomizer: a message has a report, and members
// that are the same for all or random.
func leaks(t *testing.T, f *fake, messages []string, answers []bool) {
	t.Helper()
	form := regexp.MustCompile(`^\{"version":1,"survey":"d1","id":"([0-9a-f]{32})","answers":\{"ticket":"(00|80)"\}\}$`)
	same, equal := 0, make([]int, 128)
	for i, message := range messages {
		parts := form.FindStringSubmatch(message)
		if parts == nil {
			t.Fatalf("a message is %s", message)
		}
		if (parts[2] == "80") == answers[i] {
			same++
		}
		id, _ := hex.DecodeString(parts[1])
		for j := range equal {
			if id[j/8]>>(j%8)&1 == 1 == answers[i] {
				equal[j]++
			}
		}
	}
	near := func(what string, got int, p float64) {
		n := float64(len(messages))
		if math.Abs(float64(got)-n*p) > 5.5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%s agrees with the answer in %d of %v messages, not in a share of %v", what, got, n, p)
		}
	}
	p, _ := f.oracle.Support()
	truth, _ := p.Float64()
	near("the report", same, truth)
	for j, n := range equal {
		near(fmt.Sprintf("bit %d of the id", j), n, .5)
	}
}

// coupled replaces the browser's random bytes. A lie about one answer is then the same message as the truth about the
// other one, byte for byte: a message has nothing of the answer but the report.
func coupled(t *testing.T, b *browser, f *fake) {
	t.Helper()
	message := func(yes bool, fill int) string {
		var script struct{ Identifier string }
		b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{
			"source": fmt.Sprintf(`crypto.getRandomValues = (a) => a.fill(a.length === 16 ? 7 : %d)`, fill), // an id has 16
		}, &script)
		visit(b, f, false)
		b.call("Page.removeScriptToEvaluateOnNewDocument", map[string]any{"identifier": script.Identifier}, nil)
		return answer(b, yes)
	}
	yes, no := message(true, 255), message(false, 255) // the greatest number is above every coin, and so no lie
	if yes == no {
		t.Errorf("the truth is %s for both answers", yes)
	}
	if lie := message(false, 0); lie != yes {
		t.Errorf("a lie is %s, but the truth about the other answer is %s", lie, yes)
	}
	if lie := message(true, 0); lie != no {
		t.Errorf("a lie is %s, but the truth about the other answer is %s", lie, no)
	}
}

// The page works with a keyboard alone, draws a message once, keeps it through a reload and a failure, and asks nobody
// twice.
func TestMessageIsDrawnOnce(t *testing.T) {
	f, b := serve(t, "1"), start(t)
	visit(b, f, false)
	focus := func() string { return b.eval(`document.activeElement.id || document.activeElement.tagName`).(string) }
	b.eval(`document.body.focus()`)
	b.key("Tab", "Tab", 9, "")
	b.key(" ", "Space", 32, " ")
	if checked := b.eval(`document.querySelector("input:checked").value`); checked != "0" {
		t.Errorf("the space bar chose %v", checked)
	}
	b.key("ArrowDown", "ArrowDown", 40, "")
	if checked := b.eval(`document.querySelector("input:checked").value`); checked != "1" {
		t.Errorf("the arrow chose %v", checked)
	}
	b.key("Tab", "Tab", 9, "")
	b.key("Enter", "Enter", 13, "\r")
	b.eval(drawn)
	if at := focus(); at != "preview-title" {
		t.Errorf("the focus is at %s, not at the heading of the message", at)
	}
	message := b.eval(`document.getElementById("message").textContent`).(string)
	if f.received() != 0 {
		t.Error("a message left before the person sent it")
	}
	if chosen := b.eval(`document.querySelector("input:checked")`); chosen != nil {
		t.Error("the form keeps the answer")
	}
	visit(b, f, true)
	if again := b.eval(`document.getElementById("message").textContent`); again != message {
		t.Errorf("after a reload, the message is %v, not %s", again, message)
	}
	// another tab that still asks shows this message too
	keep(b, `{"drawn":0,"body":null}`)
	visit(b, f, true)
	keep(b, fmt.Sprintf(`{"drawn":1,"body":%q}`, message))
	b.eval(`document.querySelector("input[name=q0]").click(); ` + submit)
	if other := b.eval(`document.getElementById("message").textContent`); other != message {
		t.Errorf("another tab draws %v, not %s", other, message)
	}
	f.refuses(true)
	b.eval(`document.getElementById("send").focus()`)
	b.key("Enter", "Enter", 13, "\r")
	b.eval(until(`document.getElementById("status").textContent.includes("accepted: the store is full.")`))
	f.refuses(false)
	b.eval(`document.getElementById("send").click(); ` + until(`document.getElementById("status").textContent.startsWith("Thank you")`))
	// the answer to the message was lost: sending it again succeeds, and it is counted once
	keep(b, fmt.Sprintf(`{"drawn":1,"body":%q}`, message))
	visit(b, f, true)
	b.eval(`document.getElementById("send").click(); ` + until(`document.getElementById("status").textContent.startsWith("Thank you")`))
	visit(b, f, true)
	if visible := b.eval(`document.getElementById("ask").checkVisibility() || document.getElementById("preview").checkVisibility()`); visible != false {
		t.Error("the page asks a person twice")
	}
	if f.received() != 1 || f.bodies[0] != message {
		t.Errorf("the collector received %q, not %s", f.bodies, message)
	}
}

// A question that is repeated has the memory of a device: later, the same answer is the same report. The browser draws
// no more messages than the survey allows. If it stores nothing, nothing is drawn.
func TestRepeatedQuestions(t *testing.T) {
	b := start(t)
	f := serve(t, "1", map[string]any{
		"name": "again", "text": "Did you ride without a ticket this week?", "k": 2, "values": []string{"no", "yes"}, "mechanism": "dbit",
		"epsilon": "1", "positions": 2,
	})
	f.survey["reports"] = 5
	again := func(first, yes bool) string {
		visit(b, f, !first)
		b.eval(fmt.Sprintf(`document.querySelector("input[name=q1][value='%d']").click()`, map[bool]int{true: 1}[yes]))
		return regexp.MustCompile(`"again":"([0-9a-f]+)"`).FindStringSubmatch(answer(b, true))[1]
	}
	first, second, third := again(true, true), again(false, true), again(false, false)
	if first != second {
		t.Errorf("the same answer is reported as %s and then as %s", first, second)
	}
	if again(false, false) != third {
		t.Error("the memory of an answer is lost")
	}
	visit(b, f, true)
	b.eval(`IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };
		for (const name of ["q0", "q1"]) document.querySelector("input[name=" + name + "]").click();` + submit)
	status := func() string { return b.eval(`document.getElementById("status").textContent`).(string) }
	if !strings.Contains(status(), "Nothing was sent") {
		t.Errorf("without storage, the page says %q", status())
	}
	if again(false, true) != first {
		t.Error("the memory of an earlier answer is lost")
	}
	visit(b, f, true)
	if status() != "You have answered this survey." || f.received() != 5 {
		t.Errorf("after %d of 5 messages, the page says %q", f.received(), status())
	}
	f.survey["digest"], f.survey["closes"] = "d2", "2020-01-01T00:00:00Z"
	visit(b, f, true)
	if !strings.Contains(status(), "closed at 2020") {
		t.Errorf("after its end, the page says %q", status())
	}
}

// The collector's clock and the allowance decide about the window of a survey, not the browser's clock.
func TestWrongClock(t *testing.T) {
	b, f := start(t), serve(t, "1")
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `Date.now = () => 1e12;`}, nil) // in 2001
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for i, of := range []struct {
		opens, closes time.Duration
		skew          int
		want          string
	}{
		{-time.Hour, time.Hour, 0, ""},
		{time.Minute, time.Hour, 0, "opens at"},
		{time.Minute, time.Hour, 300, ""},
		{-time.Hour, -time.Minute, 0, "closed at"},
		{-time.Hour, -time.Minute, 300, ""},
	} {
		f.survey["opens"], f.survey["closes"], f.survey["skew_seconds"] = at(of.opens), at(of.closes), of.skew
		visit(b, f, i > 0)
		status := b.eval(`document.getElementById("status").textContent`).(string)
		hidden := b.eval(`document.getElementById("ask").hidden`).(bool)
		if !strings.Contains(status, of.want) || (status == "") != (of.want == "") || hidden != (of.want != "") {
			t.Errorf("from %v to %v, with %d s: hidden %v, %q", of.opens, of.closes, of.skew, hidden, status)
		}
	}
}

// If the browser stores nothing, the number of messages has no bound: nothing is drawn, and another attempt fails too.
func TestCountIsStored(t *testing.T) {
	b, f := start(t), serve(t, "1")
	f.survey["reports"] = 2
	visit(b, f, false)
	b.eval(`IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };
		document.querySelector("input[name=q0]").click()`)
	for range 2 {
		b.eval(`document.getElementById("status").textContent = ""; ` + submit)
		if hidden := b.eval(`document.getElementById("preview").hidden`); hidden != true {
			t.Error("without storage, the page shows a message")
		}
	}
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{
		"source": `IDBFactory.prototype.open = () => { throw new DOMException("denied", "SecurityError"); }`,
	}, nil)
	visit(b, f, true)
	hidden := b.eval(`document.getElementById("ask").hidden`)
	status := b.eval(`document.getElementById("status").textContent`).(string)
	if hidden != true || !strings.Contains(status, "stores nothing") {
		t.Errorf("without storage, the page asks, or says %q", status)
	}
}

// While one tab draws, another one waits: it then shows the message of the first, and draws none.
func TestTabsDrawOneMessage(t *testing.T) {
	b, f := start(t), serve(t, "1")
	visit(b, f, false)
	other := b.tab()
	visit(other, f, true)
	b.eval(`new Promise((held) => { ` + transaction(`
		globalThis.release = null;
		const text = JSON.stringify({ drawn: 1, body: '{"answers":{"ticket":"00"}}' });
		(function hold() { // a transaction lasts while it is asked
			if (release) store.put(text, "dither survey d1").onsuccess = release;
			else store.get("").onsuccess = hold;
			held();
		})()`) + ` })`)
	other.eval(`document.querySelector("input[name=q0]").click(); document.querySelector("#form button").click()`)
	for range 50 { // far longer than a tab needs that does not wait
		if text := other.eval(message); text != "" {
			t.Fatalf("a tab that should wait has drawn %v", text)
		}
	}
	b.eval(`new Promise((done) => { globalThis.release = done; })`)
	other.eval(drawn)
	if text := other.eval(message); text != `{"answers":{"ticket":"00"}}` {
		t.Errorf("the tab that waited shows %v", text)
	}
	for i := range 3 { // at once, and usually in two processes
		keep(b, `{"drawn":0,"body":null}`)
		for _, tab := range []*browser{b, other} {
			visit(tab, f, true)
			tab.eval(`document.querySelector("input[name=q0]").click()`)
		}
		for _, tab := range []*browser{b, other} {
			tab.eval(`setTimeout(() => document.querySelector("#form button").click(), 20)`)
		}
		b.eval(drawn)
		other.eval(drawn)
		one, two, state := b.eval(message), other.eval(message), kept(b).(string)
		if one != two || !strings.HasPrefix(state, `{"drawn":1,`) {
			t.Errorf("round %d: two tabs draw %v and %v: %s", i, one, two, state)
		}
	}
}

func (f *fake) received() int    { f.mu.Lock(); defer f.mu.Unlock(); return len(f.bodies) }
func (f *fake) refuses(yes bool) { f.mu.Lock(); defer f.mu.Unlock(); f.refuse = yes }

// hostile texts of a survey are texts on the page.
const hostile = `<img src=x onerror="document.title='broken'"> & "quotes"`

// The page is accessible: names and roles, contrast of all texts, no motion, a language, no horizontal scrolling. With
// DITHER_PICTURES=DIR it writes pictures of the page.
func TestPageIsAccessible(t *testing.T) {
	var many []string
	for i := range 24 {
		many = append(many, fmt.Sprintf("region %d", i+1))
	}
	b := start(t)
	f := serve(t, "1",
		map[string]any{"name": "how", "text": hostile, "k": 3, "values": []string{"by bus", "by train", hostile}, "mechanism": "oue", "epsilon": "1"},
		map[string]any{"name": "where", "text": "Where do you live?", "k": 24, "values": many, "mechanism": "olh", "epsilon": "1"},
		map[string]any{"name": "hours", "text": "How many hours did you travel last week?", "k": 169, "mechanism": "hr", "epsilon": "1"})
	var regions []any
	for i := range many {
		regions = append(regions, map[string]any{"value": many[i], "estimate": 10 - i, "stddev": 3, "low": 4 - i, "high": 16 - i, "malicious": map[string]any{"low": 3 - i, "high": 17 - i}})
	}
	f.others = []any{map[string]any{"name": "where", "values": regions}}
	for range 40 {
		report, err := f.oracle.Randomize(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.tally.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
			{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
		}}, nil)
		for _, width := range []int{320, 1280} {
			if os.Getenv("DITHER_LONG") == "" && scheme == "dark" == (width == 1280) {
				continue // the short form has light and wide, and dark and narrow
			}
			b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
			visit(b, f, false)
			b.eval(until(`document.querySelector("#charts table")`))
			if rows := b.eval(`document.querySelectorAll("#charts tr").length`); rows != float64(3+21) {
				t.Errorf("the charts have %v rows", rows)
			}
			look(b, fmt.Sprintf("ask-%s-%d", scheme, width))
			if scheme == "light" && width == 1280 {
				names(b)
			}
			b.eval(`
				for (const name of ["q0", "q1"]) document.querySelector("input[name=" + name + "]").click();
				document.getElementById("q2").value = "7";
				document.getElementById("q3").value = "1.2e1";` + submit)
			b.eval(`document.querySelector("details").open = true`)
			look(b, fmt.Sprintf("message-%s-%d", scheme, width))
		}
	}
	if err := b.complaints(); err != nil {
		t.Error(err)
	}
}

// names checks what a screen reader finds.
func names(b *browser) {
	b.t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.call("Accessibility.getFullAXTree", nil, &tree)
	found := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		found[fmt.Sprint(n.Role.Value, ": ", n.Name.Value)]++
		switch n.Role.Value {
		case "radio", "button", "combobox", "spinbutton", "group", "heading", "table", "columnheader", "rowheader", "image":
			if n.Name.Value == nil || n.Name.Value == "" {
				b.t.Errorf("a %v has no name", n.Role.Value)
			}
		}
	}
	for _, want := range []string{
		"heading: Tickets", "group: " + question, "radio: yes", "radio: " + hostile, "combobox: Where do you live?",
		"spinbutton: How many hours did you travel last week?", "button: Randomize my answers", "table: " + question, "rowheader: no",
	} {
		if found[want] == 0 {
			b.t.Errorf("a screen reader does not find %s", want)
		}
	}
}

// look checks the visible texts of the page, and takes a picture of it.
func look(b *browser, name string) {
	b.t.Helper()
	if lang := b.eval(`document.documentElement.lang`); lang != "en" {
		b.t.Errorf("the language is %v", lang)
	}
	if moving := b.eval(`document.getAnimations().length`); moving != float64(0) {
		b.t.Errorf("%s: %v animations", name, moving)
	}
	if wide := b.eval(`document.documentElement.scrollWidth > innerWidth`); wide != false {
		b.t.Errorf("%s scrolls to the side", name)
	}
	if title := b.eval(`document.title`); title != "Tickets" || b.eval(`document.querySelector("img")`) != nil {
		b.t.Errorf("%s: a text of the survey became markup", name)
	}
	bad := b.eval(`(() => {
		const numbers = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
		const light = (c) => {
			const [r, g, b] = numbers(c).map((x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const clear = (c) => c === "transparent" || numbers(c)[3] === 0;
		const bad = [];
		let seen = 0;
		for (const e of document.querySelectorAll("body *")) {
			const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
			if (!text || !e.checkVisibility() || e.tagName === "NOSCRIPT") continue;
			let under = e;
			while (clear(getComputedStyle(under).backgroundColor)) under = under.parentElement;
			const [a, b] = [getComputedStyle(e).color, getComputedStyle(under).backgroundColor].map(light).sort((a, b) => b - a);
			const ratio = (a + 0.05) / (b + 0.05);
			seen++;
			if (!(ratio >= 4.5)) bad.push(e.tagName + " " + e.textContent.slice(0, 40) + " " + ratio.toFixed(2));
		}
		return seen < 10 ? "only " + seen + " texts" : bad.join("; ");
	})()`)
	if bad != "" {
		b.t.Errorf("%s: low contrast: %v", name, bad)
	}
	if dir := os.Getenv("DITHER_PICTURES"); dir != "" {
		var shot struct{ Data string }
		b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
		picture, err := base64.StdEncoding.DecodeString(shot.Data)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// The handler serves its files with a policy of content, and nothing else.
func TestHandler(t *testing.T) {
	h := page.Handler(page.Paths{Survey: `"><script>`})
	for path, want := range map[string]int{
		"/": 200, "/page.js": 200, "/core.js": 200, "/page.html": 404, "/../page.go": 404, "/clients.go": 404, "/javascript/core.js": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, not %d", path, w.Code, want)
		}
		csp := w.Header().Get("Content-Security-Policy")
		if w.Code == 200 && (!strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http")) {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil)); strings.Contains(w.Body.String(), "><script>") {
		t.Error("a path became markup")
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
