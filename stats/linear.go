package stats

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/noise"

	"gonum.org/v1/gonum/mat"
)

// Methods of a Linear.
const (
	// AdaSSP measures Σxxᵀ, Σxy and Σy², and adds a ridge where the noise comes near to the smallest eigenvalue of Σxxᵀ.
	AdaSSP = "adassp"
	// Lecture measures Σxxᵀ and Σxy, each for half of the price, and solves the normal equations as they are. There is no residual variance, so
	// that intervals are about the coefficients that the rows have.
	Lecture = "lecture"
)

// Linear asks for a linear regression by least squares.
type Linear struct {
	curator.Question // the price, the confidence, who asks; its SQL is made from what follows
	Table, Formula   string
	Where            string // a condition on rows; "" for none
	Method           string // "" is AdaSSP
}

// Coefficient is an estimate with its error. What is nil is not known.
type Coefficient struct {
	Name      string
	Estimate  *float64
	StdError  *float64 // to first order, of sampling and of noise together
	Privacy   *float64 // the part of StdError² that is the noise's
	Low, High *float64 // of the interval; nil where it has no such end
	Width     float64  // of the predictor, by the declared bounds: Estimate·Width are comparable; 1 of the intercept and of categories
}

// LinearFit is a linear regression.
type LinearFit struct {
	ID, Formula, Table, Method string
	Coefficients               []Coefficient
	Confidence                 string
	Population                 bool     // intervals are about the population that rows are drawn from; else about the coefficients that the rows have
	ResidualError              *float64 // the residual standard deviation
	RSquared                   *float64
	Rows, RowsError            *float64 // how many rows counted, noisy, and the noise's standard deviation
	Ridge                      float64  // that was added to Σzzᵀ of the scaled predictors
	Warnings                   []string
	Measured                   []LinearSum // what was released, in the units of the scaled predictors and response
	Price, Remaining           curator.Loss
	Replayed                   bool
}

// LinearSum is a noisy sum that a regression is computed from.
type LinearSum struct {
	Name        string
	Values      []float64 // of a symmetric matrix the upper triangle, by row; nil of an explanation
	StdDev      float64   // of the noise
	OffDiagonal float64   // of that on entries off the diagonal of a symmetric matrix
	Noise       string
	Price       curator.Loss
}

// LinearExplanation is what a regression would cost, and its noise. It costs nothing.
type LinearExplanation struct {
	Formula, Table, Method string
	SQL                    string // of the scaled predictors and response
	Columns                []string
	Sums                   []LinearSum // without values
	// NoiseNorm bounds the norm of the noise on Σzzᵀ with probability 0.95. Where rows times the variance of scaled predictors (in the
	// direction in which it is least) is not far above it, coefficients are not told.
	NoiseNorm        float64
	Price, Remaining curator.Loss
	Affordable       bool
	Largest          string
	Replayed         bool
	Unit             curator.Unit
	Notes            []string
}

// linear is a regression, decided.
type linear struct {
	Linear
	design   *Design
	vectors  curator.Vectors
	told     *curator.MomentsExplanation
	alpha    float64
	at, half float64 // of the response
}

// shares of the price that AdaSSP measures with: that of Σy² is small, since it only tells the residual variance.
const (
	equationShare = "9"
	squareShare   = "2"
)

// FitLinear fits a linear regression. Its loss is that of one curator.Moments, whose sums' shares are the price: what follows is computed from what
// it released.
//
// Predictors and response are scaled by their declared bounds, and coefficients told for the columns as they are. With z the scaled predictors and v the
// response, C₁ ≥ ‖z‖₁ and |v| ≤ C₂ = 1, the noise on Σzzᵀ is made for C₁² at most, and that on Σzv for C₁C₂; under ρ for the L2 norms.
func FitLinear(ctx context.Context, c *curator.Curator, q Linear) (*LinearFit, error) {
	l, err := decideLinear(ctx, c, q)
	if err != nil {
		return nil, err
	}
	m, err := c.Moments(ctx, l.vectors)
	if err != nil {
		return nil, err
	}
	return l.fit(m), nil
}

// ExplainLinear says before spending what FitLinear would cost, and how noisy it would be.
func ExplainLinear(ctx context.Context, c *curator.Curator, q Linear) (*LinearExplanation, error) {
	l, err := decideLinear(ctx, c, q)
	if err != nil {
		return nil, err
	}
	out := &LinearExplanation{
		Formula: l.design.Formula.String(), Table: q.Table, Method: l.Method, SQL: l.vectors.SQL, Price: l.told.Price, Remaining: l.told.Remaining,
		Affordable: l.told.Affordable, Largest: l.told.Largest, Replayed: l.told.Replayed, Unit: l.told.Unit, Notes: l.told.Notes,
	}
	for _, column := range l.design.Columns {
		out.Columns = append(out.Columns, column.Name)
	}
	law := lawOf(l.told.Sums)
	for i, s := range l.told.Sums {
		out.Sums = append(out.Sums, l.sum(i, s))
	}
	out.NoiseNorm = law.norm(plain(len(out.Columns)), 0)
	return out, nil
}

