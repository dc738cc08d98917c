package synth

import (
	"cmp"
	"context"
	"slices"

	"dither/curator"
	"dither/privacy"
	"dither/synth/aim"
	"dither/synth/model"
)

// Method is a method of synthesis.
type Method string

// The methods.
const (
	AIM         Method = "aim"         // marginals that are selected in rounds
	MST         Method = "mst"         // a tree of pairs that are selected at once
	MWEM        Method = "mwem"        // a weight for each combination of values, fitted in rounds
	Independent Method = "independent" // each column by itself
	Fixed       Method = "fixed"       // the marginals that the request names
)

// The limits and defaults of a request.
const (
	MaxBins      = 1000
	DefaultBins  = 32
	DefaultBytes = 1 << 20
	MaxBytes     = 1 << 30
	MaxRows      = 1 << 32
	// mostCells is the largest number of cells of all candidates together, as curator.RoundsRequest has it.
	mostCells      = 1 << 20
	mostCandidates = 10_000
)

// Request asks for a synthetic table.
type Request struct {
	Table   string
	Columns []string // the columns; none: all that have declared values or bounds
	// Epsilon, Delta and Rho are the price, in decimals. Delta, under a zCDP budget, means the largest ρ that implies
	// (Epsilon, Delta). At most one of Delta and Rho is set.
	Epsilon, Delta, Rho string
	Analyst             string
	Fresh               bool
	Method              Method  // "": AIM
	Ways                []int   // AIM and MWEM: the numbers of columns of the marginals that rows should have. None: 2 and 3
	Target              string  // AIM: a column that matters most, such as one that classifiers will predict; "": none
	ModelBytes          float64 // AIM: the largest size of the model. 0: DefaultBytes
	Bins                int     // the largest number of cells of a column of numbers. 0: DefaultBins
	// Edges are the lower ends of the bins of columns of numbers, dates or times, in place of Bins equal ones
	Edges map[string][]string
	Rows  int64 // 0: the noisy number of real rows
	// Cliques are the columns of each marginal, of the method Fixed. Intervals over draws hold for statistics of these.
	Cliques [][]string
	// Values are values of text columns whose policy declares none, such as those that a private selection released.
	// All other texts are Other
	Values map[string][]string
	// PrivateEdges are columns of numbers, dates or times whose bins begin at private quantiles, so that they have about
	// the same number of rows. There are at most Bins of them. PrivateValues are text columns whose policy declares no
	// values: a private selection finds at most Bins − 1, and all other texts are Other. Together they take one part of
	// aheadShare of the price, and each selection takes the policy's δ
	PrivateEdges, PrivateValues []string
	// Keys are columns of whole numbers or texts that get fresh values. No two rows have the same
	Keys []string
	// Constraints are statements that every synthetic row satisfies, as [constraint.Parse] reads them. They are public,
	// and no real row is compared with them.
	Constraints []string
	// Workload are questions that rows should answer well, in place of Ways, for AIM and MWEM. AIM weighs them.
	Workload []Wanted
	// Resume continues a synthesis that was paid before, and refuses to pay for a new one
	Resume bool
	// From are earlier releases of the same table, columns and bins, such as r3. The rows then come from their
	// marginals, free, and nothing is measured
	From  []string
	Watch func(Progress) // is called after each step; nil: not at all
}

// Plan is what a request would do. It depends on no row.
type Plan struct {
	Table      string
	Method     Method
	SQL        string
	Columns    []*Column
	Omitted    []Omitted
	Keys       []*Column // of which no two rows have the same value
	Ahead      int       // the private choices of edges and values, before the marginals
	Candidates int       // the marginals that may be measured
	LeftOut    int       // the marginals of Ways that are too large for the model, or for all candidates together
	Price      curator.Loss
	Remaining  curator.Loss
	Affordable bool
	Largest    string // the largest ε that one question can be asked at now
	// Useful is the number of rows below which the first measurements are more noise than signal. 0: unknown
	Useful int64
	// Dense is the number of rows from which on draws have intervals. 0: unknown, because the marginals are chosen in rounds
	Dense int64
	// HeldOut is the column of the units that are left out, or "". A test on them costs HoldoutPrice, unless the request names
	// a lower price; it is zero if the policy names none
	HeldOut      string
	HoldoutPrice curator.Loss

	request       Request
	aheads        []ahead
	expected      int64    // the number of rows that the policy declares, or 0
	unnamed       []string // columns of the real table that the request does not name
	constraints   []*rule
	rounds        curator.RoundsRequest
	domain        *model.Domain
	workload      *aim.Workload // of AIM
	answers       []wantedAnswer
	candidates    [][]int
	inner         int  // as view has it
	most          int  // candidates
	shaped        int  // the place of the first small bins among the candidates
	apart         bool // each shape is measured by a question of its own, with these clauses
	shapesFrom    string
	shapesWhere   string
	sensitivities []curator.Sensitivity
}

