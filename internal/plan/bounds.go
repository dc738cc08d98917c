package plan

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
)

// capped is the result of the fourth phase, boundUnits. It holds how much of one unit counts.
type capped struct {
	*measured
	columns []bounded.Column // all columns that the question reads
	unit    *bounded.Column  // the column that identifies a unit; nil if each row is a unit
	caps    bounded.Caps
	maxRows int64         // the bound on a unit's rows that the question requests or a search found; 0 for the policy's
	rows    *unpricedRows // the search for that bound; nil if there is none
	notes   notes
}

// unpricedRows is a [RowSearch], the search for a bound on a unit's rows, before dividePrice gives it a share of the
// price.
type unpricedRows struct {
	most, found       int64
	rank, sensitivity *big.Rat
}

// bounding is the working state of the fourth phase.
type bounding struct {
	*capped
	bind.Scope
}

// boundUnits decides how much of one unit counts: the column that identifies the unit, and the caps on its rows and
// groups.
func boundUnits(m *measured) (*capped, error) {
	return boundBy(m, (*bounding).rowsWanted, (*bounding).chooseCaps)
}

// boundBy runs the given steps in order. Together they decide how many rows and groups of one unit count.
func boundBy(m *measured, steps ...func(*bounding) error) (*capped, error) {
	b := &bounding{capped: &capped{measured: m, maxRows: m.request.MaxRows}, Scope: m.scope.Clone()}
	for _, step := range steps {
		if err := step(b); err != nil {
			return nil, err
		}
	}
	return b.capped, nil
}

// statement returns the statement for the question's measures.
func (c *capped) statement() bounded.Statement {
	return bounded.Statement{
		Table:      c.table().Name,
		Source:     c.source(),
		Unit:       c.unit,
		Unranked:   c.table().Unranked,
		Columns:    c.columns,
		Where:      c.conditions(),
		Keys:       c.keys,
		Measures:   bare(c.measures),
		Caps:       c.caps,
		Part:       c.part,
		Other:      c.other,
		RowVectors: c.vectors,
	}
}

// conditions returns the condition for a row to count, or nil for all rows.
func (c *capped) conditions() *bounded.Expr {
	if c.present != nil {
		return c.present
	}
	return c.where
}

// rowCap returns the largest number of rows that count for one unit: the policy's limit, or fewer if the question asks
// for fewer.
func (c *capped) rowCap() int64 {
	if c.maxRows > 0 {
		return min(c.maxRows, c.table().Unit.RowsPerUnit)
	}
	return c.table().Unit.RowsPerUnit
}

// rowsOnly returns the caps for modes and for searches for bounds: a number of rows of one unit, over all cells
// (groups). They do not depend on the caps of the answer's sums.
func (c *capped) rowsOnly() bounded.Caps {
	if c.table().Unit.IsRow() { // one row, or in a relation the number of rows that it makes of one row
		return bounded.Caps{Rows: c.table().Unit.RowsPerUnit}
	}
	return bounded.Caps{Rows: c.rowCap()}
}

// orderedCaps returns the caps for quantiles over the given number of cells (groups). It caps groups if then fewer rows
// of one unit count, and rows otherwise.
func (c *capped) orderedCaps(cells int) bounded.Caps {
	unit, rows := c.table().Unit, c.rowsOnly()
	if unit.IsRow() {
		return rows
	}
	groups := unit.MaxGroups
	if c.request.MaxGroups > 0 {
		groups = c.request.MaxGroups
	}
	byGroups := bounded.Caps{Groups: min(groups, int64(cells)), RowsPerGroup: unit.RowsPerGroup}
	if byGroups.MostRows() < rows.Rows {
		return byGroups
	}
	return rows
}

// readColumns records which columns the question reads. No phase resolves a further name after it.
func (b *bounding) readColumns() {
	b.columns = slices.Clone(b.Columns)
	for i := range b.columns {
		b.columns[i].Unread = b.Source == nil && !b.Resolved[b.columns[i].Column]
	}
}
