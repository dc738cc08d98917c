package bind

import (
	"math/big"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// ranged joins a table of constants whose rows are ranges to the rows of l:
//
//	people p JOIN (VALUES (0, 18, 'minor'), (18, 120, 'adult')) b (lo, hi, label) ON p.age >= b.lo AND p.age < b.hi
//
// The condition compares expressions over l with columns of the table, by =, <, <=, >, >= and BETWEEN. No value of these
// expressions satisfies it for two rows, so a row of l meets at most one row of the table, and the columns are CASE
// expressions, as in mapped. If the ranges overlapped, CASE would find the first, but a join all: such a table is refused.
func (f from) ranged(l *Relation, r *query.Constants, j *query.Join) (*Relation, error) {
	if r.Series || j.On == nil || j.Kind != query.InnerJoin && j.Kind != query.LeftJoin || r.Alias == "" || len(r.Rows) > maxMapped {
		return nil, constantsBesidePersons(r)
	}
	var compared []rangeComparison
	for _, x := range split(j.On) {
		of, ok := rangeComparisons(l, r, x)
		if !ok {
			return nil, constantsBesidePersons(r)
		}
		compared = append(compared, of...)
	}
	for i := range r.Rows {
		for k := range i {
			if !apart(compared, r.Rows[i], r.Rows[k]) {
				return nil, overlapping(r)
			}
		}
	}
	conditions := make([]query.Expr, len(r.Rows))
	var among query.Expr
	for i, row := range r.Rows {
		for _, c := range compared {
			conditions[i] = both(conditions[i], &query.Binary{At: j.At, Op: c.op, L: c.of, R: row[c.column]})
		}
		if among == nil {
			among = conditions[i]
		} else {
			among = &query.Binary{At: j.At, Op: query.Or, L: among, R: conditions[i]}
		}
	}
	return f.labelled(l, r, j, nil, conditions, among, "")
}

// overlapping refuses ranges of which two may contain one value.
func overlapping(r *query.Constants) error {
	return Refuse(r.At, "let each range end where the next one begins, and compare with >= and <",
		"these ranges of VALUES overlap, or nothing says that they do not, so a row could meet several of them")
}

// rangeComparison is of op column, where the column is one of a table of constants.
type rangeComparison struct {
	of     query.Expr
	text   string
	kind   value.Type
	op     query.BinaryOp
	column int
}

// rangeComparisons returns the comparisons of a part of a join's condition.
func rangeComparisons(l *Relation, r *query.Constants, x query.Expr) ([]rangeComparison, bool) {
	if b, ok := x.(*query.Between); ok && !b.Not {
		lo, isLo := rangeComparisons(l, r, &query.Binary{At: b.At, Op: query.Ge, L: b.X, R: b.Lo})
		hi, isHi := rangeComparisons(l, r, &query.Binary{At: b.At, Op: query.Le, L: b.X, R: b.Hi})
		return append(lo, hi...), isLo && isHi
	}
	b, ok := x.(*query.Binary)
	if !ok {
		return nil, false
	}
	out := rangeComparison{of: b.L, op: b.Op, column: columnOf(r, b.R, l)}
	if out.column < 0 {
		turned, ok := turnedOps[b.Op]
		out = rangeComparison{of: b.R, op: turned, column: columnOf(r, b.L, l)}
		if !ok {
			return nil, false
		}
	}
	if _, comparison := turnedOps[out.op]; !comparison || out.column < 0 {
		return nil, false
	}
	e, err := l.Row(out.of)
	if err != nil || !AnyColumn(e, func(*bounded.Expr) bool { return true }) {
		return nil, false
	}
	out.text, out.kind = query.Print(out.of), e.Type
	return []rangeComparison{out}, !slices.ContainsFunc(r.Rows, func(row []query.Expr) bool {
		_, ok := rangeEnd(row[out.column], out.kind)
		return !ok
	})
}

// turnedOps has the comparison that has the same meaning with its sides exchanged.
var turnedOps = map[query.BinaryOp]query.BinaryOp{
	query.Eq: query.Eq, query.Lt: query.Gt, query.Le: query.Ge, query.Gt: query.Lt, query.Ge: query.Le,
}

// end is a constant that a value of a type is compared with: the number that it stands for, or its text.
type end struct {
	number *big.Rat
	text   string
}

// rangeEnd returns a constant as it is compared with a value of a type. Beside reals, it is the nearest double.
func rangeEnd(x query.Expr, of value.Type) (end, bool) {
	s, ok := x.(*query.Literal)
	if !ok {
		return end{}, false
	}
	switch {
	case of == value.Integer && s.Kind == query.IntegerLiteral:
		n, ok := new(big.Rat).SetString(s.Text)
		return end{number: n}, ok
	case of == value.Real && (s.Kind == query.IntegerLiteral || s.Kind == query.DecimalLiteral):
		n, err := strconv.ParseFloat(s.Text, 64)
		if err != nil {
			return end{}, false
		}
		return end{number: new(big.Rat).SetFloat64(n)}, true
	case of == value.Date && s.Kind == query.DateLiteral, of == value.Text && s.Kind == query.StringLiteral:
		return end{text: s.Text}, true
	}
	return end{}, false
}

func (a end) compare(b end) int {
	switch {
	case a.number != nil:
		return a.number.Cmp(b.number)
	case a.text < b.text: // the texts of dates have one length, so they are in the order of the dates
		return -1
	case a.text > b.text:
		return 1
	}
	return 0
}

// apart reports whether no value satisfies the comparisons with both rows: an upper end of one is below a lower end of the
// other for the same expression. An equality is both ends.
func apart(compared []rangeComparison, a, b []query.Expr) bool {
	below := func(upper, lower []query.Expr) bool {
		for _, u := range compared {
			for _, o := range compared {
				isUpper, isLower := u.op == query.Lt || u.op == query.Le || u.op == query.Eq, o.op == query.Gt || o.op == query.Ge || o.op == query.Eq
				if u.text != o.text || !isUpper || !isLower {
					continue
				}
				hi, _ := rangeEnd(upper[u.column], u.kind)
				lo, _ := rangeEnd(lower[o.column], o.kind)
				c := hi.compare(lo)
				if c < 0 || c == 0 && (u.op == query.Lt || o.op == query.Gt) {
					return true
				}
			}
		}
		return false
	}
	return below(a, b) || below(b, a)
}
