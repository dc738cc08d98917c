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

// Sample selects the rows and columns of an estimate. The embedded Request sets its price and its analyst. The SQL
// of the Request must be empty.
type Sample struct {
	curator.Request
	Confidence string   // a decimal between 0 and 1; "" is 0.95
	Table      string   // a table, or a relation as in FROM
	Columns    []string // columns, or expressions as in SELECT
	Where      string   // a condition; "" selects all rows
	By         []string // keys, as in GROUP BY, for an estimate for each group
	// Method is the method of estimation. "" chooses the one with the least expected error, and Plan.Why explains
	// the choice.
	Method string
	// Population asks for intervals about the population of which the rows are a sample. Such intervals cover
	// sampling and noise. Otherwise the intervals are about these rows and cover noise alone.
	Population bool
	// Deviations are for CoinPress: the approximate standard deviation of each column, as decimals that are known
	// without access to the rows. A mean treats them as upper bounds, of columns that are uncorrelated. A
	// covariance uses them only to choose a method.
	Deviations []string
	Rounds     int // number of rounds of CoinPress; 0 selects the default
	// WithoutIntervals is for quantiles: the whole price pays for the values, and there are no intervals.
	WithoutIntervals bool
}

// Methods of estimation, for Sample.Method.
const (
	MethodBounded     = "bounded"     // sums of values within their bounds
	MethodAutomatic   = "automatic"   // sums within narrower bounds, which are found privately first
	MethodCoinPress   = "coinpress"   // rounds, each within a region that the previous round found
	MethodIndependent = "independent" // each quantile separately, with an interval
	MethodRecursive   = "recursive"   // many quantiles together, for values that seldom repeat
	MethodLadder      = "ladder"      // those of recursive, with an interval around each from a public ladder
	MethodJoint       = "joint"       // several quantiles together
	MethodSmooth      = "smooth"      // the median, with noise that adapts to the data
)

// Value is one estimate with its standard error and its interval. A nil Value means that there is no estimate. A
// nil Low or High means that the interval is unbounded on that side, or that the method has no intervals.
type Value struct {
	Keys      []any  // keys of its group
	Name      string // name of the statistic, such as mean(x)
	Value     *curator.Number
	StdError  *float64 // nil if unknown
	Low, High *curator.Number
}

// Result holds the estimates of a [Plan] that was run.
type Result struct {
	Kind       string // "mean", "variance", "covariance", "components" or "quantile"
	Method     string
	Keys       []string // key expressions that identify a group
	Values     []Value
	Confidence string
	Population bool            // the intervals cover sampling as well as noise
	NoInterval bool            // the method has no intervals
	Releases   []string        // names in the ledger
	Limits     *curator.Limits // what bounds the estimates and their intervals
	// the estimate of what these bounds cut; nil if there is none. The policy's price.truncation asks for it, and only
	// estimates that are one answer in SQL have it
	Truncation *curator.Truncation
	// Price holds the price of each release that was paid now. If every release is a replay, it holds the price
	// that each one had cost.
	Price     []curator.Loss
	Remaining curator.Loss
	Replayed  bool     // every release is a replay, so the estimates cost nothing now
	Notes     []string // what the reader must know to interpret the intervals
}

// Plan is an estimate with a chosen method, its accesses to the rows and their price. Planning spends nothing and
// reads no row.
type Plan struct {
	Kind, Method string
	Why          string     // reason for the choice of method
	Methods      []Foretold // for quantiles: the methods that could answer the request
	Accesses     []Access
	Price        curator.Loss // price of all accesses together
	Remaining    curator.Loss
	Affordable   bool
	Replayed     bool   // the first access has been released before
	Confidence   string // confidence of the intervals
	Notes        []string
	// the method has no intervals
	WithoutIntervals bool
	foretelling      []string // the Notes about expected errors, which a result does not need

	dependent bool // the intervals treat rows as independent although a person may have several

	run func(context.Context) (*Result, error)
}

// Access is one reading of the rows in a plan.
type Access struct {
	SQL      string // "" if it depends on earlier accesses
	What     string // description of the measurement
	Price    curator.Loss
	Expected string // expected error in words; "" if none is known
}

// Run carries out the plan. Errors are *curator.Error. The accesses before a failure stay paid.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	out, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	out.Kind, out.Method, out.NoInterval = p.Kind, p.Method, p.WithoutIntervals
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

