package regression

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/glm"
	"dither/noise"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// Families of a [GLM].
const (
	Logistic = string(glm.Logistic) // for a response from 0 to 1
	Poisson  = string(glm.Poisson)  // for counts
)

// GLM asks for a generalized linear model with its canonical link. Decimals are texts. "" selects a default, which
// depends only on public terms.
type GLM struct {
	curator.Request        // the price and the analyst; the SQL is generated from the other fields
	Confidence      string // a decimal between 0 and 1; "" is 0.95
	Family          string
	// Method is MethodMinimize, MethodNewton or MethodObjective. "" selects the method with the least expected error,
	// by the number of rows that is declared, given or counted. For Poisson models, or if Regularise or Curvature is
	// given, it selects MethodMinimize.
	Method          string
	Table, Formula  string
	Where           string // a condition on rows; "" selects all rows
	formula.Classes        // classes of a logistic model's response; the zero value takes them from the policy
	// Rows is the approximate number of rows, if it is known or was released before. 0 uses the number that the
	// policy declares. If the policy declares none, a twentieth of the price pays for a noisy count.
	Rows int64
	// Bound bounds the L₂ norm of the scaled predictors. A row with a larger norm is scaled down to it. "" uses the
	// norm that follows from the declared bounds.
	Bound      string
	Radius     string // radius of the ball to which the coefficients of the scaled predictors are restricted
	Regularise string // Λ, the regularisation parameter
	// Curvature is the share of the price for the two sums from which intervals and the bias correction are
	// computed. "0" omits these sums.
	Curvature string
	// Normalise is the share of the price that estimates the means and spreads of the numeric columns, as in
	// [Linear].
	Normalise string
	// Cluster is the column whose values are clusters of dependent rows, as in [Linear]. Normalise and Choose must be empty.
	Cluster string
	// Choose is the number of terms to select for a logistic model, or "auto", as in [Linear]. The selection uses
	// the sums of a linear regression on all terms. ChooseShare is the share of the price that releases these sums;
	// "" means 0.2.
	Choose, ChooseShare string
}

// GLMFit is a fitted model. Its coefficients refer to the unscaled columns.
type GLMFit struct {
	// IDs are the releases from which the fit is computed: the preparing releases and the count, if there are any,
	// and the minimum.
	IDs []string `json:"ids"`
	Spec
	Response string `json:"response"` // name of the response's column
	// Levels are the two values of a categorical response. The model predicts the probability of the second.
	Levels       []string         `json:"levels"`
	Coefficients []GLMCoefficient `json:"coefficients"`
	Confidence   json.Number      `json:"confidence"`
	About        string           `json:"intervals_about"`
	GLMTerms     `json:"terms"`
	Bounds       []formula.Bounds `json:"bounds,omitempty"` // bounds by which numbers were normalised
	Choice       *Choice          `json:"choice,omitempty"` // selection of terms; nil if no terms were selected
	Clustered
	Scores   []LinearSum `json:"scores,omitempty"` // released sums over the scores of the clusters
	Warnings []string    `json:"warnings"`
	Paid
	scaled []float64 // coefficients of the scaled predictors
	design *formula.Design
	where  string
}

// GLMCoefficient is a coefficient with its error from sampling and noise together. A nil field is unknown.
type GLMCoefficient struct {
	// in a softmax model, the class that is compared with the first class; otherwise ""
	Class    string   `json:"class,omitempty"`
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	StdError *float64 `json:"std_error"`
	Privacy  *float64 `json:"noise_error"` // standard error due to noise alone
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Z        *float64 `json:"z"` // z statistic of the hypothesis that the coefficient is 0
	P        *float64 `json:"p_value"`
	Width    float64  `json:"-"` // width of the column's declared bounds; the products Estimate·Width are comparable
}

