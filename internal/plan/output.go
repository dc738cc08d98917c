package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Func is an aggregate function.
type Func string

// The aggregate functions that are computed from sums.
const (
	CountFunc Func = "count"
	SumFunc   Func = "sum"
	Average   Func = "avg"
)

// Aggregate is an aggregate of the question: one or two measures, a quantile or a mode.
type Aggregate struct {
	Func       Func
	Sum, Count *Measure // SumFunc sets Sum, CountFunc sets Count, and Average sets both, or Sum and Rows
	// for Average, and for a sum of centred values, the declared number of rows; 0 if Count measures it. For a variance from
	// a spread, it is the number of pairs by which the spread is divided
	Rows     int64
	Lo, Hi   float64 // for Average, the bounds of the averaged values
	Quantile *Quantile
	Mode     *Mode
}

// Measures returns the aggregate's measures, the sum first, or none for a quantile or a mode.
func (a Aggregate) Measures() []*Measure {
	if a.Sum != nil && a.Count != nil {
		return []*Measure{a.Sum, a.Count}
	}
	if a.Quantile != nil || a.Mode != nil {
		return nil
	}
	if a.Func == CountFunc {
		return []*Measure{a.Count}
	}
	return []*Measure{a.Sum}
}

// Centred reports whether the aggregate is a sum that is computed from the sum of the differences from the middle of
// the range, and the number of rows: Sum + Sum.Centre·Count, or Sum + Sum.Centre·Rows (see besideAverages).
func (a Aggregate) Centred() bool { return a.Func == SumFunc && (a.Count != nil || a.Rows > 0) }

// Centre returns the middle of the range of a centred sum's values. It is 0 for the average of squared differences, which
// does not depend on a centre.
func (a Aggregate) Centre() *big.Rat {
	if a.Sum.Kind == bounded.Spread {
		return new(big.Rat)
	}
	return a.Sum.RowUnits(a.Sum.Centre)
}

// Output is one column of the answer: a key, or an expression over released values.
type Output struct {
	Name string
	Key  int        // the index in Keys if Post is nil
	Grid *bind.Grid // the real that the key stands for; nil for the key itself
	Post *Post      // nil for a key
}

// OrderBy is one term of ORDER BY.
type OrderBy struct {
	Post       *Post
	Desc       bool
	NullsFirst bool
}

// selectList translates the SELECT list.
func (b *measuring) selectList() error {
	for _, item := range b.tree.Items {
		if several, err := b.approxQuantiles(item); several {
			if err != nil {
				return err
			}
			continue
		}
		post, err := b.post(item.Expr)
		if err != nil {
			return err
		}
		if post.Op != PostKey && post.Op != PostAggregate && !bind.IsNumber(post.Type) {
			return bind.RefuseHere(
				item.Expr.Pos(),
				"put conditions in HAVING",
				"a column of an answer is a GROUP BY expression or a number",
			)
		}
		out := Output{Name: b.outputName(item), Post: post}
		if post.Op == PostKey {
			out.Key, out.Grid, out.Post = post.Index, post.Grid, nil
		}
		b.outputs = append(b.outputs, out)
	}
	return nil
}

// outputName returns the name of a column of the answer: its alias, or the name that PostgreSQL would give it. A
// repeated name gets a number.
func (b *measuring) outputName(item query.Item) string {
	name := item.Alias
	if name == "" {
		name = cmp.Or(item.Name, "expr")
		switch x := item.Expr.(type) {
		case *query.Column:
			name = x.Name
		case *query.Call:
			name = x.Name
		case *query.Case:
			name = "case"
		}
	}
	unique := name
	if b.taken == nil {
		b.taken, b.counted = map[string]bool{}, map[string]int{}
	}
	for i := max(b.counted[name], 2); b.taken[unique]; i++ { // all lower numbers are in use
		unique = fmt.Sprintf("%s_%d", name, i)
		b.counted[name] = i
	}
	b.taken[unique] = true
	return unique
}

// lowerHaving binds HAVING. Its names may be aliases, as in GoogleSQL, MySQL and DuckDB.
func (b *measuring) lowerHaving() (err error) {
	if b.tree.Having == nil {
		return nil
	}
	b.having, err = b.postCondition(query.Unaliased(b.tree, b.tree.Having, b.Has))
	return err
}

func (b *measuring) lowerOrder() error {
	for _, o := range b.tree.OrderBy {
		x := resolveOutput(b.tree, o.Expr)
		if err := bind.Placed(o.Expr, x); err != nil {
			return err
		}
		post, err := b.post(x)
		if err != nil {
			return err
		}
		by := OrderBy{Post: post, Desc: o.Desc, NullsFirst: o.Desc} // PostgreSQL's default
		if o.NullsFirst != nil {
			by.NullsFirst = *o.NullsFirst
		}
		b.order = append(b.order, by)
	}
	return nil
}

// resolveAlias returns the expression that GROUP BY 1 or GROUP BY alias stands for. A column takes precedence over
// an alias of the same name.
func resolveAlias(names *bind.Scope, tree *query.Select, x query.Expr) query.Expr {
	if c, ok := x.(*query.Column); ok && c.Table == "" && names.Has(c.Name) {
		return x
	}
	return resolveOutput(tree, x)
}

