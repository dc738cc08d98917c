package duckdb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Groups implements [engine.Engine]. It runs the statement of b with the number of units as a further measure. The
// result rows are the existing groups.
func (e *Engine) Groups(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*engine.Groups, error) {
	counting := engine.Unchosen(b).Counting()
	sql, err := statement(counting, from)
	if err != nil {
		return nil, err
	}
	groups := engine.NewGroups(b)
	if err := e.run(ctx, sql, collect(counting, groups.Add)); err != nil {
		return nil, err
	}
	return groups, nil
}

// rehearseOpen rehearses the statements of a question with unknown keys. The first finds the existing groups. The
// second, if b.Other is set, sums the chosen groups, and runs with an empty list of them.
func (e *Engine) rehearseOpen(ctx context.Context, b *bounded.Statement) error {
	counting := engine.Unchosen(b).Counting()
	err := e.rehearse(ctx, rehearsed(counting))
	if !b.Other {
		return err
	}
	return errors.Join(err, e.rehearse(ctx, rehearsed(b)))
}

// relabelled returns rows with their keys replaced by those of the answer's groups. Rows of a chosen group keep
// their keys. All other rows get the keys of Other: column o is true, and each key is NULL. Caps apply after this
// step, so they bound what a unit adds to the chosen groups and Other together.
func relabelled(b *bounded.Statement, rows string) string {
	if !b.Other {
		return rows
	}
	var units, keys, names, on, values []string
	if b.Unit != nil {
		units = []string{"u", "q"}
		if b.Source != nil { // rows of a Source get q, their number in their unit's order, later
			units = units[:1]
		}
	}
	for i := range b.Measures {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	for i := range b.Keys {
		keys = append(keys, fmt.Sprintf("CASE WHEN t IS NOT NULL THEN k%[1]d END AS k%[1]d", i))
		names = append(names, fmt.Sprintf("t%d", i))
		on = append(on, fmt.Sprintf("k%[1]d IS NOT DISTINCT FROM t%[1]d", i))
	}
	left := slices.Concat(units, keys, []string{"t IS NULL AS o"}, values)
	return "SELECT " + strings.Join(left, ", ") + " FROM (" + rows + ") LEFT JOIN (" + chosenRows(b) +
		") AS chosen(t, " + strings.Join(names, ", ") + ") ON " +
		strings.Join(on, " AND ")
}

// chosenRows returns a SELECT with one row for each chosen group: TRUE, and its keys. The values of each key are
// joined into one text, because DuckDB takes seconds to plan a statement with so many constants.
func chosenRows(b *bounded.Statement) string {
	row, lists := []string{"TRUE"}, []string{}
	for i, k := range b.Keys {
		texts := make([]string, len(b.Chosen))
		for j, group := range b.Chosen {
			texts[j] = listed(group[i])
		}
		x := fmt.Sprintf("x%d", i)
		lists = append(lists, fmt.Sprintf("unnest(string_split(%s, ',')) AS %s", text(strings.Join(texts, ",")), x))
		row = append(row, fmt.Sprintf("CASE WHEN %s <> '%s' THEN %s END", x, listedNull, fromList(k.Expr.Type, x)))
	}
	rows := "SELECT " + strings.Join(row, ", ") + " FROM (SELECT " + strings.Join(lists, ", ") + ")"
	if len(b.Chosen) == 0 { // without this, splitting the empty text would return one row
		rows += " WHERE FALSE"
	}
	return rows
}

const listedNull = "-"

// listed returns a text of a key value that contains no comma, for a list. fromList returns SQL that reads it back.
func listed(v value.Value) string {
	switch {
	case v.Null:
		return listedNull
	case v.Type == value.Text:
		return hex.EncodeToString([]byte(v.Text))
	case v.Type == value.Boolean:
		return strconv.FormatBool(v.Bool)
	}
	return strconv.FormatInt(v.Int, 10)
}

func fromList(t value.Type, x string) string {
	if t == value.Text {
		return "decode(unhex(" + x + "))"
	}
	return "CAST(" + x + " AS " + typeNames[t] + ")"
}
