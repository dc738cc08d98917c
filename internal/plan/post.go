package plan

import (
	"errors"
	"maps"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// PostOp is an operation on released values.
type PostOp string

// The operations on released values. They are post-processing, so they cost nothing. An operation on NULL, or a
// division by 0, gives NULL. Conditions are three-valued.
const (
	PostAggregate PostOp = "aggregate" // the value of Aggregates[Index]
	PostKey       PostOp = "key"       // the value of Keys[Index] in this row
	PostConst     PostOp = "const"
	// a number with one bit for each key in Args, which is 1 if the row is summed over the key
	PostGrouping PostOp = "grouping"

	PostNeg      PostOp = "neg"
	PostAdd      PostOp = "add"
	PostSub      PostOp = "sub"
	PostMul      PostOp = "mul"
	PostDiv      PostOp = "div"
	PostQuo      PostOp = "quo"   // of whole keys and constants: the quotient without its fraction
	PostRound    PostOp = "round" // to Digits decimal places, half away from zero
	PostAbs      PostOp = "abs"
	PostSqrt     PostOp = "sqrt"
	PostLeast    PostOp = "least"
	PostGreatest PostOp = "greatest"

	PostEq   PostOp = "eq"
	PostNe   PostOp = "ne"
	PostLt   PostOp = "lt"
	PostLe   PostOp = "le"
	PostGt   PostOp = "gt"
	PostGe   PostOp = "ge"
	PostAnd  PostOp = "and"
	PostOr   PostOp = "or"
	PostNot  PostOp = "not"
	PostNull PostOp = "null" // IS NULL
	PostTrue PostOp = "true" // IS TRUE
)

// Post is an expression over the released values of an answer.
type Post struct {
	Op     PostOp
	Type   value.Type // Integer and Real both mean a number
	Args   []*Post
	Index  int
	Grid   *bind.Grid // for PostKey: the real that the key stands for; nil for the key itself
	Const  value.Value
	Digits int

	local string // of a text constant that spells a moment: the time that clocks in the policy's zone show then
}

// Walk calls f for p and all expressions below it.
func (p *Post) Walk(f func(*Post)) {
	f(p)
	for _, a := range p.Args {
		a.Walk(f)
	}
}

var postOps = map[query.BinaryOp]PostOp{
	query.Add: PostAdd, query.Sub: PostSub, query.Mul: PostMul, query.Div: PostDiv,
	query.Eq: PostEq, query.Ne: PostNe, query.Lt: PostLt, query.Le: PostLe, query.Gt: PostGt, query.Ge: PostGe,
	query.And: PostAnd, query.Or: PostOr,
}

var postFunctions = map[string]PostOp{
	"round": PostRound, "abs": PostAbs, "sqrt": PostSqrt, "least": PostLeast, "greatest": PostGreatest,
}

// post translates an expression over released values. It may consist of GROUP BY expressions, aggregates, constants,
// and operations on them.
func (b *measuring) post(x query.Expr) (*Post, error) {
	if p, ok := b.postKey(x); ok {
		return p, nil
	}
	switch x := x.(type) {
	case *query.Literal:
		e, err := bind.Literal(x)
		if err != nil {
			return nil, err
		}
		if bind.IsUntypedNull(e) {
			return nil, bind.RefuseHere(x.At, "", "NULL is not supported here")
		}
		return &Post{Op: PostConst, Type: e.Type, Const: e.Const, local: e.Text}, nil
	case *query.Column:
		of, err := b.Column(x)
		if err != nil {
			return nil, b.unlessAlias(x, err)
		}
		if b.OneUnit(b.policy, of) == bind.IsTheUnit {
			return nil, listsUnits(x)
		}
		e := bind.Refuse(
			x.At,
			"add it to GROUP BY, or use COUNT, SUM or AVG of it",
			"column %q stands outside any aggregate",
			x.Name,
		)
		e.Instead = bind.OverAnswer // if a window function is meant
		return nil, e
	case *query.Star:
		return nil, bind.Starred(x)
	case *query.Call:
		return b.postCall(x)
	case *query.Unary:
		return b.postUnary(x)
	case *query.Binary:
		return b.postBinary(x)
	case *query.Between:
		return b.postBetween(x)
	case *query.In:
		return b.postIn(x)
	case *query.Is:
		return b.postIs(x)
	case *query.Cast:
		return nil, bind.RefuseHere(x.At, "use ROUND", "CAST of a released value is not supported")
	}
	return nil, bind.RefuseHere(x.Pos(), "use aggregates, constants, + - * / and ROUND",
		"this expression is not supported outside an aggregate unless it stands in GROUP BY")
}

// postKey returns the key that computes the same as x. The boolean is false if there is none.
func (b *measuring) postKey(x query.Expr) (*Post, bool) {
	if len(b.grouped) == 0 {
		return nil, false
	}
	probe := *b.Scope
	probe.Columns = slices.Clone(b.Columns)
	e, err := probe.Row(x)
	if err != nil {
		return nil, false
	}
	for i, k := range b.grouped {
		if g := b.grids[i]; g != nil && g.Of.Same(e) {
			return &Post{Op: PostKey, Type: e.Type, Index: b.place[i], Grid: g}, true
		}
		if k.Expr.Same(e) {
			return &Post{Op: PostKey, Type: e.Type, Index: b.place[i]}, true
		}
	}
	return nil, false
}

// unlessAlias returns err, the refusal of a name that is no column. If an output has that alias, it returns a
// refusal that suggests the aliased expression instead.
func (b *measuring) unlessAlias(x *query.Column, err error) error {
	for _, item := range b.tree.Items {
		if x.Table == "" && item.Alias == x.Name {
			return bind.Refuse(x.At, "write what it stands for: "+query.Print(item.Expr),
				"%q is an alias: GROUP BY, HAVING and ORDER BY take it, other expressions don't", x.Name)
		}
	}
	return err
}

func (b *measuring) posts(xs ...query.Expr) ([]*Post, error) {
	out := make([]*Post, len(xs))
	for i, x := range xs {
		p, err := b.post(x)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func (b *measuring) postCall(x *query.Call) (*Post, error) {
	x = bind.Renamed(x)
	if x.Over != nil {
		e := bind.RefuseHere(x.Over.At, "use GROUP BY", "window functions (OVER) are not supported here")
		e.Instead = bind.OverAnswer
		return nil, e
	}
	if bind.IsAggregate(x.Name) {
		return b.aggregate(x)
	}
	switch x.Name {
	case "grouping":
		return b.grouping(x)
	case "min", "max":
		return nil, bind.Extremum(x)
	}
	if err := bind.Unnamed(x); err != nil {
		return nil, err
	}
	op, ok := postFunctions[x.Name]
	if !ok {
		e := bind.NoFunction(x, slices.Sorted(maps.Keys(postFunctions)))
		e.Outer = !bind.Foreign(x.Name)
		return nil, e
	}
	if x.Filter != nil {
		return nil, bind.Refuse(x.At, "", "FILTER needs an aggregate, and %s is not one", x.Name)
	}
	digits := 0
	args := x.Args
	if op == PostRound && len(args) == 2 {
		d, ok := smallInteger(args[1])
		if !ok {
			return nil, bind.RefuseHere(args[1].Pos(), "", "ROUND's second argument is a constant from 0 to 15")
		}
		digits, args = d, args[:1]
	}
	if len(args) == 0 || (op == PostRound || op == PostAbs || op == PostSqrt) && len(args) != 1 || x.Star || x.Distinct {
		return nil, bind.Refuse(x.At, "", "wrong arguments for %s", x.Name)
	}
	ps, err := b.posts(args...)
	if err != nil {
		return nil, err
	}
	return numbers(&Post{Op: op, Type: value.Real, Args: ps, Digits: digits}, x.At)
}

func smallInteger(x query.Expr) (int, bool) {
	e, ok := x.(*query.Literal)
	if !ok || e.Kind != query.IntegerLiteral {
		return 0, false
	}
	v, err := value.Parse(value.Integer, e.Text)
	return int(v.Int), err == nil && v.Int >= 0 && v.Int <= 15
}

// numbers returns p, or a refusal if an argument of p is not a number.
func numbers(p *Post, at query.Pos) (*Post, error) {
	for _, a := range p.Args {
		if !bind.IsNumber(a.Type) {
			return nil, bind.RefuseHere(at, "", "a number is needed here, and this is of type %s", a.Type)
		}
	}
	return p, nil
}

func (b *measuring) postUnary(x *query.Unary) (*Post, error) {
	if x.Op == query.Not {
		p, err := b.postCondition(x.X)
		if err != nil {
			return nil, err
		}
		return &Post{Op: PostNot, Type: value.Boolean, Args: []*Post{p}}, nil
	}
	ps, err := b.posts(x.X)
	if err != nil {
		return nil, err
	}
	return numbers(&Post{Op: PostNeg, Type: value.Real, Args: ps}, x.At)
}

func (b *measuring) postBinary(x *query.Binary) (*Post, error) {
	op, ok := postOps[x.Op]
	if !ok {
		return nil, bind.RefuseHere(x.At, "", "this operator is not supported on released values")
	}
	if op == PostAnd || op == PostOr {
		l, err := b.postCondition(x.L)
		if err != nil {
			return nil, err
		}
		r, err := b.postCondition(x.R)
		if err != nil {
			return nil, err
		}
		return &Post{Op: op, Type: value.Boolean, Args: []*Post{l, r}}, nil
	}
	ps, err := b.posts(x.L, x.R)
	if err != nil {
		return nil, err
	}
	if _, ok := bind.Comparisons[x.Op]; ok {
		return postCompare(op, ps[0], ps[1], x.At)
	}
	if op == PostDiv && whole(ps[0]) && whole(ps[1]) && !b.KeepsFraction(x.L) && !b.KeepsFraction(x.R) {
		op = PostQuo
	}
	return numbers(&Post{Op: op, Type: value.Real, Args: ps}, x.At)
}

// whole reports whether p is a whole number that depends on no released number.
func whole(p *Post) bool {
	switch p.Op {
	case PostKey:
		return p.Type == value.Integer && p.Grid == nil
	case PostConst:
		return p.Type == value.Integer
	case PostNeg, PostAdd, PostSub, PostMul, PostQuo, PostAbs, PostLeast, PostGreatest:
		return !slices.ContainsFunc(p.Args, func(a *Post) bool { return !whole(a) })
	}
	return false
}

func postCompare(op PostOp, l, r *Post, at query.Pos) (*Post, error) {
	if bind.ReadsText(l.Type) && r.Op == PostConst && r.Type == value.Text {
		text := r.Const.Text
		if r.local != "" {
			text = r.local
		}
		e, err := bind.ConstantTime(l.Type, text, at)
		if err != nil {
			if refusal := (*bind.Error)(nil); errors.As(err, &refusal) {
				refusal.Outer = true // over the rows of an answer, dates are compared with times
			}
			return nil, err
		}
		r = &Post{Op: PostConst, Type: l.Type, Const: e.Const}
	}
	if l.Type != r.Type && (!bind.IsNumber(l.Type) || !bind.IsNumber(r.Type)) {
		return nil, bind.RefuseHere(
			at,
			bind.MixHint(l.Type, r.Type, constants(l, r)),
			"%s and %s cannot be compared",
			l.Type,
			r.Type,
		)
	}
	return &Post{Op: op, Type: value.Boolean, Args: []*Post{l, r}}, nil
}

func (b *measuring) postBetween(x *query.Between) (*Post, error) {
	ps, err := b.posts(x.X, x.Lo, x.Hi)
	if err != nil {
		return nil, err
	}
	lo, err := postCompare(PostGe, ps[0], ps[1], x.At)
	if err != nil {
		return nil, err
	}
	hi, err := postCompare(PostLe, ps[0], ps[2], x.At)
	if err != nil {
		return nil, err
	}
	return postNegated(&Post{Op: PostAnd, Type: value.Boolean, Args: []*Post{lo, hi}}, x.Not), nil
}

func (b *measuring) postIn(x *query.In) (*Post, error) {
	ps, err := b.posts(append([]query.Expr{x.X}, x.List...)...)
	if err != nil {
		return nil, err
	}
	var or *Post
	for _, p := range ps[1:] {
		eq, err := postCompare(PostEq, ps[0], p, x.At)
		if err != nil {
			return nil, err
		}
		if or == nil {
			or = eq
			continue
		}
		or = &Post{Op: PostOr, Type: value.Boolean, Args: []*Post{or, eq}}
	}
	return postNegated(or, x.Not), nil
}

func (b *measuring) postIs(x *query.Is) (*Post, error) {
	var p *Post
	var err error
	if x.What == query.IsNull {
		p, err = b.post(x.X)
	} else {
		p, err = b.postCondition(x.X)
	}
	if err != nil {
		return nil, err
	}
	switch x.What {
	case query.IsNull, query.IsUnknown:
		p = &Post{Op: PostNull, Type: value.Boolean, Args: []*Post{p}}
	case query.IsTrue:
		p = &Post{Op: PostTrue, Type: value.Boolean, Args: []*Post{p}}
	default: // IS FALSE
		p = &Post{Op: PostTrue, Type: value.Boolean, Args: []*Post{{Op: PostNot, Type: value.Boolean, Args: []*Post{p}}}}
	}
	return postNegated(p, x.Not), nil
}

func postNegated(p *Post, not bool) *Post {
	if not {
		return &Post{Op: PostNot, Type: value.Boolean, Args: []*Post{p}}
	}
	return p
}

func (b *measuring) postCondition(x query.Expr) (*Post, error) {
	p, err := b.post(x)
	if err != nil {
		return nil, err
	}
	if p.Type != value.Boolean {
		return nil, bind.Refuse(
			x.Pos(),
			"compare it with something",
			"a condition is needed here, and this is of type %s",
			p.Type,
		)
	}
	return p, nil
}

// constants returns the constants among ps, as expressions.
func constants(ps ...*Post) (out []*bounded.Expr) {
	for _, p := range ps {
		if p.Op == PostConst {
			out = append(out, bind.Constant(p.Const))
		}
	}
	return out
}
