package synth

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/splitmix"
)

// ExamRequest asks how well synthetic rows stand for the units that their table holds out.
type ExamRequest struct {
	Table               string
	Header              []string   // of the synthetic rows
	Rows                [][]string // their texts, as WriteCSV writes them
	Target, Positive    string     // a column, and the value that a classifier predicts
	Epsilon, Delta, Rho string     // the price of both questions together; none: the one that the policy names for the holdout
	Analyst             string
	Fresh               bool
	Bins                int // of a column of numbers; 0: DefaultBins
}

// Exam is the result of two questions about the units that were held out: a histogram of a classifier's scores by
// class, and the counts of some pairs of columns.
type Exam struct {
	HeldOut  float64 // the noisy number of rows that were held out
	Releases []string
	Price    curator.Loss
	// Remaining is the budget before the test
	Remaining curator.Loss
	// AUC is the area under the curve of the classifier, which was trained on synthetic rows and tested on held-out
	// ones. AUCMargin covers the noise at a confidence of 95 %, and no sampling. Own is the area for the synthetic rows
	// themselves.
	AUC, AUCMargin, Own float64
	Marginals           []ExamMarginal
	// Score is 1 − the mean distance of the pairs. Noise is the distance that noise alone would have, in the mean.
	Score, Noise float64
}

// ExamMarginal compares a pair of columns.
type ExamMarginal struct {
	Columns  []string
	Distance float64 // total variation, between noisy held-out counts and synthetic rows
	Noise    float64 // the expected distance from the noise alone
}

const (
	examPairs   = 20   // the largest number of pairs
	examCells   = 2000 // of a pair
	examBuckets = 40   // of scores
	examDraws   = 400  // of the noise, for the margin
)

// Take asks both questions, each at half of the price.
//
// Claim: the answers depend on held-out units only, and cost their price. Proof. Both questions have the condition that
// the unit is held out, which is a condition on a row's values (package seal has the proof that all rows of a unit
// satisfy it, or none). Scores and pairs are functions of the synthetic rows and of declarations. The synthetic rows
// were made from units that are not held out, by a condition that is the negation. So the kernel's bounds hold for each
// question by itself, and losses add up. ∎
func Take(ctx context.Context, c *curator.Session, r ExamRequest) (*Exam, error) {
	e, err := newExam(ctx, c, r)
	if err != nil {
		return nil, err
	}
	if err := e.histogram(ctx, c); err != nil {
		return nil, err
	}
	return e.result, e.pairs(ctx, c)
}

// ExplainExam returns the price of a test and what remains, and refuses what Take would refuse before it spends anything. It
// reads no row.
func ExplainExam(ctx context.Context, c *curator.Session, r ExamRequest) (*Exam, error) {
	e, err := newExam(ctx, c, r)
	if err != nil {
		return nil, err
	}
	return e.result, nil
}

// exam is a test in progress.
type exam struct {
	request ExamRequest
	where   string
	columns []*Column
	writers []*cells
	codes   [][]int // by column and row
	target  int
	truth   []bool // of the synthetic rows
	model   *classifier
	price   curator.Request // of one question
	result  *Exam
}

func newExam(ctx context.Context, c *curator.Session, r ExamRequest) (*exam, error) {
	t, err := tableOf(c, r.Table)
	if err != nil {
		return nil, err
	}
	held := heldOut(t)
	if held == "" {
		return nil, usage("declare a column {type: boolean, holdout: 20%} in the policy, seal the table again, and synthesize it after that",
			"table %s holds nobody out", r.Table)
	}
	if r.Bins == 0 {
		r.Bins = DefaultBins
	}
	e := &exam{request: r, where: curator.SQLName(held), result: &Exam{}}
	var known []string // keys are no part of the test
	for _, name := range r.Header {
		at := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == name })
		if at >= 0 && name != t.Unit {
			if possible, _ := columnOf(&t.Columns[at], r.Bins, "x"); possible == nil {
				continue
			}
		}
		if name != t.Unit {
			known = append(known, name)
		}
	}
	if e.columns, _, err = columnsOf(t, known, r.Bins, nil, nil, curator.SQLName); err != nil {
		return nil, err
	}
	if len(e.columns) < 2 || len(r.Rows) < 10 {
		return nil, usage("", "a test needs at least two columns and ten synthetic rows")
	}
	if e.target = slices.IndexFunc(e.columns, func(c *Column) bool { return c.Name == r.Target }); e.target < 0 {
		return nil, usage("name a column of the synthetic rows: --target smoker=true", "there is no column %q", r.Target)
	}
	return e, e.priced(ctx, c, holdout(t).HoldoutPrice)
}

