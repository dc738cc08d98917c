package enginetest

import (
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/value"
)

// Memo holds the results of statements over one database.
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

// Sums passes the stored result of the statement to the function add. If there is none, it first calls the function ask
// and stores the result.
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

// Order is like Sums, for ordered values.
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

// Rows is like Sums, for rows.
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

// ListVariable is the environment variable with the path of a file that names planted errors, one on each line.
// Only builds with planted errors read it.
const ListVariable = "DITHER_PLANTED_LIST"

// Planted does nothing and returns false unless ListVariable is set. If it is set, Planted calls Catch with the
// errors of the file, writes those that are not caught back to the file, and returns true.
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
