package constraint

// Kind is the kind of a column's values.
type Kind int

// The kinds.
const (
	Number  Kind = iota // a number, or a date or time as one
	Text                // compared for equality only
	Boolean             // a condition by itself
)

// Column describes a column to [Rule.Bind].
type Column struct {
	Kind Kind
	// Number reads a constant that is compared with the column, for columns of numbers.
	Number func(text string) (float64, error)
	// Unit is what "+ 1" adds to the column, and 0 if the column cannot be shifted.
	Unit float64
}

// Value is a value, or a range of numbers that includes its ends.
type Value struct {
	Null      bool
	Low, High float64
	Text      string
	True      bool
}

// At is the range of one number.
func At(x float64) Value { return Value{Low: x, High: x} }

// Truth is a set of truth values: those that a constraint can have on ranges. On single values it has one member.
type Truth uint8

// The members. Unknown is the truth value of comparisons with NULL.
const (
	True Truth = 1 << iota
	False
	Unknown
)

// Breaks reports whether the constraint is false for all values of the ranges. As for a CHECK of SQL, an unknown
// constraint is satisfied.
func (t Truth) Breaks() bool { return t == False }

// Holds reports whether the constraint is satisfied for all values of the ranges.
func (t Truth) Holds() bool { return t&False == 0 }

func not(a Truth) Truth {
	out := a & Unknown
	if a&True != 0 {
		out |= False
	}
	if a&False != 0 {
		out |= True
	}
	return out
}

// or returns the possible values of a disjunction, as if its parts were unrelated.
func or(a, b Truth) (out Truth) {
	if (a|b)&True != 0 {
		out |= True
	}
	if a&b&False != 0 {
		out |= False
	}
	if a&Unknown != 0 && b&(Unknown|False) != 0 || b&Unknown != 0 && a&False != 0 {
		out |= Unknown
	}
	return out
}

// truth returns the set of a condition that can be true, and can be false.
func truth(can, cannot bool) (out Truth) {
	if can {
		out |= True
	}
	if cannot {
		out |= False
	}
	return out
}
