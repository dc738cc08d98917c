package stats

import (
	"context"
	"math"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/glm"
	"dither/noise"
)

// Families of a GLM.
const (
	Logistic = string(glm.Logistic) // of a response from 0 to 1
	Poisson  = string(glm.Poisson)  // of a count
)

// GLM asks for a generalized linear model with its canonical link. Decimals are texts, and "" is a default that is chosen from public
// terms alone.
type GLM struct {
	curator.Question // the price, the confidence, who asks; its SQL is made from what follows
	Family           string
	Table, Formula   string
	Where            string // a condition on rows; "" for none
	Classes                 // of a logistic model's response; the zero value takes them from the policy
	// Rows is about how many rows there are: known or released before. 0 is what the policy declares, or else a twentieth of the price is for a
	// noisy count.
	Rows       int64
	Bound      string // of the L2 norm of the scaled predictors; a longer row is scaled down. "" is what the declared bounds give
	Radius     string // of the ball that coefficients of the scaled predictors are held in
	Regularise string // Λ
	Curvature  string // the share of the price for the two sums that intervals and the correction are computed from; "0" for none
	// Normalise is a part of the price that finds the numbers' means and spreads, as of Linear.
	Normalise string
	// Choose is how many terms of the formula of a logistic model, or "auto", are chosen, as of Linear: by the sums of a linear regression on all of them, which ChooseShare of the
	// price releases; "" is 0.2.
	Choose, ChooseShare string
}

// GLMFit is a fitted model. Coefficients are those of the columns as they are.
type GLMFit struct {
	IDs                    []string // of the releases it is computed from: of the count, if one was paid for, and of the minimum
	Family, Formula, Table string
	Response               string   // the column's name
	Levels                 []string // of a response of two values, in words: the probability of the second is modelled
	Coefficients           []GLMCoefficient
	Confidence             string
	Bounds                 []FoundBounds // by which numbers were normalised
	Choice                 *Choice       // of terms; nil where none were chosen
	Warnings               []string
	GLMTerms
	Price, Remaining curator.Loss
	Replayed         bool
	scaled           []float64 // coefficients of the scaled predictors
	design           *Design
	where            string
}

// GLMCoefficient is a coefficient with its error, of sampling and of noise together. What is nil is not known.
type GLMCoefficient struct {
	Class     string // of a softmax: that of which it is, against the first; else ""
	Name      string
	Width     float64 // of the column, by the declared bounds: Estimate·Width are comparable
	Estimate  *float64
	StdError  *float64
	Privacy   *float64 // the part of it that is the noise's
	Low, High *float64
	Z, P      *float64 // of the hypothesis that it is 0
}

// GLMTerms are what a model is fitted with.
type GLMTerms struct {
	Rows                      float64 // about how many
	Counted                   bool    // by a noisy count
	Bound, Radius, Regularise float64
	Curvature                 float64 // the share
	Expected                  float64 // about the error that noise gives a coefficient of a scaled predictor, as foreseen; NaN where it was not
}

// GLMExplanation says before a model is paid what it would cost, and its noise.
type GLMExplanation struct {
	Family, Formula, Table, SQL string
	Columns                     []string
	Response                    string
	Levels                      []string
	GLMTerms
	Noise       string
	StdDev      float64 // of the noise on a coefficient of a scaled predictor, before its bias is taken out
	Count       *curator.Loss
	Price       curator.Loss
	Remaining   curator.Loss
	Affordable  bool
	Largest     string
	Replayed    bool
	Sensitivity float64
	Notes       []string
}

// glmPlan is a GLM, decided but for what a count would tell.
type glmPlan struct {
	GLM
	c          *curator.Curator
	family     glm.Family
	design     *Design
	sql        string
	confidence float64 // 1 − α
	bound      float64
	most       float64 // of the norm, by the declared bounds
	radius     *big.Rat
	declared   int64 // rows; 0: a count is paid for
	price      curator.Loss
	counting   curator.Question // at the count's part of the price
	minimising curator.Question // at the minimum's: all of it where nothing is counted
}

// FitGLM fits a model by Minimize: with noise on the minimum of a regularised risk, and on the two sums that tell how much the regulariser draws it
// towards 0 and how exact it is (internal/glm). The price is that of the minimum, and of the count before it where nobody says how many rows there are.
func FitGLM(ctx context.Context, c *curator.Curator, q GLM) (*GLMFit, error) {
	if q.Normalise != "" || q.Choose != "" {
		return fitPrepared(ctx, c, q)
	}
	p, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx)
}

