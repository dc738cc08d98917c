package post

import (
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/nearest"
	"dither/internal/query"
	"dither/internal/value"
)

// scope binds the expressions of one SELECT over an answer.
type scope struct {
	*binder
	frame
	// of GROUP BY: the texts of the expressions without the names of tables, and their nodes. nil without GROUP BY and
	// aggregates
	grouped           bool
	keys              []string
	groups            []*node
	folds             []*fold
	windows           []*window
	inside, windowing bool     // in the argument of an aggregate, and in a window function
	sifting           bool     // in x IN (SELECT …) that must be true of each row
	rowwise           bool     // in WHERE, GROUP BY or HAVING, where no window function may stand
	picked            string   // why the rows depend on noise; "" if they do not
	texts             []string // of the folds
}

// frame describes the rows that a SELECT reads.
type frame struct {
	columns []Column
	table   string // the name by which the SELECT refers to its rows; "" for none
	// for a join: the name of each column's table, and whether USING merged the column, so that only a name with its table
	// means it. nil for a single table
	of     []string
	merged []bool
	chosen string // why the rows depend on noise; "" if they do not
	// sifted reports whether noise that is independent of the numbers in the rows decides which rows there are. The numbers
	// keep their intervals. A value that is computed from several rows has no interval.
	sifted bool
	ranked bool    // whether the order of the rows depends on noise
	most   float64 // a bound on the number of rows
	empty  bool    // whether rows may be groups of an answer in which nobody has a row
}

// decided returns why what is computed from the rows has no interval; "" if it may have one.
func (f *frame) decided() string {
	if f.chosen == "" && f.sifted {
		return whyPicked
	}
	return f.chosen
}

// tableOf returns the name of the table of column i.
func (f *frame) tableOf(i int) string {
	if f.of == nil {
		return f.table
	}
	return f.of[i]
}

// shows reports whether a star stands for column i, among others. table is "" for * alone.
func (f *frame) shows(i int, table string) bool {
	if table != "" {
		return f.tableOf(i) == table
	}
	return f.merged == nil || !f.merged[i]
}

// means reports whether a name may mean column i.
func (f *frame) means(i int, x *query.Column) bool {
	return f.columns[i].Name == x.Name && f.shows(i, x.Table)
}

// has reports whether rows have a table of a name.
func (f *frame) has(table string) bool {
	if f.of == nil {
		return f.table == table
	}
	return slices.Contains(f.of, table)
}

// text returns a text that is the same for expressions that mean the same columns.
func (f *frame) text(x query.Expr) string {
	if f.of == nil {
		return plain(x)
	}
	return query.Print(query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		c, ok := e.(*query.Column)
		if !ok {
			return e, false
		}
		for i := range f.columns {
			if f.means(i, c) {
				return &query.Column{At: c.At, Name: position(i)}, true
			}
		}
		return e, true
	}))
}

// binder holds what the SELECTs of one question share.
type binder struct {
	nested func(*scope, *query.Nested) (*node, error)
	inners []*inner                     // the subqueries in expressions
	wholes map[*query.Nested]bind.Whole // the types of their whole numbers in PostgreSQL
	counts bool                         // whether an aggregate depends on how many groups of an answer there are
}

// subquery returns the rows of a subquery in an expression.
func (b *binder) subquery(of source) *inner {
	n := &inner{of}
	b.inners = append(b.inners, n)
	return n
}

