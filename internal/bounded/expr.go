package bounded

import (
	"strconv"

	"dither/internal/value"
)

// Op is the operation of an Expr.
type Op string

// The operations of an expression over one row. Every operation is total: for all cleaned inputs it returns NULL or
// a value within the node's Range, and never an error. Unless the comment says otherwise, the result is NULL if an
// argument is NULL.
const (
	OpColumn Op = "column" // a column's cleaned value
	OpConst  Op = "const"

	OpNeg Op = "neg"
	OpAdd Op = "add" // also of a Date or Timestamp and a number of days or microseconds
	OpSub Op = "sub" // also of a Date or Timestamp and a number of days or microseconds, and of two dates or times
	OpMul Op = "mul"
	OpDiv Op = "div" // Real; NULL if the divisor is 0
	OpQuo Op = "quo" // Integer: the quotient without its fraction; NULL if the divisor is 0
	OpMod Op = "mod" // Integer, with the sign of the dividend; NULL if the divisor is 0

	OpToReal    Op = "to_real"    // Integer → Real
	OpToInteger Op = "to_integer" // Real → Integer, rounded half to even; Boolean → 0 or 1

	OpEq  Op = "eq" // comparisons take two arguments of the same type
	OpNe  Op = "ne"
	OpLt  Op = "lt"
	OpLe  Op = "le"
	OpGt  Op = "gt"
	OpGe  Op = "ge"
	OpIn  Op = "in"   // whether the first argument equals one of the other arguments, which are constants
	OpNot Op = "not"  // in three-valued logic, like AND and OR
	OpAnd Op = "and"  // takes any number of arguments
	OpOr  Op = "or"   // takes any number of arguments
	OpNil Op = "null" // IS NULL; the result is never NULL
	OpIs  Op = "true" // IS TRUE; the result is never NULL

	OpLike Op = "like" // Text holds the pattern; a backslash escapes the next character

	OpFold Op = "fold" // Text → Text: the letters A to Z in lower case, or a to z in upper case; Text is lower or upper

	// a function of a text and of constants that are not NULL; Text is its name in package text: left, right, substring,
	// btrim, ltrim, rtrim, split_part, length, octet_length or strpos. No such function returns a longer text
	OpText Op = "text"

	OpCase     Op = "case"     // arguments: condition, result, condition, result, …, result otherwise
	OpCoalesce Op = "coalesce" // the first argument that is not NULL
	OpLeast    Op = "least"    // the least of the arguments that are not NULL
	OpGreatest Op = "greatest" // the greatest of the arguments that are not NULL

	OpAbs   Op = "abs"
	OpSign  Op = "sign"  // result is an Integer
	OpFloor Op = "floor" // Real → Integer
	OpCeil  Op = "ceil"  // Real → Integer
	OpRound Op = "round" // Real → Integer, rounded half away from zero
	OpSqrt  Op = "sqrt"  // NULL for a negative argument
	OpLn    Op = "ln"    // NULL for an argument ≤ 0
	OpExp   Op = "exp"

	OpDatePart  Op = "date_part"  // Date → Integer; Text is one of value.DateFields
	OpDateTrunc Op = "date_trunc" // Date → Date; Text is one of value.DateUnits
	OpAddMonths Op = "add_months" // Date → Date; Text is the number of months, as in value.AddMonths

	OpDayOf     Op = "day_of"     // Timestamp → Date
	OpTimeOf    Op = "time_of"    // Timestamp → Time
	OpStartOf   Op = "start_of"   // Date → Timestamp: the start of the day
	OpTimeTrunc Op = "time_trunc" // Timestamp or Time → the same type; Text is one of value.ClockUnits
	OpChar      Op = "to_char"    // Date, Timestamp or Time → Text; Text is a format, as in value.ParseFormat
	OpTimePart  Op = "time_part"  // Time → Integer; Text is one of value.ClockUnits, as in value.TimePart
)

// Expr is a typed expression over the cleaned columns of one row. It is total (see [Op]) and reads nothing else.
type Expr struct {
	Op     Op
	Type   value.Type
	Args   []*Expr
	Const  value.Value // for OpConst
	Column int         // for OpColumn: the index in Statement.Columns, or in the columns of the Source's input
	Name   string      // for OpColumn: the column's name
	// for OpColumn: the column of a Source that is no Scan, so its index identifies it, and not its name
	Derived bool
	// for OpLike: the pattern; for OpFold: the case; for OpText: the function; for functions of dates and times: the field, the months or the format;
	// for OpCase, text with which package bind marks how it was made; for a text constant that spells a moment with an
	// offset from UTC: the time that clocks in the policy's zone show then
	Text     string
	Range    Range // the range of the value if it is not NULL; for numbers, dates and times
	Nullable bool  // whether the value may be NULL
	Dropped  bool  // whether the question writes a / b for integers, so that the fraction is dropped

	size int // the weight, or 0 if it is not computed yet
}

// Range bounds the values of an expression. Ranges prove that no operation overflows, underflows or leaves a
// function's domain. For an expression whose values are integers ([value.Type.Whole]), the bounds are IntLo and
// IntHi. For a Real expression, they are Lo and Hi, and every value except 0 has magnitude at least 2^Tiny.
type Range struct {
	IntLo, IntHi int64
	Lo, Hi       float64
	Tiny         int
}

// MaxWeight is the largest weight of an expression that a question may contain.
const MaxWeight = 5_000

// Weight returns the number of nodes that e has when an engine writes it as SQL, or MaxWeight+1 if there are more.
// A subexpression counts as often as it is written: for example twice in a domain check or a rounding. The first
// call stores the result in e, so a deep expression is walked only once.
func (e *Expr) Weight() int {
	if e.size == 0 {
		n := 1
		for _, a := range e.Args {
			n += a.Weight()
		}
		switch e.Op {
		case OpSqrt, OpLn, OpRound:
			n *= 2
		case OpChar: // each field of the format is written with the argument
			n *= 2 * len(e.Text)
		}
		e.size = min(n, MaxWeight+1)
	}
	return e.size
}

// Walk calls f for e and for every expression below it.
func (e *Expr) Walk(f func(*Expr)) {
	f(e)
	for _, a := range e.Args {
		a.Walk(f)
	}
}

// String returns the expression's canonical text. Two expressions with the same text compute the same value. The text of
// no expression is what fmt makes of nil, because marks of releases contain it.
func (e *Expr) String() string {
	if e == nil {
		return "<nil>"
	}
	return string(e.append(nil))
}

// append appends the canonical text to b. It avoids allocations, because a question needs the text of every
// expression more than once.
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
