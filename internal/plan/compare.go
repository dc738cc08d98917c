package plan

import (
	"dither/internal/query"
	"dither/internal/value"
)

var comparisons = map[query.BinaryOp]Op{
	query.Eq: OpEq, query.Ne: OpNe, query.Lt: OpLt, query.Le: OpLe, query.Gt: OpGt, query.Ge: OpGe,
}

// compare builds a comparison of two values of one type. Booleans are only equal or not.
func compare(op Op, a, b *Expr, at query.Pos) (*Expr, error) {
	if isUntypedNull(a) || isUntypedNull(b) {
		return nil, refuse(at, "write IS NULL or IS NOT NULL", "a comparison with NULL is never true")
	}
	args := []*Expr{a, b}
	t, err := unify(args, at)
	if err != nil {
		return nil, err
	}
	if t == value.Boolean && op != OpEq && op != OpNe {
		return nil, refuse(at, "", "booleans have no order")
	}
	return &Expr{Op: op, Type: value.Boolean, Args: args, Nullable: anyNullable(args)}, nil
}

func (l *lowering) between(x *query.Between) (*Expr, error) {
	args, err := l.rows([]query.Expr{x.X, x.Lo, x.Hi})
	if err != nil {
		return nil, err
	}
	lo, err := compare(OpGe, args[0], args[1], x.At)
	if err != nil {
		return nil, err
	}
	hi, err := compare(OpLe, args[0], args[2], x.At)
	if err != nil {
		return nil, err
	}
	return negated(logical(OpAnd, lo, hi), x.Not), nil
}

func negated(e *Expr, not bool) *Expr {
	if not {
		return logical(OpNot, e)
	}
	return e
}

// in lowers X IN (constants). A list with anything but constants becomes a disjunction.
func (l *lowering) in(x *query.In) (*Expr, error) {
	args, err := l.rows(append([]query.Expr{x.X}, x.List...))
	if err != nil {
		return nil, err
	}
	constants := true
	for i, a := range args[1:] {
		if a.Op == OpConst && a.Const.Null {
			return nil, refuse(x.List[i].Pos(), "write OR … IS NULL", "NULL in a list is never equal to anything")
		}
		constants = constants && a.Op == OpConst
	}
	if constants {
		if _, err := unify(args, x.At); err != nil {
			return nil, err
		}
		e := &Expr{Op: OpIn, Type: value.Boolean, Args: args, Nullable: anyNullable(args)}
		at := []query.Pos{x.At}
		for _, c := range x.List {
			at = append(at, c.Pos())
		}
		return negated(e, x.Not), l.unlisted(e, at)
	}
	or := make([]*Expr, 0, len(x.List))
	for _, a := range args[1:] {
		eq, err := compare(OpEq, args[0], a, x.At)
		if err != nil {
			return nil, err
		}
		or = append(or, eq)
	}
	return negated(logical(OpOr, or...), x.Not), nil
}

// maxPatternBytes bounds a pattern, and with it the cost of matching: engines match in time linear in the text for each byte
// of the pattern.
const maxPatternBytes = 256

func (l *lowering) like(x *query.Like) (*Expr, error) {
	e, err := l.row(x.X)
	if err != nil {
		return nil, err
	}
	if e.Type != value.Text {
		return nil, refuse(x.At, "", "LIKE needs a text, and this is of type %s", e.Type)
	}
	pattern, ok := x.Pattern.(*query.Literal)
	if !ok || pattern.Kind != query.StringLiteral {
		return nil, refuse(x.Pattern.Pos(), "write the pattern as a constant", "the pattern of LIKE must be a constant text")
	}
	if err := checkPattern(pattern.Text, pattern.At); err != nil {
		return nil, err
	}
	like := &Expr{Op: OpLike, Type: value.Boolean, Args: []*Expr{e}, Text: pattern.Text, Nullable: e.Nullable}
	return negated(like, x.Not), nil
}

func checkPattern(p string, at query.Pos) error {
	if len(p) > maxPatternBytes {
		return refuse(at, "", "the pattern is longer than %d bytes", maxPatternBytes)
	}
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		if i++; i == len(p) {
			return refuse(at, `write \\ for a backslash`, "the pattern ends in its escape character")
		}
	}
	return nil
}
