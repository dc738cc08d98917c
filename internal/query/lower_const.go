package query

import (
	"math/big"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

func (l *lowering) constant(c *pg.A_Const, at Pos) (Expr, error) {
	if l.stars[int(c.GetLocation())] {
		return nil, &Error{Pos: at, Message: "* is not allowed here", Hint: "name columns; COUNT(*) counts rows"}
	}
	if l.alls[int(c.GetLocation())] {
		return nil, &Error{Pos: at, Message: "ALL is not allowed here", Hint: "list the columns"}
	}
	if c.GetIsnull() {
		return &Literal{At: at, Kind: NullLiteral}, nil
	}
	switch c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return &Literal{At: at, Kind: IntegerLiteral, Text: strconv.Itoa(int(c.GetIval().GetIval()))}, nil
	case *pg.A_Const_Fval:
		return number(c.GetFval().GetFval(), at)
	case *pg.A_Const_Boolval:
		return &Literal{At: at, Kind: BooleanLiteral, Bool: c.GetBoolval().GetBoolval()}, nil
	case *pg.A_Const_Sval:
		text := c.GetSval().GetSval()
		return &Literal{At: at, Kind: StringLiteral, Text: text, Local: l.local(text)}, nil
	case *pg.A_Const_Bsval:
		return nil, &Error{Pos: at, Message: "bit strings are not supported", Hint: "write a number, such as 5"}
	}
	return nil, &Error{Pos: at, Message: "this constant is not supported"}
}

// number converts PostgreSQL's "float" token. The token is a number with a point or an exponent, or an integer
// beyond 32 bits in base 10, 16, 8 or 2. It may have underscores and a leading minus.
func number(written string, at Pos) (Expr, error) {
	s := strings.ReplaceAll(written, "_", "")
	prefixed := strings.TrimPrefix(s, "-")
	based := len(prefixed) > 1 && prefixed[0] == '0' && strings.ContainsRune("xXoObB", rune(prefixed[1]))
	if !based && strings.ContainsAny(s, ".eE") {
		return &Literal{At: at, Kind: DecimalLiteral, Text: s}, nil
	}
	base := 10
	if based {
		// SetString takes the base from the prefix. Without a prefix the base must be 10, since SetString would
		// read 010 as 8
		base = 0
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, &Error{Pos: at, Message: "the number " + written + " cannot be read"}
	}
	return integer(n, at)
}

func integer(n *big.Int, at Pos) (Expr, error) {
	if !n.IsInt64() {
		return nil, &Error{
			Pos: at, Message: "this integer does not fit in 64 bits",
			Hint: "write " + n.String() + ".0",
		}
	}
	return &Literal{At: at, Kind: IntegerLiteral, Text: n.String()}, nil
}

// negate converts a minus. PostgreSQL folds a minus into the constant after it. negate does the same after a plus or
// another minus.
func (l *lowering) negate(n *pg.Node, at Pos, depth int) (Expr, error) {
	e, err := l.expr(n, at, depth+1)
	if err != nil {
		return nil, err
	}
	x, ok := e.(*Literal)
	if !ok || x.Kind != IntegerLiteral && x.Kind != DecimalLiteral {
		return &Unary{At: at, Op: Negate, X: e}, nil
	}
	flipped, negative := strings.CutPrefix(x.Text, "-")
	if !negative {
		flipped = "-" + x.Text
	}
	return number(flipped, at)
}

// types maps the type names of PostgreSQL's grammar to those of this package.
var types = map[string]string{
	"int2": "integer", "int4": "integer", "int8": "integer",
	"float4": "real", "float8": "real", "numeric": "real",
	"text": "text", "varchar": "text", "bpchar": "text", "bool": "boolean", "date": "date",
	"timestamp": "timestamp", "timestamptz": "timestamp", "time": "time",
	"interval": "interval",
	"float64":  "real", "double": "real", "string": "text", "datetime": "timestamp", "int64": "integer", // of other databases
	"money": "real", // rounded to two decimal places
}

func (l *lowering) cast(x *pg.TypeCast, at Pos, depth int) (Expr, error) {
	to, err := l.typeName(x.GetTypeName(), at)
	if err != nil {
		return nil, err
	}
	e, err := l.expr(x.GetArg(), at, depth+1+to.calls())
	if err != nil {
		return nil, err
	}
	return to.of(e, at)
}

