// Package regression fits models to a table's rows from noisy releases.
//
// FitLinear fits a linear regression by least squares or by the method of Theil and Sen. FitGLM fits a logistic or
// Poisson model by perturbing a minimum. SearchGLM selects one of several models, and TryGLM selects a regulariser.
// FitGradients trains models and networks with noisy gradients. Calibrate compares a logistic model's predictions
// with observed rates. Each of them except SearchGLM has an Explain function, which states the price, free.
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

// Methods of a [Linear].
const (
	// AdaSSP measures Σxxᵀ, Σxy and Σy². It adds a ridge if the noise is close to the smallest eigenvalue of Σxxᵀ.
	AdaSSP = "adassp"
	// Lecture measures Σxxᵀ and Σxy, each for half of the price, and solves the normal equations without a ridge.
	// It has no residual variance, so its intervals are about the coefficients of these rows, not of a population.
	Lecture = "lecture"
	// TheilSen estimates the median of the slopes of all pairs of rows. It is for one predictor and few rows, and
	// resists outliers.
	TheilSen = "theil-sen"
)

// Linear asks for a linear regression.
type Linear struct {
	curator.Request        // the price and the analyst; the SQL is generated from the other fields
	Confidence      string // a decimal between 0 and 1; "" is 0.95
	Table, Formula  string
	Where           string // a condition on rows; "" selects all rows
	Method          string // a method of estimation; "" means AdaSSP
	// FindBounds is the share of the price, a decimal below 1, that finds narrower bounds of the numbers than the
	// declared ones. The bounds are private estimates of the quantiles 0.01 and 0.99, to which values are clamped.
	// "" uses the declared bounds.
	FindBounds string
	// Rows is the approximate number of rows, for TheilSen. 0 uses the number that the policy declares.
	// WithoutIntervals spends the whole price of TheilSen on the estimates.
	Rows             int64
	WithoutIntervals bool
	// Normalise is the share of the price that finds the means and spreads of the numbers. The numbers are then
	// scaled by these instead of by the declared bounds. Values beyond three spreads from the mean are clamped.
	// Coefficients still refer to the unscaled columns. "" uses the declared bounds.
	Normalise string
	// Choose is the number of terms to select from the formula, or "auto" to select as many as improve the
	// prediction. The selection uses the released sums of all terms and costs nothing more, but intervals become
	// wider. "" uses all terms.
	Choose string
	// From is the release of an earlier regression from whose sums this one is computed, free. Formula then
	// contains some of the terms of the earlier formula, or is "" for all. Its response may be one of the earlier
	// numeric predictors. Table and Where are those of the release. The price and FindBounds must be empty.
	From string
	// Cluster is the column whose values are clusters of dependent rows: the unit's column, or a column with declared
	// values. A quarter of the price measures the scores of the clusters. Standard errors and intervals then allow for
	// any dependence and any unequal variances within clusters. "" assumes independent rows with one residual variance.
	Cluster string
	// Only is a formula with some of the terms of Formula. The regression measures Formula and fits Only. If the
	// sums of Formula were released before, the fit is free, as with From.
	Only string
}

// Coefficient is a coefficient of the unscaled columns. A nil field is unknown.
type Coefficient struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	StdError *float64 `json:"std_error"` // to first order, from sampling and noise together
	Privacy  *float64 `json:"privacy"`   // the noise's share of StdError²
	Low      *float64 `json:"low"`       // lower end of the interval; nil if it is unbounded below
	High     *float64 `json:"high"`
	// Width is the width of the predictor's declared bounds, so the products Estimate·Width are comparable. It is 1
	// for the intercept and for categories.
	Width float64 `json:"-"`
}

// LinearFit is a fitted linear regression.
type LinearFit struct {
	ID       string   `json:"id"`
	Releases []string `json:"releases"` // all releases from which the fit is computed: those that found bounds, then ID
	Spec
	Method        string           `json:"method"`
	Coefficients  []Coefficient    `json:"coefficients"`
	Confidence    json.Number      `json:"confidence"`
	About         string           `json:"intervals_about"`
	ResidualError *float64         `json:"residual_error"` // residual standard deviation
	RSquared      *float64         `json:"r_squared"`
	Rows          *float64         `json:"rows"`             // noisy number of rows that count
	RowsError     *float64         `json:"rows_stddev"`      // standard deviation of the noise on Rows
	Ridge         float64          `json:"ridge"`            // ridge added to Σzzᵀ of the scaled predictors z
	Bounds        []formula.Bounds `json:"bounds"`           // bounds that were found privately
	Choice        *Choice          `json:"choice,omitempty"` // selection of terms; nil if no terms were selected
	Clustered
	Warnings []string `json:"warnings"`
	// Measured are the released sums, in units of the scaled predictors and the scaled response.
	Measured []LinearSum `json:"measured"`
	// Line is the result of TheilSen beyond the coefficients. TheilSen has no standard errors and no Measured.
	Line *FittedLine `json:"line,omitempty"`
	Paid
}

// LinearSum is one of the noisy sums from which a regression is computed.
type LinearSum struct {
	Name string `json:"name"`
	// Values are the sum's entries. For a symmetric matrix, they are the upper triangle by row. They are nil in an
	// explanation.
	Values []float64 `json:"values,omitempty"`
	Noise  string    `json:"noise"`
	StdDev float64   `json:"stddev"` // standard deviation of the noise
	// standard deviation of the noise off the diagonal of a symmetric matrix
	OffDiagonal *float64     `json:"stddev_off_diagonal"`
	Price       curator.Loss `json:"price"`
}

