package collector_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
		{"misspelt", s.Opens, "GET", "/v1/results?confidnce=.9", "", "read", nil, 400, "results"},
		{"two values", s.Opens, "GET", "/v1/results?malicious=1&malicious=2", "", "read", nil, 400, "results"},
		{"fraction", s.Opens, "GET", "/v1/results?malicious=.5", "", "read", nil, 400, "results"},
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

// A compressed body is refused as one.
func TestContentEncoding(t *testing.T) {
	st, s := open(t, declaration)
	r := httptest.NewRequest(http.MethodPost, "/v1/reports", bytes.NewReader(s.Binary(reports(s, 1))))
	r.Header.Set("Content-Type", collector.BinaryType)
	r.Header.Set("Content-Encoding", "gzip")
	w := httptest.NewRecorder()
	collector.NewServer(st, collector.Options{}).Handler().ServeHTTP(w, r)
	if w.Code != http.StatusUnsupportedMediaType || !strings.Contains(w.Body.String(), "Content-Encoding") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client that sends a refused body as a whole, and reads only then, receives the answer. One that waits for
// permission to send receives it at once.
func TestRefusedBodiesAreAnswered(t *testing.T) {
	st, _ := open(t, declaration)
	server := collector.NewServer(st, collector.Options{SubmitToken: "secret"})
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	const size = 40 << 20 // far more than the buffers of a connection
	body := strings.Repeat("x", size)
	length, token := fmt.Sprintf("Content-Length: %d\r\n", size), "Authorization: Bearer secret\r\n"
	for name, of := range map[string]struct{ header, body, want string }{
		"declared": {token + length, body, "413"},
		"chunked": {
			token + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body), "413",
		},
		"stranger": {length, body, "401"},
		"waiting":  {token + length + "Expect: 100-continue\r\n", "", "413"},
	} {
		c := must(net.Dial("tcp", l.Addr().String()))
		if _, err := io.WriteString(c, "POST /v1/reports HTTP/1.1\r\nHost: x\r\n"+of.header+"\r\n"+of.body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 "+of.want) {
			t.Errorf("%s: %q, %v", name, line, err)
		}
		_ = c.Close()
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Refused clients that send much make the server read a limited number of bytes in a minute. Then it closes their
// connections, and still accepts reports of others.
func TestRefusedBytesAreLimited(t *testing.T) {
	st, s := open(t, declaration)
	const most = 4 << 20
	server := collector.NewServer(st, collector.Options{SubmitToken: "secret", MaxDropped: most})
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	began, sent := time.Now(), int64(0)
	const clients, size = 10, 32 << 20
	for range clients {
		c := must(net.Dial("tcp", l.Addr().String()))
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = fmt.Fprintf(c, "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		n, _ := io.Copy(c, io.LimitReader(zeros{}, size)) // an error is the end of the connection
		sent += n
		_ = c.Close()
	}
	// buffers of the connections hold at most 8 MiB each
	if limit := most + int64(most*time.Since(began).Minutes()) + clients<<23; sent > limit {
		t.Errorf("the refused clients sent %d bytes, not at most %d", sent, limit)
	}
	body := s.Binary(reports(s, 5))
	r := must(http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/v1/reports", bytes.NewReader(body)))
	r.Header.Set("Content-Type", collector.BinaryType)
	r.Header.Set("Authorization", "Bearer secret")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("beside refused clients: %d", answer.StatusCode)
	}
	if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
		t.Error(err)
	}
}

// Clients that announce long bodies and send nothing do not keep others from sending.
func TestAnnouncedBytesAreNotReserved(t *testing.T) {
	st, s := open(t, declaration)
	server := collector.NewServer(st, collector.Options{MaxBytes: 4 << 20})
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	var idle []net.Conn
	for range 64 {
		c := must(net.Dial("tcp", l.Addr().String()))
		idle = append(idle, c)
		_ = must(fmt.Fprintf(c, "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n[", 1<<20))
	}
	for range 20 {
		body := s.Binary(reports(s, 50))
		answer, err := http.Post("http://"+l.Addr().String()+"/v1/reports", collector.BinaryType, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("beside clients that announce 64 MiB: %d, %v", answer.StatusCode, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, c := range idle {
		_ = c.Close()
	}
	if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
		t.Error(err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

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

// Readers who vary the parameters of results get one computation a tick, and do not keep the usual results from others.
func TestUnusualResults(t *testing.T) {
	st, s := open(t, declaration)
	must(st.Add(t.Context(), reports(s, 5)))
	h := collector.NewServer(st, collector.Options{Tick: time.Hour}).Handler()
	for i, of := range []struct {
		query, code string
		status      int
	}{
		{"?confidence=0.9", "", 200},
		{"", "", 200},
		{"?confidence=0.9", "", 200},
		{"?confidence=0.8", "too_many", 429},
		{"?malicious=3", "too_many", 429},
		{"?confidence=0.95", "", 200},
		{"?confidence=NaN", "results", 400},
	} {
		if status, code := ask(t, h, "GET", "/v1/results"+of.query, "", "", nil); status != of.status || code != of.code {
			t.Errorf("request %d, %s: %d %q", i, of.query, status, code)
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

// Ten thousand connections that send a byte now and then do not keep others waiting, and end when the time for their
// header is over. The collector is another process, because a process may often have 20,000 descriptors alone. The
// short form has 400 connections.
func TestTenThousandSlowConnections(t *testing.T) {
	n := 400
	if os.Getenv("DITHER_LONG") != "" {
		n = 10_000
	}
	s := must(survey.Parse([]byte(declaration)))
	child, addr := startChild(t, filepath.Join(t.TempDir(), "store"))
	defer func() { _ = child.Wait() }()
	defer func() { _ = child.Process.Kill() }()
	var slow []net.Conn
	for range n {
		c, err := net.Dial("tcp", addr)
		if errors.Is(err, syscall.EMFILE) {
			t.Skipf("NOT CHECKED: this process may open %d connections alone", len(slow))
		}
		slow = append(slow, must(c, err))
		_, _ = io.WriteString(c, "POST /v1/reports HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	open := 0
	for _, c := range slow { // an ended connection has its end to read
		_, _ = io.WriteString(c, "x")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Microsecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	asked := time.Now()
	if !posted(t, addr, s, reports(s, 5)) {
		t.Error("a report beside slow connections is not accepted")
	}
	t.Logf("beside %d slow connections, of which %d are open, a report takes %v", n, open, time.Since(asked))
	if 2*open < n {
		t.Errorf("%d of %d connections are open", open, n)
	}
	for _, c := range slow { // the server closes each of them
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a slow connection is open after a minute")
		}
		_ = c.Close()
	}
}

// The server closes connections of an address beyond its limit at once. When one ends, another may come.
func TestConnectionsOfAnAddress(t *testing.T) {
	st, _ := open(t, declaration)
	server := collector.NewServer(st, collector.Options{PerAddress: 3})
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	// health asks over a connection of its own, and reports whether the server answers. The connection stays open.
	health := func() (net.Conn, bool) {
		c := must(net.Dial("tcp", l.Addr().String()))
		_, _ = io.WriteString(c, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
		text, _ := bufio.NewReader(c).ReadString('\n')
		return c, strings.HasPrefix(text, "HTTP/1.1 200")
	}
	var all []net.Conn
	for i := range 5 {
		c, ok := health()
		if all = append(all, c); ok != (i < 3) {
			t.Errorf("connection %d: answered %v", i+1, ok)
		}
	}
	_ = all[0].Close()
	for tries := 0; ; tries++ { // until the server has noticed the end
		c, ok := health()
		if all = append(all, c); ok {
			break
		} else if tries == 1000 {
			t.Fatal("no connection is accepted after the end of another")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, c := range all {
		_ = c.Close()
	}
	if err := server.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
