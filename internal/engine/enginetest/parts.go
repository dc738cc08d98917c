package enginetest

import (
	"cmp"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// owned returns the rows that are in their unit's own parts. The ranks of the unit's rows, their numbers within the
// unit, determine these parts: see [bounded.Part].
func owned(b *bounded.Statement, rows []Row) (out []Row) {
	if b.Part == nil || b.Unit == nil {
		return rows
	}
	column := b.Columns[b.Part.Column]
	partOf := func(r Row) value.Value {
		v, ok := r[column.Name]
		if !ok {
			v = value.NullOf(column.Type)
		}
		return clean(column, v)
	}
	ranked := slices.Clone(rows)
	slices.SortStableFunc(ranked, func(x, y Row) int { return cmp.Compare(x[Rank].Int, y[Rank].Int) })
	own := map[string][]value.Value{}
	for _, r := range ranked {
		who, part := r[b.Unit.Name].String(), partOf(r)
		if part.Null {
			continue
		}
		if !slices.Contains(own[who], part) && int64(len(own[who])) < b.Part.PerUnit {
			own[who] = append(own[who], part)
		}
	}
	for _, r := range rows {
		if part := partOf(r); !part.Null && slices.Contains(own[r[b.Unit.Name].String()], part) {
			out = append(out, r)
		}
	}
	return out
}
