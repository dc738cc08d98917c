package collector

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"dither/local/survey"
)

// Options configure a Server. The zero value of a limit stands for its default.
type Options struct {
	SubmitToken string       // the bearer token of those who send reports; "" for everybody
	ReadToken   string       // the bearer token of those who read results; "" for everybody
	Page        http.Handler // serves the paths outside /v1/; nil for none
	TLS         *tls.Config  // nil for HTTP without encryption

	MaxBody        int64         // bytes of a request; default 1 MiB
	MaxBatch       int           // reports of a request; default 10,000
	MaxBytes       int64         // bytes of all requests in progress; default 256 MiB
	MaxDropped     int64         // bytes of refused requests that are read in a minute; default 256 MiB
	Rate           float64       // accepted requests to /v1/reports a second, after a burst of as many; default unlimited
	MaxConnections int           // at the same time; default 12,000. Others are closed at once.
	PerAddress     int           // connections of an address at the same time (a /64 of IPv6); default 256, −1 for any
	HeaderTimeout  time.Duration // for the header of a request; default 5 s
	BodyTimeout    time.Duration // for a whole request; default 30 s
	Tick           time.Duration // between results of a stream; default 1 s
}

func (o *Options) fill() {
	fill := func(x *time.Duration, d time.Duration) {
		if *x == 0 {
			*x = d
		}
	}
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	if o.MaxBatch == 0 {
		o.MaxBatch = 10_000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 256 << 20
	}
	if o.MaxDropped == 0 {
		o.MaxDropped = 256 << 20
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 12_000
	}
	if o.PerAddress == 0 {
		o.PerAddress = 256
	}
	fill(&o.HeaderTimeout, 5*time.Second)
	fill(&o.BodyTimeout, 30*time.Second)
	fill(&o.Tick, time.Second)
}

// Server receives reports over HTTP. It stores and logs no addresses.
type Server struct {
	store   *Store
	options Options
	http    *http.Server
	stop    chan struct{} // closed when streams must end

	mu       sync.Mutex
	bytes    int64  // of requests in progress
	requests bucket // of the rate
	dropped  bucket // of bytes of refused requests

	declared sync.Once // makes the public form of the survey
	text     []byte
	wrong    error

	results sync.Mutex // held while results are computed
	usual   computed   // with the default parameters
	unusual computed   // with others
	streams int
}

// NewServer returns a server of a store.
func NewServer(st *Store, o Options) *Server {
	o.fill()
	s := &Server{
		store: st, options: o, stop: make(chan struct{}), requests: newBucket(o.Rate, max(o.Rate, 1)),
		dropped: newBucket(float64(o.MaxDropped)/60, float64(o.MaxDropped)),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/reports", s.receive)
	mux.HandleFunc("GET /v1/survey", s.declaration)
	mux.HandleFunc("GET /v1/results", s.read)
	mux.HandleFunc("GET /v1/results/stream", s.stream)
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "there is no such address, or not with this method")
	})
	if o.Page != nil {
		mux.Handle("/", o.Page)
	}
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: o.HeaderTimeout, ReadTimeout: o.BodyTimeout, WriteTimeout: 2 * o.BodyTimeout,
		IdleTimeout: 2 * o.BodyTimeout, MaxHeaderBytes: 16 << 10,
	}
	s.http.ErrorLog = silent()
	return s
}

// Handler returns the handler of all requests, without limits of connections.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve serves connections until Shutdown. Then the error is nil.
func (s *Server) Serve(l net.Listener) error {
	l = newLimited(l, s.options.MaxConnections, s.options.PerAddress)
	if s.options.TLS != nil {
		l = tls.NewListener(l, s.options.TLS)
	}
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown accepts no more connections, ends streams, and waits for the requests in progress.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.mu.Unlock()
	return s.http.Shutdown(ctx)
}

// failure is the JSON of an error.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	answerText(w, status, text)
}

// answerText answers with JSON. It does not copy the text, which may have megabytes and be that of many answers.
func answerText(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) //nolint:gosec // it is JSON, and says so; a client that is gone needs no answer
	_, _ = io.WriteString(w, "\n")
}

func fail(w http.ResponseWriter, status int, code, format string, args ...any) {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	answer(w, status, map[string]failure{"error": {code, fmt.Sprintf(format, args...)}})
}

