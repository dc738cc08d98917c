package synth

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/curator"
)

// FamilyRequest asks for a synthetic table of persons, and a synthetic table of their rows. Request describes the table
// of persons, of which each person has one row. Columns, Edges and Bins are for both tables: names of columns are
// looked up in both.
type FamilyRequest struct {
	Request
	Children string // the table of the persons' rows, which has the same unit
	Order    string // the column of whose values each person's rows are in order; "": the first date or timestamp with bounds
}

// FamilyPlan is what a request for two tables would do.
type FamilyPlan struct {
	Parents, Children *Plan
	Most              int64        // the largest number of rows of one person that count: rows_per_unit of the table
	Order             string       // "": the rows of a person have no order
	Price             curator.Loss // of both
	Remaining         curator.Loss
	Affordable        bool

	request             FamilyRequest
	rounds              curator.RoundsRequest // of both: the question is that of the rows
	parent, child       *curator.Table
	ofParents, ofRows   []Wanted          // the questions of the workload
	parentSQL, childSQL map[string]string // of the columns of each table
}

const (
	// The children take two of three parts of the price, because one person adds several rows to each of their
	// marginals.
	childShare = 2
	allShares  = 3
	familyBins = 8 // of a column, unless the request has a number
	// MostChildren bounds the rows of a person.
	MostChildren = 1000
)

// The columns that the model of the persons has for their rows.
func (p *FamilyPlan) number() string { return p.request.Children + ".number" }
func (p *FamilyPlan) first() string  { return p.request.Children + ".first" }
func (p *FamilyPlan) last() string   { return p.request.Children + ".last" }

