package curator

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/query"
)

// Limits of a [Grid].
const (
	MaxGridQuestions = 2000
	MaxGridKeys      = 16
)

// Grid is the histogram from which several questions follow, by the columns that they name. Its cells are the
// combinations of the keys' values, and may be too many to list. Each answer adds up the cells of a product of sets:
// one set of values for each key. The sets follow from the questions and the policy, never from rows.
//
// GROUP BY drops the rows whose key has no known value, such as a text that is not among a column's declared values.
// Other questions count these rows. So if there are such questions, the key has one more cell for them, whose value is
// nil.
type Grid struct {
	SQL string // the question of the histogram, for [Session.MeasureStrategy]
	// the keys' known values, as in Domain: of columns, and FALSE and TRUE for conditions that no single column decides
	Keys    []string
	Values  [][]any
	Answers []GridAnswer
	// Conditions is the number of different conditions of the answers, as [Joint] counts them. −1 if a question groups
	// or sums, which a Joint does not read
	Conditions int
	Unit       *big.Rat // of the histogram's cells; 1 for counts
	Limits     *Limits
	Price      Loss
	Totals     []KnownTotal // the sums of cells that the policy's totals determine
	TotalsNote string       // as in Domain
}

// GridAnswer is one count or sum of the questions, for each combination of its groups.
type GridAnswer struct {
	Question int          // the index of the question
	Name     string       // the name of the column
	GroupBy  []int        // indices of Grid.Keys, in the question's order
	Columns  []GridColumn // for each of Grid.Keys, the values whose cells the answer adds up
}

// GridColumn is a set of a key's values. If the answer groups by the key, it has one number for each of them.
type GridColumn struct {
	All     bool  // all values, and Values is nil
	Values  []int // otherwise the indices of the values, in increasing order; never empty
	Grouped bool  // by the key
}

// Grid reads questions that all count rows, or that all sum the same expression, over one relation: SELECT COUNT(*)
// FROM t WHERE … GROUP BY …, or SUM(x), or COUNT(*) FILTER (WHERE …). WHERE has conditions joined by AND. It spends
// nothing, and reads no row of a table with units. The SQL of the parameter `by` is ignored.
func (c *Session) Grid(_ context.Context, questions []string, by Request) (*Grid, error) {
	if err := c.asks(&by.Analyst); err != nil {
		return nil, err
	}
	if n := len(questions); n > MaxGridQuestions {
		return nil, &Error{
			Code: CodePolicy, Message: fmt.Sprintf("there are %d questions, more than %d", n, MaxGridQuestions),
			Hint: "divide them, and the price, among several files",
		}
	}
	g := &gridding{c: c, by: by, known: map[string]*gridKey{}}
	for i, sql := range questions {
		if err := g.add(i, sql); err != nil {
			return nil, err
		}
	}
	if len(g.asked) == 0 {
		return nil, &Error{Code: CodeUsage, Message: "there is no question", Hint: "give at least one SELECT COUNT(*) …"}
	}
	g.share()
	if err := g.fill(); err != nil {
		return nil, err
	}
	return g.grid()
}

// gridding gathers the answers of several questions.
type gridding struct {
	c       *Session
	by      Request
	from    query.From
	text    string // of the relation
	measure *query.Call
	where   query.Expr // of all questions; nil if they differ
	asked   []gridAsked
	known   map[string]*gridKey // by text
	keys    []*gridKey
	answers []GridAnswer
	groups  bool
}

// gridAsked is one count or sum before its conditions are read.
type gridAsked struct {
	question int
	name     string
	where    query.Expr
	filter   query.Expr
	groups   []query.Expr
}

