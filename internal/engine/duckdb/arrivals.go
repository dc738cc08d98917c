package duckdb

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

var _ engine.Historian = (*Engine)(nil)

// Arrivals implements [engine.Historian]. Each scan runs one statement for each page of units.
func (e *Engine) Arrivals(
	ctx context.Context, b *bounded.Statement, identity []string, salt string, from engine.Sealed,
) (mechanism.Arrivals, error) {
	if b.Unit == nil || b.Source != nil || b.Open() || len(identity) == 0 {
		return mechanism.Arrivals{}, errors.New("duckdb: rows of this statement cannot be named")
	}
	scan, err := storedScan(from)
	if err != nil {
		return mechanism.Arrivals{}, err
	}
	rows, err := e.count(ctx, scan)
	if err != nil {
		return mechanism.Arrivals{}, err
	}
	pages := min(e.pages(rows), maxArrivalPages)
	return mechanism.NewArrivals(func(yield func(mechanism.Arrival) bool) error {
		g := gathering{b: b, yield: yield, going: true}
		for i := range pages {
			from, to := i*maxArrivalPages/pages, (i+1)*maxArrivalPages/pages-1
			if err := e.run(ctx, arrivals(b, identity, salt, scan, from, to), g.add); err != nil {
				return err
			}
		}
		g.flush()
		return nil
	}), nil
}

// maxArrivalPages is the number of values of the first four digits of a digest, which divide the units into pages.
const maxArrivalPages = 1 << 16

// arrivals returns a SELECT of the digests d of the unit and e of the row's identity, whether the row counts, its
// keys, and the number of such rows, ordered by the digests. It returns the rows of the units whose digests begin with
// four digits between the two numbers. The rank numbers the rows of one unit, so it pairs each row with itself.
func arrivals(b *bounded.Statement, identity []string, salt, scan string, from, to int64) string {
	unit := identifier(b.Unit.Name)
	named := fmt.Sprintf("SELECT %s AS u, %s AS q, %s AS d, %s AS e FROM %s WHERE %s IS NOT NULL",
		unit, rankColumn, digestOf(salt+"unit", []string{b.Unit.Name}), digestOf(salt+"row", identity), scan, unit)
	counted := evaluated(b, scan, engine.Sealed{})
	if b.Measures[0].Kind == bounded.CountValue {
		counted = "SELECT * FROM (" + counted + ") WHERE v0 IS NOT NULL"
	}
	columns := []string{"n.d", "n.e", "c.q IS NOT NULL"}
	for _, k := range engine.KeyNames(b) {
		columns = append(columns, "c."+k)
	}
	return fmt.Sprintf(
		"SELECT %s, count(*) FROM (SELECT * FROM (%s) WHERE substr(d, 1, 4) BETWEEN '%04x' AND '%04x') AS n "+
			"LEFT JOIN (%s) AS c ON n.u = c.u AND n.q = c.q GROUP BY ALL ORDER BY n.d, n.e",
		strings.Join(columns, ", "), named, from, to, counted)
}

// digestOf returns the SQL of the first 128 bits, in hexadecimal, of a SHA-256 of the named columns' values. Each value
// is preceded by its length, and NULL has no length, so different lists of values have different texts.
func digestOf(salt string, columns []string) string {
	parts := []string{text(salt)}
	for _, c := range columns {
		value := "CAST(" + identifier(c) + " AS VARCHAR)"
		parts = append(parts, fmt.Sprintf("coalesce(length(%[1]s) || ':' || %[1]s, 'NULL') || ';'", value))
	}
	return "substr(sha256(" + strings.Join(parts, " || ") + "), 1, 32)"
}

// gathering turns result rows into Arrivals, and orders those of one identity by cell.
type gathering struct {
	b       *bounded.Statement
	yield   func(mechanism.Arrival) bool
	going   bool // yield has not returned false
	pending []mechanism.Arrival
}

// errEnough stops a statement whose further rows are not needed.
var errEnough = errors.New("no further row is needed")

func (g *gathering) add(row []driver.Value) error {
	a := mechanism.Arrival{Cell: -1}
	for i, into := range [][]byte{a.Unit[:], a.Row[:]} {
		digits, ok := row[i].(string)
		if n, err := hex.Decode(into, []byte(digits)); !ok || err != nil || n != len(into) {
			return fmt.Errorf("duckdb: a digest of Go type %T", row[i])
		}
	}
	count, ok := row[len(row)-1].(int64)
	if !ok {
		return fmt.Errorf("duckdb: a count of Go type %T", row[len(row)-1])
	}
	a.Count = count
	if counts, _ := row[2].(bool); counts {
		keys, err := engine.Keys(g.b.KeyTypes(), row[3:len(row)-1], scalar)
		if err != nil {
			return err
		}
		a.Cell = engine.CellOf(g.b, keys)
	}
	if len(g.pending) > 0 && (g.pending[0].Unit != a.Unit || g.pending[0].Row != a.Row) {
		if g.flush(); !g.going {
			return errEnough
		}
	}
	g.pending = append(g.pending, a)
	return nil
}

// flush passes on the rows of one identity, in the order of their cells.
func (g *gathering) flush() {
	slices.SortFunc(g.pending, func(a, b mechanism.Arrival) int { return cmp.Compare(a.Cell, b.Cell) })
	for i := 0; i < len(g.pending) && g.going; {
		a := g.pending[i]
		for i++; i < len(g.pending) && g.pending[i].Cell == a.Cell; i++ {
			a.Count += g.pending[i].Count
		}
		g.going = g.yield(a)
	}
	g.pending = g.pending[:0]
}