// ExplainFamily returns the plan of a request for two tables, at no cost. It reads no row.
//
// The persons have, besides their own columns, the number of their rows and the first and last value of the order. All
// three are aggregates of one person, so one person adds one row to each marginal. The rows have their own columns and,
// from a join, those of their person and the number of the person's rows. One person adds at most Most rows to each of
// these marginals. The kernel enforces this bound, and multiplies the sensitivities of measurements and of scores by
// it. The shapes of numbers within bins have a question each, about the persons or about their rows.
//
// Claim: for scores of weight w, scale q and at most m rows of one unit, the sensitivity of a selection is w·q·m under
// add/remove, and 2·w·q·m under change-one, and both questions together lose at most the price. Proof. The questions
// are bounded statements of the kernel, which reads the sensitivity m of the counts from the bound on rows that it
// applies last, after the join. By sensitivity.OfDistance, each score moves by at most w·q times the L1 distance of the
// cells, which is m if one unit's rows are added or removed, and 2m if they change. All questions are steps of the same
// rounds, whose steps lose at most their price: release.Rounds has the proof. ∎
func ExplainFamily(ctx context.Context, c *curator.Session, r FamilyRequest) (*FamilyPlan, error) {
	if r.Bins == 0 {
		r.Bins = familyBins
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	p, err := newFamily(c, r)
	if err != nil {
		return nil, err
	}
	whole := &Plan{request: p.request.Request} // its price, and whether the owner allows it
	whole.rounds.Request = curator.Request{
		SQL: "SELECT COUNT(*) FROM " + curator.SQLName(r.Table), Epsilon: r.Epsilon, Rho: r.Rho, Analyst: r.Analyst, Fresh: r.Fresh,
	}
	if r.Delta != "" {
		if err := whole.converted(); err != nil {
			return nil, err
		}
	}
	p.rounds = curator.RoundsRequest{Request: whole.rounds.Request, Candidates: [][]int{{}}, Steps: 1}
	e, err := c.ExplainRounds(ctx, p.rounds)
	if err != nil {
		return nil, err
	}
	p.Price = e.Price
	if err := p.divideWorkload(ctx, c); err != nil {
		return nil, err
	}
	parents, err := p.parentsView()
	if err != nil {
		return nil, err
	}
	if p.Parents, err = p.part(ctx, c, parents, allShares-childShare); err != nil {
		return nil, err
	}
	if p.Children, err = p.part(ctx, c, p.childrenView(), childShare); err != nil {
		return nil, err
	}
	p.rounds.SQL, p.rounds.Candidates = p.Children.SQL, p.Children.candidates
	p.rounds.Steps, p.rounds.Resume = p.Parents.steps()+p.Children.steps(), r.Resume
	if e, err = c.ExplainRounds(ctx, p.rounds); err != nil {
		return nil, err
	}
	p.Remaining, p.Affordable = e.Remaining, e.Affordable
	return p, nil
}

// newFamily returns the plan of a checked request without its models.
func newFamily(c *curator.Session, r FamilyRequest) (p *FamilyPlan, err error) {
	p = &FamilyPlan{request: r, Order: r.Order}
	if p.parent, err = tableOf(c, r.Table); err != nil {
		return nil, err
	}
	if p.child, err = tableOf(c, r.Children); err != nil {
		return nil, err
	}
	if err := p.checked(); err != nil {
		return nil, err
	}
	if p.parent, p.parentSQL, err = valued(p.parent, r.Values); err != nil {
		return nil, err
	}
	p.child, p.childSQL, err = valued(p.child, r.Values)
	return p, err
}

// valued returns one of the tables, in which some text columns have known values, and the SQL of its columns.
func valued(t *curator.Table, values map[string][]string) (*curator.Table, map[string]string, error) {
	own, prefix := map[string][]string{}, curator.SQLName(t.Name)+"."
	for name, known := range values {
		if has(t, name) {
			own[name] = known
		}
	}
	out, sql, err := withValues(t, own, prefix)
	for _, c := range t.Columns {
		if _, special := sql[c.Name]; !special && err == nil {
			sql[c.Name] = prefix + curator.SQLName(c.Name)
		}
	}
	return &out, sql, err
}

// checked refuses tables that do not fit together, and sets the defaults.
func (p *FamilyPlan) checked() error {
	r := &p.request
	switch {
	case p.parent.Unit == "" || p.child.Unit == "" || p.parent.Through != "" || p.child.Through != "":
		return usage("declare unit: COLUMN in the policy, in both", "tables %s and %s need a column that identifies the person", r.Table, r.Children)
	case p.parent.Name == p.child.Name:
		return usage("", "the table of the persons' rows is another table than that of the persons")
	case p.parent.Limits == nil || p.parent.Limits.MaxRows != 1:
		return usage("name the table of persons with --table", "a person may have several rows in %s", r.Table)
	case p.child.Limits == nil:
		return usage("", "table %s has no limit on the rows of a person", r.Children)
	case heldOut(p.child) != "" && heldOut(p.parent) == "":
		return usage("declare the holdout in "+r.Table+" too", "only %s holds persons out", r.Children)
	case r.Target != "":
		return usage("leave --target out", "a target is a column of a single table, without --children")
	case r.Method == MWEM || r.Method == Fixed:
		return usage("use aim, mst or independent", "%s does not support a table of children", r.Method)
	case len(r.PrivateEdges)+len(r.PrivateValues) > 0:
		return usage("synthesize one table with --private-edges and --private-values first: its output has --edges and --values for both",
			"the two models have columns in common, whose cells must be known before the price of both is divided")
	}
	if p.Most = p.child.Limits.MaxRows; p.Most < 1 || p.Most > MostChildren {
		return usage("lower rows_per_unit in the policy", "a person has 1 to %d rows in %s that count, not %d", MostChildren, r.Children, p.Most)
	}
	ordered := func(c curator.TableColumn) bool {
		return (c.Type == "date" || c.Type == "timestamp") && c.Lower != "" && (r.Order == "" || c.Name == r.Order) &&
			(len(r.Columns) == 0 || slices.Contains(r.Columns, c.Name))
	}
	if at := slices.IndexFunc(p.child.Columns, ordered); at >= 0 {
		p.Order = p.child.Columns[at].Name
	} else if r.Order != "" {
		return usage("name a date or timestamp with bounds", "column %q of %s cannot order rows", r.Order, r.Children)
	}
	for _, name := range slices.Concat(r.Columns, keysOfMap(r.Edges), keysOfMap(r.Values)) {
		has := func(c curator.TableColumn) bool { return c.Name == name }
		if !slices.ContainsFunc(p.parent.Columns, has) && !slices.ContainsFunc(p.child.Columns, has) {
			return usage("", "there is no column %q in %s or %s", name, r.Table, r.Children)
		}
	}
	return nil
}

func keysOfMap(m map[string][]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// inner is the subquery that has a row for each person with rows.
func (p *FamilyPlan) inner() string {
	order := ""
	if p.Order != "" {
		name := curator.SQLName(p.Order)
		order = fmt.Sprintf(", MIN(%s) AS dither_first, MAX(%s) AS dither_last", name, name)
	}
	return fmt.Sprintf("(SELECT %[1]s AS dither_unit, LEAST(COUNT(*), %[2]d) AS dither_number%[3]s FROM %[4]s GROUP BY %[1]s) AS dither_rows",
		curator.SQLName(p.child.Unit), p.Most, order, curator.SQLName(p.child.Name))
}

// numbers is the column of the number of rows.
func (p *FamilyPlan) numbers(from int64) curator.TableColumn {
	out := curator.TableColumn{Name: p.number(), Type: "integer"}
	for n := from; n <= p.Most; n++ {
		out.Values = append(out.Values, fmt.Sprint(n))
	}
	return out
}

// parentsView has the columns of the persons, and the aggregates of their rows.
func (p *FamilyPlan) parentsView() (*view, error) {
	out := &view{table: *p.parent, joined: true}
	out.table.Columns = slices.Clone(p.parent.Columns)
	sql := map[string]string{}
	for _, c := range p.parent.Columns {
		sql[c.Name] = p.parentSQL[c.Name]
	}
	added := []curator.TableColumn{p.numbers(0)}
	sql[p.number()] = "COALESCE(dither_rows.dither_number, 0)"
	if p.Order != "" {
		at := slices.IndexFunc(p.child.Columns, func(c curator.TableColumn) bool { return c.Name == p.Order })
		for name, column := range map[string]string{p.first(): "dither_first", p.last(): "dither_last"} {
			sql[name] = "dither_rows." + column
		}
		for _, name := range []string{p.first(), p.last()} {
			c := p.child.Columns[at]
			c.Name, c.Nullable = name, true
			added = append(added, c)
		}
	}
	for _, c := range added {
		if _, taken := sql[c.Name]; taken && slices.ContainsFunc(p.parent.Columns, func(o curator.TableColumn) bool { return o.Name == c.Name }) {
			return nil, usage("rename it in the policy", "table %s has a column %q", p.parent.Name, c.Name)
		}
		out.table.Columns = append(out.table.Columns, c)
	}
	out.sql = func(name string) string { return sql[name] }
	out.from = fmt.Sprintf("%s LEFT JOIN %s ON %s.%s = dither_rows.dither_unit", curator.SQLName(p.parent.Name), p.inner(),
		curator.SQLName(p.parent.Name), curator.SQLName(p.parent.Unit))
	out.shapes = curator.SQLName(p.parent.Name)
	out.shaped = func(name string) bool { return has(p.parent, name) }
	return out, nil
}

// has reports whether a table has a column.
func has(t *curator.Table, name string) bool {
	return slices.ContainsFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name })
}