// typed is the name of a type of this package, with the length of its texts, the decimal places of its numbers, or the
// unit of an interval.
type typed struct {
	name   string
	length int // -1 for none
	places int // -1 for all
	unit   string
}

// calls returns the number of calls around a cast to the type.
func (t typed) calls() int {
	if t.length >= 0 || t.places >= 0 {
		return 1
	}
	return 0
}

// of converts the cast of e to the type. A text is cut to its length, and a number is rounded to its places.
func (t typed) of(e Expr, at Pos) (Expr, error) {
	call := func(name string, to string, n int) Expr {
		cast := &Cast{At: at, X: e, Type: to}
		return &Call{At: at, Name: name, Args: []Expr{cast, &Literal{At: at, Kind: IntegerLiteral, Text: strconv.Itoa(n)}}}
	}
	switch {
	case t.length >= 0:
		return call("left", "text", t.length), nil
	case t.places >= 0:
		return call("round", "real", t.places), nil
	}
	return t.whole(e, at)
}

// whole converts the cast of e to the type without a length or places.
func (t typed) whole(e Expr, at Pos) (Expr, error) {
	to := t.name
	if s, ok := e.(*Literal); ok && s.Kind == StringLiteral {
		if s.Text == "epoch" && (to == "date" || to == "timestamp") {
			s = &Literal{At: s.At, Kind: StringLiteral, Text: "1970-01-01 00:00:00"}
		}
		switch to {
		case "date":
			return date(s)
		case "timestamp":
			return &Literal{At: s.At, Kind: TimestampLiteral, Text: s.Text, Local: s.Local}, nil
		case "time":
			return &Literal{At: s.At, Kind: TimeLiteral, Text: s.Text}, nil
		case "interval":
			return interval(s, t.unit)
		}
	}
	return &Cast{At: at, X: e, Type: to}, nil
}

func (l *lowering) typeName(t *pg.TypeName, at Pos) (typed, error) {
	const hint = "the types are integer, real, text, boolean, date, timestamp, time and interval"
	at = l.pos(t.GetLocation(), at)
	names := t.GetNames()
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 {
		return typed{}, &Error{Pos: at, Message: "this type is not supported", Hint: hint}
	}
	name := names[0].GetString_().GetSval()
	switch to, ok := types[name]; {
	case t.GetSetof() || t.GetPctType():
		return typed{}, &Error{Pos: at, Message: "this type is not supported", Hint: hint}
	case len(t.GetArrayBounds()) > 0:
		return typed{}, &Error{Pos: at, Message: "arrays are not supported", Hint: hint}
	case !ok:
		return typed{}, &Error{Pos: at, Message: "the type " + quote(name) + " is not supported", Hint: hint}
	default:
		out := typed{to, -1, -1, ""}
		if name == "money" {
			out.places = 2
		}
		return out, out.modify(name, t.GetTypmods(), at)
	}
}

// maxLength is the length of a text from which on every text is shorter: the most bytes of one.
const maxLength = 4096

// modify sets the length or the places of a type from the numbers in parentheses after its name.
func (t *typed) modify(name string, mods []*pg.Node, at Pos) error {
	if t.name == "interval" {
		return t.ofInterval(mods, at)
	}
	var ns []int
	for _, m := range mods {
		i := m.GetAConst().GetIval()
		if i == nil {
			return &Error{Pos: at, Message: "the length or precision of a type is a constant", Hint: "write " + t.name + " alone"}
		}
		ns = append(ns, int(i.GetIval()))
	}
	switch {
	case len(ns) == 0:
		return nil
	case len(ns) == 1 && t.name == "text":
		if ns[0] < maxLength {
			t.length = max(ns[0], 0)
		}
		return nil
	case name == "numeric" && len(ns) <= 2:
		t.places = 0
		if len(ns) == 2 {
			t.places = ns[1]
		}
		if t.places >= -15 && t.places <= 15 {
			return nil
		}
		return &Error{Pos: at, Message: "a number has at most 15 decimal places", Hint: "write real"}
	}
	return &Error{Pos: at, Message: "a type with a length or precision is not supported here", Hint: "write " + t.name + " alone"}
}
