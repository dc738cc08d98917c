// Package regression fits models to a table's rows from noisy releases.
//
// FitLinear fits a linear regression by least squares or by the method of Theil and Sen. FitGLM fits a logistic or
// Poisson model by a perturbed minimum; SearchGLM chooses among several models, and TryGLM among regularisers.
// FitGradients trains models and networks with noisy gradients. Calibrate compares a logistic model's predictions with
// observed rates. Each has an Explain function that states its price, free.
package regression

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// Methods of a Linear.
const (
	// AdaSSP measures Σxxᵀ, Σxy and Σy², and adds a ridge where the noise comes near to the smallest eigenvalue of
	// Σxxᵀ.
	AdaSSP = "adassp"
	// Lecture measures Σxxᵀ and Σxy, each for half of the price, and solves the normal equations as they are. There is
	// no residual variance, so that intervals are about the coefficients that the rows have.
	Lecture = "lecture"
	// TheilSen takes the median of the slopes of all pairs of rows: for one predictor and few rows, with outliers or
	// without.
	TheilSen = "theil-sen"
)

// Linear asks for a linear regression by least squares.
type Linear struct {
	curator.Request        // the price, the confidence, who asks; its SQL is made from what follows
	Confidence      string // a decimal between 0 and 1; "" is 0.95
	Table, Formula  string
	Where           string // a condition on rows; "" for none
	Method          string // "" is AdaSSP
	// FindBounds is the share of the price, a decimal below 1, that finds narrower bounds of the numbers than the
	// declared ones: about their quantiles 0.01 and 0.99. Values beyond the bounds count as at them. "" stands for the
	// declared bounds.
	FindBounds string
	// Rows is about how many rows there are, for TheilSen; 0 if the policy declares it. WithoutIntervals spends all of
	// TheilSen's price on the estimates.
	Rows             int64
	WithoutIntervals bool
	// Normalise is likewise the share of the price that finds the numbers' means and spreads. The numbers are scaled by
	// these in place of the declared bounds, and values beyond three spreads count as at them. Coefficients are those
	// of the columns as they are. "" stands for the declared bounds.
	Normalise string
	// Choose is the number of terms of the formula that are chosen, or "auto" for as many as are worthwhile. The choice
	// is made from the released sums of all terms, at no further price, and intervals are wider for it. "" stands for
	// all terms.
	Choose string
	// From is the release of an earlier regression, whose sums are computed with again, free. The formula is then of
	// some of its terms ("" for all), and its response may be a number among them; Table and Where are those of the
	// release, and neither a price nor bounds are looked for.
	From string
	// Only is a formula of some of the terms of Formula, which is measured: for what else was asked before, free, in
	// other words than From.
	Only string
}

// Coefficient is a coefficient of the columns as they are. What is nil is not known.
type Coefficient struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	StdError *float64 `json:"std_error"` // to first order, of sampling and of noise together
	Privacy  *float64 `json:"privacy"`   // the noise's part of StdError²
	Low      *float64 `json:"low"`       // of the interval; nil if it has no such end
	High     *float64 `json:"high"`
	// Width is that of the predictor, by the declared bounds: Estimate·Width are comparable. It is 1 for the intercept
	// and for categories.
	Width float64 `json:"-"`
}

// LinearFit is a linear regression.
type LinearFit struct {
	ID       string   `json:"id"`
	Releases []string `json:"releases"` // all that it is computed from: those of the bounds that were found, and ID
	Spec
	Method        string           `json:"method"`
	Coefficients  []Coefficient    `json:"coefficients"`
	Confidence    json.Number      `json:"confidence"`
	About         string           `json:"intervals_about"`
	ResidualError *float64         `json:"residual_error"` // the residual standard deviation
	RSquared      *float64         `json:"r_squared"`
	Rows          *float64         `json:"rows"`             // how many rows counted, noisy
	RowsError     *float64         `json:"rows_stddev"`      // the standard deviation of that noise
	Ridge         float64          `json:"ridge"`            // that was added to Σzzᵀ of the scaled predictors
	Bounds        []formula.Bounds `json:"bounds"`           // that were found
	Choice        *Choice          `json:"choice,omitempty"` // of terms; nil if none were chosen
	Warnings      []string         `json:"warnings"`
	// Measured are the released sums, in the units of the scaled predictors and response.
	Measured []LinearSum `json:"measured"`
	// Line is that of TheilSen, which has no standard errors and measures nothing.
	Line *FittedLine `json:"line,omitempty"`
	Paid
}

// LinearSum is a noisy sum that a regression is computed from.
type LinearSum struct {
	Name string `json:"name"`
	// Values of a symmetric matrix are its upper triangle, by row. They are nil in an explanation.
	Values      []float64    `json:"values,omitempty"`
	Noise       string       `json:"noise"`
	StdDev      float64      `json:"stddev"`              // of the noise
	OffDiagonal *float64     `json:"stddev_off_diagonal"` // of the noise off the diagonal of a symmetric matrix
	Price       curator.Loss `json:"price"`
}

