package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/plan"
	"dither/internal/query"
	"dither/internal/value"
)

// Limits of a [Grid].
const (
	MaxGridQuestions = 2000
	MaxGridKeys      = 16
)

// Grid is the histogram from which several questions follow, by the columns that they name. Its cells are the
// combinations of the keys' values, and may be too many to list. Each answer adds up the cells of a product of sets: one
// set of values for each key. The sets follow from the questions and the policy, never from rows.
//
// GROUP BY drops the rows whose key has no known value, such as a text that is not among a column's declared values. Other
// questions count these rows. So if there are such questions, the key has one more cell for them, whose value is nil.
type Grid struct {
	SQL string // the question of the histogram, for [Session.MeasureStrategy]
	// the keys' known values, as in Domain: of columns, and FALSE and TRUE for conditions that no single column decides
	Keys    []string
	Values  [][]any
	Answers []GridAnswer
	// Conditions is the number of different conditions of the answers, as [Joint] counts them. −1 if a question groups or
	// sums, which a Joint does not read
	Conditions int
	Unit       *big.Rat // of the histogram's cells; 1 for counts
	Limits     *Limits
	Price      Loss
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

// Grid reads questions that all count rows, or that all sum the same expression, over one relation: SELECT COUNT(*) FROM
// t WHERE … GROUP BY …, or SUM(x), or COUNT(*) FILTER (WHERE …). WHERE has conditions joined by AND. It spends nothing,
// and reads no row of a table with units. The SQL of the parameter `by` is ignored.
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

// gridKey is a key of the histogram.
type gridKey struct {
	expr   query.Expr
	place  int // among the keys; −1 before it is used
	values int
	usable bool
	masks  map[string][]int // by condition: the values for which it is TRUE; nil if that is not known
	drops  bool             // the key drops the rows without a known value
	shown  []any            // the known values, if usable
	of     value.Type
	whole  query.Expr // the key with a further value for these rows; nil if no question counts them
	order  []int      // with whole: the place of each known value in its list of values, and of the further value
}

// add reads one question.
func (g *gridding) add(i int, sql string) error {
	wrong := func(hint, format string, args ...any) error {
		return &Error{Code: CodePolicy, Message: fmt.Sprintf("question %d ", i+1) + fmt.Sprintf(format, args...), Hint: hint}
	}
	const alone = "ask it in a question of its own, without --together"
	g.c.timed(&sql)
	tree, err := query.ParseIn(sql, g.c.policy.Clock.Zone)
	if err != nil {
		return g.c.public(err)
	}
	switch {
	case tree.From.None():
		return wrong(alone, "has no FROM")
	case tree.Having != nil, len(tree.OrderBy) > 0, tree.Limit != nil, tree.Offset != nil, tree.Distinct, tree.Options != nil:
		return wrong(alone, "has a clause besides SELECT, FROM, WHERE and GROUP BY")
	}
	groups, err := groupsOf(tree)
	if err != nil {
		return wrong(alone, "%v", err)
	}
	g.groups = g.groups || len(groups) > 0
	from := (&query.Select{Items: []query.Item{{Expr: &query.Literal{Kind: query.NullLiteral}}}, From: tree.From}).String()
	if i == 0 {
		g.text, g.from = from, tree.From
	} else if from != g.text {
		return wrong("ask about each relation separately", "is about another relation than question 1")
	}
	for _, item := range tree.Items {
		if slices.ContainsFunc(groups, func(x query.Expr) bool { return query.Print(x) == query.Print(item.Expr) }) {
			continue
		}
		of := gridAsked{question: i, name: item.Alias, where: tree.Where, groups: groups}
		call, ok := item.Expr.(*query.Call)
		if !ok || call.Distinct || call.Over != nil || call.Within != nil || !countsOrSums(call) {
			return wrong(alone, "selects something else than COUNT(*), COUNT(x), SUM(x) or the same with FILTER (WHERE …)")
		}
		if of.name == "" {
			of.name = call.Name
		}
		of.filter = call.Filter
		measure := &query.Call{Name: call.Name, Args: call.Args, Star: call.Star, Named: call.Named}
		if call.Name == "count" && !call.Star {
			of.filter = both(of.filter, &query.Is{X: call.Args[0], What: query.IsNull, Not: true})
			measure = &query.Call{Name: "count", Star: true}
		}
		if g.measure == nil {
			g.measure = measure
		} else if a, b := query.Print(measure), query.Print(g.measure); a != b {
			return wrong("ask about each separately, with a share of the price", "measures %s, and question 1 measures %s", a, b)
		}
		g.asked = append(g.asked, of)
	}
	return nil
}

func countsOrSums(call *query.Call) bool {
	switch call.Name {
	case "count":
		return len(call.Named) == 0 && (call.Star || len(call.Args) == 1)
	case "sum":
		return len(call.Args) == 1
	}
	return false
}

// groupsOf returns the expressions of GROUP BY. A number stands for an expression of the SELECT list.
func groupsOf(tree *query.Select) (out []query.Expr, err error) {
	for _, x := range tree.GroupBy {
		if l, ok := x.(*query.Literal); ok {
			i, err := strconv.Atoi(l.Text)
			if l.Kind != query.IntegerLiteral || err != nil || i < 1 || i > len(tree.Items) {
				return nil, errors.New("groups by a constant that is no column's number")
			}
			x = tree.Items[i-1].Expr
		}
		if _, ok := x.(*query.Grouping); ok {
			return nil, errors.New("has GROUPING SETS, ROLLUP or CUBE")
		}
		out = append(out, x)
	}
	return out, nil
}

// share moves a WHERE that all questions have to the histogram. It then bounds the rows of a unit after this condition.
func (g *gridding) share() {
	first := printed(g.asked[0].where)
	if slices.ContainsFunc(g.asked, func(a gridAsked) bool { return printed(a.where) != first }) {
		return
	}
	g.where = g.asked[0].where
	for i := range g.asked {
		g.asked[i].where = nil
	}
}

func printed(x query.Expr) string {
	if x == nil {
		return ""
	}
	return query.Print(x)
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

// column returns the set of the answer for the key at a place.
func (a *GridAnswer) column(place int) *GridColumn {
	for len(a.Columns) <= place {
		a.Columns = append(a.Columns, GridColumn{All: true})
	}
	return &a.Columns[place]
}

// only keeps the values of a set that are in another one.
func (c *GridColumn) only(values []int) {
	if c.All {
		c.All, c.Values = false, slices.Clone(values)
		return
	}
	c.Values = slices.DeleteFunc(c.Values, func(v int) bool {
		_, in := slices.BinarySearch(values, v)
		return !in
	})
}

// condition restricts an answer to the rows for which a condition is TRUE: by the values of the one column that the
// condition reads, or by the condition itself as a key.
func (g *gridding) condition(a *GridAnswer, x query.Expr) {
	if column := onlyColumn(x); column != nil {
		k := g.key(column)
		if values := g.mask(k, x); values != nil {
			a.column(g.use(k)).only(values)
			return
		}
	}
	k := g.key(&query.Is{X: x, What: query.IsTrue})
	a.column(g.use(k)).only([]int{1}) // FALSE, TRUE
}

// conjuncts returns the conditions that AND joins.
func conjuncts(x query.Expr) []query.Expr {
	if x == nil {
		return nil
	}
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(conjuncts(b.L), conjuncts(b.R)...)
	}
	return []query.Expr{x}
}

// onlyColumn returns the only column that an expression reads; nil if it reads none, several, or a subquery.
func onlyColumn(x query.Expr) (only query.Expr) {
	several := false
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		switch e.(type) {
		case *query.Column:
			several = several || only != nil && query.Print(only) != query.Print(e)
			only = e
		case *query.Nested, *query.Star:
			several = true
		}
		return nil, false
	})
	if several {
		return nil
	}
	return only
}

