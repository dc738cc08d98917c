package strategies

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth/database"
)

// runAsk is `dither synth ask`.
func runAsk(s *console.Console, args []string) error {
	var table string
	s.FormatFlag("table", "json", "csv")
	s.Flag(&table, "table", "T", "the name of the table in the question (default: the name of the file, without its ending)")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) != 2 {
		return console.Usage("synth ask takes a file of synthetic rows and a question, such as: " +
			"dither synth ask people.csv 'SELECT COUNT(*) FROM people'")
	}
	if mayBeReal(s.Home, rest[0]) {
		return console.Usage("%s is named in the policy of a home, so its rows may be real", rest[0])
	}
	a, err := database.Ask(s.Context(), rest[0], table, rest[1])
	if err != nil {
		if s.Context().Err() != nil {
			return s.Context().Err()
		}
		return &curator.Error{Code: curator.CodeUsage, Message: err.Error()}
	}
	switch s.Format {
	case "json":
		return s.JSON(struct {
			Synthetic bool     `json:"synthetic"`
			Table     string   `json:"table"`
			Columns   []string `json:"columns"`
			Rows      [][]any  `json:"rows"`
		}{true, a.Table, a.Columns, append([][]any{}, a.Rows...)})
	case "csv":
		records := [][]string{append(append([]string{}, a.Columns...), "synthetic")}
		for _, row := range a.Rows {
			records = append(records, append(askCells(row, ""), "true"))
		}
		return s.CSV(records)
	}
	g := render.Grid{}
	for i := range a.Columns {
		g.Right = append(g.Right, numeric(a.Rows, i))
	}
	g.Add(a.Columns...)
	for _, row := range a.Rows {
		g.Add(askCells(shortened(row), "NULL")...)
	}
	s.Print("%s\n", g.Text("  "))
	s.Print("synthetic: these are statistics of made-up rows. How far they are from those of the real rows is not known here, " +
		"so there is no interval\n")
	return nil
}

// askCells returns the values of a row as texts.
func askCells(row []any, null string) (out []string) {
	for _, v := range row {
		if v == nil {
			v = null
		}
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// shortened returns a row whose fractions have six digits, for people. JSON and CSV have all digits.
func shortened(row []any) []any {
	out := slices.Clone(row)
	for i, v := range out {
		n, is := v.(json.Number)
		if x, err := n.Float64(); is && err == nil && x != math.Trunc(x) {
			out[i] = render.Number6(x)
		}
	}
	return out
}

// numeric reports whether a column has a number in each row that has a value.
func numeric(rows [][]any, column int) bool {
	for _, row := range rows {
		if _, is := row[column].(json.Number); !is && row[column] != nil {
			return false
		}
	}
	return true
}
