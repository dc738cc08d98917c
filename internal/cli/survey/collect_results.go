package survey

import (
	"fmt"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/local"
	"dither/local/collector"
)

// collectResults estimates from a store, also while a collector writes to it.
func collectResults(s *console.Console, o *collectOptions) (err error) {
	if err := o.storeFlag(); err != nil {
		return err
	}
	confidence, err := confidenceOf(o.confidence)
	if err != nil {
		return err
	}
	malicious := int64(-1)
	if o.malicious != "" {
		if malicious, err = console.WholeFlag("malicious", o.malicious, 0, local.MostReports); err != nil {
			return err
		}
	}
	if err := o.picture.Check(s); err != nil {
		return err
	}
	st, err := collector.Read(o.store, o.survey)
	if err != nil {
		return err
	}
	defer func() {
		if closing := st.Close(); err == nil {
			err = closing
		}
	}()
	r, err := st.Results(confidence, collector.Malicious(malicious))
	if err != nil {
		return err
	}
	if err := o.showResults(s, r); err != nil || o.picture.File == "" {
		return err
	}
	return console.DrawFile(o.picture.File, plot.Write, o.chart(r), "")
}

func (o *collectOptions) showResults(s *console.Console, r collector.Results) error {
	switch s.Format {
	case "json":
		return s.JSON(r)
	case "csv":
		records := [][]string{
			{"question", "value", "estimate", "stddev", "low", "high", "malicious_low", "malicious_high", "n"},
		}
		for _, q := range r.Questions {
			if e, m := q.Mean, q.SuspectMean; e != nil {
				records = append(records, []string{
					q.Question.Name, "mean", render.CSVFloat(&e.Mean), render.CSVFloat(&e.Stddev), render.CSVFloat(&e.Low),
					render.CSVFloat(&e.High), render.CSVFloat(&m.Low), render.CSVFloat(&m.High), fmt.Sprint(r.Reports),
				})
			}
			for i, e := range q.Estimates {
				m := q.Suspect[i]
				records = append(records, []string{
					q.Question.Name, q.Question.ValueName(e.Value), render.CSVFloat(&e.Count), render.CSVFloat(&e.Stddev),
					render.CSVFloat(&e.Low), render.CSVFloat(&e.High), render.CSVFloat(&m.Low), render.CSVFloat(&m.High),
					fmt.Sprint(r.Reports),
				})
			}
		}
		return s.CSV(records)
	}
	header := []string{
		"value", "people", "from", "to", "from, " + render.ShortInt(r.Malicious) + " malicious",
		"to, " + render.ShortInt(r.Malicious) + " malicious",
	}
	right := []bool{false, true, true, true, true, true}
	for _, q := range r.Short(mostRows).Questions {
		rows := resultRows(q)
		title := q.Question.Name
		if q.Question.Text != "" {
			title += ": " + q.Question.Text
		}
		words := o.resultWords(r, q) + foldedWords(r.Folded)
		header := header
		if q.Mean != nil {
			header = append([]string{"mean", header[2]}, header[3:]...)
		}
		if s.Format == "markdown" {
			s.Print("%s\n%s\n%s\n", render.MarkdownParagraphs(title), render.MarkdownTable(header, right[:len(header)], rows),
				render.MarkdownParagraphs(words))
			continue
		}
		s.Print("%s\n\n%s\n%s\n", render.Printable(title), grid(header, rows, right[:len(header)]...), words)
	}
	return nil
}

func resultRows(q collector.QuestionResults) (rows [][]string) {
	if e, m := q.Mean, q.SuspectMean; e != nil {
		var row []string
		places := render.Decimals(max((e.High-e.Low)/2, 1e-12))
		for _, x := range []float64{e.Mean, e.Low, e.High, m.Low, m.High} {
			row = append(row, render.Fixed(x, places))
		}
		return [][]string{row}
	}
	for i, e := range q.Estimates {
		places, m := 0, q.Suspect[i]
		if half := (e.High - e.Low) / 2; half > 0 {
			places = render.Decimals(half)
		}
		row := []string{q.Question.ValueName(e.Value)}
		for _, x := range []float64{e.Count, e.Low, e.High, m.Low, m.High} {
			row = append(row, render.Fixed(x, places))
		}
		rows = append(rows, row)
	}
	return rows
}

