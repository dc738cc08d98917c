package regression

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/formula"
	"dither/stats/internal/request"

	"gonum.org/v1/gonum/mat"
)

// The SQL of a regression ends with a comment that describes the model, so the ledger records the description. It
// is no part of the question, and privacy does not depend on it. A reader of the comment plans the regression
// again. The plan is that of the release if its replay key equals the recorded one.

// linearRecord is the content of the comment at the end of a regression's SQL. It describes the model.
type linearRecord struct {
	Formula string            `json:"formula"`
	Method  string            `json:"method"`
	Within  []json.RawMessage `json:"within,omitempty"` // [column, lower, upper] for bounds that were found
}

const (
	recordOpens  = " /* linear regression "
	recordCloses = " */"
)

// remark returns the comment at the end of the regression's SQL, which describes the model.
func (l *linear) remark() string {
	of := linearRecord{Formula: l.design.Formula.String(), Method: l.Method}
	for _, b := range l.found {
		low, high := b.Ends()
		text, err := json.Marshal([]string{b.Column, exact.FormatRat(low), exact.FormatRat(high)})
		if err != nil {
			return ""
		}
		of.Within = append(of.Within, text)
	}
	text, err := json.Marshal(of)
	if err != nil {
		return ""
	}
	// JSON permits \/ for a slash. With slashes escaped, the text cannot end the SQL comment or open another.
	return recordOpens + strings.ReplaceAll(string(text), "/", `\/`) + recordCloses
}

// recorded plans the regression of the release q.From, from the comment of its question. It returns an error unless
// the plan would replay a release. [FitLinear] checks that this release is q.From.
func recorded(ctx context.Context, c *curator.Session, q Linear) (*linear, error) {
	none := request.Misuse("name the release of a linear regression: its output ends with the name, such as r5",
		"%s is not a release of a linear regression from which dither can compute again", q.From)
	r, err := c.Asked(q.From, q.Question())
	if err != nil {
		return nil, err
	}
	at := strings.LastIndex(r.Question, recordOpens)
	begins := strings.Index(r.Question, "SELECT ")
	if at < 0 || begins < 0 || begins > at || !strings.HasSuffix(r.Question, recordCloses) {
		return nil, none
	}
	var of linearRecord
	if json.Unmarshal([]byte(strings.TrimSuffix(r.Question[at+len(recordOpens):], recordCloses)), &of) != nil {
		return nil, none
	}
	l := &linear{
		Linear:   Linear{Request: q.Request, Confidence: q.Confidence, Formula: of.Formula, Method: of.Method},
		replayed: true,
	}
	l.Epsilon, l.Rho, l.Fresh = r.Price.Epsilon, "", false
	if r.Price.Rho != "" {
		l.Epsilon, l.Rho = "", r.Price.Rho
	}
	if l.alpha, err = request.Confidence(&l.Confidence); err != nil {
		return nil, err
	}
	for _, text := range of.Within {
		var b []string
		if json.Unmarshal(text, &b) != nil || len(b) != 3 {
			return nil, none
		}
		low, wrong := exact.ParseRat(b[1])
		high, wrongly := exact.ParseRat(b[2])
		if wrong != nil || wrongly != nil || low.Cmp(high) >= 0 {
			return nil, none
		}
		l.found = append(l.found, formula.Between(b[0], low, high))
	}
	model, err := formula.Parse(of.Formula)
	if err != nil || len(r.Tables) != 1 {
		return nil, none
	}
	if l.table, err = request.Table(c, r.Tables[0]); err != nil {
		return nil, err
	}
	l.Table = l.table.Name
	if l.design, err = model.DesignWith(l.table, formula.Options{Found: l.found}); err != nil {
		return nil, err
	}
	response, _, _ := l.design.Response.Scaled(model.Intercept)
	asked, all := r.Question[begins:at], l.design.Question("", response)
	if where, ok := strings.CutPrefix(asked, all+" WHERE ("); ok {
		l.Where = strings.TrimSuffix(where, "\n)")
	} else if asked != all {
		return nil, none
	}
	if err := l.plan(ctx, c); err != nil {
		return nil, err
	}
	if !l.told.Replayed {
		return nil, request.Misuse("fit the model anew, at a price",
			"%s cannot be used again: since its release, the table was sealed again or the policy changed", q.From)
	}
	return l, nil
}

