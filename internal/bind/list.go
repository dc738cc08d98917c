package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
)

// list joins the relations of a comma-separated FROM list, in order if that is possible, and otherwise in another
// order (see tables). The second result has the conditions of WHERE that are still to be applied.
func (f from) list(list *query.List, where query.Expr) (*Relation, query.Expr, error) {
	out, left, err := f.listWritten(list, where)
	if err != nil {
		if other, left := f.reordered(list.Items, where); other != nil {
			return other, left, nil
		}
	}
	return out, left, err
}

// listWritten joins the relations of a comma-separated FROM list, in order. The equalities in WHERE between a relation
// and the ones before it are its join condition. The second result has the other conditions of WHERE. The question
// gets the same plan as with JOIN … ON.
func (f from) listWritten(list *query.List, where query.Expr) (*Relation, query.Expr, error) {
	var conditions []query.Expr
	if where != nil {
		conditions = split(where)
	}
	items := slices.Clone(list.Items) // subqueries of one row follow the others
	alone := func(r query.Relation) bool {
		q, ok := r.(*query.Subquery)
		_, constants := constantsIn(r)
		return constants || ok && (query.OneRow(q) || q.Lateral)
	}
	slices.SortStableFunc(items, func(a, b query.Relation) int {
		switch {
		case alone(a) == alone(b):
			return 0
		case alone(a):
			return 1
		}
		return -1
	})
	out, err := f.relation(items[0])
	if err != nil {
		return nil, nil, err
	}
	for _, item := range items[1:] {
		if constants, ok := constantsIn(item); ok {
			j := &query.Join{At: item.Pos(), Kind: query.InnerJoin}
			conditions = slices.DeleteFunc(conditions, func(x query.Expr) bool {
				if !mentions(x, constants, out) {
					return false
				}
				j.On = both(j.On, x)
				return true
			})
			if out, err = f.mapped(out, constants, j); err != nil {
				return nil, nil, err
			}
			continue
		}
		if alone(item) {
			always := &query.Literal{At: item.Pos(), Kind: query.BooleanLiteral, Bool: true}
			j := &query.Join{At: item.Pos(), Kind: query.InnerJoin, R: item, On: always}
			if out, err = f.oneRow(out, item.(*query.Subquery), j); err != nil {
				return nil, nil, err
			}
			continue
		}
		next, err := f.relation(item)
		if err != nil {
			return nil, nil, err
		}
		var on query.Expr
		conditions = slices.DeleteFunc(conditions, func(x query.Expr) bool {
			if !joins(x, out, next) {
				return false
			}
			on = both(on, x)
			return true
		})
		if on == nil {
			return nil, nil, Refuse(item.Pos(), "add "+equality(out, next)+" to WHERE",
				"WHERE has no equality that joins this table to the ones before it")
		}
		if out, err = beside(out, next, &query.Join{At: item.Pos(), Kind: query.InnerJoin, On: on}); err != nil {
			return nil, nil, err
		}
	}
	var left query.Expr
	for _, x := range conditions {
		left = both(left, x)
	}
	return out, left, nil
}

// equality returns an equality that could join two relations: of their units, of the one column name that both have, or
// of any two columns.
func equality(l, r *Relation) string {
	if !l.public && !r.public {
		if units := (&joining{l: l, r: r}).unitEquality(); units != "" {
			return units
		}
	}
	var common []string
	for _, a := range l.Names {
		for _, b := range r.Names {
			if a.name == "" || a.name != b.name || a.table == "" || b.table == "" || isHidden(a.table) || isHidden(b.table) {
				continue
			}
			name := query.QuoteName(a.name)
			common = append(common, query.QuoteName(a.table)+"."+name+" = "+query.QuoteName(b.table)+"."+name)
		}
	}
	if len(common) == 1 {
		return common[0]
	}
	named := func(of *Relation, alias string) string {
		if tables := of.tables(); len(tables) == 1 {
			return query.QuoteName(tables[0])
		}
		return alias
	}
	return "an equality, such as " + named(l, "a") + ".x = " + named(r, "b") + ".x,"
}

// joins reports whether x equates an expression over the relation `one` with an expression over the relation `other`.
func joins(x query.Expr, one, other *Relation) bool {
	eq, ok := x.(*query.Binary)
	if !ok || eq.Op != query.Eq {
		return false
	}
	of := func(x query.Expr, r, not *Relation) bool {
		e, err := r.Row(x)
		if err != nil || !AnyColumn(e, func(*bounded.Expr) bool { return true }) {
			return false
		}
		_, err = not.Row(x)
		return err != nil // a name that both relations have decides nothing, and is refused later as ambiguous
	}
	return of(eq.L, one, other) && of(eq.R, other, one) || of(eq.L, other, one) && of(eq.R, one, other)
}

// mentions reports whether x compares a column of a table of constants with an expression over the rows of l. Other
// conditions read names of the joined rows, and stay in WHERE.
func mentions(x query.Expr, r *query.Constants, l *Relation) bool {
	_, ok := rangeComparisons(l, r, x)
	return ok
}

func both(a, b query.Expr) query.Expr {
	if a == nil {
		return b
	}
	return &query.Binary{At: b.Pos(), Op: query.And, L: a, R: b}
}