func (o *collectOptions) resultWords(r collector.Results, q collector.QuestionResults) string {
	if q.Mean != nil {
		return fmt.Sprintf("%s by %s with ε = %s, about numbers from %s to %s. The %s interval covers the randomness of the\n"+
			"reports, and the sampling of their senders. The last two columns also hold if %s of the reports are\n"+
			"malicious: one moves the estimate by at most %s.\n", render.Plural(int(r.Reports), "report"), q.Question.Mechanism(),
			render.Given(q.Question.Epsilon().Rat()), q.Question.Low, q.Question.High, render.Percent(o.confidence),
			render.ShortInt(r.Malicious), render.TwoDigitsUp(q.Up))
	}
	p := q.Question.Oracle.Params()
	text := ""
	if hidden := p.Values - uint64(len(q.Estimates)); hidden > 0 {
		text = fmt.Sprintf("The table has the %d largest estimates of %d values: --format csv and json have all.\n",
			len(q.Estimates), p.Values)
	}
	return text + fmt.Sprintf("%s by %s with ε = %s. The %s intervals cover the randomness of the reports. The last two\n"+
		"columns also hold if %s of the reports are malicious: one raises an estimate by at most %s,\n"+
		"and lowers it by at most %s.\n", render.Plural(int(r.Reports), "report"), p.Mechanism,
		render.Given(q.Question.Epsilon().Rat()), render.Percent(o.confidence), render.ShortInt(r.Malicious),
		render.TwoDigitsUp(q.Up), render.TwoDigitsUp(q.Down))
}

// foldedWords states how many of the reports are counts alone, if any.
func foldedWords(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("The survey's retention has turned %s into counts.\n", render.Plural(int(n), "report"))
}

// chart draws at most 30 values of each of the first questions. Counts share a panel. Each mean has one of its own,
// because it has a unit of its own.
func (o *collectOptions) chart(r collector.Results) plot.Chart {
	c := plot.Chart{
		Title:   o.survey.Name,
		Caption: fmt.Sprintf("%d randomized reports, with %s intervals", r.Reports, render.Percent(o.confidence)),
		Key:     "question: value",
	}
	questions := r.Short(30).Questions
	questions = questions[:min(8, len(questions))]
	people := plot.Panel{Name: "people"}
	var means []plot.Panel
	var places []int // of the means among the groups
	var counts []plot.Mark
	for _, q := range questions {
		if e := q.Mean; e != nil {
			text := render.Fixed(e.Mean, render.Decimals(max((e.High-e.Low)/2, 1e-12)))
			mark := plot.Mark{Value: e.Mean, Low: e.Low, High: e.High, Text: text}
			means = append(means, plot.Panel{Name: "mean of " + q.Question.Name, Points: true, Marks: [][]plot.Mark{{mark}}})
			places = append(places, len(c.Groups))
			c.Groups, counts = append(c.Groups, q.Question.Name), append(counts, plot.Mark{Missing: true})
		}
		for _, e := range q.Estimates {
			name := q.Question.ValueName(e.Value)
			if len(questions) > 1 {
				name = q.Question.Name + ": " + name
			}
			c.Groups = append(c.Groups, name)
			counts = append(counts, plot.Mark{Value: e.Count, Low: e.Low, High: e.High, Text: render.Fixed(e.Count, 0)})
		}
	}
	if len(questions) == 1 {
		c.Title, c.Key = questions[0].Question.Text, "value"
		if c.Title == "" {
			c.Title = questions[0].Question.Name
		}
		if questions[0].Mean != nil {
			c.Key = ""
		}
	}
	if len(means) < len(questions) {
		people.Marks = [][]plot.Mark{counts}
		c.Panels = []plot.Panel{people}
	}
	for i, p := range means {
		all := make([]plot.Mark, len(c.Groups))
		for j := range all {
			all[j].Missing = true
		}
		all[places[i]] = p.Marks[0][0]
		p.Marks = [][]plot.Mark{all}
		c.Panels = append(c.Panels, p)
	}
	return c
}