// GLMTerms are the parameters with which a model is fitted. A model by MethodNewton has neither Regularise nor
// Curvature, and one by MethodObjective has the Hessian's share of the price in Curvature.
type GLMTerms struct {
	Method     string      `json:"method"`
	Methods    []GLMMethod `json:"methods"` // the methods among which the default is chosen
	Rows       float64     `json:"about_rows"`
	Counted    bool        `json:"counted"` // the number in Rows is a noisy count
	Bound      float64     `json:"bound"`
	Radius     float64     `json:"radius"`
	Regularise float64     `json:"regularise"`
	Curvature  float64     `json:"curvature"` // share of the price for the two sums of [GLM].Curvature
	// Leverage is the norm of predictors above which MethodNewton gives a row less weight; 0 if all weights are equal.
	Leverage float64 `json:"leverage,omitempty"`
	// Expected is the approximate error that noise adds to a coefficient of a scaled predictor. It is nil if the
	// error was not predicted.
	Expected *float64 `json:"expected_error"`
}

// GLMExplanation states what a model would cost and how large its noise would be. Obtaining it is free.
type GLMExplanation struct {
	Spec
	SQL     string   `json:"sql"`
	Columns []string `json:"columns"`
	Noise   string   `json:"noise"`
	// StdDev is the standard deviation of the noise, and Sensitivity the sensitivity for which it is drawn. By
	// MethodMinimize they are those of the scaled predictors' coefficients, before the bias correction. By MethodNewton
	// they are those of the second step's gradient, and by MethodObjective those of the risk's gradient.
	StdDev      float64 `json:"stddev"`
	Sensitivity float64 `json:"sensitivity"`
	GLMTerms    `json:"terms"`
	Scores      []LinearSum   `json:"scores,omitempty"` // sums over the scores of clusters, without values
	Count       *curator.Loss `json:"count_price"`
	Quoted
	Notes    []string `json:"notes,omitempty"`
	Replayed bool     `json:"replayed"`
	Response string   `json:"-"`
	Levels   []string `json:"-"`
}

// glmPlan is a validated [GLM]. It lacks only the parameters that depend on a count of the rows.
type glmPlan struct {
	GLM
	c          *curator.Session
	family     glm.Family
	design     *formula.Design
	sql        string
	confidence float64 // 1 − α
	bound      float64
	most       float64 // bound on the norm of the scaled predictors by the declared bounds
	radius     *big.Rat
	declared   int64 // number of rows; 0 means that a count is paid for
	price      curator.Loss
	counting   curator.Request // priced at the count's part of the price
	minimising curator.Request // priced at the minimum's part of the price, which is the whole price without a count
	clustered  *clustering     // nil without clusters
	whole      curator.Loss    // with clusters, the price of the fit and of their scores
}

// FitGLM fits a model. By MethodMinimize, it asks [curator.Session.Minimize]: noise is added to the minimum of a
// regularised risk and to two sums, from which internal/glm computes standard errors and corrects the bias that the
// regulariser causes. By MethodNewton, it asks [curator.Session.Derivatives] a few times: noise is added to the
// gradient and the Hessian at 0, and then at the solution of the equations that the sums so far give. By
// MethodObjective, it asks [curator.Session.Perturb]: noise is inside the risk, and on the Hessian at its minimum. The
// price pays for all of them. It also pays for a preceding count unless the number of rows is given or declared, and
// with Cluster for the scores of the clusters.
func FitGLM(ctx context.Context, c *curator.Session, q GLM) (*GLMFit, error) {
	if q.Normalise != "" || q.Choose != "" {
		return fitPrepared(ctx, c, q)
	}
	p, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx)
}

// spec returns the name of the plan's model, its formula and its table.
func (p *glmPlan) spec() Spec { return Spec{p.Family, p.design.Formula.String(), p.design.Table} }

// fit measures what the plan needs, and computes the fitted model.
func (p *glmPlan) fit(ctx context.Context) (*GLMFit, error) {
	out, fit, few, err := p.measure(ctx)
	if err == nil && p.clustered != nil {
		err = p.depend(ctx, out, fit, few)
	}
	if err != nil {
		return nil, request.Stopped(err, out.IDs...)
	}
	p.tell(out, fit, few)
	return out, nil
}