// fit carries out what was decided.
func (p *glmPlan) fit(ctx context.Context) (*GLMFit, error) {
	q, c := p.GLM, p.c
	out := &GLMFit{
		Family: q.Family, Formula: p.design.Formula.String(), Table: p.design.Table, Response: p.design.Response.Column, Levels: p.design.Response.Levels, Price: p.price, design: p.design, where: q.Where,
	}
	rows, spread := float64(p.declared), 0.0
	if p.declared == 0 {
		if err := p.affordable(ctx); err != nil {
			return nil, err
		}
		id, n, off, err := p.counted(ctx)
		if err != nil {
			return nil, err
		}
		rows, spread = n, off
		out.IDs, out.Counted = append(out.IDs, id), true
	}
	m, terms, err := p.minimisation(rows, spread)
	if err != nil {
		return nil, stopped(err, out.IDs...)
	}
	r, err := c.Minimize(ctx, m)
	if err != nil {
		return nil, stopped(err, out.IDs...)
	}
	counted := out.Counted
	out.GLMTerms, out.Counted = terms, counted
	out.IDs, out.Remaining, out.Replayed = append(out.IDs, r.ID), r.Remaining, r.Replayed
	out.Confidence = p.Confidence
	p.tell(out, r, rows < 2*spread)
	return out, nil
}

// counted is the noisy count of rows, with its noise's standard deviation.
func (p *glmPlan) counted(ctx context.Context) (id string, rows, spread float64, err error) {
	n, err := p.c.Measure(ctx, p.count())
	if err != nil {
		return "", 0, 0, err
	}
	if len(n.Vectors) != 1 || len(n.Vectors[0].Values) != 1 {
		return "", 0, 0, stopped(designError("give a condition on rows, and nothing else", "the rows' count is not one number"), n.ID)
	}
	v := n.Vectors[0]
	unit, _ := v.Unit.Float64()
	x, _ := new(big.Float).SetInt(v.Values[0]).Float64()
	return n.ID, x * unit, v.Noise.StdDev() * unit, nil
}

// ExplainGLM says before spending what FitGLM would cost, and how noisy it would be. Where a count is to be paid for, it is told for the 10,000 rows
// that there might be.
func ExplainGLM(ctx context.Context, c *curator.Curator, q GLM) (*GLMExplanation, error) {
	p, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	prepared, err := newPreparation(c, q, p)
	if err != nil {
		return nil, err
	}
	out := &GLMExplanation{Notes: prepared.notes(), Family: q.Family, Formula: p.design.Formula.String(), Table: p.design.Table, Response: p.design.Response.Column, Levels: p.design.Response.Levels, SQL: p.sql, Price: p.price}
	rows, spread := float64(p.declared), 0.0
	if p.declared == 0 {
		rows = glmRows
		told, err := c.Explain(ctx, p.count())
		if err != nil {
			return nil, partly(err)
		}
		out.Count = &told.Price
		if told.Replayed {
			if _, rows, spread, err = p.counted(ctx); err != nil {
				return nil, err
			}
		}
	}
	m, terms, err := p.minimisation(rows, spread)
	if err != nil {
		return nil, err
	}
	terms.Counted = p.declared == 0
	told, err := c.ExplainMinimize(ctx, m)
	if err != nil {
		return nil, err
	}
	for _, column := range p.design.Columns {
		out.Columns = append(out.Columns, column.Name)
	}
	unit, _ := told.Coefficients.Unit.Float64()
	out.GLMTerms, out.StdDev, out.Sensitivity, out.Replayed = terms, told.Coefficients.Noise.StdDev()*unit, told.Sensitivity, told.Replayed
	out.Noise = "discrete Gaussian"
	if _, ok := told.Coefficients.Noise.(noise.DiscreteLaplace); ok {
		out.Noise = "discrete Laplace"
	}
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	out.Remaining, out.Largest = b.Remaining, b.Largest
	out.Affordable = out.Replayed || affordable(b.Remaining, p.price)
	return out, nil
}

// affordable refuses a fit whose minimum could not be paid for after its count was.
func (p *glmPlan) affordable(ctx context.Context) error {
	told, err := p.c.Explain(ctx, p.count())
	if err != nil || told.Replayed || affordable(told.Remaining, p.price) {
		return partly(err)
	}
	return exhausted("ask at a lower price", "the price", p.price, told.Remaining)
}

// glmAffordable compares two losses of one accountant.
func glmAffordable(price, left curator.Loss) bool { return affordable(left, price) }

// glmRows is the size of a table of which nothing is known.
const glmRows = 10000