// fill reads the conditions and the groups of all answers.
func (g *gridding) fill() error {
	for _, a := range g.asked {
		out := GridAnswer{Question: a.question, Name: a.name}
		for _, x := range a.groups {
			p := g.use(g.key(x)) // the plan of the histogram says why a key is unusable
			out.column(p).Grouped = true
			out.GroupBy = append(out.GroupBy, p)
		}
		for _, x := range conjuncts(both(a.where, a.filter)) {
			g.condition(&out, x)
		}
		g.answers = append(g.answers, out)
	}
	if n := len(g.keys); n > MaxGridKeys {
		return &Error{
			Code:    CodePolicy,
			Message: fmt.Sprintf("the questions have %d different columns and conditions of several columns, more than %d", n, MaxGridKeys),
			Hint:    "ask fewer questions together",
		}
	}
	return nil
}

// planned plans the histogram over some keys.
func (g *gridding) planned(where query.Expr, keys ...query.Expr) (*plan.Linear, error) {
	tree := &query.Select{Items: []query.Item{{Expr: g.measure}}, From: g.from, Where: where, GroupBy: keys}
	by := g.by
	by.SQL = tree.String()
	request, err := g.c.request(by.Question())
	if err != nil {
		return nil, err
	}
	return plan.BuildHistogram(g.c.filled(), request)
}

// grid returns the histogram of all keys.
func (g *gridding) grid() (*Grid, error) {
	keys := func() (out []query.Expr) {
		for _, k := range g.keys {
			out = append(out, k.histogram())
		}
		return out
	}
	p, err := g.planned(g.where, keys()...)
	if err == nil && g.merge(p.Grouped) {
		p, err = g.planned(g.where, keys()...)
	}
	if err == nil {
		var completed bool
		if completed, err = g.complete(); completed && err == nil {
			p, err = g.planned(g.where, keys()...)
		}
	}
	if err != nil {
		return nil, g.c.public(err)
	}
	out := &Grid{Values: domainValues(p), Unit: p.Base.Measures[0].Unit(), Limits: g.c.limitsOf(&p.Base), Price: g.c.loss(p.Price)}
	out.SQL = (&query.Select{Items: []query.Item{{Expr: g.measure}}, From: g.from, Where: g.where, GroupBy: keys()}).String()
	for i, k := range g.keys {
		out.Keys = append(out.Keys, query.Print(k.expr))
		values := k.values
		if k.whole != nil {
			values++
		}
		if n := len(out.Values[i]); k.usable && n != values || len(slices.Compact(slices.Sorted(slices.Values(p.Grouped)))) < len(g.keys) {
			return nil, &Error{
				Code:    CodePolicy,
				Message: fmt.Sprintf("the common condition of the questions leaves %d of the %d values of %s", n, values, out.Keys[i]),
				Hint:    "ask the question of this condition separately",
			}
		}
		if k.whole != nil {
			for v, at := range k.order {
				if out.Values[i][at] = nil; v < k.values {
					out.Values[i][at] = k.shown[v]
				}
			}
		}
	}
	for _, a := range g.answers {
		if len(g.keys) > 0 {
			a.column(len(g.keys) - 1)
		}
		for i := range a.Columns {
			c := &a.Columns[i]
			c.arranged(g.keys[i])
			if c.All = c.All || len(c.Values) == len(out.Values[i]); c.All {
				c.Values = nil
			} else if len(c.Values) == 0 {
				return nil, &Error{
					Code:    CodePolicy,
					Message: fmt.Sprintf("no row can satisfy the conditions of question %d: none of the values of %s does", a.Question+1, out.Keys[i]),
					Hint:    "check its conditions; an answer that is always 0 needs no measurement",
				}
			}
		}
		out.Answers = append(out.Answers, a)
	}
	out.Conditions = g.conditions()
	g.totals(out, p)
	return out, nil
}

// conditions returns Grid.Conditions.
func (g *gridding) conditions() int {
	if g.groups || g.measure.Name != "count" {
		return -1
	}
	seen := map[string]bool{}
	for _, a := range g.asked {
		if x := both(a.where, a.filter); x != nil {
			seen[query.Print(x)] = true
		}
	}
	return len(seen)
}