// LinearExplanation states what a regression would cost, and its noise. It costs nothing.
type LinearExplanation struct {
	Spec
	Method  string      `json:"method"`
	SQL     string      `json:"sql"` // of the scaled predictors and response
	Columns []string    `json:"columns"`
	Sums    []LinearSum `json:"measured"`       // without values
	Line    *FittedLine `json:"line,omitempty"` // of TheilSen, without values
	// NoiseNorm bounds the norm of the noise on Σzzᵀ with probability 0.95. Unless rows times the least variance of
	// scaled predictors in any direction are far above it, there are no estimates of coefficients. TheilSen has none.
	NoiseNorm *float64 `json:"noise_norm"`
	// LeastSpread is the least standard deviation of scaled predictors in any direction at which that is so with as
	// many rows as the owner expects; nil if the policy does not say how many.
	LeastSpread *float64 `json:"least_spread"`
	Quoted
	Replayed bool         `json:"replayed"`
	Notes    []string     `json:"notes"`
	Unit     curator.Unit `json:"-"`
}

// linear is a regression, decided.
type linear struct {
	Linear
	design   *formula.Design
	vectors  curator.Vectors
	told     *curator.MomentsExplanation
	alpha    float64
	at, half float64 // of the response
	table    curator.Table
	found    []formula.Bounds
	releases []string // of the looks for bounds
	replayed bool     // none of them was a new one
}

// shares of the price that AdaSSP measures with: that of Σy² is small, since it only tells the residual variance.
const (
	equationShare = "9"
	squareShare   = "2"
)

// FitLinear fits a linear regression. Its loss is that of one measurement by Curator.Moments, whose sums share the
// price. The rest is computed from the releases.
//
// Predictors and response are scaled by their declared bounds, and coefficients told for the columns as they are. With
// z the scaled predictors and v the response, C₁ ≥ ‖z‖₁ and |v| ≤ C₂ = 1, the noise on Σzzᵀ is made
// for C₁² at most, and that on Σzv for C₁C₂; under ρ for the L2 norms.
func FitLinear(ctx context.Context, c *curator.Session, q Linear) (*LinearFit, error) {
	if q.Method == TheilSen {
		return fitTheilSen(ctx, c, q)
	}
	l, err := decideLinear(ctx, c, q)
	if err != nil {
		return nil, err
	}
	price := l.told.Price
	if q.FindBounds != "" {
		if _, err := l.findBounds(ctx, c, true); err != nil {
			return nil, err
		}
	}
	if q.Normalise != "" {
		if _, err := l.normalise(ctx, c, true); err != nil {
			return nil, err
		}
	}
	m, err := c.Moments(ctx, l.vectors)
	if err != nil {
		return nil, request.Stopped(err, l.releases...)
	}
	if q.From != "" && m.ID != q.From {
		return nil, request.Misuse("name "+m.ID+", or ask as before",
			"the same sums were released again after %s", q.From)
	}
	out, err := l.fit(m)
	if err != nil {
		return nil, request.Stopped(err, append(l.releases, m.ID)...)
	}
	out.Price, out.Replayed, out.Releases = price, out.Replayed && l.replayed, append(l.releases, m.ID)
	return out, nil
}

// ExplainLinear states what FitLinear would cost, and its noise. It spends nothing.
func ExplainLinear(ctx context.Context, c *curator.Session, q Linear) (*LinearExplanation, error) {
	if q.Method == TheilSen {
		return explainTheilSen(ctx, c, q)
	}
	l, err := decideLinear(ctx, c, q)
	if err != nil {
		return nil, err
	}
	price, known := l.told.Price, true
	if q.FindBounds != "" {
		if known, err = l.findBounds(ctx, c, false); err != nil {
			return nil, err
		}
	}
	if q.Normalise != "" {
		if known, err = l.normalise(ctx, c, false); err != nil {
			return nil, err
		}
	}
	out := &LinearExplanation{
		Spec: Spec{LinearModel, l.design.Formula.String(), q.Table}, Method: l.Method,
		SQL: strings.TrimSuffix(l.vectors.SQL, l.remark()), Columns: l.design.Names(),
		Sums: []LinearSum{}, Quoted: Quoted{price, l.told.Remaining, l.told.Affordable, l.told.Largest},
		Replayed: l.told.Replayed, Unit: l.told.Unit, Notes: append([]string{}, l.told.Notes...),
	}
	law := lawOf(l.told.Sums)
	for i, s := range l.told.Sums {
		out.Sums = append(out.Sums, l.sum(i, s))
	}
	switch {
	case q.FindBounds != "" && !known:
		out.Replayed = false // a fit within the declared bounds is another one
		out.Notes = append(out.Notes,
			fmt.Sprintf(
				"The noise is what all of the price would give with the declared bounds; %s of it finds narrower ones.",
				q.FindBounds))
	case q.FindBounds != "":
		out.Notes = append(out.Notes,
			fmt.Sprintf("The bounds were found before: the price left is for the fit within them, %s.", l.told.Price))
	case q.Normalise != "" && !known:
		note, err := normaliseNote(q.Normalise)
		if err != nil {
			return nil, err
		}
		out.Replayed = false // a fit with the declared bounds is another one
		out.Notes = append(out.Notes, note)
	case q.Normalise != "" && len(l.releases) > 0:
		out.Notes = append(out.Notes,
			fmt.Sprintf(
				"The means and spreads were found before: the price left is for the fit of the numbers scaled by "+
					"them, %s.",
				l.told.Price))
	}
	if q.Choose != "" {
		k, err := termsOf(l.design, q.Choose)
		if err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, choiceNote(l.design, k, l.alpha))
	}
	norm := law.norm(plain(len(out.Columns)), 0)
	out.NoiseNorm = &norm
	if n := l.table.ExpectedRows; n > 0 {
		least := math.Sqrt(norm / float64(n))
		out.LeastSpread = &least
	}
	return out, nil
}

