package policy

// Limits bound what a question may do, whatever it costs.
type Limits struct {
	UnitCost int64 // the most that one unit may cost in one answer, in steps (plan.Cost); 0 if not declared
}

const (
	// LeastUnitCost is the limit on a unit's cost where a policy declares none, or stepsPerStored for each row that it
	// stores of one unit where that is more. So no plain question about all stored rows is refused, and no join of a
	// few tables. docs/design/0007 gives the reasons, and docs/reference/benchmarks.md the times.
	LeastUnitCost  = 3_000_000_000
	stepsPerStored = 10_000
	// MaxUnitCost is the largest limit.
	MaxUnitCost = 1_000_000_000_000_000
	// MaxStoredRows is the most rows of one unit that a policy can have sealed.
	MaxStoredRows = 1_000_000_000
	// Unless a policy says otherwise, ten times rows_per_unit are stored of a unit, at least leastStored, and at most
	// mostStored or rows_per_unit.
	storedTimes = 10
	leastStored = 1_000
	mostStored  = 1_000_000
)

// MostUnitCost is the limit that is in force on the cost of one unit in one answer: the declared one, or the default.
// It is public, and no part of the digest: it decides which questions are refused, and changes no answer.
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

// Stored is how many rows of one unit a sealed version of the table keeps at most: as declared, or the default. It is 1
// where each row is a unit, and 0 of a public table, where nothing is counted by units. It is public: a function of the
// policy alone.
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

// storedTerm is what the digest has of it: nothing where it is the default, written out or not.
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

// storedRows reads how many rows of a unit are sealed: no fewer than may count in an answer.
func (r *reader) storedRows(f field, u Unit) (n int64) {
	n, ok := f.count(MaxStoredRows)
	if ok && n < u.RowsPerUnit {
		f.fail("leave it out, or write a larger number", "must be at least rows_per_unit, %d, found %d",
			u.RowsPerUnit, n)
	}
	return n
}
