package bind

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// In GoogleSQL, an outer join that keeps the rows of SELECT DISTINCT from a public table says which groups are
// public. Here the policy says it (values_from), and the join leaves no node in the relation: its groups are the
// key's known values. This is what the join means:
//
//   - A group is shown for each value of the public column, even if no row has the value. No other group is shown.
//     NULL is no group, because NULL equals nothing in a join.
//   - A private row whose value is NULL or no value of the public column meets no public row, and is dropped. Any
//     other private row meets exactly one public row, because these are distinct, and stays one row. So the bounds
//     of a unit stay the same.
//   - A public row that meets no private row belongs to no unit and adds nothing.
//
// If the public table's own column has the values in the policy, this question cleans the private column as if it
// took its values from there. That changes only values of rows that are dropped, so all other expressions keep
// their meaning. Both statements hold only if every row is grouped by the column itself, because otherwise a
// dropped row would be in some group. The planner refuses other groupings.

// PublicJoin says what a question must group by if a join with a public table makes its groups public.
type PublicJoin struct {
	At   query.Pos
	Hint string // a hint on how to group by the column
	// the groups, in order, if the policy does not declare them; nil if they are the known values of the column
	Values []value.Value
}

// keepsPublic returns the two sides of an outer join: the side whose rows all stay, if that side is a SELECT DISTINCT,
// and the other side. Otherwise both results are nil.
func keepsPublic(j *query.Join) (public *query.Subquery, persons query.Relation) {
	kept, other := j.R, j.L
	if j.Kind == query.LeftJoin {
		kept, other = j.L, j.R
	}
	if s, ok := kept.(*query.Subquery); ok && j.Kind != query.InnerJoin && len(s.Branches) == 1 && s.Branches[0].Distinct {
		return s, other
	}
	return nil, nil
}

// publicJoin binds a FROM clause that is a join with a public table which makes groups public. It returns nil for any
// other FROM clause.
func (f from) publicJoin(tree *query.Select) (*Relation, error) {
	j, ok := tree.From.Relation.(*query.Join)
	if !ok || unmatched(j) != nil {
		return nil, nil
	}
	sub, other := keepsPublic(j)
	if sub == nil {
		return nil, nil
	}
	groups, err := f.distinctPublic(sub)
	if err != nil || groups == nil {
		return nil, err
	}
	persons, err := f.relation(other)
	if err != nil {
		return nil, err
	}
	public := groups.Names[0]
	switch {
	case persons.public:
		return nil, Refuse(
			j.At,
			"join each to the table of persons, one after the other",
			"a join of two public tables alone is not supported",
		)
	case !asksPublicGroups(tree):
		return nil, Refuse(
			j.At,
			"write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) …, which shows exactly the public table's groups",
			"this join would add rows that belong to nobody",
		)
	case shared(persons.tables(), groups.tables()) != "":
		return nil, Refuse(j.At, "give one of them an alias", "two tables are called %q here", public.table)
	case tree.Where != nil:
		return nil, Refuse(
			tree.Where.Pos(),
			"put the condition into a subquery: FROM (SELECT * FROM … WHERE …) AS t",
			"PUBLIC_GROUPS takes no WHERE: it would drop empty groups",
		)
	}
	if j, err = named(j, persons.Names, groups.Names); err != nil {
		return nil, err
	}
	key, err := persons.joinedBy(groups, j)
	if err != nil {
		return nil, err
	}
	persons.Keyed = &PublicJoin{At: j.At, Hint: "write GROUP BY " + public.String()}
	if err := f.keyedBy(persons, key, public, tree); err != nil {
		return nil, err
	}
	if j.Using != nil {
		persons.Keyed.Hint = "write GROUP BY " + query.QuoteName(public.name)
		merge(persons.Names, j.Using, nil) // a name without a table means the public column, whose rows all stay
	}
	public.e, public.Group = key.e, true
	if key.of.table.Column(key.of.column).ValuesFrom != nil {
		public.of = key.of
	}
	persons.Names = append(persons.Names, public)
	return persons, nil
}

// asksPublicGroups reports whether the question has the option group_selection_strategy=PUBLIC_GROUPS. The planner
// reads the other options.
func asksPublicGroups(tree *query.Select) bool {
	if tree.Options == nil {
		return false
	}
	for _, o := range tree.Options.List {
		if o.Name != "group_selection_strategy" {
			continue
		}
		if word, err := StrategyOption(o); err == nil && word == PublicGroups {
			return true
		}
	}
	return false
}

