package bounded

import (
	"strconv"

	"dither/internal/value"
)

// Op is what an Expr does.
type Op string

// The operations of a row expression. Every one is total: for all cleaned inputs it returns a value within the node's
// Range, or NULL, and never an error. Unless stated otherwise, a NULL argument gives NULL.
const (
	OpColumn Op = "column" // the cleaned column
	OpConst  Op = "const"

	OpNeg Op = "neg"
	OpAdd Op = "add"
	OpSub Op = "sub"
	OpMul Op = "mul"
	OpDiv Op = "div" // Real; NULL if the divisor is 0
	OpMod Op = "mod" // Integer, the sign of the dividend; NULL if the divisor is 0

	OpToReal    Op = "to_real"    // Integer → Real
	OpToInteger Op = "to_integer" // Real → Integer, half to even; Boolean → 0 or 1

	OpEq  Op = "eq" // comparisons are of two arguments of one type
	OpNe  Op = "ne"
	OpLt  Op = "lt"
	OpLe  Op = "le"
	OpGt  Op = "gt"
	OpGe  Op = "ge"
	OpIn  Op = "in"   // first argument among the constants that follow
	OpNot Op = "not"  // three-valued
	OpAnd Op = "and"  // three-valued, any number of arguments
	OpOr  Op = "or"   // three-valued, any number of arguments
	OpNil Op = "null" // IS NULL: never NULL
	OpIs  Op = "true" // IS TRUE: never NULL

	OpLike Op = "like" // Text holds the pattern; backslash escapes

	OpCase     Op = "case"     // condition, result, condition, result, …, otherwise
	OpCoalesce Op = "coalesce" // the first that is not NULL
	OpLeast    Op = "least"    // of those that are not NULL
	OpGreatest Op = "greatest" // of those that are not NULL

	OpAbs   Op = "abs"
	OpSign  Op = "sign"  // → Integer
	OpFloor Op = "floor" // Real → Integer
	OpCeil  Op = "ceil"  // Real → Integer
	OpRound Op = "round" // Real → Integer, half away from zero
	OpSqrt  Op = "sqrt"  // NULL below 0
	OpLn    Op = "ln"    // NULL at and below 0
	OpExp   Op = "exp"

	OpDatePart  Op = "date_part"  // Date → Integer; Text is one of value.DateFields
	OpDateTrunc Op = "date_trunc" // Date → Date; Text is one of value.DateUnits
)

// Expr is a typed expression over one row's cleaned columns. It is total (see Op) and reads nothing but its row.
type Expr struct {
	Op       Op
	Type     value.Type
	Args     []*Expr
	Const    value.Value // OpConst
	Column   int         // OpColumn: the index in Bounded.Columns
	Name     string      // OpColumn: the column's name
	Derived  bool        // OpColumn: of a source other than a table, whose columns are identified by position
	Text     string      // OpLike: the pattern; OpDatePart and OpDateTrunc: the field
	Range    Range       // the range of a non-NULL value; for Integer and Real
	Nullable bool        // NULL is a possible value

	size int // see weight
}

// Range bounds the values of an expression. It proves that no operation above it overflows, underflows or leaves a
// function's domain. For an Integer expression IntLo and IntHi are the bounds; for a Real one Lo and Hi are, and every
// value but 0 has magnitude at least 2^Tiny.
type Range struct {
	IntLo, IntHi int64
	Lo, Hi       float64
	Tiny         int
}

// MaxWeight bounds the weight of an expression.
const MaxWeight = 5_000

// Weight counts the nodes of the expression as an engine's SQL writes it out: shared parts, and arguments repeated by a
// domain check or a rounding, count each time. It is cached in size, so that a deep nest is walked only once.
func (e *Expr) Weight() int {
	if e.size == 0 {
		n := 1
		for _, a := range e.Args {
			n += a.Weight()
		}
		if e.Op == OpSqrt || e.Op == OpLn || e.Op == OpRound {
			n *= 2
		}
		e.size = min(n, MaxWeight+1)
	}
	return e.size
}

// Walk calls f for e and everything below it.
func (e *Expr) Walk(f func(*Expr)) {
	f(e)
	for _, a := range e.Args {
		a.Walk(f)
	}
}

// String is the expression's canonical text: two expressions with the same text compute the same.
func (e *Expr) String() string { return string(e.append(nil)) }

// append writes it behind b: such texts are written for every expression of a question, more than once.
func (e *Expr) append(b []byte) []byte {
	switch e.Op {
	case OpColumn:
		if e.Derived {
			return strconv.AppendInt(append(b, '#'), int64(e.Column), 10)
		}
		return strconv.AppendQuote(b, e.Name)
	case OpConst:
		b = append(append(b, e.Const.Type.String()...), ':')
		b = strconv.AppendQuote(b, e.Const.String())
		if e.Const.Null {
			b = append(b, '!') // distinguishes NULL from the text 'NULL'
		}
		return b
	}
	b = append(append(b, '('), e.Op...)
	if e.Text != "" || e.Op == OpLike {
		b = strconv.AppendQuote(append(b, ' '), e.Text)
	}
	for _, a := range e.Args {
		b = a.append(append(b, ' '))
	}
	return append(b, ')')
}
