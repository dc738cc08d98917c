package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"dither/curator"
)

// csv writes records to standard output.
func (s *session) csv(records [][]string) error { return writeCSV(s.stdout, obeys(s.stdout), records) }

// writeCSV writes records as they are to a file or a pipe. A terminal obeys some characters, and a key may be a row's: there none of these is left.
func writeCSV(w io.Writer, terminal bool, records [][]string) error {
	if terminal {
		shown := make([][]string, len(records))
		for i, r := range records {
			for _, field := range r {
				shown[i] = append(shown[i], printable(field))
			}
		}
		records = shown
	}
	return csv.NewWriter(w).WriteAll(records)
}

// releaseRecords are an answer's, with four columns for each measure: its value, and NAME_stddev, NAME_low, NAME_high.
func releaseRecords(r *curator.Release) [][]string {
	out := [][]string{csvHeader(r)}
	for _, row := range r.Rows {
		var record []string
		for _, c := range row {
			if c.Estimate == nil {
				record = append(record, csvKey(c.Key))
				continue
			}
			e := c.Estimate
			sd := ""
			if e.StdDev != nil {
				sd = strconv.FormatFloat(*e.StdDev, 'g', -1, 64)
			}
			record = append(record, csvNumber(e.Value), sd, csvNumber(e.Low), csvNumber(e.High))
		}
		out = append(out, record)
	}
	return out
}

// csvHeader names the columns, keeping names unique.
func csvHeader(r *curator.Release) []string {
	var header []string
	taken := map[string]bool{}
	for _, c := range r.Columns {
		taken[c.Name] = true
	}
	for _, c := range r.Columns {
		header = append(header, c.Name)
		if c.Kind == curator.Key {
			continue
		}
		for _, suffix := range []string{"_stddev", "_low", "_high"} {
			name := c.Name + suffix
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			header = append(header, name)
		}
	}
	return header
}

func csvKey(key any) string {
	if key == nil {
		return ""
	}
	return fmt.Sprint(key)
}

func csvNumber(n *curator.Number) string {
	if n == nil {
		return ""
	}
	return n.String()
}
