package curator

import (
	"context"
	"fmt"
	"slices"

	"dither/internal/plan"
	"dither/internal/query"
)

// MaxJointConditions is the largest number of different conditions of a [Joint].
const MaxJointConditions = 12

// Joint is the one histogram from which several counting questions are answered. A row is in one cell: the cell of the
// conditions that are true of it. So a row that counts in several questions is in one cell. The cells follow from the
// questions and the policy, never from rows.
type Joint struct {
	SQL    string // the question of the histogram, for [Session.MeasureStrategy]
	Keys   []int  // its keys, for StrategyPart.Keys
	Counts []JointCount
	// Cells has, for each cell of the histogram that can have rows, its index among all cells, in increasing order
	Cells  []int
	All    int // the number of all cells
	Price  Loss
	Totals []JointTotal // the sums of cells that the policy's totals determine
}

// JointCount is one count of the questions.
type JointCount struct {
	Question int    // the index of the question
	Name     string // the name of the column
	In       []bool // for each of Joint.Cells, whether the count has its rows
}

// Joint reads questions that only count rows of one relation: SELECT COUNT(*) FROM t WHERE …, with FILTER or several
// counts if need be, and without GROUP BY. It spends nothing, and reads no row of a table with units. The analyst of
// the parameter `by` matters, and its price; its SQL is ignored.
func (c *Session) Joint(ctx context.Context, questions []string, by Request) (*Joint, error) {
	if err := c.asks(&by.Analyst); err != nil {
		return nil, err
	}
	b := &jointly{c: c, tree: &query.Select{Items: []query.Item{{Expr: &query.Call{Name: "count", Star: true}}}}}
	for i, sql := range questions {
		if err := b.add(i, sql); err != nil {
			return nil, err
		}
	}
	if len(b.counts) == 0 {
		return nil, &Error{Code: CodeUsage, Message: "there is no question", Hint: "give at least one SELECT COUNT(*) …"}
	}
	b.share()
	p, err := b.planned(by)
	if err != nil {
		return nil, c.public(err)
	}
	if b.merge(p.Grouped) {
		if p, err = b.planned(by); err != nil {
			return nil, c.public(err)
		}
	}
	out, err := b.joint(p)
	if err == nil {
		out.Totals = b.totals(ctx, p, out, questions, by)
	}
	return out, err
}

// jointly gathers the counts of several questions.
type jointly struct {
	c          *Session
	tree       *query.Select // the question of the histogram
	from       string        // the text of the relation
	counts     []jointCount
	conditions []query.Expr // each once
}

type jointCount struct {
	JointCount
	where, filter query.Expr // nil for all rows
	condition     int        // the index of the count's condition; −1 for all rows
}

// add reads one question.
func (b *jointly) add(i int, sql string) error {
	wrong := func(hint, message string) error {
		return &Error{Code: CodePolicy, Message: fmt.Sprintf("question %d %s", i+1, message), Hint: hint}
	}
	const alone = "ask it in a question of its own, without --together"
	b.c.timed(&sql)
	tree, err := query.ParseIn(sql, b.c.policy.Clock.Zone)
	if err != nil {
		return b.c.public(err)
	}
	switch {
	case tree.From.None():
		return wrong(alone, "has no FROM")
	case len(tree.GroupBy) > 0, tree.Having != nil, len(tree.OrderBy) > 0, tree.Limit != nil, tree.Offset != nil, tree.Distinct,
		tree.Options != nil:
		return wrong(alone, "has a clause besides SELECT, FROM and WHERE")
	}
	from := (&query.Select{Items: b.tree.Items, From: tree.From}).String()
	if i == 0 {
		b.from, b.tree.From = from, tree.From
	} else if from != b.from {
		return wrong("ask about each relation separately", "is about another relation than question 1")
	}
	for _, item := range tree.Items {
		call, ok := item.Expr.(*query.Call)
		if !ok || call.Name != "count" || call.Distinct || len(call.Named) > 0 || call.Over != nil || call.Within != nil ||
			!call.Star && len(call.Args) != 1 {
			return wrong(alone, "selects something else than COUNT(*), COUNT(x) or COUNT(…) FILTER (WHERE …)")
		}
		of := jointCount{where: tree.Where, filter: call.Filter}
		of.Question, of.Name = i, item.Alias
		if of.Name == "" {
			of.Name = "count"
		}
		if !call.Star {
			of.filter = both(of.filter, &query.Is{X: call.Args[0], What: query.IsNull, Not: true})
		}
		b.counts = append(b.counts, of)
	}
	return nil
}