// measure measures the coefficients. few means that the noisy count of rows is within its noise of 0. With an error, out
// has the releases that were paid.
func (p *glmPlan) measure(ctx context.Context) (out *GLMFit, fit *glm.Fit, few bool, err error) {
	out = &GLMFit{
		Spec: p.spec(), Response: p.design.Response.Column, Levels: p.design.Response.Levels, About: AboutPopulation,
		Paid:         Paid{Price: p.price},
		Coefficients: []GLMCoefficient{}, Warnings: []string{}, design: p.design, where: p.Where,
	}
	rows, spread := float64(p.declared), 0.0
	if p.declared == 0 {
		if err := p.affordable(ctx); err != nil {
			return out, nil, false, err
		}
		id, n, off, err := p.counted(ctx)
		if err != nil {
			return out, nil, false, err
		}
		rows, spread = n, off
		out.IDs, out.Counted = append(out.IDs, id), true
	}
	of, err := p.methods(rows, spread)
	if err != nil {
		return out, nil, false, err
	}
	of.terms.Counted = out.Counted
	out.GLMTerms, out.Confidence = of.terms, json.Number(p.Confidence)
	switch out.Method {
	case MethodNewton:
		fit, err = p.newton(ctx, out, of.steps)
	case MethodObjective:
		fit, err = p.objective(ctx, out, of.inside)
	default:
		fit, err = p.minimum(ctx, out, of.minimum)
	}
	return out, fit, rows < 2*spread, err
}

// counted returns the noisy count of rows, and the standard deviation of its noise as spread.
func (p *glmPlan) counted(ctx context.Context) (id string, rows, spread float64, err error) {
	n, err := p.c.Measure(ctx, p.count())
	if err != nil {
		return "", 0, 0, err
	}
	if len(n.Vectors) != 1 || len(n.Vectors[0].Values) != 1 {
		return "", 0, 0, request.Stopped(request.Misuse("give only a condition on rows, without GROUP BY or other "+
			"clauses",
			"the count of rows is not one number"), n.ID)
	}
	v := n.Vectors[0]
	unit, _ := v.Unit.Float64()
	x, _ := new(big.Float).SetInt(v.Values[0]).Float64()
	return n.ID, x * unit, v.Noise.StdDev() * unit, nil
}

// ExplainGLM states what FitGLM would cost and how large its noise would be. It spends nothing. If a count is
// needed and was not released before, the figures are for 10,000 rows.
func ExplainGLM(ctx context.Context, c *curator.Session, q GLM) (*GLMExplanation, error) {
	p, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	prepared, err := newPreparation(c, q, p)
	if err != nil {
		return nil, err
	}
	out := &GLMExplanation{Notes: prepared.notes()}
	price := p.total()
	known := true
	if q.Normalise != "" || q.Choose != "" { // use the preparing releases if they exist already
		decided, err := prepared.prepared(ctx, &GLMFit{}, false)
		if err != nil {
			return nil, err
		}
		if known = decided != nil; known {
			p, out.Notes = decided,
				[]string{fmt.Sprintf(
					"The releases that prepare the model exist already: the remaining price, %s, is for the model "+
						"itself.",
					decided.price)}
		}
	}
	out.Spec, out.Response, out.Levels, out.SQL, out.Columns = p.spec(), p.design.Response.Column,
		p.design.Response.Levels, p.sql, p.design.Names()
	rows, spread := float64(p.declared), 0.0
	if p.declared == 0 {
		rows = glmRows
		told, err := c.Explain(ctx, p.count())
		if err != nil {
			return nil, request.Partly(err)
		}
		out.Count = &told.Price
		if told.Replayed {
			if _, rows, spread, err = p.counted(ctx); err != nil {
				return nil, err
			}
		}
	}
	of, err := p.methods(rows, spread)
	if err != nil {
		return nil, err
	}
	of.terms.Counted = p.declared == 0
	out.GLMTerms = of.terms
	switch out.Method {
	case MethodNewton:
		out.Replayed, err = p.explainNewton(ctx, out, of.steps, rows)
	case MethodObjective:
		out.Replayed, err = p.explainObjective(ctx, out, of.inside)
	default:
		out.Replayed, err = p.explainMinimum(ctx, out, of.minimum)
	}
	if err != nil {
		return nil, err
	}
	out.Replayed = out.Replayed && known
	unpaid := p.total()
	if p.clustered != nil {
		if unpaid, err = p.explainClusters(ctx, out, unpaid); err != nil {
			return nil, err
		}
	}
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	out.Quoted = Quoted{price, b.Remaining, out.Replayed || request.Affordable(b.Remaining, unpaid), b.Largest}
	return out, nil
}