// decideLinear plans the measurement.
func decideLinear(ctx context.Context, c *curator.Session, q Linear) (*linear, error) {
	if q.From != "" {
		return decideAgain(ctx, c, q)
	}
	l := &linear{Linear: q, replayed: true}
	err := request.CheckCondition(q.Where)
	if err != nil {
		return nil, err
	}
	if l.alpha, err = request.Confidence(&l.Confidence); err != nil {
		return nil, err
	}
	switch l.Method {
	case "":
		l.Method = AdaSSP
	case AdaSSP, Lecture:
	default:
		return nil, request.Misuse(fmt.Sprintf("use %s, %s or %s", AdaSSP, Lecture, TheilSen),
			"there is no method %q of linear regression", q.Method)
	}
	if q.Rows != 0 || q.WithoutIntervals {
		return nil, request.Misuse("leave them out",
			"a number of rows, and intervals that are left out, are for %s", TheilSen)
	}
	if q.FindBounds != "" && q.Normalise != "" {
		return nil, request.Misuse("give one of them",
			"numbers are scaled by bounds that are found, or by means and spreads")
	}
	if err := l.read(c); err != nil {
		return nil, err
	}
	if err := l.narrowable(); err != nil {
		return nil, err
	}
	return l, l.plan(ctx, c)
}

// read finds the table and the design of the question's formula.
func (l *linear) read(c *curator.Session) error {
	f, err := formula.Parse(l.Formula)
	if err != nil {
		return err
	}
	if l.table, err = request.Table(c, l.Table); err != nil {
		return err
	}
	l.design, err = f.Design(l.table)
	return err
}

// plan decides the measurement over the design, for the question's price.
func (l *linear) plan(ctx context.Context, c *curator.Session) (err error) {
	var response string
	response, l.at, l.half = l.design.Response.Scaled(l.design.Formula.Intercept)
	l.vectors = curator.Vectors{Request: l.Request, Sums: []curator.Sum{curator.Product(0, 0), curator.Product(0, 1)}}
	l.vectors.SQL = l.design.Question(l.Where, response) + l.remark()
	if l.Method == AdaSSP {
		l.vectors.Sums[0], l.vectors.Sums[1] = l.vectors.Sums[0].Weighing(equationShare),
			l.vectors.Sums[1].Weighing(equationShare)
		l.vectors.Sums = append(l.vectors.Sums, curator.Product(1, 1).Weighing(squareShare))
		if !l.design.Formula.Intercept {
			l.vectors.Sums = append(l.vectors.Sums, curator.Count().Weighing(squareShare))
		}
	}
	// The norm that suits the noise: L1 under ε, L2 under ρ.
	for _, norm := range []string{curator.L2, curator.L1} {
		l.vectors.Blocks = l.blocks(norm)
		if l.told, err = c.ExplainMoments(ctx, l.vectors); err != nil {
			return err
		}
		if l.told.Price.Rho != "" {
			break
		}
	}
	if len(l.told.Cells) != 1 {
		return request.Misuse("fit each group by itself, with a condition",
			"a regression is of one set of rows, without groups")
	}
	return nil
}

// blocks are the predictors and the response, with a bound where it is below what the columns' ranges give: with a
// margin, so that no row is scaled down.
func (l *linear) blocks(norm string) []curator.Block {
	predictors := curator.Block{Size: len(l.design.Columns), Norm: norm}
	if !l.design.Box {
		predictors.Bound = l.design.Bound(norm)
	}
	return []curator.Block{predictors, {Size: 1, Norm: norm}}
}
