// Package estimate estimates statistics of a table's columns from noisy releases: Mean, Variance, Quantile and
// Covariance of a Sample. Each has a Plan function that states the method, the price and the expected error beforehand,
// free.
package estimate

import (
	"context"
	"math"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// Sample says which rows an estimate is about, and what it may cost. The price, the confidence and the analyst are
// those of its Question, whose SQL is left empty.
type Sample struct {
	curator.Request
	Confidence string   // a decimal between 0 and 1; "" is 0.95
	Table      string   // or a relation, as FROM takes it
	Columns    []string // or expressions, as SELECT takes them
	Where      string   // a condition, or ""
	By         []string // keys, as GROUP BY takes them: an estimate for each group
	// Method is the method of estimation. "" is the one with the least expected error; Plan.Why explains the choice.
	Method string
	// Population asks for intervals about the population that the rows are a sample of: they cover sampling and noise.
	// Otherwise they are about these rows.
	Population bool
	// Deviations are for CoinPress: about how far each column's values lie from their mean, as decimals that are known
	// without access to the rows. For a mean they bound the standard deviations of uncorrelated columns. For a
	// covariance they serve only the choice of a method.
	Deviations []string
	Rounds     int // of CoinPress; 0 is its usual number
}

// Methods that a Sample may name.
const (
	MethodBounded     = "bounded"     // sums of values within their bounds
	MethodAutomatic   = "automatic"   // bounds are found first, within the declared ones
	MethodCoinPress   = "coinpress"   // in rounds, each within what the last one found
	MethodIndependent = "independent" // each quantile by itself, with an interval
	MethodRecursive   = "recursive"   // many quantiles of values that seldom repeat
	MethodJoint       = "joint"       // several quantiles at once
	MethodSmooth      = "smooth"      // a median with noise that fits the data
)

// Value is one estimate with its interval.
type Value struct {
	Keys      []any  // of its group
	Name      string // of what
	Value     *curator.Number
	StdError  *float64 // nil where there is none
	Low, High *curator.Number
}

// Result holds the estimates of a Plan that was carried out.
type Result struct {
	Kind       string // "mean", "variance", "covariance" or "quantile"
	Method     string
	Keys       []string // the expressions that name a group
	Values     []Value
	Confidence string
	Population bool     // the intervals cover sampling too
	Releases   []string // in the ledger
	// Price holds the price of each release that was paid now, or of each release if all of them were released before.
	Price     []curator.Loss
	Remaining curator.Loss
	Replayed  bool     // all of it was released before, and cost nothing now
	Notes     []string // what should be known before reading the intervals
}

// Plan is an estimate that has been decided on: its accesses to the rows, and their price. It has spent nothing, and no
// row has been read.
type Plan struct {
	Kind, Method string
	Why          string // how the method was chosen
	Accesses     []Access
	Price        curator.Loss // of all accesses together
	Remaining    curator.Loss
	Affordable   bool
	Replayed     bool   // the first access was released before
	Confidence   string // of the intervals
	Notes        []string
	foretelling  []string // those of Notes that are about what is foretold, which its answer has no need of

	dependent bool // its intervals take for independent what need not be

	run func(context.Context) (*Result, error)
}

// Access is one measurement of a plan.
type Access struct {
	SQL      string // "" where it follows from what an earlier one finds
	What     string // what is measured
	Price    curator.Loss
	Expected string // of its error, in words; "" where none is foretold
}

// Run carries the plan out. Errors are *curator.Error; the accesses before a failure stay paid.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	out, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	out.Kind, out.Method = p.Kind, p.Method
	for _, n := range p.Notes {
		if !slices.Contains(p.foretelling, n) {
			out.Notes = append(out.Notes, n)
		}
	}
	if p.dependent {
		out.Notes = append(out.Notes, dependentNote)
	}
	return out, nil
}

// payable refuses to begin what cannot be paid to its end. What was released before is tried all the same: it may all
// have been.
func (p *Plan) payable() error {
	if p.Affordable || p.Replayed {
		return nil
	}
	return request.Exhausted("ask at a lower price; what was answered already can be asked again at no cost",
		"the price of all looks", p.Price, p.Remaining)
}

// took notes one of several releases. One that was taken twice is one: where a round found nothing, the next is the
// same question.
func (e *Result) took(id string, price, remaining curator.Loss, replayed bool) {
	if slices.Contains(e.Releases, id) {
		return
	}
	switch first := len(e.Releases) == 0; {
	case first || replayed == e.Replayed:
		e.Price, e.Replayed = append(e.Price, price), replayed
	case !replayed: // the earlier ones were not paid now
		e.Price, e.Replayed = []curator.Loss{price}, false
	}
	e.Releases, e.Remaining = append(e.Releases, id), remaining
}

// asker is what an estimate asks of: a *curator.Session.
type asker interface {
	Answer(context.Context, curator.Question) (*curator.Release, error)
	Explain(context.Context, curator.Question) (*curator.Explanation, error)
	Moments(context.Context, curator.Vectors) (*curator.Moments, error)
	ExplainMoments(context.Context, curator.Vectors) (*curator.MomentsExplanation, error)
	Rank(context.Context, curator.Quantiles) (*curator.Ranked, error)
	Smooth(context.Context, curator.Request) (*curator.Median, error)
	ExplainRank(context.Context, curator.Quantiles) (*curator.OrderExplanation, error)
	ExplainSmooth(context.Context, curator.Request) (*curator.OrderExplanation, error)
	Tables() ([]curator.Table, error)
}

