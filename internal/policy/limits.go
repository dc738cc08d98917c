package policy

// Limits are bounds on a question that do not depend on its price.
type Limits struct {
	UnitCost int64 // the largest cost of one unit in one answer, in steps (cost.Cost); 0 if not declared
}

const (
	// LeastUnitCost is the default limit on the cost of one unit in one answer, in steps. If a unit's stored rows
	// times stepsPerStored are more, that is the default. So the default admits every plain question about all
	// stored rows, and joins of a few tables. docs/design/0007-cost.md gives the reasons, and
	// docs/reference/benchmarks.md the times.
	LeastUnitCost  = 3_000_000_000
	stepsPerStored = 10_000
	// MaxUnitCost is the largest limit that a policy can declare, in steps.
	MaxUnitCost = 1_000_000_000_000_000
	// MaxStoredRows is the largest number of rows of one unit that a policy can declare to keep at sealing.
	MaxStoredRows = 1_000_000_000
	// By default, sealing keeps storedTimes times rows_per_unit rows of each unit, but at least leastStored. It
	// keeps at most mostStored, or rows_per_unit if that is more.
	storedTimes = 10
	leastStored = 1_000
	mostStored  = 1_000_000
)

// MostUnitCost returns the limit in force on the cost of one unit in one answer, in steps: the declared limit, or
// the default. It is public. It is not part of the digest, because it decides which questions are refused and
// changes no answer.
func (p *Policy) MostUnitCost() int64 {
	if p.Limits.UnitCost > 0 {
		return p.Limits.UnitCost
	}
	limit := int64(LeastUnitCost)
	for _, t := range p.Tables {
		limit = max(limit, stepsPerStored*t.Stored())
	}
	return limit
}

// Stored returns the largest number of rows of one unit that a sealed version of the table keeps: the declared
// number, or the default. It is 1 if each row is a unit, and 0 for a public table, which has no units. It depends
// on the policy alone, and is public.
func (t *Table) Stored() int64 {
	switch {
	case t.Public:
		return 0
	case t.Unit.IsRow():
		return 1
	case t.StoredRows > 0:
		return t.StoredRows
	}
	return t.storedByDefault()
}

func (t *Table) storedByDefault() int64 {
	return min(max(storedTimes*t.Unit.RowsPerUnit, leastStored), max(mostStored, t.Unit.RowsPerUnit))
}

// storedTerm returns the value that encodes StoredRows in the digest. It is 0 for the default, even if the policy
// declares the default value.
func (t *Table) storedTerm() int64 {
	if !t.Public && !t.Unit.IsRow() && t.StoredRows == t.storedByDefault() {
		return 0
	}
	return t.StoredRows
}

func (r *reader) limits(f field) (l Limits) {
	keys, _ := f.keys("unit_cost")
	l.UnitCost, _ = keys["unit_cost"].count(MaxUnitCost)
	return l
}

// storedRows reads stored_rows_per_unit, the number of rows of a unit to keep at sealing. It must be at least
// rows_per_unit.
func (r *reader) storedRows(f field, u Unit) (n int64) {
	n, ok := f.count(MaxStoredRows)
	if ok && n < u.RowsPerUnit {
		f.fail("leave it out, or write a larger number", "must be at least rows_per_unit, %d, found %d",
			u.RowsPerUnit, n)
	}
	return n
}
