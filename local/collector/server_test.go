package collector_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/local/collector"
	"dither/local/survey"
)

func open(t *testing.T, text string) (*collector.Store, *survey.Survey) {
	t.Helper()
	s := must(survey.Parse([]byte(text)))
	st := must(collector.Open(filepath.Join(t.TempDir(), "store"), s))
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st, s
}

// ask sends a request with a token, and returns the status and the code of the first refusal or error.
func ask(t *testing.T, h http.Handler, method, path, kind, token string, body []byte) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out struct {
		Error   struct{ Code string }
		Refused []struct{ Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	if len(out.Refused) > 0 {
		return w.Code, out.Refused[0].Code
	}
	return w.Code, out.Error.Code
}

func TestServerRefusesWithAReason(t *testing.T) {
	st, s := open(t, strings.Replace(declaration, "version: 1\nq",
		"version: 1\nwindow: {opens: 2026-12-01T00:00:00Z, closes: 2026-12-31T00:00:00Z, skew: 1m}\nq", 1))
	now := s.Opens
	st.SetNow(func() time.Time { return now })
	h := collector.NewServer(st, collector.Options{
		SubmitToken: "submit", ReadToken: "read", MaxBody: 5000, MaxBatch: 20, MaxBytes: 6000,
	}).Handler()
	const kind = "application/json"
	one := must(s.JSON(reports(s, 1)[0]))
	bad := reports(s, 2)
	bad[1].Answers[0] = []byte{0xc0}
	for _, of := range []struct {
		name         string
		at           time.Time
		method, path string
		kind, token  string
		body         []byte
		status       int
		code         string
	}{
		{"early", s.Opens.Add(-61 * time.Second), "POST", "/v1/reports", kind, "submit", one, 403, "early"},
		{"skew before", s.Opens.Add(-59 * time.Second), "POST", "/v1/reports", kind, "submit", one, 200, ""},
		{"replayed", s.Opens, "POST", "/v1/reports", kind, "submit", one, 409, "duplicate"},
		{"skew after", s.Closes.Add(59 * time.Second), "POST", "/v1/reports", kind, "submit", one, 409, "duplicate"},
		{"late", s.Closes.Add(61 * time.Second), "POST", "/v1/reports", kind, "submit", one, 403, "late"},
		{"no token", s.Opens, "POST", "/v1/reports", kind, "", one, 401, "unauthorized"},
		{"read token", s.Opens, "POST", "/v1/reports", kind, "read", one, 401, "unauthorized"},
		{"submit token", s.Opens, "GET", "/v1/results", "", "submit", nil, 401, "unauthorized"},
		{"stream", s.Opens, "GET", "/v1/results/stream", "", "submit", nil, 401, "unauthorized"},
		{"results", s.Opens, "GET", "/v1/results", "", "read", nil, 200, ""},
		{"confidence", s.Opens, "GET", "/v1/results?confidence=2", "", "read", nil, 400, "results"},
		{"type", s.Opens, "POST", "/v1/reports", "text/plain", "submit", one, 415, "media_type"},
		{"malformed", s.Opens, "POST", "/v1/reports", kind, "submit", one[1:], 400, survey.Malformed},
		{"empty", s.Opens, "POST", "/v1/reports", kind, "submit", nil, 400, survey.Malformed},
		{"large", s.Opens, "POST", "/v1/reports", kind, "submit", make([]byte, 5001), 413, survey.TooLarge},
		{"many", s.Opens, "POST", "/v1/reports", collector.BinaryType, "submit", s.Binary(reports(s, 21)), 413, survey.TooLarge},
		{"partly", s.Opens, "POST", "/v1/reports", collector.BinaryType, "submit", s.Binary(bad), 200, survey.InvalidReport},
		{"method", s.Opens, "PUT", "/v1/reports", kind, "submit", one, 404, "not_found"},
		{"path", s.Opens, "GET", "/v1/other", "", "read", nil, 404, "not_found"},
		{"survey", s.Opens, "GET", "/v1/survey", "", "", nil, 200, ""},
		{"health", s.Opens, "GET", "/v1/health", "", "", nil, 200, ""},
	} {
		now = of.at
		if status, code := ask(t, h, of.method, of.path, of.kind, of.token, of.body); status != of.status || code != of.code {
			t.Errorf("%s: %d %q, want %d %q", of.name, status, code, of.status, of.code)
		}
	}
	if n := must(st.Reports()); n != 2 {
		t.Errorf("%d reports are stored", n)
	}
}

// Beyond its rate, the server refuses requests. The second one would be due after a quarter of an hour.
func TestRate(t *testing.T) {
	st, s := open(t, declaration)
	h := collector.NewServer(st, collector.Options{Rate: 1e-3}).Handler()
	for i, want := range []int{200, 429} {
		if status, _ := ask(t, h, "POST", "/v1/reports", collector.BinaryType, "", s.Binary(reports(s, 1))); status != want {
			t.Errorf("request %d: %d", i, status)
		}
	}
}

// A stream sends results now and after a change. Connections beyond the limit are closed, and slow ones end.
func TestStreamsAndSlowConnections(t *testing.T) {
	st, s := open(t, declaration)
	server := collector.NewServer(st, collector.Options{
		Tick: 5 * time.Millisecond, HeaderTimeout: 300 * time.Millisecond, MaxConnections: 40, PerAddress: -1,
	})
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	url := "http://" + l.Addr().String()
	stream, err := http.Get(url + "/v1/results/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewReader(stream.Body)
	next := func() (n int64) {
		for {
			data, event := strings.CutPrefix(must(lines.ReadString('\n')), "data: ")
			if event {
				var out struct{ N int64 }
				if err := json.Unmarshal([]byte(data), &out); err != nil {
					t.Fatal(err)
				}
				return out.N
			}
		}
	}
	if n := next(); n != 0 {
		t.Errorf("the stream begins with %d reports", n)
	}
	must(st.Add(t.Context(), reports(s, 5)))
	if n := next(); n != 5 {
		t.Errorf("the stream goes on with %d reports", n)
	}
	var slow []net.Conn
	for range 100 { // most are beyond the limit
		c := must(net.Dial("tcp", l.Addr().String()))
		_, _ = io.WriteString(c, "POST /v1/reports HTTP/1.1\r\nHost: x\r\n")
		slow = append(slow, c)
	}
	for _, c := range slow { // the server closes each of them
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
	answer, err := http.Post(url+"/v1/reports", collector.BinaryType, bytes.NewReader(s.Binary(reports(s, 5))))
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("after slow connections: %d", answer.StatusCode)
	}
	if n := next(); n != 10 {
		t.Errorf("the stream goes on with %d reports", n)
	}
	if err := server.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
