package render

import (
	"encoding/csv"
	"io"
)

// WriteCSV writes records as they are to a file or a pipe. A terminal obeys some characters, and a key may be a row's: there none of these is left.
func WriteCSV(w io.Writer, terminal bool, records [][]string) error {
	if terminal {
		shown := make([][]string, len(records))
		for i, r := range records {
			for _, field := range r {
				shown[i] = append(shown[i], Printable(field))
			}
		}
		records = shown
	}
	return csv.NewWriter(w).WriteAll(records)
}