func (s *scope) bindAll(xs []query.Expr) ([]*node, error) {
	out := make([]*node, len(xs))
	for i, x := range xs {
		n, err := s.bind(x)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (s *scope) bind(x query.Expr) (*node, error) {
	if s.grouped && !s.inside {
		if i := slices.Index(s.keys, s.text(x)); i >= 0 {
			n := s.groups[i]
			return &node{typ: n.typ, noisy: n.noisy, why: n.why, width: n.width, eval: func(_ *env, r *row) Cell { return r.keys[i] }}, nil
		}
	}
	if s, ok := bind.SpanOf(x); ok {
		return exactly(ofSpan(s)), nil
	}
	if v, ok := constantTime(x); ok {
		return exactly(v), nil
	}
	switch x := x.(type) {
	case *query.Literal:
		e, err := bind.Literal(x)
		if err != nil {
			return nil, err
		}
		if bind.IsUntypedNull(e) {
			return nothing(), nil
		}
		out := exactly(e.Const)
		if out.typ == value.Text {
			out.local = e.Text
		}
		return out, nil
	case *query.Column:
		return s.column(x)
	case *query.Unary:
		return s.unary(x)
	case *query.Binary:
		return s.binary(x)
	case *query.Between:
		return s.between(x)
	case *query.In:
		return s.in(x)
	case *query.Like:
		return s.like(x)
	case *query.Is:
		return s.is(x)
	case *query.Case:
		return s.cases(x)
	case *query.Cast:
		n, err := s.bind(x.X)
		if err != nil {
			return nil, err
		}
		return cast(n, x.Type, x.At)
	case *query.Call:
		return s.call(x)
	case *query.Nested:
		return s.nested(s, x)
	case *query.Star:
		return nil, bind.Refuse(x.At, "name the columns", "* is allowed only as an item of SELECT, without GROUP BY")
	}
	return nil, bind.Refuse(x.Pos(), "", "this is not supported over an answer")
}

// column binds a column of the rows.
func (s *scope) column(x *query.Column) (*node, error) {
	at := -1
	for i, c := range s.columns {
		if !s.means(i, x) {
			continue
		}
		if at >= 0 {
			hint := "give the columns different names with AS"
			if s.tableOf(i) != s.tableOf(at) {
				hint = "write the table before it: " + query.QuoteName(s.tableOf(at)) + "." + query.QuoteName(x.Name)
			}
			return nil, bind.Refuse(x.At, hint, "the answer has several columns %q", c.Name)
		}
		at = i
	}
	if at < 0 {
		return nil, s.noColumn(x)
	}
	if s.grouped && !s.inside {
		return nil, bind.Refuse(x.At, "add it to GROUP BY, or use an aggregate of it, such as SUM or MAX",
			"column %q stands outside any aggregate", s.columns[at].Name)
	}
	return s.field(at), nil
}

func (s *scope) field(i int) *node {
	c := s.columns[i]
	return &node{
		typ: c.Type, noisy: c.Noisy, why: c.Why, from: c.From, sure: c.Sure, width: widthOf(c),
		eval: func(_ *env, r *row) Cell { return r.cells[i] },
	}
}

// noColumn returns the refusal of a name that the answer does not have.
func (s *scope) noColumn(x *query.Column) error {
	var names []string
	for i, c := range s.columns {
		if !strings.HasPrefix(c.Name, "\x00") && s.shows(i, x.Table) {
			names = append(names, c.Name)
		}
	}
	if x.Table != "" && !s.has(x.Table) {
		hint := "write the column's name alone"
		if s.table != "" {
			hint = "write " + query.QuoteName(s.table) + "." + query.QuoteName(x.Name)
		}
		return bind.Refuse(x.At, hint, "there is no table %q in FROM", x.Table)
	}
	hint := "the subquery has the columns " + strings.Join(names, ", ")
	if len(names) == 0 { // the arguments of a function in FROM
		hint = "write a constant"
	}
	if near := nearest.Name(x.Name, names); near != "" {
		hint = "did you mean " + query.QuoteName(near) + "?"
	}
	return bind.Refuse(x.At, hint, "there is no column %q", x.Name)
}

func (s *scope) condition(x query.Expr) (*node, error) {
	n, err := s.bind(x)
	if err == nil {
		err = asCondition(n, x.Pos())
	}
	return n, err
}

func (s *scope) unary(x *query.Unary) (*node, error) {
	if x.Op == query.Not {
		n, err := s.condition(x.X)
		if err != nil {
			return nil, err
		}
		return not(n), nil
	}
	n, err := s.bind(x.X)
	if err != nil {
		return nil, err
	}
	return negate(n, x.At)
}

func (s *scope) binary(x *query.Binary) (*node, error) {
	both, err := s.bindAll([]query.Expr{x.L, x.R})
	if err != nil {
		return nil, err
	}
	a, b := both[0], both[1]
	switch x.Op {
	case query.And, query.Or:
		for i, e := range []query.Expr{x.L, x.R} {
			if err := asCondition(both[i], e.Pos()); err != nil {
				return nil, err
			}
		}
		return logic(x.Op, a, b), nil
	case query.Concat:
		return joined(a, b, x.At)
	case query.Div:
		if common(a, b) == value.Integer && !a.noisy && !b.noisy &&
			s.whole(x.L) < bind.WholeNumeric && s.whole(x.R) < bind.WholeNumeric {
			return divide2(both, x.At)
		}
		return arithmetic(x.Op, a, b, x.At)
	case query.Add, query.Sub, query.Mul, query.Mod:
		return arithmetic(x.Op, a, b, x.At)
	default:
		return compare(x.Op, a, b, x.At)
	}
}

// whole returns the type that PostgreSQL gives an expression of type integer.
func (s *scope) whole(x query.Expr) bind.Whole {
	return bind.WholeOf(x, func(x query.Expr) bind.Whole {
		switch x := x.(type) {
		case *query.Nested:
			return s.wholes[x]
		case *query.Column:
			for i, c := range s.columns {
				if s.means(i, x) {
					return c.whole
				}
			}
		}
		return bind.WholeInt
	})
}

// wholeBelow returns the same of an expression over the rows that a measured SELECT reads.
func wholeBelow(s *query.Select, x query.Expr) bind.Whole {
	return bind.WholeOf(x, func(x query.Expr) (out bind.Whole) {
		c, ok := x.(*query.Column)
		of := below(s)
		if !ok || of == nil {
			return bind.WholeInt
		}
		for _, item := range of.Items {
			if nameOf(item) == c.Name {
				out = max(out, wholeBelow(of, item.Expr))
			}
		}
		return out
	})
}

func (s *scope) between(x *query.Between) (*node, error) {
	all, err := s.bindAll([]query.Expr{x.X, x.Lo, x.Hi})
	if err != nil {
		return nil, err
	}
	operand := all[0]
	all[0] = once(operand)
	lo, err := compare(query.Ge, all[0], all[1], x.At)
	if err != nil {
		return nil, err
	}
	hi, err := compare(query.Le, all[0], all[2], x.At)
	if err != nil {
		return nil, err
	}
	return unless(x.Not, logic(query.And, lo, hi).costs(operand)), nil
}

func unless(negated bool, n *node) *node {
	if negated {
		return not(n)
	}
	return n
}

// in binds x IN (a, b, …): true if an element equals x, and otherwise NULL if x or an element is NULL.
func (s *scope) in(x *query.In) (*node, error) {
	all, err := s.bindAll(append([]query.Expr{x.X}, x.List...))
	if err != nil {
		return nil, err
	}
	if _, err := alike(x.At, all...); err != nil {
		return nil, err
	}
	out := general(value.Boolean, whyCondition, func(vs []value.Value) value.Value {
		unknown := vs[0].Null
		for _, v := range vs[1:] {
			if !v.Null && !vs[0].Null && value.Compare(vs[0], v) == 0 {
				return value.OfBool(true)
			}
			unknown = unknown || v.Null
		}
		if unknown {
			return value.NullOf(value.Boolean)
		}
		return value.OfBool(false)
	}, all...)
	return unless(x.Not, out), nil
}

func (s *scope) is(x *query.Is) (*node, error) {
	n, err := s.bind(x.X)
	if err == nil && x.What != query.IsNull {
		err = asCondition(n, x.X.Pos())
	}
	if err != nil {
		return nil, err
	}
	if n.sure && x.What == query.IsNull { // no row is chosen by noise
		return exactly(value.OfBool(x.Not)), nil
	}
	return unless(x.Not, isTest(x.What, n)), nil
}

// constantTime returns the date or the timestamp that an expression of constants gives, as over rows of persons.
func constantTime(x query.Expr) (value.Value, bool) {
	switch x.(type) {
	case *query.Call, *query.Binary, *query.Cast:
	default:
		return value.Value{}, false
	}
	if contains(x, func(e query.Expr) bool {
		switch e.(type) {
		case *query.Column, *query.Nested, *query.Star:
			return true
		}
		return isMeasure(e)
	}) {
		return value.Value{}, false
	}
	e, err := (&bind.Scope{}).Row(x)
	if err != nil || e.Op != bounded.OpConst || e.Type != value.Date && e.Type != value.Timestamp {
		return value.Value{}, false
	}
	return e.Const, true
}
