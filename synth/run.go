package synth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/curator"
	"dither/synth/model"
)

// Measured is a measured marginal.
type Measured struct {
	Columns []string
	Cells   int
	StdDev  float64 // of the noise of each cell
	// Expected is the expected total variation distance between the noisy cells and the real ones, from the noise
	// alone. It is between 0 and 1.
	Expected float64
	Loss     curator.Loss
	// Shape: the cells are small bins of a column, which give the shape of its numbers within its bins, and the model
	// has not
	Shape bool
}

// Result is a fitted model of a table. Write draws its rows.
type Result struct {
	Plan      *Plan
	Release   string
	Replayed  bool // all steps were recorded before, so nothing was paid
	Remaining curator.Loss
	Rounds    int // the rounds that selected marginals
	Measured  []Measured
	// ExpectedError is the mean of Expected, of all Measured that have columns. It states the noise of measured
	// marginals, and not how far the model is from the real table: marginals that were not measured may be further off.
	ExpectedError float64
	Seconds       float64
	Rows          int64    // that Write draws
	Outdated      bool     // an earlier version of the table was measured; see Request.From
	Unmeasured    []string // the columns that no measured marginal has; see Request.From
	// Edges and Values were chosen privately: see Request.PrivateEdges. With them, as Request.Edges and Request.Values,
	// other requests have the same columns
	Edges, Values map[string][]string

	model    distribution
	measured []model.Measurement
	laplace  bool                                      // the noise has a Laplace distribution instead of a Gaussian one
	drawn    func(yield func(cells []int) error) error // of two tables: the rows; nil: those of the model
	draw     int                                       // of several: from 1
	draws    int                                       // their number
}

// distribution is what rows are drawn from.
type distribution interface {
	Total() float64 // the number of rows
	Sample(rows int64, how model.Drawing, source model.Words, yield func(columns [][]int32) error) error
}

// synthesis is a request in progress.
type synthesis struct {
	*Plan
	session  *curator.Session
	rounds   *curator.Rounds
	start    time.Time
	inRho    bool
	spent    *big.Rat       // of total, by the steps so far
	whole    *big.Rat       // the whole price: ρ or ε
	total    *big.Rat       // the part of it for marginals
	places   map[string]int // of candidates, by their attributes
	measured []model.Measurement
	sets     [][]int
	model    *model.Model
	outlines []Measured    // the shapes
	table    *histogram    // of MWEM, in place of a model
	each     time.Duration // of an iteration of the latest fit
	result   *Result
}

// Synthesize measures a table and fits a model. The whole price is reserved first. If the same request was interrupted,
// it continues: recorded steps are free.
func Synthesize(ctx context.Context, c *curator.Session, r Request) (*Result, error) {
	if len(r.From) > 0 {
		return fromReleases(ctx, c, r)
	}
	start := time.Now()
	s, err := begin(ctx, c, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.rounds.Close() }() // releases a lock
	if err := s.run(ctx); err != nil {
		return nil, s.interrupted(err)
	}
	if err := s.rounds.Finish(); err != nil {
		return nil, s.interrupted(err)
	}
	return s.finished(start), nil
}