// decideAgain plans a regression from the sums of an earlier release.
func decideAgain(ctx context.Context, c *curator.Session, q Linear) (*linear, error) {
	switch {
	case q.Epsilon != "" || q.Rho != "" || q.Fresh:
		return nil, request.Misuse("omit the price", "a computation from a release is free")
	case q.FindBounds+q.Normalise+q.Cluster != "" || q.Method != "" || strings.TrimSpace(q.Where) != "" || q.Only != "" ||
		q.Rows != 0 || q.WithoutIntervals:
		return nil, request.Misuse("leave them out", "the table, the condition, the bounds and the method are fixed "+
			"by %s", q.From)
	}
	l, err := recorded(ctx, c, q)
	if err != nil {
		return nil, err
	}
	if q.Table != "" && !strings.EqualFold(q.Table, l.table.Name) {
		return nil, request.Misuse("", "%s is a regression on the table %s, not %s", q.From, l.table.Name, q.Table)
	}
	l.From, l.Choose, l.Only = q.From, q.Choose, q.Formula
	return l, l.narrowable()
}

// narrowable checks, before anything is paid, that the requested models can be computed from the sums.
func (l *linear) narrowable() error {
	d := l.design
	if l.Only != "" {
		f, err := formula.Parse(l.Only)
		if err != nil {
			return err
		}
		part, _, _, err := l.part(f)
		if err != nil {
			return err
		}
		d = part.design
	}
	if l.Choose == "" {
		return nil
	}
	_, err := choosable(d, l.Choose, l.alpha)
	return err
}

// part returns the regression with the formula f, from the sums of l. It also returns the indices of its predictors
// in l's design. The third result is the index of the predictor that is its response, or −1 for l's own response.
func (l *linear) part(f formula.Formula) (*linear, []int, int, error) {
	d, err := f.DesignWith(l.table, formula.Options{Found: l.found})
	if err != nil {
		return nil, nil, 0, err
	}
	out := *l
	out.design = d
	find := func(sql string) int {
		for i, c := range l.design.Columns {
			if c.SQL == sql {
				return i
			}
		}
		return -1
	}
	var columns []int
	for _, c := range d.Columns {
		at := find(c.SQL)
		if at < 0 {
			return nil, nil, 0, request.Misuse("fit the model anew, at a price",
				"%s is not a predictor of %s with the same scaling: a model of some of its terms must keep its "+
					"intercept, and the main effects of its interactions", c.Name, l.design.Formula)
		}
		columns = append(columns, at)
	}
	sql, at, half := d.Response.Scaled(f.Intercept)
	out.at, out.half = at, half
	if whole, _, _ := l.design.Response.Scaled(l.design.Formula.Intercept); whole == sql {
		return &out, columns, -1, nil
	}
	response := find(sql)
	if response < 0 {
		return nil, nil, 0, request.Misuse("fit the model anew, at a price",
			"%s is neither the response nor a numeric predictor of %s", d.Response.Name, l.design.Formula)
	}
	return &out, columns, response, nil
}

// equations returns the released sums as normal equations.
func (l *linear) equations(m *curator.Moments) *normalEquations {
	values := func(i int) []float64 { return l.sum(i, m.Sums[i]).Values }
	p := len(l.design.Columns)
	q := &normalEquations{a: mat.NewSymDense(p, nil), b: values(1), noise: lawOf(m.Sums)}
	first, next := values(0), 0
	for i := range p {
		for j := i; j < p; j++ {
			q.a.SetSym(i, j, first[next])
			next++
		}
	}
	q.intercept = l.design.Formula.Intercept
	if len(m.Sums) > 2 {
		q.squares, q.c = true, values(2)[0]
	}
	switch {
	case q.intercept:
		q.rows = q.a.At(0, 0)
	case len(m.Sums) > 3:
		q.rows = values(3)[0]
	default:
		q.rows = math.NaN()
	}
	return q
}

// narrowed returns the regression that the request fits: the whole one, that of l.Only, or that of the selected
// terms.
func (l *linear) narrowed(q *normalEquations) (*linear, *normalEquations, *Choice, error) {
	of, choice := l, (*Choice)(nil)
	if l.Only != "" {
		f, err := formula.Parse(l.Only)
		if err != nil {
			return nil, nil, nil, err
		}
		part, columns, response, err := l.part(f)
		if err != nil {
			return nil, nil, nil, err
		}
		of, q = part, q.of(columns, response)
	}
	if l.Choose != "" {
		k, err := termsOf(of.design, l.Choose)
		if err != nil {
			return nil, nil, nil, err
		}
		q.size = q.noise.norm(plain(len(q.b)), 0)
		set, exhaustive, err := q.choose(of.design, k)
		if err != nil {
			return nil, nil, nil, err
		}
		part, columns, _, err := of.part(chosenOf(of.design, set))
		if err != nil {
			return nil, nil, nil, err
		}
		alpha := of.alpha
		choice, part.alpha = choiceAmong(of.design, set, k, exhaustive, alpha)
		of, q = part, q.of(columns, -1)
	}
	q.size = q.noise.norm(plain(len(q.b)), 0)
	return of, q, choice, nil
}
