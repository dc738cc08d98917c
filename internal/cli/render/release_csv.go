package render

import (
	"strconv"

	"dither/curator"
)

// ReleaseRecords returns an answer as the records of a CSV file, with a header. Each measure has four columns: its
// value, NAME_stddev, NAME_low and NAME_high. The next column states in each row what bounds the answer, because the
// intervals are about the bounded data. The last column states what these bounds cut, if that was estimated.
func ReleaseRecords(r *curator.Release) [][]string {
	cut := releaseTruncation(r)
	out := [][]string{csvHeader(r, cut != "")}
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
		if r.Limits != nil {
			record = append(record, r.Limits.Text)
		}
		if cut != "" {
			record = append(record, cut)
		}
		out = append(out, record)
	}
	return out
}

// csvHeader returns the names of the CSV columns. It keeps names unique.
func csvHeader(r *curator.Release, truncation bool) []string {
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
	if r.Limits != nil {
		header = append(header, unique("bounds"))
	}
	if truncation {
		header = append(header, unique("truncation"))
	}
	return header
}
