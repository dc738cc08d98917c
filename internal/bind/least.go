package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// first keeps the first rows of each person, as a window function says that divides rows by the person alone: one row, or
// with RANK all rows that are equal in the order. Other numbers need a bounded.Window. This form of the question stays as
// it is, because the replay keys of its releases depend on it.
//
// Claim: the result is a function of each unit's own rows, and a unit has at most one row in it, or with ties as many
// as before. Proof: for one key after the other, the source is joined with one row for each unit, of the least value of
// the key (PerUnit), which depends on the unit's rows alone; a condition on single rows then keeps some of them.
// Without ties, one row for each unit is joined with at most one row (Most) of the same unit. Both joins pair rows of
// one unit, so the claim of bounded.Source holds. ∎
//
// The least value is the first one, with its NULLs where ORDER BY puts them: if NULLs come last, the least value is
// NULL only if all are. If NULLs come first, one NULL is enough.
func (f from) first(r *Relation, call *query.Call) error {
	at := call.Over.At
	unit := call.Over.Partition[0].(*query.Column)
	for _, o := range call.Over.Order {
		if err := f.leastOf(r, o, unit, at); err != nil {
			return err
		}
		if scans(r.Source) > maxScans {
			return Refuse(at, "order by fewer columns", "a window with so many columns in ORDER BY is not supported")
		}
	}
	if call.Name == "row_number" && r.unit.RowsPerUnit > 1 {
		r.oneRow()
	}
	return nil
}

// leastOf keeps the rows of each unit that come first in one order.
func (f from) leastOf(r *Relation, o query.Order, unit *query.Column, at query.Pos) error {
	key, err := r.Row(o.Expr)
	if err != nil {
		return err
	}
	if key.Type == value.Boolean {
		if key, err = r.Row(&query.Cast{At: at, X: o.Expr, Type: "integer"}); err != nil {
			return err
		}
	}
	if key.Op == bounded.OpConst {
		return nil
	}
	if key.Type == value.Interval {
		return Refuse(o.Expr.Pos(), "order by EXTRACT(epoch FROM x)", "a window cannot be ordered by an interval here")
	}
	name := Name{table: f.hiddenTable(), name: "key", e: key, merged: true}
	own := r.Names
	r.Names = append(slices.Clone(own), name)
	in := r.materialize()
	column := &query.Column{At: at, Table: name.table, Name: name.name}
	by, err := r.Find(unit)
	if err != nil {
		return err
	}
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in}, Units: true, Single: true}
	per.Exprs, per.Columns = []*bounded.Expr{by.e}, []bounded.Column{r.output("unit", by.e)}
	aggregates := []*query.Call{{At: at, Name: "min", Args: []query.Expr{column}}}
	if o.Desc {
		aggregates[0].Name = "max"
	}
	null := &query.Is{At: at, X: column, What: query.IsNull}
	nullsFirst := o.Desc
	if o.NullsFirst != nil {
		nullsFirst = *o.NullsFirst
	}
	if nullsFirst {
		aggregates = append(aggregates, &query.Call{At: at, Name: "bool_or", Args: []query.Expr{null}})
	}
	list := &Scope{
		Source: per, computed: r.computed,
		inside: &inside{input: r, rows: r.unit.RowsPerUnit, per: per, keys: []Name{{e: by.e}}},
	}
	var found []*bounded.Expr
	for _, a := range aggregates {
		e, err := list.innerCall(a)
		if err != nil {
			return err
		}
		found = append(found, e)
	}
	join := &bounded.Source{
		Op: bounded.Join, Inputs: []*bounded.Source{in, per}, Units: true, Most: 1, Single: in.Single,
		Columns: append(slices.Clone(in.Columns), per.Columns...),
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = shifted(names[i].e, 0, join)
	}
	var refs []query.Expr
	for _, e := range found {
		n := Name{table: f.hiddenTable(), name: "least", e: join.Column(len(in.Columns) + e.Column), merged: true}
		names = append(names, n)
		refs = append(refs, &query.Column{At: at, Table: n.table, Name: n.name})
	}
	r.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: r.computed}
	equal := query.Expr(&query.Binary{At: at, Op: query.Eq, L: column, R: refs[0]})
	if nullsFirst {
		equal = &query.Case{At: at, Whens: []query.When{{Cond: refs[1], Result: null}}, Else: equal}
	} else {
		equal = &query.Binary{At: at, Op: query.Or, L: equal, R: &query.Is{At: at, X: refs[0], What: query.IsNull}}
	}
	e, err := r.Condition(equal)
	if err != nil {
		return err
	}
	if err := r.restrict(e, at); err != nil {
		return err
	}
	r.Names = r.Names[:len(own)]
	r.materialize()
	return nil
}

// oneRow keeps one row of each unit. Which one depends on the contents of that unit's rows alone.
func (r *Relation) oneRow() {
	in := r.materialize()
	i := slices.IndexFunc(r.Names, func(n Name) bool { return n.unit })
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in}, Units: true, Single: true}
	per.Exprs, per.Columns = []*bounded.Expr{r.Names[i].e}, []bounded.Column{r.output("unit", r.Names[i].e)}
	join := &bounded.Source{
		Op: bounded.Join, Inputs: []*bounded.Source{per, in}, Units: true, Most: 1, Single: true,
		Columns: append(slices.Clone(per.Columns), in.Columns...),
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = join.Column(names[i].e.Column + 1)
		names[i].copies = min(names[i].copies, 1)
	}
	r.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: r.computed}
	r.unit.RowsPerUnit, r.unit.MaxGroups, r.unit.RowsPerGroup = 1, 1, 1
}
