package bind

import (
	"math"
	"slices"
	"strconv"

	"dither/internal/query"
)

// firsts returns s with the rows of a subquery of FROM limited by their number in a window, if WHERE or the condition of a
// join keeps rows with some numbers alone. The numbers are the subqueries' First.
//
//	SELECT … FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM …) q WHERE q.n <= 3
//
// Claim: the answer stays the same if the subquery keeps its rows with these numbers alone. Proof: a row of the subquery
// with another number makes no row of s: a row of an inner join, or of the outer side of an outer join, that it is part
// of is dropped by the condition on n in WHERE; and a condition on n in the ON of an inner join, or of a left join of
// which the subquery is the right side, lets such a row match nothing. In a left join by ON, a row of the left side
// without another match stays with NULLs in both cases. In a left join with n <= 3 in WHERE, such a row has n NULL, and
// WHERE drops it. ∎
func firsts(s *query.Select) *query.Select {
	r := firstsIn(s.From.Relation, numbered(s.Where))
	if r == s.From.Relation {
		return s
	}
	out := *s
	out.From.Relation = r
	return &out
}

// numbers are the values of a column that a condition leaves: those from `from` to `to`.
type numbers struct {
	column   *query.Column
	from, to int64
}

// numbered returns the columns that the parts of a condition compare with integers, and the values that each part leaves.
func numbered(x query.Expr) (out []numbers) {
	if x == nil {
		return nil
	}
	for _, x := range split(x) {
		switch x := x.(type) {
		case *query.Binary:
			out = append(out, comparedNumbers(x)...)
		case *query.Between:
			lo, hi := integerIn(x.Lo), integerIn(x.Hi)
			if c, ok := x.X.(*query.Column); ok && isNumber(lo) && isNumber(hi) && !x.Not {
				out = append(out, numbers{c, *lo, *hi})
			}
		case *query.In:
			c, ok := x.X.(*query.Column)
			of := numbers{c, math.MaxInt64, math.MinInt64}
			for _, e := range x.List {
				n := integerIn(e)
				if ok = ok && isNumber(n) && !x.Not; ok {
					of.from, of.to = min(of.from, *n), max(of.to, *n)
				}
			}
			if ok {
				out = append(out, of)
			}
		}
	}
	return out
}

// isNumber reports whether a constant may bound the numbers of rows. Products of larger ones could overflow.
func isNumber(n *int64) bool { return n != nil && *n >= math.MinInt32 && *n <= math.MaxInt32 }

// comparedNumbers returns the values of a column that a comparison with an integer leaves.
func comparedNumbers(x *query.Binary) []numbers {
	l, op, r := x.L, x.Op, x.R
	if integerIn(l) != nil {
		l, r = r, l
		if swapped, ok := map[query.BinaryOp]query.BinaryOp{
			query.Lt: query.Gt, query.Le: query.Ge, query.Gt: query.Lt, query.Ge: query.Le,
		}[op]; ok {
			op = swapped
		}
	}
	c, ok := l.(*query.Column)
	n := integerIn(r)
	if !ok || !isNumber(n) {
		return nil
	}
	out := numbers{c, math.MinInt64, math.MaxInt64}
	switch op {
	case query.Eq:
		out.from, out.to = *n, *n
	case query.Le:
		out.to = *n
	case query.Lt:
		out.to = *n - 1
	case query.Ge:
		out.from = *n
	case query.Gt:
		out.from = *n + 1
	default:
		return nil
	}
	return []numbers{out}
}

