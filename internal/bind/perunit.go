package bind

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

const (
	innerSumBits     = 51 // a double has 53 bits
	innerAverageBits = 46
	finestInner      = -500
)

var innerFunctions = map[string]bounded.InnerFunc{
	"count":    bounded.InnerCount,
	"sum":      bounded.InnerSum,
	"avg":      bounded.InnerAverage,
	"min":      bounded.InnerMin,
	"max":      bounded.InnerMax,
	"bool_or":  bounded.InnerAny,
	"bool_and": bounded.InnerAll,
	"every":    bounded.InnerAll,
}

// inside is the scope of the SELECT list and HAVING of a subquery that is grouped by the unit.
type inside struct {
	input *Relation // the rows that are grouped, materialized
	per   *bounded.Source
	keys  []Name
	rows  int64
}

// perUnit binds SELECT …, aggregates FROM … GROUP BY unit, further keys: one row for each unit, or for each unit
// and values of the further keys.
func (r *Relation) perUnit(s *query.Select) (*Relation, error) {
	at := s.Items[0].Expr.Pos()
	switch {
	case r.public:
		return nil, Refuse(
			at,
			"leave the subquery out; or aggregate it before it is sealed",
			"a subquery cannot aggregate public rows",
		)
	case r.unit.IsRow():
		return nil, RefuseHere(
			at,
			"leave the aggregate to the outer SELECT",
			"each row is a unit here, so a subquery has no rows of a unit to aggregate",
		)
	}
	input := r.materialize()
	in := &inside{
		input: r,
		rows:  r.unit.RowsPerUnit,
		per:   &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{input}, Units: true},
	}
	groups := int64(1)
	byUnit := false
	for _, x := range s.GroupBy {
		written := x
		x = resolveItem(x, s.Items, r)
		if err := Placed(written, x); err != nil {
			return nil, err
		}
		n, err := r.item(query.Item{Expr: x})
		if err != nil {
			return nil, err
		}
		if n.e.Type == value.Real {
			return nil, RefuseHere(x.Pos(), "group by FLOOR(x / width)", "a real number cannot be a key")
		}
		if n.unit {
			byUnit = true
		} else {
			groups = r.groups(groups, n.e)
		}
		in.per.Exprs, in.per.Columns = append(in.per.Exprs, n.e), append(in.per.Columns, r.output(n.name, n.e))
		in.keys = append(in.keys, n)
	}
	if !byUnit {
		return nil, RefuseHere(
			at,
			"add the unit's column to GROUP BY"+r.unitName()+", and aggregate over persons in the outer SELECT",
			"inside a subquery, aggregates are over one unit's own rows",
		)
	}
	in.per.Single = len(in.keys) == 1
	out := &Relation{
		Scope: Scope{Source: in.per, inside: in, computed: r.computed}, unit: r.unit, unitType: r.unitType, main: r.main,
	}
	out.unit.RowsPerUnit = min(out.unit.RowsPerUnit, groups)
	out.unit.MaxGroups, out.unit.RowsPerGroup = min(out.unit.MaxGroups, groups), min(out.unit.RowsPerGroup, groups)
	out.Columns = in.per.Columns
	return out, out.innerList(s)
}

