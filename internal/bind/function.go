package bind

import (
	"maps"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

// scalar is a function over the values of one row: its numbers of arguments, and a function that builds its
// expression.
type scalar struct {
	least, most int
	build       func(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error)
}

// scalars has every function that a row expression may call. Each function is immutable, total, and of bounded
// cost.
var scalars = map[string]scalar{
	"abs":      {1, 1, number(absolute)},
	"sign":     {1, 1, number(sign)},
	"floor":    {1, 1, number(rounding(bounded.OpFloor, math.Floor))},
	"ceil":     {1, 1, number(rounding(bounded.OpCeil, math.Ceil))},
	"ceiling":  {1, 1, number(rounding(bounded.OpCeil, math.Ceil))},
	"round":    {1, 2, toDigits(rounding(bounded.OpRound, math.Round))},
	"trunc":    {1, 2, toDigits(truncation)},
	"mod":      {2, 2, modulo},
	"div":      {2, 2, whole},
	"power":    {2, 2, power},
	"pow":      {2, 2, power},
	"log":      {1, 2, logarithmTo},
	"log10":    {1, 1, logarithmTo},
	"sqrt":     {1, 1, number(squareRoot)},
	"ln":       {1, 1, number(logarithm)},
	"exp":      {1, 1, number(exponential)},
	"coalesce": {1, 50, coalesce},
	"nullif":   {2, 2, nullIf},
	"least":    {1, 50, Extreme(bounded.OpLeast)},
	"greatest": {1, 50, Extreme(bounded.OpGreatest)},
}

// scalarNames returns the sorted names of all functions over the values of one row.
func scalarNames() []string {
	return slices.Sorted(slices.Values(slices.Concat(
		slices.Collect(maps.Keys(scalars)), timeFunctions, text.Names(),
		[]string{"extract", "date_part", "date_trunc", "width_bucket"},
	)))
}

func (l *Scope) call(x *query.Call) (*bounded.Expr, error) {
	if err := unwindowed(x); err != nil {
		return nil, err
	}
	if l.inside != nil {
		if spread, err := l.spread(x); err != nil {
			return nil, err
		} else if spread != nil {
			return l.Row(spread)
		}
	}
	if l.inside != nil && (IsAggregate(Renamed(x).Name) || innerFunctions[x.Name] != "") {
		return l.innerCall(x)
	}
	switch {
	case l.none() && IsAggregate(Renamed(x).Name):
		return nil, NoTable(x.At)
	case x.Name == "min" || x.Name == "max":
		return nil, Extremum(x)
	case IsAggregate(Renamed(x).Name):
		return nil, Refuse(x.At, "use it in SELECT, HAVING or ORDER BY, not inside WHERE, GROUP BY or another aggregate",
			"the aggregate %s is not allowed here", x.Name)
	}
	if slices.Contains(timeFunctions, x.Name) && (x.Named == nil || x.Name == "make_interval") {
		return l.timeCall(x)
	}
	if err := Unnamed(x); err != nil {
		return nil, err
	}
	switch x.Name {
	case "extract", "date_part", "date_trunc":
		return l.calendar(x)
	case "width_bucket":
		return l.widthBucket(x)
	}
	if text := timed(x); x.Name == "trunc" && text != "" {
		return nil, Refuse(x.At, "write "+text, "TRUNC is for numbers")
	}
	f, ok := scalars[x.Name]
	if _, found := text.Named(x.Name); !ok && found {
		return l.textCall(x, x.Name)
	}
	if !ok {
		return nil, NoFunction(x, nil)
	}
	if x.Filter != nil {
		return nil, Refuse(x.At, "", "FILTER needs an aggregate, and %s is not one", x.Name)
	}
	if x.Star || x.Distinct || len(x.Args) < f.least || len(x.Args) > f.most {
		return nil, Refuse(x.At, "", "%s takes %d to %d arguments", x.Name, f.least, f.most)
	}
	args, err := l.rows(x.Args)
	if err != nil {
		return nil, err
	}
	return f.build(args, x.At)
}

// number returns a builder for a function with one numeric argument.
func number(
	build func(e *bounded.Expr, at query.Pos) (*bounded.Expr, error),
) func([]*bounded.Expr, query.Pos) (*bounded.Expr, error) {
	return func(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
		if IsUntypedNull(args[0]) {
			return nil, Refuse(at, "", "a function of NULL is always NULL")
		}
		if err := Numeric(args[0], at); err != nil {
			return nil, err
		}
		return build(args[0], at)
	}
}

func absolute(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	out := &bounded.Expr{Op: bounded.OpAbs, Type: e.Type, Args: []*bounded.Expr{e}, Nullable: e.Nullable}
	r := e.Range
	if e.Type == value.Real {
		out.Range = bounded.Range{Lo: math.Max(0, math.Max(r.Lo, -r.Hi)), Hi: MaxAbs(r), Tiny: r.Tiny}
		return out, nil
	}
	if IsUnbounded(e) {
		return nil, tooWide(e, at)
	}
	out.Range = bounded.Range{IntLo: max(0, r.IntLo, -r.IntHi), IntHi: max(AbsInt(r.IntLo), AbsInt(r.IntHi))}
	return out, nil
}

func sign(e *bounded.Expr, _ query.Pos) (*bounded.Expr, error) {
	return &bounded.Expr{
		Op:       bounded.OpSign,
		Type:     value.Integer,
		Args:     []*bounded.Expr{e},
		Range:    bounded.Range{IntLo: -1, IntHi: 1},
		Nullable: e.Nullable,
	}, nil
}

// rounding returns a builder for floor, ceil or round. Each turns a Real into an Integer and leaves an Integer
// unchanged.
func rounding(op bounded.Op, f func(float64) float64) func(*bounded.Expr, query.Pos) (*bounded.Expr, error) {
	return func(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
		if e.Type == value.Integer {
			if op == bounded.OpFloor && e.Dropped { // FLOOR(a / b) says that the fraction is dropped
				out := *e
				out.Dropped = false
				return &out, nil
			}
			return e, nil
		}
		return toInteger(op, e, f, at)
	}
}

// toInteger builds a rounding of e whose function f is monotone, so that f maps the ends of the range of e to the
// ends of the result's. It refuses a result beyond ±2^53.
func toInteger(op bounded.Op, e *bounded.Expr, f func(float64) float64, at query.Pos) (*bounded.Expr, error) {
	lo, hi := f(e.Range.Lo), f(e.Range.Hi)
	if math.Max(math.Abs(lo), math.Abs(hi)) > 1<<53 {
		return nil, tooWide(e, at)
	}
	return &bounded.Expr{
		Op: op, Type: value.Integer, Args: []*bounded.Expr{e},
		Range: bounded.Range{IntLo: int64(lo), IntHi: int64(hi)}, Nullable: e.Nullable,
	}, nil
}

func squareRoot(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	e, err := Promote(e, at)
	if err != nil {
		return nil, err
	}
	r := realRange(min(e.Range.Tiny, 0)/2-1, math.Sqrt(math.Max(e.Range.Lo, 0)), math.Sqrt(math.Max(e.Range.Hi, 0)))
	return &bounded.Expr{
		Op:       bounded.OpSqrt,
		Type:     value.Real,
		Args:     []*bounded.Expr{e},
		Range:    r,
		Nullable: e.Nullable || e.Range.Lo < 0,
	}, nil
}

// logarithm builds LN(x), which is NULL unless x > 0. Then x ≥ 2^Tiny. Claim: a logarithm other than 0 is at least
// 2^-55 in magnitude. Proof: the nearest double other than 1 is about 2^-53 away from 1, so the logarithm is at
// least about 2^-53, and 2^-55 leaves room for its rounding. ∎
func logarithm(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	e, err := Promote(e, at)
	if err != nil {
		return nil, err
	}
	smallest := math.Max(e.Range.Lo, math.Ldexp(1, e.Range.Tiny))
	lo, hi := outward(math.Log(smallest), math.Log(math.Max(e.Range.Hi, smallest)))
	r := settledRange(bounded.Range{Lo: lo, Hi: hi, Tiny: -55})
	return &bounded.Expr{
		Op:       bounded.OpLn,
		Type:     value.Real,
		Args:     []*bounded.Expr{e},
		Range:    r,
		Nullable: e.Nullable || e.Range.Lo <= 0,
	}, nil
}

func exponential(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	e, err := Promote(e, at)
	if err != nil {
		return nil, err
	}
	if e.Range.Hi > 600 || e.Range.Lo < -600 {
		return nil, tooWide(e, at)
	}
	lo, hi := outward(math.Exp(e.Range.Lo), math.Exp(e.Range.Hi))
	r := bounded.Range{Lo: lo, Hi: hi, Tiny: ExponentBelow(lo)}
	return &bounded.Expr{
		Op:       bounded.OpExp,
		Type:     value.Real,
		Args:     []*bounded.Expr{e},
		Range:    r,
		Nullable: e.Nullable,
	}, nil
}

func coalesce(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	t, err := unify(args, at)
	if err != nil {
		return nil, err
	}
	nullable := true
	for _, a := range args {
		nullable = nullable && a.Nullable
	}
	return &bounded.Expr{Op: bounded.OpCoalesce, Type: t, Args: args, Range: unionOf(args), Nullable: nullable}, nil
}

func nullIf(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	eq, err := compare(bounded.OpEq, args[0], args[1], at)
	if err != nil {
		return nil, err
	}
	return Choose([]*bounded.Expr{eq}, []*bounded.Expr{Constant(value.NullOf(args[0].Type)), args[0]}, at)
}

// Extreme returns a builder for LEAST or GREATEST, which ignore NULLs. Each argument that cannot be NULL bounds the
// result on one side. The result lies between the least and the greatest value of any argument.
func Extreme(op bounded.Op) func([]*bounded.Expr, query.Pos) (*bounded.Expr, error) {
	return func(args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
		t, err := unify(args, at)
		if err != nil {
			return nil, err
		}
		if t == value.Boolean {
			return nil, Refuse(at, "", "booleans have no order")
		}
		r, nullable := unionOf(args), true
		for _, a := range args {
			if a.Nullable {
				continue
			}
			nullable = false
			if op == bounded.OpLeast {
				r.IntHi, r.Hi = min(r.IntHi, a.Range.IntHi), math.Min(r.Hi, a.Range.Hi)
			} else {
				r.IntLo, r.Lo = max(r.IntLo, a.Range.IntLo), math.Max(r.Lo, a.Range.Lo)
			}
		}
		return &bounded.Expr{Op: op, Type: t, Args: args, Range: r, Nullable: nullable}, nil
	}
}

// cast translates CAST. The target is integer, real, or the type that the expression already has. A real is rounded to
// an integer, as in PostgreSQL: halves to even, or away from zero where PostgreSQL has a numeric.
func (l *Scope) cast(x *query.Cast) (*bounded.Expr, error) {
	e, err := l.Row(x.X)
	if err != nil {
		return nil, err
	}
	t, ok := value.ParseType(x.Type)
	if !ok {
		return nil, Refuse(x.At, "", "there is no type %q", x.Type)
	}
	switch {
	case IsUntypedNull(e) || e.Type == t || t == value.Real && e.Type == value.Integer:
		return convert(e, t, x.At)
	case e.Op == bounded.OpConst && e.Type == value.Text && ReadsText(t), t == value.Timestamp && e.Type == value.Date:
		return convert(e, t, x.At)
	case t == value.Date && e.Type == value.Timestamp:
		return dayOf(e), nil
	case t == value.Time && e.Type == value.Timestamp:
		return timeOf(e), nil
	case t == value.Integer && e.Type == value.Real && l.fraction(x.X) == numericFraction:
		return toInteger(bounded.OpRound, e, math.Round, x.At)
	case t == value.Integer && e.Type == value.Real:
		return toInteger(bounded.OpToInteger, e, math.RoundToEven, x.At)
	case t == value.Integer && e.Type == value.Boolean:
		return &bounded.Expr{
			Op:       bounded.OpToInteger,
			Type:     t,
			Args:     []*bounded.Expr{e},
			Range:    bounded.Range{IntLo: 0, IntHi: 1},
			Nullable: e.Nullable,
		}, nil
	}
	if t == value.Text || e.Type == value.Text {
		out, err := l.castText(e, t, x.At)
		if e.Type == value.Date && (err != nil || out.Weight() > bounded.MaxWeight) { // more days than CASE can list
			return charOf(e, "YYYY-MM-DD"), nil
		}
		return out, err
	}
	return nil, Refuse(x.At, "use CASE", "%s cannot be cast to %s", e.Type, t)
}