// distinctPublic binds SELECT DISTINCT of one column of a public table. It returns nil if the table is not public.
func (f from) distinctPublic(sub *query.Subquery) (*Relation, error) {
	all := *sub.Branches[0]
	all.Distinct = false
	r, err := f.selected(&all)
	if err != nil {
		return nil, err
	}
	if !r.public {
		return nil, nil // the caller refuses it like any other SELECT DISTINCT
	}
	at := sub.Branches[0].DistinctAt
	if r.Source != nil || r.Where != nil || len(r.Names) != 1 || r.Names[0].of.table == nil || len(all.GroupBy) > 0 ||
		all.Having != nil {
		return nil, Refuse(
			at,
			"write (SELECT DISTINCT x FROM t), where x is a column of the public table t",
			"the groups of PUBLIC_GROUPS are all values of one column of a public table",
		)
	}
	r.Names[0].table = sub.Alias
	return r, nil
}

// joinedBy returns the private column that the join equates with the public column.
func (r *Relation) joinedBy(public *Relation, j *query.Join) (*Name, error) {
	n := public.Names[0]
	no := func(at query.Pos) error {
		return Refuse(
			at,
			"write USING ("+query.QuoteName(
				n.name,
			)+"), or ON t.x = p."+query.QuoteName(
				n.name,
			)+"; put other conditions into a subquery",
			"the condition of a join for PUBLIC_GROUPS is a single equality with the public column",
		)
	}
	if j.Using != nil {
		if len(j.Using) != 1 || j.Using[0] != n.name {
			return nil, no(j.At)
		}
		return r.Find(&query.Column{At: j.At, Name: n.name})
	}
	eq, ok := j.On.(*query.Binary)
	if !ok || eq.Op != query.Eq {
		return nil, no(j.On.Pos())
	}
	both := Scope{Names: append(slices.Clone(r.Names), n)}
	var found *Name
	publics := 0
	for _, x := range []query.Expr{eq.L, eq.R} {
		c, ok := x.(*query.Column)
		if !ok {
			return nil, no(x.Pos())
		}
		m, err := both.Find(c)
		if err != nil {
			return nil, err
		}
		if m == &both.Names[len(r.Names)] {
			publics++
			continue
		}
		if found, err = r.Find(c); err != nil {
			return nil, err
		}
	}
	if publics != 1 || found == nil {
		return nil, no(eq.At)
	}
	return found, nil
}

// keyedBy makes the values of the public column the groups of the private column key. They become the known values of key
// if the policy declares that. Otherwise they are constants of the question, and a condition in tree.Where drops rows with
// other values. If the values are not known, the refusal says what the owner can declare.
func (f from) keyedBy(r *Relation, key *Name, public Name, tree *query.Select) error {
	at := r.Keyed.At
	from := public.of.table.Column(public.of.column)
	origin := public.of.table.Name + "." + public.of.column
	if key.of.table == nil || key.e.Op != bounded.OpColumn {
		return Refuse(
			at,
			"join by a column of the table itself",
			"%s is computed, so its values may differ from those of %s",
			query.QuoteName(key.name),
			origin,
		)
	}
	if r.UnitStands(key.e) {
		return Refuse(at, "group by something else", "each group would hold one unit only")
	}
	own := key.of.table.Column(key.of.column)
	is := func(o *policy.Origin) bool {
		return o != nil && o.Table == public.of.table.Name && o.Column == public.of.column
	}
	var of *policy.Column
	switch {
	case is(own.ValuesFrom):
		of = own
	case is(from.ValuesFrom) && own.ValuesFrom == nil && own.Values == nil && own.Lower == nil && own.Type == from.Type && r.Source == nil:
		of = from
	default:
		if ok, err := f.keyedByValues(r, key, public, tree); ok || err != nil {
			return err
		}
		instead := ""
		if own.ValuesFrom != nil || own.Values != nil || own.Lower != nil {
			instead = ", in place of what it declares now"
		}
		return Refuse(
			at,
			fmt.Sprintf(
				"the owner can declare, for column %s of table %s: values_from: %s%s",
				key.of.column,
				key.of.table.Name,
				origin,
				instead,
			),
			"the policy does not declare that the groups of %s are the values of %s",
			query.QuoteName(key.name),
			origin,
		)
	}
	if err := unfilled(of, at); err != nil {
		return err
	}
	c := r.Columns[key.e.Column]
	cleaned := *c.Column
	cleaned.Values, cleaned.ValuesFrom, cleaned.Nullable = of.Values, of.ValuesFrom, false
	c.Column = &cleaned
	if r.Source == nil {
		c.Range = bounded.CleanRange(&cleaned)
	}
	r.Columns = slices.Clone(r.Columns)
	r.Columns[key.e.Column] = c
	return nil
}

// mostGroups is the largest number of public values that a question takes as constants.
const mostGroups = 1000

