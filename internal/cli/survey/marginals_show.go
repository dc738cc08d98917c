package survey

import (
	"encoding/json"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
)

// counted returns the estimated count of a cell among all senders.
func (t *tables) counted(f local.Frequency) (count, stddev, low, high float64) {
	n := float64(t.tally.Reports())
	return n * f.Frequency, n * f.Stddev, n * f.Low, n * f.High
}

func (t *tables) show(s *console.Console) error {
	switch s.Format {
	case "json":
		return s.JSON(t)
	case "csv":
		return s.CSV(t.records())
	}
	for i, found := range t.found {
		names := t.of(i)
		if found == nil {
			s.Print("%s: nobody reported about this table.\n\n", render.Printable(strings.Join(names, ", ")))
			continue
		}
		header := append(slices.Clone(names), "people", "from", "to", "share")
		right := make([]bool, len(names), len(header))
		right = append(right, true, true, true, true)
		var rows [][]string
		for _, f := range found[:min(len(found), mostRows)] {
			count, _, low, high := t.counted(f)
			places := render.Decimals((high - low) / 2)
			rows = append(rows, append(t.names(i, f.Value), render.Fixed(count, places), render.Fixed(low, places),
				render.Fixed(high, places), render.Fixed(100*f.Frequency, render.Decimals(50*(f.High-f.Low)))+" %"))
		}
		hidden := ""
		if len(found) > mostRows {
			hidden = "The table has the first 50 of " + render.Thousands(len(found)) + " cells: --format csv and json have all.\n"
		}
		if s.Format == "markdown" {
			s.Print("%s\n", render.MarkdownTable(header, right, rows)+hidden)
			continue
		}
		s.Print("%s%s\n", grid(header, rows, right...), hidden)
	}
	words := t.words() + t.shuffled.words()
	if s.Format == "markdown" {
		words = render.MarkdownParagraphs(words)
	}
	s.Print("%s\n", words)
	return nil
}

// records has a row for each cell of each table. Columns that the table does not have are empty.
func (t *tables) records() [][]string {
	var header []string
	for _, c := range t.columns {
		header = append(header, c.name)
	}
	records := [][]string{append(header, "estimate", "stddev", "low", "high")}
	for i, found := range t.found {
		for _, f := range found {
			record := make([]string, len(t.columns), len(t.columns)+4)
			for j, name := range t.names(i, f.Value) {
				record[t.m.Sets()[i][j]] = name
			}
			count, stddev, low, high := t.counted(f)
			records = append(records, append(record, render.CSVFloat(&count), render.CSVFloat(&stddev),
				render.CSVFloat(&low), render.CSVFloat(&high)))
		}
	}
	return records
}

type (
	tableJSON struct {
		Columns   []string   `json:"columns"`
		Mechanism string     `json:"mechanism"`
		Reports   int64      `json:"reports"`
		Values    []cellJSON `json:"values"`
	}
	cellJSON struct {
		Value    []string        `json:"value"`
		Estimate json.RawMessage `json:"estimate"`
		Stddev   json.RawMessage `json:"stddev"`
		Low      json.RawMessage `json:"low"`
		High     json.RawMessage `json:"high"`
	}
)

// MarshalJSON implements json.Marshaler.
func (t *tables) MarshalJSON() ([]byte, error) {
	out := struct {
		N        int64       `json:"n"`
		Split    bool        `json:"split"`
		Tables   []tableJSON `json:"tables"`
		Shuffled *shuffled   `json:"shuffled,omitempty"`
	}{N: t.tally.Reports(), Split: t.m.Split(), Shuffled: t.shuffled}
	for i, found := range t.found {
		table := tableJSON{t.of(i), t.m.Oracle(i).Params().Mechanism, t.tally.Of(i), []cellJSON{}}
		for _, f := range found {
			count, stddev, low, high := t.counted(f)
			table.Values = append(table.Values, cellJSON{
				t.names(i, f.Value), number(count), number(stddev), number(low), number(high),
			})
		}
		out.Tables = append(out.Tables, table)
	}
	return json.Marshal(out)
}
