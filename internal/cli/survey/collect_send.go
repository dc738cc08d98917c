package survey

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	declared "dither/local/survey"
)

// collectSend randomizes the answers of a file on this machine, and sends the reports. It saves the reports before it
// sends them, and sends saved ones if there are any: another randomization of the same answers would reveal more, and be
// counted again.
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
	if o.reports == "" {
		o.reports = o.in + ".reports"
	}
	reports, saved, err := o.reportsOf(s)
	if err != nil {
		return err
	}
	if saved {
		s.Note("sending the reports of %s, which were drawn earlier\n", o.reports)
	}
	sender := sender{s: s, survey: o.survey, url: to.JoinPath("v1", "reports").String(), token: token}
	for part := reports; len(part) > 0; part = part[min(int(size), len(part)):] {
		if err := sender.send(part[:min(int(size), len(part))]); err != nil {
			return err
		}
	}
	if s.Format == "json" {
		return s.JSON(map[string]int{"accepted": sender.accepted, "duplicate": sender.duplicate})
	}
	text := ""
	if sender.duplicate > 0 {
		text = fmt.Sprintf(", and %s were accepted before", render.ShortInt(int64(sender.duplicate)))
	}
	s.Print("%s accepted by %s%s\n", render.Plural(sender.accepted, "report"), to.Host, text)
	return nil
}

// reportsOf returns the saved reports about the answers of --in. If there are none, it randomizes the answers, and saves
// the reports. If several commands do so at once, one of them saves its reports, and the others send these.
func (o *collectOptions) reportsOf(s *console.Console) (reports []declared.Report, saved bool, err error) {
	answers, err := answersOf(o.in, o.survey)
	if err != nil {
		return nil, false, err
	}
	if data, err := os.ReadFile(o.reports); err == nil { // it may be in a folder that is read-only
		reports, err = o.matching(data, len(answers))
		return reports, true, err
	}
	var input error // of the file of reports, which its name does not explain
	err = console.Exclusive(s.Context(), o.reports, func(data []byte) error {
		if saved = data != nil; saved {
			reports, input = o.matching(data, len(answers))
			return nil
		}
		for _, values := range answers {
			r, err := o.survey.Randomize(values)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		return console.ReplaceDurably(o.reports, o.survey.Binary(reports))
	})
	if err != nil && s.Context().Err() == nil {
		err = console.Usage("--reports: %v", err)
	}
	return reports, saved, errors.Join(input, err)
}

// matching reads saved reports about n people's answers.
func (o *collectOptions) matching(data []byte, n int) ([]declared.Report, error) {
	reports, err := savedReports(o.survey, o.reports, data)
	if err == nil && len(reports) != n {
		err = console.Usage("%s has %s, but %s has %s: put the new answers in a file of their own", o.reports,
			render.Plural(len(reports), "report"), o.in, render.Plural(n, "answer"))
	}
	return reports, err
}

// savedReports reads a file of reports in the binary form.
func savedReports(v *declared.Survey, file string, data []byte) ([]declared.Report, error) {
	if len(data) == 0 {
		return nil, console.Usage("%s is empty: if it had reports that were sent, restore them, "+
			"because new ones reveal more; if not, remove it", file)
	}
	b, err := v.ReadBinary(data, len(data))
	switch {
	case err != nil:
		return nil, console.Usage("%s has no saved reports of this survey: %v", file, err)
	case len(b.Refused) > 0:
		return nil, console.Usage("%s: report %d is damaged: %s", file, b.Refused[0].Index+1, b.Refused[0].Reason)
	}
	return b.Reports, nil
}

// answersOf reads the answers of all people.
func answersOf(name string, v *declared.Survey) (answers [][]declared.Answer, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, console.Usage("%v", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	rows := csv.NewReader(file)
	rows.ReuseRecord = true
	columns, err := columnsOf(rows, name, v)
	if err != nil {
		return nil, err
	}
	for {
		values, err := answersOfOne(rows, name, v, columns)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, values)
	}
	if len(answers) == 0 {
		return nil, console.Usage("%s has no answers", name)
	}
	return answers, nil
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
			if strings.TrimPrefix(name, "\ufeff") != v.Questions[i].Name {
				continue
			}
			if at >= 0 {
				return nil, console.Usage("%s has two columns %s", file, name)
			}
			at = j
		}
		if at < 0 {
			return nil, console.Usage("%s has no column %s: a report answers all questions", file, v.Questions[i].Name)
		}
		columns = append(columns, at)
	}
	return columns, nil
}

// answersOfOne reads the answers of one person.
func answersOfOne(rows *csv.Reader, file string, v *declared.Survey, columns []int) ([]declared.Answer, error) {
	row, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, console.Usage("%s: %v", file, err)
	}
	values := make([]declared.Answer, len(columns))
	for i, at := range columns {
		if values[i], err = v.Questions[i].AnswerOf(row[at]); err != nil {
			line, _ := rows.FieldPos(at)
			return nil, console.Usage("%s: line %d: %v", file, line, err)
		}
	}
	return values, nil
}