// integerIn returns the value of an integer constant, or nil.
func integerIn(x query.Expr) *int64 {
	l, ok := x.(*query.Literal)
	if !ok || l.Kind != query.IntegerLiteral {
		return nil
	}
	n, err := strconv.ParseInt(l.Text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func integerAt(at query.Pos, n int64) query.Expr {
	return &query.Literal{At: at, Kind: query.IntegerLiteral, Text: strconv.FormatInt(n, 10)}
}

func firstsIn(r query.Relation, columns []numbers) query.Relation {
	switch r := r.(type) {
	case *query.List:
		out := *r
		out.Items = slices.Clone(r.Items)
		changed := false
		for i, item := range r.Items {
			out.Items[i] = firstsIn(item, columns)
			changed = changed || out.Items[i] != item
		}
		if changed {
			return &out
		}
	case *query.Join:
		on := numbered(r.On)
		inL, inR := columns, columns
		if r.Kind == query.InnerJoin || r.Kind == query.LeftJoin {
			inR = slices.Concat(columns, on)
		}
		if r.Kind == query.InnerJoin {
			inL = inR
		}
		if r.Kind != query.InnerJoin && r.Kind != query.LeftJoin {
			return r
		}
		out := *r
		if out.L, out.R = firstsIn(r.L, inL), firstsIn(r.R, inR); out.L != r.L || out.R != r.R {
			return &out
		}
	case *query.Subquery:
		return firstsOf(r, columns)
	}
	return r
}

// firstsOf returns a subquery with First, if the columns limit the numbers of a window function in it from above.
func firstsOf(q *query.Subquery, columns []numbers) query.Relation {
	if len(q.Branches) != 1 || q.Lateral || grouped(q.Branches[0]) || q.Branches[0].Distinct || q.Branches[0].Limit != nil {
		return q
	}
	s := q.Branches[0]
	for i, item := range s.Items {
		call, ok := item.Expr.(*query.Call)
		if !ok || !numbersRows(call) {
			continue
		}
		name := item.Alias
		if name == "" {
			name = call.Name
		}
		first := query.First{Call: call, From: 1, To: math.MaxInt64}
		for _, c := range columns {
			if c.column.Name == name && (c.column.Table == "" || c.column.Table == q.Alias) {
				first.From, first.To = max(first.From, c.from), min(first.To, c.to)
			}
		}
		if first.To == math.MaxInt64 || first.To < first.From {
			continue
		}
		branch, out := *s, *q
		branch.Items = slices.Clone(s.Items)
		branch.Items[i].Alias = name
		if first.From == first.To {
			branch.Items[i].Expr = integerAt(call.At, first.From)
		}
		branch.First = &first
		out.Branches = []*query.Select{&branch}
		return &out
	}
	return q
}

// numbersRows reports whether a call numbers the rows of parts.
func numbersRows(x *query.Call) bool {
	return x.Over != nil && len(x.Over.Partition) > 0 && len(x.Args) == 0 && !x.Star &&
		slices.Contains([]string{"row_number", "rank", "dense_rank"}, x.Name)
}

// keepFirst keeps the rows whose number in a window is from first.From to first.To. The expression number is that number,
// and a unit has at most so many parts.
//
// Claim: if the function is ROW_NUMBER, a unit then has at most To − From + 1 rows of each part. Proof: the numbers of the
// rows of a part differ. ∎ So a unit of one part has at most one row by construction (Single) if one number is kept.
func (r *Relation) keepFirst(first *query.First, number query.Expr, parts int64) error {
	at := first.Call.Over.At
	for _, c := range []*query.Binary{
		{At: at, Op: query.Ge, L: number, R: integerAt(at, first.From)}, {At: at, Op: query.Le, L: number, R: integerAt(at, first.To)},
	} {
		if c.Op == query.Ge && first.From == 1 {
			continue
		}
		e, err := r.Condition(c)
		if err == nil {
			err = r.restrict(e, at)
		}
		if err != nil {
			return err
		}
	}
	if first.Call.Name != "row_number" {
		return nil
	}
	most, n := r.unit.RowsPerUnit, first.To-first.From+1
	if n <= most && parts <= most/n {
		most = parts * n
	}
	in := r.project()
	in.Single = in.Single || parts == 1 && n == 1 // never their product, which may overflow to 1
	r.unit.RowsPerUnit, r.unit.MaxGroups = most, min(r.unit.MaxGroups, most)
	r.unit.RowsPerGroup = min(r.unit.RowsPerGroup, most)
	for i := range r.Names {
		r.Names[i].copies = min(r.Names[i].copies, most)
	}
	return nil
}
