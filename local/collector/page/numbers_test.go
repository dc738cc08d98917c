package page_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/local/collector"
	"dither/local/collector/page"
	"dither/local/survey"
)

// A question about a number, asked by a real collector: the page clamps and randomizes the number, the collector accepts
// the report, and the page shows the mean. With ε = 40, the report is within 0.01 of the number. The typed number never
// leaves the page.
func TestPageAsksForNumbers(t *testing.T) {
	s, err := survey.Parse([]byte(`
survey: 1
name: sleep
version: 1
questions:
  - {name: hours, text: "How many hours do you sleep?", bounds: [-2.5, 12], mechanism: piecewise, epsilon: 40}
  - {name: dream, values: [yes, no], mechanism: krr, epsilon: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	st, err := collector.Open(filepath.Join(t.TempDir(), "store"), s)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	handler := collector.NewServer(st, collector.Options{Page: page.Handler(page.Standard)}).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			f.mu.Lock()
			f.bodies = append(f.bodies, string(body))
			f.mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		handler.ServeHTTP(w, r)
	}))
	f.Server = server
	defer func() {
		server.CloseClientConnections() // the stream of results
		server.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	b := start(t)
	sum := 0.0
	var messages []string
	for i, of := range []struct {
		typed string
		want  float64
	}{{typed, 7.2519375183}, {"99", 12}, {"-1e3", -2.5}} {
		visit(b, f, false)
		b.eval(`document.getElementById("q0").value = "` + of.typed + `"; document.querySelector("input[name=q1]").click()`)
		if valid := b.eval(`document.getElementById("form").checkValidity()`); valid != true {
			t.Fatalf("%s is no valid number", of.typed)
		}
		b.eval(submit)
		text := b.eval(message).(string)
		messages = append(messages, text)
		var message struct{ Answers map[string]string }
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		packed, err := hex.DecodeString(message.Answers["hours"])
		if err != nil {
			t.Fatal(err)
		}
		r := s.Questions[0].Numbers
		report, err := r.Unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		x, err := r.Value(report)
		if err != nil {
			t.Fatal(err)
		}
		center, half := s.Questions[0].Scale()
		if got := center + half*x; math.Abs(got-of.want) > .01 {
			t.Errorf("%s becomes %v, want %v", of.typed, got, of.want)
		}
		sum += of.want
		b.eval(`document.getElementById("send").click(); ` + until(`document.getElementById("status").textContent.startsWith("Thank you")`))
		if n, err := st.Reports(); err != nil || n != int64(i+1) {
			t.Fatalf("%d reports after %d, %v", n, i+1, err)
		}
	}
	visit(b, f, true)
	b.eval(until(`document.getElementById("count").textContent.startsWith("3 ")`))
	row := b.eval(`document.querySelector("#charts tbody tr").innerText`).(string)
	if !strings.HasPrefix(row, "3") || !strings.Contains(row, "5.") { // (7.25 + 12 − 2.5)/3 = 5.58
		t.Errorf("the mean %v is shown as %q", sum/3, row)
	}
	if head := b.eval(`document.querySelector("#charts thead").innerText`).(string); !strings.Contains(head, "−2.5 to 12") {
		t.Errorf("the axis is %q", head)
	}
	if err := b.complaints(); err != nil {
		t.Error(err)
	}
	network(t, b, f, messages)
	untold(t, b, messages)
}

// typed is a number whose digits cannot be in a message by chance: 8 given digits are in one with a
// probability below 3e-8.
const typed = "7.2519375183"

// untold checks the browser's log of its requests: the typed number is nowhere in them, and a message has no members but
// the two randomized reports, a random id and members that are the same for all.
func untold(t *testing.T, b *browser, messages []string) {
	t.Helper()
	requests := slices.Concat(b.seen("Network.requestWillBeSent"), b.seen("Network.requestWillBeSentExtraInfo"))
	if len(requests) < len(messages) {
		t.Fatalf("the log has %d requests", len(requests))
	}
	_, fraction, _ := strings.Cut(typed, ".")
	for _, text := range requests {
		for _, told := range []string{typed, "7" + fraction, fraction[:8]} {
			if strings.Contains(string(text), told) {
				t.Errorf("a request has the number %s: %s", told, text)
			}
		}
	}
	form := regexp.MustCompile(`^\{"version":1,"survey":"([0-9a-f]{32})","id":"[0-9a-f]{32}","answers":\{"hours":"([0-9a-f]+)","dream":"(00|80)"\}\}$`)
	first := form.FindStringSubmatch(messages[0])
	for _, m := range messages {
		if parts := form.FindStringSubmatch(m); parts == nil || parts[1] != first[1] || len(parts[2]) != len(first[2]) {
			t.Errorf("a message is %s", m)
		}
	}
}
