package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Groups implements engine.Engine. It runs the statement of b with the number of units beside its measures; the result
// rows are the existing groups.
func (e *Engine) Groups(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*engine.Groups, error) {
	groups := engine.NewGroups(b)
	if err := e.sums(ctx, engine.Unchosen(b).Counting(), from, groups.Add); err != nil {
		return nil, err
	}
	return groups, nil
}

// relabelled gives rows of the chosen groups their keys, and all other rows those of Other: o, and NULL for each key.
// The caps come after it, so they bound what a unit adds to the chosen groups and Other together. The new keys are a
// function of the row's own keys and of released groups. A row has one group, because the chosen groups differ.
//
// Keys match if both are NULL or both are equal, in a form that the server can look up in a hash table.
func relabelled(b *bounded.Statement, in *rows, rows string) string {
	var carried []string
	if b.Unit != nil {
		carried = append(carried, "u")
	}
	if placed(b, in) {
		carried = append(carried, "q")
	}
	return relabelledBeside(b, carried, rows)
}

// relabelledBeside is relabelled with further columns beside keys and values.
func relabelledBeside(b *bounded.Statement, carried []string, rows string) string {
	if !b.Other {
		return rows
	}
	var keys, chosen, on []string
	for i, k := range b.Keys {
		nothing := constant(value.Value{Type: k.Expr.Type})
		keys = append(keys, fmt.Sprintf("CASE WHEN t THEN k%[1]d END AS k%[1]d", i))
		chosen = append(chosen, fmt.Sprintf("t%d", i))
		on = append(
			on, fmt.Sprintf("(k%[1]d IS NULL) = (t%[1]d IS NULL) AND coalesce(k%[1]d, %[2]s) = coalesce(t%[1]d, %[2]s)",
				i, nothing))
	}
	return "SELECT " + list(keys, []string{"t IS NULL AS o"}, names("v", len(b.Measures)), carried) + " FROM (" + rows +
		") AS g LEFT JOIN (" + chosenRows(b) +
		") AS chosen(" + list([]string{"t"}, chosen) + ") ON " + strings.Join(on, " AND ")
}

// chosenRows writes a row for each chosen group: TRUE, and its keys. The keys of each column are in one text, because a
// statement with that many constants takes long to plan.
func chosenRows(b *bounded.Statement) string {
	row, lists := []string{"TRUE"}, []string{}
	for i, k := range b.Keys {
		texts := make([]string, len(b.Chosen))
		for j, group := range b.Chosen {
			texts[j] = listed(group[i])
		}
		x := "x" + strconv.Itoa(i)
		lists = append(lists,
			fmt.Sprintf("unnest(string_to_array(%s, ',')) AS %s", quoted(strings.Join(texts, ",")), x))
		row = append(row, fmt.Sprintf("CASE WHEN %s <> '%s' THEN %s END", x, listedNull, fromList(k.Expr.Type, x)))
	}
	return "SELECT " + list(row) + " FROM (SELECT " + list(lists) + ") AS x OFFSET 0"
}

const listedNull = "-"

// listed writes a key in a list, without a comma, and never as the empty text; fromList reads it back.
func listed(v value.Value) string {
	switch {
	case v.Null:
		return listedNull
	case v.Type == value.Text:
		return "=" + hex.EncodeToString([]byte(v.Text))
	case v.Type == value.Boolean:
		return "=" + strconv.FormatBool(v.Bool)
	}
	return "=" + strconv.FormatInt(v.Int, 10)
}

func fromList(t value.Type, x string) string {
	x = "substr(" + x + ", 2)"
	if t == value.Text {
		return "convert_from(decode(" + x + `, 'hex'), 'UTF8') COLLATE "C"`
	}
	return "CAST(" + x + " AS " + typeNames[t] + ")"
}
