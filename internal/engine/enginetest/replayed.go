package enginetest

import (
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// Sealed is a database that an engine sealed and reads.
type Sealed interface {
	Database
	facts
}

// facts are what is known of a sealed database apart from answers.
type facts interface {
	// Known returns its values of a public column.
	Known(o policy.Origin) ([]value.Value, error)
	// MostRows is the most rows of one unit that a Scan or an Owned returns; 0 if unbounded, as for a table that is
	// read in place.
	MostRows(s *bounded.Source) (int64, error)
}

// Reader is an engine over one sealed database, as an audit reads it.
type Reader interface {
	// Statement returns the statement that answers b, and RowsStatement the one that returns its rows, or a text that
	// stands for several.
	Statement(b *bounded.Statement) (string, error)
	RowsStatement(b *bounded.Statement) (string, error)

	Add(b *bounded.Statement, add func([]value.Value, []*big.Int)) error
	Scan(b *bounded.Statement) (func(yield func(cell int, v, n int64) bool) error, error)
	EachRow(b *bounded.Statement, add func(first bool, row []int64) error) error

	facts
}

// Replayed wraps a Reader, and asks it each statement once.
func Replayed(r Reader) Sealed { return replayed{r, Memo{}} }

type replayed struct {
	Reader
	memo Memo
}

// Sums implements Database.
func (r replayed) Sums(b *bounded.Statement, add func([]value.Value, []*big.Int)) error {
	sql, err := r.Statement(b)
	if err != nil {
		return err
	}
	return r.memo.Sums(sql, add, func(add func([]value.Value, []*big.Int)) error { return r.Add(b, add) })
}

// Order implements Database.
func (r replayed) Order(b *bounded.Statement, add func(cell string, v, n int64)) error {
	sql, err := r.Statement(b)
	if err != nil {
		return err
	}
	return r.memo.Order(sql, add, func(add func(cell string, v, n int64)) error {
		scan, err := r.Scan(b)
		if err != nil {
			return err
		}
		return scan(func(cell int, v, n int64) bool { add(strconv.Itoa(cell), v, n); return true })
	})
}

// Rows implements Database.
func (r replayed) Rows(b *bounded.Statement, add func(first bool, row []int64) error) error {
	sql, err := r.RowsStatement(b)
	if err != nil {
		return err
	}
	return r.memo.Rows(sql, add, func(add func(first bool, row []int64) error) error { return r.EachRow(b, add) })
}

// Test is the replay audit as a test: Run, in its long form with DITHER_LONG=1, or Catch if errors are planted. Errors
// whose names contain one of the texts in sealing need databases that were sealed with them: errors of sealing, and
// errors that no statement shows.
func (a Audit) Test(t *testing.T, sealing []string) {
	t.Helper()
	a.Worlds = 12
	if os.Getenv("DITHER_LONG") != "" {
		a.Worlds, a.Questions, a.Least = 50, 40, 3
	}
	if !Planted(t, a, func(name string) bool {
		return slices.ContainsFunc(sealing, func(part string) bool { return strings.Contains(name, part) })
	}) {
		a.Run(t)
	}
}

// SealedUnder is t as it was declared when a world's table was sealed. In some worlds more rows of a unit were stored
// than now, so that statements must leave some of the version's rows out.
func SealedUnder(world int, t *policy.Table) *policy.Table {
	if world%6 != 4 && world%6 != 1 || t.StoredRows == 0 {
		return t
	}
	then := *t
	then.StoredRows = 0
	return &then
}
