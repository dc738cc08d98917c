package duckdb

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// withHoldout returns a SELECT of t's columns, of which rows selects those that the source has. The column that holds units
// out is computed by the function held, from the same values as for any other source. So the same unit is held out, whatever
// the format of the source.
func withHoldout(conn *sql.Conn, t *policy.Table, rows string, held seal.Held) (string, error) {
	f := &holdoutFunction{held: held}
	var arguments []string
	for _, c := range t.HoldoutColumns() {
		kind, x := sealRowTypes[c.Type], identifier(c.Name)
		if c.Type == value.Date { // a date is the number of its day
			kind, x = driverpkg.TYPE_BIGINT, "date_diff('day', DATE '1970-01-01', "+x+")"
		}
		of, err := driverpkg.NewTypeInfo(kind)
		if err != nil {
			return "", err
		}
		f.columns, f.types, arguments = append(f.columns, c), append(f.types, of), append(arguments, x)
	}
	var err error
	if f.result, err = driverpkg.NewTypeInfo(driverpkg.TYPE_BOOLEAN); err != nil {
		return "", err
	}
	if err := driverpkg.RegisterScalarUDF(conn, "dither_held_out", f); err != nil {
		return "", err
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if columns[i] = identifier(c.Name); c.Holdout != nil {
			columns[i] = "dither_held_out(" + strings.Join(arguments, ", ") + ") AS " + columns[i]
		}
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM (" + rows + ")", nil
}

// holdoutFunction is a function of SQL.
type holdoutFunction struct {
	held    seal.Held
	columns []*policy.Column
	types   []driverpkg.TypeInfo
	result  driverpkg.TypeInfo
}

// Config implements driverpkg.ScalarFunc. The function also gets NULL.
func (f *holdoutFunction) Config() driverpkg.ScalarFuncConfig {
	return driverpkg.ScalarFuncConfig{InputTypeInfos: f.types, ResultTypeInfo: f.result, SpecialNullHandling: true}
}

// Executor implements driverpkg.ScalarFunc.
func (f *holdoutFunction) Executor() driverpkg.ScalarFuncExecutor {
	return driverpkg.ScalarFuncExecutor{RowExecutor: f.row}
}

func (f *holdoutFunction) row(arguments []driver.Value) (any, error) {
	row := make([]value.Value, len(f.columns))
	for i, x := range arguments {
		row[i].Type = f.columns[i].Type
		switch x := x.(type) {
		case nil:
			row[i].Null = true
		case int64:
			row[i].Int = x
		case float64:
			row[i].Real = x
		case string:
			row[i].Text = x
		case bool:
			row[i].Bool = x
		default:
			return nil, fmt.Errorf("column %q has values of type %T", f.columns[i].Name, x)
		}
	}
	return f.held(row), nil
}