// decideGLM decides what does not depend on the number of rows.
func decideGLM(c *curator.Curator, q GLM) (*glmPlan, error) {
	return decideGLMWithin(c, q, nil)
}

// decideGLMWithin is decideGLM with bounds of numbers that were found.
func decideGLMWithin(c *curator.Curator, q GLM, found []FoundBounds) (*glmPlan, error) {
	p := &glmPlan{GLM: q, c: c, family: glm.Family(q.Family)}
	if q.Family != Logistic && q.Family != Poisson {
		return nil, designError("", "a generalized linear model is %s or %s, not %q", Logistic, Poisson, q.Family)
	}
	alpha, err := confidenceOf(&p.Confidence)
	if err != nil {
		return nil, err
	}
	if err := conditionAlone(q.Where); err != nil {
		return nil, err
	}
	p.confidence = 1 - alpha
	if q.given() && q.Family != Logistic {
		return nil, designError("", "a %s model's response is a number, and has no classes", q.Family)
	}
	if p.design, err = classDesign(c, q.Table, q.Formula, found, q.Classes, false); err != nil {
		return nil, err
	}
	tables, err := c.Tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if t.Name == p.design.Table && strings.TrimSpace(q.Where) == "" {
			p.declared = t.ExpectedRows
		}
	}
	if p.Rows < 0 {
		return nil, designError("", "there are not %d rows", p.Rows)
	}
	if p.Rows > 0 {
		p.declared = p.Rows
	}
	p.sql = p.design.Question(q.Where, p.design.Response.SQL)
	if err := p.held(); err != nil {
		return nil, err
	}
	p.minimising = p.Question
	trial, _, err := p.minimisation(glmRows, 0)
	if err != nil {
		return nil, err
	}
	told, err := c.ExplainMinimize(context.Background(), trial)
	if err != nil {
		return nil, err
	}
	p.price = told.Price
	if p.declared > 0 {
		return p, nil
	}
	parts := big.NewRat(1, 20)
	if p.counting, err = atShare(p.Question, p.price, parts); err != nil {
		return nil, err
	}
	p.minimising, err = atShare(p.Question, p.price, parts.Sub(big.NewRat(1, 1), parts))
	return p, err
}

// held fixes the predictors' norm and the ball.
func (p *glmPlan) held() error {
	if p.Bound == "" {
		p.Bound = p.design.Bound(curator.L2)
	}
	norm, err := exact.ParseDecimal(p.Bound)
	if err != nil || norm.Sign() <= 0 {
		return designError("", "the bound of the predictors' norm is a decimal above 0, not %q", p.Bound)
	}
	p.bound, _ = norm.Float64()
	p.most, _ = p.design.MostOfL2.Float64()
	if p.Radius != "" {
		r, err := exact.ParseDecimal(p.Radius)
		if err != nil || r.Sign() <= 0 {
			return designError("", "the radius is a decimal above 0, not %q", p.Radius)
		}
		p.radius = r
		return nil
	}
	p.radius = big.NewRat(10, 1)
	if p.family == glm.Poisson { // no mean is larger than the response's bound, or e
		high, _ := p.design.Response.High.Float64()
		r := min(max(math.Log(max(high, 1)), 1), 29) / max(p.bound, 1e-9)
		p.radius = exact.CeilDigits(new(big.Rat).SetFloat64(r), 4)
	}
	p.Radius = exact.FormatRat(p.radius)
	return nil
}

// count is the question that tells about how many rows there are.
func (p *glmPlan) count() curator.Question {
	q := p.Question
	q.SQL = "SELECT COUNT(*) FROM " + curator.SQLName(p.design.Table)
	if strings.TrimSpace(p.Where) != "" {
		q.SQL += " WHERE (" + p.Where + "\n)"
	}
	q.Epsilon, q.Rho = p.counting.Epsilon, p.counting.Rho
	return q
}