// childrenView has the columns of the rows, and those of their persons.
func (p *FamilyPlan) childrenView() *view {
	out := &view{table: *p.child, joined: true}
	out.table.Columns = nil
	sql := map[string]string{}
	for _, c := range p.child.Columns {
		sql[c.Name] = p.childSQL[c.Name]
		out.table.Columns = append(out.table.Columns, c)
	}
	for _, c := range p.parent.Columns {
		if c.Name == p.parent.Unit {
			continue
		}
		of := c
		of.Name = p.ofParent(c.Name)
		sql[of.Name] = p.parentSQL[c.Name]
		out.table.Columns = append(out.table.Columns, of)
	}
	sql[p.number()] = "dither_rows.dither_number"
	out.table.Columns = append(out.table.Columns, p.numbers(1))
	out.sql = func(name string) string { return sql[name] }
	child := curator.SQLName(p.child.Name)
	unit := child + "." + curator.SQLName(p.child.Unit)
	parent := curator.SQLName(p.parent.Name)
	out.from = fmt.Sprintf("%s JOIN %s ON %s = %s.%s JOIN %s ON %s = dither_rows.dither_unit",
		child, parent, unit, parent, curator.SQLName(p.parent.Unit), p.inner(), unit)
	if out.shapes = child; heldOut(p.parent) != "" {
		out.shapes = fmt.Sprintf("%s JOIN %s ON %s = %s.%s", child, parent, unit, parent, curator.SQLName(p.parent.Unit))
	}
	out.shaped = func(name string) bool { return has(p.child, name) }
	return out
}

// ofParent is the name of a person's column in the model of the rows.
func (p *FamilyPlan) ofParent(name string) string { return p.parent.Name + "." + name }

// part plans one of the two questions at a share of the price.
func (p *FamilyPlan) part(ctx context.Context, c *curator.Session, of *view, share int64) (*Plan, error) {
	r, err := p.requestOf(of)
	if err != nil {
		return nil, err
	}
	price := p.Price.Epsilon
	if p.Price.Rho != "" {
		price = p.Price.Rho
	}
	x, ok := new(big.Rat).SetString(price)
	if !ok {
		return nil, usage("", "the price %q is not a number", price)
	}
	text := shared(x.Mul(x, big.NewRat(share, allShares)))
	if r.Epsilon, r.Rho = text, ""; p.Price.Rho != "" {
		r.Epsilon, r.Rho = "", text
	}
	out, err := explain(ctx, c, r, of)
	var refused *curator.Error
	if errors.As(err, &refused) && refused.Code == curator.CodePolicy {
		told := *refused
		told.Message, told.Hint = of.table.Name+": "+told.Message, "name fewer --columns, or give fewer --bins or --edges"
		return nil, &told
	}
	return out, err
}