// decideLinear plans the measurement.
func decideLinear(ctx context.Context, c *curator.Curator, q Linear) (*linear, error) {
	l := &linear{Linear: q}
	var err error
	if l.alpha, err = confidenceOf(&l.Confidence); err != nil {
		return nil, err
	}
	switch l.Method {
	case "":
		l.Method = AdaSSP
	case AdaSSP, Lecture:
	default:
		return nil, designError(fmt.Sprintf("use %s or %s", AdaSSP, Lecture), "there is no method %q of linear regression", q.Method)
	}
	if l.design, err = DesignOf(c, q.Table, q.Formula); err != nil {
		return nil, err
	}
	var response string
	response, l.at, l.half = l.design.Response.Scaled(l.design.Formula.Intercept)
	l.vectors = curator.Vectors{Question: q.Question, Sums: []curator.Sum{curator.Product(0, 0), curator.Product(0, 1)}}
	l.vectors.SQL = l.design.Question(q.Where, response)
	if l.Method == AdaSSP {
		l.vectors.Sums[0], l.vectors.Sums[1] = l.vectors.Sums[0].Weighing(equationShare), l.vectors.Sums[1].Weighing(equationShare)
		l.vectors.Sums = append(l.vectors.Sums, curator.Product(1, 1).Weighing(squareShare))
		if !l.design.Formula.Intercept {
			l.vectors.Sums = append(l.vectors.Sums, curator.Count().Weighing(squareShare))
		}
	}
	// The norm that suits the noise: L1 under ε, L2 under ρ.
	for _, norm := range []string{curator.L2, curator.L1} {
		l.vectors.Blocks = l.blocks(norm)
		if l.told, err = c.ExplainMoments(ctx, l.vectors); err != nil {
			return nil, err
		}
		if l.told.Price.Rho != "" {
			break
		}
	}
	if len(l.told.Cells) != 1 {
		return nil, designError("fit each group by itself, with a condition", "a regression is of one set of rows, without groups")
	}
	return l, nil
}

// blocks are the predictors and the response, with a bound where it is below what the columns' ranges give: with a margin, so that no row is
// scaled down.
func (l *linear) blocks(norm string) []curator.Block {
	predictors := curator.Block{Size: len(l.design.Columns), Norm: norm}
	if !l.design.Box {
		predictors.Bound = l.design.Bound(norm)
	}
	return []curator.Block{predictors, {Size: 1, Norm: norm}}
}

// Bound is a decimal that no row's scaled predictors exceed in the norm, curator.L1 or curator.L2.
func (d *Design) Bound(norm string) string {
	most := d.MostOfL1
	if norm == curator.L2 {
		most = d.MostOfL2
	}
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).Mul(most, big.NewRat(1000001, 1000000)), 9))
}

// DesignOf reads a formula, and finds its design over a table of the curator's policy.
func DesignOf(c *curator.Curator, table, formula string) (*Design, error) {
	f, err := ParseFormula(formula)
	if err != nil {
		return nil, err
	}
	tables, err := c.Tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if strings.EqualFold(t.Name, table) {
			d, err := f.Design(t)
			if err == nil {
				d.RowsAreUnits = t.Unit == "" && t.Through == ""
			}
			return d, err
		}
	}
	return nil, designError("`dither tables` lists them", "there is no table %q", table)
}

// confidenceOf reads a confidence, and gives 1 less it.
func confidenceOf(text *string) (float64, error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, designError("such as 0.95", "a confidence is a decimal between 0 and 1, not %q", *text)
	}
	alpha, _ := new(big.Rat).Sub(big.NewRat(1, 1), r).Float64()
	return alpha, nil
}

// lawOf is the noise of the measured sums, in the units of the scaled columns.
func lawOf(sums []curator.NoisySum) (n equationNoise) {
	variance := func(d noise.Distribution, unit *big.Rat) float64 {
		u, _ := unit.Float64()
		return d.Variance() * u * u
	}
	_, n.laplace = sums[0].Noise.(noise.DiscreteLaplace)
	n.diagonal, n.offDiagonal = variance(sums[0].Noise, sums[0].Unit), variance(sums[0].OffDiagonal, sums[0].Unit)
	n.b = variance(sums[1].Noise, sums[1].Unit)
	if len(sums) > 2 {
		n.c = variance(sums[2].Noise, sums[2].Unit)
	}
	n.rows = n.diagonal
	if len(sums) > 3 {
		n.rows = variance(sums[3].Noise, sums[3].Unit)
	}
	return n
}