// minimisation is what the kernel is asked, for about so many rows, which are told to within a spread.
func (p *glmPlan) minimisation(rows, spread float64) (curator.Minimisation, GLMTerms, error) {
	rows = min(max(rows, 20), 1e12)
	// The regulariser grows in proportion where there are more rows than are said: twice as many, and the noise's, leave it as it is.
	m := curator.Minimisation{
		Question: p.minimising, Loss: p.Family, Bound: p.Bound, Radius: p.Radius, Regularise: p.Regularise, Rows: int64(2*rows + 8*spread), Curvature: p.Curvature,
	}
	m.SQL = p.sql
	terms := GLMTerms{Rows: rows, Bound: p.bound, Expected: math.NaN()}
	terms.Radius, _ = p.radius.Float64()
	if p.Regularise == "" || p.Curvature == "" {
		choice, err := p.choose(m, rows)
		if err != nil {
			return m, terms, err
		}
		terms.Expected = choice.Expected
		if p.Regularise == "" {
			m.Regularise = glmDecimal(choice.Regularise)
		}
		if p.Curvature == "" {
			m.Curvature = glmDecimal(choice.Share)
		}
	}
	if r, err := exact.ParseDecimal(m.Curvature); err == nil && r.Sign() == 0 {
		m.Curvature = ""
	}
	for text, to := range map[string]*float64{m.Regularise: &terms.Regularise, m.Curvature: &terms.Curvature} {
		if r, err := exact.ParseDecimal(text); err == nil {
			*to, _ = r.Float64()
		}
	}
	return m, terms, nil
}

// glmDecimal writes a positive number with three digits.
func glmDecimal(x float64) string {
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).SetFloat64(x), 3))
}

// choose finds the regulariser and the share of the sums, from public terms: what neighbours may differ in is asked of the kernel.
func (p *glmPlan) choose(m curator.Minimisation, rows float64) (glm.Choice, error) {
	m.Curvature = ""
	if m.Regularise == "" {
		m.Regularise = glmDecimal(rows / 10)
	}
	told, err := p.c.ExplainMinimize(context.Background(), m)
	if err != nil {
		return glm.Choice{}, err
	}
	t := glm.Terms{Family: p.family, Predictors: len(p.design.Columns), Rows: rows, Bound: p.bound, Steep: 1, Bend: 0.25}
	if p.family == glm.Poisson {
		r, _ := p.radius.Float64()
		high, _ := p.design.Response.High.Float64()
		t.Bend = math.Exp(min(r*p.bound, 30))
		t.Steep = max(t.Bend, high)
	}
	t.Moves = max(1, math.Round(told.Sensitivity*told.Regularise/(t.Steep*t.Bound)))
	price, inRho, err := priceOf(told.Price)
	if err != nil {
		return glm.Choice{}, err
	}
	if inRho {
		t.Rho, _ = price.Float64()
	} else {
		t.Epsilon, _ = price.Float64()
	}
	return t.Choose(), nil
}

// tell computes the model from what was released.
func (p *glmPlan) tell(out *GLMFit, m *curator.Minimum, few bool) {
	values := func(v *curator.Vector) (x []float64, sd float64) {
		if v == nil {
			return nil, 0
		}
		unit, _ := v.Unit.Float64()
		for _, n := range v.Values {
			f, _ := new(big.Float).SetInt(n).Float64()
			x = append(x, f*unit)
		}
		return x, v.Noise.StdDev() * unit
	}
	r := glm.Released{Family: p.family, Regularise: m.Regularise, Radius: m.Radius, Rows: out.Rows, Intercept: -1}
	r.Theta, r.ThetaSD = values(&m.Coefficients)
	r.ThetaSD = math.Hypot(r.ThetaSD, m.Tolerance)
	r.Hessian, r.HessSD = values(m.Hessian)
	r.Products, r.ProdSD = values(m.Products)
	_, r.Laplace = m.Coefficients.Noise.(noise.DiscreteLaplace)
	if p.design.Formula.Intercept {
		r.Intercept = 0
	}
	fit := glm.Infer(r)
	out.Warnings, out.scaled = fit.Warnings, fit.Theta
	if few {
		out.Warnings = append(out.Warnings, "the noisy count of rows is within its noise of 0: there may be next to none")
	}
	if !p.design.RowsAreUnits {
		out.Warnings = append(out.Warnings, "a unit may have several rows: intervals take rows as independent, and cover sampling only as far as they are")
	}
	if out.Bound < p.most {
		out.Warnings = append(out.Warnings, "rows whose scaled predictors are longer than the bound are scaled down to it: the coefficients are those of the rows so scaled")
	}
	for i, weights := range p.design.Transform() {
		e := fit.Estimate(weights, p.confidence)
		out.Coefficients = append(out.Coefficients, GLMCoefficient{
			Name: p.design.Columns[i].Name, Width: p.design.Columns[i].Width, Estimate: glmNumber(e.Value), StdError: glmNumber(e.StdErr), Privacy: glmNumber(e.Noise), Low: glmNumber(e.Low), High: glmNumber(e.High), Z: glmNumber(e.Z), P: glmNumber(e.P),
		})
	}
}

// glmNumber is nil for what is no number.
func glmNumber(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