// innerList translates the SELECT list and HAVING of a grouped subquery, and sets the relation's names.
func (r *Relation) innerList(s *query.Select) error {
	var names []Name
	for _, item := range s.Items {
		if _, ok := item.Expr.(*query.Star); ok {
			return RefuseHere(item.Expr.Pos(), "list the GROUP BY expressions and aggregates", "* cannot be selected with GROUP BY")
		}
		e, err := r.Row(item.Expr)
		if err != nil {
			return err
		}
		if IsUntypedNull(e) {
			return Refuse(item.Expr.Pos(), "", "NULL alone has no type")
		}
		n := Name{name: item.Alias, e: e, whole: r.Whole(item.Expr)}
		if e.Op == bounded.OpColumn && e.Column < len(r.inside.keys) {
			key := r.inside.keys[e.Column]
			n.unit, n.of, n.copies = key.unit, key.of, key.copies
			if rest := slices.DeleteFunc(
				slices.Clone(r.inside.keys),
				func(k Name) bool { return k.unit },
			); len(rest) <= 1 &&
				!key.unit {
				n.copies = 1 // each value has one row
			}
			if n.name == "" {
				n.name = key.name
			}
		} else if c, ok := item.Expr.(*query.Call); ok && n.name == "" {
			n.name = c.Name
		}
		names = append(names, n)
	}
	if s.Having != nil {
		e, err := r.Condition(s.Having)
		if err == nil {
			err = r.restrict(e, s.Having.Pos())
		}
		if err != nil {
			return err
		}
	}
	r.per().Columns = r.Columns
	r.Names, r.inside = names, nil
	return nil
}

func (r *Relation) per() *bounded.Source { return r.inside.per }

func (r *Relation) unitName() string {
	for _, n := range r.Names {
		if n.unit {
			return ", " + query.QuoteName(n.name)
		}
	}
	return ""
}

// groups returns the largest number of groups of one unit after a further key e is added. The parameter `so` is the
// number without e. It is unlimited unless the values of e are few and known.
func (r *Relation) groups(so int64, e *bounded.Expr) int64 {
	values, ok := r.Known(e)
	if !ok || so > math.MaxInt32 {
		return math.MaxInt32
	}
	return so * int64(len(values)+1) // one more for NULL
}

// resolveItem returns the expression that GROUP BY 1 or GROUP BY alias stands for. A column takes precedence over
// an alias of the same name.
func resolveItem(x query.Expr, items []query.Item, r *Relation) query.Expr {
	switch x := x.(type) {
	case *query.Literal:
		n, err := strconv.Atoi(x.Text)
		if x.Kind == query.IntegerLiteral && err == nil && n >= 1 && n <= len(items) {
			return items[n-1].Expr
		}
	case *query.Column:
		if x.Table != "" || r.Has(x.Name) {
			return x
		}
		for _, item := range items {
			if item.Alias == x.Name {
				return item.Expr
			}
		}
	}
	return x
}

// key returns the column of the key that computes the same as x. The boolean is false if there is none.
func (in *inside) key(x query.Expr) (*bounded.Expr, bool) {
	e, err := in.input.Row(x)
	if err != nil {
		return nil, false
	}
	for i, k := range in.per.Exprs {
		if k.Same(e) {
			return in.per.Column(i), true
		}
	}
	return nil, false
}

// innerCall returns the column of an aggregate over one unit's rows, and adds the aggregate if it is new.
func (l *Scope) innerCall(x *query.Call) (*bounded.Expr, error) {
	in := l.inside
	a, column, err := in.aggregate(x)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(in.per.Aggregates, func(o bounded.Inner) bool { return o.String() == a.String() })
	if i < 0 {
		i = len(in.per.Aggregates)
		in.per.Aggregates = append(in.per.Aggregates, a)
		in.per.Columns = append(in.per.Columns, column)
		l.Columns = in.per.Columns
	}
	return in.per.Column(len(in.keys) + i), nil
}

