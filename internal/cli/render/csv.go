package render

import (
	"encoding/csv"
	"io"
)

// WriteCSV writes records as CSV. For a terminal, it replaces control characters, because a key may come from a
// row.
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