// mostDropped limits the bytes of a refused request's body that the server reads.
const mostDropped = 64 << 20

// refuse answers a request whose body is not wanted. It first reads the body and drops it, because most clients send
// all of it before they read the answer: they would see a reset connection instead. A client with the header Expect
// waits for the answer, and sends nothing. The server reads a limited number of such bytes in a minute. Beyond it, the
// connection is closed, so refused clients cannot occupy the network and the processors.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, code, format string, args ...any) {
	if r.Header.Get("Expect") == "" && !s.drop(r.Body) {
		w.Header().Set("Connection", "close")
	}
	fail(w, status, code, format, args...)
}

// drop reads a body within the limits, and reports whether it has ended.
func (s *Server) drop(body io.Reader) bool {
	const part = 64 << 10
	for range mostDropped / part {
		s.mu.Lock()
		ok := s.dropped.take(part)
		s.mu.Unlock()
		if !ok {
			return false
		}
		n, err := io.CopyN(io.Discard, body, part)
		if err != nil { // a client that stops earlier needs no answer
			s.mu.Lock()
			s.dropped.left += float64(part - n)
			s.mu.Unlock()
			return true
		}
	}
	return false
}

// permitted checks the bearer token, in a time that does not depend on its characters.
func (s *Server) permitted(w http.ResponseWriter, r *http.Request, token string) bool {
	if token == "" {
		return true
	}
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	if bearer && subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	s.refuse(w, r, http.StatusUnauthorized, "unauthorized", "the header Authorization: Bearer TOKEN is missing or wrong")
	return false
}

// take takes one request from the rate.
func (s *Server) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Rate <= 0 || s.requests.take(1)
}

// reserve reserves bytes of bodies.
func (s *Server) reserve(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+bytes > s.options.MaxBytes {
		return false
	}
	s.bytes += bytes
	return true
}

// piece is the number of bytes of a body that are reserved together, before they arrive.
const piece = 32 << 10

// errBusy means that too many bytes of bodies are in progress.
var errBusy = errors.New("collector: too many reports are in progress")

// body reads a body of at most MaxBody bytes, beyond which `from` fails. It reserves bytes as they arrive, so that clients
// who announce much and send nothing keep little from others. The caller releases the reserved bytes, also after an error.
func (s *Server) body(from io.Reader) (data []byte, reserved int64, err error) {
	var beyond [1]byte // for the end of a body of MaxBody bytes
	for {
		if more := min(piece, s.options.MaxBody-reserved); more > 0 && int64(len(data)) == reserved {
			if !s.reserve(more) {
				return nil, reserved, errBusy
			}
			reserved += more
			data = slices.Grow(data, int(more))
		}
		room := data[len(data):reserved]
		if len(room) == 0 {
			room = beyond[:]
		}
		n, err := from.Read(room)
		data = data[:min(int64(len(data)+n), reserved)]
		switch {
		case errors.Is(err, io.EOF):
			return data, reserved, nil
		case err != nil:
			return nil, reserved, err
		}
	}
}

func (s *Server) release(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= bytes
}

// BinaryType is the media type of reports in the binary form.
const BinaryType = "application/vnd.dither.reports"

