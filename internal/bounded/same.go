package bounded

import (
	"hash/maphash"
	"slices"

	"dither/internal/value"
)

// Same reports whether two expressions are the same tree. Under one policy and one version of the tables, they then
// compute the same value for every row. A column of a table is identified by its name, and any other column by its
// index.
//
// Same expressions have the same String. Conversely, two expressions of one type with the same String are the same.
// Same and String both use the operation, the arguments in order, and the node's text, constant or column. Range
// and Nullable follow from these, so Same does not compare them.
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

// Same reports whether two keys group by the same expression with the same known values.
func (k *Key) Same(o *Key) bool {
	return k.Expr.Same(o.Expr) && slices.EqualFunc(k.Values, o.Values, value.Identical)
}

// Same reports whether every row contributes the same integer to both measures, with the same bounds for each cell.
// Such measures have the same String.
func (m *Measure) Same(o *Measure) bool {
	if m.Kind != o.Kind || m.Grid != o.Grid || m.Centre != o.Centre || m.Lo != o.Lo || m.Hi != o.Hi || m.Size != o.Size ||
		!m.X.Same(o.X) {
		return false
	}
	if m.Cells == nil || o.Cells == nil {
		return m.Cells == o.Cells
	}
	return m.Cells.Lo.Cmp(o.Cells.Lo) == 0 && m.Cells.Hi.Cmp(o.Cells.Hi) == 0
}

// Hash writes e into h. Expressions that are Same write the same bytes.
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
