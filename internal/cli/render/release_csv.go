package render

import (
	"strconv"

	"dither/curator"
)

// ReleaseRecords returns an answer as the records of a CSV file, with a header. Each measure has four columns: its
// value, NAME_stddev, NAME_low and NAME_high. Further columns repeat a text in each row: what bounds the answer, because
// the intervals are about the bounded data; notes, such as that noise picked the rows; and what the bounds cut, if that was
// estimated. A column without a text is left out.
func ReleaseRecords(r *curator.Release) [][]string {
	texts := csvTexts(r)
	out := [][]string{csvHeader(r, texts)}
	for _, row := range r.Rows {
		var record []string
		for _, c := range row {
			if c.Estimate == nil {
				record = append(record, CSVKey(c.Key))
				continue
			}
			e := c.Estimate
			sd := ""
			if e.StdDev != nil {
				sd = strconv.FormatFloat(*e.StdDev, 'g', -1, 64)
			}
			record = append(record, CSVNumber(e.Value), sd, CSVNumber(e.Low), CSVNumber(e.High))
		}
		for _, t := range texts {
			record = append(record, t.text)
		}
		out = append(out, record)
	}
	return out
}

// csvText is a column that has the same text in each row.
type csvText struct{ name, text string }

func csvTexts(r *curator.Release) (out []csvText) {
	if r.Limits != nil {
		out = append(out, csvText{"bounds", r.Limits.Text})
	}
	for _, t := range []csvText{{"notes", notesText(r)}, {"truncation", releaseTruncation(r)}} {
		if t.text != "" {
			out = append(out, t)
		}
	}
	return out
}

// csvHeader returns the names of the CSV columns. It keeps names unique.
func csvHeader(r *curator.Release, texts []csvText) []string {
	var header []string
	taken := map[string]bool{}
	for _, c := range r.Columns {
		taken[c.Name] = true
	}
	unique := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	for _, c := range r.Columns {
		header = append(header, c.Name)
		if c.Kind == curator.Key {
			continue
		}
		for _, suffix := range []string{"_stddev", "_low", "_high"} {
			header = append(header, unique(c.Name+suffix))
		}
	}
	for _, t := range texts {
		header = append(header, unique(t.name))
	}
	return header
}
