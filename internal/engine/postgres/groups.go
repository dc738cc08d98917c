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

// Groups implements [engine.Engine]. It runs the statement of b with the number of units as a further measure. The
// result rows are the existing groups.
func (e *Engine) Groups(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*engine.Groups, error) {
	groups := engine.NewGroups(b)
	if err := e.sums(ctx, engine.Unchosen(b).Counting(), from, groups.Add); err != nil {
		return nil, err
	}
	return groups, nil
}

// relabelled returns rows with their keys replaced by those of the answer's groups. Rows of a chosen group keep
// their keys. All other rows get the keys of Other: column o is true, and each key is NULL. Caps apply after this
// step, so they bound what a unit adds to the chosen groups and Other together. The new keys depend on the row's
// own keys and on released groups alone. A row belongs to one group, because the chosen groups differ.
//
// Two keys match if both are NULL or both are equal. The SQL of this test lets the server use a hash table.
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

// relabelledBeside is relabelled for rows that also have the columns carried, which it keeps.
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

// chosenRows returns a SELECT with one row for each chosen group: TRUE, and its keys. The values of each key are
// joined into one text, because the server takes long to plan a statement with so many constants.
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

// listed returns a text of a key value that contains no comma and is never empty, for a list. fromList returns SQL
// that reads it back.
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
