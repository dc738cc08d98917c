package query

// Relation is the content of FROM if it is more than a single table: a *Table, a *Subquery, a *Constants, a *Join or, at
// the top level only, a *List. A name from WITH becomes the Subquery that it stands for.
type Relation interface {
	// Pos returns the position to report for an error in this relation.
	Pos() Pos
	isRelation()
}

// Table is a table by its name. Alias is "" if none was given.
type Table struct {
	At          Pos
	Name, Alias string
}

// Subquery is a SELECT, or several SELECTs combined by UNION ALL. The items of a branch may be stars.
type Subquery struct {
	At       Pos
	Branches []*Select // at least one
	Alias    string
	Lateral  bool // whether it may read the columns of the relations before it
}

// Join is L JOIN R ON On. With USING, On is nil, and Using holds the names of columns of both sides. With Natural, both
// are nil, and the join is by all names that both sides have. Without any of the three, it is a CROSS JOIN.
type Join struct {
	At    Pos // the position of the right side
	Kind  JoinKind
	L, R  Relation
	On    Expr
	Using []string

	Natural bool
}

// List is a, b, …: relations that are joined by equalities in WHERE, each to an earlier one.
type List struct {
	At    Pos // the position of the first relation
	Items []Relation
}

// JoinKind determines which rows without a match a join keeps.
type JoinKind string

// The kinds of join.
const (
	InnerJoin JoinKind = "JOIN"
	LeftJoin  JoinKind = "LEFT JOIN"
	RightJoin JoinKind = "RIGHT JOIN"
	FullJoin  JoinKind = "FULL JOIN"
)

// Cross reports whether a join pairs every row with every other one.
func (r *Join) Cross() bool { return r.On == nil && len(r.Using) == 0 && !r.Natural }

// Star is * or table.*, which only the SELECT list of a subquery may contain. Table is "" unless the star is
// qualified.
type Star struct {
	At    Pos
	Table string
}

// Pos returns the position of the name.
func (r *Table) Pos() Pos { return r.At }

// Pos returns the position of the first SELECT, or of the name from WITH.
func (r *Subquery) Pos() Pos { return r.At }

// Pos returns the position of the right side.
func (r *Join) Pos() Pos { return r.At }

// Pos returns the position of the first relation.
func (r *List) Pos() Pos { return r.At }

// Pos returns the position of the star, or of its table's name.
func (x *Star) Pos() Pos { return x.At }

func (*Table) isRelation()    {}
func (*Subquery) isRelation() {}
func (*Join) isRelation()     {}
func (*List) isRelation()     {}
func (*Star) isExpr()         {}

// relation writes a relation as in FROM.
func (p *printer) relation(r Relation) {
	switch r := r.(type) {
	case *List:
		for i, item := range r.Items {
			p.comma(i)
			p.relation(item)
		}
	case *Table:
		p.write(quote(r.Name))
		p.alias(r.Alias)
	case *Constants:
		p.constants(r)
	case *Subquery:
		if r.Lateral {
			p.write("LATERAL ")
		}
		p.selects(r)
		p.alias(r.Alias)
	case *Join:
		p.relation(r.L)
		switch {
		case r.Natural:
			p.write(" NATURAL")
		case r.Cross():
			p.write(" CROSS")
		}
		p.write(" " + string(r.Kind) + " ")
		if _, nested := r.R.(*Join); nested {
			p.write("(")
			p.relation(r.R)
			p.write(")")
		} else {
			p.relation(r.R)
		}
		p.clause(" ON ", r.On)
		for i, name := range r.Using {
			if i == 0 {
				p.write(" USING (")
			}
			p.comma(i)
			p.write(quote(name))
		}
		if len(r.Using) > 0 {
			p.write(")")
		}
	}
}

// selects writes the SELECTs of a subquery, in parentheses.
func (p *printer) selects(r *Subquery) {
	p.write("(")
	for i, s := range r.Branches {
		if i > 0 {
			p.write(" UNION ALL ")
		}
		if len(r.Branches) > 1 && (len(s.OrderBy) > 0 || s.Limit != nil || s.Offset != nil) {
			p.write("(" + s.String() + ")")
		} else {
			p.write(s.String())
		}
	}
	p.write(")")
}

func (p *printer) alias(name string) {
	if name != "" {
		p.write(" AS " + quote(name))
	}
}