// resolveOutput returns the expression that ORDER BY 1 or ORDER BY alias stands for, or x itself.
func resolveOutput(tree *query.Select, x query.Expr) query.Expr {
	switch x := x.(type) {
	case *query.Literal:
		n, err := strconv.Atoi(x.Text)
		if x.Kind == query.IntegerLiteral && err == nil && n >= 1 {
			return numbered(tree, n, x)
		}
	case *query.Column:
		for _, item := range tree.Items {
			if x.Table == "" && item.Alias == x.Name {
				return item.Expr
			}
		}
	}
	return x
}

// aggregate returns the released value of an aggregate call, and adds the aggregate and its claim if they are new.
func (b *measuring) aggregate(x *query.Call) (*Post, error) {
	defer func() { b.given = given{} }()
	if bind.OrderAggregates[x.Name] {
		return b.orderAggregate(x)
	}
	if x.Distinct && len(x.Args) > 1 {
		one, ok := b.asText(x)
		if !ok {
			return nil, severalValues(x)
		}
		x = one
	}
	x, err := b.arguments(x)
	if err == nil && x.Name == "clipped" {
		x, err = b.clipped(x)
	}
	if err != nil {
		return nil, err
	}
	x = bind.Unfiltered(x)
	if p := b.declaredCount(x); p != nil {
		return p, nil
	}
	if bind.Moments[x.Name] > 0 {
		return b.moment(x)
	}
	a, err := b.newAggregate(x)
	if err == nil {
		err = b.clampCells(a)
	}
	if err != nil {
		return nil, err
	}
	p := b.use(a)
	b.claimed(p)
	return p, nil
}

// use returns the released value of an aggregate, and adds the aggregate if it is new.
func (b *measuring) use(a unpricedAggregate) *Post {
	a.sum, a.count = b.share(a.sum), b.share(a.count)
	same := func(o unpricedAggregate) bool {
		return o.of == a.of && o.sum == a.sum && o.count == a.count && o.rows == a.rows
	}
	i := slices.IndexFunc(b.aggregates, same)
	if i < 0 {
		i = len(b.aggregates)
		b.aggregates = append(b.aggregates, a)
	}
	return &Post{Op: PostAggregate, Type: value.Real, Index: i}
}

// share returns the question's measure that equals m, and adds m if there is none.
func (b *measuring) share(m *unpricedMeasure) *unpricedMeasure {
	if m == nil {
		return nil
	}
	text := m.String()
	if o := b.known[text]; o != nil {
		return o
	}
	if b.known == nil {
		b.known = map[string]*unpricedMeasure{}
	}
	m.text = text // m does not change after this line
	b.known[text] = m
	b.measures = append(b.measures, m)
	return m
}

func (b *measuring) newAggregate(x *query.Call) (unpricedAggregate, error) {
	if x.Name == "count" && x.Star {
		return unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountRows, nil)}, nil
	}
	if x.Star || len(x.Args) != 1 {
		return unpricedAggregate{}, bind.Refuse(x.At, "", "%s takes one argument", x.Name)
	}
	if x.Distinct {
		return b.countDistinct(x)
	}
	e, err := b.Row(x.Args[0])
	if err != nil {
		return unpricedAggregate{}, err
	}
	if bind.IsUntypedNull(e) {
		return unpricedAggregate{}, bind.Refuse(x.At, "", "NULL cannot be aggregated")
	}
	if x.Name == "count" {
		return unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountValue, e)}, nil
	}
	if e.Type == value.Boolean {
		return unpricedAggregate{}, bind.Refuse(
			x.At,
			"write CASE WHEN … THEN 1 ELSE 0 END, or CAST(… AS INTEGER)",
			"%s needs a number, not a boolean",
			x.Name,
		)
	}
	if err := bind.NumericIn(e, x); err != nil {
		return unpricedAggregate{}, err
	}
	if b.given.auto {
		return b.searched(x.Name, e, x.At)
	}
	sum, err := sumMeasure(e, x.Name == "avg", x.At)
	if err != nil {
		return unpricedAggregate{}, err
	}
	switch x.Name {
	case "sum":
		return unpricedAggregate{of: SumFunc, sum: sum}, nil
	case "avg":
		return b.average(e, sum, e), nil
	}
	return unpricedAggregate{}, bind.Refuse(x.At, "", "%s is not computed from sums", x.Name)
}

// average returns the aggregate that divides the sum of e by the number of rows in which counted is not NULL.
func (b *measuring) average(e *bounded.Expr, sum *unpricedMeasure, counted *bounded.Expr) unpricedAggregate {
	lo, hi := bind.RangeFloats(e.Range, e.Type)
	out := unpricedAggregate{of: Average, sum: sum, rows: b.unitsWith(counted), lo: lo, hi: hi}
	if out.rows == 0 {
		out.count = countMeasure(bounded.CountValue, counted)
	}
	return out
}