// both returns the conjunction of two conditions, each of which may be nil.
func both(x, y query.Expr) query.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return &query.Binary{Op: query.And, L: x, R: y}
}

// share moves a WHERE that all questions have to the histogram, and lists the other conditions.
func (b *jointly) share() {
	text := func(x query.Expr) string {
		if x == nil {
			return ""
		}
		return query.Print(x)
	}
	first := b.counts[0].where
	same := !slices.ContainsFunc(b.counts, func(c jointCount) bool { return text(c.where) != text(first) })
	if same {
		b.tree.Where = first
	}
	for i := range b.counts {
		c := &b.counts[i]
		condition := c.filter
		if !same {
			condition = both(c.where, c.filter)
		}
		if c.condition = -1; condition == nil {
			continue
		}
		c.condition = slices.IndexFunc(b.conditions, func(x query.Expr) bool { return text(x) == text(condition) })
		if c.condition < 0 {
			c.condition = len(b.conditions)
			b.conditions = append(b.conditions, condition)
		}
	}
}

// planned plans the histogram over the conditions.
func (b *jointly) planned(by Request) (*plan.Linear, error) {
	if n := len(b.conditions); n > MaxJointConditions {
		return nil, &Error{
			Code:    CodePolicy,
			Message: fmt.Sprintf("the questions have %d different conditions, more than %d", n, MaxJointConditions),
			Hint:    "ask fewer questions together",
		}
	}
	b.tree.GroupBy = nil
	for _, x := range b.conditions {
		b.tree.GroupBy = append(b.tree.GroupBy, &query.Is{X: x, What: query.IsTrue})
	}
	by.SQL = b.tree.String()
	request, err := b.c.request(by.Question())
	if err != nil {
		return nil, err
	}
	return plan.BuildHistogram(b.c.filled(), request)
}

// merge drops conditions whose keys are equal to that of an earlier condition, and reports whether there are any. keys has
// the index of each condition's key.
func (b *jointly) merge(keys []int) bool {
	var kept []query.Expr
	now := make([]int, len(keys))
	for i, k := range keys {
		first := slices.Index(keys, k)
		if first < i {
			now[i] = now[first]
			continue
		}
		now[i], kept = len(kept), append(kept, b.conditions[i])
	}
	for i := range b.counts {
		if c := &b.counts[i]; c.condition >= 0 {
			c.condition = now[c.condition]
		}
	}
	merged := len(kept) < len(b.conditions)
	b.conditions = kept
	return merged
}

// joint returns the joint histogram of a plan.
func (b *jointly) joint(p *plan.Linear) (*Joint, error) {
	out := &Joint{SQL: b.tree.String(), Price: b.c.loss(p.Price)}
	for i, values := range p.KeyValues() {
		if len(values) != 2 || values[0].Bool || !values[1].Bool { // IS TRUE is FALSE or TRUE
			return nil, &Error{Code: CodePolicy, Message: "a condition is always true, or never", Hint: "leave it out"}
		}
		out.Keys = append(out.Keys, i)
	}
	possible := p.Possible()
	out.All = len(possible)
	for i, can := range possible {
		if can {
			out.Cells = append(out.Cells, i)
		}
	}
	if len(out.Cells) == 0 {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "no row can satisfy a condition of these questions",
			Hint:    "check their conditions; a count that is always 0 needs no measurement",
		}
	}
	for _, c := range b.counts {
		of := c.JointCount
		for _, cell := range out.Cells {
			of.In = append(of.In, c.condition < 0 || cell>>(len(b.conditions)-1-c.condition)&1 == 1)
		}
		out.Counts = append(out.Counts, of)
	}
	return out, nil
}
