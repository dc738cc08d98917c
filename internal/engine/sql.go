package engine

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// What statements say alike in every dialect. Rows have the unit u, the keys k0, k1, …, and o where some of them are
// Other's.

// Infix are the operations that stand between their arguments.
var Infix = map[bounded.Op]string{
	bounded.OpAdd: "+", bounded.OpSub: "-", bounded.OpMul: "*", bounded.OpEq: "=", bounded.OpNe: "<>",
	bounded.OpLt: "<", bounded.OpLe: "<=", bounded.OpGt: ">", bounded.OpGe: ">=", bounded.OpAnd: "AND",
	bounded.OpOr: "OR",
}

// CaseWhen writes conditions and results in turn, and what is else.
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

// GroupBy is the clause; nothing of no names.
func GroupBy(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(names, ", ")
}

// Kept is the WHERE that drops rows without a unit, rows whose key is NULL where NULL is no group, and of vectors those
// of which a coordinate is NULL, which none is where the columns in complete, as all its columns, have a value in every
// row.
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
			// integers: & of them is NULL where one is, and cannot overflow; one test is quicker than many
			conditions = append(conditions, "("+strings.Join(values, " & ")+") IS NOT NULL")
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// Keys reads the keys with which a result row begins.
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