// Explain returns the plan of a request, at no cost. It reads no row.
func Explain(ctx context.Context, c *curator.Session, r Request) (*Plan, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	table, err := tableOf(c, r.Table)
	if err != nil {
		return nil, err
	}
	of, err := viewOf(table, r.standIn().Values)
	if err != nil {
		return nil, err
	}
	return explain(ctx, c, r, of)
}

// view is what a synthetic table has the columns of.
type view struct {
	table  curator.Table // with the columns
	sql    func(column string) string
	where  string // in SQL; "": all rows
	from   string // in SQL
	joined bool   // the rows are those of a join, whose cells of all keys the kernel reads: see joinedCells
	// of a join: the FROM clause of the questions about the shapes, and the columns that have shapes
	shapes string
	shaped func(column string) bool
	inner  int // measured marginals of several columns have at least one of the first this many; 0: any
}

// heldOut returns the column of a table that says which units are held out, or "". Synthesis leaves these units out.
func heldOut(t *curator.Table) string { return holdout(t).Name }

// holdout returns the column of the units that are held out; the zero value if there is none.
func holdout(t *curator.Table) curator.TableColumn {
	if at := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Holdout }); at >= 0 {
		return t.Columns[at]
	}
	return curator.TableColumn{}
}

// tableOf returns a table of persons.
func tableOf(c *curator.Session, name string) (*curator.Table, error) {
	tables, err := c.Tables()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(tables, func(t curator.Table) bool { return t.Name == name })
	if at < 0 {
		return nil, usage("`dither tables` lists the tables", "there is no table %q", name)
	}
	if tables[at].Public {
		return nil, usage("copy its rows: `dither query 'SELECT * FROM …'` is free", "table %s is public", name)
	}
	return &tables[at], nil
}

// laidOut returns the columns and the constraints of a checked request for a view, and what its cells are.
func laidOut(ctx context.Context, c *curator.Session, r Request, of *view) (*Plan, error) {
	p := &Plan{Table: r.Table, Method: r.Method, request: r, inner: of.inner, most: mostCandidates, expected: of.table.ExpectedRows}
	held := holdout(&of.table)
	p.HeldOut, p.HoldoutPrice = held.Name, held.HoldoutPrice
	rules, err := parsed(r.Constraints)
	if err != nil {
		return nil, err
	}
	if p.Columns, p.Omitted, err = columnsOf(&of.table, r.Columns, r.Bins, r.Edges, rules, of.sql); err != nil {
		return nil, err
	}
	for _, name := range r.PrivateEdges {
		if c := p.named(name); c != nil && c.Binned {
			c.reserveEdges(min(r.Bins, mostQuantiles+1)-1, rules)
			c.refine()
		}
	}
	for _, column := range of.table.Columns {
		if p.named(column.Name) == nil && !slices.ContainsFunc(p.Omitted, func(o Omitted) bool { return o.Name == column.Name }) {
			p.unnamed = append(p.unnamed, column.Name)
		}
	}
	if p.Keys, err = keysOfTable(&of.table, r.Keys); err != nil {
		return nil, err
	}
	for _, key := range p.Keys {
		if slices.ContainsFunc(p.Columns, func(c *Column) bool { return c.Name == key.Name }) {
			return nil, usage("leave it out of --columns, or name the other --columns", "column %s is a key, and has values of the model too", key.Name)
		}
		p.Omitted = slices.DeleteFunc(p.Omitted, func(o Omitted) bool { return o.Name == key.Name })
	}
	if p.apart = of.joined; of.joined {
		p.shapesFrom, p.shapesWhere = of.shapes, of.where
		for _, column := range p.Columns {
			if !of.shaped(column.Name) {
				column.fine = nil
			}
		}
	}
	p.SQL = question(of.from, of.where, p.keysOf())
	p.rounds.Request = curator.Request{
		SQL: p.SQL, Epsilon: r.Epsilon, Rho: r.Rho, Analyst: r.Analyst, Fresh: r.Fresh,
	}
	p.rounds.Resume = r.Resume
	if r.Delta != "" {
		if err := p.converted(); err != nil {
			return nil, err
		}
	}
	if err := p.known(ctx, c); err != nil {
		return nil, err
	}
	if err := p.checkAhead(rules); err != nil {
		return nil, err
	}
	if err := p.joinedWithin(of); err != nil {
		return nil, err
	}
	return p, p.constrain(ctx, rules)
}

// explain returns the plan of a checked request for a view, with its price.
func explain(ctx context.Context, c *curator.Session, r Request, of *view) (*Plan, error) {
	p, err := unpriced(ctx, c, r, of)
	if err != nil {
		return nil, err
	}
	p.rounds.Steps = p.steps()
	e, err := c.ExplainRounds(ctx, p.rounds)
	if err == nil && len(r.PrivateEdges)+len(r.PrivateValues) > 0 {
		p.Price = e.Price
		if err = p.addAhead(of); err == nil {
			e, err = c.ExplainRounds(ctx, p.rounds)
		}
	}
	if err != nil {
		return nil, err
	}
	p.sensitivities = e.Sensitivities
	p.Price, p.Remaining, p.Affordable, p.Largest = e.Price, e.Remaining, e.Affordable, e.Largest
	p.Useful = p.useful()
	return p, nil
}