func (in *inside) aggregate(x *query.Call) (bounded.Inner, bounded.Column, error) {
	no := func(hint, format string, args ...any) (bounded.Inner, bounded.Column, error) {
		return bounded.Inner{}, bounded.Column{}, Refuse(x.At, hint, format, args...)
	}
	noHere := func(hint, format string, args ...any) (bounded.Inner, bounded.Column, error) {
		return bounded.Inner{}, bounded.Column{}, RefuseHere(x.At, hint, format, args...)
	}
	if len(x.Named) > 0 {
		return noHere(
			"leave "+query.QuoteName(x.Named[0].Name)+" out; bounds of rows are written LEAST(GREATEST(x, low), high)",
			"an aggregate over one unit's own rows is exact: it takes no share of the price and no bounds",
		)
	}
	distinct := x.Distinct
	if distinct && len(x.Args) > 1 {
		return no("count the rows of a subquery that selects them with DISTINCT", "COUNT(DISTINCT x) takes one value here")
	}
	if distinct && (x.Filter != nil || x.Name != "count") && !OrderAggregates[x.Name] {
		return no("COUNT(DISTINCT x) alone", "only COUNT without FILTER takes DISTINCT")
	}
	if x.Name == "median" || x.Name == "percentile_cont" || x.Name == "percentile_disc" {
		return in.quantile(x)
	}
	x = Unfiltered(x)
	if x.Name == "count" && x.Star {
		a := bounded.Inner{Func: bounded.InnerRows, Lo: 1, Hi: in.rows, Type: value.Integer}
		return a, in.counted(a, "count"), nil
	}
	f, ok := innerFunctions[x.Name]
	if !ok {
		hint := "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, BOOL_OR or BOOL_AND"
		if len(x.Args) == 1 && x.Filter == nil && IsAggregate(x.Name) {
			arg := query.Print(x.Args[0])
			variance := fmt.Sprintf("ABS(AVG((%s) * (%s)) - AVG(%s) * AVG(%s))", arg, arg, arg, arg)
			switch {
			case strings.HasPrefix(x.Name, "stddev"):
				hint = "write SQRT(" + variance + ") for STDDEV_POP"
			case strings.HasPrefix(x.Name, "var"):
				hint = "write " + variance + " for VAR_POP"
			}
		}
		return noHere(hint, "%s is not supported over one unit's rows", x.Name)
	}
	if x.Star || len(x.Args) != 1 {
		return no("", "%s takes one argument", x.Name)
	}
	e, err := in.input.Row(x.Args[0])
	if err != nil {
		return bounded.Inner{}, bounded.Column{}, err
	}
	if IsUntypedNull(e) {
		return no("", "NULL cannot be aggregated")
	}
	a := bounded.Inner{Func: f, X: e, Type: e.Type}
	switch f {
	case bounded.InnerCount:
		a.Hi, a.Type = in.rows, value.Integer
		if distinct {
			if e.Type == value.Real {
				return no("COUNT(DISTINCT FLOOR(x / width))", "distinct real numbers are not counted")
			}
			a.Func = bounded.InnerDistinct
		}
		return a, in.counted(a, x.Name), nil
	case bounded.InnerAny, bounded.InnerAll:
		if a.X, err = asBoolean(e, x.At); err != nil {
			return bounded.Inner{}, bounded.Column{}, err
		}
		return a, in.column(a, x.Name, bounded.Range{}), nil
	case bounded.InnerMin, bounded.InnerMax:
		if e.Type == value.Boolean {
			return no("use BOOL_OR or BOOL_AND", "%s does not take booleans", x.Name)
		}
		c := in.input.output(x.Name, e)
		return a, c, nil
	}
	if err := Numeric(e, x.At); err != nil {
		return bounded.Inner{}, bounded.Column{}, err
	}
	if f == bounded.InnerSum && e.Type == value.Integer {
		return in.integerSum(a, x)
	}
	return in.realSum(a, x)
}

// counted returns the column of a count, which lies between a.Lo and a.Hi.
func (in *inside) counted(a bounded.Inner, name string) bounded.Column {
	return in.column(a, name, bounded.Range{IntLo: a.Lo, IntHi: a.Hi})
}

// column returns the column of an aggregate with range r. Its weight is one more than its argument's.
func (in *inside) column(a bounded.Inner, name string, r bounded.Range) bounded.Column {
	e := &bounded.Expr{Op: bounded.OpConst, Type: a.Type, Const: value.NullOf(a.Type), Range: r, Nullable: true}
	c := bounded.Column{Column: in.input.output(name, e).Column, Range: r, Weight: 1}
	c.Values, c.Nullable = nil, a.X != nil && a.Type != value.Integer && in.input.NullGroup(a.X)
	if a.Func == bounded.InnerSum {
		c.Nullable = in.input.NullGroup(a.X)
	}
	if a.X != nil {
		c.Weight = a.X.Weight() + 1
	}
	return c
}

