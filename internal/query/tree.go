package query

// Select is one question: a SELECT over one table or one relation.
type Select struct {
	At         Pos  // set for a SELECT in a subquery
	Distinct   bool // SELECT DISTINCT
	DistinctAt Pos  // the position of DISTINCT
	// OfUnits is whether the first item must be the unit's column, because the SELECT stands for INTERSECT or EXCEPT
	OfUnits bool
	// First limits the rows by their number in a window; nil for all rows. Only package bind sets it, in copies of a tree,
	// and String drops it
	First *First
	Items []Item // at least one
	From  From
	Where Expr // nil if absent
	// expressions or Groupings, as written: the caller decides whether an integer constant is an output column's
	// number
	GroupBy       []Expr
	Having        Expr // nil if absent
	OrderBy       []Order
	Limit, Offset *int64   // nil if absent; never negative
	Options       *Options // nil if absent
	// the catalogs that the whole text names. They are no part of the question's meaning, so String drops them
	Catalogs []Catalog
	// the names of the tables that the whole text names, each as often as it stands there, without the names from WITH
	// that stand for a subquery. They are set in the outermost SELECT alone, and String drops them
	Tables []string
}

// First selects the rows that Call, a window function, numbers from From to To.
type First struct {
	Call     *Call
	From, To int64
}

// Item is one output column; Alias is "" if none was given.
type Item struct {
	Expr  Expr
	Alias string
	// Name is the name that PostgreSQL gives a cast without an alias: that of the column or the function in it, or else
	// that of the type; "" for other items.
	Name string
}

// From is the table of the question. Alias is "" if none was given. If FROM is not a single table, Table and Alias
// are "", and Relation is set. Without FROM, Table is "" and Relation is nil.
type From struct {
	Table, Alias string
	At           Pos      // without FROM, the position of SELECT
	Relation     Relation // nil for a single table
}

// None reports whether the question has no FROM.
func (f From) None() bool { return f.Table == "" && f.Relation == nil }

// Order is one key of ORDER BY. NullsFirst is nil unless NULLS FIRST or NULLS LAST was written.
type Order struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool
}

// Expr is one of *Column, *Literal, *Unary, *Binary, *Between, *In, *Like, *Is, *Case, *Cast, *Call and *Nested. GROUP
// BY may also contain a *Grouping, and the list of a subquery a *Star. An Expr is never nil unless a field's comment
// says so. In a clause, no path from the root is longer than 200 nodes. So recursive functions need no limit of
// their own.
type Expr interface {
	// Pos returns the position to report for an error in this expression. For a name, a constant, CASE or a call,
	// it is the first character. For an operation it is the operator, as in PostgreSQL.
	Pos() Pos
	isExpr()
}

// Column is a column reference. Table is "" unless it is qualified. Names are folded as in PostgreSQL (unquoted A–Z
// to lower case) and have at most 63 bytes.
type Column struct {
	At          Pos
	Table, Name string
}

// Literal is a constant.
//
//   - IntegerLiteral: Text is decimal digits after an optional "-", and fits in 64 bits.
//   - DecimalLiteral: Text is as written, with its exponent, after an optional "-" and without underscores ("-.5e3").
//   - StringLiteral: Text is the value.
//   - BooleanLiteral: Bool is the value.
//   - NullLiteral: nothing more.
//   - DateLiteral: Text is a valid date, YYYY-MM-DD.
//   - TimestampLiteral and TimeLiteral: Text is the value, which the binder reads.
//   - IntervalLiteral: Text is the value, as value.Span writes it.
//
// For a StringLiteral or a TimestampLiteral that spells a moment with an offset from UTC, Local is the time that clocks
// show then, in the zone for which the text was parsed. It follows from Text, so it is not printed.
//
// A minus before a number is folded into its Text, so Unary Negate never applies to a numeric Literal.
type Literal struct {
	At   Pos
	Kind LiteralKind
	Text string
	Bool bool

	Local string
}

// Unary is -X or NOT X. A unary plus is dropped.
type Unary struct {
	At Pos
	Op UnaryOp
	X  Expr
}

// Binary is L Op R. A chain of ANDs or ORs nests to the left.
type Binary struct {
	At   Pos
	Op   BinaryOp
	L, R Expr
}

// Between is X [NOT] BETWEEN Lo AND Hi.
type Between struct {
	At        Pos
	X, Lo, Hi Expr
	Not       bool
}

// In is X [NOT] IN (List). List has at least one element.
type In struct {
	At   Pos
	X    Expr
	List []Expr
	Not  bool
}