// LinearExplanation states what a regression would cost and how large its noise would be. Obtaining it is free.
type LinearExplanation struct {
	Spec
	Method  string      `json:"method"`
	SQL     string      `json:"sql"` // selects the scaled predictors and response
	Columns []string    `json:"columns"`
	Sums    []LinearSum `json:"measured"`       // without values
	Line    *FittedLine `json:"line,omitempty"` // for TheilSen, without values
	// NoiseNorm bounds the norm of the noise on Σzzᵀ with probability 0.95, where z are the scaled predictors.
	// Coefficients can be estimated only if the number of rows times the least variance of z in any direction is
	// far above NoiseNorm. It is nil for TheilSen.
	NoiseNorm *float64 `json:"noise_norm"`
	// LeastSpread is the standard deviation of z at which the expected number of rows times the variance equals
	// NoiseNorm. The least standard deviation of z in any direction must be far above it. LeastSpread is nil if the
	// policy declares no expected number of rows.
	LeastSpread *float64 `json:"least_spread"`
	Quoted
	Replayed bool         `json:"replayed"`
	Notes    []string     `json:"notes"`
	Unit     curator.Unit `json:"-"`
}

// linear is a validated [Linear] with its measurement.
type linear struct {
	Linear
	design   *formula.Design
	vectors  curator.Vectors
	told     *curator.MomentsExplanation
	alpha    float64
	at, half float64 // response = at + half·scaled response
	table    curator.Table
	found    []formula.Bounds
	releases []string // releases that found bounds
	replayed bool     // every release that found bounds is a replay

	clustered *clustering                 // nil without clusters
	whole     *curator.MomentsExplanation // with clusters, the fit at the whole price
	scored    *curator.Moments            // the released scores of the clusters
}

// Weights of the sums by which AdaSSP divides its price. The weight of Σy² is small, because Σy² determines only
// the residual variance.
const (
	equationShare = "9"
	squareShare   = "2"
)

// FitLinear fits a linear regression. AdaSSP and Lecture pay for one measurement by [curator.Session.Moments],
// whose sums share the price. FindBounds and Normalise pay for their releases from the same price. The rest is
// post-processing.
//
// The declared bounds scale the predictors and the response, and the coefficients are converted to the unscaled
// columns. Let z be the scaled predictors and v the scaled response, with ‖z‖₁ ≤ C₁ and |v| ≤ C₂ = 1. The noise on
// Σzzᵀ is calibrated to at most C₁², and the noise on Σzv to C₁C₂. Under ρ, the same holds for the L₂ norms.
func FitLinear(ctx context.Context, c *curator.Session, q Linear) (*LinearFit, error) {
	if q.Method == TheilSen {
		return fitTheilSen(ctx, c, q)
	}
	l, err := decideLinear(ctx, c, q)
	if err != nil {
		return nil, err
	}
	if l.clustered != nil {
		return l.fitClustered(ctx, c)
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
		return nil, request.Misuse("name "+m.ID+" instead, or repeat the original fit",
			"the same sums were released again after %s", q.From)
	}
	out, err := l.fit(m)
	if err != nil {
		return nil, request.Stopped(err, append(l.releases, m.ID)...)
	}
	out.Price, out.Replayed, out.Releases = price, out.Replayed && l.replayed, append(l.releases, m.ID)
	return out, nil
}

// ExplainLinear states what FitLinear would cost and how large its noise would be. It spends nothing.
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
		out.Replayed = false // the release within the declared bounds is a different one
		out.Notes = append(out.Notes,
			fmt.Sprintf(
				"The stated noise assumes the full price and the declared bounds; %s of the price finds narrower "+
					"bounds.",
				q.FindBounds))
	case q.FindBounds != "":
		out.Notes = append(out.Notes,
			fmt.Sprintf("The narrower bounds were released before: the remaining price, %s, is for the fit within "+
				"them.", l.told.Price))
	case q.Normalise != "" && !known:
		note, err := normaliseNote(q.Normalise)
		if err != nil {
			return nil, err
		}
		out.Replayed = false // the release within the declared bounds is a different one
		out.Notes = append(out.Notes, note)
	case q.Normalise != "" && len(l.releases) > 0:
		out.Notes = append(out.Notes,
			fmt.Sprintf(
				"The means and spreads were released before: the remaining price, %s, is for the fit of the numbers "+
					"scaled by them.",
				l.told.Price))
	}
	if l.clustered != nil {
		l.explainClusters(out)
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
			"only %s supports a number of rows and leaving out intervals", TheilSen)
	}
	if q.FindBounds != "" && q.Normalise != "" {
		return nil, request.Misuse("give one of them",
			"--find-bounds and --normalise do not go together")
	}
	if err := l.read(c); err != nil {
		return nil, err
	}
	if err := l.narrowable(); err != nil {
		return nil, err
	}
	if err := l.plan(ctx, c); err != nil || q.Cluster == "" {
		return l, err
	}
	return l, l.cluster(ctx, c)
}

// read finds the table and builds the design of the formula.
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

// plan plans the measurement over the design, at the price of the request.
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
	// Use the norm that suits the noise: L₁ under ε, L₂ under ρ.
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
		return request.Misuse("fit each group separately, with a condition",
			"a regression does not support groups")
	}
	return nil
}

// blocks returns the blocks of the predictors and of the response. The predictors have an explicit bound if it is
// below the bound that follows from the columns' ranges. Its margin ensures that no row is scaled down.
func (l *linear) blocks(norm string) []curator.Block {
	predictors := curator.Block{Size: len(l.design.Columns), Norm: norm}
	if !l.design.Box {
		predictors.Bound = l.design.Bound(norm)
	}
	return []curator.Block{predictors, {Size: 1, Norm: norm}}
}