// affordable refuses a fit if the remaining budget covers the count but not the minimum.
func (p *glmPlan) affordable(ctx context.Context) error {
	told, err := p.c.Explain(ctx, p.count())
	if err != nil || told.Replayed || request.Affordable(told.Remaining, p.total()) {
		return request.Partly(err)
	}
	return request.Exhausted("ask at a lower price", "the price", p.total(), told.Remaining)
}

// explainMinimum states the noise of a minimum. replayed reports whether it was released before.
func (p *glmPlan) explainMinimum(ctx context.Context, out *GLMExplanation, m curator.Minimisation) (replayed bool, err error) {
	told, err := p.c.ExplainMinimize(ctx, m)
	if err != nil {
		return false, err
	}
	unit, _ := told.Coefficients.Unit.Float64()
	out.StdDev, out.Sensitivity, out.Noise = told.Coefficients.Noise.StdDev()*unit, told.Sensitivity, "discrete Gaussian"
	if _, ok := told.Coefficients.Noise.(noise.DiscreteLaplace); ok {
		out.Noise = "discrete Laplace"
	}
	return told.Replayed, nil
}

// minimum fits the model by a minimum with noise on it.
func (p *glmPlan) minimum(ctx context.Context, out *GLMFit, q curator.Minimisation) (*glm.Fit, error) {
	if p.clustered != nil {
		if told, err := p.c.ExplainMinimize(ctx, q); err == nil && !told.Replayed {
			if err := p.covered(told.Price); err != nil {
				return nil, err
			}
		}
	}
	r, err := p.c.Minimize(ctx, q)
	if err != nil {
		return nil, err
	}
	out.IDs, out.Remaining, out.Limits, out.Replayed = append(out.IDs, r.ID), r.Remaining, r.Limits, r.Replayed
	return p.infer(out, r), nil
}

// infer removes the bias of a released minimum.
func (p *glmPlan) infer(out *GLMFit, m *curator.Minimum) *glm.Fit {
	r := glm.Released{Family: p.family, Regularise: m.Regularise, Radius: m.Radius, Rows: out.Rows, Intercept: -1}
	r.Theta, r.ThetaSD = numbers(&m.Coefficients)
	r.ThetaSD = math.Hypot(r.ThetaSD, m.Tolerance)
	r.Hessian, r.HessSD = numbers(m.Hessian)
	r.Products, r.ProdSD = numbers(m.Products)
	_, r.Laplace = m.Coefficients.Noise.(noise.DiscreteLaplace)
	if p.design.Formula.Intercept {
		r.Intercept = 0
	}
	return glm.Infer(r)
}

// tell states the coefficients of the unscaled columns. few means that the noisy count of rows is within its noise of
// 0.
func (p *glmPlan) tell(out *GLMFit, fit *glm.Fit, few bool) {
	out.Warnings, out.scaled = append(out.Warnings, fit.Warnings...), fit.Theta
	if few {
		out.Warnings = append(out.Warnings,
			"the noisy count of rows is no larger than its noise: there may be almost no rows")
	}
	if p.design.ManyRows && p.clustered == nil {
		out.Warnings = append(out.Warnings,
			"a person may have several rows: intervals assume that rows are independent, and cover sampling only if "+
				"they are")
	}
	if out.Bound < p.most {
		out.Warnings = append(out.Warnings,
			"rows whose scaled predictors exceed the norm bound are scaled down to it: the coefficients describe "+
				"the scaled rows")
	}
	for i, weights := range p.design.Weights {
		e := fit.Estimate(weights, p.confidence)
		out.Coefficients = append(out.Coefficients, GLMCoefficient{
			Name: p.design.Columns[i].Name, Width: p.design.Columns[i].Width, Estimate: glmNumber(e.Value),
			StdError: glmNumber(e.StdErr), Privacy: glmNumber(e.Noise), Low: glmNumber(e.Low),
			High: glmNumber(e.High), Z: glmNumber(e.Z), P: glmNumber(e.P),
		})
	}
}

// glmNumber returns nil if x is NaN or infinite.
func glmNumber(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
