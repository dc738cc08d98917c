package engine

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The parts of statements that all dialects share. In these statements, column u holds the unit of a row, and k0,
// k1, … hold its keys. If the statement has the group Other, column o is true in the rows of that group.

// Infix holds the operations that are written between their arguments.
var Infix = map[bounded.Op]string{
	bounded.OpAdd: "+", bounded.OpSub: "-", bounded.OpMul: "*", bounded.OpEq: "=", bounded.OpNe: "<>",
	bounded.OpLt: "<", bounded.OpLe: "<=", bounded.OpGt: ">", bounded.OpGe: ">=", bounded.OpAnd: "AND",
	bounded.OpOr: "OR",
}

// CaseWhen returns a CASE expression. The arguments are pairs of a condition and its result, one after the other, and
// last the result if no condition holds.
func CaseWhen(args []string) string {
	var b strings.Builder
	b.WriteString("(CASE")
	for i := 0; i+1 < len(args); i += 2 {
		fmt.Fprintf(&b, " WHEN %s THEN %s", args[i], args[i+1])
	}
	fmt.Fprintf(&b, " ELSE %s END)", args[len(args)-1])
	return b.String()
}

// KeyNames returns the names of the columns that identify a cell (group).
func KeyNames(b *bounded.Statement) []string {
	var out []string
	for i := range b.Keys {
		out = append(out, "k"+strconv.Itoa(i))
	}
	if b.Other {
		out = append(out, "o")
	}
	return out
}

// GroupBy returns the GROUP BY clause for these columns, or "" if there are none.
func GroupBy(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(names, ", ")
}

// Kept returns a WHERE clause, or "". It drops rows whose unit is NULL, rows with a NULL key unless NULL is a
// group, and vectors with a NULL coordinate. It omits the tests of units and coordinates that cannot be NULL, because
// the columns in complete have a value in every row.
func Kept(b *bounded.Statement, complete map[string]bool) string {
	var conditions []string
	if b.Unit != nil && !complete[b.Unit.Name] {
		conditions = append(conditions, "u IS NOT NULL")
	}
	for i, k := range b.Keys {
		if !k.NullGroup() {
			conditions = append(conditions, fmt.Sprintf("k%d IS NOT NULL", i))
		}
	}
	if b.RowVectors != nil {
		var values []string
		for i, m := range b.Measures {
			if !InEveryRow(b, m.X, complete) {
				values = append(values, fmt.Sprintf("v%d", i))
			}
		}
		if len(values) > 0 {
			// The bitwise AND of integers is NULL if one of them is, and cannot overflow. One such test is quicker
			// than a test for each column.
			conditions = append(conditions, "("+strings.Join(values, " & ")+") IS NOT NULL")
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// Keys returns the key values at the beginning of a result row. types lists their types, and read converts a
// driver's value.
func Keys[Cell any](
	types []value.Type, row []Cell, read func(value.Type, Cell) (value.Value, error),
) ([]value.Value, error) {
	keys := make([]value.Value, len(types))
	for i, t := range types {
		v, err := read(t, row[i])
		if err != nil {
			return nil, err
		}
		keys[i] = v
	}
	return keys, nil
}