// sum tells a measured sum.
func (l *linear) sum(i int, s curator.NoisySum) LinearSum {
	unit, _ := s.Unit.Float64()
	out := LinearSum{Name: []string{"Σ z zᵀ", "Σ z v", "Σ v²", "rows"}[i], StdDev: s.Noise.StdDev() * unit, Price: s.Loss, Noise: "discrete Gaussian"}
	if _, laplace := s.Noise.(noise.DiscreteLaplace); laplace {
		out.Noise = "discrete Laplace"
	}
	if s.OffDiagonal != nil && i == 0 {
		out.OffDiagonal = s.OffDiagonal.StdDev() * unit
	}
	if len(s.Values) > 0 {
		for _, v := range s.Values[0] {
			x, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v), s.Unit).Float64()
			out.Values = append(out.Values, x)
		}
	}
	return out
}

// fit computes the regression from what was released.
func (l *linear) fit(m *curator.Moments) *LinearFit {
	out := &LinearFit{
		ID: m.ID, Formula: l.design.Formula.String(), Table: l.design.Table, Method: l.Method, Confidence: l.Confidence, Population: l.Method != Lecture,
		Price: m.Price, Remaining: m.Remaining, Replayed: m.Replayed,
	}
	for i, s := range m.Sums {
		out.Measured = append(out.Measured, l.sum(i, s))
	}
	p := len(l.design.Columns)
	q := &normalEquations{a: mat.NewSymDense(p, nil), b: out.Measured[1].Values, noise: lawOf(m.Sums)}
	next := 0
	for i := range p {
		for j := i; j < p; j++ {
			q.a.SetSym(i, j, out.Measured[0].Values[next])
			next++
		}
	}
	q.size, q.intercept = q.noise.norm(plain(p), 0), l.design.Formula.Intercept
	if len(out.Measured) > 2 {
		q.squares, q.c = true, out.Measured[2].Values[0]
	}
	switch {
	case l.design.Formula.Intercept:
		q.rows = q.a.At(0, 0)
	case len(out.Measured) > 3:
		q.rows = out.Measured[3].Values[0]
	default:
		q.rows = math.NaN()
	}
	l.tell(out, q)
	return out
}

// tell solves the equations, and brings the solution to the columns as they are.
func (l *linear) tell(out *LinearFit, q *normalEquations) {
	if finite(q.rows) {
		sd := math.Sqrt(q.noise.rows)
		out.Rows, out.RowsError = &q.rows, &sd
		if q.rows < 2*sd {
			out.warn("Noise hides how many rows there are: there may be none.")
		}
	}
	s, ok := q.solve(l.Method == AdaSSP)
	if !ok {
		out.warn("The noisy equations are singular: they tell no coefficients.")
		for _, c := range l.design.Columns {
			out.Coefficients = append(out.Coefficients, Coefficient{Name: c.Name})
		}
		return
	}
	out.Ridge = s.ridge
	spread := 0.0
	if out.Population {
		spread = s.spread()
		l.residual(out, q, s)
	}
	v, weak := newInverter(q, s, spread), 0
	for k, row := range l.design.from {
		f := v.interval(row, l.alpha)
		offset := 0.0
		if k == 0 && l.design.Formula.Intercept {
			offset = l.at
		}
		c := Coefficient{Name: l.design.Columns[k].Name, Width: l.design.Columns[k].Width}
		if estimate := offset + l.half*f.estimate; finite(estimate) {
			c.Estimate = &estimate
		}
		if variance := f.sampling + f.privacy; variance > 0 && finite(variance) {
			sd, part := l.half*math.Sqrt(variance), f.privacy/variance
			c.StdError, c.Privacy = &sd, &part
		}
		if low := offset + l.half*f.low; finite(low) {
			c.Low = &low
		}
		if high := offset + l.half*f.high; finite(high) {
			c.High = &high
		}
		if f.weak {
			weak++
		}
		out.Coefficients = append(out.Coefficients, c)
	}
	if s.ridge > 0 {
		out.warn(fmt.Sprintf("The noise is not small beside Σzzᵀ, whose smallest eigenvalue comes out as %.3g with noise of norm up to %.3g: a ridge of %.3g draws coefficients towards 0. Standard errors leave that out; intervals do not rest on it.", s.least, s.size, s.ridge))
	}
	if out.Population && !l.design.RowsAreUnits {
		out.warn("A unit may have several rows: the part of the errors that is sampling's takes rows for independent.")
	}
	if weak > 0 {
		out.warn(fmt.Sprintf("%d of %d intervals are open: at this price nothing bounds these coefficients. Fewer predictors, narrower bounds, more rows or a higher price would.", weak, len(out.Coefficients)))
	}
}

// residual tells the residual variance, and how much of the response's is explained.
func (l *linear) residual(out *LinearFit, q *normalEquations, s *solution) {
	if !(s.sigma2 > 0) {
		out.warn("Noise hides the residual variance: intervals take a larger one.")
		return
	}
	sd := l.half * math.Sqrt(s.sigma2)
	out.ResidualError = &sd
	if !l.design.Formula.Intercept {
		return
	}
	total := q.c - q.b[0]*q.b[0]/q.rows
	if r := 1 - s.sigma2*s.freedom/total; total > 0 && r >= 0 && r <= 1 {
		out.RSquared = &r
	}
}

func (f *LinearFit) warn(text string) { f.Warnings = append(f.Warnings, text) }