// priced sets the price of each question. It refuses one above the price that the owner names for the holdout.
func (e *exam) priced(ctx context.Context, c *curator.Session, most curator.Loss) error {
	r := &e.request
	if r.Epsilon == "" && r.Rho == "" && r.Delta == "" {
		if r.Rho = most.Rho; r.Rho == "" {
			r.Epsilon = most.Epsilon
		}
	}
	whole := &Plan{request: Request{Epsilon: r.Epsilon, Delta: r.Delta}}
	whole.rounds.Epsilon, whole.rounds.Rho = r.Epsilon, r.Rho
	if r.Delta != "" {
		if err := whole.converted(); err != nil {
			return err
		}
	}
	e.price = curator.Request{Epsilon: whole.rounds.Epsilon, Rho: whole.rounds.Rho, Analyst: r.Analyst, Fresh: r.Fresh}
	e.price.SQL = fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s", curator.SQLName(r.Table), e.where)
	p, err := c.ExplainRounds(ctx, curator.RoundsRequest{Request: e.price, Candidates: [][]int{{}}, Steps: 1})
	if err != nil {
		return err
	}
	e.result.Price, e.result.Remaining = p.Price, p.Remaining
	x := priceOf(p.Price)
	if x == nil {
		return usage("", "the price %s is not a number", p.Price)
	}
	if limit := priceOf(most); limit != nil && x.Cmp(limit) > 0 {
		return usage("leave the price out: then a test costs this much", "a test costs %s, and the policy allows %s for one of this holdout", p.Price, most)
	}
	if !p.Affordable {
		return &curator.Error{Code: curator.CodeExhausted, Message: fmt.Sprintf("the price is %s, and %s remain", p.Price, p.Remaining)}
	}
	if text := shared(x.Quo(x, big.NewRat(2, 1))); p.Price.Rho != "" {
		e.price.Epsilon, e.price.Rho = "", text
	} else {
		e.price.Epsilon = text
	}
	return nil
}

// priceOf returns the ρ or the pure ε of a loss; nil if there is none.
func priceOf(l curator.Loss) *big.Rat {
	text := l.Rho
	if text == "" {
		text = l.Epsilon
	}
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return x
}

// measured asks one question about the held-out rows, and returns the noisy cells of each candidate.
func (e *exam) measured(ctx context.Context, c *curator.Session, keys []string, candidates [][]int) ([]curator.MeasuredMarginal, [][]any, error) {
	q := curator.RoundsRequest{Request: e.price, Candidates: candidates, Steps: 1}
	q.SQL = question(curator.SQLName(e.request.Table), e.where, keys)
	rounds, err := c.Rounds(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rounds.Close() }() // releases a lock
	all := make([]int, len(candidates))
	for i := range all {
		all[i] = i
	}
	price := curator.StepPrice{Rho: rounds.Price.Rho}
	if price.Rho == "" {
		price.Epsilon = rounds.Price.Epsilon
	}
	out, err := rounds.Measure(ctx, all, price)
	if err != nil {
		return nil, nil, err
	}
	e.result.Releases = append(e.result.Releases, rounds.ID)
	return out, rounds.Values, rounds.Finish()
}

// histogram trains a classifier on the synthetic rows, and measures its scores by class.
func (e *exam) histogram(ctx context.Context, c *curator.Session) error {
	d, err := c.Domain(ctx, curator.Request{
		SQL: question(curator.SQLName(e.request.Table), "", sqlOf(e.columns)), Epsilon: e.price.Epsilon, Rho: e.price.Rho, Analyst: e.price.Analyst,
	})
	if err != nil {
		return err
	}
	for i, column := range e.columns {
		column.values = d.Values[i]
		column.Cells = len(column.values)
		e.writers = append(e.writers, newCells(column))
	}
	if err := e.read(); err != nil {
		return err
	}
	if e.model, err = e.train(); err != nil {
		return err
	}
	from, width := e.model.buckets()
	keys := []string{e.model.bucket(from, width), e.positive()}
	parts, values, err := e.measured(ctx, c, keys, [][]int{{0, 1}})
	if err != nil {
		return err
	}
	counts := numbersOf(&parts[0])
	deviation := math.Sqrt(parts[0].Noise.Variance())
	of := func(counts []float64) float64 {
		yes, no := make([]float64, examBuckets), make([]float64, examBuckets)
		for i, v := range counts {
			bucket, class := values[0][i/len(values[1])], values[1][i%len(values[1])]
			at := 0
			if _, err := fmt.Sscan(fmt.Sprint(bucket), &at); err != nil || bucket == nil || class == nil {
				continue
			}
			if fmt.Sprint(class) == "true" {
				yes[at] += v
			} else {
				no[at] += v
			}
		}
		return area(yes, no)
	}
	e.result.AUC = of(counts)
	for _, v := range counts {
		e.result.HeldOut += v
	}
	words := splitmix.At(splitmix.Mix(uint64(len(counts))))
	squares := 0.0
	for range examDraws {
		drawn := slices.Clone(counts)
		for i := range drawn {
			drawn[i] += deviation * normal(&words)
		}
		squares += (of(drawn) - e.result.AUC) * (of(drawn) - e.result.AUC)
	}
	e.result.AUCMargin = 1.96 * math.Sqrt(squares/examDraws)
	yes, no := make([]float64, examBuckets), make([]float64, examBuckets)
	for i, score := range e.model.scores {
		at := max(0, min((score-from)/width, examBuckets-1))
		if e.truth[i] {
			yes[at]++
		} else {
			no[at]++
		}
	}
	e.result.Own = area(yes, no)
	return nil
}