var _ asker = (*curator.Session)(nil)

// runEstimate plans and runs.
func run(ctx context.Context, p *Plan, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return p.Run(ctx)
}

// maxColumns is above what a question takes: more are refused before anything is made of them.
const maxColumns = 1000

// check refuses a sample that makes no question.
func (s *Sample) check(methods ...string) error {
	switch {
	case s.SQL != "":
		return request.Misuse("a sample names a table and columns", "the question of an estimate is made for it")
	case strings.TrimSpace(s.Table) == "":
		return request.Misuse("name a table", "no table")
	case len(s.Columns) == 0:
		return request.Misuse("name what is estimated", "no columns")
	case len(s.Columns) > maxColumns:
		return request.Misuse("ask about fewer at once", "there are estimates of at most %d columns, not of %d",
			maxColumns, len(s.Columns))
	case s.Rounds < 0 || s.Rounds > maxRounds:
		return request.Misuse("", "CoinPress takes from 1 to %d rounds", maxRounds)
	}
	for _, c := range s.Columns {
		if strings.TrimSpace(c) == "" {
			return request.Misuse("name what is estimated", "a column without a name")
		}
	}
	if err := request.CheckCondition(s.Where); err != nil {
		return err
	}
	for _, m := range methods {
		if s.Method == m || s.Method == "" {
			return nil
		}
	}
	return request.Misuse("use "+strings.Join(methods, ", "), "no method %q estimates this", s.Method)
}

// grouped refuses cells that the sample did not ask for, as of a relation with GROUP BY behind it.
func (s *Sample) grouped(cells int) error {
	if len(s.By) == 0 && cells != 1 {
		return request.Misuse("name groups by their keys (By), and nothing but a relation as the table",
			"the sample is of groups that it does not name")
	}
	return nil
}

// sql selects items from the sample's rows, in its groups.
func (s *Sample) sql(withKeys bool, items ...string) string {
	if withKeys {
		items = append(append([]string{}, s.By...), items...)
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + s.Table
	text += request.Where(s.Where)
	if len(s.By) > 0 {
		text += " GROUP BY " + strings.Join(s.By, ", ")
	}
	return text
}

// asking is the sample's question with another text.
func (s *Sample) asking(sql string) curator.Question {
	q := s.requesting(sql).Question()
	q.Confidence = s.Confidence
	return q
}

// requesting is the sample's request with another text.
func (s *Sample) requesting(sql string) curator.Request {
	q := s.Request
	q.SQL = sql
	return q
}

// declaredTable is the table that a sample is about, if it names one.
func (s *Sample) declaredTable(k asker) (curator.Table, error) {
	tables, err := k.Tables()
	if err != nil {
		return curator.Table{}, err
	}
	for _, t := range tables {
		if sameName(s.Table, t.Name) {
			return t, nil
		}
	}
	return curator.Table{}, nil
}

// expectedRows is how many rows the owner expects; 0 if nobody says.
func (s *Sample) expectedRows(t curator.Table) int64 {
	if strings.TrimSpace(s.Where) != "" || len(s.By) > 0 {
		return 0
	}
	return t.ExpectedRows
}

// declaredRange are a column's bounds as the policy declares them: of an expression none are known here.
func declaredRange(t curator.Table, column string) (low, high float64, ok bool) {
	for _, c := range t.Columns {
		if !sameName(column, c.Name) || c.Type != "integer" && c.Type != "real" {
			continue
		}
		ends := [2]string{c.Lower, c.Upper}
		if c.Lower == "" && len(c.Values) > 0 {
			ends = [2]string{c.Values[0], c.Values[len(c.Values)-1]}
		}
		a, wrong1 := exact.ParseDecimal(ends[0])
		b, wrong2 := exact.ParseDecimal(ends[1])
		if wrong1 != nil || wrong2 != nil {
			return 0, 0, false
		}
		low, _ = a.Float64()
		high, _ = b.Float64()
		return math.Min(low, high), math.Max(low, high), true
	}
	return 0, 0, false
}

// rangeOf is a column's declared bounds; of an expression how far it reaches from 0, as the kernel says, free.
func (s *Sample) rangeOf(ctx context.Context, k asker, t curator.Table, column string) (low, high float64, err error) {
	if low, high, ok := declaredRange(t, column); ok {
		return low, high, nil
	}
	e, err := k.ExplainMoments(ctx, curator.Vectors{
		Request: s.requesting(s.sql(false, column)), Blocks: []curator.Block{{Size: 1, Norm: curator.L2}},
		Sums: []curator.Sum{curator.Count()},
	})
	if err != nil {
		return 0, 0, err
	}
	return -e.Bounds[0].L2, e.Bounds[0].L2, nil
}

// sameName tells whether a text is a name, in quotes or without.
func sameName(text, name string) bool {
	text = strings.TrimSpace(text)
	return text == name || text == curator.SQLName(name) || strings.EqualFold(text, name) &&
		curator.SQLName(name) == name
}

// estimatedNumber is a number, or nil where there is none.
func numberOf(x float64) *curator.Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &curator.Number{Real: x}
}
