package collector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// computed are results that serve all readers for a while.
type computed struct {
	text  []byte
	of    string // the parameters
	n     int64  // of reports
	until time.Time
}

// read is GET /v1/results.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	if !s.permitted(w, r, s.options.ReadToken) {
		return
	}
	text, status, err := s.resultsOf(r)
	if err != nil {
		failResults(w, status, err)
		return
	}
	answerText(w, http.StatusOK, text)
}

func failResults(w http.ResponseWriter, status int, err error) {
	code := "results"
	if status == http.StatusTooManyRequests {
		code = "too_many"
	}
	fail(w, status, code, "%v", err)
}

// errOften refuses results with unusual parameters.
var errOften = errors.New("results with other parameters were computed moments ago; try again")

// resultsOf returns results as JSON. Those with the default parameters are computed at most once a tick, and so are
// those with any others. The time between two computations is at least that of the first one, so that readers who vary
// the parameters cannot occupy the machine.
func (s *Server) resultsOf(r *http.Request) (text []byte, status int, err error) {
	for name, values := range r.URL.Query() {
		if name != "confidence" && name != "malicious" || len(values) > 1 {
			return nil, http.StatusBadRequest, fmt.Errorf(
				"the parameter %.40q is unknown, or there twice: results have confidence and malicious", name)
		}
	}
	confidence, malicious := .95, int64(-1)
	if v := r.URL.Query().Get("confidence"); v != "" {
		if confidence, err = strconv.ParseFloat(v, 64); err != nil || !(confidence > 0 && confidence < 1) {
			return nil, http.StatusBadRequest, errors.New("confidence must be above 0 and below 1")
		}
	}
	if v := r.URL.Query().Get("malicious"); v != "" {
		if malicious, err = strconv.ParseInt(v, 10, 64); err != nil || malicious < 0 {
			return nil, http.StatusBadRequest, errors.New("malicious must be a whole number of reports, such as 10")
		}
	}
	s.results.Lock()
	defer s.results.Unlock()
	of, last := fmt.Sprint(confidence, " ", malicious), &s.unusual
	if confidence == .95 && malicious < 0 {
		last = &s.usual
	}
	begun := time.Now()
	if begun.Before(last.until) {
		if last.of != of {
			return nil, http.StatusTooManyRequests, errOften
		}
		return last.text, http.StatusOK, nil
	}
	n, err := s.store.Reports()
	if err == nil && last.of == of && last.n == n {
		last.until = begun.Add(s.options.Tick) // other readers need not count the reports again
		return last.text, http.StatusOK, nil
	}
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	results, err := s.store.Results(confidence, Malicious(malicious))
	if err == nil {
		text, err = json.Marshal(results.Short(shortest))
	}
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	ended := time.Now()
	*last = computed{text, of, results.Reports, ended.Add(max(s.options.Tick, ended.Sub(begun)))}
	return text, http.StatusOK, nil
}

// mostStreams limits the streams at the same time. It is above the connections of an address, so that one address does
// not keep the results from others.
const mostStreams = 2048

// stream is GET /v1/results/stream: an event with the results now, and one whenever they have changed.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if !s.permitted(w, r, s.options.ReadToken) {
		return
	}
	if !s.enter() {
		fail(w, http.StatusServiceUnavailable, "busy", "at most %d streams of results are open", mostStreams)
		return
	}
	defer s.leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Time{}) != nil { // the deadline of the request would end the stream
		return
	}
	tick := time.NewTicker(s.options.Tick)
	defer tick.Stop()
	var sent []byte // shared with other readers
	quiet := 0
	for {
		text, status, err := s.resultsOf(r)
		if errors.Is(err, errOften) && sent != nil {
			text, err = sent, nil // a later tick has newer ones
		}
		if err != nil {
			if sent == nil {
				failResults(w, status, err)
			}
			return
		}
		event := []string{": no change\n\n"} // keeps the connection open
		if !bytes.Equal(text, sent) {
			sent, quiet = text, 0
			event = []string{"event: results\ndata: ", "\n\n"}
		} else {
			quiet++
		}
		if quiet%15 == 0 && !s.send(w, control, event, sent) {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.stop:
			return
		}
	}
}

// send sends the texts, with data between them, and reports whether the reader is there.
func (s *Server) send(w io.Writer, control *http.ResponseController, event []string, data []byte) bool {
	if control.SetWriteDeadline(time.Now().Add(s.options.BodyTimeout)) != nil {
		return false
	}
	for i, text := range event {
		if i > 0 {
			if _, err := w.Write(data); err != nil { // JSON with escaped <, > and &, of a type that no browser renders
				return false
			}
		}
		if _, err := io.WriteString(w, text); err != nil {
			return false
		}
	}
	return control.Flush() == nil
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams >= mostStreams {
		return false
	}
	s.streams++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams--
}
