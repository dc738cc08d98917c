package enginetest

import (
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/value"
)

// Memo has the results of a database by statement.
type Memo map[string]any

type (
	sumsRow struct {
		keys []value.Value
		sums []*big.Int
	}
	orderRow struct {
		cell string
		v, n int64
	}
)

// Sums returns the earlier result of the statement, or asks.
func (m Memo) Sums(
	statement string, add func([]value.Value, []*big.Int), ask func(add func([]value.Value, []*big.Int)) error,
) error {
	rows, known := m["sums "+statement].([]sumsRow)
	if !known {
		if err := ask(func(keys []value.Value,
			sums []*big.Int,
		) {
			rows = append(rows, sumsRow{keys, numbers(sums)})
		}); err != nil {
			return err
		}
		m["sums "+statement] = rows
	}
	for _, r := range rows {
		add(r.keys, r.sums)
	}
	return nil
}

// Order returns the earlier result of the statement, or asks.
func (m Memo) Order(
	statement string, add func(cell string, v, n int64), ask func(add func(cell string, v, n int64)) error,
) error {
	rows, known := m["order "+statement].([]orderRow)
	if !known {
		if err := ask(func(cell string, v, n int64) { rows = append(rows, orderRow{cell, v, n}) }); err != nil {
			return err
		}
		m["order "+statement] = rows
	}
	for _, r := range rows {
		add(r.cell, r.v, r.n)
	}
	return nil
}

// Rows returns the earlier result of the statement, or asks.
func (m Memo) Rows(
	statement string, add func(first bool, row []int64) error, ask func(add func(first bool, row []int64) error) error,
) error {
	type oneRow struct {
		first bool
		row   []int64
	}
	rows, known := m["rows "+statement].([]oneRow)
	if !known {
		err := ask(func(first bool, row []int64) error {
			rows = append(rows, oneRow{first, slices.Clone(row)})
			return nil
		})
		if err != nil {
			return err
		}
		m["rows "+statement] = rows
	}
	for _, r := range rows {
		if err := add(r.first, r.row); err != nil {
			return err
		}
	}
	return nil
}

// ListVariable is a file with the names of planted errors, a line each, in builds that have some.
const ListVariable = "DITHER_PLANTED_LIST"

// Planted runs Catch instead of an audit if there is a list of planted errors, and overwrites the list with those that
// are not caught.
func Planted(t *testing.T, a Audit, sealing func(name string) bool) bool {
	t.Helper()
	file := os.Getenv(ListVariable)
	if file == "" {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	a.Worlds = 12 // for errors that no aim catches
	rest := a.Catch(t, names, sealing)
	if err := os.WriteFile(file, []byte(strings.Join(rest, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}