// keyedByValues makes the values of the public column constants of the question: it keeps the rows of which key is one of
// them, and they are the groups. It returns false if they are not known here.
//
// Claim: the question is one that could have these constants written in it, so everything that holds of such a question
// holds here. Proof: the table is public, so its values depend on no row of a person. The condition reads key alone, and
// is TRUE only for the groups' values. ∎
func (f from) keyedByValues(r *Relation, key *Name, public Name, tree *query.Select) (bool, error) {
	at, own := r.Keyed.At, key.of.table.Column(key.of.column)
	from := policy.Origin{Table: public.of.table.Name, Column: public.of.column}
	values, trouble := f.policy.PublicValues(from)
	values = slices.Clone(values)
	slices.SortFunc(values, value.Compare)
	switch {
	case own.Type != public.of.table.Column(public.of.column).Type || own.Type == value.Real:
		return false, nil
	case trouble != "":
		return false, Refuse(at, "the owner can seal it: dither seal "+from.Table,
			"the groups are the values of %s.%s, and %s", from.Table, from.Column, trouble)
	case len(values) == 0:
		return false, nil
	case len(values) > mostGroups:
		return false, Refuse(at, fmt.Sprintf("the owner can declare, for column %s of table %s: values_from: %s.%s",
			key.of.column, key.of.table.Name, from.Table, from.Column),
			"%s.%s has more than %d values, and the policy does not declare that they are groups", from.Table, from.Column, mostGroups)
	}
	in := &query.In{At: at, X: &query.Column{At: at, Table: key.table, Name: key.name}}
	for _, v := range values {
		if own.Values != nil && !slices.ContainsFunc(own.Values, func(o value.Value) bool { return same(o, v) }) ||
			v.Type.Whole() && outside(v, r.Columns[key.e.Column].Range) {
			return false, Refuse(at, "the owner can declare the same values for both columns",
				"the value %s of %s.%s is none that column %s can have", quoted(v), from.Table, from.Column, query.QuoteName(key.name))
		}
		in.List = append(in.List, literal(v, at))
	}
	r.Keyed.Values, tree.Where = values, in
	return true, nil
}

// literal returns a value as a constant of a question.
func literal(v value.Value, at query.Pos) *query.Literal {
	switch v.Type {
	case value.Text:
		return &query.Literal{At: at, Kind: query.StringLiteral, Text: v.Text}
	case value.Boolean:
		return &query.Literal{At: at, Kind: query.BooleanLiteral, Bool: v.IsTrue()}
	case value.Date:
		return &query.Literal{At: at, Kind: query.DateLiteral, Text: v.String()}
	case value.Timestamp:
		return &query.Literal{At: at, Kind: query.TimestampLiteral, Text: v.String()}
	case value.Time:
		return &query.Literal{At: at, Kind: query.TimeLiteral, Text: v.String()}
	}
	return &query.Literal{At: at, Kind: query.IntegerLiteral, Text: v.String()}
}

// distinct returns a SELECT DISTINCT of the unit's column and other columns as a SELECT with GROUP BY, which has the same
// rows. It refuses any other SELECT DISTINCT.
func (r *Relation) distinct(s *query.Select) (*query.Select, error) {
	no := func(hint string) (*query.Select, error) {
		return nil, RefuseHere(
			s.DistinctAt,
			hint,
			"SELECT DISTINCT is not supported here: whether a row stays would depend on other persons' rows",
		)
	}
	if r.public {
		return nil, RefuseHere(
			s.DistinctAt,
			"leave DISTINCT out, if the owner declares rows_per_value for the join's column; or, to group by its values, write OPTIONS(group_selection_strategy=PUBLIC_GROUPS) and t RIGHT JOIN (SELECT DISTINCT x FROM p) USING (x)",
			"SELECT DISTINCT of public rows can only list the groups of PUBLIC_GROUPS",
		)
	}
	if r.unit.IsRow() || grouped(s) {
		return no("leave DISTINCT out; COUNT(DISTINCT x) counts values")
	}
	var names []string
	byUnit := false
	for _, item := range s.Items {
		n, err := r.item(item)
		if err != nil {
			return no("write GROUP BY with the unit's column and all other selected expressions: each person's values then occur once")
		}
		byUnit = byUnit || n.unit
		names = append(names, query.Print(item.Expr))
	}
	if byUnit {
		out := *s
		out.Distinct = false
		for _, item := range s.Items {
			out.GroupBy = append(out.GroupBy, item.Expr)
		}
		return &out, nil
	}
	if i := slices.IndexFunc(r.Names, func(n Name) bool { return n.unit }); i >= 0 {
		names = append([]string{r.Names[i].String()}, names...)
	}
	list := strings.Join(names, ", ")
	return no("write SELECT " + list + " … GROUP BY " + list + ": each person's values then occur once")
}

// String returns the name as SQL writes it.
func (n Name) String() string {
	if n.table == "" {
		return query.QuoteName(n.name)
	}
	return query.QuoteName(n.table) + "." + query.QuoteName(n.name)
}
