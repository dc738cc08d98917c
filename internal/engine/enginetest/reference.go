package enginetest

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// Reference is a database in memory that computes with the reference engine. Statements over one table whose units
// have several rows need ranked rows.
type Reference struct{ Tables Tables }

// Sums implements [Database].
func (r Reference) Sums(b *bounded.Statement, add func(keys []value.Value, sums []*big.Int)) error {
	SumOf(b, r.Tables, add)
	return nil
}

// Order implements [Database].
func (r Reference) Order(b *bounded.Statement, add func(cell string, v, n int64)) error {
	OrderCellsOf(b, r.Tables, func(keys []value.Value, v int64) { add(bounded.GroupName(keys), v, 1) })
	return nil
}

// Rows implements [Database].
func (r Reference) Rows(b *bounded.Statement, add func(first bool, row []int64) error) error {
	for _, rows := range UnitRowsOf(b, r.Tables) {
		for i, row := range rows {
			if err := add(i == 0, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// rankedAll returns the tables with a rank for each row of a unit: its number among the unit's rows.
func rankedAll(p *policy.Policy, tables Tables) Tables {
	out := Tables{}
	for name, rows := range tables {
		out[name] = assigned(rows, "", 0)
		if unit := p.Table(name).Unit.Column; unit != "" {
			Ranked(out[name], unit)
		}
	}
	return out
}