// integerSum returns an exact sum of integers: of 1 to in.rows values, each in the range of the argument.
func (in *inside) integerSum(a bounded.Inner, x *query.Call) (bounded.Inner, bounded.Column, error) {
	rows := big.NewInt(in.rows)
	lo, hi := bigEnds(a.X.Range)
	r, ok := integerRange(lo, hi, new(big.Int).Mul(lo, rows), new(big.Int).Mul(hi, rows))
	if !ok {
		return a, bounded.Column{}, tooWide(a.X, x.At)
	}
	a.Lo, a.Hi = r.IntLo, r.IntHi
	return a, in.column(a, x.Name, r), nil
}

// realSum returns a sum or an average that is computed on a grid.
func (in *inside) realSum(a bounded.Inner, x *query.Call) (bounded.Inner, bounded.Column, error) {
	if a.X.Type == value.Integer {
		if IsUnbounded(a.X) {
			return a, bounded.Column{}, tooWide(a.X, x.At)
		}
		a.X = toReal(a.X)
	}
	a.Type = value.Real
	if !soundRange(a.X.Range) || MaxAbs(a.X.Range) > math.Ldexp(1, 100) {
		return a, bounded.Column{}, BoundsNeeded(a.X, x.At)
	}
	lo, hi := a.X.Range.Lo, a.X.Range.Hi
	bits := innerAverageBits
	if a.Func == bounded.InnerSum {
		lo, hi = min(lo, lo*float64(in.rows)), max(hi, hi*float64(in.rows))
		bits = innerSumBits
	}
	a.Grid = max(ExponentAbove(math.Max(math.Abs(lo), math.Abs(hi)))-bits, finestInner)
	a.Lo, a.Hi = int64(math.Floor(math.Ldexp(lo, -a.Grid))), int64(math.Ceil(math.Ldexp(hi, -a.Grid)))
	r := bounded.Range{Lo: math.Ldexp(float64(a.Lo), a.Grid), Hi: math.Ldexp(float64(a.Hi), a.Grid), Tiny: a.Grid}
	return a, in.column(a, x.Name, r), nil
}

// grouped reports whether a SELECT aggregates.
func grouped(s *query.Select) bool {
	if len(s.GroupBy) > 0 || s.Having != nil {
		return true
	}
	return slices.ContainsFunc(s.Items, func(i query.Item) bool { return aggregates(i.Expr) })
}

// aggregates reports whether x contains an aggregate.
func aggregates(x query.Expr) bool {
	var parts []query.Expr
	switch x := x.(type) {
	case *query.Call:
		if x.Over == nil && (IsAggregate(Renamed(x).Name) || innerFunctions[x.Name] != "" || x.Filter != nil) {
			return true
		}
		parts = x.Args
	case *query.Unary:
		parts = []query.Expr{x.X}
	case *query.Binary:
		parts = []query.Expr{x.L, x.R}
	case *query.Between:
		parts = []query.Expr{x.X, x.Lo, x.Hi}
	case *query.In:
		parts = append([]query.Expr{x.X}, x.List...)
	case *query.Like:
		parts = []query.Expr{x.X}
	case *query.Is:
		parts = []query.Expr{x.X}
	case *query.Cast:
		parts = []query.Expr{x.X}
	case *query.Case:
		for _, w := range x.Whens {
			parts = append(parts, w.Cond, w.Result)
		}
		if x.Operand != nil {
			parts = append(parts, x.Operand)
		}
		if x.Else != nil {
			parts = append(parts, x.Else)
		}
	}
	return slices.ContainsFunc(parts, aggregates)
}
