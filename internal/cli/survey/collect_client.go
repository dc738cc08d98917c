package survey

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/collector"
	declared "dither/local/survey"
)

// sender sends reports to a collector.
type sender struct {
	s                   *console.Console
	survey              *declared.Survey
	url, token          string
	accepted, duplicate int
	client              http.Client
}

// send sends a batch. A request without an answer is repeated with the same reports, which are counted once.
func (c *sender) send(reports []declared.Report) error {
	body := c.survey.Binary(reports)
	for attempt := 1; ; attempt++ {
		again, err := c.post(body)
		if err == nil || !again || attempt == 5 {
			return err
		}
		select {
		case <-time.After(time.Duration(attempt) * 200 * time.Millisecond):
		case <-c.s.Context().Done():
			return c.s.Context().Err()
		}
	}
}

func (c *sender) post(body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(c.s.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", collector.BinaryType)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	c.client.Timeout = time.Minute
	answer, err := c.client.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return true, err
	}
	var out struct {
		Accepted int
		Refused  []struct{ Code, Reason string }
		Error    *struct{ Message string }
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return false, fmt.Errorf("the collector's answer is not understood (status %d)", answer.StatusCode)
	}
	if out.Error != nil {
		busy := answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests
		return busy, fmt.Errorf("the collector refuses the reports: %s", render.Printable(out.Error.Message))
	}
	c.accepted += out.Accepted
	for _, f := range out.Refused {
		if f.Code == "duplicate" {
			c.duplicate++
			continue
		}
		return false, fmt.Errorf("the collector refuses a report: %s", render.Printable(f.Reason))
	}
	return false, nil
}
