package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// build returns the expression of an aggregate: a variance, covariance, correlation or regression coefficient. As
// in PostgreSQL, the dependent variable is the first argument.
func (m *momentsOf) build(name string) *Post {
	const y, x = 0, 1
	switch name {
	case "var_pop":
		return m.variance(0)
	case "var_samp", "variance":
		return m.variance(1)
	case "stddev_pop":
		return m.deviation(m.variance(0), 1)
	case "stddev_samp", "stddev":
		return m.deviation(m.variance(1), 2)
	case "covar_pop":
		return m.covariance(y, x)
	case "covar_samp":
		return m.sample(y, x)
	case "corr":
		return m.correlation()
	case "regr_r2":
		r := m.correlation()
		return within(mul(r, r), 0, 1)
	case "regr_slope":
		return m.slope()
	case "regr_intercept":
		return sub(m.mean(y), mul(m.slope(), m.mean(x)))
	case "regr_avgy":
		return m.mean(y)
	case "regr_avgx":
		return m.mean(x)
	}
	return m.count() // regr_count
}

// momentsOf holds the averages of an aggregate of one or two variables. All averages have one count, of the rows in
// which no variable is NULL.
//
// For a variable x, let E x be its average, and d = x − c, where c is the middle of the range of x, rounded to an
// integer for integers. A second variable x′ has c′ and d′ likewise. The variance is E d² − (E x − c)², and the
// covariance is E d·d′ − (E x − c)(E x′ − c′). They are centred, because the noise on a sum grows with the largest
// value that a row may add.
type momentsOf struct {
	b       *measuring
	at      query.Pos
	counted *bounded.Expr // not NULL in the rows in which no variable is NULL
	x       []variable
	squares map[[2]int]*Post // the means E d·d′, by pair of variables
	means   map[int]*Post    // the means E x, by variable
	err     error
}

// variable is an argument of an aggregate.
type variable struct {
	x, d   query.Expr    // d = x − centre
	expr   *bounded.Expr // x as a typed expression
	lo, hi float64
	centre float64
}

// moment plans a variance, covariance, correlation or regression coefficient.
func (b *measuring) moment(x *query.Call) (*Post, error) {
	switch {
	case x.Star || len(x.Args) != bind.Moments[x.Name]:
		return nil, bind.Refuse(x.At, "", "%s takes %s", x.Name, plural(int64(bind.Moments[x.Name]), "argument"))
	case x.Distinct:
		return nil, bind.Refuse(x.At, "leave out DISTINCT", "DISTINCT is supported for counting units only")
	}
	m := &momentsOf{b: b, at: x.At, squares: map[[2]int]*Post{}, means: map[int]*Post{}}
	for i, arg := range x.Args {
		if len(x.Args) == 2 && !b.pairs(x) { // a pair with a NULL is skipped
			other := &query.Is{At: x.At, X: x.Args[1-i], What: query.IsNull, Not: true}
			arg = &query.Case{At: x.At, Whens: []query.When{{Cond: other, Result: arg}}}
		}
		v, err := b.variable(x, arg)
		if err != nil {
			return nil, err
		}
		m.x = append(m.x, v)
	}
	counted := slices.MinFunc(m.x, func(a, b variable) int { return strings.Compare(a.expr.String(), b.expr.String()) })
	m.counted = counted.expr
	p := m.build(x.Name)
	if m.err != nil {
		return nil, m.err
	}
	b.claimed(p)
	return p, nil
}

func (b *measuring) variable(call *query.Call, x query.Expr) (variable, error) {
	e, err := b.Row(x)
	if err != nil {
		return variable{}, err
	}
	if bind.IsUntypedNull(e) {
		return variable{}, bind.Refuse(call.At, "", "NULL cannot be aggregated")
	}
	if e.Type == value.Boolean {
		return variable{}, bind.Refuse(
			call.At,
			"write CAST(… AS INTEGER), which is 1 or 0",
			"%s needs a number, not a boolean",
			call.Name,
		)
	}
	if err := bind.NumericIn(e, call); err != nil {
		return variable{}, err
	}
	if bind.IsUnbounded(e) ||
		e.Type == value.Integer && max(bind.AbsInt(e.Range.IntLo), bind.AbsInt(e.Range.IntHi)) > 1<<52 {
		return variable{}, bind.BoundsNeeded(e, call.At)
	}
	v := variable{x: x, expr: e}
	centre := &query.Literal{At: call.At, Kind: query.IntegerLiteral}
	if e.Type == value.Integer {
		middle := (e.Range.IntLo + e.Range.IntHi) / 2
		v.centre, centre.Text = float64(middle), strconv.FormatInt(middle, 10)
	} else {
		v.centre = e.Range.Lo + (e.Range.Hi-e.Range.Lo)/2
		if bind.ExponentBelow(v.centre) < bounded.TinyColumn { // engines treat a constant this small as 0
			v.centre = 0
		}
		centre.Kind, centre.Text = query.DecimalLiteral, strconv.FormatFloat(v.centre, 'e', -1, 64)
	}
	v.d = &query.Binary{At: call.At, Op: query.Sub, L: x, R: centre}
	v.lo, v.hi = bind.RangeFloats(e.Range, e.Type)
	return v, nil
}

