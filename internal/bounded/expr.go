package bounded

import (
	"strconv"

	"dither/internal/value"
)

// Op is what an Expr does.
type Op string

// The operations of a row expression. Every one is total: for all cleaned inputs it gives a value within the node's Range,
// or NULL, and never an error. Unless said otherwise a NULL argument gives NULL.
const (
	OpColumn Op = "column" // the cleaned column
	OpConst  Op = "const"

	OpNeg Op = "neg"
	OpAdd Op = "add"
	OpSub Op = "sub"
	OpMul Op = "mul"
	OpDiv Op = "div" // Real; NULL where the divisor is 0
	OpMod Op = "mod" // Integer, the sign of the dividend; NULL where the divisor is 0

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
	Derived  bool        // OpColumn: of a source that is no table, whose columns are told apart by their places
	Text     string      // OpLike: the pattern; OpDatePart and OpDateTrunc: the field
	Range    Range       // where a value that is not NULL lies; for Integer and Real
	Nullable bool        // NULL is a possible value

	size int // see weight
}

// Range bounds the values that an expression may take: the proof that nothing above it overflows, underflows or leaves a
// function's domain. For an Integer expression IntLo and IntHi bound it. For a Real one Lo and Hi do, and every value but 0
// has magnitude at least 2^Tiny.
type Range struct {
	IntLo, IntHi int64
	Lo, Hi       float64
	Tiny         int
}

// MaxWeight bounds an expression once it is written out in SQL.
const MaxWeight = 5_000

// Weight counts the nodes of the expression as an engine's SQL writes it out: shared parts, and the arguments that a
// domain check or a rounding repeats, count each time. It is kept in size, so that a deep nest is never walked twice.
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

// String is the canonical text of the expression: two expressions with one text compute the same.
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
			b = append(b, '!') // tells NULL from the text 'NULL'
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