// unpriced returns the plan of a checked request for a view, without its price.
func unpriced(ctx context.Context, c *curator.Session, r Request, of *view) (*Plan, error) {
	p, err := laidOut(ctx, c, r, of)
	if err != nil {
		return nil, err
	}
	if p.answers, err = p.wantedAnswers(ctx, c); err != nil {
		return nil, err
	}
	if err := p.candidatesOf(); err != nil {
		return nil, err
	}
	p.addShapes()
	p.rounds.Candidates = p.candidates
	return p, nil
}

// check refuses values out of range, and sets the defaults.
func (r *Request) check() error {
	if len(r.Cliques) > 0 {
		r.Method = cmp.Or(r.Method, Fixed)
	}
	r.Method = cmp.Or(r.Method, AIM)
	r.Bins = cmp.Or(r.Bins, DefaultBins)
	r.ModelBytes = cmp.Or(r.ModelBytes, DefaultBytes)
	if len(r.Workload) > 0 && len(r.Ways) > 0 {
		return usage("give one of --workload and --ways", "the workload says which marginals rows should have")
	}
	if len(r.Ways) == 0 {
		r.Ways = []int{2, 3}
	}
	switch {
	case len(r.Workload) > 0 && r.Method != AIM && r.Method != MWEM:
		return usage("use --method aim or mwem", "the method %s takes no workload", r.Method)
	case r.Target != "" && (r.Method != AIM || len(r.Workload) > 0 || len(r.From) > 0):
		return usage("leave --target out", "a target weighs the marginals that aim chooses by --ways, and no others")
	case r.Table == "":
		return usage("name one: --table T", "a table is needed")
	case r.Method != AIM && r.Method != MST && r.Method != MWEM && r.Method != Independent && r.Method != Fixed:
		return usage("use aim, mst, mwem, independent or fixed", "there is no method %q", r.Method)
	case (r.Method == Fixed) != (len(r.Cliques) > 0):
		return usage("give --cliques a+b,b+c; it needs no --method", "the method fixed measures the marginals that you name, and no other method does")
	case r.Bins < 2 || r.Bins > MaxBins:
		return usage("", "a column of numbers has between 2 and %d bins, not %d", MaxBins, r.Bins)
	case !(r.ModelBytes >= 1 && r.ModelBytes <= MaxBytes):
		return usage("use a size such as 1MB", "a model has at most %d bytes, not %v", MaxBytes, r.ModelBytes)
	case r.Rows < 0 || r.Rows > MaxRows:
		return usage("", "there are between 1 and %d rows, not %d", int64(MaxRows), r.Rows)
	case r.Resume && r.Fresh:
		return usage("leave --fresh out: --resume continues the newest synthesis with these flags",
			"--resume pays for nothing, and --fresh pays again")
	case r.Delta != "" && (r.Rho != "" || r.Epsilon == ""):
		return usage("give --epsilon and --delta, or --rho alone", "a δ needs an ε, and no ρ")
	}
	for name, known := range r.Values {
		if len(known) == 0 || slices.Contains(r.PrivateValues, name) {
			return usage("give --values "+name+"=A,B, or --private-values "+name, "the values of %s are given twice, or there are none", name)
		}
	}
	for _, k := range r.Ways {
		if k < 1 || k > aim.MaxWays {
			return usage("", "a marginal has between 1 and %d columns, not %d", aim.MaxWays, k)
		}
	}
	return nil
}

// converted sets the price to the largest ρ that implies the request's ε at its δ.
func (p *Plan) converted() error {
	e, err := privacy.ParseEpsilon(p.request.Epsilon)
	if err != nil {
		return usage("write a price as a decimal, such as 1", "%v", err)
	}
	d, err := privacy.ParseDelta(p.request.Delta)
	if err != nil {
		return usage("write a δ as a decimal, such as 1e-9", "%v", err)
	}
	rho, err := privacy.RhoFor(e, d)
	if err != nil {
		return usage("use a larger δ", "%v", err)
	}
	p.rounds.Epsilon, p.rounds.Rho = "", rho.String()
	return nil
}

// known sets the values of the columns and the domain.
func (p *Plan) known(ctx context.Context, c *curator.Session) error {
	d, err := c.Domain(ctx, p.rounds.Request)
	if err != nil {
		return err
	}
	sizes := make([]int, len(p.Columns))
	for i, column := range p.Columns {
		column.values = d.Values[i]
		column.Cells = len(column.values)
		sizes[i] = column.Cells
	}
	if err := p.readShapes(ctx, c, d); err != nil {
		return err
	}
	if p.domain, err = model.NewDomain(sizes...); err != nil {
		return usage("name fewer columns", "%v", err)
	}
	return nil
}