// requestOf returns the request for one of the models, without its price, and completes the view.
func (p *FamilyPlan) requestOf(of *view) (r Request, err error) {
	r = p.request.Request
	r.Epsilon, r.Delta, r.Rho, r.Values = "", "", "", nil
	r.Table = of.table.Name
	parents := of.table.Name == p.parent.Name
	if r.Workload = p.ofRows; parents {
		r.Workload = p.ofParents
	}
	r.Columns, r.Edges = nil, map[string][]string{}
	for _, column := range of.table.Columns {
		plain := strings.TrimPrefix(column.Name, p.parent.Name+".")
		wanted := len(p.request.Columns) == 0 || slices.Contains(p.request.Columns, plain) ||
			column.Name == p.number() || column.Name == p.first() || column.Name == p.last()
		possible, _ := columnOf(&column, r.Bins, "x")
		if wanted && possible != nil && column.Name != of.table.Unit {
			r.Columns = append(r.Columns, column.Name)
			if edges, ok := p.request.Edges[plain]; ok {
				r.Edges[column.Name] = edges
			}
		}
	}
	if held := heldOut(p.parent); held != "" {
		of.where = fmt.Sprintf("NOT %s.%s", curator.SQLName(p.parent.Name), curator.SQLName(held))
	}
	if r.Constraints, err = p.constraintsOf(parents); err != nil {
		return r, err
	}
	if !parents {
		of.inner = slices.IndexFunc(r.Columns, func(name string) bool {
			return !slices.ContainsFunc(p.child.Columns, func(c curator.TableColumn) bool { return c.Name == name })
		})
		if of.inner == 0 {
			return r, usage("declare values or bounds of columns in the policy", "no column of %s can be synthesized", p.child.Name)
		}
	}
	return r, nil
}

// constraintsOf returns the constraints of one of the models. Those of columns of persons alone are the persons', and the
// others are the rows'.
func (p *FamilyPlan) constraintsOf(parents bool) (out []string, err error) {
	rules, err := parsed(p.request.Constraints)
	if err != nil {
		return nil, err
	}
	for i, rule := range rules {
		persons := true
		for _, name := range rule.Columns() {
			if persons = persons && has(p.parent, name); has(p.parent, name) && has(p.child, name) {
				return nil, usage(fmt.Sprintf("write %q for that of the person, or leave the constraint out", p.ofParent(name)),
					"constraint %s is about a column %s, which both tables have", rule, name)
			}
		}
		if persons == parents {
			out = append(out, p.request.Constraints[i])
		}
	}
	if parents {
		out = append(out, p.constraints()...)
	}
	return out, nil
}

// constraints are those that hold for every person by the definition of the aggregates.
func (p *FamilyPlan) constraints() []string {
	if p.Order == "" {
		return nil
	}
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	number, first, last := quote(p.number()), quote(p.first()), quote(p.last())
	out := []string{
		fmt.Sprintf("%s = 0 => %s IS NULL AND %s IS NULL", number, first, last),
		fmt.Sprintf("%s <= %s", first, last),
		fmt.Sprintf("%s = 1 AND %s IS NOT NULL AND %s IS NOT NULL => %s = %s", number, first, last, first, last),
	}
	at := slices.IndexFunc(p.child.Columns, func(c curator.TableColumn) bool { return c.Name == p.Order })
	if !p.child.Columns[at].Nullable {
		out = append(out, fmt.Sprintf("%s > 0 => %s IS NOT NULL AND %s IS NOT NULL", number, first, last))
	}
	return out
}

// FamilyResult has the fitted models of two tables. Write draws their rows.
type FamilyResult struct {
	Plan              *FamilyPlan
	Parents, Children *Result
}

// SynthesizeFamily measures two tables and fits their models. The price of both is reserved before the first measurement.
func SynthesizeFamily(ctx context.Context, c *curator.Session, r FamilyRequest) (*FamilyResult, error) {
	if len(r.From) > 0 {
		return familyFrom(ctx, c, r)
	}
	start := time.Now()
	p, err := ExplainFamily(ctx, c, r)
	if err != nil {
		return nil, err
	}
	rounds, err := c.Rounds(ctx, p.rounds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rounds.Close() }() // releases a lock
	out, spent := &FamilyResult{Plan: p}, new(big.Rat)
	for _, of := range []struct {
		plan   *Plan
		share  int64
		result **Result
	}{{p.Parents, allShares - childShare, &out.Parents}, {p.Children, childShare, &out.Children}} {
		s, err := under(rounds, c, of.plan)
		if err != nil {
			return nil, err
		}
		s.start, s.spent = start, new(big.Rat).Set(spent)
		s.total = new(big.Rat).Mul(s.whole, big.NewRat(of.share, allShares))
		spent.Add(spent, s.total)
		if err := s.run(ctx); err != nil {
			return nil, s.interrupted(err)
		}
		*of.result = s.finished(start)
	}
	if err := rounds.Finish(); err != nil {
		return nil, err
	}
	return out, out.reported()
}
