package survey

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/collector"
	declared "dither/local/survey"
)

// collectSend randomizes the answers of a file on this machine, and sends the reports.
func collectSend(s *console.Console, o *collectOptions) error {
	to, err := url.Parse(o.to)
	if o.to == "" || err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return console.Usage("--to must be the address of a collector, such as https://survey.example.org")
	}
	size, err := console.WholeFlag("batch", o.batch, 1, 10_000)
	if err != nil {
		return err
	}
	token, err := tokenOf("submit-token", o.submit)
	if err != nil {
		return err
	}
	if o.in == "" {
		return console.Usage("--in is missing: the CSV file of answers")
	}
	file, err := os.Open(o.in)
	if err != nil {
		return console.Usage("%v", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	rows := csv.NewReader(file)
	rows.ReuseRecord = true
	columns, err := columnsOf(rows, o.in, o.survey)
	if err != nil {
		return err
	}
	sender := sender{s: s, survey: o.survey, url: to.JoinPath("v1", "reports").String(), token: token}
	var reports []declared.Report
	for done := false; !done; {
		values, err := answersOf(rows, o.in, o.survey, columns)
		if done = errors.Is(err, io.EOF); !done {
			if err != nil {
				return err
			}
			r, err := o.survey.Randomize(values)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		if len(reports) == int(size) || done && len(reports) > 0 {
			if err := sender.send(reports); err != nil {
				return err
			}
			reports = reports[:0]
		}
	}
	if s.Format == "json" {
		return s.JSON(map[string]int{"accepted": sender.accepted, "refused": sender.refused})
	}
	s.Print("%s accepted by %s\n", render.Plural(sender.accepted, "report"), to.Host)
	return nil
}

// columnsOf reads the header of the answers, and returns the column of each question.
func columnsOf(rows *csv.Reader, file string, v *declared.Survey) (columns []int, err error) {
	header, err := rows.Read()
	if err != nil {
		return nil, console.Usage("%s: %v", file, err)
	}
	for i := range v.Questions {
		at := -1
		for j, name := range header {
			if strings.TrimPrefix(name, "\ufeff") == v.Questions[i].Name {
				at = j
			}
		}
		if at < 0 {
			return nil, console.Usage("%s has no column %s: a report answers all questions", file, v.Questions[i].Name)
		}
		columns = append(columns, at)
	}
	return columns, nil
}

// answersOf reads the answers of one person.
func answersOf(rows *csv.Reader, file string, v *declared.Survey, columns []int) ([]uint64, error) {
	row, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, console.Usage("%s: %v", file, err)
	}
	values := make([]uint64, len(columns))
	for i, at := range columns {
		if values[i], err = v.Questions[i].ValueOf(row[at]); err != nil {
			line, _ := rows.FieldPos(at)
			return nil, console.Usage("%s: line %d: %v", file, line, err)
		}
	}
	return values, nil
}

// sender sends reports to a collector.
type sender struct {
	s                 *console.Console
	survey            *declared.Survey
	url, token        string
	accepted, refused int
	client            http.Client
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
		if f.Code == "duplicate" { // of an earlier attempt that was not answered
			c.accepted++
			continue
		}
		c.refused++
		return false, fmt.Errorf("the collector refuses a report: %s", render.Printable(f.Reason))
	}
	return false, nil
}
