package engine

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The parts of statements that all dialects share. Rows have the unit u, the keys k0, k1, …, and o if some of them
// belong to Other.

// Infix are the operations written between their arguments.
var Infix = map[bounded.Op]string{
	bounded.OpAdd: "+", bounded.OpSub: "-", bounded.OpMul: "*", bounded.OpEq: "=", bounded.OpNe: "<>",
	bounded.OpLt: "<", bounded.OpLe: "<=", bounded.OpGt: ">", bounded.OpGe: ">=", bounded.OpAnd: "AND",
	bounded.OpOr: "OR",
}

// CaseWhen writes alternating conditions and results, and the result otherwise.
func CaseWhen(args []string) string {
	var b strings.Builder
	b.WriteString("(CASE")
	for i := 0; i+1 < len(args); i += 2 {
		fmt.Fprintf(&b, " WHEN %s THEN %s", args[i], args[i+1])
	}
	fmt.Fprintf(&b, " ELSE %s END)", args[len(args)-1])
	return b.String()
}

// KeyNames are the columns that name a cell.
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

// GroupBy is the GROUP BY clause; empty without names.
func GroupBy(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(names, ", ")
}

// Kept is the WHERE that drops rows without a unit, rows with a NULL key unless NULL is a group, and vectors with a
// NULL coordinate. It omits tests for columns in complete, which have a value in every row.
func Kept(b *bounded.Statement, complete map[string]bool) string {
	var conditions []string
	if b.Unit != nil {
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
			if !neverNull(b, m.X, complete) {
				values = append(values, fmt.Sprintf("v%d", i))
			}
		}
		if len(values) > 0 {
			// integers: their & is NULL if one of them is, and cannot overflow; one test is quicker than many
			conditions = append(conditions, "("+strings.Join(values, " & ")+") IS NOT NULL")
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// Keys reads the keys at the beginning of a result row.
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
