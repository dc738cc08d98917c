package enginetest

import (
	"cmp"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// windowedOf returns the rows of a bounded.Window: it sorts the rows of each part, and reads off each row's place.
func windowedOf(s *bounded.Source, tables Tables) (out []derived) {
	parts := map[string][]derived{}
	var names []string
	for _, r := range rowsOf(s.Inputs[0], tables) {
		name := hashText(r.unit)
		for _, i := range s.Within {
			name += hashText(r.row[i])
		}
		if parts[name] == nil {
			names = append(names, name)
		}
		parts[name] = append(parts[name], r)
	}
	for _, name := range names {
		rows := parts[name]
		slices.SortStableFunc(rows, func(a, b derived) int {
			return cmp.Or(byKeys(s.Order, a.row, b.row), cmp.Compare(hashOfRow(a), hashOfRow(b)), slices.CompareFunc(a.row, b.row, value.Compare))
		})
		places := placesOf(s.Order, rows)
		for i, r := range rows {
			row := slices.Clone(r.row)
			for _, w := range s.Windows {
				row = append(row, placed(w, s.Inputs[0], rows, places[i], i))
			}
			out = append(out, derived{r.unit, row})
		}
	}
	return out
}

func hashOfRow(d derived) string {
	return hashOf(append([]value.Value{value.OfText(d.unit.String())}, d.row...))
}

// byKeys compares two rows by the keys of an order alone.
func byKeys(order []bounded.Ordering, a, b []value.Value) int {
	for _, o := range order {
		x, y := a[o.Column], b[o.Column]
		if x.Null && y.Null {
			continue
		}
		if x.Null || y.Null {
			if x.Null == o.NullsFirst {
				return -1
			}
			return 1
		}
		if c := value.Compare(x, y); c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// place has a row's numbers in its part.
type place struct{ rank, dense int64 }

// placesOf returns the places of the rows of a part, in their order.
func placesOf(order []bounded.Ordering, rows []derived) (out []place) {
	for i := range rows {
		switch {
		case i == 0:
			out = append(out, place{1, 1})
		case byKeys(order, rows[i-1].row, rows[i].row) == 0:
			out = append(out, out[i-1])
		default:
			out = append(out, place{int64(i) + 1, out[i-1].dense + 1})
		}
	}
	return out
}

// placed returns the value of a column of a Window in the i-th of the rows of a part.
func placed(w bounded.Windowed, in *bounded.Source, rows []derived, at place, i int) value.Value {
	there := i
	switch w.Func {
	case bounded.RowNumber:
		return value.OfInt(int64(i) + 1)
	case bounded.Rank:
		return value.OfInt(at.rank)
	case bounded.DenseRank:
		return value.OfInt(at.dense)
	case bounded.Lag:
		there -= int(w.Offset)
	case bounded.Lead:
		there += int(w.Offset)
	case bounded.FirstValue:
		there = 0
	}
	if there < 0 || there >= len(rows) {
		return value.NullOf(in.Columns[w.Column].Type)
	}
	return rows[there].row[w.Column]
}