type refusedJSON struct {
	Index  int    `json:"index"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

type receivedJSON struct {
	Accepted int           `json:"accepted"`
	Refused  []refusedJSON `json:"refused"`
}

// receive is POST /v1/reports.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) {
	if !s.permitted(w, r, s.options.SubmitToken) {
		return
	}
	if r.ContentLength > s.options.MaxBody {
		s.refuse(w, r, http.StatusRequestEntityTooLarge, survey.TooLarge, "a request has at most %d bytes", s.options.MaxBody)
		return
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && kind != BinaryType {
		s.refuse(w, r, http.StatusUnsupportedMediaType, "media_type", "reports are application/json or %s", BinaryType)
		return
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		s.refuse(w, r, http.StatusUnsupportedMediaType, "media_type",
			"the header Content-Encoding is %.40q: send reports without an encoding", coding)
		return
	}
	if !s.take() {
		s.refuse(w, r, http.StatusTooManyRequests, "too_many", "at most %g requests a second are accepted", s.options.Rate)
		return
	}
	data, reserved, err := s.body(http.MaxBytesReader(w, r.Body, s.options.MaxBody))
	defer s.release(reserved)
	tooLarge := (*http.MaxBytesError)(nil)
	switch {
	case errors.Is(err, errBusy):
		s.refuse(w, r, http.StatusServiceUnavailable, "busy", "too many reports are in progress")
		return
	case errors.As(err, &tooLarge):
		s.refuse(w, r, http.StatusRequestEntityTooLarge, survey.TooLarge, "a request has at most %d bytes", s.options.MaxBody)
		return
	case err != nil:
		fail(w, http.StatusBadRequest, survey.Malformed, "the body is incomplete, or came too slowly")
		return
	}
	s.add(w, r, kind, data)
}

func (s *Server) add(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	now, of := s.store.now(), s.store.survey
	switch {
	case s.store.Early(now):
		fail(w, http.StatusForbidden, "early", "reports are accepted from %s", of.Opens.UTC().Format(time.RFC3339))
		return
	case s.store.Late(now):
		fail(w, http.StatusForbidden, "late", "reports were accepted until %s", of.Closes.UTC().Format(time.RFC3339))
		return
	}
	read := of.ReadJSON
	if kind == BinaryType {
		read = of.ReadBinary
	}
	batch, err := read(data, s.options.MaxBatch)
	if why := (*survey.Refusal)(nil); errors.As(err, &why) {
		status := map[string]int{
			survey.Malformed: http.StatusBadRequest, survey.TooLarge: http.StatusRequestEntityTooLarge,
			survey.WrongVersion: http.StatusUnprocessableEntity, survey.AnotherSurvey: http.StatusConflict,
		}[why.Code]
		fail(w, status, why.Code, "%s", why.Reason)
		return
	} else if err != nil {
		fail(w, http.StatusInternalServerError, "internal", "internal error")
		return
	}
	// A client that goes away does not cancel the commit of its reports.
	fresh, err := s.store.Add(context.WithoutCancel(r.Context()), batch.Reports)
	switch {
	case errors.Is(err, ErrOver):
		fail(w, http.StatusForbidden, "late", "%v", ErrOver)
		return
	case errors.Is(err, ErrFull):
		fail(w, http.StatusInsufficientStorage, "full", "the collector's disk is full; nothing of this request was stored")
		return
	case errors.Is(err, ErrBusy), errors.Is(err, ErrClosed):
		fail(w, http.StatusServiceUnavailable, "busy", "nothing of this request was stored: %v", err)
		return
	case err != nil:
		fail(w, http.StatusInternalServerError, "store", "the collector cannot write; nothing of this request was stored")
		return
	}
	s.acknowledge(w, batch, fresh)
}

// acknowledge answers a request whose fresh reports are durable.
func (s *Server) acknowledge(w http.ResponseWriter, batch survey.Batch, fresh []bool) {
	out := receivedJSON{Refused: []refusedJSON{}}
	refused := map[int]refusedJSON{}
	for _, f := range batch.Refused {
		refused[f.Index] = refusedJSON{f.Index, f.Code, f.Reason}
	}
	for i, ok := range fresh {
		if ok {
			out.Accepted++
			continue
		}
		refused[batch.At[i]] = refusedJSON{batch.At[i], "duplicate", "a report with this id was accepted before"}
	}
	for i := range batch.Len() {
		if f, ok := refused[i]; ok {
			out.Refused = append(out.Refused, f)
		}
	}
	status := http.StatusOK
	if out.Accepted == 0 {
		switch out.Refused[0].Code {
		case "duplicate":
			status = http.StatusConflict
		case survey.Malformed:
			status = http.StatusBadRequest
		default:
			status = http.StatusUnprocessableEntity
		}
	}
	answer(w, status, out)
}

// declaration is GET /v1/survey.
func (s *Server) declaration(w http.ResponseWriter, _ *http.Request) {
	s.declared.Do(func() { s.text, s.wrong = json.Marshal(s.store.survey) })
	if s.wrong != nil {
		fail(w, http.StatusInternalServerError, "internal", "internal error")
		return
	}
	answerText(w, http.StatusOK, s.text)
}