// payable refuses a plan whose whole price exceeds the remaining budget. It permits a plan whose first access is a
// replay, because the other accesses may be replays too.
func (p *Plan) payable() error {
	if p.Affordable || p.Replayed {
		return nil
	}
	return request.Exhausted("lower the price; repeating earlier releases is free",
		"the price of all accesses", p.Price, p.Remaining)
}

// took records a release. A release that the result already holds is not recorded twice: if a round found nothing,
// the next round asks the same question.
func (e *Result) took(id string, limits *curator.Limits, price, remaining curator.Loss, replayed bool) {
	e.Limits = limits
	if slices.Contains(e.Releases, id) {
		return
	}
	switch first := len(e.Releases) == 0; {
	case first || replayed == e.Replayed:
		e.Price, e.Replayed = append(e.Price, price), replayed
	case !replayed: // the earlier releases were replays
		e.Price, e.Replayed = []curator.Loss{price}, false
	}
	e.Releases, e.Remaining = append(e.Releases, id), remaining
}

// asker has the methods of a *curator.Session that estimates use.
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

// run runs a plan, unless planning failed with err.
func run(ctx context.Context, p *Plan, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return p.Run(ctx)
}

// maxColumns is the largest number of columns in a sample. It is above the limit of a question, and stops huge
// inputs early.
const maxColumns = 1000

// check refuses a sample from which no question can be made. methods are the methods that the estimate supports.
func (s *Sample) check(methods ...string) error {
	switch {
	case s.SQL != "":
		return request.Misuse("name a table and columns", "an estimate makes its own SQL: leave SQL empty")
	case strings.TrimSpace(s.Table) == "":
		return request.Misuse("name a table", "no table")
	case len(s.Columns) == 0:
		return request.Misuse("name the columns to estimate", "no columns")
	case len(s.Columns) > maxColumns:
		return request.Misuse("name fewer columns", "an estimate supports at most %d columns, not %d",
			maxColumns, len(s.Columns))
	case s.WithoutIntervals && !slices.Contains(methods, MethodLadder):
		return request.Misuse("leave it out", "only quantiles support leaving out intervals")
	case s.Rounds < 0 || s.Rounds > maxRounds:
		return request.Misuse("", "the rounds of CoinPress must be 1 to %d", maxRounds)
	}
	for _, c := range s.Columns {
		if strings.TrimSpace(c) == "" {
			return request.Misuse("name the columns to estimate", "a column without a name")
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
	return request.Misuse("use "+strings.Join(methods, ", "), "this estimate has no method %q", s.Method)
}

// grouped refuses a question whose number of cells contradicts the sample. For example, the sample's Table may be a
// relation that ends with GROUP BY.
func (s *Sample) grouped(cells int) error {
	if len(s.By) == 0 && cells != 1 {
		return request.Misuse("name groups by their keys (By), and give only a relation as the table",
			"the question has groups, but the sample names no keys")
	}
	return nil
}

// sql returns a SELECT statement of the items from the sample's rows, grouped by the sample's keys. withKeys puts
// the keys before the items.
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

// asking returns the sample's question with the given SQL.
func (s *Sample) asking(sql string) curator.Question {
	q := s.requesting(sql).Question()
	q.Confidence = s.Confidence
	return q
}

// requesting returns the sample's request with the given SQL.
func (s *Sample) requesting(sql string) curator.Request {
	q := s.Request
	q.SQL = sql
	return q
}

// declaredTable returns the policy's table that the sample names, or the zero Table if the sample is about another
// relation.
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

// expectedRows returns the declared number of rows. It returns 0 if none is declared, or if the sample has a
// condition or groups.
func (s *Sample) expectedRows(t curator.Table) int64 {
	if strings.TrimSpace(s.Where) != "" || len(s.By) > 0 {
		return 0
	}
	return t.ExpectedRows
}

// declaredRange returns the declared bounds of a numeric column. ok is false for an expression and for a column
// without bounds.
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

// rangeOf returns the declared bounds of a column. For an expression it returns the bounds ±b, where b is the
// kernel's bound on the absolute value. The explanation that states b is free.
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

// sameName reports whether a text is the given name, with or without quotes.
func sameName(text, name string) bool {
	text = strings.TrimSpace(text)
	return text == name || text == curator.SQLName(name) || strings.EqualFold(text, name) &&
		curator.SQLName(name) == name
}

// numberOf returns a number, or nil if x is NaN or infinite.
func numberOf(x float64) *curator.Number {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &curator.Number{Real: x}
}