// key returns the key of an expression.
func (g *gridding) key(x query.Expr) *gridKey {
	text := query.Print(x)
	if k, ok := g.known[text]; ok {
		return k
	}
	k := &gridKey{expr: x, place: -1, masks: map[string][]int{}}
	if p, err := g.planned(nil, x); err == nil {
		k.shown = domainValues(p)[0]
		k.values, k.usable = len(k.shown), true
		k.of = p.Base.Keys[0].Expr.Type
		k.drops = !slices.Contains(k.shown, nil) && !g.certain(&p.Base, p.Base.Keys[0].Expr)
	}
	g.known[text] = k
	return k
}

// use returns the place of a key, which it adds to the histogram.
func (g *gridding) use(k *gridKey) int {
	if k.place < 0 {
		k.place = len(g.keys)
		g.keys = append(g.keys, k)
	}
	return k.place
}

// mask returns the values of a key for which a condition is TRUE in every row, if it is not TRUE in any row with another
// value. If the key drops rows without a known value, their place is that after all values. Otherwise, and if that is unknown, it returns nil. The condition reads the key's column alone, so each value
// decides it: a value is possible where the condition is TRUE, or where it is not, never in both.
func (g *gridding) mask(k *gridKey, x query.Expr) []int {
	if !k.usable {
		return nil
	}
	text := query.Print(x)
	if out, ok := k.masks[text]; ok {
		return out
	}
	var sides [2][]bool
	for i := range sides {
		p, err := g.planned(&query.Is{X: x, What: query.IsTrue, Not: i == 1}, k.expr)
		if err != nil || len(p.KeyValues()[0]) != k.values {
			return nil
		}
		if sides[i] = p.Possible(); len(sides[i]) != k.values {
			return nil
		}
	}
	out := []int{}
	for v := range k.values {
		switch {
		case sides[0][v] && sides[1][v]:
			k.masks[text] = nil
			return nil
		case sides[0][v]:
			out = append(out, v)
		}
	}
	if k.drops {
		without, known := g.withoutValue(k, x)
		if !known {
			k.masks[text] = nil
			return nil
		}
		if without {
			out = append(out, k.values)
		}
	}
	k.masks[text] = out
	return out
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
	return out, nil
}

// merge makes one key of keys that the plan found to be equal, and reports whether there are any.
func (g *gridding) merge(grouped []int) bool {
	now, kept := make([]int, len(grouped)), []*gridKey{}
	for i, k := range grouped {
		if first := slices.Index(grouped, k); first < i {
			now[i] = now[first]
			continue
		}
		now[i], kept = len(kept), append(kept, g.keys[i])
	}
	if len(kept) == len(g.keys) {
		return false
	}
	for i := range g.answers {
		a := &g.answers[i]
		old := a.Columns
		a.Columns = nil
		for k, c := range old {
			to := a.column(now[k])
			to.Grouped = to.Grouped || c.Grouped
			if !c.All {
				to.only(c.Values)
			}
		}
		for j, k := range a.GroupBy {
			a.GroupBy[j] = now[k]
		}
	}
	g.keys = kept
	return true
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
