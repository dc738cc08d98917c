package bind

import (
	"slices"

	"dither/internal/query"
	"dither/internal/value"
)

// mapped joins a table of constants to the rows of l, as a mapping of values to labels:
//
//	visits v JOIN (VALUES ('web', 'online'), ('desk', 'office')) m (channel, label) ON m.channel = v.channel
//
// The condition equates one column of the table, the key, with an expression over l. All keys are different constants,
// so a row of l meets at most one row of the table: the columns become CASE expressions of the rows of l, and an inner
// join keeps the rows whose value is among the keys. Neither multiplies rows, so the bounds of a unit stay.
func (f from) mapped(l *Relation, r *query.Constants, j *query.Join) (*Relation, error) {
	on, merged := j.On, ""
	if len(j.Using) == 1 {
		merged = j.Using[0]
		on = &query.Binary{
			At: j.At, Op: query.Eq, L: &query.Column{At: j.At, Table: r.Alias, Name: merged}, R: &query.Column{At: j.At, Name: merged},
		}
	}
	b, ok := on.(*query.Binary)
	if slices.Contains(l.tables(), r.Alias) && r.Alias != "" {
		return nil, Refuse(j.At, "give one of them an alias", "two tables are called %q here", r.Alias)
	}
	if _, between := on.(*query.Between); between || ok && b.Op != query.Eq {
		return f.ranged(l, r, j)
	}
	if !ok || r.Series || j.Kind != query.InnerJoin && j.Kind != query.LeftJoin || r.Alias == "" {
		return nil, constantsBesidePersons(r)
	}
	key, of := columnOf(r, b.L, l), b.R
	if key < 0 {
		key, of = columnOf(r, b.R, l), b.L
	}
	keys, ok := differentConstants(r, key)
	if !ok {
		return nil, constantsBesidePersons(r)
	}
	e, err := l.Row(of)
	if err != nil {
		return nil, err
	}
	for _, k := range keys { // of one type, so that different constants are different values: '1' and '01' are one number
		s := k.(*query.Literal) //nolint:forcetypeassert // as differentConstants found
		text, date := s.Kind == query.StringLiteral, s.Kind == query.DateLiteral
		if text != (e.Type == value.Text) || date != (e.Type == value.Date) || !text && !date && !IsNumber(e.Type) {
			return nil, constantsBesidePersons(r)
		}
	}
	among := &query.In{At: j.At, X: of, List: keys}
	return f.labelled(l, r, j, of, keys, among, merged)
}

// labelled adds the columns of a table of constants to the names of l: for each column, a CASE whose conditions, or values of
// the operand, select the rows of the table. An inner join keeps the rows of l for which the condition among is true.
func (f from) labelled(
	l *Relation, r *query.Constants, j *query.Join, operand query.Expr, conditions []query.Expr, among query.Expr, merged string,
) (*Relation, error) {
	var names []Name
	for i, column := range r.Columns {
		x := &query.Case{At: r.At, Operand: operand}
		for row, c := range conditions {
			x.Whens = append(x.Whens, query.When{Cond: c, Result: r.Rows[row][i]})
		}
		if last := len(conditions) - 1; j.Kind == query.InnerJoin && last > 0 { // the rows that stay have one of the keys
			x.Whens, x.Else = x.Whens[:last], r.Rows[last][i]
		}
		n, err := l.item(query.Item{Expr: x, Alias: column})
		if err != nil {
			return nil, err
		}
		n.table, n.merged = r.Alias, column == merged && merged != ""
		names = append(names, n)
	}
	kept, err := l.Condition(among)
	if err != nil {
		return nil, err
	}
	l.Names = append(slices.Clone(l.Names), names...)
	if j.Kind == query.LeftJoin {
		return l, nil
	}
	return l, l.restrict(kept, j.At)
}

// columnOf returns which column of a table of constants an expression is, or -1.
func columnOf(r *query.Constants, x query.Expr, l *Relation) int {
	c, ok := x.(*query.Column)
	if !ok || c.Table != "" && c.Table != r.Alias || c.Table == "" && l.Has(c.Name) {
		return -1
	}
	return slices.Index(r.Columns, c.Name)
}

// differentConstants returns the values of a column, if all values of the table are constants, and those of the column
// differ and are not NULL.
func differentConstants(r *query.Constants, column int) (keys []query.Expr, ok bool) {
	if column < 0 || len(r.Rows) > maxMapped {
		return nil, false
	}
	seen := map[string]bool{}
	for _, row := range r.Rows {
		for _, x := range row {
			if _, constant := x.(*query.Literal); !constant {
				return nil, false
			}
		}
		k := row[column].(*query.Literal) //nolint:forcetypeassert // checked above
		text := query.Print(k)
		if seen[text] || k.Kind != query.StringLiteral && k.Kind != query.IntegerLiteral && k.Kind != query.DateLiteral {
			return nil, false
		}
		seen[text] = true
		keys = append(keys, k)
	}
	return keys, true
}

// maxMapped is the largest number of rows of a table of constants beside rows of persons.
const maxMapped = 200

// constantsIn returns a relation that is a table of constants: VALUES, or SELECTs of constants that UNION ALL combines.
func constantsIn(r query.Relation) (*query.Constants, bool) {
	switch r := r.(type) {
	case *query.Constants:
		return r, true
	case *query.Subquery:
		if len(r.Branches) < 2 || r.Lateral {
			return nil, false
		}
		out := &query.Constants{At: r.At, Alias: r.Alias}
		for i, s := range r.Branches {
			if !s.From.None() || s.Where != nil || s.Distinct || grouped(s) || s.Limit != nil || len(s.Items) != len(r.Branches[0].Items) {
				return nil, false
			}
			var row []query.Expr
			for _, item := range s.Items {
				if i == 0 {
					out.Columns = append(out.Columns, item.Alias)
				}
				row = append(row, item.Expr)
			}
			out.Rows = append(out.Rows, row)
		}
		return out, !slices.Contains(out.Columns, "")
	}
	return nil, false
}