// Like is X [NOT] LIKE Pattern, with backslash as its escape, ILIKE if AnyCase is set, or SIMILAR TO if Similar is.
type Like struct {
	At         Pos
	X, Pattern Expr
	Not        bool
	AnyCase    bool
	Similar    bool
}

// Is is X IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
type Is struct {
	At   Pos
	X    Expr
	What IsWhat
	Not  bool
}

// Case is CASE [Operand] WHEN … [ELSE Else] END. Operand and Else may be nil. Whens has at least one element.
type Case struct {
	At      Pos
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one branch of a Case. Cond is a condition, or a value that the Case's Operand is compared with.
type When struct {
	Cond, Result Expr
}

// Cast is CAST(X AS Type). Type is "integer", "real", "text", "boolean", "date", "timestamp", "time"
// or "interval". A cast of a string constant to one of the last four is a Literal instead.
type Cast struct {
	At   Pos
	X    Expr
	Type string
}

// Call is Name(Args), Name(*) if Star is set, or Name(DISTINCT Args) if Distinct is set. With Star, Args is empty.
// WITHIN GROUP (ORDER BY Within), FILTER (WHERE Filter) and OVER follow if these are not nil. Named arguments come
// after Args or the asterisk. COALESCE, NULLIF, LEAST, GREATEST and GROUPING are Calls too. Name is folded like a
// column's name. The caller decides whether such a function exists.
type Call struct {
	At             Pos
	Name           string
	Args           []Expr
	Star, Distinct bool
	Filter         Expr
	Within         *Order     // for PERCENTILE_CONT, PERCENTILE_DISC and MODE only
	Named          []Argument // their names are distinct
	Over           *Window    // nil unless the call is of a window function
}

// LiteralKind distinguishes constants.
type LiteralKind int

// The kinds of constant; see Literal.
const (
	IntegerLiteral LiteralKind = iota + 1
	DecimalLiteral
	StringLiteral
	BooleanLiteral
	NullLiteral
	DateLiteral
	TimestampLiteral
	TimeLiteral
	IntervalLiteral
)

// UnaryOp is the operator of a Unary.
type UnaryOp int

// The unary operators.
const (
	Negate UnaryOp = iota + 1
	Not
)

// BinaryOp is the operator of a Binary.
type BinaryOp int

// The binary operators.
const (
	Add BinaryOp = iota + 1
	Sub
	Mul
	Div
	Mod
	Concat
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	And
	Or
)

// IsWhat is what an Is tests for.
type IsWhat int

// The tests of an Is.
const (
	IsNull IsWhat = iota + 1
	IsTrue
	IsFalse
	IsUnknown
)

var (
	unaryNames  = map[UnaryOp]string{Negate: "-", Not: "NOT"}
	binaryNames = map[BinaryOp]string{
		Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Concat: "||", Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">=",
		And: "AND", Or: "OR",
	}
	isNames = map[IsWhat]string{IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN"}
)

// String returns the operator as written in SQL.
func (o UnaryOp) String() string { return unaryNames[o] }

// String returns the operator as written in SQL.
func (o BinaryOp) String() string { return binaryNames[o] }

// String returns the word that follows IS [NOT].
func (w IsWhat) String() string { return isNames[w] }

// Pos returns the position of the name.
func (x *Column) Pos() Pos { return x.At }

// Pos returns the position of the constant, including its sign.
func (x *Literal) Pos() Pos { return x.At }

// Pos returns the position of the operator.
func (x *Unary) Pos() Pos { return x.At }

// Pos returns the position of the operator.
func (x *Binary) Pos() Pos { return x.At }

// Pos returns the position of BETWEEN, or of NOT before it.
func (x *Between) Pos() Pos { return x.At }

// Pos returns the position of IN, or of NOT before it.
func (x *In) Pos() Pos { return x.At }

// Pos returns the position of LIKE, or of NOT before it.
func (x *Like) Pos() Pos { return x.At }

// Pos returns the position of IS.
func (x *Is) Pos() Pos { return x.At }

// Pos returns the position of CASE.
func (x *Case) Pos() Pos { return x.At }

// Pos returns the position of CAST, of "::", or of the type's name before a constant.
func (x *Cast) Pos() Pos { return x.At }

// Pos returns the position of the function's name.
func (x *Call) Pos() Pos { return x.At }

func (*Column) isExpr()  {}
func (*Literal) isExpr() {}
func (*Unary) isExpr()   {}
func (*Binary) isExpr()  {}
func (*Between) isExpr() {}
func (*In) isExpr()      {}
func (*Like) isExpr()    {}
func (*Is) isExpr()      {}
func (*Case) isExpr()    {}
func (*Cast) isExpr()    {}
func (*Call) isExpr()    {}