// area returns the area under the curve of a histogram of scores. Scores in one bucket are ties.
func area(yes, no []float64) float64 {
	below, sum, positives, negatives := 0.0, 0.0, 0.0, 0.0
	for i := range yes {
		sum += yes[i] * (below + no[i]/2)
		below += no[i]
		positives, negatives = positives+yes[i], negatives+no[i]
	}
	if !(positives > 0 && negatives > 0) {
		return math.NaN()
	}
	return max(0, min(sum/positives/negatives, 1))
}

// normal returns a number from the standard normal distribution.
func normal(words *splitmix.Stream) float64 {
	u := (float64(words.Word()>>11) + 0.5) / (1 << 53)
	v := float64(words.Word()>>11) / (1 << 53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// pairs measures some pairs of columns, which public information selects, and compares them with the synthetic rows.
func (e *exam) pairs(ctx context.Context, c *curator.Session) error {
	var all [][]int
	for _, pair := range subsets(len(e.columns), 2, mostSubsets) {
		if e.columns[pair[0]].Cells*e.columns[pair[1]].Cells <= examCells {
			all = append(all, pair)
		}
	}
	if len(all) == 0 {
		return usage("give fewer --bins", "no two columns have at most %d cells together", examCells)
	}
	words := splitmix.At(splitmix.Mix(uint64(len(all))))
	for i := len(all) - 1; i > 0; i-- {
		k := words.Below(i + 1)
		all[i], all[k] = all[k], all[i]
	}
	all = all[:min(len(all), examPairs)]
	parts, _, err := e.measured(ctx, c, sqlOf(e.columns), all)
	if err != nil {
		return err
	}
	total := max(e.result.HeldOut, 1)
	for i, pair := range all {
		counts := numbersOf(&parts[i])
		n := e.columns[pair[1]].Cells
		for row := range e.codes[pair[0]] {
			counts[e.codes[pair[0]][row]*n+e.codes[pair[1]][row]] -= total / float64(len(e.request.Rows))
		}
		m := ExamMarginal{Columns: []string{e.columns[pair[0]].Name, e.columns[pair[1]].Name}}
		for _, v := range counts {
			m.Distance += math.Abs(v) / 2 / total
		}
		m.Distance = min(m.Distance, 1)
		m.Noise = min(1, math.Sqrt(2/math.Pi*parts[i].Noise.Variance())*float64(len(counts))/2/total)
		e.result.Marginals = append(e.result.Marginals, m)
		e.result.Score += (1 - m.Distance) / float64(len(all))
		e.result.Noise += m.Noise / float64(len(all))
	}
	return nil
}

func numbersOf(m *curator.MeasuredMarginal) []float64 {
	out := make([]float64, len(m.Values))
	for i, v := range m.Values {
		out[i], _ = new(big.Float).SetInt(v).Float64()
	}
	return out
}

func sqlOf(columns []*Column) (out []string) {
	for _, c := range columns {
		out = append(out, c.SQL)
	}
	return out
}

// read finds the cells of the synthetic rows.
func (e *exam) read() error {
	place := make([]int, len(e.columns))
	for i, c := range e.columns {
		place[i] = slices.Index(e.request.Header, c.Name)
	}
	e.codes = make([][]int, len(e.columns))
	for n, row := range e.request.Rows {
		for i := range e.columns {
			if place[i] >= len(row) {
				return usage("", "row %d of the synthetic rows is too short", n+1)
			}
			code := e.writers[i].cell(row[place[i]])
			if code < 0 {
				return usage("use a file that `dither synth` wrote with the present policy",
					"row %d of the synthetic rows has a value of %s that the policy does not declare", n+1, e.columns[i].Name)
			}
			e.codes[i] = append(e.codes[i], code)
		}
		e.truth = append(e.truth, row[place[e.target]] == e.request.Positive)
	}
	return nil
}

// cell returns the cell of a text, or −1.
func (c *cells) cell(text string) int {
	if !c.of.Binned {
		return slices.Index(c.texts, text)
	}
	if text == "" {
		return slices.Index(c.null, true)
	}
	x, err := c.of.number(text)
	if err != nil {
		return -1
	}
	found := -1
	for i, r := range c.ranges {
		// a single value has a bin of its own, and begins another one
		if !r.Null && r.Low <= x && x <= r.High && (found < 0 || r.Low == r.High || c.ranges[found].Low < c.ranges[found].High) {
			found = i
		}
	}
	return found
}

// positive returns the SQL of the condition that the classifier predicts.
func (e *exam) positive() string {
	c := e.columns[e.target]
	name := curator.SQLName(c.Name)
	switch {
	case c.Type == "boolean" && e.request.Positive == "true":
		return name
	case c.Type == "boolean":
		return "NOT " + name
	case c.Type == "integer" || c.Type == "real":
		if x, ok := new(big.Rat).SetString(e.request.Positive); ok {
			return name + " = " + decimal(x)
		}
	}
	return name + " = " + curator.SQLText(e.request.Positive)
}