// mean returns the average of variable i.
func (m *momentsOf) mean(i int) *Post {
	if m.means[i] == nil {
		m.means[i] = m.average(m.x[i].expr)
	}
	return m.means[i]
}

// product returns the average of the product of the centred variables i and j: each minus the middle of its range.
func (m *momentsOf) product(i, j int) *Post {
	if m.x[i].expr.String() > m.x[j].expr.String() { // one product for each pair, in either order
		i, j = j, i
	}
	if m.squares[[2]int{i, j}] == nil {
		e, err := m.b.Row(&query.Binary{At: m.at, Op: query.Mul, L: m.x[i].d, R: m.x[j].d})
		if err != nil {
			m.err = err
			return constantOf(0)
		}
		m.squares[[2]int{i, j}] = m.average(e)
	}
	return m.squares[[2]int{i, j}]
}

func (m *momentsOf) average(e *bounded.Expr) *Post {
	sum, err := sumMeasure(e, true, m.at)
	if err != nil {
		m.err = err
		return constantOf(0)
	}
	return m.b.use(m.b.average(e, sum, m.counted))
}

// n returns the number of rows, which is a constant if it is declared.
func (m *momentsOf) n() *Post {
	if n := m.b.unitsWith(m.counted); n > 0 {
		return constantCount(n)
	}
	return m.count()
}

func (m *momentsOf) count() *Post {
	return m.b.use(unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountValue, m.counted)})
}

// offset returns the average of variable i minus the middle of its range.
func (m *momentsOf) offset(i int) *Post { return sub(m.mean(i), constantOf(m.x[i].centre)) }

// spread bounds a covariance in magnitude, by the product of half the ranges [Popoviciu 1935, with Cauchy–Schwarz].
func (m *momentsOf) spread(i, j int) float64 {
	return (m.x[i].hi - m.x[i].lo) * (m.x[j].hi - m.x[j].lo) / 4 * (1 + 0x1p-50)
}

// variance returns the population variance of variable 0 if less is 0, and the sample variance if less is 1.
func (m *momentsOf) variance(less int64) *Post {
	if p := m.alone(less); p != nil {
		return p
	}
	if less == 0 {
		return m.covariance(0, 0)
	}
	return m.sample(0, 0)
}

// covariance returns the covariance of two variables, or the variance if i = j.
func (m *momentsOf) covariance(i, j int) *Post {
	most := m.spread(i, j)
	least := -most
	if i == j {
		least = 0
	}
	a := m.offset(i)
	b := a // the same expression, so that the product is a square, which is not negative
	if i != j {
		b = m.offset(j)
	}
	return within(sub(m.product(i, j), mul(a, b)), least, most)
}

// sample returns the covariance times n/(n − 1), for n rows. The factor is at most 2, because a sample has at least two
// rows.
func (m *momentsOf) sample(i, j int) *Post {
	factor := add(constantOf(1), div(constantOf(1), sub(m.n(), constantOf(1))))
	most := 2 * m.spread(i, j)
	least := -most
	if i == j {
		least = 0
	}
	return within(mul(m.covariance(i, j), within(factor, 1, 2)), least, most)
}

// deviation returns the square root of a variance of variable 0, clamped to its possible values. The variance is at
// most a factor, times, of the largest population variance.
func (m *momentsOf) deviation(variance *Post, times float64) *Post {
	return within(root(variance), 0, math.Sqrt(times*m.spread(0, 0))*(1+0x1p-50))
}

// correlation returns the correlation of variables 0 and 1.
func (m *momentsOf) correlation() *Post {
	return within(div(m.covariance(0, 1), root(mul(m.covariance(0, 0), m.covariance(1, 1)))), -1, 1)
}

func (m *momentsOf) slope() *Post { return div(m.covariance(0, 1), m.covariance(1, 1)) }

func constantOf(x float64) *Post {
	return &Post{Op: PostConst, Type: value.Real, Const: value.OfReal(x)}
}
func add(a, b *Post) *Post { return &Post{Op: PostAdd, Type: value.Real, Args: []*Post{a, b}} }
func sub(a, b *Post) *Post { return &Post{Op: PostSub, Type: value.Real, Args: []*Post{a, b}} }
func mul(a, b *Post) *Post { return &Post{Op: PostMul, Type: value.Real, Args: []*Post{a, b}} }
func div(a, b *Post) *Post { return &Post{Op: PostDiv, Type: value.Real, Args: []*Post{a, b}} }
func root(a *Post) *Post   { return &Post{Op: PostSqrt, Type: value.Real, Args: []*Post{a}} }

// within returns x clamped to [lo, hi].
func within(x *Post, lo, hi float64) *Post {
	return &Post{
		Op:   PostGreatest,
		Type: value.Real,
		Args: []*Post{constantOf(lo), {Op: PostLeast, Type: value.Real, Args: []*Post{constantOf(hi), x}}},
	}
}