// run runs the steps.
func (s *synthesis) run(ctx context.Context) error {
	methods := map[Method]func(context.Context) error{
		AIM: s.aim, MST: s.mst, MWEM: s.mwem, Independent: s.independent, Fixed: s.fixed,
	}
	if err := s.lookAhead(ctx); err != nil {
		return err
	}
	if err := s.measureShapes(ctx); err != nil {
		return err
	}
	if err := methods[s.Method](ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// begin pays for a request, or continues one that was paid before. The caller closes its rounds.
func begin(ctx context.Context, c *curator.Session, r Request) (*synthesis, error) {
	p, err := Explain(ctx, c, r)
	if err != nil {
		return nil, err
	}
	if err := p.worthwhile(); err != nil {
		return nil, err
	}
	return reserve(ctx, c, p)
}

// reserve pays for a plan, or continues one that was paid before.
func reserve(ctx context.Context, c *curator.Session, p *Plan) (s *synthesis, err error) {
	rounds, err := c.Rounds(ctx, p.rounds)
	if err != nil {
		return nil, err
	}
	if s, err = under(rounds, c, p); err != nil {
		_ = rounds.Close() // releases a lock
	}
	return s, err
}

// under returns a synthesis whose steps are those of rounds that are paid.
func under(rounds *curator.Rounds, c *curator.Session, p *Plan) (*synthesis, error) {
	s := &synthesis{session: c, rounds: rounds, start: time.Now(), spent: new(big.Rat), result: &Result{Replayed: true}}
	s.plans(p)
	price := s.rounds.Price.Epsilon
	if s.inRho = s.rounds.Price.Rho != ""; s.inRho {
		price = s.rounds.Price.Rho
	}
	var ok bool
	if s.whole, ok = new(big.Rat).SetString(price); !ok {
		return nil, usage("", "the price %q is not a number", price)
	}
	s.total = s.whole
	return s, nil
}

// plans sets the plan of the further steps.
func (s *synthesis) plans(p *Plan) {
	s.Plan, s.result.Plan, s.places = p, p, map[string]int{}
	for i, attributes := range p.candidates {
		s.places[name(attributes)] = i
	}
}

// interrupted adds to an error what was measured so far, what it cost, and how to continue.
func (s *synthesis) interrupted(err error) error {
	e := &curator.Error{Code: curator.CodeCancelled, Message: "the synthesis was cancelled", Charged: true, Retry: true}
	var of *curator.Error
	switch {
	case errors.As(err, &of):
		told := *of
		e = &told
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if e.Code == curator.CodeCancelled {
		e.Message = "the synthesis was cancelled"
	}
	e.Message += fmt.Sprintf("; %s has measured %s for %s, and its whole price of %s stays paid",
		s.rounds.ID, s.measuredSoFar(), s.rounds.Spent(), s.rounds.Price)
	continues := "the same command with --resume measures the rest at no further cost"
	if s.request.Fresh {
		continues = "the same command with --resume in place of --fresh measures the rest at no further cost"
	}
	if errors.Is(e, curator.ErrOtherStep) {
		continues = "it was paid with other flags, such as --target, --model-size or --require, by another version of " +
			"dither, or on a processor that rounds differently: repeat those flags, free, or pay for another synthesis " +
			"with --fresh"
		e.Hint = ""
	}
	if len(s.sets) > 0 {
		continues += "; --from " + s.rounds.ID + " makes rows of what was measured, free"
	}
	if e.Hint != "" && e.Code != curator.CodeCancelled {
		continues = e.Hint + "; " + continues
	}
	e.Hint = continues
	return e
}

// mostListed is the largest number of marginals that a message lists.
const mostListed = 5

// measuredSoFar lists the measured marginals.
func (s *synthesis) measuredSoFar() string {
	all := slices.Concat(s.outlines, s.result.Measured)
	if len(all) == 0 {
		return "nothing yet"
	}
	var names []string
	for _, m := range all[max(0, len(all)-mostListed):] {
		name := strings.Join(m.Columns, " × ")
		switch {
		case len(m.Columns) == 0:
			name = "the number of rows"
		case m.Shape:
			name = "the shape of " + name
		}
		names = append(names, name)
	}
	text := fmt.Sprintf("%d marginals (", len(all))
	if len(all) == 1 {
		text = "1 marginal ("
	}
	if len(all) > mostListed {
		text += "the last: "
	}
	return text + strings.Join(names, ", ") + ")"
}

// finished fills in the result.
func (s *synthesis) finished(start time.Time) *Result {
	r := s.result
	r.Measured = append(r.Measured, s.outlines...)
	r.model = s.model
	if s.rounds != nil {
		r.Release, r.Remaining = s.rounds.ID, s.rounds.Remaining
	}
	if s.table != nil {
		r.model = s.table
	}
	r.measured, r.laplace = s.measured, !s.inRho
	if r.Rows = s.request.Rows; r.Rows == 0 {
		r.Rows = max(1, min(int64(math.Round(r.model.Total())), MaxRows))
	}
	rows := max(r.model.Total(), 1)
	marginals := 0.0
	for i := range r.Measured {
		m := &r.Measured[i]
		m.Expected = min(1, math.Sqrt(2/math.Pi)*m.StdDev*float64(m.Cells)/2/rows)
		if len(m.Columns) > 0 && !m.Shape { // the number of rows has no columns
			r.ExpectedError, marginals = r.ExpectedError+m.Expected, marginals+1
		}
	}
	r.ExpectedError /= max(marginals, 1)
	r.Seconds = time.Since(start).Seconds()
	return r
}

// measure measures marginals at a price.
func (s *synthesis) measure(ctx context.Context, sets [][]int, price *big.Rat) error {
	var candidates []int
	for _, attributes := range sets {
		candidates = append(candidates, s.places[name(attributes)])
	}
	parts, err := s.rounds.Measure(ctx, candidates, s.step(price))
	if err != nil {
		return err
	}
	for i, set := range sets {
		part := parts[i]
		deviation := math.Sqrt(part.Noise.Variance())
		values := make([]float64, len(part.Values))
		for k, v := range part.Values {
			values[k], _ = new(big.Float).SetInt(v).Float64()
		}
		s.add(set, values, deviation, part.Loss)
		s.result.Replayed = s.result.Replayed && part.Replayed
	}
	s.watch(price)
	return nil
}

// add adds a measured marginal, whose columns are ascending.
func (s *synthesis) add(set []int, values []float64, deviation float64, loss curator.Loss) {
	s.measured = append(s.measured, model.Measurement{
		Attributes: set, Values: values, Variance: deviation * deviation,
	})
	s.sets = append(s.sets, set)
	s.result.Measured = append(s.result.Measured, Measured{
		Columns: s.names(set), Cells: len(values), StdDev: deviation, Loss: loss,
	})
}

// fit fits the model to all measurements, from the model before. If the measurements and the constraints together need
// too large a model, it leaves out constraints.
func (s *synthesis) fit(iterations int) (err error) {
	o := model.Options{Iterations: iterations, From: s.model}
	for start := time.Now(); ; {
		if o.Constraints = s.forbidden(); len(o.Constraints) > 0 {
			o.MaxBytes = max(constrainedBytes, s.request.ModelBytes)
		} else {
			o.MaxBytes = 0
		}
		fitted, err := model.Fit(s.domain, s.measured, o)
		if err == nil {
			s.model, s.each = fitted, time.Since(start)/time.Duration(iterations)
		}
		if !errors.Is(err, model.ErrTooLarge) || !s.drop() {
			return err
		}
	}
}

// digits is the number of decimals of a step's price.
const digits = 24

// shared returns a part of a price as a decimal, rounded down.
func shared(price *big.Rat) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	n := new(big.Int).Mul(price.Num(), scale)
	return new(big.Rat).SetFrac(n.Quo(n, price.Denom()), scale).FloatString(digits)
}

// step returns the price of a step as a decimal, rounded down.
func (s *synthesis) step(price *big.Rat) curator.StepPrice {
	text := shared(price)
	if s.inRho {
		return curator.StepPrice{Rho: text}
	}
	return curator.StepPrice{Epsilon: text}
}

// deviation returns the standard deviation of the noise on a cell of a marginal that is measured alone at a price.
func (s *synthesis) deviation(candidate int, price *big.Rat) float64 {
	p, _ := price.Float64()
	by := s.sensitivities[candidate]
	if s.inRho {
		return by.L2 / math.Sqrt(2*p)
	}
	return math.Sqrt2 * by.L1 / p
}
