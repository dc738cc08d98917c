package policy

// Limits bound what a question may do, whatever it costs.
type Limits struct {
	UnitCost int64 // the most that one unit may cost in one answer, in steps (cost.Cost); 0 if not declared
}

const (
	// LeastUnitCost is the default limit on a unit's cost, or stepsPerStored for each stored row of one unit if that is
	// more. So it refuses no plain question about all stored rows, and no join of a few tables. docs/design/0007 gives
	// the reasons, and docs/reference/benchmarks.md the times.
	LeastUnitCost  = 3_000_000_000
	stepsPerStored = 10_000
	// MaxUnitCost is the largest limit.
	MaxUnitCost = 1_000_000_000_000_000
	// MaxStoredRows is the most rows of one unit that a policy can keep at sealing.
	MaxStoredRows = 1_000_000_000
	// By default a table stores ten times rows_per_unit of a unit: at least leastStored, and at most mostStored or
	// rows_per_unit.
	storedTimes = 10
	leastStored = 1_000
	mostStored  = 1_000_000
)

// MostUnitCost is the limit in force on the cost of one unit in one answer: the declared one, or the default. It is
// public, and not part of the digest, because it decides which questions are refused and changes no answer.
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

// Stored is the most rows of one unit that a sealed version of the table keeps: as declared, or the default. It is 1 if
// each row is a unit, and 0 for a public table, which has no units. It is a public function of the policy alone.
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

// storedTerm is Stored's value in the digest: nothing for the default, written out or not.
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

// storedRows reads how many rows of a unit are sealed: at least as many as may count in an answer.
func (r *reader) storedRows(f field, u Unit) (n int64) {
	n, ok := f.count(MaxStoredRows)
	if ok && n < u.RowsPerUnit {
		f.fail("leave it out, or write a larger number", "must be at least rows_per_unit, %d, found %d",
			u.RowsPerUnit, n)
	}
	return n
}
