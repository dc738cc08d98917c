package bounded

import (
	"hash/maphash"
	"slices"

	"dither/internal/value"
)

// Same reports that two expressions are one tree. They then compute the same value of every row, under one policy
// and one version of the tables: columns are told apart by their names, or by their places in a source that is no
// table.
//
// Two expressions that are the same have one String, and two of one type with one String are the same: both compare
// the operation, the text or constant or column that it names, and the arguments, in order. Range and Nullable
// follow from these, and are not compared.
func (e *Expr) Same(o *Expr) bool {
	switch {
	case e == o:
		return true
	case e == nil || o == nil || e.Op != o.Op || e.Type != o.Type || e.Text != o.Text || len(e.Args) != len(o.Args):
		return false
	}
	switch e.Op {
	case OpColumn:
		if e.Derived || o.Derived {
			return e.Derived == o.Derived && e.Column == o.Column
		}
		return e.Name == o.Name
	case OpConst:
		return value.Identical(e.Const, o.Const)
	}
	for i := range e.Args {
		if !e.Args[i].Same(o.Args[i]) {
			return false
		}
	}
	return true
}

// Same reports that two keys group by the same expression with the same known values.
func (k *Key) Same(o *Key) bool {
	return k.Expr.Same(o.Expr) && slices.EqualFunc(k.Values, o.Values, value.Identical)
}

// Same reports that each row contributes the same integer to two measures: they then have one String.
func (m *Measure) Same(o *Measure) bool {
	if m.Kind != o.Kind || m.Grid != o.Grid || m.Centre != o.Centre || m.Lo != o.Lo || m.Hi != o.Hi || !m.X.Same(o.X) {
		return false
	}
	if m.Cells == nil || o.Cells == nil {
		return m.Cells == o.Cells
	}
	return m.Cells.Lo.Cmp(o.Cells.Lo) == 0 && m.Cells.Hi.Cmp(o.Cells.Hi) == 0
}

// Hash writes an expression into a hash: the same bytes for two that are the Same.
func (e *Expr) Hash(h *maphash.Hash) {
	_, _ = h.WriteString(string(e.Op))
	switch e.Op {
	case OpColumn:
		if e.Derived {
			maphash.WriteComparable(h, e.Column)
		} else {
			_, _ = h.WriteString(e.Name)
		}
	case OpConst:
		_, _ = h.WriteString(e.Const.String())
	default:
		_, _ = h.WriteString(e.Text)
	}
	_ = h.WriteByte(byte(len(e.Args)))
	for _, a := range e.Args {
		a.Hash(h)
	}
}
