package bind

import (
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Comparisons maps each comparison operator to its operation.
var Comparisons = map[query.BinaryOp]bounded.Op{
	query.Eq: bounded.OpEq,
	query.Ne: bounded.OpNe,
	query.Lt: bounded.OpLt,
	query.Le: bounded.OpLe,
	query.Gt: bounded.OpGt,
	query.Ge: bounded.OpGe,
}

// compare builds a comparison of two values of one type. Booleans can be compared with = and <> only.
func compare(op bounded.Op, a, b *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if IsUntypedNull(a) || IsUntypedNull(b) {
		return nil, Refuse(at, "write IS NULL or IS NOT NULL", "a comparison with NULL is never true")
	}
	args := []*bounded.Expr{a, b}
	t, err := unify(args, at)
	if err != nil {
		return nil, err
	}
	if t == value.Boolean && op != bounded.OpEq && op != bounded.OpNe {
		return nil, Refuse(at, "", "booleans have no order")
	}
	return &bounded.Expr{Op: op, Type: value.Boolean, Args: args, Nullable: anyNullable(args)}, nil
}

func (l *Scope) between(x *query.Between) (*bounded.Expr, error) {
	args, err := l.rows([]query.Expr{x.X, x.Lo, x.Hi})
	if err != nil {
		return nil, err
	}
	lo, err := compare(bounded.OpGe, args[0], args[1], x.At)
	if err != nil {
		return nil, err
	}
	hi, err := compare(bounded.OpLe, args[0], args[2], x.At)
	if err != nil {
		return nil, err
	}
	return negated(Logical(bounded.OpAnd, lo, hi), x.Not), nil
}

func negated(e *bounded.Expr, not bool) *bounded.Expr {
	if not {
		return Logical(bounded.OpNot, e)
	}
	return e
}

// in translates X IN (constants). If the list has an element that is no constant, X IN (a, b) becomes X = a OR X = b.
func (l *Scope) in(x *query.In) (*bounded.Expr, error) {
	args, err := l.rows(append([]query.Expr{x.X}, x.List...))
	if err != nil {
		return nil, err
	}
	constants := true
	for i, a := range args[1:] {
		if a.Op == bounded.OpConst && a.Const.Null {
			return nil, Refuse(x.List[i].Pos(), "write OR … IS NULL", "NULL in a list is never equal to anything")
		}
		constants = constants && a.Op == bounded.OpConst
	}
	if constants {
		if _, err := unify(args, x.At); err != nil {
			return nil, err
		}
		e := &bounded.Expr{Op: bounded.OpIn, Type: value.Boolean, Args: args, Nullable: anyNullable(args)}
		at := []query.Pos{x.At}
		for _, c := range x.List {
			at = append(at, c.Pos())
		}
		return negated(e, x.Not), l.unlisted(e, at)
	}
	or := make([]*bounded.Expr, 0, len(x.List))
	for _, a := range args[1:] {
		eq, err := compare(bounded.OpEq, args[0], a, x.At)
		if err != nil {
			return nil, err
		}
		or = append(or, eq)
	}
	return negated(Logical(bounded.OpOr, or...), x.Not), nil
}

// maxPatternBytes bounds the length of a LIKE pattern, and with it the cost of a match. For each byte of the
// pattern, an engine's time is linear in the text.
const maxPatternBytes = 256

func (l *Scope) like(x *query.Like) (*bounded.Expr, error) {
	e, err := l.Row(x.X)
	if err != nil {
		return nil, err
	}
	if e.Type != value.Text {
		return nil, Refuse(x.At, "write CAST("+query.Print(x.X)+" AS text) for "+query.Print(x.X), "LIKE needs a text, and this is of type %s", e.Type)
	}
	if x.Similar || x.AnyCase {
		return l.likeKnown(x, e)
	}
	pattern, ok := x.Pattern.(*query.Literal)
	if !ok || pattern.Kind != query.StringLiteral {
		return nil, Refuse(x.Pattern.Pos(), "write a constant, such as 'a%'", "the pattern of LIKE must be a constant text")
	}
	if err := checkPattern(pattern.Text, pattern.At); err != nil {
		return nil, err
	}
	return negated(matching(e, pattern.Text), x.Not), nil
}

// likeKnown translates ILIKE and SIMILAR TO. They are computed here over known texts. ILIKE of an unknown text takes
// the letters A to Z in either case, and all other characters as they are.
func (l *Scope) likeKnown(x *query.Like, e *bounded.Expr) (*bounded.Expr, error) {
	name := "similar_to"
	if x.AnyCase {
		name = "ilike"
	}
	pattern, err := l.Row(x.Pattern)
	if err != nil {
		return nil, err
	}
	if x.AnyCase && pattern.Op == bounded.OpConst && pattern.Type == value.Text && !pattern.Const.Null {
		if err := checkPattern(pattern.Const.Text, x.Pattern.Pos()); err != nil {
			return nil, err
		}
		if _, known := l.Known(e); !known {
			small := inCase("lower", pattern).Apply(pattern.Const)
			return negated(matching(inCase("lower", e), small.Text), x.Not), nil
		}
	}
	out, err := l.texts(name, []*bounded.Expr{e, pattern}, x.At)
	if err != nil {
		return nil, err
	}
	return negated(out, x.Not), nil
}

func checkPattern(p string, at query.Pos) error {
	if len(p) > maxPatternBytes {
		return Refuse(at, "", "the pattern is longer than %d bytes", maxPatternBytes)
	}
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		if i++; i == len(p) {
			return Refuse(at, `write \\ for a backslash`, "the pattern ends in its escape character")
		}
	}
	return nil
}
